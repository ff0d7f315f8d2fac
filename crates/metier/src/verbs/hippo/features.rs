//! `metier hippo features`.

use super::layer::{Layer, name};
use crate::picture;
use crate::shell::Shell;
use clap::ValueEnum;
use metier_core::{Error, Result};
use metier_data::{Column, Frame, Values, read, write};
use metier_geometry::hippo::{
    Continuized, ContinuizedConfig, Missing, WINDOW, best_step, coverage_by_step, coverage_figure,
    fill_missing, irregular_states, reconstruction_figure,
};
use ndarray::{Array2, Axis};
use serde::Serialize;
use std::path::PathBuf;

/// When states are taken.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum At {
    /// After the last sample
    Last,
    /// After every sample
    Every,
}

/// What stands for a missing sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
enum Gap {
    /// Nothing: it is an error
    #[default]
    Refuse,
    /// The last sample before
    Hold,
    /// 0
    Zero,
}

/// `auto` or a number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Auto,
    Fixed(f64),
}

impl std::str::FromStr for Step {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Fixed).map_err(|_| "it is auto or a number".into()),
        }
    }
}

#[derive(clap::Args)]
pub struct Features {
    /// The series: .csv, .parquet, .jsonl, .npy; `-` is CSV from standard input
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// The column of samples [default: the only one of numbers]
    #[arg(long, alias = "col", value_name = "COLUMN", conflicts_with = "rows")]
    column: Option<String>,
    /// Every row is a sequence of its own: all columns of numbers, left to right
    #[arg(long)]
    rows: bool,
    /// Columns that are no samples of --rows, kept beside the states
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', requires = "rows")]
    keep: Vec<String>,
    /// A column of times, for samples that come irregularly; dt is then per unit of it
    #[arg(long, value_name = "COLUMN", conflicts_with = "rows")]
    time: Option<String>,
    #[command(flatten)]
    layer: Layer,
    /// Scaled time per sample, or auto: what keeps the most of the input's variance
    #[arg(long, value_name = "TIME|auto", default_value = "auto", allow_negative_numbers = true)]
    dt: Step,
    /// When states are taken [default: every sample of a series, the last of rows]
    #[arg(long, value_enum)]
    at: Option<At>,
    /// What stands for a sample that is missing
    #[arg(long, value_enum, default_value_t)]
    nan: Gap,
    /// How many samples back the states remember [default: all]
    #[arg(long, value_name = "N", conflicts_with = "time")]
    lags: Option<usize>,
    /// Leave out the columns of the table, and write states alone (.npy always does)
    #[arg(long)]
    features_only: bool,
    /// Draw the series' end and what its last states give back of it (.svg)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rows", "time"])]
    plot: Option<PathBuf>,
    /// Draw what each step keeps, for --dt auto (.svg)
    #[arg(long, value_name = "FILE")]
    plot_dt: Option<PathBuf>,
    /// Where to write: .csv, .parquet, .jsonl, .npy, or - for CSV on standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Facts {
    states: usize,
    rows: usize,
    dt: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<f64>,
    filled: usize,
}

pub(super) fn run(args: &Features, shell: &Shell) -> Result<()> {
    for path in args.plot.iter().chain(&args.plot_dt) {
        picture::check(path)?;
    }
    if args.lags == Some(0) {
        return Err(Error::usage("a memory of no samples is asked for").in_field("--lags"));
    }
    let frame = read::frame(&args.input)?;
    let (u, filled) = if args.rows { rows(args, &frame)? } else { series(args, &frame)? };
    if filled > 0 {
        shell.say(format_args!("note: {filled} missing samples were filled"));
    }
    let (dt, coverage) = step(args, &u, shell)?;
    let every = args.at.unwrap_or(if args.rows { At::Last } else { At::Every }) == At::Every;
    if every && args.rows {
        return Err(Error::usage("every sample of every row has its states: three dimensions")
            .in_field("--at")
            .help("take --at last, or a series by --column"));
    }
    let states = match &args.time {
        Some(time) => irregular(args, &frame, time, &u, dt, every)?,
        None => regular(args, &u, dt, every, shell)?,
    };
    let facts = Facts { states: states.ncols(), rows: states.nrows(), dt, coverage, filled };
    let to_stdout = args.output.as_os_str() == "-";
    write_states(args, frame, &states)?;
    let kept = coverage.map_or(String::new(), |share| {
        format!(", which keeps {:.1} % of the variance", 100.0 * share)
    });
    shell.say(format_args!("{} rows of {} states, dt = {dt}{kept}", facts.rows, facts.states));
    if shell.json() && !to_stdout { shell.print_json(&facts) } else { Ok(()) }
}

fn regular(
    args: &Features,
    u: &Array2<f64>,
    dt: f64,
    every: bool,
    shell: &Shell,
) -> Result<Array2<f64>> {
    let lags = args.lags.unwrap_or(u.ncols()).min(u.ncols());
    let bank = args.layer.bank(dt, lags)?;
    if let Some(path) = &args.plot {
        let near = args.layer.bank(dt, lags.min(WINDOW))?;
        let figure = reconstruction_figure(&near, u.row(0))?;
        picture::draw(&figure, path, shell)?;
    }
    if every {
        Ok(bank.transform(u.view())?.index_axis_move(Axis(0), 0))
    } else {
        bank.last_state(u.view())
    }
}

