//! Layer norm and RMS norm, one pass each way.
//!
//! With `n = (x - mean) / deviation` and `g` the gradient times the weight, the gradient of a row is
//! `(g - mean(g) - n · mean(g n)) / deviation`; without centring, the middle term falls away.

use super::cross_entropy::sum;
use super::fused::{Host, HostOperation, Input, apply};
use burn::tensor::Tensor;
use metier_core::vector::wide;
use rayon::prelude::*;

/// Rows per piece of work; fixed, so that sums over rows do not depend on the number of threads.
const PIECE: usize = 64;

pub(super) fn layer_norm(
    x: &Tensor<3>,
    weight: &Tensor<1>,
    bias: Option<&Tensor<1>>,
    epsilon: f64,
) -> Option<Tensor<3>> {
    let norm = Norm { centred: true, epsilon: epsilon as f32 };
    match bias {
        Some(bias) => apply(Biased(norm), [Input::new(x), Input::new(weight), Input::new(bias)]),
        None => apply(norm, [Input::new(x), Input::new(weight)]),
    }
}

pub(super) fn rms_norm(x: &Tensor<3>, weight: &Tensor<1>, epsilon: f64) -> Option<Tensor<3>> {
    let norm = Norm { centred: false, epsilon: epsilon as f32 };
    apply(norm, [Input::new(x), Input::new(weight)])
}

#[derive(Clone, Debug)]
struct Norm {
    centred: bool,
    epsilon: f32,
}

/// Mean and inverse deviation of each row.
type Moments = Vec<(f32, f32)>;

impl Norm {
    fn run(&self, x: &Host, weight: &[f32], bias: Option<&[f32]>) -> (Vec<f32>, Moments) {
        let width = weight.len();
        let mut out = vec![0.0; x.values().len()];
        let moments = out
            .par_chunks_mut(width * PIECE)
            .zip(x.values().par_chunks(width * PIECE))
            .flat_map_iter(|(out, x)| {
                let rows = out.chunks_mut(width).zip(x.chunks(width));
                rows.map(|(out, x)| {
                    wide(
                        #[inline(always)]
                        || self.row(x, weight, bias, out),
                    )
                })
                .collect::<Vec<_>>()
            })
            .collect();
        (out, moments)
    }

    #[inline(always)]
    fn row(&self, x: &[f32], weight: &[f32], bias: Option<&[f32]>, out: &mut [f32]) -> (f32, f32) {
        let count = x.len() as f32;
        let mean = if self.centred { sum(x) / count } else { 0.0 };
        for (out, x) in out.iter_mut().zip(x) {
            *out = (x - mean) * (x - mean);
        }
        let inverse = 1.0 / (sum(out) / count + self.epsilon).sqrt();
        for ((out, x), weight) in out.iter_mut().zip(x).zip(weight) {
            *out = (x - mean) * inverse * weight;
        }
        if let Some(bias) = bias {
            for (out, bias) in out.iter_mut().zip(bias) {
                *out += bias;
            }
        }
        (mean, inverse)
    }

    /// The gradients of the input, the weight and the bias.
    fn gradients(
        &self,
        x: &Host,
        weight: &[f32],
        moments: &Moments,
        mut gradient: Vec<f32>,
    ) -> [Vec<f32>; 3] {
        let width = weight.len();
        let pieces: Vec<(Vec<f32>, Vec<f32>)> = gradient
            .par_chunks_mut(width * PIECE)
            .zip(x.values().par_chunks(width * PIECE))
            .zip(moments.par_chunks(PIECE))
            .map(|((gradient, x), moments)| {
                let mut of_weight = vec![0.0; width];
                let mut of_bias = vec![0.0; width];
                let mut scratch = vec![0.0; width];
                let rows = gradient.chunks_mut(width).zip(x.chunks(width)).zip(moments);
                for ((gradient, x), &moments) in rows {
                    wide(
                        #[inline(always)]
                        || {
                            let sums = (&mut of_weight[..], &mut of_bias[..]);
                            self.row_gradient(x, weight, moments, gradient, sums, &mut scratch);
                        },
                    );
                }
                (of_weight, of_bias)
            })
            .collect();
        let mut of_weight = vec![0.0; width];
        let mut of_bias = vec![0.0; width];
        for (weight, bias) in &pieces {
            of_weight.iter_mut().zip(weight).for_each(|(sum, part)| *sum += part);
            of_bias.iter_mut().zip(bias).for_each(|(sum, part)| *sum += part);
        }
        [gradient, of_weight, of_bias]
    }

    #[inline(always)]
    fn row_gradient(
        &self,
        x: &[f32],
        weight: &[f32],
        (mean, inverse): (f32, f32),
        gradient: &mut [f32],
        (of_weight, of_bias): (&mut [f32], &mut [f32]),
        scratch: &mut [f32],
    ) {
        let count = x.len() as f32;
        for (((g, x), of_weight), of_bias) in
            gradient.iter().zip(x).zip(of_weight.iter_mut()).zip(of_bias.iter_mut())
        {
            *of_weight += g * (x - mean) * inverse;
            *of_bias += g;
        }
        for (((g, x), weight), product) in
            gradient.iter_mut().zip(x).zip(weight).zip(scratch.iter_mut())
        {
            *g *= weight;
            *product = *g * (x - mean) * inverse;
        }
        let along = sum(scratch) / count;
        let level = if self.centred { sum(gradient) / count } else { 0.0 };
        for (g, x) in gradient.iter_mut().zip(x) {
            *g = (*g - level - (x - mean) * inverse * along) * inverse;
        }
    }
}

impl HostOperation<2> for Norm {
    type Saved = Moments;

    fn forward(&self, [x, weight]: [&Host; 2], _: bool) -> (Vec<f32>, Vec<usize>, Moments) {
        let (out, moments) = self.run(x, weight.values(), None);
        (out, x.shape().to_vec(), moments)
    }

    fn backward(&self, saved: Moments, [x, weight]: [&Host; 2], g: Vec<f32>) -> [Vec<f32>; 2] {
        let [x, weight, _] = self.gradients(x, weight.values(), &saved, g);
        [x, weight]
    }
}

#[derive(Clone, Debug)]
struct Biased(Norm);

impl HostOperation<3> for Biased {
    type Saved = Moments;

    fn forward(&self, [x, weight, bias]: [&Host; 3], _: bool) -> (Vec<f32>, Vec<usize>, Moments) {
        let (out, moments) = self.0.run(x, weight.values(), Some(bias.values()));
        (out, x.shape().to_vec(), moments)
    }

    fn backward(&self, saved: Moments, [x, weight, _]: [&Host; 3], g: Vec<f32>) -> [Vec<f32>; 3] {
        self.0.gradients(x, weight.values(), &saved, g)
    }
}
