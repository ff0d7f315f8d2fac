//! What a proposer is shown: names, types and aggregates, never a row.

use super::dictionary::{Dictionary, Kind, Monotone, two_digits};
use super::quantile;
use super::rule::{Rule, said_no, said_yes};
use metier_core::Result;
use metier_data::{Column, Frame, Values, format_number};
use std::collections::{BTreeMap, BTreeSet};

/// Aggregates of the construction rows.
#[derive(Clone, Debug)]
pub struct AggregateView {
    /// What is to be predicted.
    pub outcome: String,
    /// The number of rows.
    pub rows: usize,
    /// The number of cases among them.
    pub cases: usize,
    /// The columns that rules may ask about.
    pub features: Vec<Feature>,
    /// Names, units and steps.
    pub dictionary: Dictionary,
    /// How many rules a checklist may hold.
    pub m: usize,
    /// How deep logic may nest.
    pub depth: u8,
    /// How many rules of a checklist may ask about one column.
    pub max_per_feature: usize,
}

/// Aggregates of one column.
#[derive(Clone, Debug)]
pub struct Feature {
    /// The column.
    pub name: String,
    /// The share of rows where it is missing.
    pub missing: f64,
    /// Which way the risk goes, where the dictionary says so.
    pub direction: Option<Monotone>,
    /// By type.
    pub summary: Summary,
}

/// What the values of a column are like.
#[derive(Clone, Debug, PartialEq)]
pub enum Summary {
    /// A quantity.
    Number {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
        /// The quantiles at 5 %, 10 %, … 95 %.
        grid: Vec<f64>,
    },
    /// Yes or no, with the share of cases among each.
    Binary {
        /// The share of yes.
        share: f64,
        /// The share of cases among yes.
        rate_yes: f64,
        /// The share of cases among no.
        rate_no: f64,
        /// The values that mean no: `0` in a column of numbers, words in one of text.
        no: Vec<String>,
    },
    /// One of several names, by falling share of cases.
    Category(Vec<Level>),
}

/// One category.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Its name.
    pub label: String,
    /// How many rows have it.
    pub count: usize,
    /// The share of cases among them.
    pub rate: f64,
}

// More categories than this make no item that anyone remembers.
const LEVELS: usize = 8;

impl AggregateView {
    /// The aggregates of the given rows; columns that are constant there are left out.
    ///
    /// # Errors
    /// A dictionary that does not fit the table.
    pub fn new(
        frame: &Frame,
        y: &[u8],
        rows: &[usize],
        excluded: &[String],
        dictionary: &Dictionary,
    ) -> Result<Self> {
        use rayon::prelude::*;
        dictionary.check(frame)?;
        let features = frame
            .columns()
            .par_iter()
            .filter(|column| !excluded.contains(&column.name) && dictionary.usable(&column.name))
            .filter_map(|column| feature(column, y, rows, dictionary))
            .collect();
        Ok(Self {
            outcome: "outcome".into(),
            rows: rows.len(),
            cases: rows.iter().filter(|&&row| y[row] == 1).count(),
            features,
            dictionary: dictionary.clone(),
            m: 6,
            depth: 1,
            max_per_feature: 2,
        })
    }

    /// The feature of this name.
    pub fn feature(&self, name: &str) -> Option<&Feature> {
        self.features.iter().find(|feature| feature.name == name)
    }

    /// The rule with the numbers that it would have at the bedside: quantiles and z-scores become the
    /// fixed number that they stand for here, and every cut-point is rounded, to a multiple of the
    /// column's step or else to two significant digits.
    pub fn resolve(&self, rule: Rule) -> Rule {
        let number = |feature: &str| match self.feature(feature).map(|f| &f.summary) {
            Some(Summary::Number { mean, deviation, grid }) => Some((*mean, *deviation, grid)),
            _ => None,
        };
        let round = |feature: &str, value: f64| self.dictionary.round(feature, value);
        let at = |feature: String, op, value: f64| {
            let threshold = round(&feature, value);
            Rule::Threshold { feature, op, threshold }
        };
        match rule {
            Rule::Threshold { feature, op, threshold } => at(feature, op, threshold),
            Rule::Range { feature, low, high } => {
                let (low, high) = (round(&feature, low), round(&feature, high));
                Rule::Range { feature, low, high }
            }
            Rule::Derived { expr, op, threshold } => {
                Rule::Derived { expr, op, threshold: two_digits(threshold) }
            }
            Rule::PctChange { feature_t0, feature_t1, pct, op, direction } => {
                Rule::PctChange { feature_t0, feature_t1, pct: two_digits(pct), op, direction }
            }
            Rule::Z { feature, op, z } => match number(&feature) {
                Some((mean, deviation, _)) => at(feature, op, mean + z * deviation),
                None => Rule::Z { feature, op, z },
            },
            Rule::Quantile { feature, op, q } => match number(&feature) {
                Some((_, _, grid)) => at(feature, op, on_grid(grid, q)),
                None => Rule::Quantile { feature, op, q },
            },
            Rule::Logic { op, rules } => Rule::Logic {
                op,
                rules: rules.into_iter().map(|rule| self.resolve(rule)).collect(),
            },
            other => other,
        }
    }
}

