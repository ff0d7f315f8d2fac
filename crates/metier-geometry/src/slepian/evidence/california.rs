//! House prices in California from the location alone, by ridge regression and small networks.

use super::super::baselines::{Baseline, Scales};
use super::super::region::Region;
use super::beyond::{beyond, price_map};
use super::learners::{architectures, without_encoder};
use super::networks::Networks;
use super::{Arm, pick, position, slepian};
use crate::learn::{Neighbors, Ridge, Split, r_squared, rows};
use metier_core::evidence::BarGroup;
use metier_core::{
    Bar, Cell, Claim, Error, Figure, Finding, Lab, Need, Plot, Result, Samples, Scale, Table,
};
use metier_data::read;
use ndarray::Array2;

pub(super) struct Houses {
    pub(super) lon: Vec<f64>,
    pub(super) lat: Vec<f64>,
    pub(super) value: Vec<f64>,
}

impl Houses {
    pub(super) fn read(path: &std::path::Path) -> Result<Self> {
        let frame = read::frame(path)?;
        let column = |name: &str| frame.numbers(name).map(<[f64]>::to_vec);
        // In hundreds of thousands of dollars.
        let value = column("median_house_value")?.into_iter().map(|v| v / 1e5).collect();
        Ok(Self { lon: column("longitude")?, lat: column("latitude")?, value })
    }
}