fn irregular(
    args: &Features,
    frame: &Frame,
    time: &str,
    u: &Array2<f64>,
    dt: f64,
    every: bool,
) -> Result<Array2<f64>> {
    let config = limit(args, dt, "--time")?;
    let times = frame.numbers(time)?;
    irregular_states(&Continuized::new(&config)?, times, &u.row(0).to_vec(), every).map_err(
        |error| match error.location().row {
            Some(row) => frame.error_at(row as usize - 1, time, error.message()),
            None => error,
        },
    )
}

// The limit's description, which `flag` needs.
fn limit(args: &Features, dt: f64, flag: &str) -> Result<ContinuizedConfig> {
    args.layer.kind(dt)?.map_err(|baseline| {
        Error::usage(format!("{} has no {flag}", baseline.name()))
            .in_field(flag)
            .help("take --basis nodes, legendre or spectral")
    })
}

fn step(args: &Features, u: &Array2<f64>, shell: &Shell) -> Result<(f64, Option<f64>)> {
    let auto = match args.dt {
        Step::Fixed(dt) if args.plot_dt.is_none() => return Ok((dt, None)),
        Step::Fixed(_) => {
            return Err(Error::usage("--plot-dt is given, which a fixed --dt has no use for")
                .in_field("--plot-dt"));
        }
        Step::Auto => limit(args, 1.0, "--dt auto")?,
    };
    if args.time.is_some() {
        return Err(Error::usage("--dt auto needs samples at equal times")
            .in_field("--dt")
            .help("give scaled time per unit of --time, such as --dt 0.5"));
    }
    let steps = coverage_by_step(&auto, u.view(), shell.progress())?;
    if let Some(path) = &args.plot_dt {
        picture::draw(&coverage_figure(&steps), path, shell)?;
    }
    let best = best_step(&steps).ok_or_else(|| Error::internal("no step was tried"))?;
    Ok((best.dt, Some(best.coverage)))
}

fn series(args: &Features, frame: &Frame) -> Result<(Array2<f64>, usize)> {
    let column = match &args.column {
        Some(name) => frame.column(name)?.name.clone(),
        None => {
            let numbers: Vec<&str> = numeric(frame)
                .map(|column| column.name.as_str())
                .filter(|name| args.time.as_deref() != Some(*name))
                .collect();
            match numbers.as_slice() {
                [only] => (*only).to_owned(),
                _ => {
                    return Err(frame
                        .error(format!("{} columns of numbers", numbers.len()))
                        .in_field("--column")
                        .help(format!(
                            "name the samples with --column, or take --rows; the columns are: {}",
                            frame.names().collect::<Vec<_>>().join(", ")
                        )));
                }
            }
        }
    };
    let mut values = frame.numbers(&column)?.to_vec();
    let filled = fill(args, frame, &column, &mut values)?;
    let samples = values.len();
    let u = Array2::from_shape_vec((1, samples), values)
        .map_err(|error| Error::internal(error.to_string()))?;
    if samples == 0 {
        return Err(frame.error("the series has no samples"));
    }
    Ok((u, filled))
}

fn rows(args: &Features, frame: &Frame) -> Result<(Array2<f64>, usize)> {
    for name in &args.keep {
        frame.column(name)?;
    }
    let columns: Vec<&Column> =
        numeric(frame).filter(|column| !args.keep.contains(&column.name)).collect();
    if columns.is_empty() || frame.height() == 0 {
        return Err(frame.error("there are no rows of numbers"));
    }
    let mut u = Array2::zeros((frame.height(), columns.len()));
    for (column, mut into) in columns.iter().zip(u.columns_mut()) {
        into.iter_mut().zip(column.numbers()?).for_each(|(to, from)| *to = *from);
    }
    let mut filled = 0;
    for (row, mut values) in u.rows_mut().into_iter().enumerate() {
        let values = values.as_slice_mut().unwrap_or_default();
        if let Some(at) = values.iter().position(|value| !value.is_finite())
            && args.nan == Gap::Refuse
        {
            return Err(missing(frame, row, &columns[at].name));
        }
        filled += fill_missing(values, args.nan.into())
            .map_err(|error| frame.error_at(row, &columns[0].name, error.message()))?;
    }
    Ok((u, filled))
}

fn numeric(frame: &Frame) -> impl Iterator<Item = &Column> {
    frame.columns().iter().filter(|column| matches!(column.values, Values::Number(_)))
}

fn fill(args: &Features, frame: &Frame, column: &str, values: &mut [f64]) -> Result<usize> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) if args.nan == Gap::Refuse => Err(missing(frame, at, column)),
        _ => fill_missing(values, args.nan.into()).map_err(|error| frame.error(error.message())),
    }
}

fn missing(frame: &Frame, row: usize, column: &str) -> Error {
    frame
        .error_at(row, column, "the sample is missing or not finite")
        .help("fill such samples: --nan hold takes the last one before, --nan zero takes 0")
}

impl From<Gap> for Missing {
    fn from(gap: Gap) -> Self {
        match gap {
            Gap::Refuse => Self::Refuse,
            Gap::Hold => Self::Hold,
            Gap::Zero => Self::Zero,
        }
    }
}

fn write_states(args: &Features, frame: Frame, states: &Array2<f64>) -> Result<()> {
    if args.output.extension().is_some_and(|ending| ending == "npy") {
        return write::npy(&args.output, states.view());
    }
    let mut columns = frame.into_columns();
    if args.rows {
        columns.retain(|column| args.keep.contains(&column.name));
    }
    let height = columns.first().map_or(0, |column| column.values.len());
    if args.features_only || height != states.nrows() {
        columns.clear();
    }
    for (n, values) in states.columns().into_iter().enumerate() {
        columns.push(Column::number(name(n), values.to_vec()));
    }
    write::frame(&args.output, &Frame::new(columns)?)
}
