//! Choosing the rules of a checklist from a pool.

mod beam;
mod covering;
mod exact;
mod mip;

pub use beam::{beam, greedy};
pub use covering::Covering;
pub use exact::{Exact, exact};
pub use mip::{Solved, mip};

use super::bitset::{Bits, Layout, Part, count, count_both};
use super::rule::Rule;
use crate::auroc::twice_ordered;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;

/// How rules are chosen from the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selector {
    /// Beam search, then single swaps to a local optimum.
    #[default]
    Beam,
    /// One rule after the other, and never back (a baseline).
    Greedy,
    /// The greatest AUROC, by branch and bound; with a gap where the search is cut short.
    Exact,
    /// The least number of errors of "at least theta of them", by mixed-integer programming.
    Mip,
    /// What a language model chooses, judged on the validation rows.
    Llm,
}

/// A pool to choose from, as bits on the rows that choices are judged on.
#[derive(Clone, Debug)]
pub struct Choice<'a> {
    bits: Vec<&'a Bits>,
    features: Vec<Vec<usize>>,
    positives: Range<usize>,
    negatives: Range<usize>,
    totals: (u64, u64),
    rule_counts: Vec<(u64, u64)>,
    full: Bits,
    // Of the columns, by their places in `features`.
    names: Vec<String>,
    /// How many rules are chosen at most.
    pub m: usize,
    /// How many of them may ask about one column.
    pub max_per_feature: usize,
}

