//! The step of a layer, chosen by how much of real sequences its states keep.

use super::continuized::{Continuized, ContinuizedConfig};
use super::memory::Memory;
use metier_core::{Progress, Result};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use serde::Serialize;

/// Longer sequences are seen through windows of this length.
pub const WINDOW: usize = 1024;
// At most so many of them.
const WINDOWS: usize = 64;

/// A step, and the share of the sequences' variance that the states determine with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepCoverage {
    /// Scaled time per sample.
    pub dt: f64,
    /// The share, between 0 and 1.
    pub coverage: f64,
}

/// What 25 steps, log-uniformly from 0.01 to `states² / 8`, keep of these sequences: of their
/// deviations from the mean of all, seen from the last sample back. Long sequences are cut into
/// windows of [`WINDOW`] samples. `config.dt` is not looked at.
///
/// # Errors
/// What [`ContinuizedConfig::validate`] refuses, a sequence of no samples or with a value that is not
/// finite, or an interruption.
pub fn coverage_by_step(
    config: &ContinuizedConfig,
    u: ArrayView2<'_, f64>,
    progress: &dyn Progress,
) -> Result<Vec<StepCoverage>> {
    const STEPS: usize = 25;
    ContinuizedConfig { dt: 1.0, ..config.clone() }.validate()?;
    super::bank::check_sequences(u)?;
    let windows = windows(u);
    let highest = ((config.states * config.states) as f64 / 8.0).max(0.1);
    progress.begin("choosing dt", Some(STEPS as u64));
    let found = (0..STEPS)
        .into_par_iter()
        .map(|i| {
            progress.check()?;
            let dt = 0.01 * (highest / 0.01).powf(i as f64 / (STEPS - 1) as f64);
            let layer = Continuized::new(&ContinuizedConfig { dt, ..config.clone() })?;
            let memory = Memory::of(&layer.bank(windows.ncols())?)?;
            let coverage = memory.coverage(windows.view())?;
            progress.advance(1);
            Ok(StepCoverage { dt, coverage })
        })
        .collect();
    progress.finish();
    found
}

/// The step that keeps the most.
pub fn best_step(steps: &[StepCoverage]) -> Option<StepCoverage> {
    steps.iter().copied().max_by(|a, b| a.coverage.total_cmp(&b.coverage))
}

fn windows(u: ArrayView2<'_, f64>) -> Array2<f64> {
    let mean = u.mean().unwrap_or(0.0);
    let (batch, samples) = u.dim();
    let length = samples.min(WINDOW);
    let per_row = samples / length;
    let all = batch * per_row;
    let taken = all.min(WINDOWS);
    // Evenly over all there are, each row cut from its end.
    Array2::from_shape_fn((taken, length), |(i, t)| {
        let window = i * all / taken;
        let (row, back) = (window / per_row, window % per_row);
        u[[row, samples - (back + 1) * length + t]] - mean
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_core::Silent;

    #[test]
    fn slow_sequences_want_small_steps() {
        let wave = |period: f64| {
            Array2::from_shape_fn((4, 400), |(i, t)| {
                (t as f64 / period * std::f64::consts::TAU + i as f64).sin()
                    * (-(400.0 - t as f64) / (4.0 * period)).exp()
            })
        };
        let best = |period| {
            let config = ContinuizedConfig { states: 8, ..Default::default() };
            let steps = coverage_by_step(&config, wave(period).view(), &Silent).unwrap();
            assert!(steps.iter().all(|s| (0.0..=1.0 + 1e-9).contains(&s.coverage)));
            best_step(&steps).unwrap()
        };
        let (fast, slow) = (best(8.0), best(80.0));
        assert!(slow.coverage > fast.coverage, "{fast:?} {slow:?}");
        assert!(fast.dt > 3.0 * slow.dt, "{fast:?} {slow:?}");
    }

    #[test]
    fn long_sequences_are_cut_into_windows() {
        let u = Array2::from_shape_fn((1, 3000), |(_, t)| t as f64);
        let cut = windows(u.view());
        assert_eq!(cut.dim(), (2, 1024));
        assert_eq!(cut[[0, 1023]], 2999.0 - 1499.5);
        assert_eq!(cut[[1, 1023]], 2999.0 - 1024.0 - 1499.5);
        assert_eq!(windows(Array2::zeros((200, 10)).view()).dim(), (64, 10));
    }
}
