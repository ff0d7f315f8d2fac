//! The learnt checklist: points, risks, and the line to act at.

use super::choose::Proof;
use super::config::Config;
use super::dictionary::Dictionary;
use super::honest::Honest;
use super::pool::Verdict;
use super::risk::RiskTable;
use super::rule::Rule;
use super::threshold::Threshold;
use super::validation::Validation;
use metier_core::Result;
use metier_data::Frame;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// How much better another choice of rules could be, where the selector can tell.
    pub proof: Option<Proof>,
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

impl Checklist {
    /// The most items that a checklist may hold: more would be no card.
    pub const MOST: usize = 20;

    /// The points of each row.
    ///
    /// # Errors
    /// A column that the table lacks or that is of another kind; more items than
    /// [`MOST`](Self::MOST).
    pub fn score(&self, table: &Frame) -> Result<Vec<u8>> {
        // The fields are open to anyone, and points beyond 255 would come out as few.
        self.few()?;
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
}
