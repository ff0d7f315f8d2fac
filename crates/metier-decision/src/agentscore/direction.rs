//! Whether rules go the way that the dictionary says the risk goes.

use super::dictionary::Monotone;
use super::rule::{Direction, Rule, said_no, said_yes};
use super::view::{AggregateView, Summary};

impl AggregateView {
    /// The first column that the rule asks about against a direction of the dictionary: one that is
    /// said to be riskier when high while the rule is true of low values, or of neither end.
    pub fn against_direction(&self, rule: &Rule) -> Option<String> {
        let stated = |feature: &str| self.dictionary.columns.get(feature)?.direction;
        let wrong = |(feature, goes): (&str, Option<Monotone>)| {
            let wrong = stated(feature).is_some_and(|stated| goes != Some(stated));
            wrong.then(|| feature.to_owned())
        };
        let way = |up: bool| Some(if up { Monotone::Up } else { Monotone::Down });
        match rule {
            Rule::Threshold { feature, op, .. }
            | Rule::Z { feature, op, .. }
            | Rule::Quantile { feature, op, .. } => wrong((feature, way(op.is_up()))),
            Rule::True { feature } => wrong((feature, way(true))),
            Rule::In { feature, values } => wrong((feature, self.goes(feature, values))),
            // Between two bounds is neither end.
            Rule::Range { feature, .. } => wrong((feature, None)),
            Rule::Derived { expr, op, .. } => {
                wrong((&expr.a, way(op.is_up()))).or_else(|| wrong((&expr.b, way(!op.is_up()))))
            }
            Rule::Count { features, .. } => {
                features.iter().find_map(|feature| wrong((feature, way(true))))
            }
            // A direction speaks of where the value is now, not of where it came from.
            Rule::PctChange { feature_t1, op, direction, .. } => {
                wrong((feature_t1, way(op.is_up() == (*direction == Direction::Increase))))
            }
            Rule::Logic { rules, .. } => rules.iter().find_map(|rule| self.against_direction(rule)),
        }
    }

    // Which end of a column the categories are: the larger numbers, or yes, are up.
    fn goes(&self, feature: &str, values: &[String]) -> Option<Monotone> {
        let numbers = |labels: &[&str]| -> Option<Vec<f64>> {
            labels.iter().map(|label| label.parse().ok()).collect()
        };
        let inside: Vec<&str> = values.iter().map(String::as_str).collect();
        if let Some(Summary::Category(levels)) = self.feature(feature).map(|f| &f.summary) {
            let labels = levels.iter().map(|level| level.label.as_str());
            let outside: Vec<&str> = labels.filter(|label| !inside.contains(label)).collect();
            if let (Some(inside), Some(outside)) = (numbers(&inside), numbers(&outside)) {
                let below = |a: &[f64], b: &[f64]| a.iter().all(|x| b.iter().all(|y| x < y));
                return match (below(&outside, &inside), below(&inside, &outside)) {
                    (true, false) => Some(Monotone::Up),
                    (false, true) => Some(Monotone::Down),
                    _ => None,
                };
            }
        }
        if inside.iter().all(|value| said_yes(value)) {
            Some(Monotone::Up)
        } else if inside.iter().all(|value| said_no(value)) {
            Some(Monotone::Down)
        } else {
            None
        }
    }
}
