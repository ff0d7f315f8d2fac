//! What is left of a checklist when columns are not at hand at the bedside.

use super::checklist::{Checklist, Item};
use crate::auroc::Histogram;
use metier_core::{Result, rng};
use metier_data::{Column, Frame, Values};
use rand::seq::index;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The AUROC when some of the columns that the items ask about are missing in every row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// How many columns are missing.
    pub columns: usize,
    /// The mean over which columns they are.
    pub auroc: f64,
    /// With the columns whose absence hurts most.
    pub least: f64,
    /// With those whose absence hurts least.
    pub most: f64,
}

// Of more ways than this to leave columns out, as many are drawn.
const WAYS: usize = 20;

/// The AUROC on labelled rows when 0, 1, … all of the columns that the items ask about are missing.
/// All ways to leave out so many columns are tried, or twenty of them by `seed` where there are more.
///
/// ```
/// use metier_data::{Column, Frame};
/// use metier_decision::agentscore::{Config, DataProposer, fit, without_columns};
/// let age: Vec<f64> = (0..200).map(|i| f64::from(20 + i * 7 % 70)).collect();
/// let fever: Vec<f64> = (0..200).map(|i| f64::from(i % 3 == 0)).collect();
/// let y: Vec<u8> = (0..200).map(|i| u8::from(age[i] + 30.0 * fever[i] + (i % 11) as f64 > 75.0)).collect();
/// let table = Frame::new(vec![Column::number("age", age), Column::number("fever", fever)])?;
/// let checklist = fit(&table, &y, &mut DataProposer::single(), &Config::default())?;
/// let missing = without_columns(&checklist, &table, &y, 0)?;
/// assert_eq!(missing[0].auroc, checklist.training.auroc);
/// // Without any column nobody is told apart.
/// assert_eq!(missing.last().unwrap().auroc, 0.5);
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// A column that the table lacks, or labels that do not fit it.
pub fn without_columns(
    checklist: &Checklist,
    table: &Frame,
    y: &[u8],
    seed: u64,
) -> Result<Vec<Missing>> {
    super::checks::one_label_per_row(table, y)?;
    checklist.few()?;
    let mut names: Vec<&str> =
        checklist.items.iter().flat_map(|item| item.rule.features()).collect();
    names.sort_unstable();
    names.dedup();
    let mut truths = Truths { table, known: HashMap::new() };
    (0..=names.len())
        .map(|count| {
            let ways = ways(names.len(), count, seed);
            let mut missing = Missing {
                columns: count,
                auroc: 0.0,
                least: f64::INFINITY,
                most: f64::NEG_INFINITY,
            };
            for way in &ways {
                let gone: Vec<&str> = way.iter().map(|&place| names[place]).collect();
                let mut points = vec![0u8; y.len()];
                for (place, item) in checklist.items.iter().enumerate() {
                    let truth = truths.of(place, item, &gone)?;
                    points.iter_mut().zip(truth).for_each(|(sum, &yes)| *sum += u8::from(yes));
                }
                let auroc = Histogram::of(&points, y, checklist.items.len()).auroc();
                missing.auroc += auroc / ways.len() as f64;
                missing.least = missing.least.min(auroc);
                missing.most = missing.most.max(auroc);
            }
            Ok(missing)
        })
        .collect()
}

// Ways to choose `count` of `all` places.
fn ways(all: usize, count: usize, seed: u64) -> Vec<Vec<usize>> {
    let number = (0..count).try_fold(1usize, |ways, place| {
        Some(ways.checked_mul(all - place)? / (place + 1)).filter(|&ways| ways <= 1 << 20)
    });
    if number.is_none_or(|number| number > WAYS) {
        let draw = |way: u64| {
            let mut random = rng::indexed(seed, "columns missing", (count as u64) << 32 | way);
            index::sample(&mut random, all, count).into_vec()
        };
        return (0..WAYS as u64).map(draw).collect();
    }
    let mut ways = vec![Vec::new()];
    for _ in 0..count {
        ways = ways
            .into_iter()
            .flat_map(|way: Vec<usize>| {
                let next = way.last().map_or(0, |last| last + 1);
                (next..all).map(move |place| [&way[..], &[place]].concat())
            })
            .collect();
    }
    ways
}

// An item is the same whenever the same of its own columns are missing.
struct Truths<'a> {
    table: &'a Frame,
    known: HashMap<(usize, Vec<String>), Vec<bool>>,
}

impl Truths<'_> {
    fn of(&mut self, place: usize, item: &Item, gone: &[&str]) -> Result<&[bool]> {
        let features = item.rule.features();
        let lost: Vec<String> =
            features.iter().filter(|name| gone.contains(name)).map(|&n| n.to_owned()).collect();
        let key = (place, lost);
        if !self.known.contains_key(&key) {
            let columns = features.iter().map(|&name| {
                let column = self.table.column(name)?;
                if !gone.contains(&name) {
                    return Ok(column.clone());
                }
                let values = match &column.values {
                    Values::Number(values) => Values::Number(vec![f64::NAN; values.len()]),
                    Values::Text(values) => Values::Text(vec![None; values.len()]),
                };
                Ok(Column { name: name.to_owned(), values })
            });
            let frame = Frame::new(columns.collect::<Result<_>>()?)?;
            self.known.insert(key.clone(), item.rule.truth(&frame)?);
        }
        Ok(&self.known[&key])
    }
}
