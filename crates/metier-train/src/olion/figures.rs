//! The pictures of the experiment, and of any comparison of optimizers.

use super::compare::RunResult;
use super::evidence::Runs;
use metier_core::evidence::{Axes, Figure, Line, Plot, Points};

/// The pictures of any comparison: what [`compare`](super::compare) returned, for these seeds and
/// learning rates.
pub fn comparison_figures(runs: &[RunResult], seeds: &[u64], rates: &[f32]) -> Vec<Figure> {
    all(&Runs { results: runs, seeds }, rates)
}

/// Loss curves, loss over learning rates, and the weights in the plane of the two norms.
pub(super) fn all(runs: &Runs<'_>, rates: &[f32]) -> Vec<Figure> {
    let mut rates = rates.to_vec();
    rates.sort_by(f32::total_cmp);
    rates.dedup();
    vec![curves(runs), robustness(runs, &rates), norms(runs)]
}

/// The optimizers in the order of their first run.
fn optimizers<'a>(runs: &Runs<'a>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for run in runs.results {
        if !names.contains(&run.optimizer.as_str()) {
            names.push(&run.optimizer);
        }
    }
    names
}

fn curves(runs: &Runs<'_>) -> Figure {
    let line = |name: &str| {
        let best: Vec<&RunResult> =
            runs.best(name).into_iter().filter(|run| run.loss().is_finite()).collect();
        let x: Vec<f64> = best.first()?.tokens.iter().map(|tokens| *tokens as f64).collect();
        let losses: Vec<Vec<f64>> = best.iter().map(|run| run.held_out.clone()).collect();
        losses.iter().all(|run| run.len() == x.len()).then(|| Line::over_seeds(name, x, &losses))
    };
    Figure::new(
        "olion-loss",
        "Held-out loss along the run",
        Plot::Lines {
            axes: Axes::new("tokens seen", "held-out loss (nats per token)"),
            lines: optimizers(runs).into_iter().filter_map(line).collect(),
        },
    )
    .caption("Each optimizer at its best learning rate for each seed; bands from the best seed to the worst.")
}

fn robustness(runs: &Runs<'_>, rates: &[f32]) -> Figure {
    let line = |name: &str| {
        let tried: Vec<(f32, Vec<f64>)> = rates
            .iter()
            .map(|lr| (*lr, runs.at(name, *lr).iter().map(|run| run.loss()).collect()))
            .filter(|(_, losses): &(f32, Vec<f64>)| {
                !losses.is_empty() && losses.iter().all(|loss| loss.is_finite())
            })
            .collect();
        let x = tried.iter().map(|(lr, _)| f64::from(*lr)).collect();
        let seeds = tried.iter().map(|(_, losses)| losses.len()).min().unwrap_or(0);
        let by_seed: Vec<Vec<f64>> =
            (0..seeds).map(|s| tried.iter().map(|(_, losses)| losses[s]).collect()).collect();
        (!by_seed.is_empty()).then(|| Line::over_seeds(name, x, &by_seed))
    };
    Figure::new(
        "olion-learning-rates",
        "Final loss over learning rates",
        Plot::Lines {
            axes: Axes::new("learning rate", "held-out loss (nats per token)").log_x(),
            lines: optimizers(runs).into_iter().filter_map(line).collect(),
        },
    )
    .caption("A flat curve forgives a badly chosen rate. Bands from the best seed to the worst.")
}

fn norms(runs: &Runs<'_>) -> Figure {
    let points = |name: &str| {
        let mine =
            || runs.results.iter().filter(|run| run.optimizer == name && run.diverged.is_none());
        Points {
            name: name.to_owned(),
            x: mine().map(|run| run.largest).collect(),
            y: mine().map(|run| run.spectral).collect(),
        }
    };
    Figure::new(
        "olion-norms",
        "Where the weights end up",
        Plot::Scatter {
            axes: Axes::new("largest absolute weight", "spectral norm").log_x().log_y(),
            points: optimizers(runs).into_iter().map(points).collect(),
        },
    )
    .caption("One point per run, mean over hidden matrices. The paper's claim is that OLion keeps both small.")
}
