//! `metier score`: bedside checklists.

mod apply;
mod audit;
mod card;
mod fit;
mod validate;

use crate::shell::Shell;
use clap::{Args, Subcommand};
use metier_core::{Error, Result};
use metier_data::Frame;
use metier_decision::agentscore::checks;
use std::process::ExitCode;

/// Learn, use, print and check a score of a few yes/no items, one point each
#[derive(Subcommand)]
#[command(
    after_help = "Example:\n  metier score fit cohort.csv --outcome death --out score.json\n  metier score card score.json\n  metier score apply score.json ward.csv --out scored.csv"
)]
pub enum Command {
    /// Learn a checklist from a table
    #[command(
        after_help = "Example:\n  metier score fit cohort.csv --outcome death --rules 6 --out score.json\n  metier score fit trial.csv --event cens --horizon-time time --horizon 1095 --out score.json"
    )]
    Fit(Box<fit::FitArgs>),
    /// Score the rows of a table: points, risk and decision beside its columns
    #[command(after_help = "Example:\n  metier score apply score.json ward.csv --out scored.csv")]
    Apply(apply::ApplyArgs),
    /// Print the bedside card
    #[command(after_help = "Example:\n  metier score card score.json --as pdf --out card.pdf")]
    Card(card::CardArgs),
    /// Judge a checklist on a table that it was not learnt from
    #[command(
        after_help = "Example:\n  metier score validate score.json other.csv --compare npi.json --report report.html"
    )]
    Validate(validate::ValidateArgs),
    /// Say why each rule was kept or refused
    #[command(after_help = "Example:\n  metier score audit score.json --kept")]
    Audit(audit::AuditArgs),
}

/// Carries out one of the commands.
pub fn run(command: &Command, shell: &Shell) -> Result<ExitCode> {
    match command {
        Command::Fit(args) => fit::run(args, shell)?,
        Command::Apply(args) => apply::run(args, shell)?,
        Command::Card(args) => card::run(args, shell)?,
        Command::Validate(args) => validate::run(args, shell)?,
        Command::Audit(args) => audit::run(args, shell)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What is predicted.
#[derive(Args)]
struct OutcomeArgs {
    /// The column to predict, 0 or 1
    #[arg(long, value_name = "COLUMN", required_unless_present = "event")]
    outcome: Option<String>,
    /// For a time to event: the column that is 1 where the event was seen
    #[arg(long, value_name = "COLUMN", requires = "horizon_time", conflicts_with = "outcome")]
    event: Option<String>,
    /// For a time to event: the column of the time to it, or to the end of follow-up
    #[arg(long, value_name = "COLUMN", requires = "horizon")]
    horizon_time: Option<String>,
    /// The event up to this time is a case; whoever left before it is left out
    #[arg(long, value_name = "TIME", requires = "horizon_time")]
    horizon: Option<f64>,
}

impl OutcomeArgs {
    // The rows that have a label, without the columns that hold it; the labels; what it is called.
    fn labelled(&self, table: &Frame, shell: &Shell) -> Result<(Frame, Vec<u8>, String)> {
        let without = |gone: &[&str]| {
            let kept: Vec<&str> = table.names().filter(|name| !gone.contains(name)).collect();
            table.select(&kept)
        };
        let event = self.event.as_ref().or(self.outcome.as_ref());
        match (event, &self.horizon_time, self.horizon) {
            (Some(event), Some(time), Some(horizon)) => {
                let (rows, y) = checks::at_horizon(table, event, time, horizon)?;
                if rows.len() < table.height() {
                    shell.say(format_args!(
                        "{} rows were not followed to {time} = {horizon} and are left out",
                        table.height() - rows.len()
                    ));
                }
                let name = format!("{event} within {time} {horizon}");
                Ok((without(&[event, time])?.take(&rows), y, name))
            }
            (Some(outcome), ..) => {
                Ok((without(&[outcome])?, checks::labels(table, outcome)?, outcome.clone()))
            }
            (None, ..) => {
                Err(Error::usage("what is to be predicted?").help("give --outcome COLUMN"))
            }
        }
    }

    fn column(&self) -> String {
        self.event.clone().or_else(|| self.outcome.clone()).unwrap_or_default()
    }
}
