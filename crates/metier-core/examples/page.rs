//! Writes a page with one figure of each kind, of invented numbers: for looking at how figures are
//! drawn. `cargo run -p metier-core --example page -- FOLDER`

use metier_core::evidence::{
    Axes, BarGroup, HeatMap, Histogram, Line, MapPoints, Options, Points, Raster, Report, WorldMap,
    run,
};
use metier_core::{
    Bar, Card, Cell, Claim, Error, Figure, Finding, Lab, Method, Need, Plot, Result, Samples,
    Scale, Silent, Table,
};
use std::f64::consts::PI;
use std::path::Path;

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "target/page".into());
    let options = Options { scale: Scale::Quick, seed: 0, data: Vec::new(), progress: &Silent };
    let outcomes = run(&[&Gallery, &Lost], &options, |_| Ok(()))?;
    println!("{}", Report::create(Path::new(&folder))?.write(&outcomes)?.display());
    Ok(())
}

struct Gallery;

impl Method for Gallery {
    fn card(&self) -> &'static Card {
        &Card {
            id: "gallery",
            name: "One figure of each kind",
            paper: "Invented numbers; no paper",
            job: "see how figures are drawn",
            command: "cargo run -p metier-core --example page -- target/page && echo look at it",
            data: "numbers made from sines",
            data_licence: "none needed",
        }
    }

    fn evidence(&self, _lab: &mut Lab) -> Result<Finding> {
        Ok(Finding {
            claims: claims(),
            tables: vec![table()],
            figures: [curves(), bars(), fields()].concat(),
            notes: vec!["Nothing here was measured.".into()],
        })
    }
}

struct Lost;

impl Method for Lost {
    fn card(&self) -> &'static Card {
        &Card {
            id: "lost",
            name: "A method without its data",
            paper: "Invented",
            job: "see how a failure looks",
            command: "metier data pull lost",
            data: "a set that nobody has",
            data_licence: "unknown",
        }
    }

    fn evidence(&self, _lab: &mut Lab) -> Result<Finding> {
        Err(Error::missing("the data set `lost` is not here").help("run `metier data pull lost`"))
    }
}

fn claims() -> Vec<Claim> {
    let claim =
        |id: &str, statement: &str, metric: &str, ours: &[f64], base: &[f64], bar, gate| Claim {
            id: id.into(),
            statement: statement.into(),
            metric: metric.into(),
            ours: Samples::from(ours.to_vec()),
            baseline: Samples::from(base.to_vec()),
            bar,
            gate,
        };
    let most = Need::Share(0.8);
    vec![
        claim(
            "lower-loss",
            "Ours reaches a lower loss on held-out text than the usual optimizer after as many steps",
            "held-out loss, nats per token",
            &[2.1, 2.11, 2.09, 2.12, 2.3],
            &[2.2, 2.21, 2.19, 2.25, 2.24],
            Bar::Lower { by: 0.02, need: most },
            true,
        ),
        claim(
            "exact",
            "Two routes give one basis",
            "largest difference",
            &[3.1e-12],
            &[0.0],
            Bar::EqualWithin(1e-9),
            true,
        ),
        claim(
            "short",
            "Ours is better by a fifth",
            "accuracy",
            &[0.81, 0.8],
            &[0.79, 0.8],
            Bar::MeanAtLeast(0.2),
            true,
        ),
        claim(
            "doubt",
            "More columns always help",
            "R² by columns",
            &[0.4, 0.6, 0.55],
            &[],
            Bar::Rises,
            false,
        ),
    ]
}

fn table() -> Table {
    let columns =
        ["encoder", "columns", "ridge R²", "forest R²", "k-NN R²", "seconds", "where from"];
    let mut table = Table::new("Test R² by encoder, mean over five seeds", columns);
    for (name, count, shift) in
        [("longitude, latitude", 2, 0.0), ("Fourier", 64, 0.1), ("ours", 97, 0.2)]
    {
        let number = |base: f64| Cell::number(base + shift, 3);
        table.row([
            name.into(),
            Cell::from(count as usize),
            number(0.412),
            number(0.613),
            number(0.581),
            Cell::number(1.25, 1),
            "computed here from the same split".into(),
        ]);
    }
    table.row(["not measured".into()]);
    table
}

fn series(n: usize, f: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..n).map(|i| f(i as f64)).collect()
}

fn curves() -> Vec<Figure> {
    let line = |name: &str, rate: f64, n: usize| {
        let x = series(n, |i| 20.0 * (i + 1.0));
        let runs: Vec<Vec<f64>> = [0.9, 1.0, 1.15]
            .iter()
            .map(|s| series(n, |i| 1.5 + s * 4.0 * (-rate * i / n as f64).exp()))
            .collect();
        Line::over_seeds(name, x, &runs)
    };
    let names =
        ["OLion", "AdamW", "Lion, scaled to the root mean square", "Muon", "AdaMuon", "Signum"];
    let lines = names.iter().enumerate().map(|(i, name)| line(name, 1.0 + i as f64, 100)).collect();
    let cloud = |name: &str, turn: f64, n: usize| Points {
        name: name.into(),
        x: series(n, |i| (0.7 * i + turn).sin() * (1.0 + 0.1 * i)),
        y: series(n, |i| (1.3 * i + turn).cos() * (1.0 + 0.1 * i)),
    };
    let decays = ["ours", "exact"].iter().enumerate().map(|(n, name)| {
        let rate = -0.8 - 0.3 * n as f64;
        let x = series(12, |i| 2f64.powf(i));
        Line::new(*name, x.clone(), x.iter().map(|x| 0.3 * x.powf(rate)).collect())
    });
    let step_axes = Axes::new("step", "held-out loss, nats per token");
    vec![
        Figure::new(
            "lines",
            "Held-out loss while training",
            Plot::Lines { axes: step_axes, lines },
        )
        .caption("Mean over three seeds; the band runs from the least to the greatest."),
        Figure::new(
            "log-lines",
            "Error against the number of columns",
            Plot::Lines {
                axes: Axes::new("columns", "relative error").log_x().log_y(),
                lines: decays.collect(),
            },
        ),
        Figure::new(
            "scatter",
            "Two groups",
            Plot::Scatter {
                axes: Axes::new("first coordinate", "second coordinate"),
                points: vec![cloud("inside", 0.0, 60), cloud("outside", 1.0, 40)],
            },
        ),
    ]
}

