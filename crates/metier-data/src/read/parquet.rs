//! Flat Parquet tables.

use super::cells::{Cell, column, whole};
use super::time;
use crate::frame::Rows;
use crate::{Column, Frame};
use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use half::f16;
use metier_core::{Error, Result};
use std::fs::File;
use std::path::Path;

/// Reads a flat Parquet table. Numbers of every width become columns of numbers, true and false 1
/// and 0, dates and times ISO 8601 text, strings text; nulls are missing. Fields of structures
/// become columns named `outer.inner`.
///
/// # Errors
/// A missing file, one that is not Parquet, or a column of lists.
pub fn parquet(path: &Path) -> Result<Frame> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let columns = read(file).map_err(|error| error.in_file(path))?;
    Ok(Frame::new(columns).map_err(|error| error.in_file(path))?.with_origin(path, Rows::From(1)))
}

fn read(file: File) -> Result<Vec<Column>> {
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    for leaf in schema.columns() {
        if leaf.max_rep_level() > 0 {
            return Err(Error::input("is a column of lists, where plain values are wanted")
                .in_field(leaf.path().string())
                .help("spread the lists over columns of their own"));
        }
    }
    (0..schema.num_columns())
        .map(|index| {
            let leaf = schema.column(index);
            let name = leaf.path().string();
            let mut cells = Vec::new();
            for group in 0..reader.num_row_groups() {
                let chunk = reader
                    .get_row_group(group)
                    .and_then(|group| group.get_column_reader(index))
                    .map_err(|error| damaged(error).in_field(&name))?;
                read_chunk(chunk, &leaf, &mut cells).map_err(|error| error.in_field(&name))?;
            }
            Ok(column(name, cells))
        })
        .collect()
}

fn read_chunk(chunk: ColumnReader, leaf: &ColumnDescriptor, cells: &mut Vec<Cell>) -> Result<()> {
    let meaning = Meaning::of(leaf);
    let level = leaf.max_def_level();
    match chunk {
        ColumnReader::BoolColumnReader(reader) => {
            each(reader, level, cells, |value| Ok(Cell::Logical(*value)))
        }
        ColumnReader::Int32ColumnReader(reader) => {
            each(reader, level, cells, |value| Ok(meaning.integer(i64::from(*value), 32)))
        }
        ColumnReader::Int64ColumnReader(reader) => {
            each(reader, level, cells, |value| Ok(meaning.integer(*value, 64)))
        }
        ColumnReader::Int96ColumnReader(reader) => {
            each(reader, level, cells, |value| Ok(Cell::Text(time::instant(value.to_nanos()))))
        }
        ColumnReader::FloatColumnReader(reader) => {
            each(reader, level, cells, |value| Ok(Cell::Number(f64::from(*value))))
        }
        ColumnReader::DoubleColumnReader(reader) => {
            each(reader, level, cells, |value| Ok(Cell::Number(*value)))
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            each(reader, level, cells, |value| meaning.bytes(value.data()))
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            each(reader, level, cells, |value| meaning.bytes(value.data()))
        }
    }
}

/// Reads a chunk to its end; nulls take up a definition level but no value.
fn each<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    max_level: i16,
    cells: &mut Vec<Cell>,
    cell: impl Fn(&T::T) -> Result<Cell>,
) -> Result<()> {
    const BATCH: usize = 1 << 14;
    let mut levels = Vec::new();
    let mut values = Vec::new();
    loop {
        levels.clear();
        values.clear();
        let wanted = (max_level > 0).then_some(&mut levels);
        let (rows, ..) = reader.read_records(BATCH, wanted, None, &mut values).map_err(damaged)?;
        if rows == 0 {
            return Ok(());
        }
        let mut present = values.iter();
        for row in 0..rows {
            let is_null = max_level > 0 && levels.get(row).is_none_or(|&level| level < max_level);
            let value = if is_null { None } else { present.next() };
            let at = cells.len() as u64 + 1;
            cells.push(match value {
                Some(value) => cell(value).map_err(|error| error.at_row(at))?,
                None => Cell::Missing,
            });
        }
    }
}

/// What the stored values of a column stand for.
enum Meaning {
    Plain,
    Unsigned,
    Decimal(i32),
    Half,
    Date,
    /// Units per second.
    Instant(i64),
}

impl Meaning {
    fn of(leaf: &ColumnDescriptor) -> Self {
        let units = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        };
        match leaf.logical_type_ref() {
            Some(LogicalType::Integer(kind)) if !kind.is_signed => return Self::Unsigned,
            Some(LogicalType::Decimal(_)) => return Self::Decimal(leaf.type_scale()),
            Some(LogicalType::Float16) => return Self::Half,
            Some(LogicalType::Date) => return Self::Date,
            Some(LogicalType::Timestamp(kind)) => return Self::Instant(units(&kind.unit)),
            _ => {}
        }
        // Older writers say it this way alone.
        match leaf.converted_type() {
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Self::Unsigned,
            ConvertedType::DECIMAL => Self::Decimal(leaf.type_scale()),
            ConvertedType::DATE => Self::Date,
            ConvertedType::TIMESTAMP_MILLIS => Self::Instant(1_000),
            ConvertedType::TIMESTAMP_MICROS => Self::Instant(1_000_000),
            _ => Self::Plain,
        }
    }

    fn integer(&self, value: i64, bits: u32) -> Cell {
        match self {
            Self::Plain | Self::Half => whole(i128::from(value)),
            Self::Unsigned if bits == 32 => Cell::Number(f64::from(value as u32)),
            Self::Unsigned => whole(i128::from(value as u64)),
            Self::Decimal(scale) => Cell::Number(value as f64 / 10f64.powi(*scale)),
            Self::Date => Cell::Text(time::date(value)),
            Self::Instant(units) => Cell::Text(time::instant_in(value, *units)),
        }
    }

    fn bytes(&self, value: &[u8]) -> Result<Cell> {
        match self {
            Self::Decimal(scale) if value.len() <= 16 => {
                // Big-endian two's complement of any width.
                let negative = value.first().is_some_and(|byte| byte & 0x80 != 0);
                let start = if negative { -1 } else { 0i128 };
                let number = value.iter().fold(start, |sum, byte| sum << 8 | i128::from(*byte));
                Ok(Cell::Number(number as f64 / 10f64.powi(*scale)))
            }
            Self::Half if value.len() == 2 => {
                Ok(Cell::Number(f16::from_le_bytes([value[0], value[1]]).to_f64()))
            }
            _ => match std::str::from_utf8(value) {
                Ok(text) => Ok(Cell::Text(text.to_owned())),
                Err(_) => Err(Error::input("holds bytes that are not UTF-8 text")),
            },
        }
    }
}

fn damaged(error: ParquetError) -> Error {
    Error::input(format!("is not a Parquet file that can be read: {error}")).caused_by(error)
}
