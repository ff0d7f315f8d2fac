//! Several proposers as one.

use super::{Attempt, Feedback, Proposer};
use crate::agentscore::pool::Verdict;
use crate::agentscore::rule::Rule;
use crate::agentscore::view::AggregateView;
use metier_core::Result;
use std::collections::HashMap;

/// Asks each of its proposers every round, until all have ended. A rule has to be plausible to the one
/// that proposed it: the others' opinions may cost calls that their own rules need.
pub struct MixedProposer {
    parts: Vec<Box<dyn Proposer>>,
    // By the key of a rule, who proposed it first.
    author: HashMap<String, usize>,
}

impl MixedProposer {
    /// The union of the given proposers.
    pub fn new(parts: Vec<Box<dyn Proposer>>) -> Self {
        Self { parts, author: HashMap::new() }
    }
}

impl Proposer for MixedProposer {
    fn next(&mut self, view: &AggregateView, feedback: &Feedback<'_>) -> Result<Vec<Rule>> {
        let mut rules = Vec::new();
        for (number, part) in self.parts.iter_mut().enumerate() {
            for rule in part.next(view, feedback)? {
                self.author.entry(rule.key()).or_insert(number);
                rules.push(rule);
            }
        }
        Ok(rules)
    }

    fn plausible(&mut self, view: &AggregateView, rule: &Rule) -> Result<bool> {
        match self.author.get(&rule.key()).and_then(|author| self.parts.get_mut(*author)) {
            Some(author) => author.plausible(view, rule),
            None => Ok(true),
        }
    }

    fn reserve(&mut self, choices: usize) {
        self.parts.iter_mut().for_each(|part| part.reserve(choices));
    }

    fn unasked(&self) -> usize {
        self.parts.iter().map(|part| part.unasked()).sum()
    }

    fn construct(
        &mut self,
        view: &AggregateView,
        pool: &[Verdict],
        so_far: &[Attempt],
    ) -> Result<Option<Vec<usize>>> {
        for part in &mut self.parts {
            if let Some(choice) = part.construct(view, pool, so_far)? {
                return Ok(Some(choice));
            }
        }
        Ok(None)
    }

    fn invalid(&self) -> usize {
        self.parts.iter().map(|part| part.invalid()).sum()
    }
}
