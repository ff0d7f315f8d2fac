//! The experiment: house prices in California and prefectures of Japanese places, from the location
//! alone, by each encoder.

use super::baselines::{Baseline, Scales};
use super::encoder::{SlepianConfig, SlepianEncoder};
use super::figures::{eigenvalue_curve, field_map, mode_map, points_map};
use super::region::Region;
use crate::learn::{
    Logistic, LogisticConfig, Mlp, MlpConfig, Neighbors, Ridge, Split, accuracy, folds, r_squared,
    rows,
};
use metier_core::evidence::BarGroup;
use metier_core::{
    Bar, Card, Cell, Claim, Figure, Finding, Lab, Method, Need, Plot, Result, Samples, Scale, Table,
};
use metier_data::{embedded, read, registry};
use ndarray::Array2;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The method, for the list of methods.
pub struct Slepian;

static CARD: Card = Card {
    id: "slepian",
    name: "Slepian location encoder",
    paper: "Rao, Crasto, Ooms, Rolnick, Klemmer & Rußwurm, \"Localized, High-resolution Geographic \
            Representations with Slepian Functions\", ICML 2026, arXiv 2602.00392",
    job: "turn places into features that are fine inside a region",
    command: "metier slepian encode --in houses.csv --region fit --L 120 -o features.csv",
    data: "2,188 places of Japan (embedded); California housing, 20,640 rows (from a path)",
    data_licence: "GeoNames CC BY 4.0; Apache-2.0",
};

impl Method for Slepian {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn evidence(&self, lab: &mut Lab) -> Result<Finding> {
        let mut finding = Finding::default();
        japan(lab, &mut finding)?;
        match registry::file("california-housing", "housing.csv", lab.data("california-housing")) {
            Ok(path) => california(lab, &Houses::read(&path)?, &mut finding)?,
            Err(error) => finding.notes.push(format!(
                "California housing was left out: {error}. Hand the file over with \
                 `--data california-housing=housing.csv`."
            )),
        }
        Ok(finding)
    }
}

/// One arm of a comparison.
#[derive(Clone)]
enum Arm {
    Plain(Baseline),
    /// Slepian functions of this L, beside global harmonics of this many degrees.
    Slepian {
        region: Region,
        l: usize,
        global_l: usize,
    },
}

impl Arm {
    fn name(&self) -> String {
        match self {
            Self::Plain(baseline) => baseline.name(),
            Self::Slepian { l, global_l: 0, .. } => format!("Slepian {l}"),
            Self::Slepian { l, .. } => format!("hybrid {l}"),
        }
    }

    fn encode(&self, lon: &[f64], lat: &[f64], seed: u64) -> Result<Array2<f32>> {
        match self {
            Self::Plain(baseline) => baseline.encode(lon, lat, seed),
            Self::Slepian { region, l, global_l } => {
                let config = SlepianConfig {
                    region: region.clone().into(),
                    l: *l,
                    global_l: *global_l,
                    max_modes: 4000,
                    scale: false,
                    ..SlepianConfig::default()
                };
                SlepianEncoder::fit(&config, lon, lat)?.transform(lon, lat)
            }
        }
    }
}

fn slepian(region: &Region, l: usize, global_l: usize) -> Arm {
    Arm::Slepian { region: region.clone(), l, global_l }
}

// ---- Japan ----

