//! `metier methods`: what the program knows, and what each of it is for.

use crate::methods::methods;
use crate::shell::Shell;
use metier_core::Result;
use std::process::ExitCode;

/// List the methods: what each does, where it was published, and its command
#[derive(clap::Args)]
#[command(after_help = "Example:\n  metier methods --format json")]
pub struct Args {}

/// Prints one block, or one JSON object, per method.
pub fn run(_args: &Args, shell: &Shell) -> Result<ExitCode> {
    for (i, method) in methods().iter().enumerate() {
        let card = method.card();
        if shell.json() {
            shell.print_json(card)?;
            continue;
        }
        let gap = if i == 0 { "" } else { "\n" };
        shell.print(format_args!(
            "{gap}{}  {}\n  to {}\n  $ {}\n  {}\n  shown on {} ({})",
            card.id, card.name, card.job, card.command, card.paper, card.data, card.data_licence
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
