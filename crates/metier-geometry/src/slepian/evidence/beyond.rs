//! What a linear model makes of more functions than the paper could afford, and its map.

use super::super::figures::field_map;
use super::super::region::Region;
use super::super::resolution_km;
use super::california::{Houses, ridge_score};
use super::{pick, slepian};
use crate::learn::{Neighbors, Ridge, Split, rows};
use metier_core::{Bar, Cell, Claim, Figure, Finding, Lab, Plot, Result, Samples, Table};

// Beyond the paper's L: out of reach for its route, seconds for this one.
pub(super) fn beyond(
    lab: &Lab,
    houses: &Houses,
    seeds: &[u64],
    finding: &mut Finding,
) -> Result<()> {
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
            Cell::number(resolution_km(l), 0),
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

// What a ridge regression on the functions predicts, shown where there are houses nearby.
pub(super) fn price_map(
    lab: &Lab,
    houses: &Houses,
    region: &Region,
    split: &Split,
) -> Result<Figure> {
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
