//! The learnt checklist: points, risks, and the line to act at.

use super::dictionary::Dictionary;
use super::fit::Config;
use super::rule::Rule;
use super::screening::Verdict;
use super::validation::{Honest, Validation};
use crate::auroc::Histogram;
use metier_core::{Error, Result, files};
use metier_data::Frame;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// At most a handful of yes/no items, one point each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checklist {
    /// The version of this file format.
    pub format: String,
    /// What is predicted.
    pub outcome: String,
    /// The items.
    pub items: Vec<Item>,
    /// Act at this many points.
    pub theta: usize,
    /// What the line was set for.
    pub objective: Threshold,
    /// The risk at each number of points.
    pub risk: RiskTable,
    /// How it was learnt, in numbers. Flattering: it was chosen on these rows.
    pub training: Training,
    /// What to expect on new rows: every step repeated inside each fold.
    pub honest: Option<Honest>,
    /// Names and units of the columns.
    pub dictionary: Dictionary,
    /// Columns that rules could not use, with the reasons.
    pub excluded: BTreeMap<String, String>,
    /// What the user should know about the table.
    pub warnings: Vec<String>,
    /// The settings.
    pub config: Config,
    /// The categories seen in training, of each column of text that an item asks about.
    pub known: BTreeMap<String, Vec<String>>,
    /// Why each rule was kept or refused.
    pub audit: Vec<Verdict>,
}

/// One item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// In words.
    pub text: String,
    /// Its AUROC alone on the construction rows.
    pub construction: f64,
    /// Its AUROC alone on the validation rows.
    pub validation: f64,
    /// The rule.
    pub rule: Rule,
}

/// How a checklist was learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Rows.
    pub rows: usize,
    /// Cases among them.
    pub cases: usize,
    /// AUROC of the points on the rows that they were chosen on.
    pub auroc: f64,
    /// AUROC on the construction rows.
    pub construction: f64,
    /// AUROC on the validation rows.
    pub validation: f64,
    /// Rules proposed.
    pub proposed: usize,
    /// Rules kept.
    pub kept: usize,
    /// Proposals that were no rules.
    pub invalid: usize,
}

/// What the action line is set for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// The greatest sensitivity + specificity - 1; ties go to the lower line.
    #[default]
    Youden,
    /// The highest line whose sensitivity is at least this.
    Sensitivity(f64),
    /// The lowest line whose positive predictive value is at least this.
    Ppv(f64),
    /// The greatest F1.
    F1,
    /// The greatest net benefit where one missed case is worth this many false alarms' inverse:
    /// the odds of the risk at which one would act.
    NetBenefit(f64),
}

impl Threshold {
    /// Checks the value.
    ///
    /// # Errors
    /// A share outside 0 to 1, or odds that are not positive.
    pub fn validate(&self) -> Result<()> {
        let fine = match *self {
            Threshold::Youden | Threshold::F1 => true,
            Threshold::Sensitivity(share) | Threshold::Ppv(share) => (0.0..=1.0).contains(&share),
            Threshold::NetBenefit(odds) => odds > 0.0 && odds.is_finite(),
        };
        if fine {
            return Ok(());
        }
        Err(Error::usage("sensitivity and PPV lie between 0 and 1, odds above 0")
            .in_field("objective"))
    }

    /// The line for the given counts per number of points, between 1 and the greatest number.
    pub fn theta(&self, histogram: &Histogram) -> usize {
        let top = histogram.positives.len().saturating_sub(1).max(1);
        let lines: Vec<Confusion> =
            (1..=top).map(|theta| Confusion::at(histogram, theta)).collect();
        let best = |value: &dyn Fn(&Confusion) -> f64| {
            let mut best = 0;
            for (place, line) in lines.iter().enumerate() {
                // Differences of rounding alone are ties.
                if value(line) > value(&lines[best]) + 1e-12 {
                    best = place;
                }
            }
            best + 1
        };
        match *self {
            Threshold::Youden => best(&|line| line.sensitivity() + line.specificity() - 1.0),
            Threshold::F1 => best(&Confusion::f1),
            Threshold::NetBenefit(odds) => best(&|line| line.net_benefit(odds)),
            Threshold::Sensitivity(least) => {
                (1..=top).rev().find(|&t| lines[t - 1].sensitivity() >= least).unwrap_or(1)
            }
            Threshold::Ppv(least) => (1..=top)
                .find(|&t| lines[t - 1].ppv() >= least)
                .unwrap_or_else(|| best(&Confusion::ppv)),
        }
    }
}