fn bars() -> Vec<Figure> {
    let group = |label: &str, values: [f64; 3]| BarGroup {
        label: label.into(),
        values: values.to_vec(),
        errors: vec![0.02, 0.03, 0.0],
    };
    let names = || vec!["ours".to_owned(), "logistic regression".into(), "tree".into()];
    let short = ["age", "lactate", "GCS"].map(|label| group(label, [0.81, 0.79, 0.7]));
    let long = [
        "worst systolic blood pressure in the first day",
        "any vasopressor within six hours of admission",
        "difference of two",
    ];
    let long = long.iter().enumerate().map(|(i, label)| group(label, [0.4, -0.1 * i as f64, 0.3]));
    let bell = |at: f64| series(24, |i| (400.0 * (-(i - at).powi(2) / 20.0).exp()).round());
    vec![
        Figure::new(
            "bars",
            "Area under the curve",
            Plot::Bars { y_label: "AUROC".into(), names: names(), groups: short.to_vec() },
        ),
        Figure::new(
            "long-bars",
            "Weights of items with long names",
            Plot::Bars { y_label: "weight".into(), names: names(), groups: long.collect() },
        ),
        Figure::new(
            "histogram",
            "Scores of two groups",
            Plot::Histogram(Histogram {
                x_label: "score".into(),
                y_label: "patients".into(),
                edges: series(25, |i| 0.25 * i),
                series: vec![("survived".into(), bell(8.0)), ("died".into(), bell(14.0))],
            }),
        ),
    ]
}

fn fields() -> Vec<Figure> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let field = |lon: f64, lat: f64| {
        (lon.to_radians() * 3.0).sin()
            * (lat.to_radians() * 2.0).cos()
            * (-((lon - 20.0) / 60.0).powi(2)).exp()
    };
    let (width, height) = (180, 90);
    let values = (0..width * height)
        .map(|i| {
            let lon = -180.0 + 2.0 * ((i % width) as f64 + 0.5);
            let lat = 90.0 - 2.0 * ((i / width) as f64 + 0.5);
            if lat.abs() > 80.0 { f64::NAN } else { field(lon, lat) }
        })
        .collect();
    let ring = |lon: f64, lat: f64, r: f64| {
        let turn = |i: usize| 2.0 * PI * i as f64 / 60.0;
        (0..=60).map(|i| (lon + r * turn(i).cos(), lat + r * turn(i).sin())).collect::<Vec<_>>()
    };
    let places: Vec<(f64, f64)> = (0..80)
        .map(f64::from)
        .map(|i| (-123.0 + 8.0 * (i * 0.37).sin().abs(), 33.0 + 8.0 * (i * 0.71).cos().abs()))
        .collect();
    let rows: Vec<Vec<f64>> =
        (0..5).map(|r| series(5, |c| (0.4 * (f64::from(r) - c)).cos())).collect();
    vec![
        Figure::new(
            "heat",
            "Agreement of five runs",
            Plot::HeatMap(HeatMap {
                value_label: "correlation".into(),
                columns: names(&["first", "second", "third", "fourth", "a much longer name"]),
                rows: names(&["first", "second", "third", "fourth", "a much longer name"]),
                values: rows,
                signed: true,
                ..HeatMap::default()
            }),
        ),
        Figure::new(
            "large-heat",
            "A Gram matrix",
            Plot::HeatMap(HeatMap {
                x_label: "column".into(),
                y_label: "row".into(),
                value_label: "|G|".into(),
                values: (0..80)
                    .map(|r| series(120, |c| (-(f64::from(r) * 1.5 - c).abs() / 9.0).exp()))
                    .collect(),
                ..HeatMap::default()
            }),
        ),
        Figure::new(
            "world",
            "A function on the whole earth",
            Plot::Map(WorldMap {
                window: [-180.0, -90.0, 180.0, 90.0],
                raster: Some(Raster { width, height, values }),
                outlines: vec![
                    ring(-100.0, 45.0, 20.0),
                    ring(25.0, 5.0, 22.0),
                    ring(170.0, -20.0, 15.0),
                ],
                region: vec![ring(20.0, 10.0, 40.0)],
                value_label: "first basis function".into(),
                signed: true,
                ..WorldMap::default()
            }),
        ),
        Figure::new(
            "window",
            "Places in a window",
            Plot::Map(WorldMap {
                window: [-125.0, 32.0, -113.0, 42.5],
                outlines: vec![ring(-119.0, 37.0, 4.5), ring(-130.0, 37.0, 8.0)],
                points: Some(MapPoints {
                    values: places.iter().map(|(lon, lat)| lon + lat).collect(),
                    places,
                }),
                value_label: "median house value".into(),
                ..WorldMap::default()
            }),
        ),
    ]
}
