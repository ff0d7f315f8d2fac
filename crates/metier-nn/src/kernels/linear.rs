//! Linear maps of all the rows of a batch.
//!
//! Burn takes one product per sequence, in the gradient makes a whole weight matrix per sequence before
//! it adds them, and clears and copies every output before it is written. Here the rows of all sequences
//! are those of one matrix.

use super::WeightLayout;
use super::fused::{Host, HostOperation, Input, apply};
use super::product::product;
use burn::tensor::Tensor;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Rows of an output per piece of work; with fewer there is nothing to gain here.
const PIECE: usize = 128;

pub(super) fn linear(
    x: &Tensor<3>,
    weight: &Tensor<2>,
    layout: WeightLayout,
    bias: Option<&Tensor<1>>,
) -> Option<Tensor<3>> {
    let [batch, length, _] = x.dims();
    if batch * length < PIECE {
        return None;
    }
    match bias {
        Some(bias) => {
            apply(Biased(Linear(layout)), [Input::new(x), Input::new(weight), Input::new(bias)])
        }
        None => apply(Linear(layout), [Input::new(x), Input::new(weight)]),
    }
}

#[derive(Clone, Debug)]
struct Linear(WeightLayout);

impl Linear {
    /// The weight as `[in, out]`.
    fn turned<'a>(&self, weight: &'a Host) -> MatRef<'a, f32> {
        let weight = row_major(weight.values(), weight.shape()[1]);
        match self.0 {
            WeightLayout::InOut => weight,
            WeightLayout::OutIn => weight.transpose(),
        }
    }

    fn run(&self, x: &Host, weight: &Host, bias: Option<&[f32]>) -> (Vec<f32>, Vec<usize>) {
        let weight = self.turned(weight);
        let out = times(x.values(), weight, bias);
        let mut shape = x.shape().to_vec();
        if let Some(width) = shape.last_mut() {
            *width = weight.ncols();
        }
        (out, shape)
    }

    fn gradients(&self, x: &Host, weight: &Host, gradient: &[f32]) -> [Vec<f32>; 2] {
        let turned = self.turned(weight);
        let of_x = times(gradient, turned.transpose(), None);
        let x = row_major(x.values(), turned.nrows());
        let gradient = row_major(gradient, turned.ncols());
        let of_weight = match self.0 {
            WeightLayout::InOut => over_rows(x, gradient),
            WeightLayout::OutIn => over_rows(gradient, x),
        };
        [of_x, of_weight]
    }
}

fn row_major(values: &[f32], columns: usize) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(values, values.len() / columns, columns)
}

fn row_major_mut(values: &mut [f32], columns: usize) -> MatMut<'_, f32> {
    let rows = values.len() / columns;
    MatMut::from_row_major_slice_mut(values, rows, columns)
}

/// `rows · right + bias`
fn times(rows: &[f32], right: MatRef<'_, f32>, bias: Option<&[f32]>) -> Vec<f32> {
    let (inner, width) = (right.nrows(), right.ncols());
    let mut out = vec![0.0; rows.len() / inner * width];
    out.par_chunks_mut(PIECE * width).zip(rows.par_chunks(PIECE * inner)).for_each(
        |(out, rows)| {
            let accum = match bias {
                Some(bias) => {
                    out.chunks_mut(width).for_each(|row| row.copy_from_slice(bias));
                    Accum::Add
                }
                None => Accum::Replace,
            };
            matmul(row_major_mut(out, width), accum, row_major(rows, inner), right, 1.0, Par::Seq);
        },
    );
    out
}

/// `leftᵀ · right`, a sum over all rows.
fn over_rows(left: MatRef<'_, f32>, right: MatRef<'_, f32>) -> Vec<f32> {
    let width = right.ncols();
    let mut out = vec![0.0; left.ncols() * width];
    out.par_chunks_mut(PIECE * width).enumerate().for_each(|(piece, out)| {
        let columns = left.subcols(piece * PIECE, out.len() / width);
        product(row_major_mut(out, width), columns.transpose(), right);
    });
    out
}

impl HostOperation<2> for Linear {
    type Saved = ();

    fn forward(&self, [x, weight]: [&Host; 2], _traced: bool) -> (Vec<f32>, Vec<usize>, ()) {
        let (out, shape) = self.run(x, weight, None);
        (out, shape, ())
    }

    fn backward(&self, _: (), [x, weight]: [&Host; 2], gradient: Vec<f32>) -> [Vec<f32>; 2] {
        self.gradients(x, weight, &gradient)
    }
}

#[derive(Clone, Debug)]
struct Biased(Linear);

impl HostOperation<3> for Biased {
    type Saved = ();

    fn forward(&self, [x, weight, bias]: [&Host; 3], _traced: bool) -> (Vec<f32>, Vec<usize>, ()) {
        let (out, shape) = self.0.run(x, weight, Some(bias.values()));
        (out, shape, ())
    }

    fn backward(&self, _: (), [x, weight, bias]: [&Host; 3], gradient: Vec<f32>) -> [Vec<f32>; 3] {
        let mut of_bias = vec![0.0; bias.values().len()];
        for row in gradient.chunks(of_bias.len()) {
            of_bias.iter_mut().zip(row).for_each(|(sum, part)| *sum += part);
        }
        let [of_x, of_weight] = self.0.gradients(x, weight, &gradient);
        [of_x, of_weight, of_bias]
    }
}
