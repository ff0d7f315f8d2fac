//! `metier score apply`: scores the rows of a table.

use crate::shell::Shell;
use clap::Args;
use metier_core::Result;
use metier_data::{Column, Values, read, write};
use metier_decision::agentscore::Checklist;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What to score.
#[derive(Args)]
pub struct ApplyArgs {
    /// The saved score
    score: PathBuf,
    /// The table
    table: PathBuf,
    /// The table with the columns points, risk and decision [default: CSV or lines of JSON on standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub fn run(args: &ApplyArgs, shell: &Shell) -> Result<()> {
    let checklist = Checklist::read(&args.score)?;
    let table = read::frame(&args.table)?;
    let points = checklist.score(&table)?;
    for (reason, rows) in checklist.blind_spots(&table) {
        shell.warn(format_args!("{reason} in {rows} rows; its items are false there"));
    }
    let numbers = |value: &dyn Fn(u8) -> f64| points.iter().map(|&p| value(p)).collect();
    let reached = |p: u8| f64::from(u8::from(usize::from(p) >= checklist.theta));
    let scored = table
        .with(Column::number("points", numbers(&|p| f64::from(p))))?
        .with(Column::number("risk", numbers(&|p| checklist.risk.at(p))))?
        .with(Column::number("decision", numbers(&reached)))?;
    let reached = points.iter().filter(|&&p| usize::from(p) >= checklist.theta).count();
    match &args.out {
        Some(path) => {
            write::frame(path, &scored)?;
            if shell.json() {
                return shell.print_json(&json!({
                    "rows": points.len(),
                    "reached": reached,
                    "theta": checklist.theta,
                    "file": path,
                }));
            }
            shell.say(format_args!(
                "{reached} of {} rows reach {} points; written to {}",
                points.len(),
                checklist.theta,
                path.display()
            ));
            Ok(())
        }
        None if shell.json() => (0..scored.height())
            .try_for_each(|row| shell.print_json(&Row { columns: scored.columns(), row })),
        None => write::frame(Path::new("-"), &scored),
    }
}

// One row as an object, in the order of the columns; what is missing, or no number to JSON, is null.
struct Row<'a> {
    columns: &'a [Column],
    row: usize,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().map(|column| {
            let value = match &column.values {
                Values::Number(values) => number(values[self.row]),
                Values::Text(values) => Value::from(values[self.row].as_deref()),
            };
            (&column.name, value)
        }))
    }
}

// Points are 3 rather than 3.0.
fn number(value: f64) -> Value {
    let whole = value.fract() == 0.0 && value.abs() < 9e15;
    if whole { Value::from(value as i64) } else { Value::from(value) }
}
