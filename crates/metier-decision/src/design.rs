//! A numeric design matrix of a table, for the models that need one.

use metier_core::Result;
use metier_data::{Frame, Values};
use std::collections::BTreeSet;

/// Columns of numbers, column by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// The name of each column.
    pub names: Vec<String>,
    /// The values of each column.
    pub columns: Vec<Vec<f64>>,
}

impl Matrix {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }
}

/// How a table becomes a matrix, learnt from a training table: medians stand in for missing
/// numbers; a text column becomes one indicator (two levels) or one per level; one with more than
/// twelve is left out.
///
/// ```
/// use metier_data::{Column, Frame};
/// use metier_decision::design::Design;
/// let table = Frame::new(vec![
///     Column::number("x", vec![1.0, f64::NAN, 5.0]),
///     Column::text("sex", [Some("F"), Some("M"), None]),
/// ])?;
/// let matrix = Design::new(&table, &[]).transform(&table)?;
/// assert_eq!(matrix.names, ["x", "sex=M"]);
/// assert_eq!(matrix.columns, [vec![1.0, 3.0, 5.0], vec![0.0, 1.0, 0.0]]);
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Number { name: String, median: f64 },
    Level { name: String, level: String },
}

const LEVELS: usize = 12;

impl Design {
    /// Learns from a table, leaving out the columns named.
    pub fn new(frame: &Frame, excluded: &[String]) -> Self {
        let mut parts = Vec::new();
        for column in frame.columns().iter().filter(|column| !excluded.contains(&column.name)) {
            match &column.values {
                Values::Number(values) => {
                    let mut present: Vec<f64> =
                        values.iter().copied().filter(|value| value.is_finite()).collect();
                    present.sort_by(f64::total_cmp);
                    if present.first() == present.last() {
                        continue;
                    }
                    let half = present.len() / 2;
                    let median = if present.len() % 2 == 1 {
                        present[half]
                    } else {
                        0.5 * (present[half - 1] + present[half])
                    };
                    parts.push(Part::Number { name: column.name.clone(), median });
                }
                Values::Text(values) => {
                    let levels: BTreeSet<&String> = values.iter().flatten().collect();
                    if levels.len() < 2 || levels.len() > LEVELS {
                        continue;
                    }
                    let first = usize::from(levels.len() == 2);
                    parts.extend(levels.into_iter().skip(first).map(|level| Part::Level {
                        name: column.name.clone(),
                        level: level.clone(),
                    }));
                }
            }
        }
        Self { parts }
    }

    /// The matrix of a table with the same columns.
    ///
    /// # Errors
    /// A column that is missing or of another kind.
    pub fn transform(&self, frame: &Frame) -> Result<Matrix> {
        let mut matrix = Matrix::default();
        for part in &self.parts {
            match part {
                Part::Number { name, median } => {
                    let fill = |value: &f64| if value.is_finite() { *value } else { *median };
                    matrix.columns.push(frame.numbers(name)?.iter().map(fill).collect());
                    matrix.names.push(name.clone());
                }
                Part::Level { name, level } => {
                    let texts = frame.column(name)?.texts()?;
                    let is = |text: &Option<String>| f64::from(text.as_ref() == Some(level));
                    matrix.columns.push(texts.iter().map(is).collect());
                    matrix.names.push(format!("{name}={level}"));
                }
            }
        }
        Ok(matrix)
    }
}
