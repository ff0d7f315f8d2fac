//! The extension module `metier._metier`: what the Python package stands on.
//!
//! It is thin. Arrays come in as views and go out without a copy, long calls let other Python
//! threads run, show a bar and stop on Ctrl-C, and errors become Python's own. The scikit-learn
//! manners live in `python/metier`.

// The macros of the binding generate items without documentation.
#![allow(missing_docs)]

mod data;
mod decision;
mod error;
mod evidence;
mod geometry;
mod train;
mod watch;

use pyo3::prelude::*;

#[pymodule]
fn _metier(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    evidence::add(module)?;
    data::add(module)?;
    geometry::add(module)?;
    decision::add(module)?;
    train::add(module)
}
