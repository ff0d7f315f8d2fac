//! Verification: which proposed rules are good enough, sound enough and different enough to be
//! chosen from.

use super::bitset::{Bits, Layout, Part};
use super::diversity::Diverse;
use super::proposer::Proposer;
use super::rule::{Join, Rule};
use super::screening::{Screening, Tau};
use super::view::AggregateView;
use metier_core::{Error, Progress, Result};
use metier_data::Frame;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Why a rule was kept or refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The rule, after quantiles have become numbers.
    pub rule: Rule,
    /// AUROC on the construction rows; none where it could not be computed.
    pub construction: Option<f64>,
    /// AUROC on the validation rows; none where it could not be computed.
    pub validation: Option<f64>,
    /// Whether it was kept.
    pub kept: bool,
    /// The reason, in words.
    pub reason: String,
}

/// A rule to choose from.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The rule.
    pub rule: Rule,
    /// Which rows satisfy it.
    pub bits: Bits,
    /// AUROC on the construction rows.
    pub construction: f64,
    /// AUROC on the validation rows.
    pub validation: f64,
}

/// The rules kept so far, with the reasons for all.
#[derive(Debug)]
pub struct Pool<'a> {
    frame: &'a Frame,
    layout: &'a Layout,
    view: &'a AggregateView,
    screening: &'a Screening,
    excluded: &'a [String],
    /// Every verdict, in order.
    pub verdicts: Vec<Verdict>,
    diverse: Diverse,
    seen: HashSet<String>,
    place: HashMap<String, usize>,
    // What was proposed, by what became of it at the bedside.
    rounded: HashMap<String, Rule>,
}

/// The AUROC of a rule by itself: the mean of its sensitivity and its specificity.
pub fn rule_auroc(bits: &Bits, layout: &Layout, part: Part) -> f64 {
    let ((p, n), (cases, others)) = (layout.counts(bits, part), layout.totals(part));
    if cases == 0 || others == 0 {
        return 0.5;
    }
    0.5 * (p as f64 / cases as f64 + 1.0 - n as f64 / others as f64)
}

impl<'a> Pool<'a> {
    /// An empty pool over the rows of `frame`.
    pub fn new(
        frame: &'a Frame,
        layout: &'a Layout,
        view: &'a AggregateView,
        screening: &'a Screening,
        excluded: &'a [String],
    ) -> Self {
        Self {
            frame,
            layout,
            view,
            screening,
            excluded,
            verdicts: Vec::new(),
            diverse: Diverse::new(layout),
            seen: HashSet::new(),
            place: HashMap::new(),
            rounded: HashMap::new(),
        }
    }

    /// The rules kept, in the order of admission.
    pub fn kept(&self) -> &[Arc<Candidate>] {
        self.diverse.rules()
    }

    /// The rule as it was proposed, where one of its cut-points had to be rounded.
    pub fn as_proposed(&self, rule: &Rule) -> Option<&Rule> {
        self.rounded.get(&rule.key())
    }

