//! What checklists are compared with. Each is usable by itself.
//!
//! The integer scores work on yes/no columns: every `>=` indicator of the quantile grid, as a user
//! of those tools would make them ([`Indicators`]).

mod autoscore;
mod indicators;
mod pooled;
mod sparse;

pub use autoscore::AutoScore;
pub use indicators::Indicators;
pub use pooled::{Pooled, Rounding, pooled};
pub use sparse::{IntegerScore, faster_risk, risk_slim};

use super::pool::Verdict;
use super::select::{Choice, Selector, beam, exact};
use super::{Bits, Checklist, Config, DataProposer, Layout, Part, Rule, Screening, Tau, fit};
use crate::cart::Tree;
use crate::design::Design;
use crate::logistic::Logistic;
use metier_core::{Error, Result, Silent};
use metier_data::Frame;

/// Logistic regression on all columns, as most would run it: standardised, ridge 1.
///
/// # Errors
/// A test table that lacks a column.
pub fn logistic_regression(
    train: &Frame,
    y: &[u8],
    test: &Frame,
    excluded: &[String],
) -> Result<Vec<f64>> {
    let design = Design::new(train, excluded);
    let model = Logistic::ridge(&design.transform(train)?, y, 1.0);
    Ok(model.predict(&design.transform(test)?))
}

/// A classification tree of depth 4.
///
/// # Errors
/// A test table that lacks a column.
pub fn tree(train: &Frame, y: &[u8], test: &Frame, excluded: &[String]) -> Result<Vec<f64>> {
    let design = Design::new(train, excluded);
    let model = Tree::grow(&design.transform(train)?, y, 4, 1);
    Ok(model.predict(&design.transform(test)?))
}

/// The best single rule by AUROC on the construction rows.
///
/// # Errors
/// Those of [`fit`].
pub fn best_rule(train: &Frame, y: &[u8], config: &Config) -> Result<Checklist> {
    fit(train, y, &mut DataProposer::single(), &Config { m: 1, ..config.clone() })
}

/// One rule after the other, and never back, from the same pool.
///
/// # Errors
/// Those of [`fit`].
pub fn greedy(train: &Frame, y: &[u8], config: &Config) -> Result<Checklist> {
    let config = Config { selector: Selector::Greedy, ..config.clone() };
    fit(train, y, &mut DataProposer::default(), &config)
}

/// Optimal Checklists: the rules and the line with the least balanced error, exactly, among the
/// `pool` best single rules. The mixed-integer program of [`select::mip`](super::select::mip) is
/// the same problem; for pools of this size looking at every checklist is faster.
///
/// # Errors
/// No rule at all.
pub fn optimal_checklist(
    train: &Frame,
    y: &[u8],
    pool: usize,
    m: usize,
) -> Result<(Vec<Rule>, usize)> {
    let layout = Layout::new(y, &vec![false; y.len()]);
    let rules = best_rules(train, y, pool)?;
    let bits: Vec<Bits> =
        rules.iter().map(|rule| Ok(layout.pack(&rule.truth(train)?))).collect::<Result<_>>()?;
    let listed: Vec<(&Rule, &Bits)> = rules.iter().zip(&bits).collect();
    let choice = Choice::new(&listed, &layout, Part::All, m, usize::MAX);
    let (chosen, theta) =
        choice.fewest_errors().ok_or_else(|| Error::input("no rules to choose from"))?;
    Ok((chosen.into_iter().map(|place| rules[place].clone()).collect(), theta))
}

/// The checklist of greatest AUROC among the `pool` best single rules, proven.
///
/// # Errors
/// No rule at all.
pub fn exact_auroc(
    train: &Frame,
    y: &[u8],
    pool: usize,
    m: usize,
) -> Result<(Vec<Rule>, super::select::Exact)> {
    let layout = Layout::new(y, &vec![false; y.len()]);
    let rules = best_rules(train, y, pool)?;
    let bits: Vec<Bits> =
        rules.iter().map(|rule| Ok(layout.pack(&rule.truth(train)?))).collect::<Result<_>>()?;
    let listed: Vec<(&Rule, &Bits)> = rules.iter().zip(&bits).collect();
    let choice = Choice::new(&listed, &layout, Part::All, m, usize::MAX);
    let found = exact(&choice, &beam(&choice, 10, &Silent)?, u64::MAX, &Silent)?;
    Ok((found.chosen.iter().map(|&place| rules[place].clone()).collect(), found))
}

/// The best non-redundant single thresholds on the whole table.
///
/// # Errors
/// No rule at all.
pub fn best_rules(train: &Frame, y: &[u8], pool: usize) -> Result<Vec<Rule>> {
    let config = Config {
        m: 1,
        depth: 0,
        validation: 0.0,
        screening: Screening {
            tau: Tau::Fixed(0.52),
            most: pool,
            family: 0,
            ..Screening::default()
        },
        force: true,
        ..Config::default()
    };
    let mut proposer = DataProposer { joined: 0, ranges: false };
    let fitted = fit(train, y, &mut proposer, &config)?;
    Ok(fitted.audit.into_iter().filter(|v: &Verdict| v.kept).map(|v| v.rule).collect())
}

/// The points of each row under some rules.
///
/// # Errors
/// A column that the table lacks.
pub fn points(rules: &[Rule], table: &Frame) -> Result<Vec<f64>> {
    let mut points = vec![0.0; table.height()];
    for rule in rules {
        for (sum, truth) in points.iter_mut().zip(rule.truth(table)?) {
            *sum += f64::from(u8::from(truth));
        }
    }
    Ok(points)
}
