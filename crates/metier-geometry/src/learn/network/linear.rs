//! A linear map with an offset.

use super::layer::Gradient;
use super::matrix::{Matrix, add_product, view};
use metier_core::rng::Rng;
use rand::RngExt;

/// A map from rows of `from` values to rows of `to`: `from x to` weights, then `to` offsets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Linear {
    from: usize,
    to: usize,
    // Weights and offsets start evenly spread between minus this and this.
    bound: f32,
}

impl Linear {
    /// With Glorot's start, which keeps the spread of values and of slopes from layer to layer.
    pub(super) fn glorot(from: usize, to: usize) -> Self {
        Self::spread(from, to, (6.0 / (from + to) as f32).sqrt())
    }

    /// With the start that is usual for linear maps of no particular function.
    pub(super) fn plain(from: usize, to: usize) -> Self {
        Self::spread(from, to, 1.0 / (from.max(1) as f32).sqrt())
    }

    /// With weights and offsets that start evenly spread between `-bound` and `bound`.
    pub(super) fn spread(from: usize, to: usize, bound: f32) -> Self {
        Self { from, to, bound }
    }

    pub(super) fn size(&self) -> usize {
        (self.from + 1) * self.to
    }

    pub(super) fn start(&self, rng: &mut Rng) -> Vec<f32> {
        (0..self.size()).map(|_| rng.random_range(-self.bound..self.bound)).collect()
    }

    pub(super) fn forward(&self, own: &[f32], x: &Matrix) -> Matrix {
        let (weights, offsets) = own.split_at(self.from * self.to);
        let mut y = Matrix::product(x.view(), view(weights, self.to));
        for row in y.rows_mut() {
            row.iter_mut().zip(offsets).for_each(|(y, offset)| *y += offset);
        }
        y
    }

    pub(super) fn backward(
        &self,
        own: &[f32],
        x: &Matrix,
        delta: &Matrix,
        gradient: Gradient,
        wanted: bool,
    ) -> Option<Matrix> {
        let weights = &own[..self.from * self.to];
        let (sums, offsets) = gradient.sums.split_at_mut(weights.len());
        add_product(sums, x.view().transpose(), delta.view());
        if gradient.decay > 0.0 {
            sums.iter_mut().zip(weights).for_each(|(sum, w)| *sum += gradient.decay * w);
        }
        for row in delta.rows() {
            offsets.iter_mut().zip(row).for_each(|(sum, d)| *sum += d);
        }
        wanted.then(|| Matrix::product(delta.view(), view(weights, self.to).transpose()))
    }
}
