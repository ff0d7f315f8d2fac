//! Tables and arrays from the files that people have, and real data sets by name.
//!
//! - [`Frame`] is a table in memory; [`read`] and [`write`](mod@write) bring it from and to CSV,
//!   Parquet, JSONL and NPY files, with the file, row and column of whatever is wrong.

#![forbid(unsafe_code)]

mod frame;
pub mod names;
pub mod read;
pub mod write;

pub use frame::{Column, Frame, Values, format_number};
