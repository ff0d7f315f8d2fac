//! `metier score`: bedside checklists.

use crate::shell::Shell;
use clap::{Args, Subcommand, ValueEnum};
use metier_core::{Error, Result, files};
use metier_data::{Column, Frame, read, write};
use metier_decision::agentscore::{
    Checklist, Config, Dictionary, LlmConfig, Origin, Reference, Selector, Source, Tau, Threshold,
    checks, cross_validate, fit_with,
};
use std::path::PathBuf;
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
    Fit(Box<FitArgs>),
    /// Score the rows of a table: points, risk and decision beside its columns
    #[command(after_help = "Example:\n  metier score apply score.json ward.csv --out scored.csv")]
    Apply(ApplyArgs),
    /// Print the bedside card
    #[command(after_help = "Example:\n  metier score card score.json --as pdf --out card.pdf")]
    Card(CardArgs),
    /// Judge a checklist on a table that it was not learnt from
    #[command(
        after_help = "Example:\n  metier score validate score.json other.csv --compare npi.json --report report.html"
    )]
    Validate(ValidateArgs),
    /// Say why each rule was kept or refused
    #[command(after_help = "Example:\n  metier score audit score.json --kept")]
    Audit(AuditArgs),
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

/// How rules are proposed, checked and chosen.
#[derive(Args)]
pub struct FitArgs {
    /// The table: CSV, TSV, Parquet or JSONL; - is CSV from standard input
    table: PathBuf,
    #[command(flatten)]
    outcome: OutcomeArgs,
    /// How many items at most
    #[arg(long, default_value_t = 6, value_name = "N")]
    rules: usize,
    /// Where rules come from
    #[arg(long, value_enum, default_value_t = OriginFlag::Data)]
    proposer: OriginFlag,
    /// Rules of an expert or of an existing score, for the proposers file and mixed
    #[arg(long, value_name = "FILE")]
    rules_file: Option<PathBuf>,
    /// Labels, units, steps, directions and deployability of the columns, in YAML
    #[arg(long, value_name = "FILE")]
    dictionary: Option<PathBuf>,
    /// The column that tells whose rows belong together
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,
    /// Use a column although it looks like a leak or an identifier
    #[arg(long, value_name = "COLUMN")]
    allow: Vec<String>,
    /// Leave a column out
    #[arg(long, value_name = "COLUMN")]
    drop: Vec<String>,
    /// Go on with fewer than ten events per class
    #[arg(long)]
    force: bool,
    /// How rules are chosen
    #[arg(long, value_enum, default_value_t = Choose::Beam)]
    select: Choose,
    /// What the action line is for: youden, f1, sensitivity=0.9, ppv=0.5 or net-benefit=ODDS
    #[arg(long, default_value = "youden", value_parser = objective, value_name = "GOAL")]
    objective: Threshold,
    /// The least AUROC of a rule [default: 0.60, or lower where few rules reach it]
    #[arg(long, value_name = "AUROC")]
    tau: Option<f64>,
    /// The greatest similarity of two rules
    #[arg(long, default_value_t = 0.95, value_name = "J")]
    rho: f64,
    /// How deep `and` and `or` may nest; 0 for none
    #[arg(long, default_value_t = 1, value_name = "N")]
    depth: u8,
    /// How many items may ask about one column
    #[arg(long, default_value_t = 2, value_name = "N")]
    max_per_feature: usize,
    /// Folds of the cross-validation that says what to expect; 0 for none
    #[arg(long, default_value_t = 5, value_name = "N")]
    folds: usize,
    /// The saved score
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    seed: crate::flags::Seed,
}

