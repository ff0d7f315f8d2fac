//! What a bank of kernels remembers: how well a linear readout of its states gives back the input of
//! so many samples ago.

use super::bank::{Bank, check_sequences};
use metier_core::{Error, Result};
use ndarray::{Array2, ArrayView2};

// Directions of the states that are smaller than this times the largest hold rounding alone.
const RANK: f64 = 1e-12;

/// The part of the past that the states of a [`Bank`] determine.
///
/// With the bank's kernels as rows of `B = U S Vᵀ`, a state is `B h` for the history `h`, newest
/// sample first. The projection `V Vᵀ h` is what any linear readout can know of it.
///
/// ```
/// use metier_geometry::hippo::{Bank, Memory};
/// use ndarray::array;
/// let memory = Memory::of(&Bank::new(array![[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])?)?;
/// // The newest sample is known; of the two before, their sum.
/// assert!((memory.r_squared()[0] - 1.0).abs() < 1e-12);
/// assert!((memory.r_squared()[2] - 0.5).abs() < 1e-12);
/// assert_eq!(memory.reach(0.9), 1);
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Memory {
    // Lags x directions, orthonormal columns.
    directions: Array2<f64>,
    // Directions x states: what takes a state to its coordinates.
    coordinates: Array2<f64>,
}

impl Memory {
    /// The memory of a bank, in `O(states² · lags)`.
    ///
    /// # Errors
    /// A decomposition that does not converge.
    pub fn of(bank: &Bank) -> Result<Self> {
        let decomposed = bank.matrix().thin_svd().map_err(|error| {
            Error::numeric(format!("the bank's decomposition did not converge: {error:?}"))
        })?;
        let sizes = decomposed.S().column_vector();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let rank = sizes.iter().filter(|size| **size > RANK * largest).count();
        let (u, v) = (decomposed.U(), decomposed.V());
        Ok(Self {
            directions: Array2::from_shape_fn((bank.lags(), rank), |(m, k)| v[(m, k)]),
            coordinates: Array2::from_shape_fn((rank, bank.states()), |(k, n)| {
                u[(n, k)] / sizes[k]
            }),
        })
    }

    /// The share of the variance of white noise, for each delay in samples, that the best linear
    /// readout of the states gives back.
    pub fn r_squared(&self) -> Vec<f64> {
        self.directions.rows().into_iter().map(|row| row.dot(&row)).collect()
    }

    /// How many samples back without a gap the readout gives at least this share of the variance.
    pub fn reach(&self, level: f64) -> usize {
        self.r_squared().iter().take_while(|share| **share >= level).count()
    }

    /// The most likely history, newest sample first, of states that these are, for inputs of no
    /// known structure: the shortest that leads to them. Its error at each delay has the standard
    /// deviation `sqrt(1 - r_squared)` of the input's own.
    ///
    /// # Errors
    /// Another number of values than states.
    pub fn reconstruct(&self, state: &[f64]) -> Result<Vec<f64>> {
        let states = self.coordinates.ncols();
        if state.len() != states {
            let message = format!("{} values are given for {states} states", state.len());
            return Err(Error::input(message).in_field("state"));
        }
        let coordinates = self.coordinates.dot(&ndarray::ArrayView1::from(state));
        Ok(self.directions.dot(&coordinates).to_vec())
    }

    /// The share of the energy of these sequences, seen from their last samples, that the states
    /// determine; 1 for sequences of zeros.
    ///
    /// # Errors
    /// A sequence of no samples, or with a value that is not finite.
    pub fn coverage(&self, u: ArrayView2<'_, f64>) -> Result<f64> {
        check_sequences(u)?;
        let (mut kept, mut all) = (0.0, 0.0);
        for row in u.rows() {
            let mut coordinates = vec![0.0; self.directions.ncols()];
            for (value, direction) in row.iter().rev().zip(self.directions.rows()) {
                coordinates.iter_mut().zip(direction).for_each(|(sum, d)| *sum += value * d);
            }
            kept += coordinates.iter().map(|c| c * c).sum::<f64>();
            all += row.iter().map(|value| value * value).sum::<f64>();
        }
        Ok(if all > 0.0 { kept / all } else { 1.0 })
    }
}
