//! The loop that every architecture learns in: Adam, batches, early stopping.

use super::Network;
use super::adam::Adam;
use super::layer::{Gradient, Mode, backward, forward};
use super::matrix::Matrix;
use crate::learn::r_squared;
use metier_core::{Error, Progress, Result, rng};
use ndarray::Array2;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// How a network learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Training {
    /// The step size of Adam.
    pub learning_rate: f32,
    /// Rows per step.
    pub batch: usize,
    /// The most passes over the rows.
    pub epochs: usize,
    /// Passes without a better score on the rows held out before training stops.
    pub patience: usize,
    /// The quadratic penalty on weights.
    pub alpha: f32,
}

impl Default for Training {
    /// Short: Adam at 1e-3, batches of 200, at most 200 passes, a patience of 10. Minutes become
    /// seconds for about 0.02 of R² on house prices.
    fn default() -> Self {
        Self { learning_rate: 1e-3, batch: 200, epochs: 200, patience: 10, alpha: 1e-4 }
    }
}

impl Training {
    /// The paper's: batches of 512, at most 500 passes, a patience of 50, no penalty.
    ///
    /// ```
    /// assert_eq!(metier_geometry::learn::Training::paper().patience, 50);
    /// ```
    pub fn paper() -> Self {
        Self { batch: 512, epochs: 500, patience: 50, alpha: 0.0, ..Self::default() }
    }

    /// Checks every number.
    ///
    /// # Errors
    /// The first that is out of range, by name.
    pub fn validate(&self) -> Result<()> {
        let out = |name: &str, value: String, wanted: &str| {
            let message = format!("{name} is {value}, where {wanted} is wanted");
            Err(Error::usage(message).in_field(name))
        };
        let positive = |value: f32| value > 0.0 && value.is_finite();
        if !positive(self.learning_rate) {
            return out("learning_rate", self.learning_rate.to_string(), "a number above 0");
        }
        for (name, value) in [("batch", self.batch), ("epochs", self.epochs)] {
            if value == 0 {
                return out(name, "0".into(), "at least 1");
            }
        }
        if !(self.alpha == 0.0 || positive(self.alpha)) {
            return out("alpha", self.alpha.to_string(), "0 or a number above 0");
        }
        Ok(())
    }
}

impl Network {
    /// Trains the parameters, and keeps those that do best on the rows held out.
    pub(super) fn train(
        &mut self,
        training: &Training,
        x: &Array2<f32>,
        y: &[f64],
        held: (&Array2<f32>, &[f64]),
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<()> {
        let (x, held_x) = (self.standardised(x), self.standardised(held.0));
        let y: Vec<f32> = y.iter().map(|y| ((y - self.target.0) / self.target.1) as f32).collect();
        let mut adam = Adam::new(self.parameters.len(), training.learning_rate);
        let mut gradient = vec![0.0; self.parameters.len()];
        let mut order: Vec<usize> = (0..y.len()).collect();
        let (mut best, mut best_parameters, mut waited) =
            (f64::NEG_INFINITY, self.parameters.clone(), 0);
        for epoch in 0..training.epochs {
            progress.check()?;
            order.shuffle(&mut rng::indexed(seed, "mlp batches", epoch as u64));
            let mut drops = rng::indexed(seed, "network dropout", epoch as u64);
            for chunk in order.chunks(training.batch) {
                let targets: Vec<f32> = chunk.iter().map(|row| y[*row]).collect();
                gradient.fill(0.0);
                let mode = &mut Mode::Train(&mut drops);
                self.gradient(x.picked(chunk), &targets, training.alpha, mode, &mut gradient);
                adam.step(&mut self.parameters, &gradient);
            }
            self.epochs = epoch + 1;
            let score = r_squared(held.1, &self.outputs(&held_x));
            if score > best + 1e-4 {
                waited = 0;
            } else {
                waited += 1;
            }
            if score > best {
                best = score;
                best_parameters.clone_from(&self.parameters);
            }
            if waited > training.patience || !score.is_finite() {
                break;
            }
        }
        self.parameters = best_parameters;
        Ok(())
    }

    // Of half the mean squared error, with the penalty shared over the rows.
    pub(super) fn gradient(
        &self,
        x: Matrix,
        y: &[f32],
        alpha: f32,
        mode: &mut Mode,
        sums: &mut [f32],
    ) {
        let n = y.len() as f32;
        let (mut delta, kept) = forward(&self.layers, &self.parameters, x, mode);
        delta.values.iter_mut().zip(y).for_each(|(d, y)| *d = (*d - y) / n);
        let gradient = Gradient { sums, decay: alpha / n };
        backward(&self.layers, &self.parameters, kept, delta, gradient, false);
    }
}
