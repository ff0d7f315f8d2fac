//! The fixed memories that people use: HiPPO's own measures and the diagonal systems of S4D, each as a
//! [`Bank`] of kernels.

use super::bank::Bank;
use super::exponential::exponential;
use super::legs::{
    LegsSpectrum, MAX_DENSE, check_dt, check_kernels, check_states, legs_eigenvectors,
    legs_spectrum,
};
use faer::Mat;
use metier_core::{Error, Result, rng};
use ndarray::Array2;
use rand::RngExt;
use realfft::RealFftPlanner;
use realfft::num_complex::Complex64;
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, SQRT_2};

/// A fixed memory `x' = -A x + B u` that the layer in the limit is compared with. Its real features
/// are the entries of the state, or the real and imaginary parts of its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// HiPPO-LegS, exactly: Legendre polynomials over an exponentially fading past,
    /// `sqrt(2n+1) e^{-t} P_n(2 e^{-t} - 1)`.
    Legs,
    /// HiPPO-LegT: Legendre polynomials over a sliding window of length 1.
    Legt,
    /// HiPPO-LagT: Laguerre functions, `e^{-t/2} L_n(t)`.
    Lagt,
    /// HiPPO-FouT: a truncated Fourier series over a sliding window of length 1.
    Fourier,
    /// S4D-LegS: the diagonal part of LegS alone, with its exact frequencies.
    S4dLegs,
    /// S4D-Inv: `-1/2 + i N/pi (N/(2j+1) - 1)`.
    S4dInv,
    /// S4D-Lin: `-1/2 + i pi j`.
    S4dLin,
    /// Frequencies drawn over the range of LegS, log-uniformly, with the same damping: a null.
    Random,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Legs,
        Self::Legt,
        Self::Lagt,
        Self::Fourier,
        Self::S4dLegs,
        Self::S4dInv,
        Self::S4dLin,
        Self::Random,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Legs => "LegS",
            Self::Legt => "LegT",
            Self::Lagt => "LagT",
            Self::Fourier => "FouT",
            Self::S4dLegs => "S4D-LegS",
            Self::S4dInv => "S4D-Inv",
            Self::S4dLin => "S4D-Lin",
            Self::Random => "random frequencies",
        }
    }

    /// The kernels over the last `len` samples of `dt` each, at the middle of every sample. The seed
    /// is used by [`Random`](Self::Random) alone.
    ///
    /// Formulas cost a few operations a value; LegT and FouT, which have none, `O(states² · len)`.
    ///
    /// # Errors
    /// No states or more than [`MAX_DENSE`], a `dt` that is no positive number, no samples.
    pub fn bank(self, states: usize, dt: f64, len: usize, seed: u64) -> Result<Bank> {
        check_states(states, MAX_DENSE)?;
        check_dt(dt)?;
        check_kernels(states, len)?;
        let age = |m: usize| (m as f64 + 0.5) * dt;
        let polynomials = |fill: &dyn Fn(f64, &mut [f64])| {
            let mut by_age = Array2::zeros((len, states));
            for (m, mut row) in by_age.rows_mut().into_iter().enumerate() {
                fill(age(m), row.as_slice_mut().unwrap_or_default());
            }
            Bank::new(by_age.reversed_axes())
        };
        match self {
            Self::Legs => polynomials(&legs_kernels),
            Self::Lagt => polynomials(&laguerre),
            Self::Legt | Self::Fourier => {
                let (a, b) = if self == Self::Legt { legt(states) } else { fourier(states) };
                dense(&a, &b, dt, len)
            }
            _ => {
                let frequencies = self.frequencies(states, seed)?;
                Bank::new(Array2::from_shape_fn((states, len), |(n, m)| {
                    let t = age(m);
                    let (sin, cos) = (frequencies[n / 2] * t).sin_cos();
                    (-0.5 * t).exp() * if n.is_multiple_of(2) { cos } else { sin }
                }))
            }
        }
    }

    // Of the diagonal systems, one frequency per pair of states.
    fn frequencies(self, states: usize, seed: u64) -> Result<Vec<f64>> {
        let pairs = states.div_ceil(2);
        let n = states as f64;
        Ok(match self {
            Self::S4dLegs => legs_spectrum(states)?.omega,
            Self::S4dInv => s4d_inv(states),
            Self::Random => {
                let mut rng = rng::stream(seed, "hippo-frequencies");
                let (low, high) = (0.1f64.ln(), (n * n / PI).max(1.0).ln());
                (0..pairs).map(|_| (low + (high - low) * rng.random::<f64>()).exp()).collect()
            }
            _ => (0..pairs).map(|j| PI * j as f64).collect(),
        })
    }
}

