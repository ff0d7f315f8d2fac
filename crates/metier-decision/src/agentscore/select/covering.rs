//! The problem of the checklist of fewest errors, and what can be done about it without a solver.

use super::Choice;
use metier_core::{Error, Progress, Result};
use std::collections::BTreeMap;

/// The problem: rows with equal truth under all rules are one, with weights.
///
/// Minimise `w+ Σ e_i (cases) + w- Σ e_i (non-cases) + eps Σ z_j` with
/// `Σ_j r_ij z_j >= theta - M e_i` for cases, `Σ_j r_ij z_j <= theta - 1 + M e_i` for non-cases,
/// `1 <= theta <= Σ z_j <= m`, and no more rules about one column than are allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Covering {
    pub(super) rows: Vec<Row>,
    pub(super) rules: usize,
    // The rules about one column, and how many of them may be chosen.
    pub(super) limits: Vec<(Vec<usize>, usize)>,
    /// How many rules are chosen at most.
    pub m: usize,
    /// What a rule costs; small, so that it only breaks ties.
    pub eps: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) truth: Vec<bool>,
    pub(super) is_case: bool,
    pub(super) weight: f64,
}

/// A checklist with its line, and what it costs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) chosen: Vec<usize>,
    pub(super) theta: usize,
    pub(super) errors: f64,
}

impl Covering {
    /// Rows of truth values with their labels; a missed case costs `case_weight`, a false alarm
    /// `other_weight`.
    pub fn new(
        truth: &[Vec<bool>],
        y: &[u8],
        m: usize,
        case_weight: f64,
        other_weight: f64,
    ) -> Self {
        let mut merged: BTreeMap<(&[bool], u8), f64> = BTreeMap::new();
        for (row, &label) in truth.iter().zip(y) {
            *merged.entry((row, label)).or_default() +=
                if label == 1 { case_weight } else { other_weight };
        }
        Self {
            rules: truth.first().map_or(0, Vec::len),
            rows: merged
                .into_iter()
                .map(|((truth, label), weight)| Row {
                    truth: truth.to_vec(),
                    is_case: label == 1,
                    weight,
                })
                .collect(),
            limits: Vec::new(),
            m,
            eps: 1e-3,
        }
    }

    /// The problem of a pool, both classes of equal weight in all.
    pub fn of(choice: &Choice<'_>) -> Self {
        let (cases, others) = choice.totals;
        let mut truth = Vec::new();
        let mut y = Vec::new();
        for (range, label) in [(&choice.positives, 1), (&choice.negatives, 0)] {
            for word in range.clone() {
                for bit in (0..64).filter(|bit| choice.full.words()[word] >> bit & 1 == 1) {
                    let row = choice.bits.iter().map(|bits| bits.words()[word] >> bit & 1 == 1);
                    truth.push(row.collect());
                    y.push(label);
                }
            }
        }
        let scale = (cases + others) as f64 / 2.0;
        let weight = |class: u64| scale / class.max(1) as f64;
        let mut problem = Self::new(&truth, &y, choice.m, weight(cases), weight(others));
        // A column that cannot be asked about too often limits nothing.
        problem.limits = (0..choice.names.len())
            .map(|feature| {
                let about = |rule: &usize| choice.features[*rule].contains(&feature);
                ((0..choice.len()).filter(about).collect::<Vec<_>>(), choice.max_per_feature)
            })
            .filter(|(rules, most)| rules.len() > *most && *most < choice.m)
            .collect();
        problem
    }

    /// The weight of all rows: what errors are a share of.
    pub fn weight(&self) -> f64 {
        self.rows.iter().map(|row| row.weight).sum()
    }

    pub(super) fn check(&self, hint: &[usize]) -> Result<()> {
        if self.rules == 0 || self.rows.is_empty() || self.m == 0 {
            return Err(Error::input("no rules to choose from"));
        }
        if self.rows.iter().any(|row| row.truth.len() != self.rules) {
            return Err(Error::usage(format!("a row is not about {} rules", self.rules)));
        }
        if let Some(rule) = hint.iter().find(|&&rule| rule >= self.rules) {
            return Err(Error::usage(format!("rule {rule} of {} does not exist", self.rules)));
        }
        Ok(())
    }

