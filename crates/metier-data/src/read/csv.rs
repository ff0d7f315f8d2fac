//! Separated text: the delimiter, the header and the kind of each column are found out.

use super::source;
use crate::frame::{Rows, twice};
use crate::{Column, Frame};
use ::csv::{ByteRecord, Reader, ReaderBuilder};
use metier_core::{Error, Result};
use std::collections::{HashMap, HashSet};
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
/// are all `true` or `false` becomes 1 and 0; any other is text. Fields may be quoted, and quotes
/// inside are doubled.
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
    let delimiter = options.delimiter.unwrap_or_else(|| sniff_delimiter(text.0));
    let missing = Missing::new(&options.missing);
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
        None => sniff_header(&text, delimiter, &missing)?,
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
            kind.push(field, &missing);
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
                values.push((!missing.is(field)).then(|| field.to_owned()));
            }
        }
        for (index, values) in text_columns {
            columns[index] = Column::text(std::mem::take(&mut columns[index].name), values);
        }
    }
    Ok((columns, lines.finish()))
}

/// The bytes without a byte-order mark, known to be UTF-8.
struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match std::str::from_utf8(bytes) {
            Ok(_) => Ok(Self(bytes)),
            Err(error) => {
                let before = &bytes[..error.valid_up_to()];
                let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64;
                Err(Error::input(format!(
                    "byte 0x{:02x} is not UTF-8 text",
                    bytes[error.valid_up_to()]
                ))
                .at_row(line)
                .help("save the file as UTF-8; is it perhaps Latin-1, or not a text file at all?"))
            }
        }
    }

    fn records(&self, delimiter: u8) -> Records<'a> {
        Records {
            bytes: self.0,
            start: 0,
            reader: ReaderBuilder::new()
                .delimiter(delimiter)
                .has_headers(false)
                .flexible(true)
                .from_reader(self.0),
        }
    }
}

struct Records<'a> {
    bytes: &'a [u8],
    /// Where the last record begins.
    start: usize,
    reader: Reader<&'a [u8]>,
}

impl Records<'_> {
    /// Reads the next record and gives the line on which it starts; `None` at the end.
    fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>> {
        // The reader passes over blank lines; the line of the record is the one after them.
        let from = self.reader.position().byte() as usize;
        self.start = from;
        let line = self.reader.position().line();
        let more = self
            .reader
            .read_byte_record(record)
            .map_err(|error| Error::input(error.to_string()).at_row(line))?;
        let blank = self.bytes.get(from..).unwrap_or_default();
        let blank = blank.iter().take_while(|byte| matches!(byte, b'\n' | b'\r'));
        let skipped = blank.filter(|&&byte| byte == b'\n').count() as u64;
        Ok(more.then_some(line + skipped))
    }

    /// Whether the last record runs to the end of the text because a quote in it stays open.
    fn stays_open(&self, record: &ByteRecord) -> bool {
        let odd_quotes = || {
            let record = &self.bytes[self.start..];
            record.iter().filter(|&&byte| byte == b'"').count() % 2 == 1
        };
        self.reader.position().byte() as usize >= self.bytes.len()
            && record.iter().any(|field| field.contains(&b'\n'))
            && odd_quotes()
    }
}

fn as_str(field: &[u8]) -> &str {
    // The whole text was checked, and delimiters are ASCII, so no field can cut a character.
    std::str::from_utf8(field).unwrap_or_default()
}

/// The words that stand for a missing value.
struct Missing(HashSet<String>);

impl Missing {
    fn new(words: &[String]) -> Self {
        Self(words.iter().map(|word| word.trim().to_lowercase()).collect())
    }

    fn is(&self, field: &str) -> bool {
        let field = field.trim();
        field.len() <= 16 && self.0.contains(&field.to_lowercase())
    }
}

/// What a column has turned out to be so far.
enum Kind {
    Number { values: Vec<f64>, logical: Option<bool> },
    Text,
}

impl Kind {
    fn new(text: bool) -> Self {
        if text { Self::Text } else { Self::Number { values: Vec::new(), logical: None } }
    }