/// The frequencies of the S4D-Inv rule, `N/pi (N/(2j+1) - 1)` for each pair of N states.
pub fn s4d_inv(n: usize) -> Vec<f64> {
    let states = n as f64;
    let rule = |j: usize| states / PI * (states / (2 * j + 1) as f64 - 1.0);
    (0..n.div_ceil(2)).map(rule).collect()
}

/// Fills `row` with `e^{-tA} B` of the LegS system, `sqrt(2n+1) e^{-t} P_n(2 e^{-t} - 1)`.
pub(super) fn legs_kernels(t: f64, row: &mut [f64]) {
    let decay = (-t).exp();
    let x = 2.0 * decay - 1.0;
    let (mut before, mut now) = (0.0, 1.0);
    for (n, value) in row.iter_mut().enumerate() {
        let n = n as f64;
        *value = (2.0 * n + 1.0).sqrt() * decay * now;
        (before, now) = (now, ((2.0 * n + 1.0) * x * now - n * before) / (n + 1.0));
    }
}

fn laguerre(t: f64, row: &mut [f64]) {
    let decay = (-0.5 * t).exp();
    let (mut before, mut now) = (0.0, 1.0);
    for (n, value) in row.iter_mut().enumerate() {
        let n = n as f64;
        *value = decay * now;
        (before, now) = (now, ((2.0 * n + 1.0 - t) * now - n * before) / (n + 1.0));
    }
}

// The sliding window of length 1 in Legendre polynomials.
fn legt(n: usize) -> (Mat<f64>, Vec<f64>) {
    let root = |i: usize| ((2 * i + 1) as f64).sqrt();
    let sign = |i: usize, k: usize| if k > i && (k - i) % 2 == 1 { -1.0 } else { 1.0 };
    let a = Mat::from_fn(n, n, |i, k| sign(i, k) * root(i) * root(k));
    (a, (0..n).map(root).collect())
}

// The sliding window of length 1 in a constant and pairs of waves, k to the window.
fn fourier(n: usize) -> (Mat<f64>, Vec<f64>) {
    let edge = |i: usize| match i {
        0 => SQRT_2,
        i if i % 2 == 1 => 2.0,
        _ => 0.0,
    };
    let a = Mat::from_fn(n, n, |i, k| {
        let turn = PI * (i + k + 1) as f64 / 2.0;
        let rotation = match (i, k) {
            (i, k) if i % 2 == 1 && k == i + 1 => turn,
            (i, k) if k % 2 == 1 && i == k + 1 => -turn,
            _ => 0.0,
        };
        edge(i) * edge(k) + rotation
    });
    (a, (0..n).map(|i| SQRT_2 * edge(i)).collect())
}

// Kernels of `x' = -A x + B u` by powers of one exponential.
fn dense(a: &Mat<f64>, b: &[f64], dt: f64, len: usize) -> Result<Bank> {
    let half = exponential(&(a * faer::Scale(-0.5 * dt)));
    let step = &half * &half;
    let mut state = &half * Mat::from_fn(b.len(), 1, |i, _| b[i]);
    let mut values = Array2::zeros((b.len(), len));
    for m in 0..len {
        for n in 0..b.len() {
            values[[n, m]] = state[(n, 0)];
        }
        state = &step * &state;
    }
    Bank::new(values)
}

