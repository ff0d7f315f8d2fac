//! Learning a checklist: split, propose, verify, choose, set the action line.

use super::bitset::{Layout, Part};
use super::checklist::{Checklist, Item, Training};
use super::choose::{Chosen, choose};
use super::config::Config;
use super::pool::Pool;
use super::proposer::{Feedback, Proposer};
use super::risk::RiskTable;
use super::select::Selector;
use super::view::AggregateView;
use super::{checks, split};
use crate::auroc::Histogram;
use metier_core::{Error, Progress, Result, Silent};
use metier_data::Frame;
use std::collections::BTreeSet;

/// Learns a checklist from a table of columns and a label 0 or 1 per row.
///
/// ```
/// use metier_data::{Column, Frame};
/// use metier_decision::agentscore::{Config, DataProposer, fit};
/// // Old patients with a fever fall ill.
/// let age: Vec<f64> = (0..200).map(|i| f64::from(20 + i * 7 % 70)).collect();
/// let fever: Vec<f64> = (0..200).map(|i| f64::from(i % 3 == 0)).collect();
/// let y: Vec<u8> = (0..200).map(|i| u8::from(age[i] + 30.0 * fever[i] + (i % 11) as f64 > 75.0)).collect();
/// let table = Frame::new(vec![Column::number("age", age), Column::number("fever", fever)])?;
/// let checklist = fit(&table, &y, &mut DataProposer::default(), &Config::default())?;
/// assert!(checklist.training.auroc > 0.7);
/// assert_eq!(checklist.score(&table)?.len(), 200);
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// Settings out of range; labels that cannot be learnt from; patients who come twice without a
/// group; no rule that passes (the message lists the ten nearest); a proposer that fails.
pub fn fit(
    table: &Frame,
    y: &[u8],
    proposer: &mut dyn Proposer,
    config: &Config,
) -> Result<Checklist> {
    fit_with(table, y, proposer, config, &Silent)
}

