//! The command-line program: one verb per job. It parses, calls the libraries, and prints.

mod cli;
mod flags;
mod methods;
mod shell;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::parse();
    let shell = match shell::Shell::open(&cli.global) {
        Ok(shell) => shell,
        Err(error) => return shell::report(&error),
    };
    match cli.verb.run(&shell) {
        Ok(status) => status,
        Err(error) => {
            shell.clear();
            shell::report(&error)
        }
    }
}
