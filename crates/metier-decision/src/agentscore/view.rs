//! What a proposer is shown: names, types and aggregates, never a row.

use super::dictionary::{Dictionary, Kind, Monotone};
use super::rule::Rule;
use metier_core::Result;
use metier_data::{Column, Frame, Values, format_number};
use std::collections::BTreeMap;

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
        /// Whether the column holds 0 and 1, so that no has the category `0`.
        numeric: bool,
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
        })
    }

    /// The feature of this name.
    pub fn feature(&self, name: &str) -> Option<&Feature> {
        self.features.iter().find(|feature| feature.name == name)
    }

    /// Turns quantiles and z-scores into the fixed bedside number that they stand for here.
    pub fn resolve(&self, rule: Rule) -> Rule {
        let number = |feature: &str| match self.feature(feature).map(|f| &f.summary) {
            Some(Summary::Number { mean, deviation, grid }) => Some((*mean, *deviation, grid)),
            _ => None,
        };
        match rule {
            Rule::Z { ref feature, op, z } => match number(feature) {
                Some((mean, deviation, _)) => Rule::Threshold {
                    threshold: self.dictionary.round(feature, mean + z * deviation),
                    feature: feature.clone(),
                    op,
                },
                None => rule,
            },
            Rule::Quantile { ref feature, op, q } => match number(feature) {
                Some((_, _, grid)) => Rule::Threshold {
                    threshold: self.dictionary.round(feature, on_grid(grid, q)),
                    feature: feature.clone(),
                    op,
                },
                None => rule,
            },
            Rule::Logic { op, rules } => Rule::Logic {
                op,
                rules: rules.into_iter().map(|rule| self.resolve(rule)).collect(),
            },
            other => other,
        }
    }

    /// Whether the rule goes against a direction of the dictionary.
    pub fn against_direction(&self, rule: &Rule) -> Option<String> {
        let wrong = |feature: &str, up: bool| {
            let direction = self.dictionary.columns.get(feature)?.direction?;
            ((direction == Monotone::Up) != up).then(|| feature.to_owned())
        };
        match rule {
            Rule::Threshold { feature, op, .. }
            | Rule::Z { feature, op, .. }
            | Rule::Quantile { feature, op, .. } => wrong(feature, op.is_up()),
            Rule::True { feature } => wrong(feature, true),
            Rule::Range { feature, .. } => {
                let stated = self.dictionary.columns.get(feature)?.direction.is_some();
                stated.then(|| feature.clone())
            }
            Rule::Logic { rules, .. } => rules.iter().find_map(|rule| self.against_direction(rule)),
            _ => None,
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
            let summary = match kind {
                Some(Kind::Category) => {
                    category(present.iter().map(|(value, y)| (format_number(*value), *y)))
                }
                _ => number(present.clone()),
            };
            (rows.len() - present.len(), summary)
        }
        Values::Text(values) => {
            let present: Vec<(String, u8)> =
                rows.iter().filter_map(|&row| Some((values[row].clone()?, y[row]))).collect();
            (rows.len() - present.len(), category(present.into_iter()))
        }
    };
    Some(Feature {
        name: column.name.clone(),
        missing: missing as f64 / rows.len().max(1) as f64,
        direction: entry.and_then(|entry| entry.direction),
        summary: summary?,
    })
}

fn number(mut present: Vec<(f64, u8)>) -> Option<Summary> {
    // Sorted first: sums then do not depend on the order of the rows.
    present.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (low, high) = (present.first()?.0, present.last()?.0);
    if low == high {
        return None;
    }
    if present.iter().all(|(value, _)| *value == low || *value == high) {
        if (low, high) != (0.0, 1.0) {
            return category(present.iter().map(|(value, y)| (format_number(*value), *y)));
        }
        let tally = |wanted: f64| {
            let with = present.iter().filter(|(value, _)| *value == wanted);
            let cases = with.clone().filter(|(_, y)| *y == 1).count();
            (with.count(), cases)
        };
        let ((no, no_cases), (yes, yes_cases)) = (tally(0.0), tally(1.0));
        return Some(Summary::Binary {
            share: yes as f64 / present.len() as f64,
            rate_yes: yes_cases as f64 / yes.max(1) as f64,
            rate_no: no_cases as f64 / no.max(1) as f64,
            numeric: true,
        });
    }
    let n = present.len() as f64;
    let mean = present.iter().map(|(value, _)| value).sum::<f64>() / n;
    let square = present.iter().map(|(value, _)| (value - mean).powi(2)).sum::<f64>() / n;
    let quantile = |q: f64| {
        let place = q * (present.len() - 1) as f64;
        let low = place.floor() as usize;
        let high = (low + 1).min(present.len() - 1);
        present[low].0 + (place - low as f64) * (present[high].0 - present[low].0)
    };
    let grid = (1..20).map(|step| quantile(f64::from(step) / 20.0)).collect();
    Some(Summary::Number { mean, deviation: square.sqrt(), grid })
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
