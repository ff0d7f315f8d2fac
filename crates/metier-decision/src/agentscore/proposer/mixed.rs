//! Several proposers as one.

use super::{Attempt, Feedback, Proposer};
use crate::agentscore::pool::Verdict;
use crate::agentscore::rule::Rule;
use crate::agentscore::view::AggregateView;
use metier_core::Result;

/// Asks each of its proposers every round, until all have ended. A rule has to be plausible to
/// every one of them.
pub struct MixedProposer {
    parts: Vec<Box<dyn Proposer>>,
}

impl MixedProposer {
    /// The union of the given proposers.
    pub fn new(parts: Vec<Box<dyn Proposer>>) -> Self {
        Self { parts }
    }
}

impl Proposer for MixedProposer {
    fn next(&mut self, view: &AggregateView, feedback: &Feedback<'_>) -> Result<Vec<Rule>> {
        let mut rules = Vec::new();
        for part in &mut self.parts {
            rules.extend(part.next(view, feedback)?);
        }
        Ok(rules)
    }

    fn plausible(&mut self, view: &AggregateView, rule: &Rule) -> Result<bool> {
        for part in &mut self.parts {
            if !part.plausible(view, rule)? {
                return Ok(false);
            }
        }
        Ok(true)
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
