//! The greatest AUROC, by branch and bound.

use super::{Choice, State};
use metier_core::{Error, Progress, Result};
use std::collections::HashMap;

/// The outcome of an exact search.
#[derive(Clone, Debug, PartialEq)]
pub struct Exact {
    /// The best checklist found.
    pub chosen: Vec<usize>,
    /// Its AUROC.
    pub auroc: f64,
    /// No checklist of the pool has a greater AUROC than this.
    pub bound: f64,
    /// Checklists looked at.
    pub nodes: u64,
}

impl Exact {
    /// How far the best may lie above what was found; zero when the optimum is proven.
    pub fn gap(&self) -> f64 {
        self.bound - self.auroc
    }
}

/// The checklist of greatest AUROC, with a proof, looking at no more than `nodes` checklists;
/// where that does not suffice, the best so far with a bound. `hint` is a checklist to start from.
///
/// The bound of a branch is the AUROC of the finest partition that it can still lead to: rows that
/// agree in the score so far and in every rule not yet decided can never be told apart, and the
/// best order of the parts is by their share of cases.
///
/// # Errors
/// A hint that is no checklist of this pool (none at all is fine), or a stop on request.
pub fn exact(
    choice: &Choice<'_>,
    hint: &[usize],
    nodes: u64,
    progress: &dyn Progress,
) -> Result<Exact> {
    if let Some(fault) = choice.fault(hint).filter(|_| !hint.is_empty()) {
        return Err(Error::usage(format!("the checklist to start from is none: {fault}")));
    }
    let mut search = Search {
        choice,
        classes: classes(choice),
        best: choice.state(hint),
        open: 0.0f64,
        nodes: 0,
        budget: nodes,
        progress,
    };
    search.branch(&choice.start(), 0)?;
    let auroc = choice.value(search.best.ordered);
    let bound = search.open.max(auroc);
    Ok(Exact { chosen: search.best.chosen, auroc, bound, nodes: search.nodes })
}

struct Search<'a> {
    choice: &'a Choice<'a>,
    // For each number of rules decided, which rows the other rules tell apart.
    classes: Vec<Vec<u32>>,
    best: State,
    // The greatest bound among branches left unsearched.
    open: f64,
    nodes: u64,
    budget: u64,
    progress: &'a dyn Progress,
}

impl Search<'_> {
    fn branch(&mut self, state: &State, next: usize) -> Result<()> {
        let left = self.choice.m - state.chosen.len();
        if left == 0 {
            return Ok(());
        }
        self.progress.check()?;
        // The last rule is found by looking at all of them; a bound would cost more.
        if left > 1 && self.choice.len() - next > 3 {
            let bound = self.bound(state, next);
            if bound <= self.choice.value(self.best.ordered) {
                return Ok(());
            }
            if self.nodes >= self.budget {
                self.open = self.open.max(bound);
                return Ok(());
            }
        } else if self.nodes >= self.budget {
            self.open = self.open.max(self.bound(state, next));
            return Ok(());
        }
        for rule in next..self.choice.len() {
            if !self.choice.allows(state, rule) {
                continue;
            }
            self.nodes += 1;
            if left == 1 {
                let ordered = self.choice.gain(state, rule);
                if ordered > self.best.ordered {
                    self.best = self.choice.grown(state, rule);
                }
                continue;
            }
            let grown = self.choice.grown(state, rule);
            if grown.rank() < self.best.rank() {
                self.best = grown.clone();
            }
            self.branch(&grown, rule + 1)?;
        }
        Ok(())
    }

    fn bound(&self, state: &State, next: usize) -> f64 {
        let mut cells: HashMap<u64, (u64, u64)> = HashMap::new();
        let class = &self.classes[next];
        for (level, words) in state.levels.iter().enumerate() {
            for (range, is_case) in
                [(&self.choice.positives, true), (&self.choice.negatives, false)]
            {
                for word in range.clone() {
                    let mut rest = words[word];
                    while rest != 0 {
                        let row = word * 64 + rest.trailing_zeros() as usize;
                        rest &= rest - 1;
                        let cell =
                            cells.entry(u64::from(class[row]) << 8 | level as u64).or_default();
                        if is_case { cell.0 += 1 } else { cell.1 += 1 }
                    }
                }
            }
        }
        let mut cells: Vec<(u64, u64)> = cells.into_values().collect();
        // By rising share of cases: a/(a+b) < c/(c+d) just when a d < c b.
        cells.sort_unstable_by(|x, y| (x.0 * y.1).cmp(&(y.0 * x.1)));
        let (p, n): (Vec<u64>, Vec<u64>) = cells.into_iter().unzip();
        self.choice.value(crate::auroc::twice_ordered(&p, &n))
    }
}

// classes[i]: rows with equal truth under rules i, i + 1, … have equal numbers.
fn classes(choice: &Choice<'_>) -> Vec<Vec<u32>> {
    let rows = choice.full.words().len() * 64;
    let mut classes = vec![vec![0u32; rows]];
    for rule in (0..choice.len()).rev() {
        let bits = choice.bits[rule].words();
        let finer = &classes[classes.len() - 1];
        let mut names: HashMap<(u32, bool), u32> = HashMap::new();
        let class = (0..rows)
            .map(|row| {
                let bit = bits[row / 64] >> (row % 64) & 1 == 1;
                let next = names.len() as u32;
                *names.entry((finer[row], bit)).or_insert(next)
            })
            .collect();
        classes.push(class);
    }
    classes.reverse();
    classes
}

impl Choice<'_> {
    /// The rules and the line with the least balanced error, `1 - sensitivity + 1 - specificity`,
    /// by looking at every checklist; ties go to fewer rules, then to earlier ones. `None` without
    /// rules.
    pub fn fewest_errors(&self) -> Option<(Vec<usize>, usize)> {
        let mut best: Option<(f64, Vec<usize>, usize)> = None;
        for size in 1..=self.m.min(self.len()) {
            self.each(&self.start(), 0, size, &mut |state, rule| {
                let (p, n) = self.moved(state, rule);
                let p = super::shifted(&state.positives, &p);
                let n = super::shifted(&state.negatives, &n);
                let (mut missed, mut cleared) = (0, 0);
                for theta in 1..=size {
                    missed += p[theta - 1];
                    cleared += n[theta - 1];
                    let cost = missed as f64 / self.totals.0.max(1) as f64 + 1.0
                        - cleared as f64 / self.totals.1.max(1) as f64;
                    if best.as_ref().is_none_or(|best| cost < best.0 - 1e-12) {
                        let mut chosen = state.chosen.clone();
                        chosen.push(rule);
                        best = Some((cost, chosen, theta));
                    }
                }
            });
        }
        best.map(|(_, chosen, theta)| (chosen, theta))
    }

    fn each(&self, state: &State, next: usize, left: usize, visit: &mut dyn FnMut(&State, usize)) {
        for rule in next..self.len() {
            if !self.allows(state, rule) {
                continue;
            }
            if left == 1 {
                visit(state, rule);
            } else {
                self.each(&self.grown(state, rule), rule + 1, left - 1, visit);
            }
        }
    }
}
