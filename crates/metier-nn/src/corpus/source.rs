//! Texts on disk as token sequences, with a part held out.

use super::{TokenWriter, Tokens};
use crate::tokenizer::Tokenizer;
use metier_core::{Error, Progress, Result};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Every tenth text of a folder, and the last tenth of a single sequence, are held out.
const HELD_OUT: usize = 10;

/// Text to learn from and text to judge by.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// What to learn from.
    pub train: Tokens,
    /// What to judge by.
    pub held_out: Tokens,
}

impl Corpus {
    /// The SHA-256 of all ids, which changes with the texts and with the tokenizer. One pass over the
    /// corpus, at about the speed of memory.
    ///
    /// ```
    /// use metier_nn::corpus::{Corpus, Tokens};
    /// let corpus = Corpus { train: Tokens::new(vec![1, 2], 3)?, held_out: Tokens::new(vec![0], 3)? };
    /// assert_eq!(corpus.fingerprint().len(), 64);
    /// # Ok::<(), metier_core::Error>(())
    /// ```
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for tokens in [&self.train, &self.held_out] {
            hash.update((tokens.len() as u64).to_le_bytes());
            for start in (0..tokens.len()).step_by(HASHED) {
                let ids = tokens.window(start, HASHED.min(tokens.len() - start));
                let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
                hash.update(&bytes);
            }
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Ids that are hashed at a time.
const HASHED: usize = 1 << 16;

/// Reads a corpus: a text file, a folder of `.txt` files, or a token file.
///
/// Of a folder, sorted by name, every tenth file is held out; of a single text, the last tenth; of a
/// token file, what it says, else the last tenth. Ids above what `tokenizer` knows cannot occur; a token file must have been made with the
/// same vocabulary.
///
/// # Errors
/// Nothing to read, a text that is not UTF-8 (with its place), a token file of another vocabulary.
pub fn read_corpus(path: &Path, tokenizer: &Tokenizer, progress: &dyn Progress) -> Result<Corpus> {
    let vocabulary = tokenizer.vocabulary();
    if path.is_dir() {
        return read_folder(path, tokenizer, progress);
    }
    if path.extension().is_some_and(|ending| ending == "bin") {
        let tokens = Tokens::open(path)?;
        if tokens.vocabulary() > vocabulary {
            return Err(Error::input(format!(
                "its tokens belong to a vocabulary of {}, the tokenizer has {vocabulary}",
                tokens.vocabulary()
            ))
            .in_file(path));
        }
        return Ok(split(&tokens));
    }
    progress.begin("reading text", None);
    let ids = tokenizer.encode(&text(path)?).map_err(|error| error.in_file(path));
    progress.finish();
    let ids = ids?;
    if ids.len() < 2 * HELD_OUT {
        let message = format!("{} tokens are too few to learn from", ids.len());
        return Err(Error::input(message).in_file(path));
    }
    Ok(split(&Tokens::new(ids, vocabulary)?))
}

fn split(tokens: &Tokens) -> Corpus {
    let train = tokens.learned().unwrap_or(tokens.len() - tokens.len() / HELD_OUT);
    Corpus { train: tokens.part(0, train), held_out: tokens.part(train, tokens.len() - train) }
}

fn read_folder(folder: &Path, tokenizer: &Tokenizer, progress: &dyn Progress) -> Result<Corpus> {
    let paths = texts_in(folder)?;
    progress.begin("reading texts", Some(paths.len() as u64));
    let mut parts = [Vec::new(), Vec::new()];
    for (index, path) in paths.iter().enumerate() {
        progress.check()?;
        let ids = tokenizer.encode(&text(path)?).map_err(|error| error.in_file(path))?;
        parts[usize::from(is_held_out(index))].extend(ids);
        progress.advance(1);
    }
    progress.finish();
    let [train, held_out] = parts;
    let vocabulary = tokenizer.vocabulary();
    Ok(Corpus {
        train: Tokens::new(train, vocabulary)?,
        held_out: Tokens::new(held_out, vocabulary)?,
    })
}

/// The texts that [`read_corpus`] learns from, to learn a tokenizer from.
///
/// # Errors
/// Nothing to read, or a text that is not UTF-8 (with its place).
pub fn learning_texts(path: &Path) -> Result<Vec<String>> {
    if path.is_dir() {
        let paths = texts_in(path)?.into_iter().enumerate();
        return paths
            .filter(|(index, _)| !is_held_out(*index))
            .map(|(_, path)| text(&path))
            .collect();
    }
    let mut text = text(path)?;
    text.truncate(text.floor_char_boundary(text.len() - text.len() / HELD_OUT));
    Ok(vec![text])
}

/// Encodes a text file or a folder of `.txt` files into a token file, one text in memory at a time, and
/// returns the number of tokens. The texts of a folder that [`read_corpus`] would hold out come last and
/// are marked, so that it holds the same ones out of the token file.
///
/// # Errors
/// As [`read_corpus`], and an I/O error of the file that is written.
pub fn write_corpus(
    path: &Path,
    tokenizer: &Tokenizer,
    out: &Path,
    progress: &dyn Progress,
) -> Result<usize> {
    let (held_out, learned): (Vec<_>, Vec<_>) = if path.is_dir() {
        texts_in(path)?.into_iter().enumerate().partition(|(index, _)| is_held_out(*index))
    } else {
        (Vec::new(), vec![(0, path.to_owned())])
    };
    let mut writer = TokenWriter::new(out, tokenizer.vocabulary())?;
    progress.begin("encoding texts", Some((learned.len() + held_out.len()) as u64));
    for (number, (_, path)) in learned.iter().chain(&held_out).enumerate() {
        progress.check()?;
        if number == learned.len() {
            writer.hold_out_the_rest();
        }
        writer.extend(&tokenizer.encode(&text(path)?).map_err(|error| error.in_file(path))?)?;
        progress.advance(1);
    }
    progress.finish();
    writer.finish()
}

fn is_held_out(index: usize) -> bool {
    index % HELD_OUT == HELD_OUT - 1
}

/// The `.txt` files of a folder by name, enough of them to hold some out.
fn texts_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let io = |source| Error::io(folder, source);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|ending| ending == "txt") {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.len() < HELD_OUT {
        let message = format!("{} .txt files where {HELD_OUT} are needed", paths.len());
        return Err(Error::input(message)
            .in_file(folder)
            .help("every tenth file is held out; join the texts into one file instead"));
    }
    Ok(paths)
}

fn text(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|source| Error::io(path, source))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let row = error.as_bytes()[..good].iter().filter(|&&byte| byte == b'\n').count() + 1;
        Error::input("is not UTF-8 text")
            .in_file(path)
            .at_row(row as u64)
            .help("convert it, for example with `iconv -t utf-8`")
    })
}
