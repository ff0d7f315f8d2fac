//! The choice of architecture.

use super::layer::Layer;
use super::{DeepRff, Glu, Mlp, ResMlp, Siren};
use metier_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a network is made of.
///
/// ```
/// use metier_geometry::learn::{Architecture, Siren};
/// let fine: Architecture = Siren { omega_first: 60.0, ..Siren::default() }.into();
/// assert!(fine.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Architecture {
    /// Two layers of rectified units.
    Mlp(Mlp),
    /// Blocks with shortcuts.
    ResMlp(ResMlp),
    /// Layers of sines.
    Siren(Siren),
    /// Layers of gates.
    Glu(Glu),
    /// Layers of random features.
    DeepRff(DeepRff),
}

impl Default for Architecture {
    fn default() -> Self {
        Self::Mlp(Mlp::default())
    }
}

impl From<Mlp> for Architecture {
    fn from(mlp: Mlp) -> Self {
        Self::Mlp(mlp)
    }
}

impl From<ResMlp> for Architecture {
    fn from(res_mlp: ResMlp) -> Self {
        Self::ResMlp(res_mlp)
    }
}

impl From<Siren> for Architecture {
    fn from(siren: Siren) -> Self {
        Self::Siren(siren)
    }
}

impl From<Glu> for Architecture {
    fn from(glu: Glu) -> Self {
        Self::Glu(glu)
    }
}

impl From<DeepRff> for Architecture {
    fn from(deep_rff: DeepRff) -> Self {
        Self::DeepRff(deep_rff)
    }
}

impl Architecture {
    /// Checks every number.
    ///
    /// # Errors
    /// The first that is out of range, by name.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Mlp(mlp) => mlp.validate(),
            Self::ResMlp(res_mlp) => res_mlp.validate(),
            Self::Siren(siren) => siren.validate(),
            Self::Glu(glu) => glu.validate(),
            Self::DeepRff(deep_rff) => deep_rff.validate(),
        }
    }

    // The seed matters to what is drawn once and not learned.
    pub(super) fn layers(&self, inputs: usize, seed: u64) -> Vec<Layer> {
        match self {
            Self::Mlp(mlp) => mlp.layers(inputs),
            Self::ResMlp(res_mlp) => res_mlp.layers(inputs),
            Self::Siren(siren) => siren.layers(inputs),
            Self::Glu(glu) => glu.layers(inputs),
            Self::DeepRff(deep_rff) => deep_rff.layers(inputs, seed),
        }
    }
}

pub(super) fn check_units(name: &str, units: usize) -> Result<()> {
    if units > 0 {
        return Ok(());
    }
    Err(Error::usage(format!("{name} is 0, where at least 1 is wanted")).in_field(name))
}

pub(super) fn check_rate(name: &str, rate: f32) -> Result<()> {
    if (0.0..1.0).contains(&rate) {
        return Ok(());
    }
    let message = format!("{name} is {rate}, where a share from 0 to below 1 is wanted");
    Err(Error::usage(message).in_field(name))
}

pub(super) fn check_positive(name: &str, value: f32) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    let message = format!("{name} is {value}, where a number above 0 is wanted");
    Err(Error::usage(message).in_field(name))
}
