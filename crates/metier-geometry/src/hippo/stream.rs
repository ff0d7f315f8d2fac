//! States that are brought up to date with every sample, for inputs that never end.

use super::bank::Bank;
use super::continuized::{Basis, ContinuizedConfig, Discretization};
use super::legs::{MAX_DENSE, check_dt, check_states, legs_b};
use metier_core::{Error, Result};
use ndarray::{Array2, ArrayView2, Axis};
use realfft::num_complex::Complex64;
use std::f64::consts::PI;

/// How fast the memory of [`LegsStream`] moves on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// The same step at every sample: an exponentially fading memory, `x' = -A x + B u`.
    Invariant {
        /// Time per sample.
        dt: f64,
    },
    /// `x' = (-A x + B u) / t`: all of the past is kept, ever more coarsely, as the coefficients of
    /// its Legendre polynomials.
    Scaled,
}

/// The LegS system of N states, by the bilinear rule in O(N) per sample: the matrix is solved with by
/// a running sum and never made.
///
/// ```
/// use metier_geometry::hippo::{Clock, LegsStream};
/// let mut stream = LegsStream::new(4, Clock::Scaled)?;
/// for _ in 0..100 {
///     stream.push(2.0);
/// }
/// // The first state is the mean of all; a constant has nothing of the higher polynomials.
/// assert!((stream.state()[0] - 2.0).abs() < 1e-12 && stream.state()[1].abs() < 1e-3);
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LegsStream {
    clock: Clock,
    b: Vec<f64>,
    state: Vec<f64>,
    samples: u64,
}

impl LegsStream {
    /// A stream before its first sample.
    ///
    /// # Errors
    /// No states or more than [`MAX_DENSE`], or a step that is no positive number.
    pub fn new(states: usize, clock: Clock) -> Result<Self> {
        check_states(states, MAX_DENSE)?;
        if let Clock::Invariant { dt } = clock {
            check_dt(dt)?;
        }
        Ok(Self { clock, b: legs_b(states), state: vec![0.0; states], samples: 0 })
    }

    /// Takes in a sample and gives the states after it.
    pub fn push(&mut self, u: f64) -> &[f64] {
        self.samples += 1;
        let dt = match self.clock {
            Clock::Invariant { dt } => dt,
            // At the middle of the step, where the mean comes out exactly.
            Clock::Scaled => 1.0 / (self.samples as f64 - 0.5),
        };
        let h = 0.5 * dt;
        // (I + hA) new = (I - hA) old + 2h B u, line by line; the sums are those of A's lower part.
        let (mut old_sum, mut new_sum) = (0.0, 0.0);
        for (n, (x, b)) in self.state.iter_mut().zip(&self.b).enumerate() {
            let old = *x;
            let diagonal = h * (n + 1) as f64;
            let right = old * (1.0 - diagonal) + h * b * (2.0 * u - old_sum - new_sum);
            *x = right / (1.0 + diagonal);
            old_sum += b * old;
            new_sum += b * *x;
        }
        &self.state
    }

    /// The states after the last sample.
    pub fn state(&self) -> &[f64] {
        &self.state
    }
}

/// The [`Spectral`](Basis::Spectral) layer as a recurrence: what its bank of kernels makes of all
/// samples, in O(states) per sample and without an end.
#[derive(Clone, Debug)]
pub struct SpectralStream {
    // The factor of a step and what a sample adds, of each pair.
    steps: Vec<[Complex64; 2]>,
    modes: Vec<Complex64>,
    state: Vec<f64>,
}

impl SpectralStream {
    /// A stream before its first sample.
    ///
    /// # Errors
    /// Another basis, or what [`ContinuizedConfig::validate`] refuses.
    pub fn new(config: &ContinuizedConfig) -> Result<Self> {
        config.validate()?;
        if config.basis != Basis::Spectral {
            return Err(Error::usage("only the spectral basis is a recurrence")
                .in_field("basis")
                .help("convolve in blocks instead"));
        }
        let (states, dt) = (config.states, config.dt);
        let steps = (0..states.div_ceil(2))
            .map(|j| {
                let alone = states % 2 == 1 && 2 * j + 1 == states;
                let w = if alone { 0.0 } else { 1.0 / ((2 * j + 1) as f64 * PI) };
                let rate = Complex64::new(-config.gamma, w);
                let step = (rate * dt).exp();
                let gain = match config.discretization {
                    Discretization::Point => (rate * (0.5 * dt)).exp(),
                    Discretization::Zoh if rate.norm() * dt < 1e-5 => {
                        dt * (1.0 + rate * (0.5 * dt) + rate * rate * (dt * dt / 6.0))
                    }
                    Discretization::Zoh => (step - 1.0) / rate,
                };
                [step, gain]
            })
            .collect::<Vec<_>>();
        let modes = vec![Complex64::ZERO; steps.len()];
        Ok(Self { steps, modes, state: vec![0.0; states] })
    }

    /// Takes in a sample and gives the states after it.
    pub fn push(&mut self, u: f64) -> &[f64] {
        let pairs = self.state.chunks_mut(2);
        for (([step, gain], mode), pair) in self.steps.iter().zip(&mut self.modes).zip(pairs) {
            *mode = step * *mode + gain * u;
            pair[0] = mode.re;
            if let Some(second) = pair.get_mut(1) {
                *second = mode.im;
            }
        }
        &self.state
    }
}

/// Any bank over an input that never ends, block by block: each block is convolved together with the
/// samples before it that the bank still remembers.
#[derive(Clone, Debug)]
pub struct BlockStream {
    bank: Bank,
    past: Vec<f64>,
}

impl BlockStream {
    /// A stream before its first sample.
    pub fn new(bank: Bank) -> Self {
        Self { bank, past: Vec::new() }
    }

    /// Takes in a block of samples and gives the states after each, samples x states. Blocks about as
    /// long as the bank's memory cost the least.
    ///
    /// # Errors
    /// No samples, or one that is not finite.
    pub fn push(&mut self, block: &[f64]) -> Result<Array2<f64>> {
        let block = ArrayView2::from_shape((1, block.len()), block)
            .map_err(|error| Error::internal(error.to_string()))?;
        super::bank::check_sequences(block)?;
        let before = self.past.len();
        self.past.extend(block.iter());
        let known = ArrayView2::from_shape((1, self.past.len()), &self.past)
            .map_err(|error| Error::internal(error.to_string()))?;
        let states = self.bank.transform(known)?;
        let new = states.index_axis(Axis(0), 0).split_at(Axis(0), before).1.to_owned();
        let forgotten = self.past.len().saturating_sub(self.bank.lags() - 1);
        self.past.drain(..forgotten);
        Ok(new)
    }
}
