//! A network of random features.

use super::architecture::{check_positive, check_units};
use super::layer::Layer;
use super::linear::Linear;
use super::waves::Waves;
use metier_core::{Result, rng};
use serde::{Deserialize, Serialize};

/// Deep random features: layers of random waves of a Matérn kernel, each behind a narrow linear map
/// that is learned, with the inputs beside the values that go in (Chen and others 2024, arXiv
/// 2412.11350). Made for plain coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeepRff {
    /// Random waves of each layer.
    pub features: usize,
    /// Values that pass from layer to layer.
    pub width: usize,
    /// Layers, one at least.
    pub depth: usize,
    /// The length of the kernel, where the inputs have deviation 1.
    pub length: f32,
}

impl Default for DeepRff {
    /// The paper's code's: 1000 waves, 64 values, three layers.
    fn default() -> Self {
        Self { features: 1000, width: 64, depth: 3, length: 1.0 }
    }
}

impl DeepRff {
    pub(super) fn validate(&self) -> Result<()> {
        check_units("features", self.features)?;
        check_units("width", self.width)?;
        check_units("depth", self.depth)?;
        check_positive("length", self.length)
    }

    pub(super) fn layers(&self, inputs: usize, seed: u64) -> Vec<Layer> {
        let Self { features, width, depth, length } = *self;
        let mut rng = rng::stream(seed, "deep random features");
        let mut layer = |from| {
            // Values that start with the spread of the inputs.
            let bound = 3f32.sqrt();
            vec![
                Layer::Waves(Waves::matern(from, features, length, &mut rng)),
                Layer::Linear(Linear::spread(features, width, bound)),
            ]
        };
        let mut layers = layer(inputs);
        for _ in 1..depth {
            layers = vec![Layer::Beside(layers, inputs)];
            layers.extend(layer(width + inputs));
        }
        layers.push(Layer::Linear(Linear::plain(width, 1)));
        layers
    }
}
