//! `metier score card`: prints the bedside card.

use crate::shell::Shell;
use clap::{Args, ValueEnum};
use metier_core::{Error, Result, files};
use metier_decision::agentscore::Checklist;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What to print.
#[derive(Args)]
pub struct CardArgs {
    /// The saved score
    score: PathBuf,
    /// The form of the card
    #[arg(long = "as", value_enum, default_value_t = Form::Text)]
    form: Form,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Html,
    Svg,
    /// One page of A4
    Pdf,
    Markdown,
    /// A FHIR R4 Questionnaire
    Fhir,
}

pub fn run(args: &CardArgs, shell: &Shell) -> Result<()> {
    let checklist = Checklist::read(&args.score)?;
    // Results are JSON where JSON is asked for, and a picture is none.
    if shell.json() && args.out.is_none() {
        match args.form {
            Form::Text => return shell.print_json(&facts(&checklist)),
            Form::Fhir => {}
            _ => {
                return Err(Error::usage("this form of the card is no JSON")
                    .in_field("--format json")
                    .help("give --out FILE for the card, or leave --as out, or take --as fhir"));
            }
        }
    }
    let mut bytes = match args.form {
        Form::Text => checklist.to_text().into_bytes(),
        Form::Html => checklist.to_html().into_bytes(),
        Form::Svg => checklist.to_svg().into_bytes(),
        Form::Pdf => checklist.to_pdf().map_err(|error| error.in_file(&args.score))?,
        Form::Markdown => checklist.to_markdown().into_bytes(),
        Form::Fhir => checklist.to_fhir_questionnaire().into_bytes(),
    };
    match &args.out {
        Some(path) => {
            files::write_bytes(path, &bytes)?;
            if shell.json() {
                return shell.print_json(&json!({ "file": path }));
            }
            shell.say(path.display());
            Ok(())
        }
        None => {
            // One line break ends a text.
            if args.form != Form::Pdf {
                bytes.truncate(bytes.trim_ascii_end().len());
                bytes.push(b'\n');
            }
            shell.print_bytes(&bytes)
        }
    }
}

// What the card says.
fn facts(checklist: &Checklist) -> Value {
    let items: Vec<&str> = checklist.items.iter().map(|item| item.text.as_str()).collect();
    json!({
        "outcome": checklist.outcome,
        "items": items,
        "theta": checklist.theta,
        "risk": checklist.risk.rows,
        "rows": checklist.training.rows,
        "cases": checklist.training.cases,
        "auroc": checklist.training.auroc,
        "cross_validated": checklist.honest.as_ref().map(|honest| honest.auroc),
    })
}
