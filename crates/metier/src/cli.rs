//! What the program understands: the global flags, the verbs, and the grouped list of them.

use crate::flags::Format;
use crate::shell::Shell;
use crate::verbs;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use metier_core::Result;
use std::process::ExitCode;

/// Machine-learning methods as tools, each with the experiment that shows whether it works.
#[derive(Parser)]
#[command(name = "metier", version, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub verb: Verb,
}

/// Flags that every verb has.
#[derive(Args)]
pub struct Global {
    /// Threads to work with [default: one per core]
    #[arg(long, global = true, value_name = "N", help_heading = "Everywhere")]
    pub threads: Option<usize>,
    /// How results are printed: text for people, json for programs, one object per line
    #[arg(long, global = true, value_enum, default_value_t, help_heading = "Everywhere")]
    pub format: Format,
    /// Print results and errors only
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub quiet: bool,
}

// One line per verb: the file under `verbs/` of that name holds the rest.
#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "parsed once")]
pub enum Verb {
    Evidence(verbs::evidence::Args),
    Methods(verbs::methods::Args),
    #[command(subcommand)]
    Slepian(verbs::slepian::Command),
    #[command(subcommand)]
    Hippo(verbs::hippo::Command),
    #[command(subcommand)]
    Gicdm(verbs::gicdm::Command),
    #[command(subcommand)]
    Score(verbs::score::Command),
    Train(verbs::train::Args),
    Generate(verbs::generate::Args),
    Convert(verbs::convert::Args),
    Tokenize(verbs::tokenize::Args),
    #[command(subcommand)]
    Optim(verbs::optim::Command),
    #[command(subcommand)]
    Data(verbs::data::Command),
    Completions(verbs::completions::Args),
    Man(verbs::man::Args),
}

impl Verb {
    pub fn run(&self, shell: &Shell) -> Result<ExitCode> {
        match self {
            Verb::Evidence(args) => verbs::evidence::run(args, shell),
            Verb::Methods(args) => verbs::methods::run(args, shell),
            Verb::Slepian(command) => verbs::slepian::run(command, shell),
            Verb::Hippo(command) => verbs::hippo::run(command, shell),
            Verb::Gicdm(command) => verbs::gicdm::run(command, shell),
            Verb::Score(command) => verbs::score::run(command, shell),
            Verb::Train(args) => verbs::train::run(args, shell),
            Verb::Generate(args) => verbs::generate::run(args, shell),
            Verb::Convert(args) => verbs::convert::run(args, shell),
            Verb::Tokenize(args) => verbs::tokenize::run(args, shell),
            Verb::Optim(command) => verbs::optim::run(command, shell),
            Verb::Data(command) => verbs::data::run(command, shell),
            Verb::Completions(args) => verbs::completions::run(args, shell),
            Verb::Man(args) => verbs::man::run(args, shell),
        }
    }
}

// The verbs by who needs them, in the order of the help page.
const GROUPS: [(&str, &[&str]); 5] = [
    ("See that it works", &["evidence", "methods"]),
    ("Analyse data", &["slepian", "hippo", "gicdm"]),
    ("Decide", &["score"]),
    ("Train models", &["train", "generate", "tokenize", "convert", "optim"]),
    ("Get and keep things", &["data", "completions", "man"]),
];

/// The whole command line, with its verbs listed by group.
pub fn command() -> clap::Command {
    let command = Cli::command();
    let jobs = grouped(&command);
    command
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{jobs}{{all-args}}\n\n\
         `metier VERB --help` explains a verb and shows a command that works.\n"
        ))
        // The grouped list stands in for clap's own, which takes the verb out of the usage too.
        .override_usage("metier VERB [OPTIONS]")
        .mut_subcommands(|verb| verb.hide(true))
}

/// The command line without the grouped list, for completions and manual pages.
pub fn plain_command() -> clap::Command {
    Cli::command()
}

/// Parses the arguments of this process; wrong usage ends it with status 2 and an explanation.
pub fn parse() -> Cli {
    Cli::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit())
}

fn grouped(command: &clap::Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        let verbs: Vec<_> = names.iter().filter_map(|name| command.find_subcommand(name)).collect();
        if verbs.is_empty() {
            continue;
        }
        text += &format!("{title}:\n");
        for verb in verbs {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            text += &format!("  {:<12} {about}\n", verb.get_name());
        }
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_verb_is_listed_once_and_shows_an_example() {
        for verb in Cli::command().get_subcommands() {
            let name = verb.get_name();
            let listed =
                GROUPS.iter().flat_map(|(_, names)| *names).filter(|other| **other == name);
            assert_eq!(listed.count(), 1, "`{name}` in GROUPS");
            let example = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(example.contains(&format!("metier {name}")), "`{name}` shows no example");
        }
    }
}
