//! Discrete prolate spheroidal sequences: what Slepian functions are on a line of regular times.

use crate::tridiagonal::Tridiagonal;
use metier_core::{Error, Result};
use ndarray::Array2;
use rayon::prelude::*;
use std::f64::consts::PI;

/// Sequences of a length and a bandwidth, the most concentrated first.
#[derive(Clone, Debug, PartialEq)]
pub struct Tapers {
    /// One row per time, one column per sequence; columns are orthonormal.
    pub values: Array2<f64>,
    /// The share of each sequence's energy at frequencies up to the bandwidth.
    pub concentrations: Vec<f64>,
}

/// The first `count` sequences of `n` regular times whose energy lies at frequencies of at most
/// `half_bandwidth / n` cycles per step, as smooth columns for a time of the year or of the day.
/// About `2 half_bandwidth` of them are concentrated; the paper takes one fewer.
///
/// They are eigenvectors of a tridiagonal matrix (Slepian 1978), whose values are far apart where
/// the concentrations are not. Even ones have a positive sum, odd ones begin positive. The cost is
/// O(n²) per sequence, for the concentrations.
///
/// ```
/// use metier_geometry::slepian::tapers;
/// let days = tapers(1460, 10.0, 19)?;
/// assert_eq!(days.values.dim(), (1460, 19));
/// assert!(days.concentrations[..17].iter().all(|share| *share > 0.98));
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// No times, a half bandwidth outside (0, n/2), or a count outside [1, n].
pub fn tapers(n: usize, half_bandwidth: f64, count: usize) -> Result<Tapers> {
    if !(half_bandwidth > 0.0 && half_bandwidth < 0.5 * n as f64) {
        return Err(Error::input(format!(
            "a half bandwidth of {half_bandwidth} for {n} times is not between 0 and n/2"
        ))
        .in_field("half_bandwidth")
        .help("it is the number of cycles that the fastest sequence makes over all times"));
    }
    if !(1..=n).contains(&count) {
        return Err(Error::input(format!("{count} sequences of {n} times"))
            .in_field("count")
            .help(format!(
                "ask for 1 to {n}; about {:.0} are concentrated",
                2.0 * half_bandwidth
            )));
    }
    let frequency = half_bandwidth / n as f64;
    let diagonal = (0..n)
        .map(|i| (0.5 * (n as f64 - 1.0) - i as f64).powi(2) * (2.0 * PI * frequency).cos())
        .collect();
    let off = (1..n).map(|i| 0.5 * (i * (n - i)) as f64).collect();
    let matrix = Tridiagonal::new(diagonal, off);
    let (columns, concentrations): (Vec<_>, Vec<_>) = (0..count)
        .into_par_iter()
        .map(|k| {
            let sequence = signed(matrix.eigenpair(n - 1 - k).1, k);
            let concentration = concentration(&sequence, frequency);
            (sequence, concentration)
        })
        .unzip();
    let values = Array2::from_shape_fn((n, count), |(i, k)| columns[k][i]);
    Ok(Tapers { values, concentrations })
}

// By symmetry the sum of an odd sequence is 0; there the first value that is more than rounding
// decides.
fn signed(mut sequence: Vec<f64>, k: usize) -> Vec<f64> {
    let mark = if k.is_multiple_of(2) {
        sequence.iter().sum()
    } else {
        let floor = 1e-7 / sequence.len() as f64;
        sequence.iter().copied().find(|value| value * value > floor).unwrap_or(1.0)
    };
    if mark < 0.0 {
        sequence.iter_mut().for_each(|value| *value = -*value);
    }
    sequence
}

// The energy below a frequency, by the autocorrelation of the sequence.
fn concentration(sequence: &[f64], frequency: f64) -> f64 {
    let correlation =
        |lag: usize| -> f64 { sequence.iter().zip(&sequence[lag..]).map(|(a, b)| a * b).sum() };
    let beside: f64 = (1..sequence.len())
        .map(|lag| (2.0 * PI * frequency * lag as f64).sin() / (PI * lag as f64) * correlation(lag))
        .sum();
    2.0 * frequency * correlation(0) + 2.0 * beside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[f64], known: &[f64], tolerance: f64) {
        assert_eq!(found.len(), known.len());
        for (found, known) in found.iter().zip(known) {
            assert!((found - known).abs() < tolerance, "{found} {known}");
        }
    }

    // What SciPy's windows.dpss gives.
    #[test]
    fn sequences_and_concentrations_are_those_of_the_peer() {
        let few = tapers(8, 2.0, 3).unwrap();
        close(&few.concentrations, &[0.99998385, 0.99886186, 0.97145189], 5e-9);
        let column = |k: usize| few.values.column(k).iter().take(4).copied().collect::<Vec<_>>();
        close(&column(0), &[0.04986699, 0.19047208, 0.39530206, 0.55224085], 5e-9);
        close(&column(1), &[0.17263019, 0.41946338, 0.49384873, 0.22441641], 5e-9);
        close(&column(2), &[0.38203822, 0.48973614, 0.14335783, -0.30602916], 5e-9);
        let many = tapers(1460, 10.0, 19).unwrap();
        close(&many.concentrations[15..], &[0.99967425, 0.99736726, 0.98219649, 0.90679566], 5e-9);
        assert!((many.values[[1460 / 3, 18]] - 0.015776018583106947).abs() < 1e-10);
    }

    #[test]
    fn sequences_are_orthonormal_and_all_of_them_hold_the_shannon_number() {
        let all = tapers(64, 5.5, 64).unwrap();
        let gram = all.values.t().dot(&all.values);
        for ((i, j), value) in gram.indexed_iter() {
            assert!((value - f64::from(i == j)).abs() < 1e-10, "{i} {j} {value}");
        }
        assert!((all.concentrations.iter().sum::<f64>() - 11.0).abs() < 1e-10);
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        assert!(tapers(0, 1.0, 1).unwrap_err().to_string().contains("0 times"));
        assert!(tapers(10, 5.0, 1).unwrap_err().to_string().contains("half bandwidth of 5"));
        assert!(tapers(10, f64::NAN, 1).is_err());
        assert!(tapers(10, 2.0, 11).unwrap_err().to_string().contains("11 sequences"));
        assert_eq!(tapers(1, 0.25, 1).unwrap().values[[0, 0]], 1.0);
    }
}
