//! `metier man`: manual pages.

use crate::shell::Shell;
use metier_core::{Error, Result, files};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write a manual page for each verb
#[derive(clap::Args)]
#[command(after_help = "Example:\n  metier man --out ~/.local/share/man/man1")]
pub struct Args {
    /// The folder to write to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Writes `metier.1`, `metier-evidence.1` and so on.
pub fn run(args: &Args, shell: &Shell) -> Result<ExitCode> {
    let mut command = crate::cli::plain_command();
    command.build();
    write(&command, "metier", &args.out, shell)?;
    Ok(ExitCode::SUCCESS)
}

fn write(command: &clap::Command, name: &str, folder: &Path, shell: &Shell) -> Result<()> {
    let path = folder.join(format!("{name}.1"));
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.to_owned()))
        .render(&mut page)
        .map_err(|error| Error::io(&path, error))?;
    files::write_bytes(&path, &page)?;
    shell.print(path.display())?;
    for verb in command.get_subcommands() {
        write(verb, &format!("{name}-{}", verb.get_name()), folder, shell)?;
    }
    Ok(())
}
