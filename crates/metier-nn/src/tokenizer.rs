//! Text to token ids and back: single bytes, byte-pair encodings, and the vocabularies of llama2.c.

mod bytes;
mod llama2c;
mod train;

pub use llama2c::Llama2cVocabulary;
pub use train::{BpeConfig, train_bpe};

use metier_core::{Error, Result, files};
use std::path::Path;

/// Turns text into token ids and back.
///
/// ```
/// use metier_nn::tokenizer::Tokenizer;
/// let bytes = Tokenizer::Bytes;
/// assert_eq!(bytes.encode("né")?, [110, 195, 169]);
/// assert_eq!(bytes.decode(&[110, 195, 169])?, "né");
/// assert_eq!(bytes.vocabulary(), 256);
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Tokenizer {
    /// A token is a byte and its id is the byte's value.
    Bytes,
    /// What a `tokenizer.json` describes.
    Json(Box<tokenizers::Tokenizer>),
}

impl Tokenizer {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// A file that cannot be read or describes no tokenizer.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::io(path, source))?;
        if text.trim() == bytes::json().trim() {
            return Ok(Self::Bytes);
        }
        Self::from_json(&text).map_err(|error| error.in_file(path))
    }

    fn from_json(text: &str) -> Result<Self> {
        // The library panics on a decoder that is not JSON; what is JSON it answers with errors.
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
            return Err(Error::input(format!("not a tokenizer: {error}")));
        }
        text.parse()
            .map(|tokenizer| Self::Json(Box::new(tokenizer)))
            .map_err(|error: tokenizers::Error| Error::input(format!("not a tokenizer: {error}")))
    }

    /// The tokenizer called `name`: `byte`, or the path of a `tokenizer.json` or of a folder that
    /// holds one.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn named(name: &str) -> Result<Self> {
        let path = Path::new(name);
        match name {
            "byte" | "bytes" => Ok(Self::Bytes),
            _ if path.is_dir() => Self::read(&path.join("tokenizer.json")),
            _ => Self::read(path).map_err(|error| {
                error.help("a tokenizer is `byte`, a tokenizer.json, or a folder that holds one")
            }),
        }
    }

    /// Writes a `tokenizer.json` that other programs read.
    ///
    /// # Errors
    /// An I/O error that names the file.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = match self {
            Self::Bytes => bytes::json(),
            Self::Json(tokenizer) => tokenizer
                .to_string(true)
                .map_err(|error| Error::internal(error.to_string()).in_file(path))?,
        };
        files::write_bytes(path, text.as_bytes())
    }

    /// The number of tokens, which is one more than the largest id.
    pub fn vocabulary(&self) -> usize {
        match self {
            Self::Bytes => 256,
            Self::Json(tokenizer) => {
                let ids = tokenizer.get_vocab(true).into_values();
                ids.max().map_or(0, |largest| largest as usize + 1)
            }
        }
    }

    /// The ids of the tokens that stand between texts, by the names that are in use for them.
    /// Generation stops before one.
    pub fn ends(&self) -> Vec<u32> {
        const NAMES: [&str; 6] =
            ["<s>", "</s>", "<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "<|eot_id|>"];
        match self {
            Self::Bytes => Vec::new(),
            Self::Json(tokenizer) => {
                NAMES.iter().filter_map(|name| tokenizer.token_to_id(name)).collect()
            }
        }
    }

    /// The ids of a text, with the special tokens that the tokenizer puts around one.
    ///
    /// # Errors
    /// A text that the tokenizer cannot split.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        match self {
            Self::Bytes => Ok(text.bytes().map(u32::from).collect()),
            Self::Json(tokenizer) => tokenizer
                .encode_fast(text, true)
                .map(|encoding| encoding.get_ids().to_vec())
                .map_err(|error| Error::input(format!("cannot be tokenized: {error}"))),
        }
    }

    /// The text of ids, without special tokens. Bytes that are not UTF-8 become `�`.
    ///
    /// # Errors
    /// An id that is not in the vocabulary.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        match self {
            Self::Bytes => {
                let byte = |&id: &u32| {
                    u8::try_from(id).map_err(|_| Error::input(format!("token {id} is not a byte")))
                };
                let bytes = ids.iter().map(byte).collect::<Result<Vec<u8>>>()?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
            Self::Json(tokenizer) => tokenizer
                .decode(ids, true)
                .map_err(|error| Error::input(format!("cannot be decoded: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests;
