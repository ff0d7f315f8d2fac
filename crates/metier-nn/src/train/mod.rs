//! Training: schedules, clipping, accumulation, evaluation, metrics and checkpoints, for any model
//! and any [`Optimizer`](crate::optim::Optimizer).
//!
//! A [`Trainer`] steps whatever is [`Trainable`] on whatever serves its [`Batches`]. Batches are
//! asked for by number and every random choice depends on the seed and a number, so that a
//! checkpoint needs no more than the step: a run that is killed at any moment and resumed ends, on
//! one thread, with the same bits as one that was left alone.
//!
//! A run's folder holds
//!
//! | path | content |
//! | --- | --- |
//! | `metrics.jsonl` | one line per step: loss, learning rate, gradient norm, tokens, speed |
//! | `loss.svg` | the curves of the same |
//! | `checkpoints/step-00000500/` | model, `optimizer.safetensors`, `trainer.json` |
//! | `latest` | the name of the newest complete checkpoint |

mod checkpoint;
mod clip;
mod curves;
mod metrics;
mod preset;
mod schedule;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy;
mod trainer;

pub use checkpoint::{Checkpoint, CheckpointStore};
pub use clip::{accumulate, clip_gradients};
pub use curves::loss_curves;
pub use metrics::{Metrics, Record};
pub use preset::preset;
pub use schedule::{Decay, Schedule};
pub use trainer::{TrainConfig, TrainReport, Trainer};

use crate::optim::ParamMut;
use metier_core::Result;
use std::path::Path;

/// A model that a [`Trainer`] can train.
pub trait Trainable {
    /// What one call of the model is given.
    type Batch;

    /// Names and shapes of all parameters, each once, in an order that never changes.
    fn parameters(&self) -> Vec<(String, Vec<usize>)>;

    /// The mean loss on a batch and its gradients, one per parameter in the same order.
    ///
    /// # Errors
    /// A batch that does not fit the model.
    fn loss_and_gradients(&mut self, batch: &Self::Batch) -> Result<(f64, Vec<Vec<f32>>)>;

    /// The mean loss on a batch, without gradients and without anything random.
    ///
    /// # Errors
    /// A batch that does not fit the model.
    fn loss(&mut self, batch: &Self::Batch) -> Result<f64>;

    /// Lends all parameters, in order, to `change`, which may write to them.
    ///
    /// # Errors
    /// The error of `change`; the model is whole afterwards all the same.
    fn with_parameters(
        &mut self,
        change: &mut dyn FnMut(&mut [ParamMut<'_>]) -> Result<()>,
    ) -> Result<()>;

    /// Writes the model to a folder, in the form that other programs read.
    ///
    /// # Errors
    /// An I/O error that names the file.
    fn save(&self, folder: &Path) -> Result<()>;

    /// Takes the parameters from a folder that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// A file that is missing or holds another model.
    fn load(&mut self, folder: &Path) -> Result<()>;

    /// A short sample of what the model makes of `seed`, if it makes anything that can be shown.
    ///
    /// # Errors
    /// The model's own.
    fn sample(&mut self, _seed: u64) -> Result<Option<String>> {
        Ok(None)
    }
}

/// Batches by number. The same number always gives the same batch, whatever was asked before.
pub trait Batches {
    /// What a batch is.
    type Batch;

    /// The batch with this number. Numbers go on without end; data that ends starts again.
    ///
    /// # Errors
    /// Data that cannot be read.
    fn batch(&mut self, number: u64) -> Result<Self::Batch>;

    /// How many tokens (or examples) the loss of one batch averages over.
    fn tokens_per_batch(&self) -> u64;
}