/// Right and wrong decisions at a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confusion {
    /// Cases at or above the line.
    pub hits: u64,
    /// Cases below.
    pub misses: u64,
    /// Others at or above.
    pub alarms: u64,
    /// Others below.
    pub passes: u64,
}

impl Confusion {
    /// The decisions of "at least `theta` points".
    pub fn at(histogram: &Histogram, theta: usize) -> Self {
        let split = |counts: &[u64]| {
            let below: u64 = counts.iter().take(theta).sum();
            (counts.iter().sum::<u64>() - below, below)
        };
        let (hits, misses) = split(&histogram.positives);
        let (alarms, passes) = split(&histogram.negatives);
        Self { hits, misses, alarms, passes }
    }

    /// The share of cases at or above the line.
    pub fn sensitivity(&self) -> f64 {
        share(self.hits, self.hits + self.misses)
    }

    /// The share of others below it.
    pub fn specificity(&self) -> f64 {
        share(self.passes, self.passes + self.alarms)
    }

    /// The share of cases among those at or above.
    pub fn ppv(&self) -> f64 {
        share(self.hits, self.hits + self.alarms)
    }

    /// The share of others among those below.
    pub fn npv(&self) -> f64 {
        share(self.passes, self.passes + self.misses)
    }

    /// The harmonic mean of sensitivity and positive predictive value.
    pub fn f1(&self) -> f64 {
        share(2 * self.hits, 2 * self.hits + self.misses + self.alarms)
    }

    /// True minus weighted false positives per patient, at the odds at which one would act.
    pub fn net_benefit(&self, odds: f64) -> f64 {
        let all = (self.hits + self.misses + self.alarms + self.passes).max(1) as f64;
        (self.hits as f64 - odds * self.alarms as f64) / all
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The risk at each number of points: isotonic regression of the outcome on the points, with the
/// Wilson interval of each pooled group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RiskTable {
    /// From 0 points up.
    pub rows: Vec<Risk>,
}

/// The risk at one number of points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Risk {
    /// Points.
    pub points: usize,
    /// Rows seen with as many.
    pub rows: u64,
    /// Cases among them.
    pub cases: u64,
    /// The risk, never falling with the points.
    pub risk: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl RiskTable {
    /// The table of the given counts.
    pub fn new(histogram: &Histogram) -> Self {
        // Pool adjacent violators; a level that nobody reached joins the one before it.
        let mut blocks: Vec<(u64, u64, usize)> = Vec::new();
        for (&p, &n) in histogram.positives.iter().zip(&histogram.negatives) {
            blocks.push((p, p + n, 1));
            while let [.., (a, b, c), (x, y, z)] = blocks[..] {
                // a/b > x/y, or nothing seen on either side.
                if a * y > x * b || y == 0 || b == 0 {
                    blocks.truncate(blocks.len() - 2);
                    blocks.push((a + x, b + y, c + z));
                } else {
                    break;
                }
            }
        }
        let mut rows = Vec::new();
        for (cases, all, levels) in blocks {
            let [low, high] = wilson(cases, all);
            for _ in 0..levels {
                let points = rows.len();
                let (p, n) = (histogram.positives[points], histogram.negatives[points]);
                rows.push(Risk {
                    points,
                    rows: p + n,
                    cases: p,
                    risk: share(cases, all),
                    low,
                    high,
                });
            }
        }
        Self { rows }
    }

    /// The risk at `points`.
    pub fn at(&self, points: u8) -> f64 {
        let last = self.rows.len().saturating_sub(1);
        self.rows.get(usize::from(points).min(last)).map_or(f64::NAN, |row| row.risk)
    }
}

/// The Wilson 95 % interval of a share.
///
/// ```
/// let [low, high] = metier_decision::agentscore::checklist::wilson(5, 10);
/// assert!((low - 0.2366).abs() < 1e-4 && (high - 0.7634).abs() < 1e-4);
/// ```
pub fn wilson(part: u64, whole: u64) -> [f64; 2] {
    if whole == 0 {
        return [0.0, 1.0];
    }
    const Z: f64 = 1.959_963_984_540_054;
    let (n, p) = (whole as f64, part as f64 / whole as f64);
    let scale = 1.0 + Z * Z / n;
    let middle = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
    // Rounding alone must not lift the interval off zero or one.
    let low = if part == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if part == whole { 1.0 } else { (middle + half).min(1.0) };
    [low, high]
}

impl Checklist {
    /// The name of the file format.
    pub const FORMAT: &'static str = "metier checklist 1";

