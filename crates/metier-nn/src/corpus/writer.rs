//! Token files, written piece by piece.

use super::tokens::check;
use metier_core::{Error, Result, files};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

pub(super) const MAGIC: &[u8; 8] = b"METIERTK";

/// What a token file says of itself, as JSON after the first eight bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    /// Bytes per token: 2 or 4, little-endian.
    pub(super) width: usize,
    /// The number of tokens.
    pub(super) tokens: usize,
    /// Every id is below this.
    pub(super) vocabulary: usize,
    /// How many of them to learn from, where the rest is to be held out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) learned: Option<usize>,
}

/// Writes a token file of any length in a fixed amount of memory.
///
/// The file holds `METIERTK`, the length of a JSON header (u32), the header padded with spaces to a
/// multiple of four, then the ids as u16, or as u32 where the vocabulary asks for it, all
/// little-endian. It appears at its place when it is complete.
///
/// ```
/// use metier_nn::corpus::{TokenWriter, Tokens};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("tokens.bin");
/// let mut writer = TokenWriter::new(&path, 300)?;
/// writer.extend(&[1, 2])?;
/// writer.extend(&[299])?;
/// assert_eq!(writer.finish()?, 3);
/// assert_eq!(Tokens::open(&path)?.window(1, 2), [2, 299]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TokenWriter {
    path: PathBuf,
    // The header, which comes first, holds a count that is known last.
    ids: BufWriter<File>,
    header: Header,
}

impl TokenWriter {
    /// A writer of ids below `vocabulary` to `path`. Missing folders are made.
    ///
    /// # Errors
    /// An I/O error that names the file.
    pub fn new(path: &Path, vocabulary: usize) -> Result<Self> {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(folder).map_err(|source| Error::io(folder, source))?;
        let ids = tempfile::tempfile_in(folder).map_err(|source| Error::io(path, source))?;
        let width = if vocabulary <= 1 << 16 { 2 } else { 4 };
        let header = Header { width, tokens: 0, vocabulary, learned: None };
        Ok(Self { path: path.to_owned(), ids: BufWriter::with_capacity(1 << 16, ids), header })
    }

    /// Appends ids.
    ///
    /// # Errors
    /// An id that is not below the vocabulary, with its place; an I/O error.
    pub fn extend(&mut self, ids: &[u32]) -> Result<()> {
        check(ids, self.header.vocabulary).map_err(|error| error.in_file(&self.path))?;
        for id in ids {
            let bytes = id.to_le_bytes();
            self.ids
                .write_all(&bytes[..self.header.width])
                .map_err(|source| Error::io(&self.path, source))?;
        }
        self.header.tokens += ids.len();
        Ok(())
    }

    /// Marks everything that follows as held out. Without a mark it is the last tenth.
    pub fn hold_out_the_rest(&mut self) {
        self.header.learned = Some(self.header.tokens);
    }

    /// Puts the file in its place; returns the number of tokens.
    ///
    /// # Errors
    /// An I/O error that names the file.
    pub fn finish(self) -> Result<usize> {
        let Self { path, ids, header } = self;
        let io = |source| Error::io(&path, source);
        let mut ids = ids.into_inner().map_err(|error| io(error.into_error()))?;
        ids.rewind().map_err(io)?;
        let mut text = serde_json::to_string(&header)
            .map_err(|error| Error::internal(error.to_string()).in_file(&path))?;
        while !text.len().is_multiple_of(4) {
            text.push(' ');
        }
        files::write_atomic(&path, |out| {
            out.write_all(MAGIC).map_err(io)?;
            out.write_all(&(text.len() as u32).to_le_bytes()).map_err(io)?;
            out.write_all(text.as_bytes()).map_err(io)?;
            std::io::copy(&mut ids, out).map(drop).map_err(io)
        })?;
        Ok(header.tokens)
    }
}
