//! Which rows satisfy a rule.

use super::{Direction, Join, Rule};
use metier_core::{Error, Result};
use metier_data::{Column, Frame, Values};

impl Rule {
    /// Which rows satisfy the rule.
    ///
    /// # Errors
    /// A missing column or one of the wrong kind; a rule on quantiles or z-scores that has not been
    /// turned into a number yet.
    pub fn truth(&self, frame: &Frame) -> Result<Vec<bool>> {
        let numbers = |feature: &str| frame.numbers(feature);
        Ok(match self {
            Rule::Threshold { feature, op, threshold } => {
                numbers(feature)?.iter().map(|&x| op.holds(x, *threshold)).collect()
            }
            Rule::Range { feature, low, high } => {
                numbers(feature)?.iter().map(|&x| x >= *low && x <= *high).collect()
            }
            Rule::In { feature, values } => is_in(frame.column(feature)?, values),
            Rule::True { feature } => is_true(frame.column(feature)?),
            Rule::Derived { expr, op, threshold } => numbers(&expr.a)?
                .iter()
                .zip(numbers(&expr.b)?)
                .map(|(&a, &b)| op.holds(if expr.ratio { ratio(a, b) } else { a - b }, *threshold))
                .collect(),
            Rule::Count { features, min_count } => {
                let mut counts = vec![0; frame.height()];
                for feature in features {
                    for (count, yes) in counts.iter_mut().zip(is_true(frame.column(feature)?)) {
                        *count += usize::from(yes);
                    }
                }
                counts.iter().map(|count| count >= min_count).collect()
            }
            Rule::Logic { op, rules } => {
                let mut truth = vec![*op == Join::And; frame.height()];
                for rule in rules {
                    for (so_far, next) in truth.iter_mut().zip(rule.truth(frame)?) {
                        *so_far = if *op == Join::And { *so_far && next } else { *so_far || next };
                    }
                }
                truth
            }
            Rule::PctChange { feature_t0, feature_t1, pct, op, direction } => {
                let sign = if *direction == Direction::Increase { 100.0 } else { -100.0 };
                numbers(feature_t0)?
                    .iter()
                    .zip(numbers(feature_t1)?)
                    .map(|(&before, &after)| {
                        op.holds(sign * ratio(after - before, before.abs()), *pct)
                    })
                    .collect()
            }
            Rule::Z { .. } | Rule::Quantile { .. } => {
                return Err(Error::usage("has to be turned into a fixed number first")
                    .in_field(self.to_string()));
            }
        })
    }
}

// A ratio to nothing is no number, rather than infinitely large.
fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { f64::NAN } else { a / b }
}

fn is_in(column: &Column, values: &[String]) -> Vec<bool> {
    match &column.values {
        Values::Text(texts) => texts
            .iter()
            .map(|text| text.as_ref().is_some_and(|text| values.iter().any(|v| v == text)))
            .collect(),
        Values::Number(numbers) => {
            let wanted: Vec<f64> = values.iter().filter_map(|value| value.parse().ok()).collect();
            numbers.iter().map(|number| wanted.contains(number)).collect()
        }
    }
}

// In lower case.
const YES: [&str; 7] = ["yes", "true", "present", "positive", "y", "t", "1"];
const NO: [&str; 7] = ["no", "false", "absent", "negative", "n", "f", "0"];

/// Whether a word means yes.
pub(crate) fn said_yes(word: &str) -> bool {
    YES.iter().any(|yes| word.trim().eq_ignore_ascii_case(yes))
}

/// Whether a word means no.
pub(crate) fn said_no(word: &str) -> bool {
    NO.iter().any(|no| word.trim().eq_ignore_ascii_case(no))
}

fn is_true(column: &Column) -> Vec<bool> {
    match &column.values {
        Values::Number(numbers) => numbers.iter().map(|&x| x.is_finite() && x != 0.0).collect(),
        Values::Text(texts) => {
            texts.iter().map(|text| text.as_deref().is_some_and(said_yes)).collect()
        }
    }
}
