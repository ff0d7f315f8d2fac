//! One JSON object per line.

use crate::{Frame, Values, format_number};
use metier_core::{Error, Result, files};
use std::path::Path;

/// Writes one JSON object per row; missing values become null.
///
/// # Errors
/// An infinite number, which JSON cannot hold, or a file that cannot be written; the old file
/// then stays as it was.
pub fn jsonl(path: &Path, frame: &Frame) -> Result<()> {
    let keys: Vec<String> = frame.names().map(quoted).collect();
    files::write_atomic(path, |out| {
        for row in 0..frame.height() {
            let mut line = String::from("{");
            for (column, key) in frame.columns().iter().zip(&keys) {
                if line.len() > 1 {
                    line.push(',');
                }
                line.push_str(key);
                line.push(':');
                match &column.values {
                    Values::Number(values) if values[row].is_nan() => line.push_str("null"),
                    Values::Number(values) if values[row].is_infinite() => {
                        return Err(Error::input("JSON cannot hold an infinite number")
                            .at_row(row as u64 + 1)
                            .in_field(&column.name)
                            .help("write Parquet or CSV instead"));
                    }
                    Values::Number(values) => line.push_str(&format_number(values[row])),
                    Values::Text(values) => match &values[row] {
                        Some(text) => line.push_str(&quoted(text)),
                        None => line.push_str("null"),
                    },
                }
            }
            line.push_str("}\n");
            out.write_all(line.as_bytes()).map_err(|error| Error::io(path, error))?;
        }
        Ok(())
    })
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
