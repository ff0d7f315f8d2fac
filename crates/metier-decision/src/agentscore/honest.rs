//! What to expect of a checklist on new rows, from the rows that it is learnt from.

use super::config::Config;
use super::fit::fit_with;
use super::proposer::Proposer;
use super::{Checklist, split};
use crate::auroc::{Histogram, bootstrap_mean};
use metier_core::{Progress, Result};
use metier_data::Frame;
use serde::{Deserialize, Serialize};

/// What to expect on new rows: every step of learning repeated inside each fold of a cross
/// validation, so that nothing is judged on what it was chosen by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Honest {
    /// AUROC in each fold.
    pub folds: Vec<f64>,
    /// Their mean.
    pub auroc: f64,
    /// The bootstrap 95 % interval of their mean: the rows of each fold resampled, the checklists
    /// as they are.
    pub interval: [f64; 2],
    /// Sensitivity of all decisions.
    pub sensitivity: f64,
    /// Specificity of all decisions.
    pub specificity: f64,
    /// In how many folds each rule was chosen.
    pub chosen: Vec<(String, usize)>,
    /// The mean AUROC of checklists of at most 1, 2, … items, where [`by_items`] was asked for it.
    #[serde(default)]
    pub by_items: Vec<f64>,
}

// The work of one fold, of which nothing is shown but which a request to stop ends.
struct Unseen<'a>(&'a dyn Progress);

impl Progress for Unseen<'_> {
    fn begin(&self, _task: &str, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) {}
    fn message(&self, _text: &str) {}
    fn finish(&self) {}
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

// The rows of a table by the fold that they are held out in.
struct Folds<'a> {
    table: &'a Frame,
    y: &'a [u8],
    fold_of: Vec<usize>,
}

// A checklist that did not see the rows held out, and their points.
struct HeldOut {
    checklist: Checklist,
    rows: Vec<usize>,
    points: Vec<u8>,
    auroc: f64,
}

impl<'a> Folds<'a> {
    fn new(table: &'a Frame, y: &'a [u8], config: &Config, folds: usize) -> Result<Self> {
        super::checks::classes(table, y, config.force)?;
        let fold_of = split::folds(table, y, config.group.as_deref(), folds, config.seed)?;
        Ok(Self { table, y, fold_of })
    }

    fn learn(
        &self,
        fold: usize,
        proposer: &mut dyn Proposer,
        config: &Config,
        progress: &dyn Progress,
    ) -> Result<HeldOut> {
        let rows = |inside: bool| -> Vec<usize> {
            (0..self.y.len()).filter(|&row| (self.fold_of[row] == fold) == inside).collect()
        };
        let (test, train) = (rows(true), rows(false));
        let pick = |rows: &[usize]| rows.iter().map(|&row| self.y[row]).collect::<Vec<u8>>();
        let config = Config { force: true, ..config.clone() };
        let (seen, y) = (self.table.take(&train), pick(&train));
        let checklist = fit_with(&seen, &y, proposer, &config, &Unseen(progress))?;
        let points = checklist.score(&self.table.take(&test))?;
        let auroc = Histogram::of(&points, &pick(&test), checklist.items.len()).auroc();
        Ok(HeldOut { checklist, rows: test, points, auroc })
    }
}

/// Cross-validates the whole procedure. `proposer` makes a fresh proposer for each fold.
///
/// # Errors
/// Those of [`fit`](super::fit) on a fold, fewer than two folds, or a stop on request.
pub fn cross_validate(
    table: &Frame,
    y: &[u8],
    proposer: &mut dyn FnMut(usize) -> Result<Box<dyn Proposer>>,
    config: &Config,
    folds: usize,
    progress: &dyn Progress,
) -> Result<Honest> {
    let split = Folds::new(table, y, config, folds)?;
    let mut decisions = vec![false; y.len()];
    let mut scored = Vec::with_capacity(folds);
    let mut values = Vec::with_capacity(folds);
    let mut chosen = std::collections::BTreeMap::<String, usize>::new();
    progress.begin("cross-validating", Some(folds as u64));
    for fold in 0..folds {
        progress.check()?;
        let held = split.learn(fold, &mut *proposer(fold)?, config, progress)?;
        for item in &held.checklist.items {
            *chosen.entry(item.text.clone()).or_default() += 1;
        }
        values.push(held.auroc);
        for (&row, &points) in held.rows.iter().zip(&held.points) {
            decisions[row] = usize::from(points) >= held.checklist.theta;
        }
        let points: Vec<f64> = held.points.iter().map(|&points| f64::from(points)).collect();
        let labels: Vec<u8> = held.rows.iter().map(|&row| y[row]).collect();
        scored.push((points, labels));
        progress.advance(1);
    }
    progress.finish();
    let share = |label: u8, decision: bool| {
        let class = (0..y.len()).filter(|&row| y[row] == label);
        let right = class.clone().filter(|&row| decisions[row] == decision).count();
        right as f64 / class.count().max(1) as f64
    };
    let mut chosen: Vec<(String, usize)> = chosen.into_iter().collect();
    chosen.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(Honest {
        auroc: values.iter().sum::<f64>() / values.len() as f64,
        folds: values,
        interval: bootstrap_mean(&scored, super::validation::RESAMPLES, config.seed),
        sensitivity: share(1, true),
        specificity: share(0, false),
        chosen,
        by_items: Vec::new(),
    })
}

/// How many items are worth asking: the cross-validated AUROC of checklists of at most 1, 2, …
/// `most` items, each learnt anew in each fold.
///
/// ```
/// use metier_core::Silent;
/// use metier_data::{Column, Frame};
/// use metier_decision::agentscore::{Config, DataProposer, Proposer, by_items};
/// let age: Vec<f64> = (0..200).map(|i| f64::from(20 + i * 7 % 70)).collect();
/// let fever: Vec<f64> = (0..200).map(|i| f64::from(i % 3 == 0)).collect();
/// let y: Vec<u8> = (0..200).map(|i| u8::from(age[i] + 30.0 * fever[i] + (i % 11) as f64 > 75.0)).collect();
/// let table = Frame::new(vec![Column::number("age", age), Column::number("fever", fever)])?;
/// let mut fresh = |_| Ok(Box::new(DataProposer::single()) as Box<dyn Proposer>);
/// let auroc = by_items(&table, &y, &mut fresh, &Config::default(), 2, 5, &Silent)?;
/// assert!(auroc[1] > auroc[0]);
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// Those of [`cross_validate`], or `most` beyond what a checklist may hold.
pub fn by_items(
    table: &Frame,
    y: &[u8],
    proposer: &mut dyn FnMut(usize) -> Result<Box<dyn Proposer>>,
    config: &Config,
    most: usize,
    folds: usize,
    progress: &dyn Progress,
) -> Result<Vec<f64>> {
    Config { m: most, ..config.clone() }.validate()?;
    let split = Folds::new(table, y, config, folds)?;
    progress.begin("cross-validating by items", Some((most * folds) as u64));
    let mut means = Vec::with_capacity(most);
    for m in 1..=most {
        let config = Config { m, ..config.clone() };
        let mut sum = 0.0;
        for fold in 0..folds {
            progress.check()?;
            sum += split.learn(fold, &mut *proposer(fold)?, &config, progress)?.auroc;
            progress.advance(1);
        }
        means.push(sum / folds as f64);
    }
    progress.finish();
    Ok(means)
}
