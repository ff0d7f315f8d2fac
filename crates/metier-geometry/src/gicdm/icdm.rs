//! One factor per point that gives every point the same mean distance to its neighbours.
//!
//! Jégou, Harzallah & Schmid, "A Contextual Dissimilarity Measure for Accurate and Efficient Image
//! Search", CVPR 2007. With factors `delta_i`, distances become `delta_i delta_l d_il`. A sweep takes
//! the logarithm of each point's mean distance to its nearest in corrected distance, less the mean
//! of all, and moves half of it into the point's factor.

use super::neighbours::{least, mean_and_last};
use super::points::{Number, Points};
use metier_core::{Error, Progress, Result, Silent};
use serde::{Deserialize, Serialize};

/// How the factors are found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IcdmConfig {
    /// Neighbours whose mean distance is made equal.
    pub k: usize,
    /// The share of a deviation that a sweep takes away.
    pub alpha: f64,
    /// The largest deviation of a logarithm at which the sweeps end.
    pub tolerance: f64,
    /// The most sweeps.
    pub max_sweeps: usize,
}

impl Default for IcdmConfig {
    fn default() -> Self {
        Self { k: 10, alpha: 1.0, tolerance: 1e-3, max_sweeps: 60 }
    }
}

impl IcdmConfig {
    /// Whether factors can be found for this many points.
    ///
    /// # Errors
    /// No neighbours, too few points for them, a share outside (0, 1], a tolerance that is no positive
    /// number.
    pub fn validate(&self, points: usize) -> Result<()> {
        if self.k == 0 {
            return Err(Error::usage("k must be at least 1").in_field("k"));
        }
        if points <= self.k + 1 {
            let least = self.k + 2;
            return Err(Error::input(format!(
                "{points} points are too few for {} neighbours: at least {least} are needed",
                self.k
            )));
        }
        if !(self.alpha > 0.0 && self.alpha <= 1.0) {
            let message = format!("alpha is {}, where a share above 0 is meant", self.alpha);
            return Err(Error::usage(message).in_field("alpha"));
        }
        if !(self.tolerance > 0.0) {
            let message = format!("tolerance is {}, where more than 0 is meant", self.tolerance);
            return Err(Error::usage(message).in_field("tolerance"));
        }
        Ok(())
    }
}

/// The factors of a set of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Icdm {
    /// The logarithm of each point's factor; they add up to 0.
    pub log_delta: Vec<f64>,
    /// The mean distance to its neighbours that every point has, as a geometric mean.
    pub mean_distance: f64,
    /// How many sweeps it took.
    pub sweeps: usize,
    /// The largest deviation of a logarithm that is left.
    pub residual: f64,
}

impl Icdm {
    /// The factors of these points.
    ///
    /// ```
    /// use metier_core::Silent;
    /// use metier_geometry::gicdm::{Icdm, IcdmConfig, Metric, Points};
    /// use ndarray::array;
    /// let x = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [3.0, 3.0]];
    /// let points = Points::new(x.view(), Metric::Euclidean)?;
    /// let config = IcdmConfig { k: 2, tolerance: 1e-13, max_sweeps: 200, ..Default::default() };
    /// let icdm = Icdm::fit(&points, &config)?;
    /// // A point far from all others is brought nearer.
    /// assert!((icdm.log_delta[4].exp() - 0.39499658).abs() < 1e-8);
    /// # Ok::<(), metier_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// What [`IcdmConfig::validate`] refuses, or a point with more than `k` copies of itself.
    pub fn fit<T: Number>(points: &Points<T>, config: &IcdmConfig) -> Result<Self> {
        Self::fit_with_progress(points, config, &Silent)
    }

    /// The same, telling how far it is.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), or an interruption.
    pub fn fit_with_progress<T: Number>(
        points: &Points<T>,
        config: &IcdmConfig,
        progress: &dyn Progress,
    ) -> Result<Self> {
        config.validate(points.rows())?;
        let candidates = Candidates::nearest(points, None, candidate_count(config.k))?;
        Ok(Self::from_candidates(points, &candidates, config, progress)?.0)
    }

    /// The same from candidates that several fits may share, and the candidates that took their place
    /// where they did not suffice.
    pub(super) fn from_candidates<T: Number>(
        points: &Points<T>,
        shared: &Candidates,
        config: &IcdmConfig,
        progress: &dyn Progress,
    ) -> Result<(Self, Option<Candidates>)> {
        let mut fitted = Self {
            log_delta: vec![0.0; points.rows()],
            mean_distance: 0.0,
            sweeps: 0,
            residual: f64::INFINITY,
        };
        let mut own: Option<Candidates> = None;
        progress.begin("equalising", None);
        loop {
            let candidates = own.as_ref().unwrap_or(shared);
            fitted.sweep(candidates, config, progress)?;
            // A point that is no candidate may have become a neighbour. Then candidates are the
            // nearest in corrected distance, which hardly changes any more.
            if fitted.sweeps >= config.max_sweeps || candidates.suffice(&fitted.log_delta, config.k)
            {
                break;
            }
            let count = candidate_count(config.k);
            own = Some(Candidates::nearest(points, Some(&fitted.log_delta), count)?);
        }
        progress.finish();
        Ok((fitted, own))
    }

