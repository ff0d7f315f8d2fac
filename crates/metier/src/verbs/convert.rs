//! `metier convert`: a checkpoint of another program as a Hugging Face folder.

use crate::shell::Shell;
use metier_core::{Error, Result};
use metier_nn::model::convert_llama2c;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Turn a llama2.c checkpoint into a Hugging Face folder
///
/// Reads version 0 of the format (float32, no magic number) and writes config.json,
/// model.safetensors and, given the tokenizer.bin that belongs to it, tokenizer.json. The rows of
/// the query and key maps change places, because the two formats rotate different pairs of them.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  \
    metier convert stories260K.bin --tokenizer tok512.bin --out stories260K\n  \
    metier generate --model stories260K --prompt 'Once upon a time'")]
pub struct Args {
    /// The checkpoint
    #[arg(value_name = "FILE")]
    checkpoint: PathBuf,
    /// The tokenizer.bin that belongs to it
    #[arg(long, value_name = "FILE")]
    tokenizer: Option<PathBuf>,
    /// The folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Summary<'a> {
    folder: &'a Path,
    layers: usize,
    width: usize,
    vocabulary: usize,
}

/// Converts, and prints what the folder holds.
pub fn run(args: &Args, shell: &Shell) -> Result<ExitCode> {
    let config = args.out.join("config.json");
    if config.exists() {
        return Err(Error::usage("this folder holds a model already")
            .in_file(&args.out)
            .help("give another --out, or remove the folder"));
    }
    let config = convert_llama2c(&args.checkpoint, args.tokenizer.as_deref(), &args.out)?;
    let summary = Summary {
        folder: &args.out,
        layers: config.layers,
        width: config.hidden,
        vocabulary: config.vocabulary,
    };
    if shell.json() {
        shell.print_json(&summary)?;
    } else {
        shell.print(format_args!(
            "{}: a Llama of {} layers, {} wide, with {} tokens",
            args.out.display(),
            summary.layers,
            summary.width,
            summary.vocabulary
        ))?;
        if args.tokenizer.is_none() {
            shell.say("no tokenizer.json was written; --tokenizer takes a tokenizer.bin");
        }
    }
    Ok(ExitCode::SUCCESS)
}
