//! Whether a further rule adds anything to those kept.

use super::bitset::{Bits, Layout, Part, count_both};
use super::pool::Candidate;
use super::rule::Rule;
use super::screening::Screening;
use std::collections::HashMap;
use std::sync::Arc;

/// `J+`: of the cases that satisfy either rule, the share that satisfies both.
pub fn jaccard(a: &Bits, b: &Bits, layout: &Layout, part: Part) -> f64 {
    let (positives, _) = layout.ranges(part);
    let (a, b) = (&a.words()[positives.clone()], &b.words()[positives]);
    let both = count_both(a, b);
    let either = count_both(a, a) + count_both(b, b) - both;
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
}

/// Rules of which none is redundant beside those before it.
#[derive(Clone, Debug)]
pub(super) struct Diverse {
    rules: Vec<Arc<Candidate>>,
    // The rows that satisfy any of them.
    covered: Bits,
    families: HashMap<String, usize>,
}

impl Diverse {
    pub(super) fn new(layout: &Layout) -> Self {
        let covered = Bits::empty(layout.words());
        Self { rules: Vec::new(), covered, families: HashMap::new() }
    }

    pub(super) fn rules(&self) -> &[Arc<Candidate>] {
        &self.rules
    }

    pub(super) fn push(&mut self, candidate: Arc<Candidate>) {
        self.covered = self.covered.or(&candidate.bits);
        *self.families.entry(family(&candidate.rule)).or_default() += 1;
        self.rules.push(candidate);
    }

    /// Why the rule adds nothing, where it does not.
    pub(super) fn redundant(
        &self,
        candidate: &Candidate,
        layout: &Layout,
        screening: &Screening,
    ) -> Option<String> {
        let most = screening.family;
        if most > 0 && self.families.get(&family(&candidate.rule)).is_some_and(|&n| n >= most) {
            return Some(format!("{most} rules on the same features"));
        }
        if screening.rho >= 1.0 {
            return None;
        }
        let part = Part::Construction;
        let (similarity, kept) = self.rules.iter().find_map(|kept| {
            let similarity = jaccard(&candidate.bits, &kept.bits, layout, part);
            (similarity > screening.rho).then_some((similarity, kept))
        })?;
        let new = layout.counts(&candidate.bits.without(&self.covered), part).0;
        let least = screening.gain * layout.totals(part).0 as f64;
        ((new as f64) < least || new == 0)
            .then(|| format!("finds the same cases as `{}` (J+ {similarity:.2})", kept.rule))
    }
}

// Rules on the same columns are one family.
fn family(rule: &Rule) -> String {
    rule.features().join("\u{1f}")
}
