//! Models to train from scratch, by name.

use crate::model::{DecoderConfig, Layout};
use metier_core::{Error, Result};

/// The shapes that [`preset`] knows: layers, heads, width.
const SHAPES: [(&str, [usize; 3]); 6] = [
    ("nano", [2, 2, 64]),
    ("micro", [4, 4, 128]),
    ("mini", [6, 6, 384]),
    ("small", [12, 12, 768]),
    ("medium", [24, 16, 1024]),
    ("large", [36, 20, 1280]),
];

/// The decoder called `gpt2-SIZE` or `llama-SIZE`, with SIZE one of nano (2 blocks of width 64),
/// micro (4 of 128), mini (6 of 384), small (12 of 768), medium (24 of 1024) and large (36 of 1280),
/// for a vocabulary and a context.
///
/// # Errors
/// A name that is not known, with those that are.
///
/// ```
/// let config = metier_nn::train::preset("gpt2-micro", 256, 128)?;
/// assert_eq!((config.layers, config.hidden, config.context), (4, 128, 128));
/// # Ok::<(), metier_core::Error>(())
/// ```
pub fn preset(name: &str, vocabulary: usize, context: usize) -> Result<DecoderConfig> {
    let unknown = || {
        let sizes: Vec<&str> = SHAPES.iter().map(|(name, _)| *name).collect();
        Error::usage(format!("there is no model `{name}`")).in_field("model").help(format!(
            "a config.json, the folder of a checkpoint, or gpt2-SIZE or llama-SIZE with SIZE one of {}",
            sizes.join(", ")
        ))
    };
    let (layout, size) = name.split_once('-').ok_or_else(unknown)?;
    let (_, [layers, heads, hidden]) =
        *SHAPES.iter().find(|(name, _)| *name == size).ok_or_else(unknown)?;
    match layout {
        "gpt2" => Ok(DecoderConfig::gpt2(vocabulary, context, layers, heads, hidden)),
        "llama" => Ok(DecoderConfig {
            layout: Layout::Llama,
            // Three matrices of 8/3 times the width weigh as much as two of 4 times; a multiple of
            // 32 suits the kernels.
            intermediate: (8 * hidden).div_ceil(3).next_multiple_of(32),
            ..DecoderConfig::gpt2(vocabulary, context, layers, heads, hidden)
        }),
        _ => Err(unknown()),
    }
}
