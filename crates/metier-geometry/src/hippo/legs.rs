//! The HiPPO-LegS matrix: its entries, its spectrum and its diagonal-plus-low-rank form in closed
//! form.
//!
//! `A = 1/2 I + K + P Pᵀ` with `K` skew, so that `K` has the eigenvalues `± i w_j` and, for odd N, 0.
//! Their equation is one sum of angles: with `v_n = (D_{n+1} - D_n) / sqrt(2n + 1)`, the lines of
//! `K v = i w v` read `D_{n+1} = -D_n ((n + 1/2) + iw) / ((n + 1/2) - iw)` and `D_N = -D_0`. What
//! turns the phase of `D` has to add up: `sum_n atan((n + 1/2) / w) = (2j + 1) pi / 2`. The modulus
//! of `D` stays, which gives every norm and every product with `P` and `B` at once.

use super::angles;
use faer::c64;
use metier_core::{Error, Result};
use ndarray::Array2;
use rayon::prelude::*;
use std::f64::consts::PI;

/// The most states whose spectrum is computed.
pub const MAX_STATES: usize = 10_000_000;

/// The most states whose dense matrices are made: 16,384² numbers are 2 GiB, complex ones 4.
pub const MAX_DENSE: usize = 16_384;

pub(super) fn check_states(n: usize, most: usize) -> Result<()> {
    if (1..=most).contains(&n) {
        return Ok(());
    }
    let message = if n == 0 {
        "n must be at least 1".to_owned()
    } else {
        format!("n is {n}, where at most {most} can be had")
    };
    Err(Error::usage(message).in_field("n"))
}

pub(super) fn check_dt(dt: f64) -> Result<()> {
    if dt > 0.0 && dt.is_finite() {
        return Ok(());
    }
    Err(Error::usage(format!("dt is {dt}, where a positive number is meant")).in_field("dt"))
}

/// The most numbers that a bank of kernels holds: 16 GiB.
pub const MAX_KERNELS: usize = 1 << 31;

pub(super) fn check_kernels(states: usize, len: usize) -> Result<()> {
    if states.saturating_mul(len) <= MAX_KERNELS {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{states} states over {len} samples are more than the {MAX_KERNELS} numbers that can be had"
    ))
    .in_field("len"))
}

/// The matrix `A` of `x' = -A x + B u`: `sqrt((2n+1)(2k+1))` below the diagonal, `n + 1` on it.
///
/// ```
/// let a = metier_geometry::hippo::legs_matrix(2)?;
/// assert_eq!((a[[0, 0]], a[[0, 1]], a[[1, 1]]), (1.0, 0.0, 2.0));
/// assert_eq!(a[[1, 0]], 3f64.sqrt());
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// No states, or more than [`MAX_DENSE`].
pub fn legs_matrix(n: usize) -> Result<Array2<f64>> {
    check_states(n, MAX_DENSE)?;
    Ok(Array2::from_shape_fn((n, n), |(i, k)| match i.cmp(&k) {
        std::cmp::Ordering::Greater => root(i, k),
        std::cmp::Ordering::Equal => i as f64 + 1.0,
        std::cmp::Ordering::Less => 0.0,
    }))
}

/// The input vector `B` of the same system: `sqrt(2n + 1)`.
pub fn legs_b(n: usize) -> Vec<f64> {
    (0..n).map(|i| ((2 * i + 1) as f64).sqrt()).collect()
}

/// The skew part `K` of [`legs_matrix`], which is `A - 1/2 I - P Pᵀ` with `P = B / sqrt 2`.
///
/// # Errors
/// No states, or more than [`MAX_DENSE`].
pub fn legs_skew(n: usize) -> Result<Array2<f64>> {
    check_states(n, MAX_DENSE)?;
    Ok(Array2::from_shape_fn((n, n), |(i, k)| match i.cmp(&k) {
        std::cmp::Ordering::Greater => 0.5 * root(i, k),
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Less => -0.5 * root(i, k),
    }))
}

fn root(i: usize, k: usize) -> f64 {
    (((2 * i + 1) * (2 * k + 1)) as f64).sqrt()
}

/// The diagonal-plus-low-rank form of the LegS system, one entry per pair of eigenvalues.
///
/// In the basis of the eigenvectors, each turned so that its product with `P` is real and positive,
/// `A` is `diag(1/2 ± i omega) + p pᵀ` and the input vector is `b = sqrt(2) p`; both of a pair have
/// the same `p`.
#[derive(Clone, Debug, PartialEq)]
pub struct LegsSpectrum {
    /// The number of states.
    pub n: usize,
    /// The frequencies in descending order: N/2 of pairs and, for odd N, a last 0 that has no
    /// partner.
    pub omega: Vec<f64>,
    /// The product of each eigenvector of unit length with `P`.
    pub p: Vec<f64>,
    /// The product of each eigenvector of unit length with `B`.
    pub b: Vec<f64>,
}