fn japan(lab: &Lab, finding: &mut Finding) -> Result<()> {
    let places = embedded::places_japan()?;
    let (lon, lat) = (places.numbers("lon")?, places.numbers("lat")?);
    let names = places.column("prefecture")?.labels();
    let codes: BTreeMap<&Option<String>, usize> =
        names.iter().collect::<std::collections::BTreeSet<_>>().into_iter().zip(0..).collect();
    let labels: Vec<usize> = names.iter().map(|name| codes[name]).collect();
    let region = Region::cap(138.0, 36.0, 10.0);
    let mut arms = vec![Arm::Plain(Baseline::LonLat), Arm::Plain(Baseline::Sh(10))];
    arms.extend([40, 80, 120].map(|l| slepian(&region, l, 0)));
    if lab.scale == Scale::Full {
        arms.insert(1, Arm::Plain(Baseline::Cartesian));
        arms.insert(2, Arm::Plain(Baseline::Grid(Scales::default())));
        arms.push(slepian(&region, 120, 10));
    }
    let seeds = lab.seeds(lab.pick(1, 3));
    let features: Vec<Array2<f32>> =
        arms.iter().map(|arm| arm.encode(lon, lat, lab.seed)).collect::<Result<_>>()?;
    let jobs: Vec<(usize, usize, usize)> = (0..arms.len())
        .flat_map(|arm| (0..seeds.len()).flat_map(move |s| (0..5).map(move |fold| (arm, s, fold))))
        .collect();
    lab.progress.begin("prefectures of Japan", Some(jobs.len() as u64));
    let all_folds: Vec<Vec<Vec<usize>>> =
        seeds.iter().map(|seed| folds(&labels, 5, *seed)).collect();
    let config = LogisticConfig { c: 10.0, steps: lab.pick(100, 300), tolerance: 1e-4 };
    let scores: Vec<f64> = jobs
        .par_iter()
        .map(|&(arm, s, fold)| {
            let (train, test) = apart(&all_folds[s], fold);
            let chosen: Vec<usize> = train.iter().map(|row| labels[*row]).collect();
            let x = rows(&features[arm], &train);
            let model = Logistic::fit(&config, &x, &chosen, codes.len(), lab.progress)?;
            let truth: Vec<usize> = test.iter().map(|row| labels[*row]).collect();
            lab.progress.advance(1);
            Ok(accuracy(&truth, &model.predict(&rows(&features[arm], &test))))
        })
        .collect::<Result<_>>()?;
    lab.progress.finish();
    // The mean over the folds, one number per seed.
    let of = |arm: usize| -> Vec<f64> {
        let first = arm * seeds.len() * 5;
        let all = &scores[first..first + seeds.len() * 5];
        all.chunks_exact(5).map(|folds| folds.iter().sum::<f64>() / 5.0).collect()
    };
    let nearest: Vec<f64> =
        all_folds.iter().map(|folds| one_neighbour(lon, lat, &labels, folds)).collect();

    let mut table = Table::new(
        "Prefectures of 2,188 Japanese places (47 classes), logistic regression, 5 folds",
        ["encoder", "features", "accuracy"],
    );
    for (arm, features) in features.iter().enumerate() {
        let mean = Samples::from(of(arm)).mean();
        table.row([arms[arm].name().into(), features.ncols().into(), Cell::number(mean, 3)]);
    }
    let mean = Samples::from(nearest).mean();
    table.row(["nearest place (no encoder)".into(), Cell::Empty, Cell::number(mean, 3)]);
    finding.tables.push(table);
    let position = |name: &str| arms.iter().position(|arm| arm.name() == name).unwrap_or(0);
    finding.claims.push(Claim {
        id: "japan-beats-harmonics".into(),
        statement: "The functions of a cap around Japan tell prefectures apart better than 100 \
                    global harmonics"
            .into(),
        metric: "accuracy, mean over 5 folds".into(),
        ours: of(position("Slepian 120")).into(),
        baseline: of(position("SH 10")).into(),
        bar: Bar::Higher { by: 0.06, need: Need::All },
        gate: true,
    });
    let steps = [40, 80, 120].map(|l| Samples::from(of(position(&format!("Slepian {l}")))).mean());
    finding.claims.push(Claim {
        id: "japan-rises-with-l".into(),
        statement: "A finer resolution tells prefectures apart better".into(),
        metric: "accuracy at L = 40, 80, 120".into(),
        ours: steps.into(),
        baseline: Samples::none(),
        bar: Bar::Rises,
        gate: true,
    });
    finding.notes.push(format!(
        "The nearest known place alone tells the prefecture in {:.1} % of cases: for \
         interpolation between dense points it is a strong rival that needs no features.",
        100.0 * mean
    ));
    let basis = super::SlepianBasis::new(&region, 120, 0.05, 800)?;
    let curve = eigenvalue_curve(&basis);
    let caption = format!("A cap of 10 degrees around Japan. {}", curve.caption);
    finding.figures.push(curve.caption(caption));
    for mode in lab.pick(vec![0, 40], vec![0, 1, 40, 90]) {
        let mut figure = mode_map(&region, &basis, mode, lab.pick(160, 240))?;
        figure.id = format!("japan-{}", figure.id);
        finding.figures.push(figure);
    }
    let colours = labels.iter().map(|label| *label as f64).collect();
    let dots = lon.iter().copied().zip(lat.iter().copied()).collect();
    let map = points_map(&region, dots, colours, "prefecture")?;
    finding.figures.push(
        Figure::new("japan-places", "Places of Japan by prefecture", Plot::Map(map)).caption(
            "The 2,188 embedded places; the outline is the cap that the functions live in.",
        ),
    );
    Ok(())
}

