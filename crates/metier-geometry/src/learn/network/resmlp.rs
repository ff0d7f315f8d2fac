//! A network with shortcuts.

use super::architecture::{check_rate, check_units};
use super::layer::Layer;
use super::linear::Linear;
use super::norm::Norm;
use metier_core::Result;
use serde::{Deserialize, Serialize};

/// Blocks of two layers, each with a shortcut around it, behind a normalized projection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResMlp {
    /// Values that pass from block to block.
    pub width: usize,
    /// Blocks.
    pub depth: usize,
    /// Values before the output.
    pub last: usize,
    /// The share of values that each step of training does without.
    pub dropout: f32,
}

impl Default for ResMlp {
    /// The paper's: width 256, four blocks, 128 values before the output, a tenth left out.
    fn default() -> Self {
        Self { width: 256, depth: 4, last: 128, dropout: 0.1 }
    }
}

impl ResMlp {
    pub(super) fn validate(&self) -> Result<()> {
        check_units("width", self.width)?;
        check_units("last", self.last)?;
        check_rate("dropout", self.dropout)
    }

    pub(super) fn layers(&self, inputs: usize) -> Vec<Layer> {
        let Self { width, depth, last, dropout } = *self;
        let linear = |from, to| Layer::Linear(Linear::plain(from, to));
        let mut layers = vec![
            linear(inputs, width),
            Layer::Norm(Norm { width }),
            Layer::Relu,
            Layer::Dropout(dropout),
        ];
        layers.extend((0..depth).map(|_| {
            Layer::Residual(vec![
                linear(width, width),
                Layer::Relu,
                Layer::Dropout(dropout),
                linear(width, width),
                Layer::Dropout(dropout),
            ])
        }));
        layers.extend([linear(width, last), linear(last, 1)]);
        layers
    }
}
