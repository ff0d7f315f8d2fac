//! `metier score validate`: judges a checklist on a table that it was not learnt from.

use super::OutcomeArgs;
use crate::shell::Shell;
use clap::Args;
use metier_core::{Result, files};
use metier_data::read;
use metier_decision::agentscore::{Checklist, Reference};
use std::path::PathBuf;

/// What to judge on.
#[derive(Args)]
pub struct ValidateArgs {
    /// The saved score
    score: PathBuf,
    /// The table
    table: PathBuf,
    #[command(flatten)]
    outcome: ValidateOutcome,
    /// Another score to compare with: points per column in JSON, or a saved score
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Write a page with the ROC curve, the calibration, the decision curve and what missing columns cost
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// What was predicted; the column of the fit unless given.
#[derive(Args)]
struct ValidateOutcome {
    /// The column that was predicted [default: as in the fit]
    #[arg(long, value_name = "COLUMN")]
    outcome: Option<String>,
    /// For a time to event: the column of the time
    #[arg(long, value_name = "COLUMN", requires = "horizon")]
    horizon_time: Option<String>,
    /// The horizon
    #[arg(long, value_name = "TIME", requires = "horizon_time")]
    horizon: Option<f64>,
    /// For a time to event: the column of the event
    #[arg(long, value_name = "COLUMN", conflicts_with = "outcome")]
    event: Option<String>,
}

pub fn run(args: &ValidateArgs, shell: &Shell) -> Result<()> {
    let checklist = Checklist::read(&args.score)?;
    let table = read::frame(&args.table)?;
    let given = &args.outcome;
    let outcome = OutcomeArgs {
        outcome: given
            .outcome
            .clone()
            .or_else(|| given.event.is_none().then(|| checklist.config.outcome.clone())),
        event: given.event.clone(),
        horizon_time: given.horizon_time.clone(),
        horizon: given.horizon,
    };
    let (table, y, _) = outcome.labelled(&table, shell)?;
    let mut validation = checklist.validate(&table, &y)?;
    if let Some(path) = &args.compare {
        validation = validation.beside(&checklist, &Reference::read(path)?, &table, &y)?;
    }
    if let Some(path) = &args.report {
        files::write_bytes(path, validation.to_html(&checklist).as_bytes())?;
        shell.say(path.display());
    }
    if shell.json() {
        return shell.print_json(&validation);
    }
    let v = &validation;
    let mut text = format!(
        "{} rows, {} cases\n\nAUROC {:.3} ({:.3} to {:.3}), {:.3} on the rows that it was learnt from\n\
         Brier score {:.3}, observed over expected {:.2}\n",
        v.rows,
        v.cases,
        v.auroc,
        v.auroc_interval[0],
        v.auroc_interval[1],
        checklist.training.auroc,
        v.brier,
        v.observed_over_expected
    );
    if let Some(other) = &v.comparison {
        text += &format!(
            "{}: AUROC {:.3}; difference {:+.3} ({:+.3} to {:+.3})\n",
            other.name, other.auroc, other.difference, other.interval[0], other.interval[1]
        );
    }
    text += &format!("\nAt {} or more points:\n", checklist.theta);
    for estimate in &v.at_line {
        text += &format!(
            "  {:<26} {:.3} ({:.3} to {:.3})\n",
            estimate.name, estimate.value, estimate.interval[0], estimate.interval[1]
        );
    }
    text += "\n  points   rows   stated   seen\n";
    for row in &v.calibration {
        text += &format!(
            "  {:>6} {:>6} {:>8.3} {:>6.3} ({:.3} to {:.3})\n",
            row.points, row.rows, row.predicted, row.observed, row.interval[0], row.interval[1]
        );
    }
    text += "\n  act at risk   net benefit   of acting on all\n";
    for point in v.decision_curve.iter().filter(|point| {
        [0.05, 0.1, 0.2, 0.3, 0.5].iter().any(|t| (t - point.threshold).abs() < 1e-9)
    }) {
        text +=
            &format!("  {:>11.2} {:>13.3} {:>18.3}\n", point.threshold, point.checklist, point.all);
    }
    text += "\n  columns missing   AUROC\n";
    for at in &v.missing {
        text += &format!(
            "  {:>15} {:>7.3} ({:.3} to {:.3})\n",
            at.columns, at.auroc, at.least, at.most
        );
    }
    for (reason, rows) in &v.blind {
        shell.warn(format_args!("{reason} in {rows} rows; its items are false there"));
    }
    shell.print(text.trim_end())
}
