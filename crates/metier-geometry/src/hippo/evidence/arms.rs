//! The memories of a comparison, and the steps that each is tried with.

use super::super::baselines::Baseline;
use super::super::{Bank, Basis, Continuized, ContinuizedConfig};
use metier_core::Result;

/// One memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arm {
    Limit(Basis),
    Known(Baseline),
}

impl Arm {
    pub(super) fn name(self) -> String {
        match self {
            Self::Limit(Basis::Nodes) => "limit, nodes".into(),
            Self::Limit(Basis::Legendre) => "limit, Legendre".into(),
            Self::Limit(Basis::Spectral) => "limit, spectral".into(),
            Self::Known(baseline) => baseline.name().into(),
        }
    }

    pub(super) fn bank(self, states: usize, dt: f64, len: usize, seed: u64) -> Result<Bank> {
        match self {
            Self::Limit(basis) => {
                let config = ContinuizedConfig { states, basis, dt, ..Default::default() };
                Continuized::new(&config)?.bank(len)
            }
            Self::Known(baseline) => baseline.bank(states, dt, len, seed),
        }
    }

    /// `count` steps, log-uniformly over what is useful: for the limit, whose time is scaled by N²,
    /// from 0.01 to N² / 8; for the others, whose memory fades over a time of about 1, so that the
    /// sequence takes from 0.3 to 20.
    pub(super) fn steps(self, states: usize, len: usize, count: usize) -> Vec<f64> {
        let (low, high) = match self {
            Self::Limit(_) => (1e-2, (states * states) as f64 / 8.0),
            Self::Known(_) => (0.3 / len as f64, 20.0 / len as f64),
        };
        (0..count).map(|i| low * (high / low).powf(i as f64 / (count - 1) as f64)).collect()
    }
}
