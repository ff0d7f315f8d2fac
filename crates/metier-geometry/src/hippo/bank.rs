//! Kernels of several states over a number of past samples, and what they make of sequences.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use metier_core::{Error, Result};
use ndarray::{Array2, Array3, ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;
use realfft::num_complex::Complex64;
use realfft::{RealFftPlanner, RealToComplex};
use std::sync::Arc;

/// The kernels of a set of states: entry `(n, m)` is what state `n` holds of an input of 1 that came
/// `m` samples ago. Whatever a fixed linear memory is made of, this is all that it does.
///
/// ```
/// use metier_geometry::hippo::Bank;
/// use ndarray::array;
/// // A running sum, and a memory of one sample.
/// let bank = Bank::new(array![[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]])?;
/// let states = bank.transform(array![[1.0, 2.0, 5.0]].view())?;
/// assert!((states[[0, 2, 0]] - 8.0f64).abs() < 1e-12 && (states[[0, 2, 1]] - 5.0).abs() < 1e-12);
/// assert_eq!(bank.last_state(array![[1.0, 2.0, 5.0]].view())?, array![[8.0, 5.0]]);
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bank {
    values: Array2<f64>,
}

impl Bank {
    /// The bank of these kernels, one state per row.
    ///
    /// # Errors
    /// No state, no lag, or a value that is not finite.
    pub fn new(values: Array2<f64>) -> Result<Self> {
        if values.is_empty() {
            return Err(Error::usage(format!(
                "a bank of {} states and {} lags remembers nothing",
                values.nrows(),
                values.ncols()
            )));
        }
        if let Some(((state, lag), value)) = first_not_finite(values.view()) {
            let message = format!("the kernel of state {state} is {value} at lag {lag}");
            return Err(Error::numeric(message));
        }
        // Rows are slices below.
        let values = match values.is_standard_layout() {
            true => values,
            false => values.as_standard_layout().into_owned(),
        };
        Ok(Self { values })
    }

    /// The kernels, states x lags.
    pub fn values(&self) -> ArrayView2<'_, f64> {
        self.values.view()
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.values.nrows()
    }

    /// How many samples are remembered.
    pub fn lags(&self) -> usize {
        self.values.ncols()
    }

    /// The kernel of the readout `c`: the sum of the states' kernels, each times its weight.
    ///
    /// # Errors
    /// Another number of weights than states.
    pub fn kernel(&self, c: &[f64]) -> Result<Vec<f64>> {
        if c.len() != self.states() {
            let (given, states) = (c.len(), self.states());
            return Err(Error::input(format!("{given} weights are given for {states} states"))
                .in_field("c"));
        }
        Ok(self.values.t().dot(&ArrayView1::from(c)).to_vec())
    }

    /// The layer `y = c · x + d u` that reads the states with these weights, batch x samples: one
    /// convolution with [`kernel`](Self::kernel), whatever the number of states.
    ///
    /// # Errors
    /// Another number of weights than states, a sequence of no samples, or a value that is not finite.
    pub fn readout(&self, u: ArrayView2<'_, f64>, c: &[f64], d: f64) -> Result<Array2<f64>> {
        let kernel = Array2::from_shape_vec((1, self.lags()), self.kernel(c)?)
            .map_err(|error| Error::internal(error.to_string()))?;
        let read = Self::new(kernel)?.transform(u)?.index_axis_move(Axis(2), 0);
        Ok(read + &u.mapv(|value| d * value))
    }

    /// The states after every sample, `batch x samples x states`, by Fourier transforms in
    /// `O(states · samples log samples)` per sequence. Each state's samples lie next to one another.
    ///
    /// The rounding of a transform spreads over the whole sequence, so a sample's states depend on
    /// later ones in their last digits; [`transform_direct`](Self::transform_direct) is causal to the
    /// bit.
    ///
    /// # Errors
    /// A sequence of no samples, or with a value that is not finite.
    pub fn transform(&self, u: ArrayView2<'_, f64>) -> Result<Array3<f64>> {
        check_sequences(u)?;
        let (batch, samples) = u.dim();
        let lags = self.lags().min(samples);
        let size = (samples + lags - 1).next_power_of_two();
        let mut planner = RealFftPlanner::<f64>::new();
        let (forward, inverse) = (planner.plan_fft_forward(size), planner.plan_fft_inverse(size));
        let inputs: Vec<Vec<Complex64>> =
            u.rows().into_iter().map(|row| spectrum(&forward, row)).collect();
        let mut states = Array3::zeros((batch, self.states(), samples));
        // One transform of each kernel serves every sequence.
        states.axis_iter_mut(Axis(1)).into_par_iter().enumerate().for_each(|(n, mut of_state)| {
            let kernel = spectrum(&forward, self.values.row(n).split_at(Axis(0), lags).0);
            let mut product = inverse.make_input_vec();
            let mut output = inverse.make_output_vec();
            let mut scratch = inverse.make_scratch_vec();
            for (input, mut row) in inputs.iter().zip(of_state.rows_mut()) {
                for ((product, a), b) in product.iter_mut().zip(input).zip(&kernel) {
                    *product = a * b;
                }
                // The first and, as the size is even, the last are sums of real numbers.
                product[0].im = 0.0;
                if let Some(last) = product.last_mut() {
                    last.im = 0.0;
                }
                // Lengths are the plan's own and the ends are real, which is all that it asks for.
                let _ = inverse.process_with_scratch(&mut product, &mut output, &mut scratch);
                row.iter_mut().zip(&output).for_each(|(to, from)| *to = from / size as f64);
            }
        });
        Ok(states.permuted_axes([0, 2, 1]))
    }

    /// The same states by the sums themselves, in `O(states · samples · lags)`: what comes later
    /// changes nothing, not even the last digit.
    ///
    /// # Errors
    /// A sequence of no samples, or with a value that is not finite.
    pub fn transform_direct(&self, u: ArrayView2<'_, f64>) -> Result<Array3<f64>> {
        check_sequences(u)?;
        let (batch, samples) = u.dim();
        let mut states = Array3::zeros((batch, self.states(), samples));
        states.axis_iter_mut(Axis(1)).into_par_iter().enumerate().for_each(|(n, mut of_state)| {
            let kernel = self.values.row(n);
            for (u, mut row) in u.rows().into_iter().zip(of_state.rows_mut()) {
                for (t, state) in row.iter_mut().enumerate() {
                    let past = u.iter().take(t + 1).rev();
                    *state = kernel.iter().zip(past).map(|(k, u)| k * u).sum();
                }
            }
        });
        Ok(states.permuted_axes([0, 2, 1]))
    }

    /// The states after the last sample, `batch x states`: one matrix product and no transform.
    ///
    /// # Errors
    /// A sequence of no samples, or with a value that is not finite.
    pub fn last_state(&self, u: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        check_sequences(u)?;
        let (batch, samples) = u.dim();
        let lags = self.lags().min(samples);
        let (_, recent) = u.split_at(Axis(1), samples - lags);
        let recent = recent.as_standard_layout();
        let recent = MatRef::from_row_major_slice(slice_of(&recent.view()), batch, lags);
        let kernels = self.matrix().subcols(0, lags).reverse_cols();
        let mut states = Mat::<f64>::zeros(batch, self.states());
        matmul(&mut states, Accum::Replace, recent, kernels.transpose(), 1.0, Par::rayon(0));
        Ok(Array2::from_shape_fn((batch, self.states()), |(i, n)| states[(i, n)]))
    }

    pub(super) fn matrix(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(slice_of(&self.values.view()), self.states(), self.lags())
    }
}