impl LegsSpectrum {
    /// The spectrum over all N states: `(frequency, p, b)` with the pairs written out, `+omega`
    /// before `-omega`.
    pub fn both_signs(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        self.omega.iter().zip(&self.p).zip(&self.b).flat_map(|((&omega, &p), &b)| {
            let partner = (omega > 0.0).then_some((-omega, p, b));
            std::iter::once((omega, p, b)).chain(partner)
        })
    }
}

/// The exact spectrum of the LegS matrix of any size, in time and memory of O(N).
///
/// Every frequency is the root of a concave increasing function, which Newton's method reaches from
/// below without a bracket, in a few steps of constant cost.
///
/// ```
/// let spectrum = metier_geometry::hippo::legs_spectrum(4)?;
/// assert!((spectrum.omega[0] - 4.603293007067).abs() < 1e-12);
/// assert!((spectrum.omega[1] - 0.556501115084).abs() < 1e-12);
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// No states, or more than [`MAX_STATES`].
pub fn legs_spectrum(n: usize) -> Result<LegsSpectrum> {
    check_states(n, MAX_STATES)?;
    let omega: Vec<f64> = (0..n.div_ceil(2)).into_par_iter().map(|j| frequency(n, j)).collect();
    // The squared norm of a vector with |D_0| = 1 is twice the slope.
    let p: Vec<f64> =
        omega.par_iter().map(|omega| angles::slope(n, *omega).sqrt().recip()).collect();
    let b = p.iter().map(|p| std::f64::consts::SQRT_2 * p).collect();
    Ok(LegsSpectrum { n, omega, p, b })
}

// The j-th largest frequency. The sum of angles and what it lacks of N pi / 2 have the same root: the
// smaller of the two has more digits.
fn frequency(n: usize, j: usize) -> f64 {
    let lacking = n - 2 * j - 1;
    if lacking == 0 {
        return 0.0;
    }
    let (from_top, from_bottom) = ((2 * j + 1) as f64 * PI / 2.0, lacking as f64 * PI / 2.0);
    if 2 * j + 1 < lacking {
        // In s = 1 / w, where the sum is nearly linear; its slope at s = 0 is N² / 2.
        let start = from_top / (0.5 * (n as f64).powi(2));
        let root = newton(start, |s| {
            let w = s.recip();
            ((from_top - angles::above(n, w)), w * w * angles::slope(n, w))
        });
        root.recip()
    } else {
        let start = from_bottom / angles::slope(n, 0.0);
        newton(start, |w| ((from_bottom - angles::below(n, w)), angles::slope(n, w)))
    }
}

// The root of a concave increasing function from a start at or below it, where Newton's steps never
// pass it but by rounding. `gap` gives what the function lacks, and its slope.
fn newton(start: f64, gap: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut x = start;
    for _ in 0..100 {
        let (lacking, slope) = gap(x);
        let step = lacking / slope;
        x += step;
        if step.abs() <= 4.0 * f64::EPSILON * x {
            break;
        }
    }
    x
}

/// The eigenvectors of the skew part as columns of unit length, in the order of
/// [`LegsSpectrum::both_signs`], each with a real positive product `v* P`.
///
/// # Errors
/// No states, or more than [`MAX_DENSE`].
pub fn legs_eigenvectors(n: usize) -> Result<Array2<c64>> {
    check_states(n, MAX_DENSE)?;
    let spectrum = legs_spectrum(n)?;
    let frequencies: Vec<(f64, f64)> = spectrum.both_signs().map(|(w, p, _)| (w, p)).collect();
    let mut vectors = Array2::from_elem((n, n), c64::new(0.0, 0.0));
    for (mut column, (w, p)) in vectors.columns_mut().into_iter().zip(frequencies) {
        // |D_0|² = 1/Z = p²/2, and v* P = -sqrt 2 D_0*.
        let mut d = c64::new(-p / std::f64::consts::SQRT_2, 0.0);
        for (i, entry) in column.iter_mut().enumerate() {
            let half = i as f64 + 0.5;
            *entry = -d * (2.0 * half).sqrt() / c64::new(half, -w);
            d = -d * c64::new(half, w) / c64::new(half, -w);
        }
    }
    Ok(vectors)
}

/// The first terms of the expansion of the j-th largest frequency for large N:
/// `N² / ((2j+1) pi) - (2j+1) pi / 6`, with an error of `O((2j+1)³ / N²)`; `terms` of 1 stops after
/// the first. There is no term of order N.
pub fn asymptotic_omega(n: usize, j: usize, terms: u8) -> f64 {
    let odd = (2 * j + 1) as f64 * PI;
    let leading = (n as f64).powi(2) / odd;
    if terms < 2 { leading } else { leading - odd / 6.0 }
}

/// The i-th smallest frequency of even N for large N, `(2i+1) pi / (2 (ln N + gamma + ln 4))`: near 0
/// the spectrum thickens like `1 / ln N`.
pub fn asymptotic_small_omega(n: usize, i: usize) -> f64 {
    // Euler's constant and ln 4.
    const SHIFT: f64 = 0.577_215_664_901_532_9 + 1.386_294_361_119_890_6;
    (2 * i + 1) as f64 * PI / (2.0 * ((n as f64).ln() + SHIFT))
}
