//! The mean cross entropy of the next token, with its gradient made in the same pass.

use super::fused::{Host, HostOperation, Input, apply};
use burn::tensor::{Int, Tensor};
use metier_core::vector::{exp, wide};
use rayon::prelude::*;

pub(super) fn cross_entropy(scores: &Tensor<3>, targets: &Tensor<2, Int>) -> Option<Tensor<1>> {
    let scores = Input::new(scores)?;
    let targets = targets.clone().into_data().try_into_vec_as::<i32>().ok()?;
    apply(CrossEntropy { targets }, [Some(scores)])
}

#[derive(Clone, Debug)]
struct CrossEntropy {
    targets: Vec<i32>,
}

impl HostOperation<1> for CrossEntropy {
    /// `(softmax - onehot) / rows`
    type Saved = Vec<f32>;

    fn forward(&self, [scores]: [&Host; 1], traced: bool) -> (Vec<f32>, Vec<usize>, Vec<f32>) {
        let vocabulary = *scores.shape().last().unwrap_or(&1);
        let share = 1.0 / self.targets.len() as f32;
        let rows = scores.values().par_chunks(vocabulary).zip(&self.targets);
        let (losses, gradient): (Vec<f32>, Vec<f32>) = if traced {
            let mut gradient = vec![0.0; scores.values().len()];
            let losses = rows
                .zip(gradient.par_chunks_mut(vocabulary))
                .map(|((row, &target), gradient)| {
                    let (top, sum) = exponentials(row, gradient);
                    let scale = share / sum;
                    gradient.iter_mut().for_each(|value| *value *= scale);
                    gradient[target as usize] -= share;
                    top + sum.ln() - row[target as usize]
                })
                .collect();
            (losses, gradient)
        } else {
            let losses = rows
                .map_init(
                    || vec![0.0; vocabulary],
                    |scratch, (row, &target)| {
                        let (top, sum) = exponentials(row, scratch);
                        top + sum.ln() - row[target as usize]
                    },
                )
                .collect();
            (losses, Vec::new())
        };
        let mean = losses.iter().map(|&loss| f64::from(loss)).sum::<f64>() / losses.len() as f64;
        (vec![mean as f32], vec![1], gradient)
    }

    fn backward(&self, mut saved: Vec<f32>, _: [&Host; 1], gradient: Vec<f32>) -> [Vec<f32>; 1] {
        let factor = gradient[0];
        if factor != 1.0 {
            saved.par_iter_mut().for_each(|value| *value *= factor);
        }
        [saved]
    }
}

/// Writes `exp(x - max)` and returns the maximum and the sum.
fn exponentials(row: &[f32], out: &mut [f32]) -> (f32, f32) {
    wide(
        #[inline(always)]
        || {
            let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for (out, &x) in out.iter_mut().zip(row) {
                *out = exp(x - top);
            }
            (top, sum(out))
        },
    )
}

/// A sum in sixteen lanes, which vectorizes and does not depend on the vectors' width.
#[inline(always)]
pub(super) fn sum(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<16>();
    let mut lanes = [0.0f32; 16];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().sum::<f32>()
}
