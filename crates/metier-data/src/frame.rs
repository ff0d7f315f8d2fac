//! A table in memory: named columns of numbers or of text, and where each row came from.

use crate::names;
use metier_core::{Error, Result};
use std::path::{Path, PathBuf};

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers; NaN stands for a missing one.
    Number(Vec<f64>),
    /// Text; `None` stands for a missing one.
    Text(Vec<Option<String>>),
}

impl Values {
    /// How many values there are, missing ones included.
    pub fn len(&self) -> usize {
        match self {
            Self::Number(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values are missing.
    pub fn missing(&self) -> usize {
        match self {
            Self::Number(values) => values.iter().filter(|value| value.is_nan()).count(),
            Self::Text(values) => values.iter().filter(|value| value.is_none()).count(),
        }
    }

    fn take(&self, rows: &[usize]) -> Self {
        match self {
            Self::Number(values) => Self::Number(rows.iter().map(|&row| values[row]).collect()),
            Self::Text(values) => Self::Text(rows.iter().map(|&row| values[row].clone()).collect()),
        }
    }
}

/// One named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name, unique within its [`Frame`].
    pub name: String,
    /// The values, one per row.
    pub values: Values,
}

impl Column {
    /// A column of numbers; NaN stands for a missing one.
    pub fn number(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self { name: name.into(), values: Values::Number(values) }
    }

    /// A column of text; `None` stands for a missing one.
    pub fn text<T: Into<String>>(
        name: impl Into<String>,
        values: impl IntoIterator<Item = Option<T>>,
    ) -> Self {
        let values = values.into_iter().map(|value| value.map(Into::into)).collect();
        Self { name: name.into(), values: Values::Text(values) }
    }

    /// The values as numbers.
    ///
    /// # Errors
    /// An input error that names the column and its first text, when the column holds text.
    pub fn numbers(&self) -> Result<&[f64]> {
        match &self.values {
            Values::Number(values) => Ok(values),
            Values::Text(values) => {
                let (_, sample) = first_text(values);
                Err(not_numbers(sample).in_field(&self.name))
            }
        }
    }

    /// The values as text.
    ///
    /// # Errors
    /// An input error that names the column, when it holds numbers.
    pub fn texts(&self) -> Result<&[Option<String>]> {
        match &self.values {
            Values::Text(values) => Ok(values),
            Values::Number(_) => {
                Err(Error::input("holds numbers, where text is wanted").in_field(&self.name))
            }
        }
    }

    /// Each value as text, whatever the column holds: `3`, `0.25`, `Kyoto`; `None` where missing.
    pub fn labels(&self) -> Vec<Option<String>> {
        match &self.values {
            Values::Text(values) => values.clone(),
            Values::Number(values) => values
                .iter()
                .map(|value| (!value.is_nan()).then(|| format_number(*value)))
                .collect(),
        }
    }
}

/// A table: columns of equal height with distinct names.
///
/// A frame that was read from a file remembers the file and the line of each row, so that whoever
/// finds a bad value later can still say where it stands ([`Frame::error_at`]).
///
/// ```
/// use metier_data::{Column, Frame};
/// let frame = Frame::new(vec![
///     Column::text("city", [Some("Kyoto"), Some("Nara"), None]),
///     Column::number("lat", vec![35.02, 34.68, f64::NAN]),
/// ])?;
/// assert_eq!(frame.height(), 3);
/// assert_eq!(frame.column("lat")?.numbers()?[1], 34.68);
/// let error = frame.column("latt").unwrap_err();
/// assert_eq!(error.to_string(), "no column `latt`");
/// assert_eq!(error.help_text(), Some("did you mean `lat`? the columns are: city, lat"));
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Frame {
    columns: Vec<Column>,
    height: usize,
    origin: Option<Origin>,
}

/// Where the rows of a frame came from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) file: PathBuf,
    pub(crate) rows: Rows,
}

/// The line of each row in its file, counted from 1.
#[derive(Clone, Debug)]
pub(crate) enum Rows {
    /// One line each, starting here.
    From(u64),
    /// Given one by one, where blank lines or line breaks in quotes lie between.
    Listed(Vec<u64>),
}

impl Rows {
    pub(crate) fn line(&self, index: usize) -> u64 {
        match self {
            Self::From(first) => first + index as u64,
            Self::Listed(lines) => lines.get(index).copied().unwrap_or(index as u64 + 1),
        }
    }
}

/// Frames are equal when their columns are; where they were read from does not count.
impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.height == other.height && self.columns == other.columns
    }
}

