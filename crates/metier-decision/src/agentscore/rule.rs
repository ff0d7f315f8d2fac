//! The grammar of rules: what may stand on a card, as strict JSON, as words, and as truth.

use super::dictionary::Dictionary;
use metier_core::{Error, Result};
use metier_data::{Column, Frame, Values, format_number};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A yes/no question about a row. A missing input makes it false.
///
/// ```
/// use metier_decision::agentscore::Rule;
/// let rule = Rule::parse(r#"{"type":"numeric_threshold","feature":"age","op":">=","threshold":65}"#)?;
/// assert_eq!(rule.to_string(), "age ≥ 65");
/// let error = Rule::parse(r#"{"type":"binary_true","feature":"icu","weight":2}"#).unwrap_err();
/// assert!(error.to_string().contains("unknown field `weight`"));
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum Rule {
    /// A number against a cut-point.
    #[serde(rename = "numeric_threshold")]
    Threshold {
        /// The column.
        feature: String,
        /// The comparison.
        op: Op,
        /// The cut-point.
        threshold: f64,
    },
    /// A number between two bounds, both included.
    #[serde(rename = "numeric_range")]
    Range {
        /// The column.
        feature: String,
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// A category among some.
    #[serde(rename = "categorical_in")]
    In {
        /// The column.
        feature: String,
        /// The categories; numbers are taken by their shortest text.
        #[serde(rename = "in", deserialize_with = "labels")]
        values: Vec<String>,
    },
    /// A yes: a number other than zero, or a word such as `yes`, `true`, `present`.
    #[serde(rename = "binary_true")]
    True {
        /// The column.
        feature: String,
    },
    /// A ratio or a difference of two columns against a cut-point.
    #[serde(rename = "derived_numeric_threshold")]
    Derived {
        /// `a / b` or `a - b`.
        expr: Expr,
        /// The comparison.
        op: Op,
        /// The cut-point.
        threshold: f64,
    },
    /// At least so many of the columns say yes.
    #[serde(rename = "count_present")]
    Count {
        /// The columns.
        features: Vec<String>,
        /// How many of them at least.
        min_count: usize,
    },
    /// Several rules joined.
    #[serde(rename = "logical")]
    Logic {
        /// All of them, or any.
        op: Join,
        /// The rules.
        rules: Vec<Rule>,
    },
    /// A change from one column to another, in per cent of the first.
    #[serde(rename = "percent_change")]
    PctChange {
        /// The column before.
        feature_t0: String,
        /// The column after.
        feature_t1: String,
        /// The size of the change, in per cent.
        pct: f64,
        /// The comparison of the change in the given direction with that size.
        op: Op,
        /// Which way.
        direction: Direction,
    },
    /// A number against a multiple of the standard deviation of the construction rows.
    #[serde(rename = "zscore_threshold")]
    Z {
        /// The column.
        feature: String,
        /// The comparison.
        op: Op,
        /// Standard deviations above the mean.
        z: f64,
    },
    /// A number against a quantile of the construction rows.
    #[serde(rename = "quantile_threshold")]
    Quantile {
        /// The column.
        feature: String,
        /// The comparison.
        op: Op,
        /// The quantile, between 0 and 1.
        q: f64,
    },
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Op {
    /// At least.
    #[serde(rename = ">=")]
    Ge,
    /// More than.
    #[serde(rename = ">")]
    Gt,
    /// At most.
    #[serde(rename = "<=")]
    Le,
    /// Less than.
    #[serde(rename = "<")]
    Lt,
}

impl Op {
    /// Whether `value` compares so with `threshold`; never for a missing or infinite one.
    pub fn holds(self, value: f64, threshold: f64) -> bool {
        value.is_finite()
            && match self {
                Op::Ge => value >= threshold,
                Op::Gt => value > threshold,
                Op::Le => value <= threshold,
                Op::Lt => value < threshold,
            }
    }

    /// Whether larger values satisfy it.
    pub fn is_up(self) -> bool {
        matches!(self, Op::Ge | Op::Gt)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Op::Ge => "≥",
            Op::Gt => ">",
            Op::Le => "≤",
            Op::Lt => "<",
        })
    }
}

/// How rules are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Join {
    /// All of them.
    And,
    /// Any of them.
    Or,
}

/// Which way a change goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Upwards.
    Increase,
    /// Downwards.
    Decrease,
}

/// A ratio or a difference of two columns, written `bun / crea` or `sbp - dbp`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Expr {
    /// The first column.
    pub a: String,
    /// The second column.
    pub b: String,
    /// Whether it is the ratio; else the difference.
    pub ratio: bool,
}

impl TryFrom<String> for Expr {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // With spaces around the sign the names may hold signs of their own.
        for (sign, ratio) in [(" / ", true), (" - ", false), ("/", true), ("-", false)] {
            let mut parts = text.splitn(2, sign);
            if let (Some(a), Some(b)) = (parts.next(), parts.next()) {
                let (a, b) = (a.trim(), b.trim());
                if !a.is_empty() && !b.is_empty() {
                    return Ok(Self { a: a.into(), b: b.into(), ratio });
                }
            }
        }
        Err(format!("`{text}` is neither `a / b` nor `a - b`"))
    }
}

impl From<Expr> for String {
    fn from(expr: Expr) -> Self {
        format!("{} {} {}", expr.a, if expr.ratio { '/' } else { '-' }, expr.b)
    }
}

