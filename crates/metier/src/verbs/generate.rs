//! `metier generate`: text from a language model.

use crate::shell::Shell;
use metier_core::Result;
use metier_nn::device;
use metier_nn::generate::{GenerateConfig, generate};
use metier_nn::model::Decoder;
use metier_nn::tokenizer::Tokenizer;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Let a language model go on with a text
///
/// The model is a Hugging Face folder, such as a checkpoint of `metier train`. Without a temperature
/// the most likely token is always taken.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    metier generate --model run/checkpoints/step-00001000 --prompt 'The sea'\n  \
    metier generate --model stories260K --temperature 0.8 --top-p 0.95 --seed 3 --tokens 200")]
pub struct Args {
    /// A Hugging Face folder in the GPT-2 or Llama layout, with its tokenizer.json
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// The text to go on with; nothing where the tokenizer starts a text by itself
    #[arg(long, value_name = "TEXT", default_value = "")]
    prompt: String,
    /// The most tokens to generate
    #[arg(long, value_name = "N", default_value_t = 128)]
    tokens: usize,
    /// Divides the scores before a token is drawn; 0 takes the best
    #[arg(long, value_name = "T", default_value_t = 0.0)]
    temperature: f64,
    /// Draw from this many of the best tokens; 0 for all
    #[arg(long, value_name = "K", default_value_t = 0)]
    top_k: usize,
    /// Draw from the best tokens that together reach this probability
    #[arg(long, value_name = "P", default_value_t = 1.0)]
    top_p: f64,
    /// Seed of the draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Where the model runs: cpu, cuda:N or wgpu
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
}

#[derive(Serialize)]
struct Generated<'a> {
    prompt: &'a str,
    text: String,
    ids: Vec<u32>,
}

/// Generates, and prints the prompt with what follows.
pub fn run(args: &Args, shell: &Shell) -> Result<ExitCode> {
    let mut config = GenerateConfig {
        tokens: args.tokens,
        temperature: args.temperature,
        top_k: args.top_k,
        top_p: args.top_p,
        stop: Vec::new(),
        seed: args.seed,
    };
    config.validate()?;
    let tokenizer = Tokenizer::read(&args.model.join("tokenizer.json"))?;
    config.stop = tokenizer.ends();
    let decoder = Decoder::read(&args.model, &device::parse(&args.device)?)?;
    let prompt = tokenizer.encode(&args.prompt)?;
    let progress = shell.progress();
    progress.begin("generating", Some(args.tokens as u64));
    let ids = generate(&decoder, &prompt, &config, progress);
    progress.finish();
    shell.clear();
    let ids = ids?;
    let all: Vec<u32> = prompt.iter().chain(&ids).copied().collect();
    let text = tokenizer.decode(&all)?;
    if shell.json() {
        shell.print_json(&Generated { prompt: &args.prompt, text, ids })?;
    } else {
        shell.print(text)?;
    }
    Ok(ExitCode::SUCCESS)
}
