//! A sequence of token ids, in memory or mapped from a file.

use super::writer::{Header, MAGIC, TokenWriter};
use crate::mapped;
use memmap2::Mmap;
use metier_core::{Error, Result};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// A sequence of token ids. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tokens {
    store: Store,
    vocabulary: usize,
    learned: Option<usize>,
}

#[derive(Clone, Debug)]
enum Store {
    Memory(Arc<[u32]>),
    Mapped { map: Arc<Mmap>, start: usize, width: usize, tokens: usize },
}

impl Tokens {
    /// Ids that are at hand.
    ///
    /// # Errors
    /// An id that is not below `vocabulary`, with its place.
    pub fn new(ids: Vec<u32>, vocabulary: usize) -> Result<Self> {
        check(&ids, vocabulary)?;
        Ok(Self { store: Store::Memory(ids.into()), vocabulary, learned: None })
    }

    /// Writes a token file, as [`TokenWriter`] does.
    ///
    /// # Errors
    /// An I/O error that names the file.
    pub fn write(&self, path: &Path) -> Result<()> {
        const AT_ONCE: usize = 1 << 16;
        let mut writer = TokenWriter::new(path, self.vocabulary)?;
        for start in (0..self.len()).step_by(AT_ONCE) {
            writer.extend(&self.window(start, AT_ONCE.min(self.len() - start)))?;
        }
        writer.finish().map(drop)
    }

    /// Maps a token file.
    ///
    /// # Errors
    /// A file that cannot be read, is none, or is shorter than its header says.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|source| Error::io(path, source))?;
        let wrong = |message: &str| Error::input(message).in_file(path);
        let size = file.metadata().map_err(|source| Error::io(path, source))?.len();
        if size < 12 {
            return Err(wrong("not a token file: shorter than the header of one"));
        }
        let map = mapped::read_only(&file).map_err(|source| Error::io(path, source))?;
        let Some(rest) = map.strip_prefix(MAGIC) else {
            return Err(wrong("not a token file: it does not start with METIERTK"));
        };
        let length = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
        let start = MAGIC.len() + 4 + length;
        let text = map.get(start - length..start).ok_or_else(|| wrong("ends inside its header"))?;
        let header: Header = serde_json::from_slice(text)
            .map_err(|error| wrong(&format!("its header is broken: {error}")))?;
        if header.width != 2 && header.width != 4 {
            return Err(wrong(&format!("{} bytes per token are not understood", header.width)));
        }
        let expected =
            header.tokens.checked_mul(header.width).and_then(|bytes| bytes.checked_add(start));
        if expected != Some(map.len()) {
            return Err(wrong(&format!(
                "{} tokens of {} bytes do not fit the file's {} bytes",
                header.tokens, header.width, size
            )));
        }
        if header.learned.is_some_and(|learned| learned > header.tokens) {
            return Err(wrong("its header holds out more tokens than there are"));
        }
        let store =
            Store::Mapped { map: Arc::new(map), start, width: header.width, tokens: header.tokens };
        let tokens = Self { store, vocabulary: header.vocabulary, learned: header.learned };
        // A damaged file must not reach the embedding, where the place would be lost.
        for at in 0..tokens.len() {
            let id = tokens.id(at);
            if id as usize >= tokens.vocabulary {
                return Err(outside(id, tokens.vocabulary, at).in_file(path));
            }
        }
        Ok(tokens)
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        match &self.store {
            Store::Memory(ids) => ids.len(),
            Store::Mapped { tokens, .. } => *tokens,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every id is below this.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// The `count` ids from `start` on.
    ///
    /// # Panics
    /// When the sequence ends before.
    pub fn window(&self, start: usize, count: usize) -> Vec<u32> {
        match &self.store {
            Store::Memory(ids) => ids[start..start + count].to_vec(),
            Store::Mapped { .. } => (start..start + count).map(|at| self.id(at)).collect(),
        }
    }

    /// The `count` ids from `start` on as a sequence of its own; of a mapped file nothing is copied.
    ///
    /// # Panics
    /// When the sequence ends before.
    pub(super) fn part(&self, start: usize, count: usize) -> Self {
        assert!(start + count <= self.len(), "the part ends after the sequence");
        let store = match &self.store {
            Store::Memory(ids) => Store::Memory(ids[start..start + count].into()),
            Store::Mapped { map, start: first, width, .. } => Store::Mapped {
                map: Arc::clone(map),
                start: first + start * width,
                width: *width,
                tokens: count,
            },
        };
        Self { store, vocabulary: self.vocabulary, learned: None }
    }

    /// How many ids a token file says to learn from, the rest being held out.
    pub(super) fn learned(&self) -> Option<usize> {
        self.learned
    }

    fn id(&self, at: usize) -> u32 {
        match &self.store {
            Store::Memory(ids) => ids[at],
            Store::Mapped { map, start, width, .. } => {
                let from = start + at * width;
                match width {
                    2 => u32::from(u16::from_le_bytes([map[from], map[from + 1]])),
                    _ => {
                        u32::from_le_bytes([map[from], map[from + 1], map[from + 2], map[from + 3]])
                    }
                }
            }
        }
    }
}

pub(super) fn check(ids: &[u32], vocabulary: usize) -> Result<()> {
    match ids.iter().position(|&id| id as usize >= vocabulary) {
        Some(at) => Err(outside(ids[at], vocabulary, at)),
        None => Ok(()),
    }
}

fn outside(id: u32, vocabulary: usize, at: usize) -> Error {
    Error::input(format!("token {id} is outside the vocabulary of {vocabulary}"))
        .at_row(at as u64 + 1)
}