// An array in standard layout is one slice.
fn slice_of<'a>(array: &ArrayView2<'a, f64>) -> &'a [f64] {
    array.to_slice().unwrap_or_default()
}

fn spectrum(forward: &Arc<dyn RealToComplex<f64>>, values: ArrayView1<'_, f64>) -> Vec<Complex64> {
    let mut padded = forward.make_input_vec();
    padded.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
    let mut spectrum = forward.make_output_vec();
    // Lengths are the plan's own, which is all that it asks for.
    let _ = forward.process(&mut padded, &mut spectrum);
    spectrum
}

/// Refuses sequences of no samples and values that are not finite.
///
/// # Errors
/// The sequence at fault as the row, counted from 1, and its sample.
pub(super) fn check_sequences(u: ArrayView2<'_, f64>) -> Result<()> {
    if u.ncols() == 0 {
        return Err(Error::input("the sequences have no samples"));
    }
    match first_not_finite(u) {
        Some(((row, sample), value)) => {
            Err(Error::input(format!("sample {} is {value}", sample + 1))
                .at_row(row as u64 + 1)
                .help("leave such samples out, or say what they are: the last one before, or 0"))
        }
        None => Ok(()),
    }
}

// All are looked at without an early end, which the compiler turns into vectors; the place is looked
// for only where there is one.
fn first_not_finite(values: ArrayView2<'_, f64>) -> Option<((usize, usize), f64)> {
    if values.iter().fold(true, |all, value| all & value.is_finite()) {
        return None;
    }
    values.indexed_iter().find(|(_, value)| !value.is_finite()).map(|(at, value)| (at, *value))
}
