//! A tokenizer from the text at hand.

use metier_core::{Error, Progress, Result};
use metier_nn::tokenizer::{BpeConfig, Tokenizer, train_bpe};
use std::path::{Path, PathBuf};

/// The corpus holds out every tenth file of a folder or the last tenth of a file; so does this.
const HELD_OUT: usize = 10;

/// Learns a byte-pair encoding of `size` tokens from a text file or a folder of `.txt` files.
///
/// # Errors
/// A size that is no number or too small; text that cannot be read.
pub fn learn_tokenizer(data: &Path, size: &str, progress: &dyn Progress) -> Result<Tokenizer> {
    let vocabulary = size.parse().map_err(|_| {
        Error::usage(format!("bpe:{size} names no number of tokens"))
            .in_field("--tokenizer")
            .help("bpe:4096, for example")
    })?;
    let config = BpeConfig { vocabulary, ..BpeConfig::default() };
    config.validate()?;
    let mut texts = paths(data)?
        .iter()
        .map(|path| std::fs::read_to_string(path).map_err(|source| Error::io(path, source)))
        .collect::<Result<Vec<_>>>()?;
    if let [text] = &mut texts[..] {
        text.truncate(text.floor_char_boundary(text.len() - text.len() / HELD_OUT));
    }
    progress.begin("learning a tokenizer", None);
    // A vocabulary is learned from pieces of a text as well as from all of it at once.
    let tokenizer = train_bpe(texts.iter().flat_map(|text| text.split_inclusive('\n')), &config);
    progress.finish();
    tokenizer
}

fn paths(data: &Path) -> Result<Vec<PathBuf>> {
    if !data.is_dir() {
        return Ok(vec![data.to_path_buf()]);
    }
    let io = |source| Error::io(data, source);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(data).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|ending| ending == "txt") {
            paths.push(path);
        }
    }
    paths.sort();
    let learned = |(index, path)| (index % HELD_OUT != HELD_OUT - 1).then_some(path);
    Ok(paths.into_iter().enumerate().filter_map(learned).collect())
}
