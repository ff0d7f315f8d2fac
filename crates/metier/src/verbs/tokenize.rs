//! `metier tokenize`: text as a token file, once for many runs.

use crate::shell::Shell;
use crate::text::{text_path, tokenizer};
use metier_core::{Error, Result};
use metier_nn::corpus::write_corpus;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Turn text into a token file, once for many runs
///
/// Encodes a text file or a folder of .txt files into tokens.bin, with its tokenizer.json beside it. A
/// run maps that file into memory, so that a text may be larger than memory and is not encoded again.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    metier tokenize --data texts/ --tokenizer bpe:4096 --out tokens\n  \
    metier train --data tokens/tokens.bin --tokenizer tokens --out run")]
pub struct Args {
    /// A text file, a folder of .txt files, or a data set's name
    #[arg(long, value_name = "PATH")]
    data: String,
    /// byte, a tokenizer.json, or bpe:N to learn one of N tokens from the text
    #[arg(long, value_name = "TOKENIZER", default_value = "byte")]
    tokenizer: String,
    /// The folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Summary {
    file: PathBuf,
    tokenizer: PathBuf,
    tokens: usize,
    vocabulary: usize,
}

/// Encodes, and prints how many tokens there are.
pub fn run(args: &Args, shell: &Shell) -> Result<ExitCode> {
    let file = args.out.join("tokens.bin");
    if file.exists() {
        return Err(Error::usage("this folder holds a token file already")
            .in_file(&args.out)
            .help("give another --out, or remove the folder"));
    }
    let data = text_path(&args.data)?;
    let tokenizer = tokenizer(&args.tokenizer, &data, shell.progress())?;
    let summary = Summary {
        tokenizer: args.out.join("tokenizer.json"),
        vocabulary: tokenizer.vocabulary(),
        tokens: write_corpus(&data, &tokenizer, &file, shell.progress())?,
        file,
    };
    tokenizer.write(&summary.tokenizer)?;
    shell.clear();
    if shell.json() {
        shell.print_json(&summary)?;
    } else {
        shell.print(format_args!(
            "{}: {} tokens of a vocabulary of {}",
            summary.file.display(),
            summary.tokens,
            summary.vocabulary
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