pub(super) fn california(lab: &Lab, houses: &Houses, finding: &mut Finding) -> Result<()> {
    let region = Region::cap(-119.5, 37.0, 7.5);
    let arms = arms(lab, &region);
    let seeds = lab.seeds(lab.pick(1, 3));
    let features: Vec<Array2<f32>> = arms
        .iter()
        .map(|arm| arm.encode(&houses.lon, &houses.lat, lab.seed))
        .collect::<Result<_>>()?;
    let splits: Vec<Split> = seeds.iter().map(|seed| Split::new(houses.lon.len(), *seed)).collect();
    lab.progress.begin("linear models of house prices", Some((arms.len() * splits.len()) as u64));
    let linear: Vec<f64> = features
        .iter()
        .map(|x| {
            let mut scores = Vec::with_capacity(splits.len());
            for split in &splits {
                lab.progress.check()?;
                scores.push(ridge_score(x, &houses.value, split)?);
                lab.progress.advance(1);
            }
            Ok(Samples::from(scores).mean())
        })
        .collect::<Result<_>>()?;
    lab.progress.finish();
    let each: Vec<usize> = arms.iter().map(|arm| trainings(lab.scale, &arm.name())).collect();
    let networks = Networks::train(lab, &features, &each, &houses.value, &splits, &seeds)?;
    let near: Vec<(usize, f64)> = [5, 10]
        .map(|k| {
            let scores = splits.iter().map(|split| knn_score(houses, split, k));
            (k, scores.sum::<f64>() / splits.len() as f64)
        })
        .into();

    let mut table = Table::new(
        "California housing from the location alone: R² on the fifth that was held out",
        ["encoder", "features", "ridge", "network", "per split", "trainings per split"],
    );
    let mut groups = Vec::new();
    for (arm, x) in features.iter().enumerate() {
        let name = arms[arm].name();
        let mut row = vec![name.clone().into(), x.ncols().into(), Cell::number(linear[arm], 3)];
        let mut values = vec![linear[arm], f64::NAN];
        if each[arm] > 0 {
            let means = Samples::from(networks.means(arm));
            let texts: Vec<String> = means.iter().map(|score| format!("{score:.3}")).collect();
            row.extend([Cell::number(means.mean(), 3), texts.join(" ").into(), each[arm].into()]);
            values[1] = means.mean();
        }
        table.row(row);
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
    housing_claims(lab, &arms, &linear, &networks, finding)?;
    finding.notes.push(format!(
        "The mean of the 5 nearest districts explains {:.2} of the variance of held-out house values, \
         more than every encoder with a small network here. The encoder's use is smooth columns \
         that go into any model beside other columns.",
        near[0].1
    ));
    if lab.scale == Scale::Full {
        let of = |name: &str| -> Result<f64> {
            Ok(Samples::from(networks.means(position(&arms, name)?)).mean())
        };
        finding.notes.push(format!(
            "Global harmonics beside the functions of the cap score {:.3} where the functions \
             alone score {:.3}: when all points lie inside the region, leave them out.",
            of("hybrid 120")?,
            of("Slepian 120")?
        ));
        finding.notes.push(networks.note());
        finding.tables.push(networks.table(&arms));
        without_encoder(lab, houses, &splits, &near, finding)?;
        architectures(lab, houses, &region, &splits[0], finding)?;
        beyond(lab, houses, &seeds, finding)?;
    }
    finding.figures.push(price_map(lab, houses, &region, &splits[0])?);
    Ok(())
}

fn arms(lab: &Lab, region: &Region) -> Vec<Arm> {
    let plain = Arm::Plain;
    let alone = [40, 80, 120].map(|l| slepian(region, l, 0));
    if lab.scale == Scale::Quick {
        let mut arms = vec![plain(Baseline::LonLat), plain(Baseline::Sh(10))];
        arms.extend(alone);
        return arms;
    }
    let scales = Scales::default();
    let mut arms = vec![
        plain(Baseline::LonLat),
        plain(Baseline::Cartesian),
        plain(Baseline::Wrap),
        plain(Baseline::Grid(scales)),
        plain(Baseline::Theory(scales)),
        plain(Baseline::SphereC(scales)),
        plain(Baseline::SphereCPlus(scales)),
        plain(Baseline::SphereM(scales)),
        plain(Baseline::SphereMPlus(scales)),
        // Lengths and widths of the order of the state's own detail.
        plain(Baseline::PlanarRff { features: 256, length_deg: 1.0 }),
        plain(Baseline::SphericalRff { features: 256, kappa: 40.0, nu: 2.5, max_degree: 200 }),
        plain(Baseline::Wavelets { centres: 1000, width_deg: 6.0 }),
        plain(Baseline::Sh(10)),
        plain(Baseline::Sh(40)),
    ];
    arms.extend(alone);
    arms.extend([80, 120].map(|l| slepian(region, l, 10)));
    arms
}

// How many networks are trained on each split of the rows. At quick scale one, for the two encoders
// that matter most; at full scale several for each encoder that a claim is about, since one training
// moves by as much as some of them differ.
fn trainings(scale: Scale, encoder: &str) -> usize {
    let claimed =
        ["lon/lat", "Cartesian", "SH 10", "SH 40", "Slepian 40", "Slepian 80", "Slepian 120"];
    match scale {
        Scale::Quick => usize::from(["SH 10", "Slepian 80"].contains(&encoder)),
        Scale::Full if claimed.contains(&encoder) => 5,
        Scale::Full => 1,
    }
}

fn housing_claims(
    lab: &Lab,
    arms: &[Arm],
    linear: &[f64],
    networks: &Networks,
    finding: &mut Finding,
) -> Result<()> {
    let network = |name: &str| Ok::<_, Error>(networks.means(position(arms, name)?));
    let metric = lab.pick(
        "R² of a network of 128 and 64 units",
        "R² of networks of 128 and 64 units, mean of 5 trainings per split",
    );
    let rising: Vec<f64> = [40, 80, 120]
        .into_iter()
        .map(|l| Ok(linear[position(arms, &format!("Slepian {l}"))?]))
        .collect::<Result<_>>()?;
    finding.claims.push(Claim {
        id: "housing-ridge-rises-with-l".into(),
        statement: "A finer resolution explains house prices better in a linear model".into(),
        metric: lab
            .pick(
                "R² of ridge regression at L = 40, 80, 120",
                "R² of ridge regression at L = 40, 80, 120, mean of three splits",
            )
            .into(),
        ours: rising.into(),
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
                metric: metric.into(),
                ours: network(ours)?.into(),
                baseline: network(rival)?.into(),
                bar: Bar::Higher { by: 0.03, need: Need::All },
                gate: true,
            });
        }
    }
    if lab.scale == Scale::Full {
        finding.claims.push(Claim {
            id: "housing-12-features-match-100".into(),
            statement: "12 functions of the cap do at least as well as 100 global harmonics".into(),
            metric: metric.into(),
            ours: network("Slepian 40")?.into(),
            baseline: network("SH 10")?.into(),
            bar: Bar::Higher { by: 0.0, need: Need::All },
            gate: true,
        });
    }
    Ok(())
}

pub(super) fn ridge_score(x: &Array2<f32>, y: &[f64], split: &Split) -> Result<f64> {
    let (train, held, test) = (&split.train, &split.validation, &split.test);
    let model = Ridge::fit(&rows(x, train), &pick(y, train), &rows(x, held), &pick(y, held))?;
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
