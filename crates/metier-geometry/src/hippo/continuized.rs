//! The layer in the limit of infinitely many states, whose kernel is a formula in time.
//!
//! With `n = N s` and `u = s²`, `A / N²` becomes the Volterra operator `(V g)(u) = ∫_0^u g` and the
//! input vector the constant 1. In time scaled by `N²` the state is
//! `x(t, u) = ∫_0^t J_0(2 sqrt((t - s) u)) f(s) ds`; a layer of N states keeps N functionals of it.

use super::bank::Bank;
use super::bessel::{self, Kind};
use super::legs::{MAX_DENSE, check_dt, check_kernels, check_states};
use crate::quadrature::gauss_legendre;
use metier_core::{Error, Result};
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

// The argument of a Bessel function up to which the double's own rounding leaves it some digits.
const MAX_ARGUMENT: f64 = 1e8;

/// Which functionals of the state a layer keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Products with the orthonormal Legendre polynomials over `u`: what a learned readout starts
    /// from.
    Legendre,
    /// The values at Gauss–Legendre nodes, times the root of their weights: well conditioned for
    /// linear readouts.
    #[default]
    Nodes,
    /// The undamped modes `cos` and `sin` of `t / ((2j+1) pi)`: the normal part of the operator
    /// alone, and a recurrence of one step per sample. For an odd number of states the last is
    /// constant.
    Spectral,
}

/// What an input sample stands for between two points of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Discretization {
    /// The kernel at the middle of each sample.
    Point,
    /// The kernel's integral over each sample, which is exact for inputs that are held.
    #[default]
    Zoh,
}

/// A layer in the limit, as its user describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContinuizedConfig {
    /// How many states there are.
    pub states: usize,
    /// Which ones.
    pub basis: Basis,
    /// What a sample stands for.
    pub discretization: Discretization,
    /// Scaled time per sample: more makes the memory longer and coarser. Useful values lie between
    /// 0.01 and `states² / 8`.
    pub dt: f64,
    /// Damping per unit of scaled time: kernels are multiplied by `exp(-gamma t)`. The limit has
    /// none; N states have `1 / (2 N²)`.
    pub gamma: f64,
}

impl Default for ContinuizedConfig {
    fn default() -> Self {
        Self {
            states: 32,
            basis: Basis::default(),
            discretization: Discretization::default(),
            dt: 1.0,
            gamma: 0.0,
        }
    }
}

impl ContinuizedConfig {
    /// Whether the layer can be made.
    ///
    /// # Errors
    /// No states or more than [`MAX_DENSE`], a `dt` that is no positive number, a damping that is
    /// negative or no number.
    pub fn validate(&self) -> Result<()> {
        check_states(self.states, MAX_DENSE)?;
        check_dt(self.dt)?;
        if !(self.gamma >= 0.0 && self.gamma.is_finite()) {
            let why = if self.gamma < 0.0 { ": its states would grow without bound" } else { "" };
            let message = format!("gamma is {}, where at least 0 is meant{why}", self.gamma);
            return Err(Error::usage(message).in_field("gamma"));
        }
        Ok(())
    }
}

/// A layer in the limit, ready to make kernels.
///
/// ```
/// use metier_geometry::hippo::{Continuized, ContinuizedConfig};
/// let layer = Continuized::new(&ContinuizedConfig { states: 8, dt: 0.5, ..Default::default() })?;
/// let bank = layer.bank(100)?;
/// assert_eq!(bank.values().dim(), (8, 100));
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Continuized {
    config: ContinuizedConfig,
    // Where `nodes` looks, with the roots of the weights.
    nodes: Vec<(f64, f64)>,
}

impl Continuized {
    /// The layer of this description.
    ///
    /// # Errors
    /// What [`ContinuizedConfig::validate`] refuses.
    pub fn new(config: &ContinuizedConfig) -> Result<Self> {
        config.validate()?;
        let nodes = match config.basis {
            Basis::Nodes => {
                let (u, w) = gauss_legendre(config.states, 0.0, 1.0);
                u.into_iter().zip(w).map(|(u, w)| (u, w.sqrt())).collect()
            }
            _ => Vec::new(),
        };
        Ok(Self { config: config.clone(), nodes })
    }

