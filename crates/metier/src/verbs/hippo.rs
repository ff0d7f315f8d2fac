//! `metier hippo`: sequences as a few states that hold their past.

mod features;
mod layer;

use crate::picture;
use crate::shell::Shell;
use clap::ValueEnum;
use layer::Layer;
use metier_core::{Error, Result};
use metier_data::{Column, Frame, read, write};
use metier_geometry::hippo::baselines::s4d_inv;
use metier_geometry::hippo::{
    asymptotic_omega, export_dplr, identities, kernel_figure, legs_spectrum, spectrum_figure,
};
use std::f64::consts::PI;
use std::path::PathBuf;
use std::process::ExitCode;

/// Turn sequences into a few states that hold their past
#[derive(clap::Subcommand)]
#[command(after_help = "Examples:\n  \
    metier hippo features --in series.csv --column load --states 32 -o states.npy\n  \
    metier hippo kernel --basis legendre --states 32 --dt 1 --len 1024 -o kernels.npy\n  \
    metier hippo spectrum --states 64 --compare s4d-inv,asymptotic")]
pub enum Command {
    /// Turn a series, or many sequences, into states for a linear model to read
    #[command(
        alias = "project",
        after_help = "Examples:\n  \
        metier hippo features --in series.csv --column load --states 32 -o states.npy\n  \
        metier hippo features --in digits.npy --rows --states 16 --dt auto -o states.csv\n  \
        metier hippo features --in sensor.csv --column load --time seconds --at last"
    )]
    Features(features::Features),
    /// Write the kernels of the states, or of a readout of them
    #[command(after_help = "Example:\n  \
        metier hippo kernel --basis legendre --states 32 --dt 1 --len 1024 -o kernels.npy")]
    Kernel(Kernel),
    /// List the frequencies of the HiPPO-LegS matrix, beside the rules that people use
    #[command(after_help = "Example:\n  \
        metier hippo spectrum --states 64 --compare s4d-inv,s4d-lin,asymptotic -o omega.csv")]
    Spectrum(Spectrum),
    /// Write the matrix's diagonal-plus-low-rank form for an S4, S4D or S5 layer
    #[command(after_help = "Example:\n  metier hippo dplr --states 64 -o legs.safetensors")]
    Dplr(Dplr),
    /// Check every closed form against dense algebra on this machine
    #[command(after_help = "Example:\n  metier hippo check --states 256")]
    Check(Check),
}

#[derive(clap::Args)]
pub struct Kernel {
    #[command(flatten)]
    layer: Layer,
    /// Time per sample: for the limit's bases in scaled time, for the others in their own
    #[arg(long, value_name = "TIME", default_value_t = 1.0, allow_negative_numbers = true)]
    dt: f64,
    /// How many samples back
    #[arg(long, value_name = "N", default_value_t = 256)]
    len: usize,
    /// Sum the states' kernels with these weights (.npy, .csv: one number per state)
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Draw the kernels (.svg)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Where to write: .npy is states x samples; .csv, .parquet, .jsonl have a column per state
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// A rule for the frequencies.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Rule {
    /// N/pi (N/(2j+1) - 1)
    S4dInv,
    /// pi j
    S4dLin,
    /// N²/((2j+1) pi) - (2j+1) pi/6
    Asymptotic,
}