    fn allows(&self, chosen: &[usize]) -> bool {
        chosen.len() <= self.m
            && self.limits.iter().all(|(rules, most)| {
                chosen.iter().filter(|&rule| rules.contains(rule)).count() <= *most
            })
    }

    pub(super) fn cost(&self, plan: &Plan) -> f64 {
        plan.errors + self.eps * plan.chosen.len() as f64
    }

    /// The best line for the given rules; ties go to the lower one.
    pub(super) fn plan(&self, chosen: &[usize]) -> Plan {
        let scores = self.scores(chosen);
        self.line(chosen.to_vec(), scores.iter().copied())
    }

    fn scores(&self, chosen: &[usize]) -> Vec<usize> {
        let score = |row: &Row| chosen.iter().filter(|&&rule| row.truth[rule]).count();
        self.rows.iter().map(score).collect()
    }

    fn line(&self, chosen: Vec<usize>, scores: impl Iterator<Item = usize>) -> Plan {
        let mut cases = vec![0.0; chosen.len() + 1];
        let mut others = cases.clone();
        for (score, row) in scores.zip(&self.rows) {
            if row.is_case { cases[score] += row.weight } else { others[score] += row.weight }
        }
        let (mut missed, mut alarmed) = (0.0, others.iter().sum::<f64>());
        let mut best = (1, f64::INFINITY);
        for theta in 1..=chosen.len() {
            missed += cases[theta - 1];
            alarmed -= others[theta - 1];
            if missed + alarmed < best.1 - 1e-9 {
                best = (theta, missed + alarmed);
            }
        }
        Plan { chosen, theta: best.0, errors: best.1.max(0.0) }
    }

    /// A checklist to start from: the hint, or else the best single rule, made better by additions,
    /// drops and swaps for as long as they help.
    ///
    /// # Errors
    /// A stop on request.
    pub(super) fn start(&self, hint: &[usize], progress: &dyn Progress) -> Result<Plan> {
        let mut hint = hint.to_vec();
        hint.sort_unstable();
        hint.dedup();
        let mut best = if hint.is_empty() || !self.allows(&hint) {
            (0..self.rules)
                .map(|rule| self.plan(&[rule]))
                .reduce(|a, b| if self.cost(&b) < self.cost(&a) { b } else { a })
                .ok_or_else(|| Error::input("no rules to choose from"))?
        } else {
            self.plan(&hint)
        };
        loop {
            progress.check()?;
            let mut bases: Vec<Vec<usize>> = vec![best.chosen.clone()];
            for out in 0..best.chosen.len() {
                let mut rest = best.chosen.clone();
                rest.remove(out);
                bases.push(rest);
            }
            let mut next: Option<Plan> = None;
            for base in bases {
                let scores = self.scores(&base);
                let mut consider = |plan: Plan| {
                    if next.as_ref().is_none_or(|next| self.cost(&plan) < self.cost(next) - 1e-9) {
                        next = Some(plan);
                    }
                };
                if !base.is_empty() && base.len() < best.chosen.len() {
                    consider(self.line(base.clone(), scores.iter().copied()));
                }
                for rule in (0..self.rules).filter(|rule| !base.contains(rule)) {
                    let mut chosen = base.clone();
                    chosen.insert(chosen.partition_point(|&other| other < rule), rule);
                    if self.allows(&chosen) {
                        let with = scores.iter().zip(&self.rows);
                        let with = with.map(|(score, row)| score + usize::from(row.truth[rule]));
                        consider(self.line(chosen, with));
                    }
                }
            }
            match next {
                Some(next) if self.cost(&next) < self.cost(&best) - 1e-9 => best = next,
                _ => return Ok(best),
            }
        }
    }
}
