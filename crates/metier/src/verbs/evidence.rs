//! `metier evidence`: the experiments behind the methods, run here and now.

use crate::flags::{NamedPath, Seed};
use crate::methods::methods;
use crate::shell::{Shell, even_unread};
use clap::ValueEnum;
use metier_core::evidence::{self, Options, Outcome, Record, text};
use metier_core::{Error, Method, Result, Scale};
use metier_data::{names, registry};
use std::path::PathBuf;
use std::process::ExitCode;

/// Run the experiments behind the methods on this machine and judge their claims
///
/// Prints what was measured beside the bar that it had to clear, which was fixed beforehand, and
/// writes a page of figures that opens without a network.
///
/// Exit status: 0 every gating claim holds; 1 one falls short, or a method crashed; 2 wrong usage;
/// 3 something is missing, which is named with the command that gets it.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  metier evidence slepian --scale full --seed 1\n  \
                        metier evidence --format json > results.jsonl")]
pub struct Args {
    /// The methods to show; all when none is named (`metier methods` lists them)
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// How much to run: quick takes seconds, full takes minutes
    #[arg(long, value_enum, default_value_t = ScaleFlag::Quick)]
    scale: ScaleFlag,
    #[command(flatten)]
    seed: Seed,
    /// The folder for the page, its figures and its numbers
    #[arg(long, value_name = "DIR", default_value = "report")]
    out: PathBuf,
    /// Take a data set from this path instead of the cache; may be given several times
    #[arg(long, value_name = "NAME=PATH", num_args = 1..)]
    data: Vec<NamedPath>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ScaleFlag {
    Quick,
    Full,
}

/// Runs the experiments, prints each outcome as soon as it is there, and writes the page.
pub fn run(args: &Args, shell: &Shell) -> Result<ExitCode> {
    let chosen = choose(&methods(), &args.ids)?;
    let options = Options {
        scale: match args.scale {
            ScaleFlag::Quick => Scale::Quick,
            ScaleFlag::Full => Scale::Full,
        },
        seed: args.seed.seed,
        data: args.data.iter().map(named).collect::<Result<_>>()?,
        progress: shell.progress(),
    };
    let report = evidence::Report::create(&args.out)?;
    let outcomes = evidence::run(&chosen, &options, |outcome| print(outcome, shell))?;
    let page = report.write(&outcomes)?;
    if shell.json() {
        shell.say(page.display());
    } else {
        even_unread(shell.print(page.display()))?;
    }
    if outcomes.len() < chosen.len() {
        return Err(Error::interrupted());
    }
    Ok(ExitCode::from(evidence::exit_code(&outcomes)))
}

fn print(outcome: &Outcome, shell: &Shell) -> Result<()> {
    // The page and the exit code still tell whether the gates hold.
    even_unread(if shell.json() {
        shell.print_json(&Record::from(outcome))
    } else {
        shell.print(text::outcome(outcome))
    })?;
    if let Err(error) = &outcome.result {
        shell.complain(error);
    }
    Ok(())
}

fn choose(all: &[&'static dyn Method], ids: &[String]) -> Result<Vec<&'static dyn Method>> {
    if ids.is_empty() {
        return Ok(all.to_vec());
    }
    let mut chosen: Vec<&'static dyn Method> = Vec::new();
    for id in ids {
        let Some(method) = all.iter().find(|method| method.card().id == id) else {
            let known = all.iter().map(|method| method.card().id);
            return Err(Error::usage(format!("no method `{id}`")).help(names::suggest(
                id,
                known,
                "the methods are",
            )));
        };
        // A method named twice runs once.
        if !chosen.iter().any(|other| other.card().id == id) {
            chosen.push(*method);
        }
    }
    Ok(chosen)
}

fn named(data: &NamedPath) -> Result<(String, PathBuf)> {
    let path =
        registry::path(&data.name, Some(&data.path)).map_err(|error| error.in_field("--data"))?;
    Ok((data.name.clone(), path))
}
