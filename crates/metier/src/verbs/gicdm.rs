//! `metier gicdm`: generated data judged by neighbours, in distances that no hub distorts.

use crate::shell::Shell;
use clap::ValueEnum;
use metier_core::{Error, Result};
use metier_data::{Column, Frame, read, write};
use metier_geometry::gicdm::{
    Gicdm, GicdmConfig, Icdm, IcdmConfig, Metric, Points, Sample, Scores, hubness,
};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Judge generated data without being fooled by hubs
#[derive(clap::Subcommand)]
#[command(after_help = "Examples:\n  \
    metier gicdm score --real real.npy --gen generated.npy\n  \
    metier gicdm worst --real real.npy --gen generated.npy -n 50 -o worst.csv\n  \
    metier gicdm hubness --in embeddings.npy\n\n\
    Files hold one point per row: .npy, .npz, .parquet, .csv, .jsonl.")]
pub enum Command {
    /// Score generated sets, in plain distances and in corrected ones
    #[command(after_help = "Example:\n  \
        metier gicdm score --real real.npy --gen a.npy --gen b.npy --format json")]
    Score(Score),
    /// List the generated points that the filter rejects, the furthest out first
    #[command(after_help = "Example:\n  \
        metier gicdm worst --real real.npy --gen generated.npy -n 50 -o worst.csv")]
    Worst(Worst),
    /// Say how uneven neighbours are, before and after the correction
    #[command(after_help = "Example:\n  metier gicdm hubness --in embeddings.npy --k 10")]
    Hubness(Hubs),
}

/// How far apart points are.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
enum Distance {
    #[default]
    Euclidean,
    Cosine,
}

#[derive(clap::Args)]
struct Correction {
    /// The real points
    #[arg(long, value_name = "FILE")]
    real: PathBuf,
    /// How far apart points are
    #[arg(long, value_enum, default_value_t)]
    metric: Distance,
    /// Neighbours that a neighbourhood reaches to
    #[arg(long, value_name = "N", default_value_t = 5)]
    k: usize,
    /// Neighbours whose mean distance the correction makes equal
    #[arg(long, value_name = "N", default_value_t = 10)]
    icdm_k: usize,
    /// Numbers of neighbours at which the filter looks; 0 for no filter
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "5,10,20,50")]
    scales: Vec<usize>,
    /// The share of real points beyond each of the filter's bounds
    #[arg(long, value_name = "SHARE", default_value_t = 0.03)]
    quantile: f64,
}

#[derive(clap::Args)]
pub struct Score {
    #[command(flatten)]
    correction: Correction,
    /// Generated points; once for each set
    #[arg(long = "gen", value_name = "FILE", required = true)]
    generated: Vec<PathBuf>,
}

