//! The paper's other learners on the features, and its models that take plain coordinates.

use super::super::baselines::Baseline;
use super::super::region::Region;
use super::california::{Houses, ridge_score};
use super::networks::score;
use super::{Arm, pick, slepian};
use crate::learn::{
    Architecture, DeepRff, Glu, Mlp, ResMlp, Siren, SparseGp, SparseGpConfig, Split, r_squared,
    rows,
};
use metier_core::{Bar, Cell, Claim, Finding, Lab, Need, Result, Samples, Table};
use ndarray::Array2;
use rayon::prelude::*;

/// Every architecture on global harmonics and on the functions of the cap, trained once each.
pub(super) fn architectures(
    lab: &Lab,
    houses: &Houses,
    region: &Region,
    split: &Split,
    finding: &mut Finding,
) -> Result<()> {
    let arms = [Arm::Plain(Baseline::Sh(10)), slepian(region, 80, 0)];
    let learners: [(&str, Architecture); 4] = [
        ("MLP", Mlp { dropout: 0.1, ..Mlp::default() }.into()),
        ("ResMLP", ResMlp::default().into()),
        ("SIREN", Siren::default().into()),
        ("GLU", Glu::default().into()),
    ];
    let encoded = arms.iter().map(|arm| arm.encode(&houses.lon, &houses.lat, lab.seed));
    let features: Vec<Array2<f32>> = encoded.collect::<Result<_>>()?;
    let jobs: Vec<(usize, usize)> =
        (0..learners.len()).flat_map(|l| (0..arms.len()).map(move |arm| (l, arm))).collect();
    lab.progress.begin("architectures on house prices", Some(jobs.len() as u64));
    let scores: Vec<f64> = jobs
        .par_iter()
        .with_max_len(1)
        .map(|&(learner, arm)| {
            let (_, architecture) = learners[learner];
            let score = score(lab, architecture, &features[arm], &houses.value, split, lab.seed);
            lab.progress.advance(1);
            score
        })
        .collect::<Result<_>>()?;
    lab.progress.finish();
    let mut table = Table::new(
        "California housing by learner: R² on the fifth that was held out, one training, one split",
        ["learner", "SH 10", "Slepian 80"],
    );
    let linear: Vec<f64> =
        features.iter().map(|x| ridge_score(x, &houses.value, split)).collect::<Result<_>>()?;
    let mut rivals = vec![linear[0]];
    let mut ours = vec![linear[1]];
    for pair in scores.chunks_exact(2) {
        rivals.push(pair[0]);
        ours.push(pair[1]);
    }
    let names = ["linear"].into_iter().chain(learners.iter().map(|(name, _)| *name));
    for ((name, rival), ours) in names.zip(&rivals).zip(&ours) {
        table.row([name.into(), Cell::number(*rival, 3), Cell::number(*ours, 3)]);
    }
    finding.tables.push(table);
    finding.claims.push(Claim {
        id: "housing-lead-over-learners".into(),
        statement: "Slepian 80 explains house prices better than SH 10 with every learner".into(),
        metric: "R² of linear, MLP, ResMLP, SIREN, GLU, one training each".into(),
        ours: ours.into(),
        baseline: rivals.into(),
        bar: Bar::Higher { by: 0.0, need: Need::All },
        gate: false,
    });
    Ok(())
}

/// Models that take longitude and latitude as they are.
pub(super) fn without_encoder(
    lab: &Lab,
    houses: &Houses,
    splits: &[Split],
    near: &[(usize, f64)],
    finding: &mut Finding,
) -> Result<()> {
    let x = Baseline::LonLat.encode(&houses.lon, &houses.lat, lab.seed)?;
    let deep = DeepRff { features: 256, width: 32, ..DeepRff::default() };
    lab.progress.begin("models of plain coordinates", Some(2 * splits.len() as u64));
    let jobs: Vec<(bool, usize)> =
        [true, false].into_iter().flat_map(|gp| (0..splits.len()).map(move |s| (gp, s))).collect();
    let scores: Vec<f64> = jobs
        .par_iter()
        .with_max_len(1)
        .map(|&(gp, split)| {
            let (split, seed) = (&splits[split], lab.seed.wrapping_add(split as u64));
            let score = if gp {
                gp_score(lab, &x, &houses.value, split, seed)
            } else {
                score(lab, deep.into(), &x, &houses.value, split, seed)
            };
            lab.progress.advance(1);
            score
        })
        .collect::<Result<_>>()?;
    lab.progress.finish();
    let mut table = Table::new(
        "California housing from plain coordinates: R² on the fifth that was held out",
        ["model", "R²", "per split"],
    );
    let names = ["sparse Gaussian process, 300 places", "deep random features, 3 layers of 256"];
    for (name, scores) in names.into_iter().zip(scores.chunks_exact(splits.len())) {
        let texts: Vec<String> = scores.iter().map(|score| format!("{score:.3}")).collect();
        let mean = Samples::from(scores.to_vec()).mean();
        table.row([name.into(), Cell::number(mean, 3), texts.join(" ").into()]);
    }
    for (k, score) in near {
        table.row([format!("mean of the {k} nearest").into(), Cell::number(*score, 3)]);
    }
    finding.tables.push(table);
    Ok(())
}

fn gp_score(lab: &Lab, x: &Array2<f32>, y: &[f64], split: &Split, seed: u64) -> Result<f64> {
    let (train, test) = (&split.train, &split.test);
    let config = SparseGpConfig::default();
    let model = SparseGp::fit(&config, &rows(x, train), &pick(y, train), seed, lab.progress)?;
    let found: Vec<f64> = model.predict(&rows(x, test)).iter().map(|(mean, _)| *mean).collect();
    Ok(r_squared(&pick(y, test), &found))
}
