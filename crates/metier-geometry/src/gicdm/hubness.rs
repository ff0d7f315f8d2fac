//! How unevenly points are one another's neighbours.

use super::neighbours::least;
use super::points::{Number, Points};
use metier_core::{Error, Result};
use serde::Serialize;

/// How often the points of a set are among the `k` nearest of another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hubness {
    /// The neighbours that were counted.
    pub k: usize,
    /// How often each point was one; `k` on average.
    pub occurrences: Vec<usize>,
    /// The skewness of that over all points: 0 where nobody stands out, several where hubs do.
    pub skewness: f64,
    /// The share of points that are nobody's neighbour.
    pub antihubs: f64,
    /// The most that one point was.
    pub largest: usize,
    /// The share of occurrences that would have to change hands for all to have as many.
    pub robin_hood: f64,
}

/// The hubness of these points, in their own distances or in those that factors correct
/// ([`Icdm::log_delta`](super::Icdm::log_delta)).
///
/// ```
/// use metier_geometry::gicdm::{Metric, Points, hubness};
/// use ndarray::array;
/// // Four corners, and a centre that is everyone's nearest.
/// let x = array![[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], [0.0, 0.1]];
/// let found = hubness(&Points::new(x.view(), Metric::Euclidean)?, 1, None)?;
/// assert_eq!((found.largest, found.antihubs), (4, 0.6));
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// No neighbours, too few points for them, or another number of factors than points.
pub fn hubness<T: Number>(
    points: &Points<T>,
    k: usize,
    log_delta: Option<&[f64]>,
) -> Result<Hubness> {
    let n = points.rows();
    if k == 0 || k >= n {
        let message = format!("{k} neighbours are asked for of {n} points");
        return Err(Error::usage(message).in_field("k").help("take 1 to one less than the points"));
    }
    if let Some(given) = log_delta.map(<[f64]>::len).filter(|given| *given != n) {
        return Err(Error::input(format!("{given} factors are given for {n} points")));
    }
    let delta: Option<Vec<f64>> = log_delta.map(|logs| logs.iter().map(|log| log.exp()).collect());
    let corrected = |m: usize, distance: f64| delta.as_ref().map_or(distance, |d| d[m] * distance);
    let lists = points.map_distances(points, |i, distances| {
        let others = distances.iter().enumerate().filter(|(m, _)| *m != i);
        least(others.map(|(m, d)| (m, corrected(m, *d))), k)
    })?;
    let mut occurrences = vec![0usize; n];
    for (m, _) in lists.into_iter().flatten() {
        occurrences[m] += 1;
    }
    let moment = |power: i32| -> f64 {
        occurrences.iter().map(|count| (*count as f64 - k as f64).powi(power)).sum::<f64>()
            / n as f64
    };
    let variance = moment(2);
    let uneven: f64 = occurrences.iter().map(|count| (*count as f64 - k as f64).abs()).sum();
    Ok(Hubness {
        k,
        skewness: if variance > 0.0 { moment(3) / variance.powf(1.5) } else { 0.0 },
        antihubs: occurrences.iter().filter(|count| **count == 0).count() as f64 / n as f64,
        largest: occurrences.iter().copied().max().unwrap_or_default(),
        robin_hood: uneven / (2.0 * (n * k) as f64),
        occurrences,
    })
}
