//! The command-line program: one verb per job. It parses, calls the libraries, and prints.

mod cli;
mod flags;
mod methods;
mod shell;
mod text;
mod verbs;

use std::process::ExitCode;

// A training step gives back what it used and takes as much again. The system's allocator returns large
// pieces to the kernel in between, which then clears them page by page.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
