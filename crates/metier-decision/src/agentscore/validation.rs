//! How good a checklist is on rows that it has not seen.

use super::checklist::Checklist;
use super::reference::Reference;
use super::risk::wilson;
use super::robustness::{Missing, without_columns};
use super::threshold::Confusion;
use crate::auroc::{Histogram, auroc, bootstrap, bootstrap_difference, roc};
use metier_core::Result;
use metier_data::Frame;
use serde::{Deserialize, Serialize};

/// How many resamples an interval is made of.
pub const RESAMPLES: usize = 1000;

/// What a checklist does on a table that it was not learnt from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Rows.
    pub rows: usize,
    /// Cases among them.
    pub cases: usize,
    /// Discrimination.
    pub auroc: f64,
    /// Its bootstrap 95 % interval.
    pub auroc_interval: [f64; 2],
    /// The mean squared difference of predicted risk and outcome.
    pub brier: f64,
    /// The number of cases over the number predicted; above 1 the risks are too low here.
    pub observed_over_expected: f64,
    /// At the action line: sensitivity, specificity, positive and negative predictive value.
    pub at_line: Vec<Estimate>,
    /// By number of points: predicted and observed.
    pub calibration: Vec<Calibration>,
    /// The ROC curve: 1 - specificity and sensitivity at each line, from none to all.
    pub roc: Vec<[f64; 2]>,
    /// Net benefit of acting by the checklist, on all and on none.
    pub decision_curve: Vec<NetBenefit>,
    /// What is left when columns that the items ask about are not at hand, by their number.
    pub missing: Vec<Missing>,
    /// Rows that rules were blind to, by reason.
    pub blind: Vec<(String, usize)>,
    /// Beside another score, where one was given.
    pub comparison: Option<Comparison>,
}

/// A share with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// What it is the share of.
    pub name: String,
    /// The share.
    pub value: f64,
    /// Its Wilson 95 % interval.
    pub interval: [f64; 2],
}

/// Predicted and observed risk at one number of points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Points.
    pub points: usize,
    /// Rows with as many.
    pub rows: u64,
    /// The risk that the checklist states.
    pub predicted: f64,
    /// The share of cases here.
    pub observed: f64,
    /// Its Wilson 95 % interval.
    pub interval: [f64; 2],
}

/// Net benefits at one threshold of risk (decision curve).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetBenefit {
    /// The risk at which one would act.
    pub threshold: f64,
    /// Acting on those whose stated risk reaches it.
    pub checklist: f64,
    /// Acting on all; acting on none has net benefit 0.
    pub all: f64,
}

/// The checklist beside another score on the same rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The other score.
    pub name: String,
    /// Its AUROC.
    pub auroc: f64,
    /// Its ROC curve.
    pub roc: Vec<[f64; 2]>,
    /// AUROC of the checklist minus that of the other.
    pub difference: f64,
    /// The bootstrap 95 % interval of the difference.
    pub interval: [f64; 2],
}

impl Validation {
    /// Scores the table and compares with its labels.
    ///
    /// # Errors
    /// A column that the table lacks; labels that are not one 0 or 1 per row, or of one class.
    pub fn new(checklist: &Checklist, table: &Frame, y: &[u8], seed: u64) -> Result<Self> {
        super::checks::classes(table, y, true)?;
        let points = checklist.score(table)?;
        let top = checklist.items.len();
        let histogram = Histogram::of(&points, y, top);
        let scores: Vec<f64> = points.iter().map(|&p| f64::from(p)).collect();
        let risks: Vec<f64> = points.iter().map(|&p| checklist.risk.at(p)).collect();
        let cases = y.iter().filter(|&&label| label == 1).count();
        let square = |(risk, &label): (&f64, &u8)| (risk - f64::from(label)).powi(2);
        let brier = risks.iter().zip(y).map(square).sum::<f64>() / y.len() as f64;
        let line = Confusion::at(&histogram, checklist.theta);
        let estimate = |name: &str, part: u64, other: u64| Estimate {
            name: name.into(),
            value: if part + other == 0 { 0.0 } else { part as f64 / (part + other) as f64 },
            interval: wilson(part, part + other),
        };
        let calibration = (0..=top)
            .map(|points| {
                let (p, n) = (histogram.positives[points], histogram.negatives[points]);
                Calibration {
                    points,
                    rows: p + n,
                    predicted: checklist.risk.at(points as u8),
                    observed: if p + n == 0 { 0.0 } else { p as f64 / (p + n) as f64 },
                    interval: wilson(p, p + n),
                }
            })
            .collect();
        Ok(Self {
            rows: y.len(),
            cases,
            auroc: histogram.auroc(),
            auroc_interval: bootstrap(&scores, y, RESAMPLES, seed),
            brier,
            observed_over_expected: cases as f64 / risks.iter().sum::<f64>(),
            at_line: vec![
                estimate("sensitivity", line.hits, line.misses),
                estimate("specificity", line.passes, line.alarms),
                estimate("positive predictive value", line.hits, line.alarms),
                estimate("negative predictive value", line.passes, line.misses),
            ],
            calibration,
            roc: roc(&scores, y),
            decision_curve: decision_curve(&risks, y),
            missing: without_columns(checklist, table, y, seed)?,
            blind: checklist.blind_spots(table),
            comparison: None,
        })
    }

    /// Puts another score beside the checklist.
    ///
    /// # Errors
    /// A column that the other score needs and the table lacks.
    pub fn beside(
        mut self,
        checklist: &Checklist,
        other: &Reference,
        table: &Frame,
        y: &[u8],
    ) -> Result<Self> {
        let ours: Vec<f64> = checklist.score(table)?.into_iter().map(f64::from).collect();
        let theirs = other.score(table)?;
        if let Some(row) = theirs.iter().position(|value| value.is_nan()) {
            return Err(table
                .error_at(row, other.name(), "the score to compare with has no value here")
                .help("leave rows out where it cannot be computed"));
        }
        let value = auroc(&theirs, y);
        self.comparison = Some(Comparison {
            name: other.name().into(),
            auroc: value,
            roc: roc(&theirs, y),
            difference: self.auroc - value,
            interval: bootstrap_difference(&ours, &theirs, y, RESAMPLES, checklist.config.seed),
        });
        Ok(self)
    }
}

/// Net benefits at risks from 1 % to 99 %.
pub fn decision_curve(risks: &[f64], y: &[u8]) -> Vec<NetBenefit> {
    let n = y.len().max(1) as f64;
    let cases = y.iter().filter(|&&label| label == 1).count() as f64;
    (1..100)
        .map(|percent| {
            let threshold = f64::from(percent) / 100.0;
            let odds = threshold / (1.0 - threshold);
            let (mut hits, mut alarms) = (0.0, 0.0);
            for (&risk, &label) in risks.iter().zip(y) {
                if risk >= threshold {
                    if label == 1 { hits += 1.0 } else { alarms += 1.0 }
                }
            }
            NetBenefit {
                threshold,
                checklist: (hits - odds * alarms) / n,
                all: (cases - odds * (n - cases)) / n,
            }
        })
        .collect()
}
