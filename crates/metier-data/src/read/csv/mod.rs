//! Separated text: the delimiter, the header and the kind of each column are found out.

mod fields;
mod records;
mod sniff;

use super::source;
use crate::frame::{Rows, twice};
use crate::{Column, Frame};
use ::csv::ByteRecord;
use fields::{Fields, Kind};
use metier_core::{Error, Result};
use records::{Text, as_str};
use std::collections::HashMap;
use std::path::Path;

/// What to take as given instead of finding it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// The delimiter; found out among `,` `;` tab and `|` when `None`.
    pub delimiter: Option<u8>,
    /// Whether the first row names the columns; found out when `None`.
    pub header: Option<bool>,
    /// Fields that stand for a missing value, compared without regard to case and to spaces
    /// around them.
    pub missing: Vec<String>,
    /// Columns to keep as text although every field reads as a number, such as postal codes.
    pub text: Vec<String>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        let missing = ["", "NA", "N/A", "NaN", "null", "?"];
        Self {
            delimiter: None,
            header: None,
            missing: missing.iter().map(|&word| word.to_owned()).collect(),
            text: Vec::new(),
        }
    }
}

/// Reads separated text; `-` is standard input.
///
/// A column whose present fields all read as numbers is one of numbers; one whose present fields
/// are all `true` or `false` becomes 1 and 0; any other is text. Where semicolons part the fields,
/// numbers may have a decimal comma. Fields may be quoted, and quotes inside are doubled.
///
/// # Errors
/// A missing or empty file, bytes that are not UTF-8, a row with too few or too many fields, two
/// columns of one name. Each error names the line.
pub fn csv(path: &Path, options: &CsvOptions) -> Result<Frame> {
    let bytes = source::bytes(path)?;
    csv_bytes(&bytes, path, options)
}

/// [`csv()`] of bytes at hand; `path` is the name that errors give.
///
/// # Errors
/// Those of [`csv()`].
pub fn csv_bytes(bytes: &[u8], path: &Path, options: &CsvOptions) -> Result<Frame> {
    parse(bytes, options)
        .and_then(|(columns, rows)| Ok(Frame::new(columns)?.with_origin(path, rows)))
        .map_err(|error| error.in_file(path))
}

fn parse(bytes: &[u8], options: &CsvOptions) -> Result<(Vec<Column>, Rows)> {
    let text = Text::new(bytes)?;
    let delimiter = options.delimiter.unwrap_or_else(|| sniff::delimiter(&text));
    let fields = Fields::new(&options.missing, delimiter);
    let mut records = text.records(delimiter);
    let mut first = ByteRecord::new();
    let Some(first_line) = records.next(&mut first)? else {
        return Err(
            Error::input("the file is empty").help("a table needs a header and at least one row")
        );
    };
    let width = first.len();
    let has_header = match options.header {
        Some(given) => given,
        None => sniff::header(&text, delimiter, &fields)?,
    };
    let names = if has_header { header(&first, first_line)? } else { numbered(width) };
    for wanted in &options.text {
        if !names.contains(wanted) {
            let help =
                crate::names::suggest(wanted, names.iter().map(String::as_str), "the columns are");
            return Err(Error::usage(format!("no column `{wanted}`")).help(help));
        }
    }

    // First pass: which columns are numbers. Text is gathered in a second pass, so that a long
    // column of numbers never exists as strings.
    let mut kinds: Vec<Kind> =
        names.iter().map(|name| Kind::new(options.text.contains(name))).collect();
    let mut lines = Lines::default();
    let mut records = text.records(delimiter);
    let mut record = ByteRecord::new();
    if has_header {
        records.next(&mut record)?;
    }
    while let Some(line) = records.next(&mut record)? {
        if records.stays_open(&record) {
            return Err(Error::input("a quoted field that opens here is never closed")
                .at_row(line)
                .help("close the quote, or double the quotes that belong to the text"));
        }
        if record.len() != width {
            return Err(ragged(&record, &names, line, has_header));
        }
        for (kind, field) in kinds.iter_mut().zip(&record) {
            kind.push(field, &fields);
        }
        lines.push(line);
    }

    let mut columns: Vec<Column> = Vec::with_capacity(width);
    let mut text_columns = Vec::new();
    for (index, (name, kind)) in names.into_iter().zip(kinds).enumerate() {
        match kind {
            Kind::Number { values, .. } => columns.push(Column::number(name, values)),
            Kind::Text => {
                text_columns.push((index, Vec::with_capacity(lines.count)));
                columns.push(Column::number(name, Vec::new()));
            }
        }
    }
    if !text_columns.is_empty() {
        let mut records = text.records(delimiter);
        if has_header {
            records.next(&mut record)?;
        }
        while records.next(&mut record)?.is_some() {
            for (index, values) in &mut text_columns {
                let field = as_str(&record[*index]);
                values.push((!fields.is_missing(field)).then(|| field.to_owned()));
            }
        }
        for (index, values) in text_columns {
            columns[index] = Column::text(std::mem::take(&mut columns[index].name), values);
        }
    }
    Ok((columns, lines.finish()))
}

/// The lines of the rows, listed only from where they stop following one another.
#[derive(Default)]
struct Lines {
    first: u64,
    count: usize,
    listed: Vec<u64>,
}

impl Lines {
    fn push(&mut self, line: u64) {
        if self.count == 0 {
            self.first = line;
        }
        if self.listed.is_empty() && line != self.first + self.count as u64 {
            self.listed = (self.first..).take(self.count).collect();
        }
        if !self.listed.is_empty() {
            self.listed.push(line);
        }
        self.count += 1;
    }

    fn finish(self) -> Rows {
        if self.listed.is_empty() { Rows::From(self.first) } else { Rows::Listed(self.listed) }
    }
}

fn header(record: &ByteRecord, line: u64) -> Result<Vec<String>> {
    let mut seen = HashMap::new();
    let mut names = Vec::with_capacity(record.len());
    for (index, field) in record.iter().enumerate() {
        let name = match as_str(field).trim() {
            "" => format!("column_{}", index + 1),
            name => name.to_owned(),
        };
        if let Some(first) = seen.insert(name.clone(), index) {
            return Err(twice(&name, first, index).at_row(line));
        }
        names.push(name);
    }
    Ok(names)
}

fn numbered(width: usize) -> Vec<String> {
    (1..=width).map(|index| format!("column_{index}")).collect()
}

fn ragged(record: &ByteRecord, names: &[String], line: u64, has_header: bool) -> Error {
    let other = if has_header { "the header" } else { "the first row" };
    let fields =
        |count: usize| if count == 1 { "1 field".into() } else { format!("{count} fields") };
    let error =
        Error::input(format!("{}, where {other} has {}", fields(record.len()), names.len()))
            .at_row(line);
    if record.len() > names.len() {
        error.help("put quotes around fields that contain the delimiter")
    } else {
        error.help(format!("the first column that is not there is `{}`", names[record.len()]))
    }
}
