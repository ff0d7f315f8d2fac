//! A rule as a person reads it.

use super::{Direction, Join, Rule};
use crate::agentscore::dictionary::Dictionary;
use metier_data::format_number;
use std::fmt;

impl Rule {
    /// The rule in words, with the names and units of a dictionary.
    pub fn words(&self, dictionary: &Dictionary) -> String {
        let name = |feature: &str| dictionary.label(feature);
        let unit = |feature: &str| dictionary.unit(feature);
        let n = |value: f64| format_number(value);
        match self {
            Rule::Threshold { feature, op, threshold } => {
                format!("{} {op} {}{}", name(feature), n(*threshold), unit(feature))
            }
            Rule::Range { feature, low, high } => {
                format!("{} {} to {}{}", name(feature), n(*low), n(*high), unit(feature))
            }
            Rule::In { feature, values } if values.len() == 1 => {
                format!("{} is {}", name(feature), values[0])
            }
            Rule::In { feature, values } => {
                format!("{} is one of {}", name(feature), values.join(", "))
            }
            Rule::True { feature } => name(feature),
            Rule::Derived { expr, op, threshold } => {
                let sign = if expr.ratio { '/' } else { '−' };
                format!("{} {sign} {} {op} {}", name(&expr.a), name(&expr.b), n(*threshold))
            }
            Rule::Count { features, min_count } => {
                let names: Vec<String> = features.iter().map(|feature| name(feature)).collect();
                format!("at least {min_count} of {}", names.join(", "))
            }
            Rule::Logic { op, rules } => {
                let word = if *op == Join::And { " and " } else { " or " };
                let part = |rule: &Rule| match rule {
                    Rule::Logic { .. } => format!("({})", rule.words(dictionary)),
                    _ => rule.words(dictionary),
                };
                rules.iter().map(part).collect::<Vec<_>>().join(word)
            }
            Rule::PctChange { feature_t0, feature_t1, pct, op, direction } => {
                let verb = if *direction == Direction::Increase { "rise" } else { "fall" };
                format!(
                    "{verb} from {} to {} {op} {} %",
                    name(feature_t0),
                    name(feature_t1),
                    n(*pct)
                )
            }
            Rule::Z { feature, op, z } => {
                format!("{} {op} mean + {} standard deviations", name(feature), n(*z))
            }
            Rule::Quantile { feature, op, q } => {
                format!("{} {op} its {} % quantile", name(feature), n(*q * 100.0))
            }
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(&Dictionary::default()))
    }
}
