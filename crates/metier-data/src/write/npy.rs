//! NumPy arrays.

use crate::Frame;
use metier_core::{Error, Result, files};
use ndarray::{Array2, ArrayView, Dimension};
use ndarray_npy::{WritableElement, WriteNpyError, WriteNpyExt};
use std::path::Path;

/// Writes an array as an `.npy` file.
///
/// ```
/// use ndarray::array;
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("a.npy");
/// metier_data::write::npy(&path, array![[1.0, 2.0]].view())?;
/// assert_eq!(metier_data::read::npy(&path)?, array![[1.0, 2.0]].into_dyn());
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// A file that cannot be written; the old file then stays as it was.
pub fn npy<T: WritableElement, D: Dimension>(
    path: &Path,
    array: ArrayView<'_, T, D>,
) -> Result<()> {
    files::write_atomic(path, |out| {
        array.write_npy(out).map_err(|error| match error {
            WriteNpyError::Io(error) => Error::io(path, error),
            other => Error::internal(other.to_string()).in_file(path),
        })
    })
}

/// The table as an array of two dimensions; the names are not kept.
pub(super) fn frame(path: &Path, frame: &Frame) -> Result<()> {
    let mut array = Array2::zeros((frame.height(), frame.columns().len()));
    for (column, mut target) in frame.columns().iter().zip(array.columns_mut()) {
        let values = column.numbers().map_err(|_| {
            Error::usage("holds text, which an .npy array of numbers cannot hold")
                .in_file(path)
                .in_field(&column.name)
                .help("write .csv, .parquet or .jsonl instead, or leave the column out")
        })?;
        target.assign(&ndarray::ArrayView1::from(values));
    }
    npy(path, array.view())
}
