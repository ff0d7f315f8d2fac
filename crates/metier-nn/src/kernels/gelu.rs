//! The tanh form of GELU in one pass each way.

use super::fused::{Host, HostOperation, Input, apply};
use burn::tensor::Tensor;
use metier_core::vector::{tanh, wide};
use rayon::prelude::*;

/// Elements per piece of work.
const PIECE: usize = 1 << 14;
const SCALE: f32 = 0.797_884_6;
const CUBE: f32 = 0.044_715;

pub(super) fn gelu(x: &Tensor<3>) -> Option<Tensor<3>> {
    apply(Gelu, [Input::new(x)])
}

#[derive(Clone, Debug)]
struct Gelu;

impl HostOperation<1> for Gelu {
    type Saved = ();

    fn forward(&self, [x]: [&Host; 1], _traced: bool) -> (Vec<f32>, Vec<usize>, ()) {
        let mut out = vec![0.0; x.values().len()];
        out.par_chunks_mut(PIECE).zip(x.values().par_chunks(PIECE)).for_each(|(out, x)| {
            wide(
                #[inline(always)]
                || {
                    for (out, &x) in out.iter_mut().zip(x) {
                        *out = 0.5 * x * (1.0 + tanh(SCALE * (x + CUBE * x * x * x)));
                    }
                },
            );
        });
        (out, x.shape().to_vec(), ())
    }

    fn backward(&self, _saved: (), [x]: [&Host; 1], mut gradient: Vec<f32>) -> [Vec<f32>; 1] {
        gradient.par_chunks_mut(PIECE).zip(x.values().par_chunks(PIECE)).for_each(|(g, x)| {
            wide(
                #[inline(always)]
                || {
                    for (g, &x) in g.iter_mut().zip(x) {
                        let t = tanh(SCALE * (x + CUBE * x * x * x));
                        let inner = SCALE * (1.0 + 3.0 * CUBE * x * x);
                        *g *= 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * inner;
                    }
                },
            );
        });
        [gradient]
    }
}
