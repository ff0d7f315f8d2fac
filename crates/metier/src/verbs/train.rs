//! `metier train`: a language model from scratch, or on from a checkpoint.

mod lock;
mod optimizer;
mod settings;

use crate::shell::Shell;
use crate::text;
use metier_core::{Error, Result};
use metier_nn::LanguageModel;
use metier_nn::corpus::{LoaderConfig, TokenBatches, read_corpus};
use metier_nn::device;
use metier_nn::model::{Decoder, DecoderConfig};
use metier_nn::tokenizer::Tokenizer;
use metier_nn::train::{Batches, CheckpointStore, TrainReport, Trainable, Trainer, preset};
use metier_train::olion::Grouped;
use serde::Serialize;
use settings::{Choices, Settings};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Train a language model on your own text
///
/// Reads a text file, a folder of .txt files or a token file, holds a tenth of it out, and trains a
/// GPT-2 or Llama. The run's folder gets metrics.jsonl, loss.svg and checkpoints that are Hugging
/// Face folders. A run that was stopped or killed goes on with `--resume`; on one thread it ends
/// with the same bits as one that was left alone.
#[derive(clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    metier train --data novel.txt --out run\n  \
    metier train --model gpt2-mini --data texts/ --tokenizer bpe:4096 --optimizer olion \\\n      \
    --lr 3e-3 --steps 2000 --batch 16 --context 256 --out run\n  \
    metier train --resume --out run"
)]
pub struct Args {
    /// The folder of the run
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Go on with the run in that folder, with its own settings where none are given
    #[arg(long)]
    resume: bool,
    /// Take the model from the checkpoint, but start the optimizer afresh
    #[arg(long, requires = "resume")]
    reset_optimizer: bool,
    #[command(flatten)]
    choices: Choices,
}

/// Trains, and prints where the model is.
pub fn run(args: &Args, shell: &Shell) -> Result<ExitCode> {
    // Whoever goes on with a run must read what it left only once nobody else writes there.
    let held =
        if args.resume && Settings::exist(&args.out) { Some(lock::hold(&args.out)?) } else { None };
    let mut settings = Settings::of(&args.out, args.resume, &args.choices)?;
    let config = settings.train_config();
    config.validate()?;
    let (matrix, aux) = optimizer::kinds(&settings)?;
    let policy = optimizer::policy(&settings)?;

    let checkpoint = if args.resume { CheckpointStore::new(&args.out).latest()? } else { None };
    let mut model = match &checkpoint {
        Some(folder) => LanguageModel::read(folder, &device::parse(&settings.device)?)?,
        None => fresh_model(&settings, shell)?,
    };
    settings.fit(model.config())?;
    let mut optimizer = Grouped::by_role(&model.parameters(), &policy, &matrix, &aux)?;
    let data = settings.data_path()?;
    let corpus = read_corpus(&data, model.tokenizer(), shell.progress())?;
    settings.meet(&corpus)?;
    let loader = |tokens, seed| {
        let LoaderConfig { batch, context, shuffle, .. } = settings.loader(model.config());
        TokenBatches::new(tokens, LoaderConfig { batch, context, seed, shuffle })
            .map_err(|error| error.in_file(&data))
    };
    let mut training = loader(corpus.train, settings.seed)?;
    // Shuffled too, or the first texts alone would judge; the same for every run.
    let mut held_out = if config.eval_every > 0 { Some(loader(corpus.held_out, 0)?) } else { None };

    let groups = optimizer.table();
    let held_out = held_out.as_mut().map(|batches| batches as &mut dyn Batches<Batch = _>);
    let mut trainer = Trainer::new(&mut model, &mut optimizer, &mut training, held_out, config)?;
    match (&checkpoint, args.resume) {
        (Some(_), _) => trainer.resume(&args.out, args.reset_optimizer)?,
        (None, true) => shell.say("no checkpoint was saved yet: starting from the beginning"),
        (None, false) => {}
    }
    // Everything that can be wrong from the start has been looked at: the run begins to exist.
    let _held = match held {
        Some(held) => held,
        None => lock::hold(&args.out)?,
    };
    settings.write(&args.out)?;
    shell.say(groups);
    let report = trainer.run(Some(&args.out), shell.progress());
    shell.clear();
    print(&report?, &args.out, shell)?;
    Ok(ExitCode::SUCCESS)
}

/// The model that the settings name: a checkpoint's folder, a `config.json` or a preset.
fn fresh_model(settings: &Settings, shell: &Shell) -> Result<LanguageModel> {
    let device = device::parse(&settings.device)?;
    let path = Path::new(&settings.model);
    let tokenizer = match &settings.tokenizer {
        Some(name) => text::tokenizer(name, &settings.data_path()?, shell.progress())?,
        None if path.join("tokenizer.json").exists() => Tokenizer::named(&settings.model)?,
        None => Tokenizer::Bytes,
    };
    if path.is_dir() {
        let decoder = Decoder::read(path, &device)?;
        let vocabulary = decoder.config().vocabulary;
        if settings.tokenizer.is_none()
            && tokenizer.vocabulary() != vocabulary
            && !path.join("tokenizer.json").exists()
        {
            return Err(Error::usage(format!(
                "the checkpoint has no tokenizer.json for its vocabulary of {vocabulary}"
            ))
            .in_file(path)
            .help("name the tokenizer that it was trained with: --tokenizer FILE"));
        }
        return LanguageModel::of(decoder, tokenizer);
    }
    let config = if path.extension().is_some_and(|ending| ending == "json") {
        DecoderConfig::read(path)?
    } else {
        preset(&settings.model, tokenizer.vocabulary(), settings.context.unwrap_or(128))?
    };
    LanguageModel::random(&config, tokenizer, settings.seed, &device)
}

#[derive(Serialize)]
struct Summary<'a> {
    steps: u64,
    loss: Option<f64>,
    held_out_loss: Option<f64>,
    checkpoint: Option<&'a Path>,
    metrics: PathBuf,
    curves: PathBuf,
}

fn print(report: &TrainReport, out: &Path, shell: &Shell) -> Result<()> {
    let summary = Summary {
        steps: report.steps,
        loss: report.loss,
        held_out_loss: report.held_out_loss,
        checkpoint: report.checkpoint.as_deref(),
        metrics: out.join("metrics.jsonl"),
        curves: out.join("loss.svg"),
    };
    if shell.json() {
        return shell.print_json(&summary);
    }
    let loss = |name: &str, loss: Option<f64>| {
        loss.map(|loss| format!(", {name} {loss:.4}")).unwrap_or_default()
    };
    shell.print(format_args!(
        "{} steps{}{}",
        report.steps,
        loss("loss", report.loss),
        loss("held-out loss", report.held_out_loss)
    ))?;
    let folder = report
        .checkpoint
        .as_deref()
        .ok_or_else(|| Error::internal("a run that ended has no checkpoint").in_file(out))?;
    shell.print(format_args!("model    {}", folder.display()))?;
    shell.print(format_args!("curves   {}", summary.curves.display()))
}
