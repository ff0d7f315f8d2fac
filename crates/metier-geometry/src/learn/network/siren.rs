//! A network of sines.

use super::architecture::{check_positive, check_units};
use super::layer::Layer;
use super::linear::Linear;
use metier_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// Layers of sines, whose first decides how fine a field can be (Sitzmann and others 2020).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Siren {
    /// Units of each layer of sines.
    pub width: usize,
    /// Linear maps up to the values before the output, two at least.
    pub depth: usize,
    /// Values before the output.
    pub last: usize,
    /// The frequency of the first sines.
    pub omega_first: f32,
    /// The frequency of the others.
    pub omega: f32,
}

impl Default for Siren {
    /// The paper's: width 256, depth 4, 128 values before the output, frequencies 30 and then 1.
    fn default() -> Self {
        Self { width: 256, depth: 4, last: 128, omega_first: 30.0, omega: 1.0 }
    }
}

impl Siren {
    pub(super) fn validate(&self) -> Result<()> {
        check_units("width", self.width)?;
        check_units("last", self.last)?;
        check_positive("omega_first", self.omega_first)?;
        check_positive("omega", self.omega)?;
        if self.depth >= 2 {
            return Ok(());
        }
        let message = format!("depth is {}, where at least 2 is wanted", self.depth);
        Err(Error::usage(message).in_field("depth"))
    }

    pub(super) fn layers(&self, inputs: usize) -> Vec<Layer> {
        let Self { width, depth, last, omega_first, omega } = *self;
        // Sitzmann's start, under which every layer of sines sees the same spread of angles.
        let first = Linear::spread(inputs, width, 1.0 / inputs.max(1) as f32);
        let bound = (6.0 / width as f32).sqrt() / omega;
        let mut layers = vec![Layer::Linear(first), Layer::Sine(omega_first)];
        for _ in 0..depth - 2 {
            layers.push(Layer::Linear(Linear::spread(width, width, bound)));
            layers.push(Layer::Sine(omega));
        }
        layers.push(Layer::Linear(Linear::spread(width, last, bound)));
        layers.push(Layer::Linear(Linear::plain(last, 1)));
        layers
    }
}
