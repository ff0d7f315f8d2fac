//! Beam search with single swaps.

use super::{Choice, State};
use metier_core::{Progress, Result};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::HashSet;

/// The best checklist that a beam of `width` finds, then swaps of one rule for another for as long
/// as they help; in pools of at most 64 rules, swaps of two as well. Deterministic; ties go to fewer
/// rules, then to earlier ones.
///
/// # Errors
/// A stop on request.
pub fn beam(choice: &Choice<'_>, width: usize, progress: &dyn Progress) -> Result<Vec<usize>> {
    let mut states = vec![choice.start()];
    let mut best = choice.start();
    for _ in 0..choice.m {
        progress.check()?;
        let mut steps: Vec<(Reverse<u64>, Vec<usize>, usize, usize)> = states
            .par_iter()
            .enumerate()
            .flat_map_iter(|(place, state)| leading(choice, state, width, place))
            .collect();
        steps.sort_unstable();
        let mut seen = HashSet::new();
        let next: Vec<(usize, usize)> = steps
            .into_iter()
            .filter(|step| seen.insert(step.1.clone()))
            .take(width)
            .map(|step| (step.2, step.3))
            .collect();
        if next.is_empty() {
            break;
        }
        states =
            next.into_par_iter().map(|(place, rule)| choice.grown(&states[place], rule)).collect();
        let leader = states.iter().min_by(|a, b| a.rank().cmp(&b.rank()));
        if let Some(leader) = leader.filter(|leader| leader.rank() < best.rank()) {
            best = leader.clone();
        }
    }
    Ok(settled(choice, best, progress)?.chosen)
}

/// The checklist that takes the best rule, then the best beside it, and so on.
///
/// # Errors
/// A stop on request.
pub fn greedy(choice: &Choice<'_>, progress: &dyn Progress) -> Result<Vec<usize>> {
    let mut best = choice.start();
    while best.chosen.len() < choice.m {
        progress.check()?;
        let Some(step) = leading(choice, &best, 1, 0).into_iter().next() else { break };
        let next = choice.grown(&best, step.3);
        if next.ordered <= best.ordered {
            break;
        }
        best = next;
    }
    Ok(best.chosen)
}

type Step = (Reverse<u64>, Vec<usize>, usize, usize);

// The best additions to one checklist.
fn leading(choice: &Choice<'_>, state: &State, width: usize, place: usize) -> Vec<Step> {
    let mut gains: Vec<(Reverse<u64>, usize)> = (0..choice.len())
        .into_par_iter()
        .with_min_len(64)
        .filter(|&rule| choice.allows(state, rule))
        .map(|rule| (Reverse(choice.gain(state, rule)), rule))
        .collect();
    // Each of the beam may bring the same sets as the others, hence some to spare.
    let spare = (width * (state.chosen.len() + 1)).min(gains.len());
    if spare < gains.len() && spare > 0 {
        gains.select_nth_unstable(spare - 1);
        gains.truncate(spare);
    }
    gains.sort_unstable();
    gains
        .into_iter()
        .map(|(gain, rule)| {
            let mut chosen = state.chosen.clone();
            chosen.insert(chosen.partition_point(|&other| other < rule), rule);
            (gain, chosen, place, rule)
        })
        .collect()
}

// Swaps of two are many; in a small pool they cost nothing to speak of.
const SMALL: usize = 64;

fn settled(choice: &Choice<'_>, best: State, progress: &dyn Progress) -> Result<State> {
    let mut best = swapped(choice, best, progress)?;
    while choice.len() <= SMALL {
        match doubly_swapped(choice, &best) {
            Some(next) => best = swapped(choice, next, progress)?,
            None => break,
        }
    }
    Ok(best)
}

// The best replacement of two rules, where one of the two newcomers is among the ten best alone.
fn doubly_swapped(choice: &Choice<'_>, best: &State) -> Option<State> {
    let size = best.chosen.len();
    let pairs: Vec<(usize, usize)> =
        (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b))).collect();
    let found = pairs
        .into_par_iter()
        .flat_map_iter(|(a, b)| {
            let kept = (0..size).filter(|&place| place != a && place != b);
            let rest = choice.state(&kept.map(|place| best.chosen[place]).collect::<Vec<_>>());
            leading(choice, &rest, 10, 0).into_iter().filter_map(move |first| {
                let half = choice.grown(&rest, first.3);
                let second = leading(choice, &half, 1, 0).into_iter().next()?;
                Some((second.0, second.1))
            })
        })
        .min()?;
    (found.0.0 > best.ordered).then(|| choice.state(&found.1))
}

// The best of all single swaps, drops and additions, again and again.
fn swapped(choice: &Choice<'_>, mut best: State, progress: &dyn Progress) -> Result<State> {
    loop {
        progress.check()?;
        let mut bases: Vec<State> = (0..best.chosen.len())
            .map(|out| {
                let mut rest = best.chosen.clone();
                rest.remove(out);
                choice.state(&rest)
            })
            .collect();
        if best.chosen.len() < choice.m {
            bases.push(best.clone());
        }
        let step = bases
            .par_iter()
            .enumerate()
            .flat_map_iter(|(place, base)| leading(choice, base, 1, place))
            .min();
        let next = step.map(|step| choice.grown(&bases[step.2], step.3));
        // Strictly more ordered pairs, so that the search ends.
        match next {
            Some(next) if next.ordered > best.ordered => best = next,
            _ => return Ok(best),
        }
    }
}
