//! `metier optim`: which optimizer, and what an optimizer left behind.

use crate::flags::Seed;
use crate::shell::Shell;
use crate::text::{text_path, tokenizer};
use comfy_table::{Table, presets};
use metier_core::evidence::draw::{Size, Theme, svg};
use metier_core::evidence::{Figure, Histogram, Plot};
use metier_core::{Error, Result, files};
use metier_nn::corpus::read_corpus;
use metier_nn::model::{DecoderConfig, HostParameter, read_tensors};
use metier_nn::train::preset;
use metier_train::olion::{
    Arm, MatrixProfile, OptimKind, RunResult, Trial, compare, comparison_figures, likely_origin,
    mean_of, profile_matrices, relative_flatness,
};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Compare optimizers on your own text, or look at what one made of a checkpoint's weights
#[derive(clap::Subcommand)]
#[command(after_help = "Examples:\n  \
    metier optim compare --data novel.txt --optimizers adamw,muon,olion --lrs 3e-3,1e-2 --seeds 3\n  \
    metier optim inspect run/checkpoints/step-00001000")]
pub enum Command {
    /// Train one small model by every optimizer at every learning rate and seed
    ///
    /// Each run takes one thread, as many at a time as there are cores. Hidden matrices are stepped
    /// by the optimizer named, everything else by AdamW at the same learning rate.
    #[command(after_help = "Example:\n  \
        metier optim compare --data novel.txt --optimizers adamw,lion-rms,muon,olion \\\n      \
        --lrs 1e-3,3e-3,1e-2 --seeds 5 --out comparison")]
    Compare(Compare),
    /// Show the norms and spectra of a checkpoint's matrices, and what they suggest
    #[command(after_help = "Example:\n  metier optim inspect gpt2/ --out spectra")]
    Inspect(Inspect),
}

