//! Factors of generated points from real ones alone, the filter against giving all of them a place,
//! and the scores in corrected distances.
//!
//! The first two steps are the paper's; of its filter only the purpose is known to us, and this one is
//! our own.

use super::fidelity::{Fidelity, corrected};
use super::icdm::{Candidates, Icdm, IcdmConfig, candidate_count, mean_log};
use super::neighbours::least;
use super::points::{Number, Points};
use metier_core::{Error, Progress, Result};
use serde::{Deserialize, Serialize};

/// How distances are corrected and scores are taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GicdmConfig {
    /// How the factors are found that correct the distances.
    pub icdm: IcdmConfig,
    /// The numbers of neighbours at which a generated point's factor has to suit its place; those of
    /// a quarter of the real points or more are left out. Empty for no filter.
    pub scales: Vec<usize>,
    /// The share of real points beyond each of a scale's two bounds.
    pub quantile: f64,
    /// Neighbours that a neighbourhood reaches to.
    pub neighbours: usize,
}

impl Default for GicdmConfig {
    fn default() -> Self {
        Self {
            icdm: IcdmConfig::default(),
            scales: vec![5, 10, 20, 50],
            quantile: 0.03,
            neighbours: 5,
        }
    }
}

/// A real set with its factors and bounds, ready to score generated ones.
#[derive(Clone, Debug)]
pub struct Gicdm<T> {
    real: Points<T>,
    config: GicdmConfig,
    icdm: Icdm,
    scales: Vec<ScaleBounds>,
    pass_real: f64,
}

// What a factor may depart from its neighbours' at one number of them.
#[derive(Clone, Debug)]
struct ScaleBounds {
    k: usize,
    icdm: Icdm,
    low: f64,
    high: f64,
}

/// What the correction makes of one generated point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The logarithm of its factor.
    pub log_delta: f64,
    /// How far that of each scale lies above the mean of its neighbours'.
    pub departures: Vec<f64>,
    /// Whether every departure is as a real point's.
    pub accepted: bool,
    /// Whether it equals a real point; then it has that one's factor and is accepted.
    pub copy: bool,
    /// The nearest real point, counted from 0.
    pub nearest: usize,
    /// The distance to it.
    pub distance: f64,
}

/// Scores of a generated set in plain and in corrected distances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// In plain distances.
    pub raw: Fidelity,
    /// In corrected distances, points that the filter rejects at infinity.
    pub corrected: Fidelity,
    /// Corrected precision over the share of real points that pass, at most 1.
    pub precision: f64,
    /// Corrected density over the same share, at most 1.
    pub density: f64,
    /// Corrected coverage.
    pub coverage: f64,
    /// The share of generated points that the filter accepts.
    pub accepted: f64,
    /// How many generated points equal a real one.
    pub copies: usize,
}

impl<T: Number> Gicdm<T> {
    /// Learns the factors and bounds of a real set.
    ///
    /// # Errors
    /// What [`IcdmConfig::validate`] refuses, a quantile outside [0, 0.5), a scale of 0, a point with
    /// too many copies, or an interruption.
    pub fn fit(real: Points<T>, config: &GicdmConfig, progress: &dyn Progress) -> Result<Self> {
        let n = real.rows();
        config.icdm.validate(n)?;
        if !(0.0..0.5).contains(&config.quantile) {
            let message = format!("quantile is {}, where 0 to 0.5 is meant", config.quantile);
            return Err(Error::usage(message).in_field("quantile"));
        }
        if config.scales.contains(&0) {
            return Err(Error::usage("a scale of 0 neighbours is given").in_field("scales"));
        }
        let ks: Vec<usize> = config.scales.iter().copied().filter(|s| 4 * s < n).collect();
        let most = ks.iter().copied().fold(config.icdm.k, usize::max);
        let shared = Candidates::nearest(&real, None, candidate_count(most))?;
        let (icdm, _) = Icdm::from_candidates(&real, &shared, &config.icdm, progress)?;
        let mut passes = vec![true; n];
        let mut scales = Vec::new();
        for k in ks {
            let of_scale = IcdmConfig { k, ..config.icdm.clone() };
            let (icdm, own) = Icdm::from_candidates(&real, &shared, &of_scale, progress)?;
            let departures = own.as_ref().unwrap_or(&shared).departures(&icdm.log_delta, k);
            let mut sorted = departures.clone();
            sorted.sort_by(f64::total_cmp);
            let low = quantile(&sorted, config.quantile);
            let high = quantile(&sorted, 1.0 - config.quantile);
            for (pass, departure) in passes.iter_mut().zip(departures) {
                *pass &= (low..=high).contains(&departure);
            }
            scales.push(ScaleBounds { k, icdm, low, high });
        }
        let pass_real = passes.iter().filter(|pass| **pass).count() as f64 / n as f64;
        Ok(Self { real, config: config.clone(), icdm, scales, pass_real })
    }

