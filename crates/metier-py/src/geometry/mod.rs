//! Places on the earth, sequences as states, generated data judged by neighbours.

mod gicdm;
mod hippo;
mod places;

use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    places::add(module)?;
    hippo::add(module)?;
    gicdm::add(module)
}
