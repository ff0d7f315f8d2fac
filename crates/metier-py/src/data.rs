//! Data sets by name, and tables from files.

use crate::error::OrRaise;
use crate::watch::watched;
use metier_data::{Frame, Values, embedded, rdatasets, read, registry, survset};
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(data_path, module)?)?;
    module.add_function(wrap_pyfunction!(pull, module)?)?;
    module.add_function(wrap_pyfunction!(read_table, module)?)?;
    module.add_function(wrap_pyfunction!(table, module)?)
}

/// Every data set: name, what it holds, source, version, licence.
#[pyfunction]
fn catalogue() -> Vec<(&'static str, &'static str, String, &'static str, &'static str)> {
    let entry = |set: &registry::DataSet| {
        (set.name, set.holds, set.source.to_string(), set.version, set.licence)
    };
    registry::catalogue().iter().map(entry).collect()
}

/// Where a data set lies.
#[pyfunction]
fn data_path(name: &str) -> PyResult<PathBuf> {
    registry::path(name, None).or_raise()
}

/// Brings a data set and returns where it lies.
#[pyfunction]
fn pull(py: Python<'_>, name: &str, verbose: Option<bool>) -> PyResult<PathBuf> {
    watched(py, verbose, |watch| registry::pull(name, watch))
}

/// Reads a table from a file: name to array of each column.
#[pyfunction]
fn read_table(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    columns(py, py.detach(|| read::frame(&path)).or_raise()?)
}

/// A table by name: an embedded one, `survset/NAME`, or `rdatasets/PACKAGE/NAME`.
#[pyfunction]
fn table<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let parts: Vec<&str> = name.split('/').collect();
    let frame = match parts[..] {
        ["places"] => embedded::places(),
        ["places-japan"] => embedded::places_japan(),
        ["gbsg2"] => embedded::gbsg2(),
        ["lymph-node"] => embedded::lymph_node(),
        ["actg175"] => embedded::actg175(),
        ["survset", name] => survset::table(name),
        ["rdatasets", package, name] => rdatasets::table(package, name),
        _ => {
            return Err(PyValueError::new_err(format!(
                "no table `{name}`\nthe tables are places, places-japan, gbsg2, lymph-node, \
                 actg175, survset/NAME and rdatasets/PACKAGE/NAME"
            )));
        }
    };
    columns(py, frame.or_raise()?)
}

fn columns(py: Python<'_>, frame: Frame) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for column in frame.into_columns() {
        match column.values {
            Values::Number(values) => columns.set_item(column.name, values.into_pyarray(py))?,
            // An array of objects, as pandas has text: str, or None where it is missing.
            Values::Text(values) => {
                let numpy = py.import("numpy")?;
                let array = numpy.call_method1("array", (values, numpy.getattr("object_")?))?;
                columns.set_item(column.name, array)?;
            }
        }
    }
    Ok(columns)
}
