//! `metier slepian`: places as features that are fine inside a region.

mod fit;

use crate::picture;
use crate::shell::Shell;
use metier_core::{Error, Result};
use metier_data::{Column, Frame, read, write};
use metier_geometry::slepian::{
    Raster, Region, RegionSpec, SlepianBasis, SlepianConfig, SlepianEncoder, eigenvalue_curve,
    mode_map,
};
use metier_geometry::sphere::first_bad_point;
use ndarray::Array2;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Turn places into features that are fine inside a region
#[derive(clap::Subcommand)]
#[command(after_help = "Examples:\n  \
    metier slepian info --region country:JP --L 120\n  \
    metier slepian encode --in houses.csv --region cap:-119.5,37,7.5 --L 120 -o features.csv\n  \
    metier slepian fit --in houses.csv --target price --region fit --L 120\n\n\
    A region is cap:lon,lat,radius, caps:lon,lat,radius;…, box:w,s,e,n, country:JP,\n\
    file:outline.geojson, or fit: the smallest cap around the points, a tenth wider.")]
pub enum Command {
    /// Say how many functions a region has at a resolution, before anything is computed with them
    #[command(after_help = "Example:\n  metier slepian info --region cap:-119.5,37,7.5 --L 120")]
    Info(Plain),
    /// List the functions of a region, or write their coefficients for other programs
    #[command(after_help = "Examples:\n  metier slepian basis --region country:JP --L 60\n  \
        metier slepian basis --region cap:-119.5,37,7.5 --L 40 -o basis.npz")]
    Basis(Basis),
    /// Add features to a table of points
    #[command(after_help = "Examples:\n  \
        metier slepian encode --in houses.csv --region fit --L 120 -o features.parquet\n  \
        cat houses.csv | metier slepian encode --in - --region fit --global 0 -o -\n  \
        metier slepian encode --in new.csv --encoder fitted.safetensors -o features.csv")]
    Encode(Encode),
    /// Draw a function over the coasts, or the curve of the eigenvalues
    #[command(after_help = "Examples:\n  \
        metier slepian plot --region country:JP --L 80 --mode 3 -o mode-3.svg\n  \
        metier slepian plot --region country:JP --L 80 --curve -o curve.svg")]
    Plot(Plot),
    /// Fit a model to a column and score it on rows held out, with nearest neighbours beside
    #[command(after_help = "Examples:\n  \
        metier slepian fit --in houses.csv --target price --region fit --L 120 --model mlp\n  \
        metier slepian fit --in houses.csv --target price --region country:JP --map prices.svg")]
    Fit(fit::Fit),
}

/// The points.
#[derive(clap::Args)]
struct Points {
    /// The table of points: .csv, .parquet, .jsonl, .geojson; `-` is CSV from standard input
    #[arg(long = "in", value_name = "FILE")]
    input: Option<PathBuf>,
    /// The column of longitudes [default: the first of longitude, lon, lng, long, x]
    #[arg(long, value_name = "COLUMN")]
    lon: Option<String>,
    /// The column of latitudes [default: the first of latitude, lat, y]
    #[arg(long, value_name = "COLUMN")]
    lat: Option<String>,
}

/// The functions.
#[derive(clap::Args)]
struct Functions {
    /// cap:lon,lat,radius, caps:…;…, box:w,s,e,n, country:JP, file:outline.geojson, or fit
    #[arg(long, default_value = "fit", allow_hyphen_values = true)]
    region: String,
    /// The largest degree: details of 20,015 km / L
    #[arg(long = "L", value_name = "DEGREE", default_value_t = 80)]
    l: usize,
    /// The least share of a function's energy inside the region
    #[arg(long, default_value_t = 0.05)]
    thresh: f64,
    /// The most functions that are accepted
    #[arg(long, value_name = "N", default_value_t = 800)]
    max_modes: usize,
}

#[derive(clap::Args)]
pub struct Plain {
    #[command(flatten)]
    points: Points,
    #[command(flatten)]
    functions: Functions,
}

#[derive(clap::Args)]
pub struct Basis {
    #[command(flatten)]
    plain: Plain,
    /// Write coefficients over the harmonics of the globe: .npz or .safetensors
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(clap::Args)]
struct Hybrid {
    #[command(flatten)]
    plain: Plain,
    /// Degrees of global harmonics beside the functions (their square in columns); 0 for none
    #[arg(long, value_name = "DEGREES", default_value_t = 10)]
    global: usize,
    /// Leave the features at their own scale
    #[arg(long)]
    no_scale: bool,
    /// Interpolate between the corners of a grid of this step, which blurs: for very many points
    #[arg(long, value_name = "DEGREES")]
    raster: Option<f64>,
}