// The rows outside and inside one fold.
fn apart(folds: &[Vec<usize>], fold: usize) -> (Vec<usize>, Vec<usize>) {
    let others = folds.iter().enumerate().filter(|(k, _)| *k != fold);
    (others.flat_map(|(_, rows)| rows.iter().copied()).collect(), folds[fold].clone())
}

fn one_neighbour(lon: &[f64], lat: &[f64], labels: &[usize], folds: &[Vec<usize>]) -> f64 {
    let share = |fold: usize| {
        let (train, test) = apart(folds, fold);
        let tree = Neighbors::new(&pick(lon, &train), &pick(lat, &train));
        let found = tree.label(&pick(labels, &train), &pick(lon, &test), &pick(lat, &test));
        accuracy(&pick(labels, &test), &found)
    };
    (0..folds.len()).map(share).sum::<f64>() / folds.len() as f64
}

fn pick<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().map(|row| values[*row]).collect()
}

// ---- California ----

struct Houses {
    lon: Vec<f64>,
    lat: Vec<f64>,
    value: Vec<f64>,
}

impl Houses {
    fn read(path: &std::path::Path) -> Result<Self> {
        let frame = read::frame(path)?;
        let column = |name: &str| frame.numbers(name).map(<[f64]>::to_vec);
        // In hundreds of thousands of dollars.
        let value = column("median_house_value")?.into_iter().map(|v| v / 1e5).collect();
        Ok(Self { lon: column("longitude")?, lat: column("latitude")?, value })
    }
}

fn california(lab: &Lab, houses: &Houses, finding: &mut Finding) -> Result<()> {
    let region = Region::cap(-119.5, 37.0, 7.5);
    let plain = Arm::Plain;
    let arms: Vec<Arm> = match lab.scale {
        Scale::Quick => {
            let mut arms = vec![plain(Baseline::LonLat), plain(Baseline::Sh(10))];
            arms.extend([40, 80, 120].map(|l| slepian(&region, l, 0)));
            arms
        }
        Scale::Full => {
            let mut arms = vec![
                plain(Baseline::LonLat),
                plain(Baseline::Cartesian),
                plain(Baseline::Wrap),
                plain(Baseline::Grid(Scales::default())),
                plain(Baseline::SphereC(Scales::default())),
                plain(Baseline::Sh(10)),
                plain(Baseline::Sh(40)),
            ];
            arms.extend([40, 80, 120].map(|l| slepian(&region, l, 0)));
            arms.extend([80, 120].map(|l| slepian(&region, l, 10)));
            arms
        }
    };
    let seeds = lab.seeds(lab.pick(1, 3));
    // At quick scale a network is trained for the two encoders that matter most.
    let networks: Vec<usize> = (0..arms.len())
        .filter(|arm| {
            lab.scale == Scale::Full
                || ["SH 10", "Slepian 80"].contains(&arms[*arm].name().as_str())
        })
        .collect();
    let features: Vec<Array2<f32>> = arms
        .iter()
        .map(|arm| arm.encode(&houses.lon, &houses.lat, lab.seed))
        .collect::<Result<_>>()?;
    let splits: Vec<Split> = seeds.iter().map(|seed| Split::new(houses.lon.len(), *seed)).collect();
    let jobs: Vec<(usize, usize)> =
        networks.iter().flat_map(|arm| (0..seeds.len()).map(move |s| (*arm, s))).collect();
    lab.progress.begin("house prices of California", Some((jobs.len() + arms.len()) as u64));
    let linear: Vec<f64> = features
        .iter()
        .map(|x| {
            lab.progress.check()?;
            let score = ridge_score(x, &houses.value, &splits[0]);
            lab.progress.advance(1);
            score
        })
        .collect::<Result<_>>()?;
    let trained: Vec<f64> = jobs
        .par_iter()
        .map(|&(arm, s)| {
            let score = mlp_score(&features[arm], &houses.value, &splits[s], seeds[s], lab);
            lab.progress.advance(1);
            score
        })
        .collect::<Result<_>>()?;
    lab.progress.finish();
    let network = |name: &str| -> Vec<f64> {
        let hits = jobs.iter().zip(&trained).filter(|((arm, _), _)| arms[*arm].name() == name);
        hits.map(|(_, score)| *score).collect()
    };
    let near: Vec<(usize, f64)> = [5, 10]
        .map(|k| {
            (
                k,
                splits.iter().map(|split| knn_score(houses, split, k)).sum::<f64>()
                    / splits.len() as f64,
            )
        })
        .into();

    let mut table = Table::new(
        "California housing from the location alone: R² on the fifth that was held out",
        ["encoder", "features", "ridge", "network, mean", "network, per seed"],
    );
    let mut groups = Vec::new();
    for (arm, x) in features.iter().enumerate() {
        let name = arms[arm].name();
        let runs = Samples::from(network(&name));
        let each: Vec<String> = runs.iter().map(|score| format!("{score:.3}")).collect();
        let mean = if runs.is_empty() { Cell::Empty } else { Cell::number(runs.mean(), 3) };
        table.row([
            name.clone().into(),
            x.ncols().into(),
            Cell::number(linear[arm], 3),
            mean,
            each.join(" ").into(),
        ]);
        let values = vec![linear[arm], if runs.is_empty() { f64::NAN } else { runs.mean() }];
        groups.push(BarGroup { label: name, values, errors: Vec::new() });
    }
    for (k, score) in &near {
        let name = format!("{k} nearest houses (no encoder)");
        table.row([name.into(), Cell::Empty, Cell::Empty, Cell::number(*score, 3)]);
    }
    finding.tables.push(table);
    let plot = Plot::Bars {
        y_label: "R² on held-out houses".into(),
        names: vec!["ridge".into(), "network".into()],
        groups,
    };
    finding.figures.push(
        Figure::new("housing-r2", "House prices from the location alone", plot).caption(format!(
            "Median house values of 20,640 districts; the average of the 5 nearest known districts \
             reaches {:.2}, above every encoder with a small network.",
            near[0].1
        )),
    );
    housing_claims(lab, &network, &arms, &linear, finding);
    finding.notes.push(format!(
        "The mean of the 5 nearest districts explains {:.2} of the variance of held-out house values, \
         more than every encoder with a small network here. The encoder's use is smooth columns \
         that go into any model beside other columns.",
        near[0].1
    ));
    if lab.scale == Scale::Full {
        let hybrid = Samples::from(network("hybrid 120")).mean();
        let alone = Samples::from(network("Slepian 120")).mean();
        finding.notes.push(format!(
            "Global harmonics beside the functions of the cap score {hybrid:.3} where the functions \
             alone score {alone:.3}: when all points lie inside the region, leave them out."
        ));
        beyond(lab, houses, &seeds, finding)?;
    }
    finding.figures.push(price_map(lab, houses, &region, &splits[0])?);
    Ok(())
}

