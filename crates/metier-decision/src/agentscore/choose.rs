//! Choosing the rules of a checklist from the pool, by the selector of the settings.

use super::bitset::{Layout, Part};
use super::config::Config;
use super::pool::{Pool, Verdict};
use super::proposer::{Attempt, Proposer};
use super::select::{Choice, Covering, Selector, beam, exact, greedy, mip};
use super::view::AggregateView;
use metier_core::{Error, Progress, Result};
use serde::{Deserialize, Serialize};

/// The rules chosen, by their places in the pool.
pub(super) struct Chosen {
    pub(super) places: Vec<usize>,
    pub(super) proof: Option<Proof>,
}

/// How far a search for the best choice of rules got.
///
/// ```
/// use metier_decision::agentscore::{Goal, Proof};
/// let proof = Proof { goal: Goal::Auroc, value: 0.741, bound: 0.76, gap: 0.019, proven: false, pool: 40 };
/// assert_eq!(
///     proof.to_string(),
///     "The search was cut short: AUROC 0.741, where no choice among 40 rules exceeds 0.760 (gap 0.019)."
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// What was searched for.
    pub goal: Goal,
    /// What the choice has of it, on the rows that it was chosen on.
    pub value: f64,
    /// No choice from this pool does better than this.
    pub bound: f64,
    /// The difference of the two.
    pub gap: f64,
    /// Whether no choice from this pool is better.
    pub proven: bool,
    /// How many rules were chosen from.
    pub pool: usize,
}

/// What a selector that proves its choice searches for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// The greatest AUROC of the number of points.
    Auroc,
    /// The least balanced error at the line: the mean of the shares of cases missed and of others
    /// alarmed.
    BalancedError,
}

impl std::fmt::Display for Proof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { value, bound, gap, pool, .. } = self;
        let (name, best, beyond) = match self.goal {
            Goal::Auroc => ("AUROC", "the greatest", "exceeds"),
            Goal::BalancedError => ("balanced error", "the least", "is below"),
        };
        if self.proven {
            write!(f, "Proven: {name} {value:.3} is {best} of any choice among {pool} rules.")
        } else {
            write!(
                f,
                "The search was cut short: {name} {value:.3}, where no choice among {pool} rules \
                 {beyond} {bound:.3} (gap {gap:.3})."
            )
        }
    }
}

pub(super) fn choose(
    pool: &Pool<'_>,
    layout: &Layout,
    view: &AggregateView,
    proposer: &mut dyn Proposer,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Chosen> {
    let all: Vec<_> = pool.kept().iter().map(|kept| (&kept.rule, &kept.bits)).collect();
    let choice =
        |rules: &[_], part| Choice::new(rules, layout, part, config.m, config.max_per_feature);
    let whole = choice(&all, config.choose_on);
    let unproven = |places| Chosen { places, proof: None };
    match config.selector {
        Selector::Beam => Ok(unproven(beam(&whole, config.beam, progress)?)),
        Selector::Greedy => Ok(unproven(greedy(&whole, progress)?)),
        Selector::Llm => Ok(unproven(by_proposer(
            &choice(&all, Part::Validation),
            pool,
            view,
            proposer,
            config.refine,
            progress,
        )?)),
        Selector::Exact | Selector::Mip => {
            // The beam's choice is among the rules looked at, so that none comes out worse than it.
            let beams = beam(&whole, config.beam, progress)?;
            let places = few(pool, config.exact_pool, &beams);
            let rules: Vec<_> = places.iter().map(|&place| all[place]).collect();
            let hint: Vec<usize> =
                (0..places.len()).filter(|&rule| beams.contains(&places[rule])).collect();
            let choice = choice(&rules, config.choose_on);
            let (chosen, proof) = if config.selector == Selector::Exact {
                by_auroc(&choice, &hint, config, progress)?
            } else {
                by_errors(&choice, &hint, config, progress)?
            };
            let places = chosen.into_iter().map(|rule| places[rule]).collect();
            Ok(Chosen { places, proof: Some(proof) })
        }
    }
}

// What enumerates looks at the rules that are best by themselves, and at those of the beam.
fn few(pool: &Pool<'_>, count: usize, beams: &[usize]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..pool.kept().len()).collect();
    places.sort_by(|&a, &b| {
        pool.kept()[b].construction.total_cmp(&pool.kept()[a].construction).then(a.cmp(&b))
    });
    places.truncate(count);
    places.extend(beams);
    places.sort_unstable();
    places.dedup();
    places
}

fn by_auroc(
    choice: &Choice<'_>,
    hint: &[usize],
    config: &Config,
    progress: &dyn Progress,
) -> Result<(Vec<usize>, Proof)> {
    let found = exact(choice, hint, config.nodes, progress)?;
    let proof = Proof {
        goal: Goal::Auroc,
        value: found.auroc,
        bound: found.bound,
        gap: found.gap(),
        proven: found.gap() == 0.0,
        pool: choice.len(),
    };
    Ok((found.chosen, proof))
}

fn by_errors(
    choice: &Choice<'_>,
    hint: &[usize],
    config: &Config,
    progress: &dyn Progress,
) -> Result<(Vec<usize>, Proof)> {
    let problem = Covering::of(choice);
    let solved = mip(&problem, hint, config.seconds, progress)?;
    let weight = problem.weight().max(f64::MIN_POSITIVE);
    let proof = Proof {
        goal: Goal::BalancedError,
        value: solved.errors / weight,
        bound: solved.bound / weight,
        gap: solved.gap() / weight,
        proven: solved.proven,
        pool: choice.len(),
    };
    Ok((solved.chosen, proof))
}

fn by_proposer(
    judge: &Choice<'_>,
    pool: &Pool<'_>,
    view: &AggregateView,
    proposer: &mut dyn Proposer,
    refine: usize,
    progress: &dyn Progress,
) -> Result<Vec<usize>> {
    let kept: Vec<Verdict> = pool.verdicts.iter().filter(|verdict| verdict.kept).cloned().collect();
    let mut tried: Vec<Attempt> = Vec::new();
    for _ in 0..=refine {
        progress.check()?;
        let Some(chosen) = proposer.construct(view, &kept, &tried)? else { break };
        let outcome = match judge.fault(&chosen) {
            None => Ok(judge.auroc(&chosen)),
            Some(fault) => Err(fault),
        };
        tried.push(Attempt { chosen, outcome });
    }
    // The first of the best, so that refining has to improve to count.
    let mut best: Option<(&Attempt, f64)> = None;
    for attempt in &tried {
        if let Ok(auroc) = attempt.outcome
            && best.is_none_or(|best| auroc > best.1)
        {
            best = Some((attempt, auroc));
        }
    }
    best.map(|best| best.0.chosen.clone()).ok_or_else(|| match tried.last() {
        Some(Attempt { outcome: Err(fault), .. }) => {
            Error::input(format!("every choice of the proposer breaks the rules; the last: {fault}"))
        }
        _ => Error::usage("the proposer made no choice").help(
            "the selector `llm` needs a proposer that asks a language model, and calls left to ask it",
        ),
    })
}
