//! Rows of numbers, such as embeddings, from any table or array.

use super::npy;
use crate::frame::Values;
use metier_core::{Error, Result};
use ndarray::{Array2, ArrayD, Ix2};
use std::path::Path;

/// Reads rows of numbers: a two-dimensional `.npy`, an `.npz` that holds one, or a table all of whose
/// columns are numbers.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("a.csv");
/// std::fs::write(&path, "x,y\n1,2\n3,4\n").unwrap();
/// assert_eq!(metier_data::read::matrix(&path)?, ndarray::array![[1.0, 2.0], [3.0, 4.0]]);
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// Those of [`frame`](super::frame); an array of other than two dimensions, an archive of several, a
/// column of text.
pub fn matrix(path: &Path) -> Result<Array2<f64>> {
    match super::source::ending(path).as_str() {
        "npy" => two_dimensional(npy::npy(path)?, path),
        "npz" => {
            let mut arrays = npy::npz(path)?;
            match (arrays.pop(), arrays.len()) {
                (Some((_, array)), 0) => two_dimensional(array, path),
                (_, others) => {
                    let message = format!("{} arrays, where one is meant", others + 1);
                    Err(Error::input(message).in_file(path))
                }
            }
        }
        _ => {
            let frame = super::frame(path)?;
            if let Some(text) =
                frame.columns().iter().find(|column| matches!(column.values, Values::Text(_)))
            {
                return Err(frame
                    .error("the column holds text, where every column is to be numbers")
                    .in_field(&text.name));
            }
            let columns: Vec<&[f64]> =
                frame.columns().iter().map(|column| column.numbers()).collect::<Result<_>>()?;
            Ok(Array2::from_shape_fn((frame.height(), columns.len()), |(i, k)| columns[k][i]))
        }
    }
}

fn two_dimensional(array: ArrayD<f64>, path: &Path) -> Result<Array2<f64>> {
    let shape = array.shape().to_vec();
    array.into_dimensionality::<Ix2>().map_err(|_| {
        Error::input(format!("an array of shape {shape:?}, where rows x columns is meant"))
            .in_file(path)
    })
}
