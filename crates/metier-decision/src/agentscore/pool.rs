//! Verification: which proposed rules are good enough, sound enough and different enough to be
//! chosen from.

use super::bitset::{Bits, Layout, Part, count_both};
use super::proposer::Proposer;
use super::rule::{Join, Rule};
use super::screening::Screening;
use super::view::AggregateView;
use metier_core::{Error, Progress, Result};
use metier_data::Frame;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

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
    /// The rules kept, in the order of admission.
    pub kept: Vec<Candidate>,
    /// Every verdict, in order.
    pub verdicts: Vec<Verdict>,
    covered: Bits,
    seen: HashSet<String>,
    place: HashMap<String, usize>,
    families: HashMap<String, usize>,
    // What was proposed, by what became of it at the bedside.
    rounded: HashMap<String, Rule>,
}

/// `J+`: of the cases that satisfy either rule, the share that satisfies both.
pub fn jaccard(a: &Bits, b: &Bits, layout: &Layout, part: Part) -> f64 {
    let (positives, _) = layout.ranges(part);
    let (a, b) = (&a.words()[positives.clone()], &b.words()[positives]);
    let both = count_both(a, b);
    let either = count_both(a, a) + count_both(b, b) - both;
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
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
            kept: Vec::new(),
            verdicts: Vec::new(),
            covered: Bits::empty(layout.words()),
            seen: HashSet::new(),
            place: HashMap::new(),
            families: HashMap::new(),
            rounded: HashMap::new(),
        }
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
        let mut judged: Vec<(Rule, Result<Candidate>)> = rules
            .into_par_iter()
            .map(|rule| {
                let measured = self.measure(&rule);
                (rule, measured)
            })
            .collect();
        let rank = |entry: &(Rule, Result<Candidate>)| {
            entry.1.as_ref().map_or(-1.0, |candidate| candidate.construction)
        };
        // Equals in AUROC go by simplicity, then by their text: no order of arrival counts.
        judged.sort_by_cached_key(|entry| {
            (std::cmp::Reverse(Ordered(rank(entry))), entry.0.size(), entry.0.key())
        });
        for (rule, measured) in judged {
            progress.check()?;
            match measured {
                Err(error) => {
                    let help = error.help_text().map_or(String::new(), |help| format!("; {help}"));
                    self.note(rule, None, false, format!("{}{help}", error.message()));
                }
                Ok(candidate) => {
                    let refusal =
                        if self.screening.verify { self.refusal(&candidate) } else { None };
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
                            self.covered = self.covered.or(&candidate.bits);
                            self.place.insert(candidate.rule.key(), self.kept.len());
                            *self.families.entry(family(&candidate.rule)).or_default() += 1;
                            self.kept.push(candidate);
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
            return Ok(self.kept[place].bits.clone());
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

    fn refusal(&self, candidate: &Candidate) -> Option<String> {
        let (p, n) = self.layout.counts(&candidate.bits, Part::Construction);
        let (cases, others) = self.layout.totals(Part::Construction);
        if (p, n) == (0, 0) || (p, n) == (cases, others) {
            return Some("constant on the construction rows".into());
        }
        if self.kept.len() >= self.screening.most {
            return Some(format!("there are {} better rules", self.screening.most));
        }
        let tau = self.screening.tau.at(self.kept.len());
        if candidate.construction < tau {
            return Some(format!("AUROC {:.3} is below {tau:.2}", candidate.construction));
        }
        let least = tau - self.screening.slack;
        if candidate.validation < least {
            return Some(format!(
                "not confirmed: AUROC {:.3} on the validation rows is below {least:.2}",
                candidate.validation
            ));
        }
        let most = self.screening.family;
        if most > 0 && self.families.get(&family(&candidate.rule)).is_some_and(|&n| n >= most) {
            return Some(format!("{} rules on the same features", self.screening.family));
        }
        if self.screening.rho < 1.0 {
            let similar = self.kept.iter().find_map(|kept| {
                let similarity =
                    jaccard(&candidate.bits, &kept.bits, self.layout, Part::Construction);
                (similarity > self.screening.rho).then_some((similarity, kept))
            });
            if let Some((similarity, kept)) = similar {
                let new = self
                    .layout
                    .counts(&candidate.bits.without(&self.covered), Part::Construction)
                    .0;
                if (new as f64) < self.screening.gain * cases as f64 || new == 0 {
                    return Some(format!(
                        "finds the same cases as `{}` (J+ {similarity:.2})",
                        kept.rule
                    ));
                }
            }
        }
        None
    }
}

// Rules on the same columns are one family.
fn family(rule: &Rule) -> String {
    rule.features().join("\u{1f}")
}

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
