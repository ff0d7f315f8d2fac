//! Rows brought to one scale.

use super::layer::{self, Gradient, Mode};
use super::matrix::Matrix;

/// Layer normalization: every row brought to mean 0 and deviation 1, then a gain and a shift for
/// each column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Norm {
    pub(super) width: usize,
}

/// The rows before gain and shift, and what each was multiplied by.
pub(super) struct Kept {
    rows: Matrix,
    scales: Vec<f32>,
}

// What keeps a row of equal values from a division by zero.
const EPSILON: f32 = 1e-5;

impl Norm {
    pub(super) fn size(&self) -> usize {
        2 * self.width
    }

    pub(super) fn start(&self) -> Vec<f32> {
        [vec![1.0; self.width], vec![0.0; self.width]].concat()
    }

    pub(super) fn forward(&self, own: &[f32], mut x: Matrix, mode: &Mode) -> (Matrix, layer::Kept) {
        let (gains, shifts) = own.split_at(self.width);
        let n = self.width as f32;
        let mut scales = Vec::with_capacity(x.row_count());
        for row in x.rows_mut() {
            let mean = row.iter().sum::<f32>() / n;
            let square = row.iter().map(|v| (v - mean) * (v - mean)).sum::<f32>() / n;
            let scale = 1.0 / (square + EPSILON).sqrt();
            row.iter_mut().for_each(|v| *v = (*v - mean) * scale);
            scales.push(scale);
        }
        let kept = if mode.trains() {
            layer::Kept::Norm(Kept { rows: x.clone(), scales })
        } else {
            layer::Kept::Nothing
        };
        for row in x.rows_mut() {
            for ((v, gain), shift) in row.iter_mut().zip(gains).zip(shifts) {
                *v = *v * gain + shift;
            }
        }
        (x, kept)
    }

    pub(super) fn backward(
        &self,
        own: &[f32],
        kept: &Kept,
        mut delta: Matrix,
        gradient: Gradient,
    ) -> Matrix {
        let gains = &own[..self.width];
        let (gain_sums, shift_sums) = gradient.sums.split_at_mut(self.width);
        let n = self.width as f32;
        for ((row, normal), scale) in delta.rows_mut().zip(kept.rows.rows()).zip(&kept.scales) {
            for i in 0..row.len() {
                gain_sums[i] += row[i] * normal[i];
                shift_sums[i] += row[i];
                row[i] *= gains[i];
            }
            // Mean and deviation depend on the row: its part along them does not get through.
            let mean = row.iter().sum::<f32>() / n;
            let along = row.iter().zip(normal).map(|(d, v)| d * v).sum::<f32>() / n;
            for (d, v) in row.iter_mut().zip(normal) {
                *d = scale * (*d - mean - along * v);
            }
        }
        delta
    }
}
