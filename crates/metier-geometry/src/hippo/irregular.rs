//! States of samples that come at irregular times: the kernel is a formula in time, so a gap costs
//! what a step costs.

use super::continuized::Continuized;
use metier_core::{Error, Result};
use ndarray::{Array2, ArrayView1, Axis};
use rayon::prelude::*;

/// The states at the times of the samples, or with `every` false after the last alone, samples x
/// states. A sample stands for the time since the one before; the first for the median gap. The
/// layer's `dt` is scaled time per unit of time.
///
/// `O(states · samples)` Bessel values for one state, and as many for each with `every`.
///
/// ```
/// use metier_geometry::hippo::{Continuized, ContinuizedConfig, irregular_states};
/// let layer = Continuized::new(&ContinuizedConfig { states: 4, ..Default::default() })?;
/// let u = [1.0, -2.0, 0.5];
/// let even = irregular_states(&layer, &[0.0, 1.0, 2.0], &u, false)?;
/// let bank = layer.bank(3)?.last_state(ndarray::array![[1.0, -2.0, 0.5]].view())?;
/// assert!((even - bank).iter().all(|difference| difference.abs() < 1e-14));
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// Fewer than two samples, another number of times, times that do not ascend, or a value that is not
/// finite, as the row counted from 1.
pub fn irregular_states(
    layer: &Continuized,
    times: &[f64],
    u: &[f64],
    every: bool,
) -> Result<Array2<f64>> {
    if times.len() != u.len() || u.len() < 2 {
        let (times, samples) = (times.len(), u.len());
        return Err(Error::input(format!("{samples} samples at {times} times"))
            .help("give one time per sample, and at least two"));
    }
    if let Some(at) = u.iter().zip(times).position(|(u, t)| !(u.is_finite() && t.is_finite())) {
        let message = format!("the sample is {} at time {}", u[at], times[at]);
        return Err(Error::input(message).at_row(at as u64 + 1));
    }
    if let Some(at) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
        let message = format!("time {} comes after {}", times[at + 1], times[at]);
        return Err(Error::input(message).at_row(at as u64 + 2).help("sort the samples by time"));
    }
    let mut gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_by(f64::total_cmp);
    let start = times[0] - gaps[gaps.len() / 2];
    let scale = layer.config().dt;
    let after = |last: usize| -> Result<Vec<f64>> {
        let now = times[last];
        let edges: Vec<f64> = times[..=last]
            .iter()
            .rev()
            .chain(std::iter::once(&start))
            .map(|t| (now - t) * scale)
            .collect();
        let past: Vec<f64> = u[..=last].iter().rev().copied().collect();
        Ok(layer.over(&edges)?.dot(&ArrayView1::from(&past)).to_vec())
    };
    let first = if every { 0 } else { u.len() - 1 };
    let mut states = Array2::zeros((u.len() - first, layer.config().states));
    states.axis_iter_mut(Axis(0)).into_par_iter().enumerate().try_for_each(|(i, mut row)| {
        row.assign(&ArrayView1::from(&after(first + i)?));
        Ok::<(), Error>(())
    })?;
    Ok(states)
}

#[cfg(test)]
mod tests {
    use super::super::{Basis, ContinuizedConfig};
    use super::*;

    #[test]
    fn a_long_sample_is_several_short_ones() {
        for basis in [Basis::Nodes, Basis::Legendre, Basis::Spectral] {
            let config = ContinuizedConfig { states: 5, basis, dt: 0.3, ..Default::default() };
            let layer = Continuized::new(&config).unwrap();
            let even = irregular_states(
                &layer,
                &[0.0, 1.0, 2.0, 3.0, 4.0],
                &[1.0, 2.0, 3.0, 3.0, 3.0],
                true,
            );
            let uneven = irregular_states(&layer, &[0.0, 1.0, 4.0], &[1.0, 2.0, 3.0], true);
            // The median of the gaps 1 and 3 is 3, so that the first sample is longer: only the later
            // ones' share is the same.
            let first = |length| layer.over(&[4.0 * 0.3, (4.0 + length) * 0.3]).unwrap();
            let share = (first(3.0) - first(1.0)).column(0).to_owned();
            let difference = &uneven.unwrap().row(2) - &even.unwrap().row(4);
            assert!((difference - share).iter().all(|d| d.abs() < 1e-13), "{basis:?}");
        }
    }

    #[test]
    fn times_ascend() {
        let layer = Continuized::new(&ContinuizedConfig::default()).unwrap();
        let message = |times: &[f64], u: &[f64]| {
            irregular_states(&layer, times, u, true).unwrap_err().to_string()
        };
        assert_eq!(message(&[0.0, 2.0, 2.0], &[1.0; 3]), "row 3: time 2 comes after 2");
        assert_eq!(message(&[0.0, f64::NAN], &[1.0; 2]), "row 2: the sample is 1 at time NaN");
        assert_eq!(message(&[0.0], &[1.0; 2]), "2 samples at 1 times");
    }
}
