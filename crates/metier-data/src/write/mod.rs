//! Writers. A file is written whole or not at all.

mod csv;
mod jsonl;
mod npy;
mod parquet;

pub use csv::csv;
pub use jsonl::jsonl;
pub use npy::npy;
pub use parquet::parquet;

use crate::Frame;
use metier_core::{Error, Result};
use std::path::Path;

/// Writes a table, choosing the format by the ending of the path; `-` is CSV on standard output.
///
/// # Errors
/// An unknown ending, or a file that cannot be written; the old file then stays as it was.
pub fn frame(path: &Path, frame: &Frame) -> Result<()> {
    match crate::read::ending(path).as_str() {
        _ if path == Path::new("-") => csv(path, frame, b','),
        "csv" => csv(path, frame, b','),
        "tsv" => csv(path, frame, b'\t'),
        "parquet" | "pq" => parquet(path, frame),
        "jsonl" | "ndjson" => jsonl(path, frame),
        "npy" => npy::frame(path, frame),
        ending => Err(Error::usage(format!("cannot write `.{ending}` files"))
            .in_file(path)
            .help("tables are written as .csv, .tsv, .parquet, .jsonl or .npy")),
    }
}