/// The language model, for the proposers llm and mixed.
#[derive(Args)]
#[command(next_help_heading = "Language model")]
struct ModelArgs {
    /// An OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// The model's name there
    #[arg(long, default_value = "local", value_name = "NAME")]
    model: String,
    /// The environment variable that holds the key, where the endpoint wants one
    #[arg(long, default_value = "METIER_API_KEY", value_name = "NAME")]
    key_variable: String,
    /// Who the patients are and what is to be predicted, in a sentence
    #[arg(long, default_value = "", value_name = "TEXT")]
    task: String,
    /// How many calls at most
    #[arg(long, default_value_t = 220, value_name = "N")]
    calls: usize,
    /// Write the session down
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Answer from a recorded session, and from nowhere else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["endpoint", "record"])]
    replay: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OriginFlag {
    /// The data: quantiles, categories, and pairs of the best
    Data,
    /// A language model
    Llm,
    /// A file of rules
    File,
    /// The data, and the file and the model where given
    Mixed,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choose {
    Beam,
    Greedy,
    Exact,
    Mip,
    Llm,
}

fn objective(text: &str) -> std::result::Result<Threshold, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => {
            (name, Some(value.parse::<f64>().map_err(|_| format!("`{value}` is no number"))?))
        }
        None => (text, None),
    };
    match (name, value) {
        ("youden", None) => Ok(Threshold::Youden),
        ("f1", None) => Ok(Threshold::F1),
        ("sensitivity", Some(share)) => Ok(Threshold::Sensitivity(share)),
        ("ppv", Some(share)) => Ok(Threshold::Ppv(share)),
        ("net-benefit", Some(odds)) => Ok(Threshold::NetBenefit(odds)),
        _ => Err("it is one of youden, f1, sensitivity=0.9, ppv=0.5, net-benefit=0.25".into()),
    }
}