#[derive(clap::Args)]
pub struct Spectrum {
    /// How many states
    #[arg(long, alias = "n", value_name = "N")]
    states: usize,
    /// Rules to list beside
    #[arg(long, value_enum, value_delimiter = ',', value_name = "RULE,…")]
    compare: Vec<Rule>,
    /// Draw the frequencies beside two formulas (.svg)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Where to write: .csv, .parquet, .jsonl, .npy, or - for CSV on standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(clap::Args)]
pub struct Dplr {
    /// How many states
    #[arg(long, alias = "n", value_name = "N")]
    states: usize,
    /// Write the eigenvectors too: twice N² numbers
    #[arg(long)]
    vectors: bool,
    /// Where to write: .safetensors
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

#[derive(clap::Args)]
pub struct Check {
    /// How many states, at most 2,048
    #[arg(long, alias = "n", value_name = "N", default_value_t = 256)]
    states: usize,
}

/// Carries out one of the commands.
pub fn run(command: &Command, shell: &Shell) -> Result<ExitCode> {
    match command {
        Command::Features(args) => features::run(args, shell)?,
        Command::Kernel(args) => kernel(args, shell)?,
        Command::Spectrum(args) => spectrum(args, shell)?,
        Command::Dplr(args) => dplr(args, shell)?,
        Command::Check(args) => return check(args, shell),
    }
    Ok(ExitCode::SUCCESS)
}

fn kernel(args: &Kernel, shell: &Shell) -> Result<()> {
    args.plot.as_deref().map_or(Ok(()), picture::check)?;
    let bank = args.layer.bank(args.dt, args.len)?;
    if let Some(path) = &args.plot {
        picture::draw(&kernel_figure(&bank), path, shell)?;
    }
    let npy = args.output.extension().is_some_and(|ending| ending == "npy");
    if let Some(path) = &args.weights {
        let frame = read::frame(path)?;
        let weights = match frame.columns() {
            [column] => frame.numbers(&column.name)?.to_vec(),
            columns => {
                let message = format!("{} columns, where one of weights is meant", columns.len());
                return Err(frame.error(message));
            }
        };
        let kernel = bank.kernel(&weights).map_err(|error| error.in_file(path))?;
        return if npy {
            write::npy(&args.output, ndarray::ArrayView1::from(&kernel))
        } else {
            write::frame(&args.output, &Frame::new(vec![Column::number("kernel", kernel)])?)
        };
    }
    if npy {
        return write::npy(&args.output, bank.values());
    }
    let kernels = bank.values();
    let rows = kernels.rows().into_iter().enumerate();
    let columns = rows.map(|(n, row)| Column::number(layer::name(n), row.to_vec())).collect();
    write::frame(&args.output, &Frame::new(columns)?)
}

fn spectrum(args: &Spectrum, shell: &Shell) -> Result<()> {
    args.plot.as_deref().map_or(Ok(()), picture::check)?;
    let n = args.states;
    let spectrum = legs_spectrum(n)?;
    if let Some(path) = &args.plot {
        picture::draw(&spectrum_figure(n)?, path, shell)?;
    }
    let count = spectrum.omega.len();
    let mut columns = vec![
        Column::number("omega", spectrum.omega),
        Column::number("p", spectrum.p),
        Column::number("b", spectrum.b),
    ];
    for rule in &args.compare {
        let (name, values) = match rule {
            Rule::S4dInv => ("s4d_inv", s4d_inv(n)),
            Rule::S4dLin => ("s4d_lin", (0..count).rev().map(|j| PI * j as f64).collect()),
            Rule::Asymptotic => {
                ("asymptotic", (0..count).map(|j| asymptotic_omega(n, j, 2)).collect())
            }
        };
        columns.push(Column::number(name, values));
    }
    let frame = Frame::new(columns)?;
    if !shell.json() || args.output.as_os_str() != "-" {
        return write::frame(&args.output, &frame);
    }
    for i in 0..count {
        let fields = frame
            .columns()
            .iter()
            .map(|column| Ok((column.name.clone(), serde_json::json!(column.numbers()?[i]))));
        shell.print_json(&fields.collect::<Result<serde_json::Map<_, _>>>()?)?;
    }
    Ok(())
}

fn dplr(args: &Dplr, shell: &Shell) -> Result<()> {
    if args.output.extension().is_none_or(|ending| ending != "safetensors") {
        return Err(Error::usage("layers are written as .safetensors").in_file(&args.output));
    }
    export_dplr(args.states, args.vectors, &args.output)?;
    shell.say(format_args!("{} states in {}", args.states, args.output.display()));
    Ok(())
}

fn check(args: &Check, shell: &Shell) -> Result<ExitCode> {
    let identities = identities(args.states, shell.progress())?;
    let mut all = true;
    for identity in &identities {
        all &= identity.holds();
        if shell.json() {
            shell.print_json(identity)?;
        } else {
            let verdict = if identity.holds() { "holds" } else { "falls short" };
            shell.print(format_args!(
                "{:<52} {:8.1e}  bound {:.0e}  {verdict}",
                identity.statement, identity.residual, identity.bound
            ))?;
        }
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
