//! A linear map whose outputs are let through by a second one.

use super::layer::{Gradient, Kept, Mode};
use super::linear::Linear;
use super::matrix::Matrix;
use metier_core::rng::Rng;
use metier_core::vector::{each, sigmoid};

/// A gated linear unit: `sigmoid(W x + a) * (V x + b)`; the parameters of the gate W come first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gate {
    pub(super) linear: Linear,
}

impl Gate {
    pub(super) fn size(&self) -> usize {
        2 * self.linear.size()
    }

    pub(super) fn start(&self, rng: &mut Rng) -> Vec<f32> {
        [self.linear.start(rng), self.linear.start(rng)].concat()
    }

    pub(super) fn forward(&self, own: &[f32], x: Matrix, mode: &Mode) -> (Matrix, Kept) {
        let (gate, value) = own.split_at(self.linear.size());
        let mut open = self.linear.forward(gate, &x);
        each(&mut open.values, sigmoid);
        let value = self.linear.forward(value, &x);
        let mut y = open.clone();
        y.values.iter_mut().zip(&value.values).for_each(|(y, v)| *y *= v);
        (y, if mode.trains() { Kept::Gate { x, open, value } } else { Kept::Nothing })
    }

    pub(super) fn backward(
        &self,
        own: &[f32],
        [x, open, value]: [&Matrix; 3],
        mut delta: Matrix,
        gradient: Gradient,
        wanted: bool,
    ) -> Option<Matrix> {
        let half = self.linear.size();
        let (gate_own, value_own) = own.split_at(half);
        let (gate_sums, value_sums) = gradient.sums.split_at_mut(half);
        let decay = gradient.decay;
        let mut gate_delta = delta.clone();
        let parts = open.values.iter().zip(&value.values);
        for ((g, d), (open, value)) in
            gate_delta.values.iter_mut().zip(&mut delta.values).zip(parts)
        {
            *g *= value * open * (1.0 - open);
            *d *= open;
        }
        let gate_gradient = Gradient { sums: gate_sums, decay };
        let value_gradient = Gradient { sums: value_sums, decay };
        let from_gate = self.linear.backward(gate_own, x, &gate_delta, gate_gradient, wanted);
        let from_value = self.linear.backward(value_own, x, &delta, value_gradient, wanted);
        let mut before = from_gate?;
        before.add(&from_value?);
        Some(before)
    }
}
