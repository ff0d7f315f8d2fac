//! Pickled pandas tables, read without running them.
//!
//! Packages of the Python package index hold real tables as pickles. [`frame`] reads those of one
//! kind, a `DataFrame` of numbers, text and categories, and refuses every other pickle.

mod array;
mod pickle;
mod table;
#[cfg(test)]
mod tests;

pub use table::frame;