// A model or a person may write numbers where the grammar wants text.
fn labels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Label {
        Text(String),
        Number(f64),
    }
    let labels = Vec::<Label>::deserialize(deserializer)?;
    Ok(labels
        .into_iter()
        .map(|label| match label {
            Label::Text(text) => text,
            Label::Number(number) => format_number(number),
        })
        .collect())
}

impl Rule {
    /// Reads one rule; an unknown key or type is refused.
    ///
    /// # Errors
    /// An input error that says what is wrong and where in the text.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| {
            Error::input(format!("no rule: {error}"))
                .help("a rule looks like {\"type\":\"numeric_threshold\",\"feature\":\"age\",\"op\":\">=\",\"threshold\":65}")
        })
    }

    /// The rule as one line of JSON: equal rules have equal keys.
    pub fn key(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The columns that it asks about, each once, sorted.
    pub fn features(&self) -> Vec<&str> {
        fn collect<'a>(rule: &'a Rule, into: &mut Vec<&'a str>) {
            match rule {
                Rule::Threshold { feature, .. }
                | Rule::Range { feature, .. }
                | Rule::In { feature, .. }
                | Rule::True { feature }
                | Rule::Z { feature, .. }
                | Rule::Quantile { feature, .. } => into.push(feature),
                Rule::Derived { expr, .. } => into.extend([expr.a.as_str(), &expr.b]),
                Rule::Count { features, .. } => into.extend(features.iter().map(String::as_str)),
                Rule::PctChange { feature_t0, feature_t1, .. } => {
                    into.extend([feature_t0.as_str(), feature_t1]);
                }
                Rule::Logic { rules, .. } => rules.iter().for_each(|rule| collect(rule, into)),
            }
        }
        let mut features = Vec::new();
        collect(self, &mut features);
        features.sort_unstable();
        features.dedup();
        features
    }

    /// How deep logical rules nest: 0 for a rule that joins none.
    pub fn depth(&self) -> u8 {
        match self {
            Rule::Logic { rules, .. } => {
                1u8.saturating_add(rules.iter().map(Rule::depth).max().unwrap_or(0))
            }
            _ => 0,
        }
    }

    /// How many questions it asks.
    pub fn size(&self) -> usize {
        match self {
            Rule::Logic { rules, .. } => rules.iter().map(Rule::size).sum(),
            Rule::Count { features, .. } => features.len(),
            Rule::Derived { .. } | Rule::PctChange { .. } => 2,
            _ => 1,
        }
    }

    /// Checks that the rule makes sense and that the table has its columns, of the right kind.
    ///
    /// # Errors
    /// An input error that says what is wrong; for an unknown column it names the nearest ones.
    pub fn check(&self, frame: &Frame, depth: u8) -> Result<()> {
        let finite = |name: &str, value: f64| {
            if value.is_finite() {
                return Ok(());
            }
            Err(Error::input(format!("{name} is not a finite number")).in_field(self.to_string()))
        };
        let wrong = |message: String| Err(Error::input(message).in_field(self.to_string()));
        if self.depth() > depth {
            return wrong(format!("logic of depth {}, where {depth} is allowed", self.depth()));
        }
        match self {
            Rule::Threshold { feature, threshold, .. } => {
                frame.numbers(feature)?;
                finite("the threshold", *threshold)
            }
            Rule::Range { feature, low, high } => {
                frame.numbers(feature)?;
                finite("low", *low)?;
                finite("high", *high)?;
                if low > high { wrong("low is above high".into()) } else { Ok(()) }
            }
            Rule::In { feature, values } => {
                frame.column(feature)?;
                if values.is_empty() { wrong("no categories".into()) } else { Ok(()) }
            }
            Rule::True { feature } => frame.column(feature).map(drop),
            Rule::Derived { expr, threshold, .. } => {
                frame.numbers(&expr.a)?;
                frame.numbers(&expr.b)?;
                finite("the threshold", *threshold)
            }
            Rule::Count { features, min_count } => {
                features.iter().try_for_each(|feature| frame.column(feature).map(drop))?;
                if *min_count == 0 || *min_count > features.len() {
                    return wrong(format!("min_count is not between 1 and {}", features.len()));
                }
                Ok(())
            }
            Rule::Logic { rules, .. } => {
                if rules.len() < 2 {
                    return wrong("a logical rule joins at least two".into());
                }
                rules.iter().try_for_each(|rule| rule.check(frame, depth - 1))
            }
            Rule::PctChange { feature_t0, feature_t1, pct, .. } => {
                frame.numbers(feature_t0)?;
                frame.numbers(feature_t1)?;
                finite("pct", *pct)
            }
            Rule::Z { feature, z, .. } => {
                frame.numbers(feature)?;
                finite("z", *z)
            }
            Rule::Quantile { feature, q, .. } => {
                frame.numbers(feature)?;
                if *q > 0.0 && *q < 1.0 { Ok(()) } else { wrong("q is not between 0 and 1".into()) }
            }
        }
    }

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

/// Words that mean yes, in lower case.
pub(crate) const YES: [&str; 7] = ["yes", "true", "present", "positive", "y", "t", "1"];

fn is_true(column: &Column) -> Vec<bool> {
    match &column.values {
        Values::Number(numbers) => numbers.iter().map(|&x| !x.is_nan() && x != 0.0).collect(),
        Values::Text(texts) => texts
            .iter()
            .map(|text| {
                text.as_ref().is_some_and(|text| YES.contains(&text.trim().to_lowercase().as_str()))
            })
            .collect(),
    }
}
