//! Causal attention of rotated queries and keys, with keys and values that query heads may share.
//!
//! The parts are rotated into rows where they lie side by side, which is what the attention of the
//! neighbouring file reads; nothing is repeated for heads that share.

use super::attention::Heads;
use super::fused::{Host, HostOperation, Input, apply};
use burn::tensor::Tensor;
use rayon::prelude::*;
use std::sync::Arc;

/// The cosines and sines by which positions turn the pairs `(x_i, x_{i + width/2})` of a head.
///
/// ```
/// use metier_nn::kernels::RotaryTable;
/// let table = RotaryTable::new(0, 3, 4, 1e4);
/// let mut head = [1.0, 0.0, 0.0, 0.0];
/// table.turn(1, &mut head);
/// assert!((head[0] - 1f32.cos()).abs() < 1e-6 && (head[2] - 1f32.sin()).abs() < 1e-6);
/// ```
#[derive(Clone, Debug)]
pub struct RotaryTable {
    /// `[length, width/2]` pairs of cosine and sine.
    turns: Arc<[(f32, f32)]>,
    half: usize,
}

impl RotaryTable {
    /// The table of positions `first..first + length` for heads of an even `width`: the angle of pair `i`
    /// is the position times `base^(-2i/width)`. A width below 2 has no pairs.
    pub fn new(first: usize, length: usize, width: usize, base: f64) -> Self {
        let half = width / 2;
        let turns = (first..first + length)
            .flat_map(|position| {
                (0..half).map(move |i| {
                    let angle = position as f64 * base.powf(-2.0 * i as f64 / width as f64);
                    (angle.cos() as f32, angle.sin() as f32)
                })
            })
            .collect();
        Self { turns, half }
    }

    /// The turns of every position, `[length][width/2]`, as pairs of cosine and sine.
    pub fn turns(&self) -> impl Iterator<Item = &[(f32, f32)]> {
        self.turns.chunks(self.half.max(1))
    }

    /// Turns a head at the position of this row of the table.
    ///
    /// # Panics
    /// When the table has no such row.
    pub fn turn(&self, row: usize, head: &mut [f32]) {
        self.rotate(row, head, 1.0);
    }

    /// Turns a head back, as the gradient is.
    fn turn_back(&self, row: usize, head: &mut [f32]) {
        self.rotate(row, head, -1.0);
    }

    fn rotate(&self, row: usize, head: &mut [f32], direction: f32) {
        let (first, second) = head.split_at_mut(self.half);
        let turns = &self.turns[row * self.half..][..self.half];
        for ((a, b), &(cosine, sine)) in first.iter_mut().zip(second).zip(turns) {
            let sine = direction * sine;
            (*a, *b) = (*a * cosine - *b * sine, *b * cosine + *a * sine);
        }
    }
}

pub(super) fn attention(
    [queries, keys, values]: [&Tensor<3>; 3],
    [query_heads, key_heads]: [usize; 2],
    table: &RotaryTable,
) -> Option<Tensor<3>> {
    let heads =
        Heads { queries: query_heads, keys: key_heads, width: queries.dims()[2] / query_heads };
    let inputs = [queries, keys, values].map(Input::new);
    apply(RotaryAttention { heads, table: table.clone() }, inputs)
}

#[derive(Clone, Debug)]
struct RotaryAttention {
    heads: Heads,
    table: RotaryTable,
}

impl RotaryAttention {
    /// Queries, keys and values side by side, the first two rotated.
    fn pack(&self, [queries, keys, values]: [&Host; 3]) -> Vec<f32> {
        let length = queries.shape()[1];
        let (wide, narrow) = (self.heads.out(), self.heads.keys * self.heads.width);
        let mut packed = vec![0.0; queries.values().len() / wide * self.heads.row()];
        packed
            .par_chunks_mut(self.heads.row())
            .zip(queries.values().par_chunks(wide))
            .zip(keys.values().par_chunks(narrow))
            .zip(values.values().par_chunks(narrow))
            .enumerate()
            .with_min_len(ROWS)
            .for_each(|(row, (((packed, queries), keys), values))| {
                packed[..wide].copy_from_slice(queries);
                packed[wide..wide + narrow].copy_from_slice(keys);
                packed[wide + narrow..].copy_from_slice(values);
                for head in packed[..wide + narrow].chunks_mut(self.heads.width) {
                    self.table.turn(row % length, head);
                }
            });
        packed
    }

    /// The three gradients from that of the packed rows.
    fn unpack(&self, mut packed: Vec<f32>, length: usize) -> [Vec<f32>; 3] {
        let (wide, narrow) = (self.heads.out(), self.heads.keys * self.heads.width);
        let rows = packed.len() / self.heads.row();
        let [mut queries, mut keys, mut values] =
            [wide, narrow, narrow].map(|width| vec![0.0; rows * width]);
        packed
            .par_chunks_mut(self.heads.row())
            .zip(queries.par_chunks_mut(wide))
            .zip(keys.par_chunks_mut(narrow))
            .zip(values.par_chunks_mut(narrow))
            .enumerate()
            .with_min_len(ROWS)
            .for_each(|(row, (((packed, queries), keys), values))| {
                for head in packed[..wide + narrow].chunks_mut(self.heads.width) {
                    self.table.turn_back(row % length, head);
                }
                queries.copy_from_slice(&packed[..wide]);
                keys.copy_from_slice(&packed[wide..wide + narrow]);
                values.copy_from_slice(&packed[wide + narrow..]);
            });
        [queries, keys, values]
    }
}

/// Rows per piece of work.
const ROWS: usize = 64;

impl HostOperation<3> for RotaryAttention {
    /// The packed rows and the logarithms of the sums.
    type Saved = (Vec<f32>, Vec<f32>);

    fn forward(
        &self,
        inputs: [&Host; 3],
        _traced: bool,
    ) -> (Vec<f32>, Vec<usize>, (Vec<f32>, Vec<f32>)) {
        let shape = inputs[0].shape().to_vec();
        let packed = self.pack(inputs);
        let (out, log_sums) = self.heads.attend(&packed, shape[1]);
        (out, shape, (packed, log_sums))
    }

    fn backward(
        &self,
        (packed, log_sums): (Vec<f32>, Vec<f32>),
        [queries, ..]: [&Host; 3],
        gradient: Vec<f32>,
    ) -> [Vec<f32>; 3] {
        let length = queries.shape()[1];
        self.unpack(self.heads.attend_gradient(&packed, &log_sums, &gradient, length), length)
    }
}