impl Frame {
    /// A table of the given columns.
    ///
    /// # Errors
    /// A usage error when two columns share a name or differ in height.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        let height = columns.first().map_or(0, |column| column.values.len());
        for (index, column) in columns.iter().enumerate() {
            if column.values.len() != height {
                return Err(Error::usage(format!(
                    "has {} rows, where `{}` has {height}",
                    column.values.len(),
                    columns[0].name
                ))
                .in_field(&column.name));
            }
            if let Some(first) = columns[..index].iter().position(|c| c.name == column.name) {
                return Err(twice(&column.name, first, index));
            }
        }
        Ok(Self { columns, height, origin: None })
    }

    pub(crate) fn with_origin(mut self, file: &Path, rows: Rows) -> Self {
        self.origin = Some(Origin { file: file.to_path_buf(), rows });
        self
    }

    /// The number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The columns, in file order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns by value.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// The names of the columns, in file order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Whether there is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|candidate| candidate == name)
    }

    /// The file that the table was read from.
    pub fn source(&self) -> Option<&Path> {
        self.origin.as_ref().map(|origin| origin.file.as_path())
    }

    /// The column of this name.
    ///
    /// # Errors
    /// An input error that names the nearest columns.
    pub fn column(&self, name: &str) -> Result<&Column> {
        self.columns.iter().find(|column| column.name == name).ok_or_else(|| {
            let error = self.error(format!("no column `{name}`"));
            error.help(names::suggest(name, self.names(), "the columns are"))
        })
    }

    /// The numbers of the column of this name.
    ///
    /// # Errors
    /// No such column, or a column of text: the error names the first row with a text.
    pub fn numbers(&self, name: &str) -> Result<&[f64]> {
        match &self.column(name)?.values {
            Values::Number(values) => Ok(values),
            Values::Text(values) => {
                let (index, sample) = first_text(values);
                Err(self.locate(not_numbers(sample), index, name))
            }
        }
    }

    /// The table without the columns that are not named, in the order of the names.
    ///
    /// # Errors
    /// An unknown or repeated name.
    pub fn select(&self, names: &[&str]) -> Result<Self> {
        let columns =
            names.iter().map(|name| self.column(name).cloned()).collect::<Result<Vec<_>>>()?;
        let mut frame = Self::new(columns)?;
        frame.height = self.height;
        frame.origin.clone_from(&self.origin);
        Ok(frame)
    }

    /// The given rows, counted from 0, in the given order.
    ///
    /// # Panics
    /// When a row is not below [`height`](Self::height), as indexing does.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        let columns = self
            .columns
            .iter()
            .map(|column| Column { name: column.name.clone(), values: column.values.take(rows) })
            .collect();
        let origin = self.origin.as_ref().map(|origin| Origin {
            file: origin.file.clone(),
            rows: Rows::Listed(rows.iter().map(|&row| origin.rows.line(row)).collect()),
        });
        Self { columns, height: rows.len(), origin }
    }

    /// The table with one more column at its right.
    ///
    /// # Errors
    /// A usage error when the name is taken or the height differs.
    pub fn with(mut self, column: Column) -> Result<Self> {
        if let Some(first) = self.columns.iter().position(|c| c.name == column.name) {
            return Err(twice(&column.name, first, self.columns.len()));
        }
        if self.columns.is_empty() {
            self.height = column.values.len();
        }
        if column.values.len() != self.height {
            return Err(Error::usage(format!(
                "has {} rows, where the table has {}",
                column.values.len(),
                self.height
            ))
            .in_field(column.name));
        }
        self.columns.push(column);
        Ok(self)
    }

    /// An input error about the whole table, with its file where it came from one.
    pub fn error(&self, message: impl Into<String>) -> Error {
        let error = Error::input(message);
        match &self.origin {
            Some(origin) => error.in_file(&origin.file),
            None => error,
        }
    }

    /// An input error about the value at row `index` (counted from 0) of a column, with the file
    /// and the line where it stands, or else the row counted from 1.
    ///
    /// ```
    /// use metier_data::{Column, Frame};
    /// let frame = Frame::new(vec![Column::number("lat", vec![91.0])])?;
    /// let error = frame.error_at(0, "lat", "91 is outside [-90, 90]");
    /// assert_eq!(error.to_string(), "row 1, lat: 91 is outside [-90, 90]");
    /// # Ok::<(), metier_core::Error>(())
    /// ```
    pub fn error_at(&self, index: usize, column: &str, message: impl Into<String>) -> Error {
        self.locate(Error::input(message), index, column)
    }

    fn locate(&self, error: Error, index: usize, column: &str) -> Error {
        let error = error.at_row(self.line(index)).in_field(column);
        match &self.origin {
            Some(origin) => error.in_file(&origin.file),
            None => error,
        }
    }

    /// The line of row `index` (counted from 0) in the file, or `index + 1` for a table that was
    /// not read from one.
    pub fn line(&self, index: usize) -> u64 {
        match &self.origin {
            Some(origin) => origin.rows.line(index),
            None => index as u64 + 1,
        }
    }
}

