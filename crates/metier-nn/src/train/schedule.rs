//! The learning rate over the steps of a run.

use crate::optim::check_learning_rate;
use metier_core::{Error, Result};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

/// How the learning rate falls after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decay {
    /// It stays.
    Constant,
    /// Along a straight line.
    Linear,
    /// Along half a cosine wave.
    #[default]
    Cosine,
}

impl fmt::Display for Decay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Decay::Constant => "constant",
            Decay::Linear => "linear",
            Decay::Cosine => "cosine",
        })
    }
}

impl FromStr for Decay {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "constant" => Ok(Decay::Constant),
            "linear" => Ok(Decay::Linear),
            "cosine" => Ok(Decay::Cosine),
            _ => Err(Error::usage(format!("there is no schedule `{text}`"))
                .in_field("schedule")
                .help("constant, linear or cosine")),
        }
    }
}

/// A linear warm-up to the peak, then a decay to a share of it.
///
/// ```
/// use metier_nn::train::{Decay, Schedule};
/// let schedule = Schedule { peak: 1e-3, warmup: 10, decay: Decay::Cosine, floor: 0.1 };
/// assert!((schedule.rate(0, 110) - 1e-4).abs() < 1e-9);
/// assert!((schedule.rate(10, 110) - 1e-3).abs() < 1e-9);
/// assert!((schedule.rate(60, 110) - 5.5e-4).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// The highest rate.
    pub peak: f32,
    /// The number of steps that lead up to it; the first step takes a `warmup`-th of the peak.
    pub warmup: u64,
    /// How the rate falls afterwards.
    pub decay: Decay,
    /// The share of the peak that it falls to.
    pub floor: f32,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { peak: 6e-4, warmup: 0, decay: Decay::Cosine, floor: 0.1 }
    }
}

impl Schedule {
    /// Checks every field against a run of `steps` steps.
    ///
    /// # Errors
    /// The first out of range, with its value.
    pub fn validate(&self, steps: u64) -> Result<()> {
        check_learning_rate(self.peak)?;
        if !(0.0..=1.0).contains(&self.floor) {
            return Err(
                Error::usage(format!("floor = {} is outside [0, 1]", self.floor)).in_field("floor")
            );
        }
        if self.warmup > steps {
            return Err(Error::usage(format!(
                "{} warm-up steps are more than the {steps} steps of the run",
                self.warmup
            ))
            .in_field("warmup"));
        }
        Ok(())
    }

    /// The rate of step `step`, counted from 0, in a run of `steps` steps.
    pub fn rate(&self, step: u64, steps: u64) -> f32 {
        let peak = f64::from(self.peak);
        if step < self.warmup {
            return (peak * (step + 1) as f64 / self.warmup as f64) as f32;
        }
        let span = steps.saturating_sub(self.warmup).max(1) as f64;
        let done = ((step - self.warmup) as f64 / span).min(1.0);
        let height = match self.decay {
            Decay::Constant => return self.peak,
            Decay::Linear => 1.0 - done,
            Decay::Cosine => 0.5 * (1.0 + (PI * done).cos()),
        };
        let floor = f64::from(self.floor);
        (peak * (floor + (1.0 - floor) * height)) as f32
    }
}
