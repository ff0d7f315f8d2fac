//! A plain network.

use super::architecture::{check_rate, check_units};
use super::layer::Layer;
use super::linear::Linear;
use metier_core::Result;
use serde::{Deserialize, Serialize};

/// Two layers of rectified units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mlp {
    /// Units of the two layers.
    pub hidden: [usize; 2],
    /// The share of units that each step of training does without; the paper's is 0.1.
    pub dropout: f32,
}

impl Default for Mlp {
    /// The paper's 128 and 64 units, and none left out.
    fn default() -> Self {
        Self { hidden: [128, 64], dropout: 0.0 }
    }
}

impl Mlp {
    pub(super) fn validate(&self) -> Result<()> {
        self.hidden.iter().try_for_each(|units| check_units("hidden", *units))?;
        check_rate("dropout", self.dropout)
    }

    pub(super) fn layers(&self, inputs: usize) -> Vec<Layer> {
        let mut layers = Vec::new();
        let mut from = inputs;
        for to in self.hidden {
            layers.extend([
                Layer::Linear(Linear::glorot(from, to)),
                Layer::Relu,
                Layer::Dropout(self.dropout),
            ]);
            from = to;
        }
        layers.push(Layer::Linear(Linear::glorot(from, 1)));
        layers
    }
}