    /// The points of each row.
    ///
    /// # Errors
    /// A column that the table lacks or that is of another kind.
    pub fn score(&self, table: &Frame) -> Result<Vec<u8>> {
        let mut points = vec![0u8; table.height()];
        for item in &self.items {
            for (points, truth) in points.iter_mut().zip(item.rule.truth(table)?) {
                *points += u8::from(truth);
            }
        }
        Ok(points)
    }

    /// The risk at each number of points.
    pub fn risk(&self) -> &RiskTable {
        &self.risk
    }

    /// The risk of each row.
    ///
    /// # Errors
    /// Those of [`score`](Self::score).
    pub fn predict(&self, table: &Frame) -> Result<Vec<f64>> {
        Ok(self.score(table)?.into_iter().map(|points| self.risk.at(points)).collect())
    }

    /// Whether each row reaches the line.
    ///
    /// # Errors
    /// Those of [`score`](Self::score).
    pub fn decide(&self, table: &Frame) -> Result<Vec<bool>> {
        let reached = |points: u8| usize::from(points) >= self.theta;
        Ok(self.score(table)?.into_iter().map(reached).collect())
    }

    /// How the checklist does on other rows.
    ///
    /// # Errors
    /// Those of [`score`](Self::score), or labels that do not fit the table.
    pub fn validate(&self, table: &Frame, y: &[u8]) -> Result<Validation> {
        Validation::new(self, table, y, self.config.seed)
    }

    /// Where the items cannot see: rows with a category that was not seen in training, or with
    /// nothing at all, counted by column. Rules about it are false there.
    pub fn blind_spots(&self, table: &Frame) -> Vec<(String, usize)> {
        let mut spots = Vec::new();
        let mut names: Vec<&str> =
            self.items.iter().flat_map(|item| item.rule.features()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let Ok(column) = table.column(name) else { continue };
            let unknown = self.known.get(name).map_or(0, |levels| {
                column.labels().iter().flatten().filter(|label| !levels.contains(label)).count()
            });
            if unknown > 0 {
                spots.push((format!("{name}: category not seen in training"), unknown));
            }
            if column.values.missing() > 0 {
                spots.push((format!("{name}: missing"), column.values.missing()));
            }
        }
        spots
    }

    /// The checklist as JSON.
    ///
    /// # Errors
    /// Never on a checklist that [`fit`](super::fit) made.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string_pretty(self).map_err(|error| Error::internal(error.to_string()))
    }

    /// Reads a checklist from JSON.
    ///
    /// # Errors
    /// An input error that says what is wrong and where.
    pub fn from_json(text: &str) -> Result<Self> {
        let checklist: Self = serde_json::from_str(text)
            .map_err(|error| Error::input(format!("no saved score: {error}")))?;
        if checklist.format != Self::FORMAT {
            return Err(Error::input(format!(
                "is of format `{}`, where `{}` can be read",
                checklist.format,
                Self::FORMAT
            )));
        }
        if checklist.items.is_empty() || checklist.risk.rows.len() != checklist.items.len() + 1 {
            return Err(Error::input("the items and the risk table do not fit together"));
        }
        Ok(checklist)
    }

    /// Reads a checklist from a file.
    ///
    /// # Errors
    /// A file that cannot be read or is no saved score.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Self::from_json(&text).map_err(|error| error.in_file(path))
    }

    /// Writes the checklist to a file, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        files::write_bytes(path, format!("{}\n", self.to_json()?).as_bytes())
    }
}
