//! `metier completions`: scripts that complete commands in a shell.

use crate::shell::Shell;
use metier_core::Result;
use std::process::ExitCode;

/// Print a script that completes metier's commands in your shell
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  metier completions bash > ~/.local/share/bash-completion/completions/metier"
)]
pub struct Args {
    /// The shell to complete in
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Prints the script.
pub fn run(args: &Args, shell: &Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::cli::plain_command(), "metier", &mut script);
    shell.print_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