    /// Its description.
    pub fn config(&self) -> &ContinuizedConfig {
        &self.config
    }

    /// The kernels over the last `len` samples: one Bessel value each, or for
    /// [`Legendre`](Basis::Legendre) the orders of one argument by their recurrence.
    ///
    /// # Errors
    /// No samples, more kernel values than [`MAX_KERNELS`](super::MAX_KERNELS), or times so late that
    /// a Bessel function's argument has no digits left.
    pub fn bank(&self, len: usize) -> Result<Bank> {
        check_kernels(self.config.states, len)?;
        let dt = self.config.dt;
        let latest = MAX_ARGUMENT * MAX_ARGUMENT / 4.0;
        if dt * len as f64 > latest {
            return Err(Error::usage(format!(
                "dt is {dt}, where {len} samples can be told apart up to {:e}",
                latest / len as f64
            ))
            .in_field("dt"));
        }
        let values = match self.config.discretization {
            Discretization::Point => {
                self.at(&(0..len).map(|m| (m as f64 + 0.5) * dt).collect::<Vec<_>>())?
            }
            Discretization::Zoh => {
                self.over(&(0..=len).map(|m| m as f64 * dt).collect::<Vec<_>>())?
            }
        };
        Bank::new(values)
    }

    /// The kernels at these ages in scaled time, states x ages.
    ///
    /// # Errors
    /// An age that is negative, no number, or too late.
    pub fn at(&self, ages: &[f64]) -> Result<Array2<f64>> {
        check_ages(ages)?;
        let mut values = self.values(ages, false);
        self.damp(&mut values, ages);
        Ok(values)
    }

    /// The integrals of the kernels between neighbouring ages in scaled time, states x intervals: what
    /// inputs that are held for irregular times leave. The ages ascend.
    ///
    /// Damping, for which the integral has no closed form unless the basis is
    /// [`Spectral`](Basis::Spectral), is taken at the middle of each interval.
    ///
    /// # Errors
    /// Ages that do not ascend, one that is negative, no number, or too late.
    pub fn over(&self, edges: &[f64]) -> Result<Array2<f64>> {
        check_ages(edges)?;
        if let Some(at) = edges.windows(2).position(|pair| pair[1] < pair[0]) {
            let message = format!("{} comes after {}", edges[at + 1], edges[at]);
            return Err(Error::input(message).in_field("ages").help("ages ascend"));
        }
        let at_edges = self.values(edges, true);
        let intervals = edges.len().saturating_sub(1);
        let mut values = Array2::from_shape_fn((self.config.states, intervals), |(n, m)| {
            at_edges[[n, m + 1]] - at_edges[[n, m]]
        });
        if self.config.basis != Basis::Spectral {
            let middles: Vec<f64> =
                edges.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
            self.damp(&mut values, &middles);
        }
        Ok(values)
    }

    fn damp(&self, values: &mut Array2<f64>, ages: &[f64]) {
        if self.config.gamma == 0.0 {
            return;
        }
        let factors: Vec<f64> = ages.iter().map(|t| (-self.config.gamma * t).exp()).collect();
        for mut row in values.rows_mut() {
            row.iter_mut().zip(&factors).for_each(|(value, factor)| *value *= factor);
        }
    }

    // The undamped kernels, or their integrals from 0; for `Spectral` the damped integrals.
    fn values(&self, ages: &[f64], integral: bool) -> Array2<f64> {
        let states = self.config.states;
        if self.config.basis == Basis::Legendre {
            let mut by_age = Array2::zeros((ages.len(), states));
            by_age.axis_iter_mut(Axis(0)).into_par_iter().zip(ages).for_each_init(
                Vec::new,
                |orders, (mut row, t)| {
                    let row = row.as_slice_mut().unwrap_or_default();
                    if integral {
                        legendre_integrals(*t, orders, row);
                    } else {
                        legendre_kernels(*t, orders, row);
                    }
                },
            );
            return by_age.reversed_axes().as_standard_layout().into_owned();
        }
        let mut values = Array2::zeros((states, ages.len()));
        values.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(n, mut row)| {
            let row = row.as_slice_mut().unwrap_or_default();
            match self.nodes.get(n) {
                Some((u, root)) => node(*u, *root, ages, integral, row),
                None => mode(n, states, ages, integral.then_some(self.config.gamma), row),
            }
        });
        values
    }
}