fn housing_claims(
    lab: &Lab,
    network: &dyn Fn(&str) -> Vec<f64>,
    arms: &[Arm],
    linear: &[f64],
    finding: &mut Finding,
) {
    let position = |name: &str| arms.iter().position(|arm| arm.name() == name).unwrap_or(0);
    finding.claims.push(Claim {
        id: "housing-ridge-rises-with-l".into(),
        statement: "A finer resolution explains house prices better in a linear model".into(),
        metric: "R² of ridge regression at L = 40, 80, 120".into(),
        ours: [40, 80, 120].map(|l| linear[position(&format!("Slepian {l}"))]).into(),
        baseline: Samples::none(),
        bar: Bar::Rises,
        gate: true,
    });
    let rivals: &[&str] = lab.pick(&["SH 10"], &["SH 10", "SH 40", "Cartesian", "lon/lat"]);
    for ours in lab.pick(&["Slepian 80"][..], &["Slepian 80", "Slepian 120"]) {
        for rival in rivals {
            let words = |name: &str| name.to_lowercase().replace([' ', '/'], "-");
            finding.claims.push(Claim {
                id: format!("housing-{}-beats-{}", words(ours), words(rival)),
                statement: format!("{ours} explains house prices better than {rival}"),
                metric: "R² of a network of 128 and 64 units".into(),
                ours: network(ours).into(),
                baseline: network(rival).into(),
                bar: Bar::Higher { by: 0.03, need: Need::All },
                gate: true,
            });
        }
    }
    if lab.scale == Scale::Full {
        finding.claims.push(Claim {
            id: "housing-12-features-match-100".into(),
            statement: "12 functions of the cap do at least as well as 100 global harmonics".into(),
            metric: "R² of a network of 128 and 64 units".into(),
            ours: network("Slepian 40").into(),
            baseline: network("SH 10").into(),
            bar: Bar::Higher { by: 0.0, need: Need::All },
            gate: true,
        });
    }
}