/// What to compare, and on what.
#[derive(clap::Args)]
pub struct Compare {
    /// A text file, a folder of .txt files, a token file, or a data set's name
    #[arg(long, value_name = "PATH")]
    data: String,
    /// The optimizers
    #[arg(long, value_delimiter = ',', value_name = "NAMES", default_value = "adamw,muon,olion")]
    optimizers: Vec<String>,
    /// The learning rates that each is tried at
    #[arg(long, value_delimiter = ',', value_name = "RATES", default_value = "1e-3,3e-3,1e-2")]
    lrs: Vec<f32>,
    /// How many seeds, counted up from --seed
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    #[command(flatten)]
    seed: Seed,
    /// gpt2-SIZE or llama-SIZE (nano, micro, mini, small, medium, large), or a config.json
    #[arg(long, value_name = "MODEL", default_value = "gpt2-nano")]
    model: String,
    /// Steps of each run
    #[arg(long, value_name = "N", default_value_t = 400)]
    steps: u64,
    /// Sequences per step
    #[arg(long, value_name = "N", default_value_t = 16)]
    batch: usize,
    /// Tokens per sequence
    #[arg(long, value_name = "N", default_value_t = 64)]
    context: usize,
    /// byte, a tokenizer.json, or bpe:N to learn one of N tokens from the text
    #[arg(long, value_name = "TOKENIZER", default_value = "byte")]
    tokenizer: String,
    /// A folder for pictures and runs.jsonl
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Which checkpoint.
#[derive(clap::Args)]
pub struct Inspect {
    /// A Hugging Face folder, or a safetensors file
    checkpoint: PathBuf,
    /// A folder for histograms of singular values and weights
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Every seed is a training run of each optimizer at each rate.
const MOST_SEEDS: u64 = 1000;

/// Carries out one of the commands.
pub fn run(command: &Command, shell: &Shell) -> Result<ExitCode> {
    match command {
        Command::Compare(args) => compare_optimizers(args, shell)?,
        Command::Inspect(args) => inspect(args, shell)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn compare_optimizers(args: &Compare, shell: &Shell) -> Result<()> {
    if !(1..=MOST_SEEDS).contains(&args.seeds) {
        let message = format!("seeds = {} is not within 1 to {MOST_SEEDS}", args.seeds);
        return Err(Error::usage(message).in_field("--seeds"));
    }
    let data = text_path(&args.data)?;
    let tokenizer = tokenizer(&args.tokenizer, &data, shell.progress())?;
    let trial = Trial {
        model: shape(args, tokenizer.vocabulary())?,
        tokenizer,
        batch: args.batch,
        steps: args.steps,
        eval_batches: 16,
        eval_points: 8,
    };
    let seeds: Vec<u64> = (0..args.seeds).map(|i| args.seed.seed.wrapping_add(i)).collect();
    let mut arms = Vec::new();
    for &seed in &seeds {
        for name in &args.optimizers {
            let optimizer = OptimKind::named(name)?;
            arms.extend(args.lrs.iter().map(|&lr| Arm { optimizer, lr, seed }));
        }
    }
    let corpus = read_corpus(&data, &trial.tokenizer, shell.progress())?;
    let runs = compare(&trial, &arms, &corpus, None, shell.progress())?;
    shell.clear();
    if let Some(out) = &args.out {
        write_comparison(out, &runs, &seeds, &args.lrs)?;
    }
    if shell.json() {
        return runs.iter().try_for_each(|run| shell.print_json(run));
    }
    shell.print(comparison_table(args, &runs).trim_fmt())
}

/// The model of a comparison, with the context that was asked for.
fn shape(args: &Compare, vocabulary: usize) -> Result<DecoderConfig> {
    let path = Path::new(&args.model);
    if path.extension().is_none_or(|ending| ending != "json") {
        return preset(&args.model, vocabulary, args.context);
    }
    let config = DecoderConfig::read(path)?;
    if args.context > config.context {
        let message = format!(
            "{} tokens are more than the model's context of {}",
            args.context, config.context
        );
        return Err(Error::usage(message).in_field("--context"));
    }
    Ok(DecoderConfig { context: args.context, ..config })
}

fn write_comparison(out: &Path, runs: &[RunResult], seeds: &[u64], lrs: &[f32]) -> Result<()> {
    for figure in comparison_figures(runs, seeds, lrs) {
        draw(out, &figure)?;
    }
    let mut lines = String::new();
    for run in runs {
        lines += &serde_json::to_string(run).map_err(|e| Error::internal(e.to_string()))?;
        lines.push('\n');
    }
    files::write_bytes(&out.join("runs.jsonl"), lines.as_bytes())
}

fn draw(out: &Path, figure: &Figure) -> Result<()> {
    // The figures are named for a page that holds other methods' too.
    let name = figure.id.strip_prefix("olion-").unwrap_or(&figure.id);
    let path = out.join(format!("{name}.svg"));
    files::write_bytes(&path, svg(figure, Size::Wide, Theme::Light).as_bytes())
}

fn comparison_table(args: &Compare, runs: &[RunResult]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "optimizer",
        "learning rate",
        "held-out loss",
        "best seed",
        "worst seed",
        "‖W‖∞",
        "spectral",
    ]);
    for name in &args.optimizers {
        for &lr in &args.lrs {
            let mine: Vec<&RunResult> =
                runs.iter().filter(|run| run.optimizer == *name && run.lr == lr).collect();
            let mean = |of: fn(&RunResult) -> f64| {
                mine.iter().map(|run| of(run)).sum::<f64>() / mine.len().max(1) as f64
            };
            let losses = || mine.iter().map(|run| run.loss());
            table.add_row([
                name.clone(),
                format!("{lr}"),
                format!("{:.4}", mean(RunResult::loss)),
                format!("{:.4}", losses().fold(f64::INFINITY, f64::min)),
                format!("{:.4}", losses().fold(f64::NEG_INFINITY, f64::max)),
                or_dash(mean(|run| run.largest)),
                or_dash(mean(|run| run.spectral)),
            ]);
        }
    }
    table
}

// Runs that diverged have no weights to measure.
fn or_dash(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "–".to_owned() }
}

#[derive(Serialize)]
struct Report<'a> {
    checkpoint: &'a Path,
    matrices: &'a [MatrixProfile],
    relative_flatness: f64,
    likely: metier_train::olion::Origin,
    advice: &'static str,
}