/// [`fit`], telling `progress` how far it is and stopping when asked.
///
/// # Errors
/// Those of [`fit`], or a stop on request.
pub fn fit_with(
    table: &Frame,
    y: &[u8],
    proposer: &mut dyn Proposer,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Checklist> {
    config.validate()?;
    checks::classes(table, y, config.force)?;
    let reasons =
        checks::excluded(table, y, &config.outcome, config.group.as_deref(), &config.allow)?;
    let excluded: Vec<String> = reasons.keys().cloned().collect();
    let mut warnings: Vec<String> = reasons
        .iter()
        .filter(|(_, reason)| reason.starts_with("possible leak"))
        .map(|(name, reason)| match reason.split_once(": ") {
            Some((leak, why)) => format!("{leak}: {name} ({why}); it is left out"),
            None => format!("{name}: {reason}"),
        })
        .collect();
    warnings.extend(checks::warnings(table));

    let held = split::holdout(table, y, config.group.as_deref(), config.validation, config.seed)?;
    let layout = Layout::new(y, &held);
    let rows = layout.rows(Part::Construction);
    let mut view = AggregateView::new(table, y, &rows, &excluded, &config.dictionary)?;
    view.outcome.clone_from(&config.outcome);
    view.m = config.m;
    view.depth = config.depth;
    view.max_per_feature = config.max_per_feature;

    // Without validation rows there is nothing to confirm on.
    let mut screening = config.screening.clone();
    if layout.totals(Part::Validation).0.min(layout.totals(Part::Validation).1) == 0 {
        screening.slack = f64::INFINITY;
    }
    if config.selector == Selector::Llm {
        proposer.reserve(1 + config.refine);
    }
    let mut pool = Pool::new(table, &layout, &view, &screening, &excluded);
    progress.begin("proposing rules", None);
    for round in 0..config.rounds {
        progress.check()?;
        let verdicts = std::mem::take(&mut pool.verdicts);
        let batch = proposer.next(&view, &Feedback { round, verdicts: &verdicts });
        pool.verdicts = verdicts;
        let batch = batch?;
        if batch.is_empty() {
            break;
        }
        pool.admit(batch, proposer, progress)?;
        progress.message(&format!("{} kept of {}", pool.kept().len(), pool.verdicts.len()));
        progress.advance(1);
    }
    progress.finish();
    if pool.kept().is_empty() {
        return Err(nothing_passed(&pool));
    }

    progress.begin("choosing rules", None);
    let Chosen { places, proof } = choose(&pool, &layout, &view, proposer, config, progress)?;
    progress.finish();
    let rules: Vec<_> = places.iter().map(|&place| &pool.kept()[place]).collect();
    let mut scores = vec![0u8; y.len()];
    for candidate in &rules {
        layout.unpack(&candidate.bits, |row, bit| scores[row] += u8::from(bit));
    }
    let of = |part: Part| {
        let rows = layout.rows(part);
        let pick = |values: &[u8]| rows.iter().map(|&row| values[row]).collect::<Vec<u8>>();
        Histogram::of(&pick(&scores), &pick(y), rules.len())
    };
    warnings.extend(rules.iter().filter_map(|kept| {
        let proposed = pool.as_proposed(&kept.rule)?.words(&config.dictionary);
        let rounded = kept.rule.words(&config.dictionary);
        Some(format!(
            "`{proposed}` is rounded to `{rounded}`; give the column a finer step in the dictionary \
             to keep it"
        ))
    }));
    let histogram = of(config.choose_on);
    let theta = config.objective.theta(&histogram);
    warnings.extend(config.objective.missed(&histogram));
    if proposer.unasked() > 0 {
        warnings.push(format!(
            "{} rules were not asked about for plausibility: the calls to the model were spent",
            proposer.unasked()
        ));
    }
    let items = rules
        .iter()
        .map(|candidate| Item {
            text: candidate.rule.words(&config.dictionary),
            construction: candidate.construction,
            validation: candidate.validation,
            rule: candidate.rule.clone(),
        })
        .collect();
    let asked: Vec<&str> = rules.iter().flat_map(|kept| kept.rule.features()).collect();
    let known = table
        .columns()
        .iter()
        .filter(|column| asked.contains(&column.name.as_str()))
        .filter_map(|column| {
            let texts = column.texts().ok()?;
            let levels: BTreeSet<String> = texts.iter().flatten().cloned().collect();
            Some((column.name.clone(), levels.into_iter().collect()))
        })
        .collect();
    Ok(Checklist {
        format: Checklist::FORMAT.into(),
        outcome: config.outcome.clone(),
        items,
        theta,
        objective: config.objective,
        risk: RiskTable::new(&histogram),
        training: Training {
            rows: y.len(),
            cases: y.iter().filter(|&&label| label == 1).count(),
            auroc: histogram.auroc(),
            construction: of(Part::Construction).auroc(),
            validation: of(Part::Validation).auroc(),
            proposed: pool.verdicts.len(),
            kept: pool.kept().len(),
            invalid: proposer.invalid(),
        },
        proof,
        honest: None,
        dictionary: config.dictionary.clone(),
        excluded: reasons,
        warnings,
        config: config.clone(),
        known,
        audit: pool.verdicts,
    })
}

/// What an error of [`fit`] was caused by when no rule passed the screening.
///
/// ```
/// use metier_data::{Column, Frame};
/// use metier_decision::agentscore::{Config, DataProposer, NothingPassed, fit};
/// // A coin says nothing about another.
/// let coin: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
/// let y: Vec<u8> = (0..400).map(|i| u8::from(i % 4 < 2)).collect();
/// let table = Frame::new(vec![Column::number("coin", coin)])?;
/// let error = fit(&table, &y, &mut DataProposer::default(), &Config::default()).unwrap_err();
/// assert!(NothingPassed::caused(&error));
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NothingPassed;

impl NothingPassed {
    /// Whether this was the cause.
    pub fn caused(error: &Error) -> bool {
        std::error::Error::source(error).is_some_and(|source| source.is::<Self>())
    }
}

impl std::fmt::Display for NothingPassed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no rule passes the screening")
    }
}

impl std::error::Error for NothingPassed {}

fn nothing_passed(pool: &Pool<'_>) -> Error {
    let near = pool.near_misses(10);
    let list: Vec<String> = near
        .iter()
        .map(|verdict| {
            let auroc = verdict.construction.unwrap_or(f64::NAN);
            format!("\n  {auroc:.3}  {} ({})", verdict.rule, verdict.reason)
        })
        .collect();
    let refused: Vec<String> = pool
        .verdicts
        .iter()
        .filter(|verdict| verdict.construction.is_none())
        .take(3)
        .map(|verdict| format!("\n  {}: {}", verdict.rule, verdict.reason))
        .collect();
    Error::input(format!(
        "no rule passes; the best by AUROC are:{}{}",
        list.concat(),
        refused.concat()
    ))
    .help("lower --tau, or give columns that say more about the outcome")
    .caused_by(NothingPassed)
}