/// The kernel `c · x` of the LegS system under the bilinear rule, by its diagonal-plus-low-rank form
/// as S4 computes it: the generating function at roots of unity, by Cauchy sums and the Woodbury
/// identity, in `O(states · len)`.
///
/// # Errors
/// No states or more than [`MAX_DENSE`], a `dt` that is no positive number, no samples.
pub fn dplr_kernel(c: &[f64], dt: f64, len: usize) -> Result<Vec<f64>> {
    check_dt(dt)?;
    check_kernels(c.len(), len)?;
    if len == 0 {
        return Err(Error::usage("a kernel of no samples is asked for").in_field("len"));
    }
    let vectors = legs_eigenvectors(c.len())?;
    let spectrum = legs_spectrum(c.len())?;
    let modes = Modes::new(&spectrum, dt);
    let mut c: Vec<Complex64> = vectors
        .columns()
        .into_iter()
        .map(|v| v.iter().zip(c).map(|(v, c)| Complex64::new(v.re, v.im) * c).sum())
        .collect();
    // The generating function of the first `len` terms alone has c (I - Ā^len) in c's place.
    let mut later = c.clone();
    for _ in 0..len {
        modes.step(&mut later);
    }
    c.iter_mut().zip(&later).for_each(|(c, later)| *c -= later);
    let mut planner = RealFftPlanner::<f64>::new();
    let inverse = planner.plan_fft_inverse(len);
    let mut values: Vec<Complex64> = (0..=len / 2)
        .map(|k| modes.generating(&c, Complex64::cis(-2.0 * PI * k as f64 / len as f64)))
        .collect();
    values[0].im = 0.0;
    if len.is_multiple_of(2) {
        values[len / 2].im = 0.0;
    }
    let mut kernel = inverse.make_output_vec();
    inverse
        .process(&mut values, &mut kernel)
        .map_err(|error| Error::internal(error.to_string()))?;
    kernel.iter_mut().for_each(|value| *value /= len as f64);
    Ok(kernel)
}

// `x' = (Λ - p pᵀ) x + b u` and a step's length.
struct Modes {
    lambda: Vec<Complex64>,
    p: Vec<f64>,
    dt: f64,
}

impl Modes {
    fn new(spectrum: &LegsSpectrum, dt: f64) -> Self {
        let (lambda, p) =
            spectrum.both_signs().map(|(w, p, _)| (Complex64::new(-0.5, -w), p)).unzip();
        Self { lambda, p, dt }
    }

    // c ← c Ā with Ā = (I - h M)⁻¹ (I + h M), whose factors commute and are symmetric.
    fn step(&self, c: &mut [Complex64]) {
        let h = 0.5 * self.dt;
        let inverse = |lambda: &Complex64| (1.0 - h * lambda).inv();
        let (mut pc, mut pp) = (Complex64::ZERO, Complex64::ZERO);
        for ((lambda, p), c) in self.lambda.iter().zip(&self.p).zip(&*c) {
            pc += inverse(lambda) * c * p;
            pp += inverse(lambda) * p * p;
        }
        let share = h * pc / (1.0 + h * pp);
        let mut sum = Complex64::ZERO;
        for ((lambda, p), c) in self.lambda.iter().zip(&self.p).zip(&mut *c) {
            *c = inverse(lambda) * (*c - share * p);
            sum += *c * p;
        }
        for ((lambda, p), c) in self.lambda.iter().zip(&self.p).zip(c) {
            *c = (1.0 + h * lambda) * *c - h * sum * p;
        }
    }

    // c (I - Ā z)⁻¹ B̄, which is c ((1 - z) - h (1 + z) M)⁻¹ dt b.
    fn generating(&self, c: &[Complex64], z: Complex64) -> Complex64 {
        let s = 0.5 * self.dt * (1.0 + z);
        let (mut cb, mut cp, mut pp) = (Complex64::ZERO, Complex64::ZERO, Complex64::ZERO);
        for ((lambda, p), c) in self.lambda.iter().zip(&self.p).zip(c) {
            let r = (1.0 - z - s * lambda).inv();
            let weighted = r * p;
            cp += weighted * c;
            pp += weighted * p;
            cb += weighted * c * SQRT_2;
        }
        let pb = pp * SQRT_2;
        self.dt * (cb - cp * s * pb / (1.0 + s * pp))
    }
}
