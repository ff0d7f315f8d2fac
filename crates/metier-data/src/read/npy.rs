//! NumPy arrays, whatever numbers they hold.

use super::source;
use crate::frame::Rows;
use crate::{Column, Frame};
use half::f16;
use metier_core::{Error, Result};
use ndarray::{ArrayD, Axis};
use ndarray_npy::{
    NpzReader, ReadDataError, ReadNpyError, ReadNpyExt, ReadNpzError, ReadableElement,
};
use py_literal::Value;
use std::io::{Cursor, Read};
use std::path::Path;

/// Reads an `.npy` file of floating-point numbers (16, 32, 64 bits), integers or truth values, of
/// either byte order.
///
/// # Errors
/// A missing or damaged file, or one of strings, objects, structures or complex numbers. Pickled
/// objects are never loaded.
pub fn npy(path: &Path) -> Result<ArrayD<f64>> {
    let bytes = source::bytes(path)?;
    let array = ArrayD::<Number>::read_npy(Cursor::new(bytes));
    array.map(plain).map_err(|error| npy_error(error).in_file(path))
}

/// Reads every array of an `.npz` file with its name, in file order.
///
/// # Errors
/// Those of [`npy`]; the error names the array.
pub fn npz(path: &Path) -> Result<Vec<(String, ArrayD<f64>)>> {
    let bytes = source::bytes(path)?;
    read_npz(bytes).map_err(|error| error.in_file(path))
}

fn read_npz(bytes: Vec<u8>) -> Result<Vec<(String, ArrayD<f64>)>> {
    let archive = |error: ReadNpzError| match error {
        ReadNpzError::Npy(error) => npy_error(error),
        ReadNpzError::Zip(error) => Error::input(format!("is not an NPZ archive: {error}")),
    };
    let mut reader = NpzReader::new(Cursor::new(bytes)).map_err(archive)?;
    let names = reader.names().map_err(archive)?;
    let mut arrays = Vec::with_capacity(names.len());
    for (index, name) in names.into_iter().enumerate() {
        let array: ArrayD<Number> =
            reader.by_index(index).map_err(|error| archive(error).in_field(&name))?;
        arrays.push((name, plain(array)));
    }
    Ok(arrays)
}

/// A one-dimensional array as one column, a two-dimensional one as many.
pub(super) fn npy_frame(path: &Path) -> Result<Frame> {
    let columns = columns("column", npy(path)?).map_err(|error| error.in_file(path))?;
    Ok(Frame::new(columns)?.with_origin(path, Rows::From(1)))
}

/// Each one-dimensional array as a column of its name, each two-dimensional one as `NAME_1` and so
/// on.
pub(super) fn npz_frame(path: &Path) -> Result<Frame> {
    let mut all = Vec::new();
    for (name, array) in npz(path)? {
        let is_vector = array.ndim() == 1;
        let mut some =
            columns(&name, array).map_err(|error| error.in_field(&name).in_file(path))?;
        if is_vector {
            some[0].name = name;
        }
        all.append(&mut some);
    }
    Ok(Frame::new(all).map_err(|error| error.in_file(path))?.with_origin(path, Rows::From(1)))
}

fn columns(prefix: &str, array: ArrayD<f64>) -> Result<Vec<Column>> {
    let shape = array.shape().to_vec();
    match shape[..] {
        [_] => Ok(vec![Column::number(format!("{prefix}_1"), array.iter().copied().collect())]),
        // The number of columns is only bounded by the file's size where there are rows.
        [0, width] if width > 0 => {
            Err(Error::input(format!("an array of shape {shape:?} has no rows")))
        }
        [_, width] => Ok((0..width)
            .map(|index| {
                let values = array.index_axis(Axis(1), index).iter().copied().collect();
                Column::number(format!("{prefix}_{}", index + 1), values)
            })
            .collect()),
        _ => Err(Error::input(format!("an array of shape {shape:?} is no table"))
            .help("a table has one or two dimensions")),
    }
}

/// An element of any numeric type, widened as it is read.
#[derive(Clone, Copy)]
struct Number(f64);

fn plain(array: ArrayD<Number>) -> ArrayD<f64> {
    array.mapv(|number| number.0)
}

impl ReadableElement for Number {
    fn read_to_end_exact_vec<R: Read>(
        mut reader: R,
        descriptor: &Value,
        len: usize,
    ) -> Result<Vec<Self>, ReadDataError> {
        let unknown = || ReadDataError::WrongDescriptor(descriptor.clone());
        let text = descriptor.as_string().ok_or_else(unknown)?;
        let (order, kind) = text.split_at_checked(1).ok_or_else(unknown)?;
        let big = order == ">";
        let (size, convert): (usize, fn([u8; 8]) -> f64) = match kind {
            "f2" => (2, |b| f16::from_le_bytes([b[0], b[1]]).to_f64()),
            "f4" => (4, |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "f8" => (8, f64::from_le_bytes),
            "i1" => (1, |b| f64::from(b[0] as i8)),
            "i2" => (2, |b| f64::from(i16::from_le_bytes([b[0], b[1]]))),
            "i4" => (4, |b| f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "i8" => (8, |b| i64::from_le_bytes(b) as f64),
            "u1" | "b1" => (1, |b| f64::from(b[0])),
            "u2" => (2, |b| f64::from(u16::from_le_bytes([b[0], b[1]]))),
            "u4" => (4, |b| f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "u8" => (8, |b| u64::from_le_bytes(b) as f64),
            _ => return Err(unknown()),
        };
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        // The header may promise more than memory holds; what counts is what is there.
        let needed = len.saturating_mul(size);
        if bytes.len() < needed {
            return Err(ReadDataError::MissingData);
        }
        if bytes.len() > needed {
            return Err(ReadDataError::ExtraBytes(bytes.len() - needed));
        }
        let element = |chunk: &[u8]| {
            let mut padded = [0; 8];
            padded[..size].copy_from_slice(chunk);
            if big {
                padded[..size].reverse();
            }
            Self(convert(padded))
        };
        Ok(bytes.chunks_exact(size).map(element).collect())
    }
}

fn npy_error(error: ReadNpyError) -> Error {
    match &error {
        ReadNpyError::WrongDescriptor(found) => {
            Error::input(format!("holds elements of type {found}, where numbers are wanted"))
                .help("save it as floating-point numbers or integers, not as objects or strings")
        }
        ReadNpyError::MissingData => Error::input("is cut short: the header promises more data"),
        ReadNpyError::ExtraBytes(count) => {
            Error::input(format!("has {count} bytes more than its header promises"))
        }
        _ => Error::input("is not an NPY array").caused_by(error),
    }
}
