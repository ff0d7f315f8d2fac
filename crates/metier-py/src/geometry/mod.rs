//! Places on the earth, and sequences as states.

mod hippo;
mod places;

use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    places::add(module)?;
    hippo::add(module)
}
