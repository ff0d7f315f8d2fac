//! Prefectures of Japanese places by logistic regression.

use super::super::baselines::{Baseline, Scales};
use super::super::basis::SlepianBasis;
use super::super::figures::{eigenvalue_curve, mode_map, points_map};
use super::super::region::Region;
use super::{Arm, pick, position, slepian};
use crate::learn::{Logistic, LogisticConfig, Neighbors, accuracy, folds, rows};
use metier_core::{
    Bar, Cell, Claim, Figure, Finding, Lab, Need, Plot, Result, Samples, Scale, Table,
};
use metier_data::embedded;
use ndarray::Array2;
use rayon::prelude::*;
use std::collections::BTreeMap;

pub(super) fn japan(lab: &Lab, finding: &mut Finding) -> Result<()> {
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
        seeds.iter().map(|seed| folds(&labels, 5, *seed)).collect::<Result<_>>()?;
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
    let named = |name: &str| position(&arms, name).map(of);
    finding.claims.push(Claim {
        id: "japan-beats-harmonics".into(),
        statement: "The functions of a cap around Japan tell prefectures apart better than 100 \
                    global harmonics"
            .into(),
        metric: "accuracy, mean over 5 folds".into(),
        ours: named("Slepian 120")?.into(),
        baseline: named("SH 10")?.into(),
        bar: Bar::Higher { by: 0.06, need: Need::All },
        gate: true,
    });
    let steps: Vec<f64> = [40, 80, 120]
        .into_iter()
        .map(|l| Ok(Samples::from(named(&format!("Slepian {l}"))?).mean()))
        .collect::<Result<_>>()?;
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
    let basis = SlepianBasis::new(&region, 120, 0.05, 800)?;
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
