//! Causal attention of queries, keys and values that lie side by side in memory.
//!
//! Works on blocks of queries, each against the keys up to its end, so that nearly half of the
//! products are never computed. Probabilities are not kept: the gradient computes them again from the
//! scores and the logarithm of their sum, which costs less than writing and reading them. Products
//! read the packed rows in place, and the gradient is written where it belongs, without transposes.

use super::cross_entropy::sum;
use super::fused::{Host, HostOperation, Input, apply};
use burn::tensor::Tensor;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use metier_core::vector::{exp, wide};
use rayon::prelude::*;

/// Queries per block.
const BLOCK: usize = 64;

pub(super) fn packed(packed: &Tensor<3>, heads: usize) -> Option<Tensor<3>> {
    let width = packed.dims()[2] / (3 * heads);
    apply(Heads { queries: heads, keys: heads, width }, [Input::new(packed)])
}

/// The heads whose queries, keys and values lie side by side in a row, in this order. Query heads share
/// the key and value heads evenly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads {
    pub(super) queries: usize,
    pub(super) keys: usize,
    /// The width of each.
    pub(super) width: usize,
}

/// Where the parts of one query head lie in the rows of a sequence.
#[derive(Clone, Copy)]
struct Head {
    all: Heads,
    index: usize,
}

impl Head {
    /// Rows `first..` of part 0 (queries), 1 (keys) or 2 (values).
    fn part<'a>(
        &self,
        packed: &'a [f32],
        part: usize,
        first: usize,
        rows: usize,
    ) -> MatRef<'a, f32> {
        let offset = first * self.all.row() + self.offset(part);
        strided(&packed[offset..], rows, self.all.width, self.all.row())
    }

    fn part_mut<'a>(
        &self,
        packed: &'a mut [f32],
        part: usize,
        first: usize,
        rows: usize,
    ) -> MatMut<'a, f32> {
        let offset = first * self.all.row() + self.offset(part);
        strided_mut(&mut packed[offset..], rows, self.all.width, self.all.row())
    }

    fn offset(&self, part: usize) -> usize {
        let Heads { queries, keys, width } = self.all;
        let shared = self.index * keys / queries;
        width * [self.index, queries + shared, queries + keys + shared][part]
    }

    fn out_offset(&self, first: usize) -> usize {
        first * self.all.out() + self.index * self.all.width
    }
}

fn strided(slice: &[f32], rows: usize, columns: usize, stride: usize) -> MatRef<'_, f32> {
    let used = (rows - 1) * stride + columns;
    MatRef::from_row_major_slice_with_stride(&slice[..used], rows, columns, stride)
}

fn strided_mut(slice: &mut [f32], rows: usize, columns: usize, stride: usize) -> MatMut<'_, f32> {
    let used = (rows - 1) * stride + columns;
    // Its row-major sister in faer 0.24.4 swaps the strides, and so writes beyond the slice.
    MatMut::from_column_major_slice_with_stride_mut(&mut slice[..used], columns, rows, stride)
        .transpose_mut()
}

impl Heads {
    /// Values in a row of queries, keys and values.
    pub(super) fn row(&self) -> usize {
        (self.queries + 2 * self.keys) * self.width
    }

    /// Values in a row of the output.
    pub(super) fn out(&self) -> usize {
        self.queries * self.width
    }

    fn each(self) -> impl Iterator<Item = Head> {
        (0..self.queries).map(move |index| Head { all: self, index })
    }

    /// The output of `packed` sequences of this length, and the logarithms of the sums,
    /// `[batch, heads, length]`.
    pub(super) fn attend(&self, packed: &[f32], length: usize) -> (Vec<f32>, Vec<f32>) {
        let rows = packed.len() / self.row();
        let mut out = vec![0.0; rows * self.out()];
        let mut log_sums = vec![0.0; rows * self.queries];
        out.par_chunks_mut(length * self.out())
            .zip(packed.par_chunks(length * self.row()))
            .zip(log_sums.par_chunks_mut(self.queries * length))
            .for_each(|((out, packed), log_sums)| self.sequence(packed, out, log_sums));
        (out, log_sums)
    }

    /// The gradient of `packed` from that of the output.
    pub(super) fn attend_gradient(
        &self,
        packed: &[f32],
        log_sums: &[f32],
        gradient: &[f32],
        length: usize,
    ) -> Vec<f32> {
        let mut out = vec![0.0; packed.len()];
        out.par_chunks_mut(length * self.row())
            .zip(packed.par_chunks(length * self.row()))
            .zip(log_sums.par_chunks(self.queries * length))
            .zip(gradient.par_chunks(length * self.out()))
            .for_each(|(((out, packed), log_sums), gradient)| {
                self.sequence_gradient(packed, log_sums, gradient, out);
            });
        out
    }