fn inspect(args: &Inspect, shell: &Shell) -> Result<()> {
    let tensors = read_tensors(&args.checkpoint)?;
    if !tensors.is_empty() && tensors.iter().all(|tensor| tensor.name.starts_with("optim.")) {
        return Err(Error::input("this is an optimizer's state, not a model's weights")
            .in_file(&args.checkpoint)
            .help("give the checkpoint's folder, or its model.safetensors"));
    }
    let views: Vec<(&str, &[usize], &[f32])> = tensors
        .iter()
        .map(|tensor| (tensor.name.as_str(), tensor.shape.as_slice(), tensor.data.as_slice()))
        .collect();
    shell.progress().begin("singular values", None);
    let profiles = profile_matrices(&views);
    shell.progress().finish();
    shell.clear();
    let profiles = profiles?;
    if profiles.is_empty() {
        return Err(Error::input("there are no hidden matrices in it").in_file(&args.checkpoint));
    }
    if let Some(out) = &args.out {
        histograms(&profiles, &tensors).iter().try_for_each(|figure| draw(out, figure))?;
    }
    let likely = likely_origin(&profiles);
    if shell.json() {
        return shell.print_json(&Report {
            checkpoint: &args.checkpoint,
            matrices: &profiles,
            relative_flatness: relative_flatness(&profiles),
            likely,
            advice: likely.advice(),
        });
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "matrix",
        "shape",
        "spectral",
        "‖W‖∞",
        "rms",
        "peak",
        "flatness",
    ]);
    for p in &profiles {
        table.add_row([
            p.name.clone(),
            format!("{} × {}", p.rows, p.columns),
            format!("{:.4}", p.spectral),
            format!("{:.4}", p.largest),
            format!("{:.4}", p.rms),
            format!("{:.1}", p.peak),
            format!("{:.3}", p.flatness),
        ]);
    }
    table.add_row([
        "mean".to_owned(),
        String::new(),
        format!("{:.4}", mean_of(&profiles, |p| p.spectral)),
        format!("{:.4}", mean_of(&profiles, |p| p.largest)),
        format!("{:.4}", mean_of(&profiles, |p| p.rms)),
        format!("{:.1}", mean_of(&profiles, |p| p.peak)),
        format!("{:.3}", mean_of(&profiles, |p| p.flatness)),
    ]);
    shell.print(table.trim_fmt())?;
    shell.print(format_args!(
        "flatness beside random matrices: {:.2} ({})",
        relative_flatness(&profiles),
        likely.advice()
    ))
}

/// Histograms of all singular values and of all absolute weights, each over its matrix's largest.
fn histograms(profiles: &[MatrixProfile], tensors: &[HostParameter]) -> Vec<Figure> {
    let singular = profiles.iter().flat_map(|p| {
        p.singular_values.iter().map(move |s| f64::from(*s) / p.spectral.max(f64::MIN_POSITIVE))
    });
    let names: Vec<&str> =
        profiles.iter().map(|p| p.name.split('[').next().unwrap_or(&p.name)).collect();
    let weights = tensors.iter().filter(|t| names.contains(&t.name.as_str())).flat_map(|tensor| {
        let largest = tensor.data.iter().fold(f32::MIN_POSITIVE, |most, v| most.max(v.abs()));
        tensor.data.iter().map(move |v| f64::from(v.abs() / largest))
    });
    let figure = |id: &str, title: &str, x_label: &str, values: &mut dyn Iterator<Item = f64>| {
        const BINS: usize = 50;
        let mut counts = vec![0.0; BINS];
        for value in values {
            counts[((value * BINS as f64) as usize).min(BINS - 1)] += 1.0;
        }
        let plot = Plot::Histogram(Histogram {
            x_label: x_label.to_owned(),
            y_label: "count".to_owned(),
            edges: (0..=BINS).map(|i| i as f64 / BINS as f64).collect(),
            series: vec![("all hidden matrices".to_owned(), counts)],
        });
        Figure::new(id, title, plot)
    };
    vec![
        figure(
            "singular-values",
            "Singular values of hidden matrices",
            "singular value over the largest of its matrix",
            &mut { singular },
        ),
        figure(
            "weights",
            "Weights of hidden matrices",
            "absolute weight over the largest of its tensor",
            &mut { weights },
        ),
    ]
}
