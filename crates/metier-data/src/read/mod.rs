//! Readers. Each says the file, the row and the column of what it cannot read.
//!
//! [`frame`](fn@frame) picks the reader by the ending of the path:
//!
//! | ending | what is read |
//! | --- | --- |
//! | `.csv` `.tsv` `.tab` `.txt` `.data` | separated text ([`csv`](fn@csv)): delimiter and header found out |
//! | `.parquet` `.pq` | flat Parquet tables ([`parquet`](fn@parquet)) |
//! | `.jsonl` `.ndjson` | one JSON object per line ([`jsonl`](fn@jsonl)) |
//! | `.npy` `.npz` | NumPy arrays as columns |
//! | `.geojson` | points with their properties ([`read_points`](crate::geo::read_points)) |
//!
//! Text files may be compressed with gzip, whatever their name. `-` is CSV from standard input.

mod cells;
mod csv;
mod idx;
mod jsonl;
mod matrix;
mod npy;
mod parquet;
pub(crate) mod source;
#[cfg(test)]
mod tests;
mod time;

pub use csv::{CsvOptions, csv, csv_bytes};
pub use idx::idx;
pub use jsonl::jsonl;
pub use matrix::matrix;
pub use npy::{npy, npz};
pub use parquet::parquet;
pub(crate) use source::{ending, gunzip, is_gzip};

use crate::Frame;
use metier_core::{Error, Result};
use std::path::Path;

/// Reads a table, choosing the format by the ending of the path; `-` is CSV from standard input.
///
/// ```no_run
/// let houses = metier_data::read::frame("houses.csv".as_ref())?;
/// let prices = houses.numbers("price")?;
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// A missing file, an unknown ending, or content that is not what the ending promises.
pub fn frame(path: &Path) -> Result<Frame> {
    match source::ending(path).as_str() {
        _ if path == Path::new("-") => csv(path, &CsvOptions::default()),
        "csv" | "tsv" | "tab" | "txt" | "data" => csv(path, &CsvOptions::default()),
        "parquet" | "pq" => parquet(path),
        "jsonl" | "ndjson" => jsonl(path),
        "npy" => npy::npy_frame(path),
        "npz" => npy::npz_frame(path),
        "geojson" => crate::geo::read_points(path),
        other => Err(unknown_ending(path, other)),
    }
}

fn unknown_ending(path: &Path, ending: &str) -> Error {
    let message = if ending.is_empty() {
        "the name has no ending to tell its format".to_owned()
    } else {
        format!("cannot read `.{ending}` files as tables")
    };
    Error::usage(message)
        .in_file(path)
        .help("tables are read from .csv, .tsv, .parquet, .jsonl, .npy, .npz and .geojson files")
}
