//! Rules from the aggregates of the data: deterministic, and no model asked.

use super::{Feedback, Proposer};
use crate::agentscore::rule::{Direction, Expr, Join, Op, Rule};
use crate::agentscore::view::{AggregateView, Feature, Summary};
use metier_core::Result;

/// Proposes every cut-point of a quantile grid, both ways; sets of categories by falling risk;
/// then ranges between kept cut-points; then pairs of the best rules, joined.
#[derive(Clone, Debug)]
pub struct DataProposer {
    /// How many of the best rules are joined in pairs by `and` and `or`; 0 for none.
    pub joined: usize,
    /// Whether ranges between kept cut-points are proposed.
    pub ranges: bool,
}

impl Default for DataProposer {
    fn default() -> Self {
        Self { joined: 40, ranges: true }
    }
}

impl DataProposer {
    /// Single questions only: no `and`, no `or`.
    pub fn single() -> Self {
        Self { joined: 0, ranges: true }
    }
}

impl Proposer for DataProposer {
    fn next(&mut self, view: &AggregateView, feedback: &Feedback<'_>) -> Result<Vec<Rule>> {
        let rules = match feedback.round {
            0 => view
                .features
                .iter()
                .flat_map(|feature| singles(view, feature))
                .chain(changes(view))
                .chain(view.dictionary.derived.iter().flat_map(|expr| derived(view, expr)))
                .chain(same_units(view).iter().flat_map(|expr| derived(view, expr)))
                .collect(),
            1 if self.ranges => ranges(feedback),
            // Ranges may all fail or none be proposed; pairs are asked for all the same.
            1 | 2 if view.depth > 0 && self.joined > 1 => pairs(feedback, self.joined),
            _ => Vec::new(),
        };
        // No ranges at all must not end the search before the pairs.
        if rules.is_empty() && feedback.round == 1 && self.ranges {
            return Ok(if view.depth > 0 && self.joined > 1 {
                pairs(feedback, self.joined)
            } else {
                Vec::new()
            });
        }
        Ok(rules)
    }
}

fn singles(view: &AggregateView, feature: &Feature) -> Vec<Rule> {
    let name = || feature.name.clone();
    match &feature.summary {
        Summary::Number { grid, .. } => {
            let mut points: Vec<f64> =
                grid.iter().map(|&point| view.dictionary.round(&feature.name, point)).collect();
            points.dedup();
            points
                .into_iter()
                .flat_map(|threshold| {
                    [Op::Ge, Op::Lt].map(|op| Rule::Threshold { feature: name(), op, threshold })
                })
                .collect()
        }
        Summary::Binary { no, .. } => {
            vec![Rule::True { feature: name() }, Rule::In { feature: name(), values: no.clone() }]
        }
        Summary::Category(levels) => (1..levels.len())
            .map(|end| Rule::In {
                feature: name(),
                values: levels[..end].iter().map(|level| level.label.clone()).collect(),
            })
            .collect(),
    }
}

// The aggregates of two columns do not tell those of their ratio, but the ratio of their quantiles
// is about where its own lie.
fn derived(view: &AggregateView, expr: &Expr) -> Vec<Rule> {
    let grid = |name: &str| match view.feature(name).map(|feature| &feature.summary) {
        Some(Summary::Number { grid, .. }) => Some(grid),
        _ => None,
    };
    let (Some(a), Some(b)) = (grid(&expr.a), grid(&expr.b)) else {
        return Vec::new();
    };
    let middle = b[b.len() / 2];
    let combine = |x: f64, y: f64| if expr.ratio { x / y } else { x - y };
    let mut points: Vec<f64> = a
        .iter()
        .map(|&x| combine(x, middle))
        .chain(b.iter().map(|&y| combine(a[a.len() / 2], y)))
        .filter(|point| point.is_finite())
        .map(crate::agentscore::dictionary::two_digits)
        .collect();
    points.sort_by(f64::total_cmp);
    points.dedup();
    let both = |threshold: f64| {
        [Op::Ge, Op::Lt].map(|op| Rule::Derived { expr: expr.clone(), op, threshold })
    };
    points.into_iter().flat_map(both).collect()
}

// Columns of one unit may be subtracted.
fn same_units(view: &AggregateView) -> Vec<Expr> {
    let unit = |name: &str| view.dictionary.columns.get(name).and_then(|entry| entry.unit.clone());
    let named: Vec<(&str, String)> = view
        .features
        .iter()
        .filter_map(|feature| Some((feature.name.as_str(), unit(&feature.name)?)))
        .collect();
    let mut pairs = Vec::new();
    for (place, (a, unit)) in named.iter().enumerate() {
        for (b, _) in named[place + 1..].iter().filter(|(_, other)| other == unit) {
            let expr = Expr { a: (*a).into(), b: (*b).into(), ratio: false };
            if !view.dictionary.derived.contains(&expr) {
                pairs.push(expr);
            }
        }
    }
    pairs
}

// `crea_t0` and `crea_t1`, or `crea_first` and `crea_last`.
fn changes(view: &AggregateView) -> Vec<Rule> {
    let mut rules = Vec::new();
    for feature in &view.features {
        for (before, after) in [("_t0", "_t1"), ("_first", "_last")] {
            let Some(stem) = feature.name.strip_suffix(before) else { continue };
            let other = format!("{stem}{after}");
            if view.feature(&other).is_none() {
                continue;
            }
            for direction in [Direction::Increase, Direction::Decrease] {
                for pct in [10.0, 20.0, 30.0, 50.0, 100.0] {
                    rules.push(Rule::PctChange {
                        feature_t0: feature.name.clone(),
                        feature_t1: other.clone(),
                        pct,
                        op: Op::Ge,
                        direction,
                    });
                }
            }
        }
    }
    rules
}

fn ranges(feedback: &Feedback<'_>) -> Vec<Rule> {
    let mut bounds: std::collections::BTreeMap<&str, (Vec<f64>, Vec<f64>)> = Default::default();
    for verdict in feedback.kept() {
        if let Rule::Threshold { feature, op, threshold } = &verdict.rule {
            let entry = bounds.entry(feature).or_default();
            if op.is_up() { entry.0.push(*threshold) } else { entry.1.push(*threshold) }
        }
    }
    let mut rules = Vec::new();
    for (feature, (mut lows, mut highs)) in bounds {
        // Any two kept cut-points bound a range, whichever way each of them goes.
        lows.append(&mut highs);
        lows.sort_by(f64::total_cmp);
        lows.dedup();
        for (place, &low) in lows.iter().enumerate() {
            for &high in &lows[place + 1..] {
                rules.push(Rule::Range { feature: feature.into(), low, high });
            }
        }
    }
    rules
}

fn pairs(feedback: &Feedback<'_>, joined: usize) -> Vec<Rule> {
    let mut best: Vec<_> = feedback.kept().filter(|verdict| verdict.rule.depth() == 0).collect();
    best.sort_by(|a, b| b.construction.unwrap_or(0.0).total_cmp(&a.construction.unwrap_or(0.0)));
    best.truncate(joined);
    let mut rules = Vec::new();
    for (place, a) in best.iter().enumerate() {
        for b in &best[place + 1..] {
            if a.rule.features().iter().any(|feature| b.rule.features().contains(feature)) {
                continue;
            }
            for op in [Join::And, Join::Or] {
                rules.push(Rule::Logic { op, rules: vec![a.rule.clone(), b.rule.clone()] });
            }
        }
    }
    rules
}