    /// Whether the sweeps reached the tolerance.
    pub fn converged(&self, config: &IcdmConfig) -> bool {
        self.residual < config.tolerance
    }

    fn sweep(
        &mut self,
        candidates: &Candidates,
        config: &IcdmConfig,
        progress: &dyn Progress,
    ) -> Result<()> {
        let n = self.log_delta.len() as f64;
        let mut alpha = config.alpha;
        let (mut best, mut since) = (f64::INFINITY, 0);
        loop {
            progress.check()?;
            let logs = candidates.log_means(&self.log_delta, config.k)?;
            let mean = logs.iter().sum::<f64>() / n;
            self.residual = logs.iter().map(|log| (log - mean).abs()).fold(0.0, f64::max);
            self.mean_distance = mean.exp();
            if self.residual < config.tolerance || self.sweeps >= config.max_sweeps {
                return Ok(());
            }
            (best, since) =
                if self.residual < best { (self.residual, 0) } else { (best, since + 1) };
            if since == 5 {
                (alpha, since) = (0.5 * alpha, 0);
            }
            for (delta, log) in self.log_delta.iter_mut().zip(logs) {
                *delta -= 0.5 * alpha * (log - mean);
            }
            self.sweeps += 1;
            progress.advance(1);
        }
    }
}

/// How many candidates a point gets for `k` neighbours.
pub(super) fn candidate_count(k: usize) -> usize {
    (16 * k).max(256)
}

/// Each point's nearest by distances that earlier factors corrected, and beyond which distance nobody
/// was looked at.
pub(super) struct Candidates {
    lists: Vec<Vec<(usize, f64)>>,
    // Of the corrected distance without the point's own factor; infinite where all are candidates.
    beyond: Vec<f64>,
    log_delta: Vec<f64>,
}

impl Candidates {
    pub(super) fn nearest<T: Number>(
        points: &Points<T>,
        log_delta: Option<&[f64]>,
        count: usize,
    ) -> Result<Self> {
        let log_delta = log_delta.map_or_else(|| vec![0.0; points.rows()], <[f64]>::to_vec);
        let all = count + 1 >= points.rows();
        let delta: Vec<f64> = log_delta.iter().map(|log| log.exp()).collect();
        let found = points.map_distances(points, |i, distances| {
            let others = distances.iter().enumerate().filter(|(m, _)| *m != i);
            let list = least(others.map(|(m, d)| (m, d * delta[m])), count);
            let beyond = list.last().map_or(f64::INFINITY, |(_, corrected)| *corrected);
            let list: Vec<_> = list.into_iter().map(|(m, _)| (m, distances[m])).collect();
            (list, if all { f64::INFINITY } else { beyond })
        })?;
        let (lists, beyond) = found.into_iter().unzip();
        Ok(Self { lists, beyond, log_delta })
    }

    /// How far the logarithm of each point's factor lies above the mean of its `k` nearest's, in
    /// corrected distance.
    pub(super) fn departures(&self, log_delta: &[f64], k: usize) -> Vec<f64> {
        let delta: Vec<f64> = log_delta.iter().map(|log| log.exp()).collect();
        let departure = |(i, list): (usize, &Vec<(usize, f64)>)| {
            let nearest = least(list.iter().map(|(m, d)| (*m, d * delta[*m])), k);
            log_delta[i] - mean_log(&nearest, log_delta)
        };
        self.lists.iter().enumerate().map(departure).collect()
    }

    // The logarithm of each point's mean corrected distance to its k nearest.
    fn log_means(&self, log_delta: &[f64], k: usize) -> Result<Vec<f64>> {
        let delta: Vec<f64> = log_delta.iter().map(|log| log.exp()).collect();
        let mean = |(i, list): (usize, &Vec<(usize, f64)>)| {
            let (mean, _) = mean_and_last(list.iter().map(|(m, d)| d * delta[*m]), k);
            if mean == 0.0 {
                return Err(Error::input(format!("the row has {k} or more copies of itself"))
                    .at_row(i as u64 + 1)
                    .help("leave copies out, or take more neighbours"));
            }
            Ok(mean.ln() + log_delta[i])
        };
        self.lists.iter().enumerate().map(mean).collect()
    }

    // Whether nobody who was left out can be among the k nearest under these factors.
    fn suffice(&self, log_delta: &[f64], k: usize) -> bool {
        let shrinks = log_delta.iter().zip(&self.log_delta).map(|(now, then)| now - then);
        let shrink = shrinks.fold(f64::INFINITY, f64::min).exp();
        self.lists.iter().zip(&self.beyond).all(|(list, beyond)| {
            let (_, last) = mean_and_last(list.iter().map(|(m, d)| d * log_delta[*m].exp()), k);
            beyond * shrink >= last
        })
    }
}

/// The mean logarithm of these points' factors.
pub(super) fn mean_log(points: &[(usize, f64)], log_delta: &[f64]) -> f64 {
    points.iter().map(|(m, _)| log_delta[*m]).sum::<f64>() / points.len() as f64
}