// Beyond the paper's L: out of reach for its route, seconds for this one.
fn beyond(lab: &Lab, houses: &Houses, seeds: &[u64], finding: &mut Finding) -> Result<()> {
    let region = Region::cap(-119.5, 37.25, 6.5);
    let seeds = &seeds[..2];
    let sizes = [120, 250, 400, 600];
    let mut table = Table::new(
        "Beyond the paper's L: California housing, ridge regression",
        ["L", "features", "resolution in km", "R², first split", "R², second split"],
    );
    let mut means = Vec::new();
    lab.progress.begin("L up to 600", Some(sizes.len() as u64));
    for l in sizes {
        let x = slepian(&region, l, 0).encode(&houses.lon, &houses.lat, 0)?;
        let mut scores = Vec::new();
        for seed in seeds {
            lab.progress.check()?;
            scores.push(ridge_score(&x, &houses.value, &Split::new(houses.lon.len(), *seed))?);
        }
        table.row([
            l.into(),
            x.ncols().into(),
            Cell::number(super::resolution_km(l), 0),
            Cell::number(scores[0], 3),
            Cell::number(scores[1], 3),
        ]);
        means.push(Samples::from(scores).mean());
        lab.progress.advance(1);
    }
    lab.progress.finish();
    finding.tables.push(table);
    finding.claims.push(Claim {
        id: "housing-beyond-the-paper".into(),
        statement: "House prices are explained better and better up to L = 600".into(),
        metric: "R² of ridge regression at L = 120, 250, 400, 600, mean of two splits".into(),
        ours: means.into(),
        baseline: Samples::none(),
        bar: Bar::Rises,
        gate: true,
    });
    Ok(())
}

fn ridge_score(x: &Array2<f32>, y: &[f64], split: &Split) -> Result<f64> {
    let (train, held, test) = (&split.train, &split.validation, &split.test);
    let model = Ridge::fit(&rows(x, train), &pick(y, train), &rows(x, held), &pick(y, held))?;
    Ok(r_squared(&pick(y, test), &model.predict(&rows(x, test))))
}

fn mlp_score(x: &Array2<f32>, y: &[f64], split: &Split, seed: u64, lab: &Lab) -> Result<f64> {
    let (train, held, test) = (&split.train, &split.validation, &split.test);
    let config = MlpConfig { epochs: lab.pick(60, 200), ..MlpConfig::default() };
    let (x_train, x_held) = (rows(x, train), rows(x, held));
    let (y_train, y_held) = (pick(y, train), pick(y, held));
    let model = Mlp::fit(&config, &x_train, &y_train, &x_held, &y_held, seed, lab.progress)?;
    Ok(r_squared(&pick(y, test), &model.predict(&rows(x, test))))
}

fn knn_score(houses: &Houses, split: &Split, k: usize) -> f64 {
    let (train, test) = (&split.train, &split.test);
    let tree = Neighbors::new(&pick(&houses.lon, train), &pick(&houses.lat, train));
    let found = tree.mean(
        &pick(&houses.value, train),
        &pick(&houses.lon, test),
        &pick(&houses.lat, test),
        k,
    );
    r_squared(&pick(&houses.value, test), &found)
}

// What a ridge regression on the functions predicts, shown where there are houses nearby.
fn price_map(lab: &Lab, houses: &Houses, region: &Region, split: &Split) -> Result<Figure> {
    let l = lab.pick(120, 250);
    let arm = slepian(region, l, 0);
    let x = arm.encode(&houses.lon, &houses.lat, 0)?;
    let y = &houses.value;
    let (train, held) = (&split.train, &split.validation);
    let model = Ridge::fit(&rows(&x, train), &pick(y, train), &rows(&x, held), &pick(y, held))?;
    let near = Neighbors::new(&houses.lon, &houses.lat);
    let window = [-125.0, 32.0, -113.5, 42.5];
    // Between the last houses and the edge a linear model runs away, and a colour scale with it.
    let least = y.iter().copied().fold(f64::INFINITY, f64::min);
    let most = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut map = field_map(region, window, lab.pick(160, 240), |lon, lat| {
        let mut predicted = model.predict(&arm.encode(lon, lat, 0)?);
        predicted.iter_mut().for_each(|value| *value = value.clamp(least, most));
        let shown = |i: usize| {
            let house = near.nearest(lon[i], lat[i], 1)[0];
            let (dx, dy) = (houses.lon[house] - lon[i], houses.lat[house] - lat[i]);
            dx.hypot(dy) < 0.25
        };
        Ok((0..lon.len()).map(|i| if shown(i) { predicted[i] } else { f64::NAN }).collect())
    })?;
    map.signed = false;
    map.region.clear();
    map.value_label = "median house value, $100,000".into();
    Ok(Figure::new("housing-map", "House prices as a linear model sees them", Plot::Map(map))
        .caption(format!(
            "Ridge regression on {} functions (L = {l}), shown within a quarter degree of a \
             district and cut off at the least and the most that a house is worth.",
            x.ncols()
        )))
}