#[derive(clap::Args)]
pub struct Encode {
    #[command(flatten)]
    hybrid: Hybrid,
    /// Take a fitted encoder from this file instead of making one
    #[arg(long, value_name = "FILE", conflicts_with_all =
        ["region", "l", "thresh", "max_modes", "global", "no_scale", "raster"])]
    encoder: Option<PathBuf>,
    /// Keep the fitted encoder in this file (.safetensors), for points that come later
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Leave out the columns of the table, and write features alone (.npy always does)
    #[arg(long)]
    features_only: bool,
    /// Where to write: .csv, .parquet, .jsonl, .npy, or - for CSV on standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(clap::Args)]
pub struct Plot {
    #[command(flatten)]
    plain: Plain,
    /// The function to draw, counted from 0
    #[arg(long, value_name = "K", default_value_t = 0)]
    mode: usize,
    /// Draw the eigenvalues instead
    #[arg(long, conflicts_with = "mode")]
    curve: bool,
    /// Where to write the picture (.svg)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

/// Carries out one of the commands.
pub fn run(command: &Command, shell: &Shell) -> Result<ExitCode> {
    match command {
        Command::Info(args) => info(args, shell)?,
        Command::Basis(args) => basis(args, shell)?,
        Command::Encode(args) => encode(args, shell)?,
        Command::Plot(args) => plot(args, shell)?,
        Command::Fit(args) => fit::run(args, shell)?,
    }
    Ok(ExitCode::SUCCESS)
}

struct Table {
    frame: Frame,
    lon: Vec<f64>,
    lat: Vec<f64>,
}

impl Points {
    fn read(&self) -> Result<Option<Table>> {
        let Some(path) = &self.input else { return Ok(None) };
        let frame = read::frame(path)?;
        let lon_name =
            column(&frame, &self.lon, "--lon", &["longitude", "lon", "lng", "long", "x"])?;
        let lat_name = column(&frame, &self.lat, "--lat", &["latitude", "lat", "y"])?;
        let (lon, lat) = (frame.numbers(&lon_name)?.to_vec(), frame.numbers(&lat_name)?.to_vec());
        if let Some(bad) = first_bad_point(&lon, &lat) {
            let name = if bad.field == "lon" { &lon_name } else { &lat_name };
            return Err(frame.error_at(bad.index, name, bad.message).help(bad.help));
        }
        Ok(Some(Table { frame, lon, lat }))
    }

    fn needed(&self, why: &str) -> Result<Table> {
        self.read()?.ok_or_else(|| {
            Error::usage(format!("no points are given, which {why} needs"))
                .in_field("--in")
                .help("name a table, such as --in houses.csv")
        })
    }

    // Points beside a region that does not depend on them.
    fn refuse(&self, region: &str) -> Result<()> {
        let given = [
            ("--in", self.input.is_some()),
            ("--lon", self.lon.is_some()),
            ("--lat", self.lat.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Error::usage(format!(
                "{flag} is given, which --region {region} has no use for"
            ))
            .in_field(flag)
            .help(format!("leave {flag} out, or take --region fit"))),
            None => Ok(()),
        }
    }
}

fn column(frame: &Frame, given: &Option<String>, flag: &str, usual: &[&str]) -> Result<String> {
    if let Some(name) = given {
        return frame.column(name).map(|column| column.name.clone());
    }
    let usual_one =
        usual.iter().find_map(|name| frame.names().find(|found| found.eq_ignore_ascii_case(name)));
    usual_one.map(str::to_owned).ok_or_else(|| {
        frame
            .error(format!("no column is called {}", usual.join(", ")))
            .in_field(flag)
            .help(format!("name it with {flag}; the columns are: {}", names(frame)))
    })
}

fn names(frame: &Frame) -> String {
    frame.names().collect::<Vec<_>>().join(", ")
}

impl Plain {
    // The region, and what is to be said about it.
    fn region(&self) -> Result<(Region, Vec<String>)> {
        let spec: RegionSpec = self.functions.region.parse()?;
        let region = if spec == RegionSpec::Fit {
            let table = self.points.needed("`--region fit`")?;
            Region::fit(&table.lon, &table.lat)?
        } else {
            self.points.refuse(&self.functions.region)?;
            spec.resolve(&[], &[])?
        };
        let notes = [spec.notes(), region.notes()?.as_slice()].concat();
        Ok((region, notes))
    }

