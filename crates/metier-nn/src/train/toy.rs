//! The smallest model worth training: a linear map with gains, whose gradients are a few lines.

use super::{Batches, Trainable};
use crate::optim::ParamMut;
use metier_core::{Error, Result, files, rng};
use rand::RngExt;
use std::path::Path;

pub(super) const INPUTS: usize = 5;
pub(super) const OUTPUTS: usize = 3;
const WEIGHT: &str = "layers.0.weight";
const GAIN: &str = "norm.weight";

/// Predicts `gain ∘ (W x)`; the loss is the mean squared error over examples.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Toy {
    pub weight: Vec<f32>,
    pub gain: Vec<f32>,
    /// Spoils the gradient of the weight from this call on.
    pub broken_from_call: Option<u64>,
    pub calls: u64,
}

impl Toy {
    pub fn new(seed: u64) -> Self {
        let mut rng = rng::stream(seed, "toy weights");
        let weight = (0..INPUTS * OUTPUTS).map(|_| rng.random::<f32>() - 0.5).collect();
        Self { weight, gain: vec![1.0; OUTPUTS], broken_from_call: None, calls: 0 }
    }

    /// The loss, and the gradients where they are wanted.
    fn pass(&self, batch: &[Example], gradients: Option<&mut [Vec<f32>; 2]>) -> f64 {
        let share = 1.0 / (batch.len() * OUTPUTS) as f32;
        let mut total = 0.0f64;
        let mut sums = [vec![0.0; INPUTS * OUTPUTS], vec![0.0; OUTPUTS]];
        for (x, y) in batch {
            for o in 0..OUTPUTS {
                let row = &self.weight[o * INPUTS..(o + 1) * INPUTS];
                let hidden: f32 = row.iter().zip(x).map(|(w, x)| w * x).sum();
                let error = self.gain[o] * hidden - y[o];
                total += f64::from(error * error);
                sums[1][o] += 2.0 * error * hidden * share;
                for i in 0..INPUTS {
                    sums[0][o * INPUTS + i] += 2.0 * error * self.gain[o] * x[i] * share;
                }
            }
        }
        if let Some(gradients) = gradients {
            *gradients = sums;
        }
        total * f64::from(share)
    }
}

pub(super) type Example = ([f32; INPUTS], [f32; OUTPUTS]);

impl Trainable for Toy {
    type Batch = Vec<Example>;

    fn parameters(&self) -> Vec<(String, Vec<usize>)> {
        vec![(WEIGHT.into(), vec![OUTPUTS, INPUTS]), (GAIN.into(), vec![OUTPUTS])]
    }

    fn loss_and_gradients(&mut self, batch: &Self::Batch) -> Result<(f64, Vec<Vec<f32>>)> {
        self.calls += 1;
        let mut gradients = Default::default();
        let loss = self.pass(batch, Some(&mut gradients));
        if self.broken_from_call.is_some_and(|call| self.calls >= call) {
            gradients[0][7] = f32::NAN;
        }
        Ok((loss, gradients.into()))
    }

    fn loss(&mut self, batch: &Self::Batch) -> Result<f64> {
        Ok(self.pass(batch, None))
    }

    fn with_parameters(
        &mut self,
        change: &mut dyn FnMut(&mut [ParamMut<'_>]) -> Result<()>,
    ) -> Result<()> {
        change(&mut [
            ParamMut { name: WEIGHT, shape: &[OUTPUTS, INPUTS], data: &mut self.weight },
            ParamMut { name: GAIN, shape: &[OUTPUTS], data: &mut self.gain },
        ])
    }

    fn save(&self, folder: &Path) -> Result<()> {
        let all = self.weight.iter().chain(&self.gain);
        let bytes: Vec<u8> = all.flat_map(|value| value.to_le_bytes()).collect();
        files::write_bytes(&folder.join("toy.bin"), &bytes)
    }

    fn load(&mut self, folder: &Path) -> Result<()> {
        let path = folder.join("toy.bin");
        let bytes = std::fs::read(&path).map_err(|source| Error::io(&path, source))?;
        let values = bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()));
        for (to, from) in self.weight.iter_mut().chain(&mut self.gain).zip(values) {
            *to = from;
        }
        Ok(())
    }

    fn sample(&mut self, seed: u64) -> Result<Option<String>> {
        Ok(Some(format!("sample {seed}")))
    }
}

/// Noisy examples of a fixed map.
pub(super) struct Examples {
    pub size: usize,
    pub seed: u64,
}

impl Batches for Examples {
    type Batch = Vec<Example>;

    fn batch(&mut self, number: u64) -> Result<Self::Batch> {
        // Examples are numbered through, so that two batches of 8 are one of 16.
        let first = number * self.size as u64;
        Ok((first..first + self.size as u64).map(|i| example(self.seed, i)).collect())
    }

    fn tokens_per_batch(&self) -> u64 {
        self.size as u64
    }
}

fn example(seed: u64, index: u64) -> Example {
    let mut rng = rng::indexed(seed, "toy example", index);
    let x: [f32; INPUTS] = std::array::from_fn(|_| rng.random::<f32>() - 0.5);
    let y = std::array::from_fn(|o| x[o] - 0.5 * x[o + 1] + 0.01 * (rng.random::<f32>() - 0.5));
    (x, y)
}