/// What to score.
#[derive(Args)]
pub struct ApplyArgs {
    /// The saved score
    score: PathBuf,
    /// The table
    table: PathBuf,
    /// The table with the columns points, risk and decision [default: CSV on standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

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
    /// Write a page with the ROC curve, the calibration and the decision curve
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

/// What to list.
#[derive(Args)]
pub struct AuditArgs {
    /// The saved score
    score: PathBuf,
    /// Only rules that were kept
    #[arg(long, conflicts_with = "refused")]
    kept: bool,
    /// Only rules that were refused
    #[arg(long)]
    refused: bool,
}

/// Carries out one of the commands.
pub fn run(command: &Command, shell: &Shell) -> Result<ExitCode> {
    match command {
        Command::Fit(args) => learn(args, shell)?,
        Command::Apply(args) => apply(args, shell)?,
        Command::Card(args) => card(args, shell)?,
        Command::Validate(args) => validate(args, shell)?,
        Command::Audit(args) => audit(args, shell)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn learn(args: &FitArgs, shell: &Shell) -> Result<()> {
    let table = read::frame(&args.table)?;
    let (mut table, y, outcome) = args.outcome.labelled(&table, shell)?;
    for name in &args.drop {
        table.column(name)?;
    }
    if !args.drop.is_empty() {
        let kept: Vec<String> = table
            .names()
            .filter(|name| !args.drop.iter().any(|gone| gone == name))
            .map(str::to_owned)
            .collect();
        let names: Vec<&str> = kept.iter().map(String::as_str).collect();
        table = table.select(&names)?;
    }
    let mut config = Config {
        m: args.rules,
        depth: args.depth,
        max_per_feature: args.max_per_feature,
        objective: args.objective,
        outcome: args.outcome.column(),
        group: args.group.clone(),
        allow: args.allow.clone(),
        force: args.force,
        seed: args.seed.seed,
        selector: match args.select {
            Choose::Beam => Selector::Beam,
            Choose::Greedy => Selector::Greedy,
            Choose::Exact => Selector::Exact,
            Choose::Mip => Selector::Mip,
            Choose::Llm => Selector::Llm,
        },
        ..Config::default()
    };
    config.screening.rho = args.rho;
    if let Some(tau) = args.tau {
        config.screening.tau = Tau::Fixed(tau);
    }
    if let Some(path) = &args.dictionary {
        config.dictionary = Dictionary::read(path)?;
    }
    let source = source(args);
    let mut proposer = source.open(args.depth)?;
    let mut checklist = fit_with(&table, &y, &mut *proposer, &config, shell.progress())?;
    checklist.outcome = outcome;
    for warning in &checklist.warnings {
        shell.warn(warning);
    }
    // A recorded or paid session is not repeated for every fold.
    if args.folds > 0 && !source.asks_a_model() {
        let mut fresh = |_| source.open(args.depth);
        let honest = cross_validate(&table, &y, &mut fresh, &config, args.folds, shell.progress())?;
        checklist.honest = Some(honest);
    } else if source.asks_a_model() {
        shell.say("not cross-validated: that would ask the model anew for every fold");
    }
    if let Some(path) = &args.out {
        checklist.write(path)?;
    }
    if shell.json() {
        shell.print_json(&checklist)
    } else {
        shell.print(checklist.to_text().trim_end())
    }
}

fn source(args: &FitArgs) -> Source {
    let model = &args.model;
    Source {
        origin: match args.proposer {
            OriginFlag::Data => Origin::Data,
            OriginFlag::Llm => Origin::Llm,
            OriginFlag::File => Origin::File,
            OriginFlag::Mixed => Origin::Mixed,
        },
        rules: args.rules_file.clone(),
        endpoint: model.endpoint.clone(),
        key_variable: model.key_variable.clone(),
        record: model.record.clone(),
        replay: model.replay.clone(),
        llm: LlmConfig {
            model: model.model.clone(),
            task: model.task.clone(),
            calls: model.calls,
            ..LlmConfig::default()
        },
    }
}

fn apply(args: &ApplyArgs, shell: &Shell) -> Result<()> {
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
    match &args.out {
        Some(path) => {
            write::frame(path, &scored)?;
            let acted = points.iter().filter(|&&p| usize::from(p) >= checklist.theta).count();
            shell.say(format_args!(
                "{acted} of {} rows reach {} points; written to {}",
                points.len(),
                checklist.theta,
                path.display()
            ));
            Ok(())
        }
        None => {
            let mut text = scored.names().map(quoted).collect::<Vec<_>>().join(",");
            let columns: Vec<_> = scored.columns().iter().map(Column::labels).collect();
            for row in 0..scored.height() {
                let cells = columns.iter().map(|c| quoted(c[row].as_deref().unwrap_or("")));
                text.push('\n');
                text += &cells.collect::<Vec<_>>().join(",");
            }
            shell.print(text)
        }
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn card(args: &CardArgs, shell: &Shell) -> Result<()> {
    let checklist = Checklist::read(&args.score)?;
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

fn validate(args: &ValidateArgs, shell: &Shell) -> Result<()> {
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
    for (reason, rows) in &v.blind {
        shell.warn(format_args!("{reason} in {rows} rows; its items are false there"));
    }
    shell.print(text.trim_end())
}

fn audit(args: &AuditArgs, shell: &Shell) -> Result<()> {
    let checklist = Checklist::read(&args.score)?;
    let shown = checklist
        .audit
        .iter()
        .filter(|verdict| (!args.kept || verdict.kept) && (!args.refused || !verdict.kept));
    if shell.json() {
        for verdict in shown {
            shell.print_json(verdict)?;
        }
        return Ok(());
    }
    let value = |auroc: Option<f64>| auroc.map_or("    -".into(), |auroc| format!("{auroc:.3}"));
    let mut text = String::from("AUROC  confirmed  rule");
    for verdict in shown {
        let chosen = checklist.items.iter().any(|item| item.rule == verdict.rule);
        let reason = if chosen { "on the card" } else { &verdict.reason };
        text += &format!(
            "\n{}      {}  {}: {reason}",
            value(verdict.construction),
            value(verdict.validation),
            verdict.rule.words(&checklist.dictionary)
        );
    }
    for (name, reason) in &checklist.excluded {
        text += &format!("\n    -          -  every rule about {name}: {reason}");
    }
    shell.print(text)
}