    fn push(&mut self, field: &[u8], missing: &Missing) {
        let Self::Number { values, logical } = self else { return };
        let field = as_str(field).trim();
        // Most fields are numbers; a missing value is looked up only where one does not parse,
        // save NaN, which does.
        let (value, is_logical) = match parse_number(field) {
            Some(value) => (value, false),
            None if missing.is(field) => {
                values.push(f64::NAN);
                return;
            }
            None => match parse_logical(field) {
                Some(value) => (value, true),
                None => {
                    *self = Self::Text;
                    return;
                }
            },
        };
        // A column that mixes numbers with true and false is text.
        if logical.is_some_and(|before| before != is_logical) {
            *self = Self::Text;
            return;
        }
        if !value.is_nan() {
            *logical = Some(is_logical);
        }
        values.push(value);
    }
}

fn parse_number(field: &str) -> Option<f64> {
    let value: f64 = field.parse().ok()?;
    // An identifier whose last digits a number would lose is text.
    if field.len() > 15
        && let Ok(whole) = field.parse::<i128>()
        && value as i128 != whole
    {
        return None;
    }
    Some(value)
}

fn parse_logical(field: &str) -> Option<f64> {
    if field.eq_ignore_ascii_case("true") {
        Some(1.0)
    } else if field.eq_ignore_ascii_case("false") {
        Some(0.0)
    } else {
        None
    }
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

const SNIFFED_RECORDS: usize = 64;
const SNIFFED_BYTES: usize = 1 << 18;

/// The delimiter that cuts the first records into the most equal numbers of fields.
fn sniff_delimiter(bytes: &[u8]) -> u8 {
    let sample = &bytes[..bytes.len().min(SNIFFED_BYTES)];
    let mut best = (0.0, b',');
    for delimiter in [b',', b'\t', b';', b'|'] {
        let mut records = Text(sample).records(delimiter);
        let mut record = ByteRecord::new();
        let mut widths: HashMap<usize, usize> = HashMap::new();
        let mut count = 0;
        while count < SNIFFED_RECORDS && matches!(records.next(&mut record), Ok(Some(_))) {
            *widths.entry(record.len()).or_default() += 1;
            count += 1;
        }
        let Some((&width, &rows)) = widths.iter().max_by_key(|&(&width, &rows)| (rows, width))
        else {
            continue;
        };
        if width < 2 {
            continue;
        }
        // Agreement counts far more than width: prose has commas, but not the same in each line.
        let agreement = rows as f64 / count as f64;
        let score = agreement.powi(4) * (1.0 + (width as f64).ln() / 16.0);
        if score > best.0 {
            best = (score, delimiter);
        }
    }
    best.1
}

/// Whether the first row names the columns. All numbers: no. All words: yes. Mixed, as in
/// `id,2019,2020`: yes when below some word there are only numbers.
fn sniff_header(text: &Text<'_>, delimiter: u8, missing: &Missing) -> Result<bool> {
    let mut records = text.records(delimiter);
    let mut first = ByteRecord::new();
    records.next(&mut first)?;
    let is_word = |field: &[u8]| {
        let field = as_str(field).trim();
        parse_number(field).is_none() && !missing.is(field)
    };
    let words: Vec<bool> = first.iter().map(is_word).collect();
    let present = first.iter().filter(|field| !missing.is(as_str(field))).count();
    let word_count = words.iter().filter(|&&word| word).count();
    if word_count == 0 || word_count == present {
        return Ok(word_count > 0);
    }
    let mut numeric: Vec<Option<bool>> = vec![None; first.len()];
    let mut record = ByteRecord::new();
    for _ in 0..SNIFFED_RECORDS {
        if records.next(&mut record)?.is_none() {
            break;
        }
        for (state, field) in numeric.iter_mut().zip(&record) {
            if !missing.is(as_str(field)) {
                *state = Some(state.unwrap_or(true) && !is_word(field));
            }
        }
    }
    Ok(words.iter().zip(&numeric).any(|(&word, &state)| word && state == Some(true)))
}