impl<'a> Choice<'a> {
    /// The given rules, judged on a part of the rows.
    pub fn new(
        rules: &[(&'a Rule, &'a Bits)],
        layout: &Layout,
        part: Part,
        m: usize,
        max_per_feature: usize,
    ) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut places = HashMap::new();
        let features = rules
            .iter()
            .map(|(rule, _)| {
                rule.features()
                    .into_iter()
                    .map(|name| {
                        *places.entry(name).or_insert_with(|| {
                            names.push(name.to_owned());
                            names.len() - 1
                        })
                    })
                    .collect()
            })
            .collect();
        let (positives, negatives) = layout.ranges(part);
        Self {
            rule_counts: rules.iter().map(|(_, bits)| layout.counts(bits, part)).collect(),
            bits: rules.iter().map(|(_, bits)| *bits).collect(),
            features,
            positives,
            negatives,
            totals: layout.totals(part),
            full: layout.full(),
            names,
            m,
            max_per_feature,
        }
    }

    /// The number of rules.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// The AUROC of the checklist of the given rules.
    ///
    /// # Panics
    /// When one of them is not below [`len`](Self::len).
    pub fn auroc(&self, chosen: &[usize]) -> f64 {
        self.value(self.state(chosen).ordered)
    }

    /// What keeps the given rules from being a checklist, in words: none of them, too many, one that
    /// does not exist or comes twice, or too many about one column.
    pub fn fault(&self, chosen: &[usize]) -> Option<String> {
        if chosen.is_empty() {
            return Some("no rule is chosen".into());
        }
        if chosen.len() > self.m {
            return Some(format!("{} rules, where {} are allowed", chosen.len(), self.m));
        }
        let mut uses = vec![0; self.names.len()];
        for (place, &rule) in chosen.iter().enumerate() {
            if rule >= self.len() {
                return Some(format!("there is no rule {rule}"));
            }
            if chosen[..place].contains(&rule) {
                return Some(format!("rule {rule} comes twice"));
            }
            self.features[rule].iter().for_each(|&feature| uses[feature] += 1);
        }
        let most = self.max_per_feature;
        let over = uses.iter().position(|&uses| uses > most)?;
        Some(format!("{} rules ask about `{}`, where {most} may", uses[over], self.names[over]))
    }

    fn value(&self, ordered: u64) -> f64 {
        let pairs = self.totals.0 * self.totals.1;
        if pairs == 0 { 0.5 } else { ordered as f64 / (2 * pairs) as f64 }
    }

    /// No rule chosen.
    fn start(&self) -> State {
        State {
            chosen: Vec::new(),
            levels: vec![self.full.words().to_vec()],
            positives: vec![self.totals.0],
            negatives: vec![self.totals.1],
            uses: vec![0; self.names.len()],
            ordered: self.totals.0 * self.totals.1,
        }
    }

    fn state(&self, chosen: &[usize]) -> State {
        chosen.iter().fold(self.start(), |state, &rule| self.grown(&state, rule))
    }

    /// Whether a rule may be added.
    fn allows(&self, state: &State, rule: usize) -> bool {
        !state.chosen.contains(&rule)
            && self.features[rule].iter().all(|&f| state.uses[f] < self.max_per_feature)
    }

    /// Twice the ordered pairs after adding a rule, in O(words × levels) popcounts: the rows that
    /// satisfy it move one level up.
    fn gain(&self, state: &State, rule: usize) -> u64 {
        let (p, n) = self.moved(state, rule);
        twice_ordered(&shifted(&state.positives, &p), &shifted(&state.negatives, &n))
    }

    fn moved(&self, state: &State, rule: usize) -> (Vec<u64>, Vec<u64>) {
        let bits = self.bits[rule].words();
        let top = state.levels.len();
        let (mut p, mut n) = (vec![0; top], vec![0; top]);
        // The lowest level holds whatever the others do not.
        (p[0], n[0]) = self.rule_counts[rule];
        for level in 1..top {
            let words = &state.levels[level];
            p[level] = count_both(&words[self.positives.clone()], &bits[self.positives.clone()]);
            n[level] = count_both(&words[self.negatives.clone()], &bits[self.negatives.clone()]);
            p[0] -= p[level];
            n[0] -= n[level];
        }
        (p, n)
    }

    /// The checklist with one more rule.
    fn grown(&self, state: &State, rule: usize) -> State {
        let bits = self.bits[rule].words();
        let top = state.levels.len();
        let mut levels = Vec::with_capacity(top + 1);
        for level in 0..=top {
            let stay = state.levels.get(level);
            let come = level.checked_sub(1).map(|below| &state.levels[below]);
            let words = (0..bits.len()).map(|word| {
                let stays = stay.map_or(0, |words| words[word] & !bits[word]);
                stays | come.map_or(0, |words| words[word] & bits[word])
            });
            levels.push(words.collect::<Vec<u64>>());
        }
        let tally = |range: &Range<usize>| {
            levels.iter().map(|words| count(&words[range.clone()])).collect::<Vec<u64>>()
        };
        let (positives, negatives) = (tally(&self.positives), tally(&self.negatives));
        let mut uses = state.uses.clone();
        self.features[rule].iter().for_each(|&feature| uses[feature] += 1);
        let mut chosen = state.chosen.clone();
        chosen.insert(chosen.partition_point(|&other| other < rule), rule);
        let ordered = twice_ordered(&positives, &negatives);
        State { chosen, levels, positives, negatives, uses, ordered }
    }
}

fn shifted(counts: &[u64], moved: &[u64]) -> Vec<u64> {
    let top = counts.len();
    (0..=top)
        .map(|level| {
            let stay = if level < top { counts[level] - moved[level] } else { 0 };
            let come = if level > 0 { moved[level - 1] } else { 0 };
            stay + come
        })
        .collect()
}

/// A checklist under construction.
#[derive(Clone, Debug)]
struct State {
    chosen: Vec<usize>,
    levels: Vec<Vec<u64>>,
    positives: Vec<u64>,
    negatives: Vec<u64>,
    uses: Vec<usize>,
    ordered: u64,
}

impl State {
    /// More ordered pairs; then fewer rules; then earlier rules. A total order, so that the result
    /// does not depend on threads.
    fn rank(&self) -> (std::cmp::Reverse<u64>, usize, &[usize]) {
        (std::cmp::Reverse(self.ordered), self.chosen.len(), &self.chosen)
    }
}