/// The shortest decimal that reads back as the same number; whole numbers without a point.
pub fn format_number(value: f64) -> String {
    if value == 0.0 || (1e-5..1e16).contains(&value.abs()) || !value.is_finite() {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

pub(crate) fn twice(name: &str, first: usize, second: usize) -> Error {
    Error::input(format!(
        "the name `{name}` is given to column {} and to column {}",
        first + 1,
        second + 1
    ))
    .help("give every column a name of its own")
}

fn first_text(values: &[Option<String>]) -> (usize, &str) {
    // What reads as a number is passed over: the first word is what spoiled the column.
    let spoiler = |text: &str| text.trim().parse::<f64>().is_err();
    let words = || values.iter().enumerate().filter_map(|(i, v)| Some((i, v.as_deref()?)));
    words().find(|(_, text)| spoiler(text)).or_else(|| words().next()).unwrap_or((0, ""))
}

fn not_numbers(sample: &str) -> Error {
    Error::input(format!("`{sample}` is not a number"))
        .help("mark missing values by an empty field, NA, NaN, null or ?")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Frame {
        Frame::new(vec![
            Column::number("x", vec![1.0, f64::NAN, 3.0]),
            Column::text("label", [Some("a"), None, Some("c")]),
        ])
        .unwrap()
    }

    #[test]
    fn columns_must_agree_in_height_and_differ_in_name() {
        let short =
            Frame::new(vec![Column::number("x", vec![1.0, 2.0]), Column::number("y", vec![1.0])]);
        assert_eq!(short.unwrap_err().to_string(), "y: has 1 rows, where `x` has 2");
        let twice = Frame::new(vec![Column::number("x", vec![]), Column::number("x", vec![])]);
        assert_eq!(
            twice.unwrap_err().to_string(),
            "the name `x` is given to column 1 and to column 2"
        );
        let error = sample().with(Column::number("z", vec![1.0])).unwrap_err();
        assert_eq!(error.to_string(), "z: has 1 rows, where the table has 3");
    }

    #[test]
    fn rows_keep_their_lines_when_taken() {
        let frame = sample().with_origin(Path::new("a.csv"), Rows::From(2)).take(&[2, 0]);
        assert_eq!(frame.column("x").unwrap().numbers().unwrap(), [3.0, 1.0]);
        assert_eq!(frame.error_at(0, "x", "bad").to_string(), "a.csv: row 4, x: bad");
    }

    #[test]
    fn text_where_numbers_are_wanted_is_shown_with_its_place() {
        let frame = sample().with_origin(Path::new("a.csv"), Rows::From(2));
        let error = frame.numbers("label").unwrap_err();
        assert_eq!(error.to_string(), "a.csv: row 2, label: `a` is not a number");
        let error = frame.column("x").unwrap().texts().unwrap_err();
        assert_eq!(error.to_string(), "x: holds numbers, where text is wanted");
    }

    #[test]
    fn selecting_keeps_order_and_height() {
        let frame = sample().select(&["label", "x"]).unwrap();
        assert_eq!(frame.names().collect::<Vec<_>>(), ["label", "x"]);
        assert_eq!(sample().select(&[]).unwrap().height(), 3);
        assert_eq!(sample().select(&["lable"]).unwrap_err().message(), "no column `lable`");
    }

    #[test]
    fn numbers_print_as_the_shortest_text_that_reads_back() {
        for (value, text) in
            [(3.0, "3"), (0.1, "0.1"), (-2.5e-9, "-2.5e-9"), (1e300, "1e300"), (0.0, "0")]
        {
            assert_eq!(format_number(value), text);
            assert_eq!(text.parse::<f64>().unwrap(), value);
        }
    }
}
