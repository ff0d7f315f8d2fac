//! Tables of numbers and words, for the terminal and the page.

use serde::{Deserialize, Serialize};

/// One entry of a [`Table`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number, shown with this many digits after the point and kept in full.
    Number {
        /// The number.
        value: f64,
        /// Digits shown after the point.
        digits: usize,
    },
    /// Nothing was measured here.
    Empty,
}

impl Cell {
    /// A number shown with `digits` digits after the point.
    pub fn number(value: f64, digits: usize) -> Self {
        Cell::Number { value, digits }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Cell::number(count as f64, 0)
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Text(text) => f.pad(text),
            Cell::Number { value, digits } => {
                let text = format!("{value:.digits$}");
                // What rounds to zero has no sign.
                let nothing = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
                f.pad(if nothing { text.trim_start_matches('-') } else { &text })
            }
            Cell::Empty => f.pad("–"),
        }
    }
}

/// A table with a title, named columns, and rows of as many cells.
///
/// ```
/// use metier_core::{Cell, Table};
/// let mut table = Table::new("Test R²", ["encoder", "seed 0"]);
/// table.row(["lon/lat".into(), Cell::number(0.5187, 3)]);
/// assert_eq!(table.rows[0][1].to_string(), "0.519");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What the table shows.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table.
    pub fn new<C: Into<String>>(
        title: impl Into<String>,
        columns: impl IntoIterator<Item = C>,
    ) -> Self {
        Self {
            title: title.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; a short one is filled with empty cells.
    ///
    /// # Panics
    /// When the row has more cells than the table has columns, a slip of the author's.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) -> &mut Self {
        let mut row: Vec<Cell> = cells.into_iter().collect();
        assert!(row.len() <= self.columns.len(), "a row is longer than the table is wide");
        row.resize(self.columns.len(), Cell::Empty);
        self.rows.push(row);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounds_to_zero_has_no_sign() {
        for (value, digits, text) in
            [(-0.0004, 3, "0.000"), (-0.0, 0, "0"), (-0.0006, 3, "-0.001"), (-10.0, 0, "-10")]
        {
            assert_eq!(Cell::number(value, digits).to_string(), text);
        }
    }
}
