//! How far back a linear readout of the states sees white noise.

use super::super::baselines::Baseline;
use super::super::{Basis, Memory, kernel_figure};
use super::arms::Arm;
use metier_core::evidence::{Axes, Line};
use metier_core::{Bar, Cell, Claim, Figure, Finding, Lab, Plot, Result, Table};

const STATES: usize = 64;
const SAMPLES: usize = 512;
const LEVELS: [f64; 2] = [0.9, 0.8];

// How far a memory sees, with which step, and its shares of variance there.
struct Reach {
    samples: usize,
    dt: f64,
    shares: Vec<f64>,
}

pub(super) fn recall(lab: &Lab, finding: &mut Finding) -> Result<()> {
    let arms = [
        Arm::Limit(Basis::Nodes),
        Arm::Limit(Basis::Legendre),
        Arm::Limit(Basis::Spectral),
        Arm::Known(Baseline::Legs),
        Arm::Known(Baseline::Legt),
        Arm::Known(Baseline::Lagt),
        Arm::Known(Baseline::Fourier),
        Arm::Known(Baseline::S4dLegs),
        Arm::Known(Baseline::S4dInv),
        Arm::Known(Baseline::S4dLin),
        Arm::Known(Baseline::Random),
    ];
    let mut table = Table::new(
        format!("Samples back without a gap that {STATES} states give, white noise, best step"),
        ["memory", "R² of 0.9", "its step", "R² of 0.8", "its step"],
    );
    let mut reaches = Vec::new();
    let mut lines = Vec::new();
    lab.progress.begin("recall", Some(arms.len() as u64));
    for arm in arms {
        let mut best = LEVELS.map(|_| Reach { samples: 0, dt: f64::NAN, shares: Vec::new() });
        for dt in arm.steps(STATES, SAMPLES, lab.pick(40, 120)) {
            lab.progress.check()?;
            let memory = Memory::of(&arm.bank(STATES, dt, SAMPLES, lab.seed)?)?;
            for (best, level) in best.iter_mut().zip(LEVELS) {
                let samples = memory.reach(level);
                if best.shares.is_empty() || samples > best.samples {
                    *best = Reach { samples, dt, shares: memory.r_squared() };
                }
            }
        }
        let cells = best.iter().flat_map(|b| [b.samples.into(), Cell::number(b.dt, 4)]);
        table.row(std::iter::once(arm.name().into()).chain(cells));
        let [Reach { samples, shares, .. }, _] = best;
        let shown = [
            Arm::Limit(Basis::Nodes),
            Arm::Limit(Basis::Legendre),
            Arm::Known(Baseline::Legs),
            Arm::Known(Baseline::Fourier),
        ];
        if shown.contains(&arm) {
            let delays = (0..150).map(f64::from).collect();
            lines.push(Line::new(arm.name(), delays, shares[..150].to_vec()));
        }
        reaches.push((arm, samples as f64));
        lab.progress.advance(1);
    }
    lab.progress.finish();
    finding.tables.push(table);
    let (ours, others): (Vec<_>, Vec<_>) =
        reaches.into_iter().partition(|(arm, _)| matches!(arm, Arm::Limit(_)));
    let most = |of: &[(Arm, f64)]| of.iter().map(|(_, reach)| *reach).fold(0.0, f64::max);
    // In doubt from the start: no longest memory was found for the limit.
    finding.claims.push(Claim {
        id: "longest-memory".into(),
        statement: "The limit remembers white noise longer than every other memory".into(),
        metric: format!("samples back without a gap with R² of 0.9, {STATES} states, best step"),
        ours: [most(&ours)].into(),
        baseline: [most(&others)].into(),
        bar: Bar::MeanAtLeast(1.0),
        gate: false,
    });
    finding.notes.push(
        "S4D-Lin repeats itself after a time of 2, faded by 1/e: what it holds of any sample is at most \
         1 - e⁻², or 0.865, of the variance. That is why it has nothing at 0.9, whatever its step."
            .into(),
    );
    let axes = Axes::new("delay in samples", "R² of the best linear readout");
    finding.figures.push(
        Figure::new("recall", "How far back the states see", Plot::Lines { axes, lines }).caption(
            format!("{STATES} states, white noise, each memory at the step that reaches furthest."),
        ),
    );
    finding.figures.push(kernel_figure(&Arm::Limit(Basis::Legendre).bank(16, 1.0, 160, 0)?));
    Ok(())
}