    /// One sequence forward. `log_sums` is `[heads, length]`.
    fn sequence(&self, packed: &[f32], out: &mut [f32], log_sums: &mut [f32]) {
        let length = packed.len() / self.row();
        let mut scores = vec![0.0; BLOCK * length];
        let scale = 1.0 / (self.width as f32).sqrt();
        for head in self.each() {
            let log_sums = &mut log_sums[head.index * length..][..length];
            for first in (0..length).step_by(BLOCK) {
                let rows = BLOCK.min(length - first);
                let seen = first + rows;
                let scores = &mut scores[..rows * seen];
                self.scores(head, packed, first, rows, scale, scores);
                for (row, scores) in scores.chunks_mut(seen).enumerate() {
                    log_sums[first + row] = softmax(scores, first + row + 1);
                }
                matmul(
                    strided_mut(&mut out[head.out_offset(first)..], rows, self.width, self.out()),
                    Accum::Replace,
                    strided(scores, rows, seen, seen),
                    head.part(packed, 2, 0, seen),
                    1.0,
                    Par::Seq,
                );
            }
        }
    }

    fn scores(
        &self,
        head: Head,
        packed: &[f32],
        first: usize,
        rows: usize,
        scale: f32,
        scores: &mut [f32],
    ) {
        let seen = first + rows;
        matmul(
            strided_mut(scores, rows, seen, seen),
            Accum::Replace,
            head.part(packed, 0, first, rows),
            head.part(packed, 1, 0, seen).transpose(),
            scale,
            Par::Seq,
        );
    }

    /// One sequence backward: the gradient of the packed rows from that of the output.
    fn sequence_gradient(
        &self,
        packed: &[f32],
        log_sums: &[f32],
        gradient: &[f32],
        out: &mut [f32],
    ) {
        let length = packed.len() / self.row();
        let mut probabilities = vec![0.0; BLOCK * length];
        let mut products = vec![0.0; BLOCK * length];
        let scale = 1.0 / (self.width as f32).sqrt();
        for head in self.each() {
            let log_sums = &log_sums[head.index * length..][..length];
            for first in (0..length).step_by(BLOCK) {
                let rows = BLOCK.min(length - first);
                let seen = first + rows;
                let p = &mut probabilities[..rows * seen];
                let d = &mut products[..rows * seen];
                self.scores(head, packed, first, rows, scale, p);
                let of_out =
                    strided(&gradient[head.out_offset(first)..], rows, self.width, self.out());
                matmul(
                    strided_mut(d, rows, seen, seen),
                    Accum::Replace,
                    of_out,
                    head.part(packed, 2, 0, seen).transpose(),
                    1.0,
                    Par::Seq,
                );
                for (row, (p, d)) in p.chunks_mut(seen).zip(d.chunks_mut(seen)).enumerate() {
                    softmax_gradient(p, d, first + row + 1, log_sums[first + row]);
                }
                let (p, d) = (strided(p, rows, seen, seen), strided(d, rows, seen, seen));
                matmul(
                    head.part_mut(out, 2, 0, seen),
                    Accum::Add,
                    p.transpose(),
                    of_out,
                    1.0,
                    Par::Seq,
                );
                matmul(
                    head.part_mut(out, 0, first, rows),
                    Accum::Replace,
                    d,
                    head.part(packed, 1, 0, seen),
                    scale,
                    Par::Seq,
                );
                matmul(
                    head.part_mut(out, 1, 0, seen),
                    Accum::Add,
                    d.transpose(),
                    head.part(packed, 0, first, rows),
                    scale,
                    Par::Seq,
                );
            }
        }
    }
}

/// Turns the first `seen` scores into probabilities and the others into zeros; returns the logarithm
/// of the sum of exponentials.
fn softmax(scores: &mut [f32], seen: usize) -> f32 {
    let (scores, hidden) = scores.split_at_mut(seen);
    hidden.fill(0.0);
    wide(
        #[inline(always)]
        || {
            let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            scores.iter_mut().for_each(|score| *score = exp(*score - top));
            let total = sum(scores);
            let inverse = 1.0 / total;
            scores.iter_mut().for_each(|score| *score *= inverse);
            top + total.ln()
        },
    )
}

/// Turns scores into probabilities and the products `d` of the output's gradient with the values into
/// the gradient of the scores, `p (d - Σ p d)`.
fn softmax_gradient(p: &mut [f32], d: &mut [f32], seen: usize, log_sum: f32) {
    let (p, hidden_p) = p.split_at_mut(seen);
    let (d, hidden_d) = d.split_at_mut(seen);
    hidden_p.fill(0.0);
    hidden_d.fill(0.0);
    wide(
        #[inline(always)]
        || {
            for (p, d) in p.iter_mut().zip(d.iter_mut()) {
                *p = exp(*p - log_sum);
                *d *= *p;
            }
            let total = sum(d);
            for (p, d) in p.iter().zip(d.iter_mut()) {
                *d -= p * total;
            }
        },
    );
}

impl HostOperation<1> for Heads {
    /// The logarithms of the sums.
    type Saved = Vec<f32>;

    fn forward(&self, [packed]: [&Host; 1], _traced: bool) -> (Vec<f32>, Vec<usize>, Vec<f32>) {
        let &[batch, length, _] = packed.shape() else { unreachable!("a tensor of rank 3") };
        let (out, log_sums) = self.attend(packed.values(), length);
        (out, vec![batch, length, self.out()], log_sums)
    }

    fn backward(&self, saved: Vec<f32>, [packed]: [&Host; 1], gradient: Vec<f32>) -> [Vec<f32>; 1] {
        [self.attend_gradient(packed.values(), &saved, &gradient, packed.shape()[1])]
    }
}