fn check_ages(ages: &[f64]) -> Result<()> {
    let latest = MAX_ARGUMENT * MAX_ARGUMENT / 4.0;
    match ages.iter().position(|age| !(0.0..=latest).contains(age)) {
        Some(at) => Err(Error::input(format!(
            "age {} is {}, where 0 to {latest:e} can be told apart",
            at + 1,
            ages[at]
        ))
        .in_field("ages")),
        None => Ok(()),
    }
}

// `∫ J_0(2 sqrt(t u)) dt = t J_1(2 sqrt(t u)) / sqrt(t u)`.
fn node(u: f64, root: f64, ages: &[f64], integral: bool, row: &mut [f64]) {
    if integral {
        bessel::fill(Kind::One, |i| ages[i] * u, row);
        row.iter_mut().zip(ages).for_each(|(value, t)| *value *= root * t);
    } else {
        bessel::fill(Kind::Zero, |i| ages[i] * u, row);
        row.iter_mut().for_each(|value| *value *= root);
    }
}

// The real or the imaginary part of exp((-gamma + iw) t), or its integral from 0 where a gamma is
// given.
fn mode(n: usize, states: usize, ages: &[f64], integral: Option<f64>, row: &mut [f64]) {
    let alone = states % 2 == 1 && n + 1 == states;
    let w = if alone { 0.0 } else { 1.0 / ((n / 2 * 2 + 1) as f64 * PI) };
    let part = |cos: f64, sin: f64| if n.is_multiple_of(2) { cos } else { sin };
    for (value, t) in row.iter_mut().zip(ages) {
        let (sin, cos) = (w * t).sin_cos();
        *value = match integral {
            None => part(cos, sin),
            Some(gamma) => {
                let square = gamma * gamma + w * w;
                if square == 0.0 {
                    *t
                } else {
                    let decay = (-gamma * t).exp();
                    let real = gamma - decay * (gamma * cos - w * sin);
                    let imaginary = w - decay * (w * cos + gamma * sin);
                    part(real, imaginary) / square
                }
            }
        };
    }
}

// sqrt(2n+1) ∫ P_n(2u - 1) J_0(2 sqrt(t u)) du = sqrt(2n+1) (-1)^n J_{2n+1}(2 sqrt t) / sqrt t.
fn legendre_kernels(t: f64, orders: &mut Vec<f64>, row: &mut [f64]) {
    if t == 0.0 {
        row.fill(0.0);
        row[0] = 1.0;
        return;
    }
    orders.resize(2 * row.len(), 0.0);
    bessel::orders(2.0 * t.sqrt(), orders);
    for (n, value) in row.iter_mut().enumerate() {
        *value = signed_root(n) * orders[2 * n + 1] / t.sqrt();
    }
}

// The integrals over time: `∫_0^z J_{2n+1} = 2 (J_{2n+2}(z) + J_{2n+4}(z) + ...)` with z = 2 sqrt t,
// which is what the orders before lack of 1.
fn legendre_integrals(t: f64, orders: &mut Vec<f64>, row: &mut [f64]) {
    let states = row.len();
    let z = 2.0 * t.sqrt();
    let even = 2 * states;
    if z > even as f64 {
        orders.resize(even, 0.0);
        bessel::orders(z, orders);
        let mut lacking = 1.0 - orders[0];
        for (n, value) in row.iter_mut().enumerate() {
            if n > 0 {
                lacking -= 2.0 * orders[2 * n];
            }
            *value = signed_root(n) * lacking;
        }
        return;
    }
    // From here on the orders fall faster than a double can show.
    let last = even + 12 * (even as f64).cbrt().ceil() as usize + 8;
    orders.resize(last, 0.0);
    bessel::orders(z, orders);
    let mut sum: f64 = orders[even..].iter().step_by(2).rev().sum();
    for (n, value) in row.iter_mut().enumerate().rev() {
        *value = signed_root(n) * 2.0 * sum;
        sum += orders[2 * n];
    }
}

fn signed_root(n: usize) -> f64 {
    let root = ((2 * n + 1) as f64).sqrt();
    if n.is_multiple_of(2) { root } else { -root }
}
