//! `metier slepian fit`: what the features are worth to a model.

use super::Hybrid;
use crate::picture;
use crate::shell::Shell;
use clap::ValueEnum;
use metier_core::{Error, Figure, Plot, Result};
use metier_data::Frame;
use metier_geometry::learn::{
    Architecture, Glu, Mlp, Neighbors, Network, NetworkConfig, ResMlp, Ridge, Siren, Split,
    Training, r_squared, rows,
};
use metier_geometry::slepian::{SlepianEncoder, map_reach_km, prediction_map};
use ndarray::Array2;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
enum Model {
    /// Linear regression with a penalty
    Ridge,
    /// A network of 128 and 64 rectified units
    Mlp,
    /// A network of four blocks with shortcuts, 256 wide
    ResMlp,
    /// A network of sines, 256 wide
    Siren,
    /// A network of gates, 256 wide
    Glu,
}

impl Model {
    fn name(self) -> &'static str {
        match self {
            Self::Ridge => "ridge",
            Self::Mlp => "mlp",
            Self::ResMlp => "resmlp",
            Self::Siren => "siren",
            Self::Glu => "glu",
        }
    }
}

#[derive(clap::Args)]
pub struct Fit {
    #[command(flatten)]
    hybrid: Hybrid,
    /// The column to predict
    #[arg(long, value_name = "COLUMN")]
    target: String,
    /// What learns from the features
    #[arg(long, value_enum, default_value = "ridge")]
    model: Model,
    /// The share of units that each step of a network's training does without [default: 0 for mlp,
    /// 0.1 for resmlp and glu]
    #[arg(long, value_name = "SHARE")]
    dropout: Option<f32>,
    /// The most passes over the rows that a network is trained for [default: 200]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Passes without a better score before a network's training stops [default: 10]
    #[arg(long, value_name = "N")]
    patience: Option<usize>,
    /// Draw what the model predicts over the coasts (.svg)
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Decides which rows are held out
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl Fit {
    // The network that is asked for, or none for the linear model.
    fn network(&self) -> Result<Option<NetworkConfig>> {
        let refuse = |flag: &str, models: &str| {
            Err(Error::usage(format!("{flag} is given, which --model {models} has no use for"))
                .in_field(flag)
                .help(format!("leave {flag} out, or take another --model")))
        };
        let given = [
            ("--dropout", self.dropout.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--patience", self.patience.is_some()),
        ];
        let unused = given.into_iter().find(|(_, given)| *given);
        let dropout = |default: f32| self.dropout.unwrap_or(default);
        let architecture: Architecture = match self.model {
            Model::Ridge => return unused.map_or(Ok(None), |(flag, _)| refuse(flag, "ridge")),
            Model::Siren if self.dropout.is_some() => return refuse("--dropout", "siren"),
            Model::Siren => Siren::default().into(),
            Model::Mlp => Mlp { dropout: dropout(Mlp::default().dropout), ..Mlp::default() }.into(),
            Model::ResMlp => {
                ResMlp { dropout: dropout(ResMlp::default().dropout), ..ResMlp::default() }.into()
            }
            Model::Glu => Glu { dropout: dropout(Glu::default().dropout), ..Glu::default() }.into(),
        };
        let usual = Training::default();
        let training = Training {
            epochs: self.epochs.unwrap_or(usual.epochs),
            patience: self.patience.unwrap_or(usual.patience),
            ..usual
        };
        let config = NetworkConfig { architecture, training };
        config.validate()?;
        Ok(Some(config))
    }
}

// What was fitted, ready for other places.
enum Fitted {
    Ridge(Ridge),
    Network(Network),
}

impl Fitted {
    fn predict(&self, x: &Array2<f32>) -> Vec<f64> {
        match self {
            Self::Ridge(model) => model.predict(x),
            Self::Network(model) => model.predict(x),
        }
    }
}

#[derive(Serialize)]
struct Scores {
    model: Model,
    rows: usize,
    held_out: usize,
    features: usize,
    r2: f64,
    lon_lat_ridge_r2: f64,
    nearest_5_r2: f64,
    seed: u64,
}

pub(super) fn run(args: &Fit, shell: &Shell) -> Result<()> {
    let progress = shell.progress();
    let network = args.network()?;
    args.map.as_deref().map_or(Ok(()), picture::check)?;
    let table = args.hybrid.plain.points.needed("fitting")?;
    let target = target(&table.frame, &args.target)?;
    let n = target.len();
    if n < 20 {
        let message = format!("{n} rows are too few to hold some out: at least 20 are needed");
        return Err(table.frame.error(message));
    }
    let split = Split::new(n, args.seed);
    let pick = |values: &[f64], rows: &[usize]| -> Vec<f64> {
        rows.iter().map(|row| values[*row]).collect()
    };
    let (lon, lat) = (pick(&table.lon, &split.train), pick(&table.lat, &split.train));
    // The region and the scales are learned from the training rows alone.
    let encoder = SlepianEncoder::fit_with_progress(&args.hybrid.config()?, &lon, &lat, progress)?;
    encoder.warnings().iter().for_each(|warning| shell.say(format_args!("note: {warning}")));
    let features = encoder.transform_with_progress(&table.lon, &table.lat, progress)?;
    let parts =
        |x: &Array2<f32>| (rows(x, &split.train), rows(x, &split.validation), rows(x, &split.test));
    let [y, held_y, test_y] =
        [&split.train, &split.validation, &split.test].map(|r| pick(&target, r));
    let (x, held_x, test_x) = parts(&features);
    let model = match &network {
        None => Fitted::Ridge(Ridge::fit(&x, &y, &held_x, &held_y)?),
        Some(config) => {
            Fitted::Network(Network::fit(config, &x, &y, &held_x, &held_y, args.seed, progress)?)
        }
    };
    let predicted = model.predict(&test_x);
    if let Some(path) = &args.map {
        let least = y.iter().copied().fold(f64::INFINITY, f64::min);
        let most = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let map = prediction_map(&encoder, (&lon, &lat), [least, most], &args.target, 360, |x| {
            model.predict(x)
        })?;
        let title = format!("{} as {} sees it", args.target, args.model.name());
        let caption = format!(
            "Learned from {} rows; shown within {:.0} km of one, inside the outlined region, and \
             cut off at the least and the most that was learned from.",
            y.len(),
            map_reach_km(&encoder)
        );
        picture::draw(
            &Figure::new("predictions", title, Plot::Map(map)).caption(caption),
            path,
            shell,
        )?;
    }
    let plain = Array2::from_shape_fn((n, 2), |(i, k)| [table.lon[i], table.lat[i]][k] as f32);
    let (x, held_x, test_x) = parts(&plain);
    let linear = Ridge::fit(&x, &y, &held_x, &held_y)?.predict(&test_x);
    let near = Neighbors::new(&lon, &lat).mean(
        &y,
        &pick(&table.lon, &split.test),
        &pick(&table.lat, &split.test),
        5,
    );
    let scores = Scores {
        model: args.model,
        rows: n,
        held_out: test_y.len(),
        features: features.ncols(),
        r2: r_squared(&test_y, &predicted),
        lon_lat_ridge_r2: r_squared(&test_y, &linear),
        nearest_5_r2: r_squared(&test_y, &near),
        seed: args.seed,
    };
    if shell.json() {
        return shell.print_json(&scores);
    }
    let held = scores.held_out;
    shell.print(format_args!("R² of `{}` on {held} of {n} rows held out", args.target))?;
    let own = format!("{} on {} features", args.model.name(), scores.features);
    for (name, score) in [
        (own.as_str(), scores.r2),
        ("ridge on longitude and latitude", scores.lon_lat_ridge_r2),
        ("mean of the 5 nearest rows", scores.nearest_5_r2),
    ] {
        shell.print(format_args!("  {name:<34} {score:.3}"))?;
    }
    Ok(())
}

fn target(frame: &Frame, name: &str) -> Result<Vec<f64>> {
    let values = frame.numbers(name)?;
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(frame
            .error_at(index, name, "the value to predict is missing")
            .help("leave such rows out")),
        None => Ok(values.to_vec()),
    }
}
