//! Flat Parquet tables.

use crate::{Frame, Values};
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;
use metier_core::{Error, Result, files};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

const ROWS_PER_GROUP: usize = 1 << 20;

/// Writes a flat Parquet table: numbers as doubles, text as strings, missing values as nulls.
///
/// # Errors
/// A file that cannot be written; the old file then stays as it was.
pub fn parquet(path: &Path, frame: &Frame) -> Result<()> {
    let bytes = encode(frame).map_err(|error| {
        Error::internal(format!("cannot encode Parquet: {error}")).in_file(path).caused_by(error)
    })?;
    files::write_bytes(path, &bytes)
}

fn encode(frame: &Frame) -> Result<Vec<u8>, ParquetError> {
    let fields = frame.columns().iter().map(|column| {
        let field = match column.values {
            Values::Number(_) => Type::primitive_type_builder(&column.name, Physical::DOUBLE),
            Values::Text(_) => Type::primitive_type_builder(&column.name, Physical::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String)),
        };
        field.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    for start in (0..frame.height()).step_by(ROWS_PER_GROUP) {
        let rows = start..frame.height().min(start + ROWS_PER_GROUP);
        let mut group = writer.next_row_group()?;
        for column in frame.columns() {
            let Some(mut target) = group.next_column()? else { break };
            match &column.values {
                Values::Number(values) => {
                    let (levels, present) =
                        present(values, rows.clone(), |value| (!value.is_nan()).then_some(*value));
                    target.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
                }
                Values::Text(values) => {
                    let (levels, present) = present(values, rows.clone(), |value| {
                        value.as_deref().map(ByteArray::from)
                    });
                    target.typed::<ByteArrayType>().write_batch(&present, Some(&levels), None)?;
                }
            }
            target.close()?;
        }
        group.close()?;
    }
    writer.into_inner()
}

/// Definition levels of all rows, and the values of those that are not missing.
fn present<S, T>(
    values: &[S],
    rows: Range<usize>,
    value: impl Fn(&S) -> Option<T>,
) -> (Vec<i16>, Vec<T>) {
    let mut levels = Vec::with_capacity(rows.len());
    let mut kept = Vec::with_capacity(rows.len());
    for item in &values[rows] {
        let item = value(item);
        levels.push(i16::from(item.is_some()));
        kept.extend(item);
    }
    (levels, kept)
}
