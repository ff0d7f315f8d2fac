//! Where rules come from: the data, a language model, a file, or several of them. All rules go
//! through the same verification.

mod data;
mod file;
mod llm;
mod mixed;
mod source;

pub use data::DataProposer;
pub use file::FileProposer;
pub use llm::{LlmConfig, LlmProposer, LlmStats};
pub use mixed::MixedProposer;
pub use source::{Origin, Source};

use super::pool::Verdict;
use super::rule::Rule;
use super::view::AggregateView;
use metier_core::Result;

/// What came of the proposals so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Feedback<'a> {
    /// The number of the round, from 0.
    pub round: usize,
    /// Every verdict so far, in order.
    pub verdicts: &'a [Verdict],
}

impl<'a> Feedback<'a> {
    /// The rules kept so far, in order.
    pub fn kept(&self) -> impl Iterator<Item = &'a Verdict> {
        self.verdicts.iter().filter(|verdict| verdict.kept)
    }
}

/// A choice of rules that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The rules, by index.
    pub chosen: Vec<usize>,
    /// Its AUROC on the validation rows; or why it is no checklist.
    pub outcome: std::result::Result<f64, String>,
}

/// A source of rules.
pub trait Proposer {
    /// The next rules; none at all ends the search.
    ///
    /// # Errors
    /// When the source fails; a rule that is no good is no failure.
    fn next(&mut self, view: &AggregateView, feedback: &Feedback<'_>) -> Result<Vec<Rule>>;

    /// Whether a verified rule makes sense to the proposer. It may only refuse.
    ///
    /// # Errors
    /// When the source fails.
    fn plausible(&mut self, _view: &AggregateView, _rule: &Rule) -> Result<bool> {
        Ok(true)
    }

    /// A choice of at most `view.m` of the kept rules, by index, for the selector `llm`; `None`
    /// from a proposer that leaves choosing to others. No more than `view.max_per_feature` of them may
    /// ask about one column. `so_far` is what was tried before; empty on the first call.
    ///
    /// # Errors
    /// When the source fails.
    fn construct(
        &mut self,
        _view: &AggregateView,
        _pool: &[Verdict],
        _so_far: &[Attempt],
    ) -> Result<Option<Vec<usize>>> {
        Ok(None)
    }

    /// Asks to be able to [`construct`](Self::construct) this many times at the end, whatever else
    /// is spent before.
    fn reserve(&mut self, _choices: usize) {}

    /// How many verified rules were kept although their plausibility could not be asked for.
    fn unasked(&self) -> usize {
        0
    }

    /// How many answers were no rules.
    fn invalid(&self) -> usize {
        0
    }
}