    fn basis(&self, shell: &Shell) -> Result<(Region, SlepianBasis)> {
        let (region, notes) = self.region()?;
        let f = &self.functions;
        let basis =
            SlepianBasis::new_with_progress(&region, f.l, f.thresh, f.max_modes, shell.progress())?;
        notes.iter().chain(&basis.warnings()).for_each(|note| shell.say(note));
        Ok((region, basis))
    }
}

impl Hybrid {
    fn config(&self) -> Result<SlepianConfig> {
        let f = &self.plain.functions;
        Ok(SlepianConfig {
            region: f.region.parse()?,
            l: f.l,
            thresh: f.thresh,
            max_modes: f.max_modes,
            global_l: self.global,
            scale: !self.no_scale,
            raster: self.raster.map(|step_deg| Raster { step_deg }),
        })
    }
}

#[derive(Serialize)]
struct Facts {
    region: String,
    l: usize,
    functions: usize,
    shannon: f64,
    largest_lambda: f64,
    smallest_lambda: f64,
    area_km2: f64,
    resolution_km: f64,
}

fn info(args: &Plain, shell: &Shell) -> Result<()> {
    let (region, basis) = args.basis(shell)?;
    let lambda = basis.lambda().iter();
    let facts = Facts {
        region: described(&region),
        l: basis.bandwidth(),
        functions: basis.len(),
        shannon: basis.shannon(),
        largest_lambda: lambda.clone().fold(0.0, |a, b| a.max(*b)),
        smallest_lambda: lambda.fold(1.0, |a, b| a.min(*b)),
        // The mean radius is 6,371 km.
        area_km2: region.share()? * 4.0 * std::f64::consts::PI * 6371.0 * 6371.0,
        resolution_km: basis.resolution_km(),
    };
    if shell.json() {
        return shell.print_json(&facts);
    }
    shell.print(format_args!("region          {}", facts.region))?;
    shell.print(format_args!("area            {:.0} km²", facts.area_km2))?;
    shell.print(format_args!("L               {}", facts.l))?;
    shell.print(format_args!("resolution      {:.0} km", facts.resolution_km))?;
    shell.print(format_args!("Shannon number  {:.3}", facts.shannon))?;
    shell.print(format_args!(
        "functions       {} with lambda from {:.4} to {:.4}",
        facts.functions, facts.largest_lambda, facts.smallest_lambda
    ))
}

fn described(region: &Region) -> String {
    match region {
        Region::Cap(cap) => format!("cap:{:.4},{:.4},{:.4}", cap.lon, cap.lat, cap.radius_deg),
        Region::Caps(caps) => format!("{} caps", caps.len()),
        Region::Box { w, s, e, n } => format!("box:{w},{s},{e},{n}"),
        Region::Polygon(polygons) => format!("{} polygons", polygons.0.len()),
    }
}

fn basis(args: &Basis, shell: &Shell) -> Result<()> {
    let (_, basis) = args.plain.basis(shell)?;
    if let Some(path) = &args.output {
        basis.export_with_progress(path, shell.progress())?;
        shell.say(format_args!("{} functions in {}", basis.len(), path.display()));
        return Ok(());
    }
    for (name, lambda) in basis.names().iter().zip(basis.lambda()) {
        if shell.json() {
            shell.print_json(&serde_json::json!({ "name": name, "lambda": lambda }))?;
        } else {
            shell.print(format_args!("{name}\t{lambda:.10}"))?;
        }
    }
    Ok(())
}

fn encode(args: &Encode, shell: &Shell) -> Result<()> {
    let table = args.hybrid.plain.points.needed("encoding")?;
    let encoder = match &args.encoder {
        Some(path) => SlepianEncoder::load(path)?,
        None => SlepianEncoder::fit_with_progress(
            &args.hybrid.config()?,
            &table.lon,
            &table.lat,
            shell.progress(),
        )?,
    };
    encoder.warnings().iter().for_each(|warning| shell.say(format_args!("note: {warning}")));
    if args.encoder.is_some() {
        let outside = encoder.outside(&table.lon, &table.lat)?;
        if outside > 0 {
            let all = table.lon.len();
            shell.say(format_args!("note: {outside} of {all} points lie outside the region"));
        }
    }
    let features = encoder.transform_with_progress(&table.lon, &table.lat, shell.progress())?;
    if let Some(path) = &args.save {
        encoder.save(path)?;
    }
    write_features(args, table.frame, &encoder.feature_names(), &features)?;
    shell.say(format_args!("{} rows, {} features", features.nrows(), features.ncols()));
    Ok(())
}

fn write_features(
    args: &Encode,
    frame: Frame,
    names: &[String],
    features: &Array2<f32>,
) -> Result<()> {
    if args.output.extension().is_some_and(|ending| ending == "npy") {
        return write::npy(&args.output, features.view());
    }
    let mut columns = if args.features_only { Vec::new() } else { frame.into_columns() };
    for (name, values) in names.iter().zip(features.columns()) {
        columns.push(Column::number(name, values.iter().map(|value| single(*value)).collect()));
    }
    write::frame(&args.output, &Frame::new(columns)?)
}

// The double with the shortest decimals that is this single: half the digits in a text file.
fn single(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

fn plot(args: &Plot, shell: &Shell) -> Result<()> {
    picture::check(&args.output)?;
    let (region, basis) = args.plain.basis(shell)?;
    let figure = if args.curve {
        eigenvalue_curve(&basis)
    } else {
        mode_map(&region, &basis, args.mode, 360)?
    };
    picture::draw(&figure, &args.output, shell)
}
