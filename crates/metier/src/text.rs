//! Texts and their tokenizers, as several verbs take them.

use metier_core::{Error, Progress, Result};
use metier_data::registry;
use metier_nn::corpus::learning_texts;
use metier_nn::tokenizer::{BpeConfig, Tokenizer, train_bpe};
use std::path::{Path, PathBuf};

/// Where the text of `--data` lies: the path itself, or the place of the data set of this name.
///
/// # Errors
/// A data set that is not here, with the command that gets it.
pub fn text_path(data: &str) -> Result<PathBuf> {
    let path = Path::new(data);
    if path.exists() || registry::find(data).is_err() {
        return Ok(path.to_owned());
    }
    registry::text(data, None)
}

/// The tokenizer of `--tokenizer`: `byte`, a `tokenizer.json` or its folder, or `bpe:N` to learn one of N
/// tokens from the text at `data`.
///
/// # Errors
/// A size that is no number or does not fit; text or a tokenizer that cannot be read.
pub fn tokenizer(name: &str, data: &Path, progress: &dyn Progress) -> Result<Tokenizer> {
    let Some(size) = name.strip_prefix("bpe:") else {
        return Tokenizer::named(name);
    };
    let vocabulary = size.parse().map_err(|_| {
        Error::usage(format!("{name} names no number of tokens"))
            .in_field("--tokenizer")
            .help("bpe:4096, for example")
    })?;
    let config = BpeConfig { vocabulary, ..BpeConfig::default() };
    config.validate()?;
    let texts = learning_texts(data)?;
    progress.begin("learning a tokenizer", None);
    // A vocabulary is learned from pieces of a text as well as from all of it at once.
    let tokenizer = train_bpe(texts.iter().flat_map(|text| text.split_inclusive('\n')), &config);
    progress.finish();
    tokenizer
}