    /// The factors of the real points.
    pub fn icdm(&self) -> &Icdm {
        &self.icdm
    }

    /// Whether the sweeps of every scale reached their tolerance.
    pub fn converged(&self) -> bool {
        let of_scales = self.scales.iter().map(|scale| &scale.icdm);
        std::iter::once(&self.icdm).chain(of_scales).all(|icdm| icdm.converged(&self.config.icdm))
    }

    /// How many columns points have.
    pub fn columns(&self) -> usize {
        self.real.columns()
    }

    /// How far a point lies beyond the bounds, at the scale where that is furthest: above 0 where it
    /// is closer to the real points than they are to one another, as points near their mean are, below
    /// 0 where it is too far, 0 for a point within.
    pub fn excess(&self, sample: &Sample) -> f64 {
        let beyond = sample.departures.iter().zip(&self.scales).map(|(departure, scale)| {
            (departure - scale.high).max(0.0) + (departure - scale.low).min(0.0)
        });
        beyond.fold(0.0, |most, excess| if excess.abs() > f64::abs(most) { excess } else { most })
    }

    /// The share of real points that pass every scale.
    pub fn pass_real(&self) -> f64 {
        self.pass_real
    }

    /// What the correction makes of each generated point; no point's depends on the others.
    ///
    /// # Errors
    /// Another number of columns or metric than the real points'.
    pub fn samples(&self, generated: &Points<T>) -> Result<Vec<Sample>> {
        let delta: Vec<f64> = self.icdm.log_delta.iter().map(|log| log.exp()).collect();
        let scale_deltas: Vec<Vec<f64>> = self
            .scales
            .iter()
            .map(|scale| scale.icdm.log_delta.iter().map(|log| log.exp()).collect())
            .collect();
        generated.map_distances(&self.real, |_, distances| {
            let (nearest, distance) = least(distances.iter().copied().enumerate(), 1)
                .first()
                .copied()
                .unwrap_or_default();
            let copy = distance == 0.0;
            // A copy is judged by its original's neighbours, as the original is.
            let others = || distances.iter().enumerate().filter(|(i, _)| !(copy && *i == nearest));
            let placed = |icdm: &Icdm, delta: &[f64], k: usize| {
                let near = least(others().map(|(i, d)| (i, delta[i] * d)), k);
                let mean = near.iter().map(|(_, d)| d).sum::<f64>() / near.len() as f64;
                let log = if copy {
                    icdm.log_delta[nearest]
                } else {
                    icdm.mean_distance.ln() - mean.ln()
                };
                (log, log - mean_log(&near, &icdm.log_delta))
            };
            let (log_delta, _) = placed(&self.icdm, &delta, self.config.icdm.k);
            let scales = self.scales.iter().zip(&scale_deltas);
            let departures: Vec<f64> =
                scales.map(|(scale, delta)| placed(&scale.icdm, delta, scale.k).1).collect();
            let within = departures
                .iter()
                .zip(&self.scales)
                .all(|(departure, scale)| (scale.low..=scale.high).contains(departure));
            Sample { log_delta, departures, accepted: within || copy, copy, nearest, distance }
        })
    }

    /// The scores of a generated set.
    ///
    /// # Errors
    /// Those of [`samples`](Self::samples), too few generated points, or an interruption.
    pub fn score(&self, generated: &Points<T>, progress: &dyn Progress) -> Result<Scores> {
        let k = self.config.neighbours;
        let raw = super::fidelity(&self.real, generated, k, progress)?;
        let samples = self.samples(generated)?;
        let factor = |sample: &Sample| {
            if sample.accepted { sample.log_delta.exp() } else { f64::INFINITY }
        };
        let real_factors: Vec<f64> = self.icdm.log_delta.iter().map(|log| log.exp()).collect();
        let factors: Vec<f64> = samples.iter().map(factor).collect();
        let corrected = corrected(&self.real, generated, k, &real_factors, &factors, progress)?;
        let normalised = |score: f64| (score / self.pass_real.max(f64::MIN_POSITIVE)).min(1.0);
        let accepted = samples.iter().filter(|sample| sample.accepted).count();
        Ok(Scores {
            raw,
            precision: normalised(corrected.precision),
            density: normalised(corrected.density),
            coverage: corrected.coverage,
            corrected,
            accepted: accepted as f64 / samples.len() as f64,
            copies: samples.iter().filter(|sample| sample.copy).count(),
        })
    }
}

// Between the two values around the place, by their distance from it.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let (low, part) = (at.floor() as usize, at.fract());
    let next = sorted[(low + 1).min(sorted.len() - 1)];
    sorted[low] + part * (next - sorted[low])
}
