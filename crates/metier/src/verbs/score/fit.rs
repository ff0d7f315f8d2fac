//! `metier score fit`: learns a checklist.

use super::OutcomeArgs;
use crate::shell::Shell;
use clap::{Args, ValueEnum};
use metier_core::{Error, Result};
use metier_data::read;
use metier_decision::agentscore::{
    Checklist, Config, Dictionary, LlmConfig, Origin, Selector, Source, Tau, Threshold, by_items,
    cross_validate, fit_with,
};
use std::path::PathBuf;

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
    /// How many checklists the beam keeps at once
    #[arg(long, default_value_t = 10, value_name = "N")]
    beam: usize,
    /// How many of the best rules exact and mip choose from; the beam's own are added
    #[arg(long, default_value_t = 40, value_name = "N")]
    exact_pool: usize,
    /// How many checklists exact looks at before it settles for the best so far
    #[arg(long, default_value_t = 2_000_000, value_name = "N")]
    nodes: u64,
    /// How long mip may take, for each checklist learnt
    #[arg(long, default_value_t = 20.0, value_name = "SECONDS")]
    seconds: f64,
    /// Folds of the cross-validation that says what to expect; 0 for none
    #[arg(long, default_value_t = 5, value_name = "N")]
    folds: usize,
    /// Also cross-validate checklists of 1, 2, ... N items
    #[arg(long, value_name = "N")]
    by_items: Option<usize>,
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

/// Flags that would change nothing: whoever gives one expects something of it.
fn refuse_idle_flags(args: &FitArgs) -> Result<()> {
    use {Choose as C, OriginFlag as O};
    let (usual, usual_model) = (Config::default(), LlmConfig::default());
    let model = &args.model;
    let rules = matches!(args.proposer, O::File | O::Mixed);
    let asks = matches!(args.proposer, O::Llm | O::Mixed);
    let (a_file, a_model) = ("--proposer file or mixed", "--proposer llm or mixed");
    let select = args.select;
    let enumerates = matches!(select, C::Exact | C::Mip);
    for (flag, given, useful, with) in [
        ("--rules-file", args.rules_file.is_some(), rules, a_file),
        ("--endpoint", model.endpoint.is_some(), asks, a_model),
        ("--record", model.record.is_some(), asks, a_model),
        ("--replay", model.replay.is_some(), asks, a_model),
        ("--task", !model.task.is_empty(), asks, a_model),
        ("--calls", model.calls != usual_model.calls, asks, a_model),
        ("--beam", args.beam != usual.beam, select == C::Beam || enumerates, "--select beam"),
        ("--exact-pool", args.exact_pool != usual.exact_pool, enumerates, "--select exact or mip"),
        ("--nodes", args.nodes != usual.nodes, select == C::Exact, "--select exact"),
        ("--seconds", args.seconds != usual.seconds, select == C::Mip, "--select mip"),
    ] {
        if given && !useful {
            return Err(Error::usage("has no use here")
                .in_field(flag)
                .help(format!("it goes with {with}")));
        }
    }
    Ok(())
}

pub fn run(args: &FitArgs, shell: &Shell) -> Result<()> {
    if args.by_items.is_some() && (args.folds == 0 || source(args).asks_a_model()) {
        return Err(Error::usage("there are no folds to compare numbers of items on")
            .in_field("--by-items")
            .help("leave it out where nothing is cross-validated"));
    }
    refuse_idle_flags(args)?;
    let file = read::frame(&args.table)?;
    let (mut table, y, outcome) = args.outcome.labelled(&file, shell)?;
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
        beam: args.beam,
        exact_pool: args.exact_pool,
        nodes: args.nodes,
        seconds: args.seconds,
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
        // It may describe the whole file: the outcome too, and what was left out.
        config.dictionary.forget(file.names().filter(|name| table.column(name).is_err()));
    }
    let source = source(args);
    let mut proposer = source.open(args.depth)?;
    let mut checklist = fit_with(&table, &y, &mut *proposer, &config, shell.progress())?;
    checklist.outcome = outcome;
    for warning in &checklist.warnings {
        shell.warn(warning);
    }
    // Saved first: what follows takes a multiple of the time, and may be stopped.
    if let Some(path) = &args.out {
        checklist.write(path)?;
    }
    // A recorded or paid session is not repeated for every fold.
    if args.folds > 0 && !source.asks_a_model() {
        let (mut fresh, progress) = (|_| source.open(args.depth), shell.progress());
        let mut honest = cross_validate(&table, &y, &mut fresh, &config, args.folds, progress)?;
        if let Some(most) = args.by_items {
            honest.by_items =
                by_items(&table, &y, &mut fresh, &config, most, args.folds, progress)?;
        }
        checklist.honest = Some(honest);
        if let Some(path) = &args.out {
            checklist.write(path)?;
        }
    } else if source.asks_a_model() {
        shell.say("not cross-validated: that would ask the model anew for every fold");
    }
    if shell.json() {
        shell.print_json(&checklist)
    } else {
        shell.print(text(&checklist).trim_end())
    }
}

// The card, and what is of interest to who learnt it rather than at the bedside.
fn text(checklist: &Checklist) -> String {
    let mut text = checklist.to_text();
    if let Some(proof) = &checklist.proof {
        text += &format!("{proof}\n");
    }
    let by_items = checklist.honest.as_ref().map_or(&[][..], |honest| &honest.by_items);
    if !by_items.is_empty() {
        text += "\n  items at most   AUROC cross-validated\n";
    }
    for (place, auroc) in by_items.iter().enumerate() {
        text += &format!("  {:>13} {auroc:>23.3}\n", place + 1);
    }
    text
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
