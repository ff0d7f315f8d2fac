//! Separated text that reads back to the same table.

use crate::{Frame, Values, format_number};
use metier_core::{Error, Result, files};
use std::io::Write;
use std::path::Path;

/// Writes separated text with a header; missing values become empty fields. `-` is standard
/// output.
///
/// # Errors
/// A file that cannot be written; the old file then stays as it was.
pub fn csv(path: &Path, frame: &Frame, delimiter: u8) -> Result<()> {
    if path == Path::new("-") {
        return write(&mut std::io::stdout().lock(), path, frame, delimiter);
    }
    files::write_atomic(path, |out| write(out, path, frame, delimiter))
}

fn write(out: &mut dyn Write, path: &Path, frame: &Frame, delimiter: u8) -> Result<()> {
    let failed = |error: ::csv::Error| match error.into_kind() {
        ::csv::ErrorKind::Io(error) => Error::io(path, error),
        other => Error::internal(format!("{other:?}")).in_file(path),
    };
    let mut writer = ::csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    writer.write_record(frame.names()).map_err(failed)?;
    let mut record: Vec<String> = Vec::with_capacity(frame.columns().len());
    for row in 0..frame.height() {
        record.clear();
        record.extend(frame.columns().iter().map(|column| match &column.values {
            Values::Number(values) if values[row].is_nan() => String::new(),
            Values::Number(values) => format_number(values[row]),
            Values::Text(values) => values[row].clone().unwrap_or_default(),
        }));
        writer.write_record(&record).map_err(failed)?;
    }
    writer.flush().map_err(|error| Error::io(path, error))
}
