//! Pictures: the spectrum beside its formulas, a bank of kernels, what steps keep, a history given
//! back.

use super::bank::Bank;
use super::baselines::s4d_inv;
use super::legs::{asymptotic_omega, legs_spectrum};
use super::memory::Memory;
use super::step::StepCoverage;
use metier_core::evidence::{Axes, HeatMap, Line};
use metier_core::{Error, Figure, Plot, Result};
use ndarray::{ArrayView1, Axis};

/// The frequencies of N states by rank, with the two-term formula and the S4D-Inv rule beside.
///
/// # Errors
/// No states, or too many.
pub fn spectrum_figure(n: usize) -> Result<Figure> {
    let exact = legs_spectrum(n)?.omega;
    let rule = s4d_inv(n);
    // What a logarithmic scale shows, and no formula's own breakdown.
    let least = exact.iter().copied().filter(|w| *w > 0.0).fold(1.0, f64::min);
    let curve = |name: &str, value: &dyn Fn(usize) -> f64| {
        let values = (0..exact.len()).map(|j| ((j + 1) as f64, value(j)));
        let (rank, value) = values.filter(|(_, value)| *value >= 0.3 * least).unzip();
        Line::new(name, rank, value)
    };
    let lines = vec![
        curve("exact", &|j| exact[j]),
        curve("two terms", &|j| asymptotic_omega(n, j, 2)),
        curve("S4D-Inv", &|j| rule[j]),
    ];
    let axes = Axes::new("rank of the frequency", "frequency").log_x().log_y();
    Ok(Figure::new("spectrum", "Frequencies of the HiPPO matrix", Plot::Lines { axes, lines })
        .caption(format!(
            "N = {n}. The two-term formula follows the top of the spectrum, and falls below 0 where it \
             thickens like 1 / ln N."
        )))
}

/// The kernels of a bank, one row per state.
pub fn kernel_figure(bank: &Bank) -> Figure {
    // More columns than a picture has room for say nothing.
    let every = bank.lags().div_ceil(400);
    let row = |row: ArrayView1<'_, f64>| row.iter().step_by(every).copied().collect();
    let label = if every == 1 { "samples ago".into() } else { format!("{every} samples ago") };
    let map = HeatMap {
        x_label: label,
        y_label: "state".into(),
        value_label: "kernel".into(),
        values: bank.values().rows().into_iter().map(row).collect(),
        signed: true,
        ..HeatMap::default()
    };
    Figure::new("kernels", "What each state holds of the past", Plot::HeatMap(map))
        .caption(format!("{} states over {} samples.", bank.states(), bank.lags()))
}

/// The share of the variance that is kept, by step.
pub fn coverage_figure(steps: &[StepCoverage]) -> Figure {
    let (dt, kept) = steps.iter().map(|step| (step.dt, step.coverage)).unzip();
    let lines = vec![Line::new("kept", dt, kept)];
    let axes = Axes::new("dt, scaled time per sample", "share of the variance").log_x();
    Figure::new("coverage", "What the states keep, by step", Plot::Lines { axes, lines })
        .caption("Deviations from the mean, as seen from the last sample back.")
}

/// The last samples of a sequence, as many as the bank has lags, and what states of them give back: of
/// their deviations from their mean, with a band of one standard error of an input without structure.
///
/// # Errors
/// A sequence of no samples or fewer than the bank has lags, or with a value that is not finite.
pub fn reconstruction_figure(bank: &Bank, sequence: ArrayView1<'_, f64>) -> Result<Figure> {
    let (samples, lags) = (sequence.len(), bank.lags());
    if samples < lags {
        return Err(Error::input(format!("{samples} samples are fewer than {lags} lags")));
    }
    let recent = sequence.split_at(Axis(0), samples - lags).1;
    let mean = recent.mean().unwrap_or(0.0);
    let deviations = recent.mapv(|value| value - mean).insert_axis(Axis(0));
    let memory = Memory::of(bank)?;
    let state = bank.last_state(deviations.view())?;
    let found = memory.reconstruct(&state.row(0).to_vec())?;
    let variance = deviations.iter().map(|value| value * value).sum::<f64>() / lags as f64;
    let error =
        memory.r_squared().into_iter().map(|share| (variance * (1.0 - share).max(0.0)).sqrt());
    let error: Vec<f64> = error.collect();
    let age: Vec<f64> = (0..lags).map(|m| -(m as f64)).collect();
    let around = |sign: f64| -> Vec<f64> {
        found.iter().zip(&error).map(|(value, error)| mean + value + sign * error).collect()
    };
    let mut given = Line::new("from the states", age.clone(), around(0.0));
    (given.low, given.high) = (around(-1.0), around(1.0));
    let past = recent.iter().rev().copied().collect();
    let lines = vec![given, Line::new("the sequence", age, past)];
    let axes = Axes::new("samples from the last", "value");
    let kept = memory.coverage(deviations.view())?;
    Ok(Figure::new("reconstruction", "The past from the states", Plot::Lines { axes, lines })
        .caption(format!(
            "{} states give back {:.1} % of the variance of the last {lags} samples. The band is one \
             standard error for an input without structure.",
            bank.states(),
            100.0 * kept
        )))
}