// The grid holds every twentieth; between its points the quantile is interpolated.
fn on_grid(grid: &[f64], q: f64) -> f64 {
    let place = (q * 20.0 - 1.0).clamp(0.0, (grid.len() - 1) as f64);
    let low = place.floor() as usize;
    let high = (low + 1).min(grid.len() - 1);
    grid[low] + (place - low as f64) * (grid[high] - grid[low])
}

fn feature(column: &Column, y: &[u8], rows: &[usize], dictionary: &Dictionary) -> Option<Feature> {
    let entry = dictionary.columns.get(&column.name);
    let kind = entry.and_then(|entry| entry.kind);
    let (missing, summary) = match &column.values {
        Values::Number(values) => {
            let present: Vec<(f64, u8)> = rows
                .iter()
                .map(|&row| (values[row], y[row]))
                .filter(|(value, _)| value.is_finite())
                .collect();
            let missing = rows.len() - present.len();
            let named = |present: Vec<(f64, u8)>| {
                category(present.into_iter().map(|(value, y)| (format_number(value), y)))
            };
            let summary = match (kind, values_of_two(&present)) {
                (Some(Kind::Category), _) => named(present),
                (Some(Kind::Number), _) | (_, None) => number(present),
                (_, Some((low, high))) if (low, high) == (0.0, 1.0) => binary(
                    present.into_iter().map(|(value, y)| (value == 1.0, y)),
                    vec!["0".into()],
                ),
                (_, Some(_)) => named(present),
            };
            (missing, summary)
        }
        Values::Text(values) => {
            let present: Vec<(&str, u8)> =
                rows.iter().filter_map(|&row| Some((values[row].as_deref()?, y[row]))).collect();
            let missing = rows.len() - present.len();
            let summary = if kind == Some(Kind::Binary) {
                let no: BTreeSet<&str> =
                    present.iter().map(|(word, _)| *word).filter(|word| said_no(word)).collect();
                binary(
                    present.iter().map(|(word, y)| (said_yes(word), *y)),
                    no.into_iter().map(str::to_owned).collect(),
                )
            } else {
                category(present.into_iter().map(|(label, y)| (label.to_owned(), y)))
            };
            (missing, summary)
        }
    };
    Some(Feature {
        name: column.name.clone(),
        missing: missing as f64 / rows.len().max(1) as f64,
        direction: entry.and_then(|entry| entry.direction),
        summary: summary?,
    })
}

// The two values of a column that has no more than these.
fn values_of_two(present: &[(f64, u8)]) -> Option<(f64, f64)> {
    let first = present.first()?.0;
    let other = present.iter().find(|(value, _)| *value != first)?.0;
    let both = |value: f64| value == first || value == other;
    present.iter().all(|(value, _)| both(*value)).then(|| (first.min(other), first.max(other)))
}

fn number(present: Vec<(f64, u8)>) -> Option<Summary> {
    // Sorted first: sums then do not depend on the order of the rows.
    let mut sorted: Vec<f64> = present.into_iter().map(|(value, _)| value).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    if sorted.first()? == sorted.last()? {
        return None;
    }
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let square = sorted.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    Some(Summary::Number { mean, deviation: square.sqrt(), grid: quantile::grid(&sorted) })
}

fn binary(present: impl Iterator<Item = (bool, u8)>, no: Vec<String>) -> Option<Summary> {
    // By answer: rows, and cases among them.
    let mut tally = [(0usize, 0usize); 2];
    for (yes, y) in present {
        let entry = &mut tally[usize::from(yes)];
        entry.0 += 1;
        entry.1 += usize::from(y == 1);
    }
    let [(no_rows, no_cases), (yes_rows, yes_cases)] = tally;
    if no_rows == 0 || yes_rows == 0 {
        return None;
    }
    Some(Summary::Binary {
        share: yes_rows as f64 / (no_rows + yes_rows) as f64,
        rate_yes: yes_cases as f64 / yes_rows as f64,
        rate_no: no_cases as f64 / no_rows as f64,
        no,
    })
}

fn category(present: impl Iterator<Item = (String, u8)>) -> Option<Summary> {
    let mut tally = BTreeMap::<String, (usize, usize)>::new();
    for (label, y) in present {
        let entry = tally.entry(label).or_default();
        entry.0 += 1;
        entry.1 += usize::from(y == 1);
    }
    if tally.len() < 2 {
        return None;
    }
    let mut levels: Vec<Level> = tally
        .into_iter()
        .map(|(label, (count, cases))| Level { label, count, rate: cases as f64 / count as f64 })
        .collect();
    levels.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.label.cmp(&b.label)));
    levels.truncate(LEVELS);
    levels.sort_by(|a, b| b.rate.total_cmp(&a.rate).then_with(|| a.label.cmp(&b.label)));
    Some(Summary::Category(levels))
}