    /// Judges a batch of rules, best first. Only what passes every other test is put before the
    /// proposer's plausibility gate.
    ///
    /// # Errors
    /// A proposer that fails, or a request to stop.
    pub fn admit(
        &mut self,
        batch: Vec<Rule>,
        proposer: &mut dyn Proposer,
        progress: &dyn Progress,
    ) -> Result<()> {
        let mut rules: Vec<Rule> = Vec::with_capacity(batch.len());
        for proposed in batch {
            let rule = self.view.resolve(proposed.clone());
            let key = rule.key();
            if rule != proposed && !proposed.is_relative() {
                self.rounded.entry(key.clone()).or_insert(proposed);
            }
            if self.seen.insert(key) {
                rules.push(rule);
            }
        }
        let mut judged: Vec<Judged> = rules
            .into_par_iter()
            .map(|rule| {
                let measured = self.measure(&rule).map(Arc::new);
                (rule, measured)
            })
            .collect();
        let rank =
            |entry: &Judged| entry.1.as_ref().map_or(-1.0, |candidate| candidate.construction);
        // Equals in AUROC go by simplicity, then by their text: no order of arrival counts.
        judged.sort_by_cached_key(|entry| {
            (std::cmp::Reverse(Ordered(rank(entry))), entry.0.size(), entry.0.key())
        });
        let tau = self.tau(&judged);
        for (rule, measured) in judged {
            progress.check()?;
            match measured {
                Err(error) => {
                    let help = error.help_text().map_or(String::new(), |help| format!("; {help}"));
                    self.note(rule, None, false, format!("{}{help}", error.message()));
                }
                Ok(candidate) => {
                    let refusal =
                        if self.screening.verify { self.refusal(&candidate, tau) } else { None };
                    let refusal = match refusal {
                        None if self.screening.verify
                            && !proposer.plausible(self.view, &candidate.rule)? =>
                        {
                            Some("not plausible to the proposer".into())
                        }
                        other => other,
                    };
                    let aurocs = Some((candidate.construction, candidate.validation));
                    match refusal {
                        Some(reason) => self.note(rule, aurocs, false, reason),
                        None => {
                            self.note(rule, aurocs, true, "kept".into());
                            self.place.insert(candidate.rule.key(), self.kept().len());
                            self.diverse.push(candidate);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The refused rules with the best AUROC, best first.
    pub fn near_misses(&self, count: usize) -> Vec<&Verdict> {
        let mut refused: Vec<&Verdict> = self
            .verdicts
            .iter()
            .filter(|verdict| !verdict.kept && verdict.construction.is_some())
            .collect();
        refused.sort_by(|a, b| {
            b.construction.unwrap_or(0.0).total_cmp(&a.construction.unwrap_or(0.0))
        });
        refused.truncate(count);
        refused
    }

    fn note(&mut self, rule: Rule, aurocs: Option<(f64, f64)>, kept: bool, reason: String) {
        self.verdicts.push(Verdict {
            rule,
            construction: aurocs.map(|pair| pair.0),
            validation: aurocs.map(|pair| pair.1),
            kept,
            reason,
        });
    }

    fn measure(&self, rule: &Rule) -> Result<Candidate> {
        rule.check(self.frame, self.view.depth)?;
        for feature in rule.features() {
            if self.excluded.iter().any(|excluded| excluded == feature) {
                return Err(Error::input(format!("`{feature}` is excluded")));
            }
            if !self.view.dictionary.usable(feature) {
                return Err(Error::input(format!("the dictionary says not to use `{feature}`")));
            }
        }
        if let Some(feature) = self.view.against_direction(rule) {
            return Err(Error::input(format!("against the direction of `{feature}`")));
        }
        let bits = self.bits(rule)?;
        let construction = rule_auroc(&bits, self.layout, Part::Construction);
        let validation = rule_auroc(&bits, self.layout, Part::Validation);
        Ok(Candidate { rule: rule.clone(), bits, construction, validation })
    }

    // The parts of a logical rule are mostly kept rules, whose bits are at hand.
    fn bits(&self, rule: &Rule) -> Result<Bits> {
        if let Some(&place) = self.place.get(&rule.key()) {
            return Ok(self.kept()[place].bits.clone());
        }
        match rule {
            Rule::Logic { op, rules } => {
                let mut parts = rules.iter().map(|rule| self.bits(rule));
                let first = parts.next().unwrap_or_else(|| Ok(Bits::empty(self.layout.words())))?;
                parts.try_fold(first, |so_far, part| {
                    let part = part?;
                    Ok(if *op == Join::And { so_far.and(&part) } else { so_far.or(&part) })
                })
            }
            _ => Ok(self.layout.pack(&rule.truth(self.frame)?)),
        }
    }

    // The least AUROC in a batch that is sorted best first: with it and what is kept already there
    // are enough different rules to choose from, where so many are good enough at all.
    fn tau(&self, judged: &[Judged]) -> f64 {
        let Tau::Adaptive { rank, floor, .. } = self.screening.tau else {
            return self.screening.tau.among(&[]);
        };
        let mut diverse = self.diverse.clone();
        let mut best: Vec<f64> = self.kept().iter().map(|kept| kept.construction).collect();
        let mut new = 0;
        for candidate in judged.iter().filter_map(|(_, measured)| measured.as_ref().ok()) {
            if new == rank || candidate.construction < floor {
                break;
            }
            if self.constant(candidate)
                || diverse.redundant(candidate, self.layout, self.screening).is_some()
            {
                continue;
            }
            best.push(candidate.construction);
            diverse.push(Arc::clone(candidate));
            new += 1;
        }
        best.sort_by(|a, b| b.total_cmp(a));
        self.screening.tau.among(&best)
    }

    fn constant(&self, candidate: &Candidate) -> bool {
        let counts = self.layout.counts(&candidate.bits, Part::Construction);
        counts == (0, 0) || counts == self.layout.totals(Part::Construction)
    }

    fn refusal(&self, candidate: &Candidate, tau: f64) -> Option<String> {
        if self.constant(candidate) {
            return Some("constant on the construction rows".into());
        }
        if self.kept().len() >= self.screening.most {
            return Some(format!("there are {} better rules", self.screening.most));
        }
        if candidate.construction < tau {
            return Some(format!("AUROC {:.3} is below {tau:.3}", candidate.construction));
        }
        let least = self.screening.tau.least() - self.screening.slack;
        if candidate.validation < least {
            return Some(format!(
                "not confirmed: AUROC {:.3} on the validation rows is below {least:.3}",
                candidate.validation
            ));
        }
        self.diverse.redundant(candidate, self.layout, self.screening)
    }
}

// A rule with what it was measured to be, or why it could not be.
type Judged = (Rule, Result<Arc<Candidate>>);

/// A number in its total order.
#[derive(Clone, Copy, PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
