//! The grammar of rules: what may stand on a card, as strict JSON, as words, and as truth.

mod check;
mod truth;
mod words;

pub(crate) use truth::{said_no, said_yes};

use metier_core::{Error, Result};
use metier_data::format_number;
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

    /// Whether a part of it stands for a number that depends on the rows, as quantiles do.
    pub fn is_relative(&self) -> bool {
        match self {
            Rule::Z { .. } | Rule::Quantile { .. } => true,
            Rule::Logic { rules, .. } => rules.iter().any(Rule::is_relative),
            _ => false,
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
}
