//! The flags that describe a memory.

use crate::flags::Seed;
use clap::ValueEnum;
use metier_core::{Error, Result};
use metier_geometry::hippo::baselines::Baseline;
use metier_geometry::hippo::{Bank, Basis, Continuized, ContinuizedConfig, Discretization};

/// What the states are.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
pub enum Kind {
    /// The limit at Gauss nodes: well conditioned for linear readouts
    #[default]
    Nodes,
    /// The limit in Legendre polynomials
    Legendre,
    /// The limit's undamped modes
    Spectral,
    /// HiPPO-LegS
    Legs,
    /// HiPPO-LegT, a sliding window
    Legt,
    /// HiPPO-LagT, Laguerre functions
    Lagt,
    /// HiPPO-FouT, a Fourier series over a sliding window
    Fourier,
    /// S4D with the exact frequencies of LegS
    S4dLegs,
    /// S4D-Inv
    S4dInv,
    /// S4D-Lin
    S4dLin,
    /// Random frequencies
    Random,
}

/// Which samples are held how.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Rule {
    /// The kernel at the middle of each sample
    Point,
    /// The kernel's exact integral over each sample
    Zoh,
}

#[derive(clap::Args)]
pub struct Layer {
    /// What the states are
    #[arg(long, value_enum, default_value_t)]
    pub basis: Kind,
    /// How many states
    #[arg(long, alias = "n", value_name = "N", default_value_t = 32)]
    pub states: usize,
    /// What a sample stands for [default: zoh; the other memories have point alone]
    #[arg(long, value_enum, value_name = "RULE")]
    discretization: Option<Rule>,
    /// Damping of the limit per unit of scaled time
    #[arg(long, value_name = "RATE", default_value_t = 0.0, allow_negative_numbers = true)]
    gamma: f64,
    #[command(flatten)]
    seed: Seed,
}

impl Layer {
    /// The limit's description, or else the baseline.
    pub fn kind(&self, dt: f64) -> Result<std::result::Result<ContinuizedConfig, Baseline>> {
        let limit = |basis| {
            let discretization = match self.discretization {
                Some(Rule::Point) => Discretization::Point,
                _ => Discretization::Zoh,
            };
            let (states, gamma) = (self.states, self.gamma);
            Ok(Ok(ContinuizedConfig { states, basis, discretization, dt, gamma }))
        };
        let known = |baseline| {
            let given = [
                ("--gamma", self.gamma != 0.0),
                ("--discretization", self.discretization == Some(Rule::Zoh)),
            ];
            match given.into_iter().find(|(_, given)| *given) {
                Some((flag, _)) => {
                    Err(Error::usage(format!("{flag} is given, which only the limit's bases have"))
                        .in_field(flag)
                        .help("take --basis nodes, legendre or spectral, or leave it out"))
                }
                None => Ok(Err(baseline)),
            }
        };
        match self.basis {
            Kind::Nodes => limit(Basis::Nodes),
            Kind::Legendre => limit(Basis::Legendre),
            Kind::Spectral => limit(Basis::Spectral),
            Kind::Legs => known(Baseline::Legs),
            Kind::Legt => known(Baseline::Legt),
            Kind::Lagt => known(Baseline::Lagt),
            Kind::Fourier => known(Baseline::Fourier),
            Kind::S4dLegs => known(Baseline::S4dLegs),
            Kind::S4dInv => known(Baseline::S4dInv),
            Kind::S4dLin => known(Baseline::S4dLin),
            Kind::Random => known(Baseline::Random),
        }
    }

    /// Its kernels.
    pub fn bank(&self, dt: f64, len: usize) -> Result<Bank> {
        match self.kind(dt)? {
            Ok(config) => Continuized::new(&config)?.bank(len),
            Err(baseline) => baseline.bank(self.states, dt, len, self.seed.seed),
        }
    }
}

/// The name of a state's column.
pub fn name(state: usize) -> String {
    format!("state_{state}")
}
