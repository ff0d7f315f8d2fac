//! Batches by number.

use super::Tokens;
use crate::train::Batches;
use metier_core::{Error, Result, rng};
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// A batch of sequences: what the model reads, and what comes one token later.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The ids that the model reads, one row per sequence.
    pub inputs: Vec<Vec<u32>>,
    /// The ids that follow each of them.
    pub targets: Vec<Vec<u32>>,
}

/// Tokens in a batch; their activations alone would take many gigabytes.
const MOST: usize = 1 << 24;

/// How sequences are put into batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoaderConfig {
    /// Sequences per batch.
    pub batch: usize,
    /// Tokens per sequence.
    pub context: usize,
    /// Decides the order.
    pub seed: u64,
    /// Whether the order is shuffled; held-out text is read in its own order.
    pub shuffle: bool,
}

/// Cuts tokens into windows and serves them in batches.
///
/// Each pass over the tokens shifts the cuts by a random offset and serves the windows in a random
/// order, both a function of the seed and the number of the pass. Batch `n` is therefore the same
/// whatever was asked before, and a run resumes from a number.
#[derive(Clone, Debug)]
pub struct TokenBatches {
    tokens: Tokens,
    config: LoaderConfig,
    /// The pass whose order is at hand.
    pass: Option<(u64, usize, Vec<u64>)>,
}

impl TokenBatches {
    /// Batches from `tokens`.
    ///
    /// # Errors
    /// A batch or context of zero, a batch that no memory holds, or fewer tokens than one window needs.
    pub fn new(tokens: Tokens, config: LoaderConfig) -> Result<Self> {
        for (field, value) in [("batch", config.batch), ("context", config.context)] {
            if value == 0 {
                return Err(Error::usage("must be at least 1").in_field(field));
            }
        }
        if config.batch.checked_mul(config.context).is_none_or(|tokens| tokens > MOST) {
            return Err(Error::usage(format!(
                "{} sequences of {} tokens are too many at once",
                config.batch, config.context
            ))
            .in_field("batch")
            .help(format!(
                "at most {MOST} tokens; several batches make a step with --accumulate"
            )));
        }
        let loader = Self { tokens, config, pass: None };
        if loader.windows() == 0 {
            return Err(Error::input(format!(
                "{} tokens are too few for a window of {}",
                loader.tokens.len(),
                config.context
            ))
            .help("a shorter --context, or more text"));
        }
        Ok(loader)
    }

    /// Windows per pass. One is left to the random offset where there are several.
    pub fn windows(&self) -> usize {
        let all = (self.tokens.len().saturating_sub(1)) / self.config.context;
        if self.config.shuffle && all > 1 { all - 1 } else { all }
    }

    /// Where window number `number` starts.
    fn start(&mut self, number: u64) -> usize {
        let windows = self.windows() as u64;
        let (pass, inside) = (number / windows, (number % windows) as usize);
        if !self.config.shuffle {
            return inside * self.config.context;
        }
        if self.pass.as_ref().is_none_or(|(at_hand, ..)| *at_hand != pass) {
            let mut rng = rng::indexed(self.config.seed, "window order", pass);
            let mut order: Vec<u64> = (0..windows).collect();
            order.shuffle(&mut rng);
            let room = self.tokens.len() - 1 - windows as usize * self.config.context;
            let offset = rng.random_range(0..=room.min(self.config.context));
            self.pass = Some((pass, offset, order));
        }
        match &self.pass {
            Some((_, offset, order)) => offset + order[inside] as usize * self.config.context,
            None => unreachable!("the pass was set above"),
        }
    }
}

impl Batches for TokenBatches {
    type Batch = Window;

    fn batch(&mut self, number: u64) -> Result<Window> {
        let size = self.config.batch as u64;
        let mut window = Window { inputs: Vec::new(), targets: Vec::new() };
        for index in number * size..(number + 1) * size {
            let start = self.start(index);
            let ids = self.tokens.window(start, self.config.context + 1);
            window.inputs.push(ids[..self.config.context].to_vec());
            window.targets.push(ids[1..].to_vec());
        }
        Ok(window)
    }

    fn tokens_per_batch(&self) -> u64 {
        (self.config.batch * self.config.context) as u64
    }
}
