//! The command-line program: one verb per job. It parses, calls the libraries, and prints.

mod cli;
mod flags;
mod methods;
mod picture;
mod shell;
mod text;
mod verbs;

use metier_nn::allocator::{self, Allocator};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    allocator::keep_freed_memory();
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
