//! The gate of a SwiGLU feed-forward map in one pass each way.

use super::fused::{Host, HostOperation, Input, apply};
use burn::tensor::Tensor;
use metier_core::vector::{exp, wide};
use rayon::prelude::*;

/// Elements per piece of work.
const PIECE: usize = 1 << 14;

pub(super) fn swiglu(gate: &Tensor<3>, up: &Tensor<3>) -> Option<Tensor<3>> {
    apply(SwiGlu, [Input::new(gate), Input::new(up)])
}

#[derive(Clone, Debug)]
struct SwiGlu;

#[inline(always)]
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

impl HostOperation<2> for SwiGlu {
    type Saved = ();

    fn forward(&self, [gate, up]: [&Host; 2], _traced: bool) -> (Vec<f32>, Vec<usize>, ()) {
        let mut out = vec![0.0; gate.values().len()];
        out.par_chunks_mut(PIECE)
            .zip(gate.values().par_chunks(PIECE))
            .zip(up.values().par_chunks(PIECE))
            .for_each(|((out, gate), up)| {
                wide(
                    #[inline(always)]
                    || {
                        for ((out, &gate), &up) in out.iter_mut().zip(gate).zip(up) {
                            *out = gate * sigmoid(gate) * up;
                        }
                    },
                );
            });
        (out, gate.shape().to_vec(), ())
    }

    fn backward(&self, _: (), [gate, up]: [&Host; 2], gradient: Vec<f32>) -> [Vec<f32>; 2] {
        let mut of_gate = vec![0.0; gradient.len()];
        let mut of_up = gradient;
        of_gate
            .par_chunks_mut(PIECE)
            .zip(of_up.par_chunks_mut(PIECE))
            .zip(gate.values().par_chunks(PIECE))
            .zip(up.values().par_chunks(PIECE))
            .for_each(|(((of_gate, of_up), gate), up)| {
                wide(
                    #[inline(always)]
                    || {
                        for (((of_gate, of_up), &gate), &up) in
                            of_gate.iter_mut().zip(of_up).zip(gate).zip(up)
                        {
                            let s = sigmoid(gate);
                            *of_gate = *of_up * up * s * (1.0 + gate * (1.0 - s));
                            *of_up *= gate * s;
                        }
                    },
                );
            });
        [of_gate, of_up]
    }
}
