//! Learning a byte-pair encoding from text.

use super::Tokenizer;
use metier_core::{Error, Result};
use serde::{Deserialize, Serialize};
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::{AddedToken, Model, TokenizerBuilder};

/// The trainer sets aside room for the whole vocabulary at once.
const MOST: usize = 1 << 22;

/// How to learn a byte-pair encoding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BpeConfig {
    /// The number of tokens, specials and the 256 bytes included.
    pub vocabulary: usize,
    /// A pair is merged only if it occurs this often.
    pub least_count: u64,
    /// Tokens that text never produces, such as `<|endoftext|>`; they get the first ids.
    pub specials: Vec<String>,
}

impl Default for BpeConfig {
    fn default() -> Self {
        Self { vocabulary: 4096, least_count: 2, specials: vec!["<|endoftext|>".into()] }
    }
}

impl BpeConfig {
    /// Checks that the vocabulary has room for what it must hold, and can be held itself.
    ///
    /// # Errors
    /// A vocabulary that is too small or too large.
    pub fn validate(&self) -> Result<()> {
        let least = 256 + self.specials.len();
        if self.vocabulary < least {
            return Err(Error::usage(format!("{} tokens are too few", self.vocabulary))
                .in_field("vocabulary")
                .help(format!("256 bytes and {} specials need {least}", self.specials.len())));
        }
        if self.vocabulary > MOST {
            return Err(Error::usage(format!("{} tokens are too many", self.vocabulary))
                .in_field("vocabulary")
                .help(format!("at most {MOST}; large models have a few hundred thousand")));
        }
        Ok(())
    }
}

/// Learns a byte-level byte-pair encoding, in the manner of GPT-2, from texts.
///
/// ```
/// use metier_nn::tokenizer::{BpeConfig, train_bpe};
/// let config = BpeConfig { vocabulary: 270, ..BpeConfig::default() };
/// let tokenizer = train_bpe(["the cat and the hat"].into_iter(), &config)?;
/// let ids = tokenizer.encode("the hat")?;
/// assert!(ids.len() < 7);
/// assert_eq!(tokenizer.decode(&ids)?, "the hat");
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// A configuration that does not fit.
pub fn train_bpe<'a>(
    texts: impl Iterator<Item = &'a str> + Send,
    config: &BpeConfig,
) -> Result<Tokenizer> {
    config.validate()?;
    let failed = |error: tokenizers::Error| Error::internal(format!("training failed: {error}"));
    let specials = config.specials.iter().map(|name| AddedToken::from(name.as_str(), true));
    let mut trainer = BpeTrainer::builder()
        .show_progress(false)
        .vocab_size(config.vocabulary)
        .min_frequency(config.least_count)
        .special_tokens(specials.collect())
        .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
        .build();
    let level = ByteLevel::default().add_prefix_space(false);
    let mut tokenizer = TokenizerBuilder::<
        BPE,
        tokenizers::NormalizerWrapper,
        ByteLevel,
        ByteLevel,
        ByteLevel,
    >::new()
    .with_model(BPE::default())
    .with_normalizer(None)
    .with_pre_tokenizer(Some(level))
    .with_post_processor(None)
    .with_decoder(Some(level))
    .build()
    .map_err(failed)?;
    tokenizer.train(&mut trainer, texts).map_err(failed)?;
    debug_assert!(tokenizer.get_model().get_vocab_size() <= config.vocabulary);
    Tokenizer::from_json(&tokenizer.to_string(false).map_err(failed)?)
}