#[derive(clap::Args)]
pub struct Worst {
    #[command(flatten)]
    correction: Correction,
    /// Generated points
    #[arg(long = "gen", value_name = "FILE")]
    generated: PathBuf,
    /// The most to list [default: all that are rejected]
    #[arg(long, short = 'n', value_name = "N")]
    most: Option<usize>,
    /// Where to write: .csv, .parquet, .jsonl, or - for CSV on standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(clap::Args)]
pub struct Hubs {
    /// The points
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// How far apart points are
    #[arg(long, value_enum, default_value_t)]
    metric: Distance,
    /// Neighbours that are counted
    #[arg(long, value_name = "N", default_value_t = 10)]
    k: usize,
}

/// Carries out one of the commands.
pub fn run(command: &Command, shell: &Shell) -> Result<ExitCode> {
    match command {
        Command::Score(args) => score(args, shell)?,
        Command::Worst(args) => worst(args, shell)?,
        Command::Hubness(args) => hubs(args, shell)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn points(path: &Path, metric: Distance) -> Result<Points<f32>> {
    let metric = match metric {
        Distance::Euclidean => Metric::Euclidean,
        Distance::Cosine => Metric::Cosine,
    };
    let rows = read::matrix(path)?.mapv(|value| value as f32);
    Points::new(rows.view(), metric).map_err(|error| error.in_file(path))
}

impl Correction {
    fn fit(&self, shell: &Shell) -> Result<Gicdm<f32>> {
        let icdm = IcdmConfig { k: self.icdm_k, ..IcdmConfig::default() };
        let config = GicdmConfig {
            scales: if self.scales == [0] { Vec::new() } else { self.scales.clone() },
            quantile: self.quantile,
            neighbours: self.k,
            icdm,
        };
        let real = points(&self.real, self.metric)?;
        let fitted = Gicdm::fit(real, &config, shell.progress())
            .map_err(|error| error.in_file(&self.real))?;
        if !fitted.icdm().converged(&config.icdm) {
            shell.warn(format_args!(
                "neighbourhoods of the real points still differ by {:.1e} of their size after {} \
                 sweeps",
                fitted.icdm().residual,
                fitted.icdm().sweeps
            ));
        }
        Ok(fitted)
    }

    // Generated points, which have to fit to the real ones.
    fn generated(&self, path: &Path, real: usize, shell: &Shell) -> Result<Points<f32>> {
        if path == self.real {
            shell.warn(format_args!("{} is the real set itself", path.display()));
        }
        let generated = points(path, self.metric)?;
        if generated.columns() != real {
            return Err(Error::input(format!(
                "{} columns, where {} has {real}",
                generated.columns(),
                self.real.display()
            ))
            .in_file(path));
        }
        Ok(generated)
    }
}

#[derive(Serialize)]
struct Scored<'a> {
    generated: &'a Path,
    converged: bool,
    pass_real: f64,
    #[serde(flatten)]
    scores: Scores,
}

fn score(args: &Score, shell: &Shell) -> Result<()> {
    let fitted = args.correction.fit(shell)?;
    for path in &args.generated {
        let generated = args.correction.generated(path, fitted.columns(), shell)?;
        let scores =
            fitted.score(&generated, shell.progress()).map_err(|error| error.in_file(path))?;
        if shell.json() {
            let converged = fitted.converged();
            let pass_real = fitted.pass_real();
            shell.print_json(&Scored { generated: path, converged, pass_real, scores })?;
            continue;
        }
        let (raw, own) = (scores.raw, scores.corrected);
        shell.print(format_args!("{}: {} points", path.display(), generated.rows()))?;
        shell.print("                       raw  corrected  normalised")?;
        for (name, raw, corrected, normalised) in [
            ("precision", raw.precision, own.precision, Some(scores.precision)),
            ("recall", raw.recall, own.recall, None),
            ("density", raw.density, own.density, Some(scores.density)),
            ("coverage", raw.coverage, own.coverage, Some(scores.coverage)),
            ("clipped density", raw.clipped_density, own.clipped_density, None),
            ("clipped coverage", raw.clipped_coverage, own.clipped_coverage, None),
        ] {
            let normalised = normalised.map_or(String::new(), |value| format!("{value:12.3}"));
            shell.print(format_args!("  {name:<17}{raw:>7.3}{corrected:>11.3}{normalised}"))?;
        }
        shell.print(format_args!(
            "  {:.1} % accepted, of real points {:.1} %; {} copies of real points",
            100.0 * scores.accepted,
            100.0 * fitted.pass_real(),
            scores.copies
        ))?;
    }
    Ok(())
}

fn worst(args: &Worst, shell: &Shell) -> Result<()> {
    let fitted = args.correction.fit(shell)?;
    let generated = args.correction.generated(&args.generated, fitted.columns(), shell)?;
    let samples = fitted.samples(&generated)?;
    // How far beyond the nearest bound, at the scale where it is furthest.
    let mut rejected: Vec<(usize, &Sample, f64)> = samples
        .iter()
        .enumerate()
        .filter(|(_, sample)| !sample.accepted)
        .map(|(row, sample)| (row, sample, fitted.excess(sample)))
        .collect();
    rejected.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    let count = rejected.len();
    rejected.truncate(args.most.unwrap_or(count));
    let numbers =
        |value: &dyn Fn(&(usize, &Sample, f64)) -> f64| rejected.iter().map(value).collect();
    let reasons = rejected.iter().map(|(_, _, excess)| {
        Some(if *excess > 0.0 { "too close to the middle" } else { "too far out" })
    });
    let frame = Frame::new(vec![
        Column::number("row", numbers(&|(row, ..)| (row + 1) as f64)),
        Column::text("reason", reasons),
        Column::number("beyond", numbers(&|(_, _, excess)| excess.abs())),
        Column::number("nearest_real_row", numbers(&|(_, sample, _)| (sample.nearest + 1) as f64)),
        Column::number("distance", numbers(&|(_, sample, _)| sample.distance)),
    ])?;
    write::frame(&args.output, &frame)?;
    shell.say(format_args!("{count} of {} points are rejected", samples.len()));
    Ok(())
}

fn hubs(args: &Hubs, shell: &Shell) -> Result<()> {
    let points = points(&args.input, args.metric)?;
    let config = IcdmConfig { k: args.k, ..IcdmConfig::default() };
    let in_file = |error: Error| error.in_file(&args.input);
    let icdm = Icdm::fit_with_progress(&points, &config, shell.progress()).map_err(in_file)?;
    let before = hubness(&points, args.k, None).map_err(in_file)?;
    let after = hubness(&points, args.k, Some(&icdm.log_delta)).map_err(in_file)?;
    if shell.json() {
        return shell.print_json(&serde_json::json!({ "raw": before, "corrected": after }));
    }
    shell.print(format_args!(
        "{} points, {} neighbours      raw  corrected",
        points.rows(),
        args.k
    ))?;
    for (name, before, after) in [
        ("skewness", before.skewness, after.skewness),
        ("nobody's neighbour", before.antihubs, after.antihubs),
        ("largest hub", before.largest as f64, after.largest as f64),
        ("Robin Hood index", before.robin_hood, after.robin_hood),
    ] {
        shell.print(format_args!("  {name:<28}{before:>8.3}{after:>11.3}"))?;
    }
    Ok(())
}
