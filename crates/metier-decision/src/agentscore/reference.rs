//! A score that exists already, to compare with: a column, or points per column.

use super::checklist::Checklist;
use metier_core::{Error, Result};
use metier_data::Frame;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A score that exists already.
///
/// ```
/// use metier_data::{Column, Frame};
/// use metier_decision::agentscore::Reference;
/// let npi = Reference::parse(r#"{"name":"NPI","terms":[
///     {"column":"size","times":0.02},
///     {"column":"nodes","cuts":[1,4],"points":[1,2,3]},
///     {"column":"grade","levels":{"I":1,"II":2,"III":3}}]}"#)?;
/// let table = Frame::new(vec![
///     Column::number("size", vec![30.0]),
///     Column::number("nodes", vec![4.0]),
///     Column::text("grade", [Some("II")]),
/// ])?;
/// assert_eq!(npi.score(&table)?, [0.6 + 3.0 + 2.0]);
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Reference {
    /// Points per column.
    Points(PointScore),
    /// Another checklist.
    Checklist(Box<Checklist>),
}

/// The sum of points per column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointScore {
    /// Its name.
    pub name: String,
    /// What is added up.
    pub terms: Vec<Term>,
}

/// The points of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Term {
    /// The value times a factor.
    Linear {
        /// The column.
        column: String,
        /// The factor.
        times: f64,
    },
    /// Points by interval: `points[i]` from `cuts[i - 1]` up to, not including, `cuts[i]`.
    Steps {
        /// The column.
        column: String,
        /// The cut-points, rising.
        cuts: Vec<f64>,
        /// One more than cut-points.
        points: Vec<f64>,
    },
    /// Points by category.
    Levels {
        /// The column.
        column: String,
        /// The points of each.
        levels: BTreeMap<String, f64>,
    },
}

impl Reference {
    /// Reads a score: a saved checklist, or points per column.
    ///
    /// # Errors
    /// Text that is neither.
    pub fn parse(text: &str) -> Result<Self> {
        let value: serde_json::Value = serde_json::from_str(text)
            .map_err(|error| Error::input(format!("no score: {error}")))?;
        if value.get("items").is_some() {
            return Ok(Self::Checklist(Box::new(Checklist::from_json(text)?)));
        }
        let score: PointScore = serde_json::from_value(value).map_err(|error| {
            Error::input(format!("no score: {error}")).help(
                "a score has a name and terms: a column with times, with cuts and points, or with levels",
            )
        })?;
        for term in &score.terms {
            if let Term::Steps { column, cuts, points } = term {
                let rising = cuts.windows(2).all(|pair| pair[0] < pair[1]);
                if points.len() != cuts.len() + 1 || !rising {
                    return Err(Error::input("cuts have to rise, with one more points than cuts")
                        .in_field(column));
                }
            }
        }
        Ok(Self::Points(score))
    }

    /// Reads a score from a file.
    ///
    /// # Errors
    /// A file that cannot be read or holds no score.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Self::parse(&text).map_err(|error| error.in_file(path))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Points(score) => &score.name,
            Self::Checklist(_) => "the other checklist",
        }
    }

    /// The score of each row; NaN where an input is missing.
    ///
    /// # Errors
    /// A column that the table lacks.
    pub fn score(&self, table: &Frame) -> Result<Vec<f64>> {
        match self {
            Self::Checklist(other) => Ok(other.score(table)?.into_iter().map(f64::from).collect()),
            Self::Points(score) => {
                let mut sums = vec![0.0; table.height()];
                for term in &score.terms {
                    for (sum, points) in sums.iter_mut().zip(term.points(table)?) {
                        *sum += points;
                    }
                }
                Ok(sums)
            }
        }
    }
}

impl Term {
    fn points(&self, table: &Frame) -> Result<Vec<f64>> {
        Ok(match self {
            Term::Linear { column, times } => {
                table.numbers(column)?.iter().map(|value| value * times).collect()
            }
            Term::Steps { column, cuts, points } => table
                .numbers(column)?
                .iter()
                .map(|&value| {
                    if value.is_nan() {
                        return f64::NAN;
                    }
                    points[cuts.iter().filter(|&&cut| value >= cut).count()]
                })
                .collect(),
            Term::Levels { column, levels } => {
                let points = |label: Option<String>| {
                    label.and_then(|label| levels.get(&label).copied()).unwrap_or(f64::NAN)
                };
                table.column(column)?.labels().into_iter().map(points).collect()
            }
        })
    }
}
