//! One JSON object per line.

use super::cells::{Cell, column, whole};
use super::source;
use crate::Frame;
use crate::frame::Rows;
use metier_core::{Error, Result};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

/// Reads one JSON object per line; `-` is standard input. The columns are the keys, in the order
/// in which they first occur; a key that a line lacks is missing there. Blank lines are passed
/// over.
///
/// # Errors
/// A missing or empty file, a line that is not an object, or a value that is itself a list or an
/// object. Each error names the line.
pub fn jsonl(path: &Path) -> Result<Frame> {
    let bytes = source::bytes(path)?;
    parse(&bytes)
        .and_then(|(columns, lines)| Ok((Frame::new(columns)?, lines)))
        .map(|(frame, lines)| frame.with_origin(path, Rows::Listed(lines)))
        .map_err(|error| error.in_file(path))
}

fn parse(bytes: &[u8]) -> Result<(Vec<crate::Column>, Vec<u64>)> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut columns: Vec<(String, Vec<Cell>)> = Vec::new();
    let mut lines = Vec::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let row = index as u64 + 1;
        let object = object(line).map_err(|error| error.at_row(row))?;
        let height = lines.len();
        for (key, value) in object {
            let cell = cell(value).map_err(|error| error.at_row(row).in_field(&key))?;
            let place = *places.entry(key).or_insert_with_key(|key| {
                columns.push((key.clone(), Vec::new()));
                columns.len() - 1
            });
            let cells = &mut columns[place].1;
            cells.resize(height, Cell::Missing);
            cells.push(cell);
        }
        lines.push(row);
    }
    if lines.is_empty() {
        return Err(Error::input("the file is empty").help("give one JSON object per line"));
    }
    let columns = columns.into_iter().map(|(name, mut cells)| {
        cells.resize(lines.len(), Cell::Missing);
        column(name, cells)
    });
    Ok((columns.collect(), lines))
}

fn object(line: &[u8]) -> Result<Map<String, Value>> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(Error::input(format!("{}, where an object is wanted", kind(&other)))
            .help("give one JSON object per line, as in {\"age\": 61, \"sex\": \"f\"}")),
        Err(error) => {
            let text = error.to_string();
            // Every line is its own document: its line number says nothing.
            let reason = text.split(" at line ").next().unwrap_or(&text);
            let help = if [&b"NaN"[..], b"Infinity"].iter().any(|word| contains(line, word)) {
                "JSON has no NaN and no Infinity: write null"
            } else {
                "give one whole JSON object per line"
            };
            let place = error.column();
            Err(Error::input(format!("is not JSON: {reason} (at byte {place})")).help(help))
        }
    }
}

fn contains(line: &[u8], word: &[u8]) -> bool {
    line.windows(word.len()).any(|window| window == word)
}

fn cell(value: Value) -> Result<Cell> {
    Ok(match value {
        Value::Null => Cell::Missing,
        Value::Bool(value) => Cell::Logical(value),
        Value::String(text) => Cell::Text(text),
        Value::Number(number) => match number.as_i128() {
            Some(value) => whole(value),
            None => Cell::Number(number.as_f64().unwrap_or(f64::NAN)),
        },
        nested @ (Value::Array(_) | Value::Object(_)) => {
            return Err(Error::input(format!(
                "is {}, where a plain value is wanted",
                kind(&nested)
            ))
            .help("spread it over columns of its own"));
        }
    })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
