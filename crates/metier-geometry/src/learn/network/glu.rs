//! A network of gates.

use super::architecture::{check_rate, check_units};
use super::gate::Gate;
use super::layer::Layer;
use super::linear::Linear;
use metier_core::Result;
use serde::{Deserialize, Serialize};

/// Layers of gated linear units, `sigmoid(W x) * V x` (Dauphin and others 2017).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Glu {
    /// Units of each layer.
    pub width: usize,
    /// Layers of gates, one at least.
    pub depth: usize,
    /// Values before the output.
    pub last: usize,
    /// The share of values that each step of training does without.
    pub dropout: f32,
}

impl Default for Glu {
    /// The paper's: width 256, depth 3, 128 values before the output, a tenth left out.
    fn default() -> Self {
        Self { width: 256, depth: 3, last: 128, dropout: 0.1 }
    }
}

impl Glu {
    pub(super) fn validate(&self) -> Result<()> {
        check_units("width", self.width)?;
        check_units("depth", self.depth)?;
        check_units("last", self.last)?;
        check_rate("dropout", self.dropout)
    }

    pub(super) fn layers(&self, inputs: usize) -> Vec<Layer> {
        let Self { width, depth, last, dropout } = *self;
        let mut layers = Vec::new();
        for from in [inputs].into_iter().chain(std::iter::repeat_n(width, depth - 1)) {
            layers.push(Layer::Gate(Gate { linear: Linear::plain(from, width) }));
            layers.push(Layer::Dropout(dropout));
        }
        layers.push(Layer::Linear(Linear::plain(width, last)));
        layers.push(Layer::Linear(Linear::plain(last, 1)));
        layers
    }
}
