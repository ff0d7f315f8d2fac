//! The experiments of the methods.

use crate::error::{OrRaise, to_python};
use crate::watch::watched;
use metier_core::evidence::draw::{Size, Theme, svg};
use metier_core::evidence::{Options, Record, run_one};
use metier_core::{Error, Method, Scale};
use metier_data::registry;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(methods, module)?)?;
    module.add_function(wrap_pyfunction!(evidence, module)?)
}

fn known() -> Vec<&'static dyn Method> {
    [metier_geometry::METHODS, metier_decision::METHODS, metier_train::METHODS].concat()
}

/// The methods: id, name, paper and job of each.
#[pyfunction]
fn methods() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let entry = |method: &dyn Method| {
        let card = method.card();
        (card.id, card.name, card.paper, card.job)
    };
    known().into_iter().map(entry).collect()
}

/// Runs the experiment of one method and returns its outcome, its tables, and its figures as triples of
/// id, title and SVG, all as JSON.
#[pyfunction]
fn evidence(
    py: Python<'_>,
    method: &str,
    scale: &str,
    seed: u64,
    data: BTreeMap<String, PathBuf>,
    verbose: Option<bool>,
) -> PyResult<String> {
    let scale = match scale {
        "quick" => Scale::Quick,
        "full" => Scale::Full,
        other => {
            return Err(PyValueError::new_err(format!(
                "scale: `{other}` is neither quick nor full"
            )));
        }
    };
    let all = known();
    let chosen = all.iter().find(|known| known.card().id == method).ok_or_else(|| {
        let ids = all.iter().map(|known| known.card().id);
        to_python(&Error::usage(format!("no method `{method}`")).help(metier_data::names::suggest(
            method,
            ids,
            "the methods are",
        )))
    })?;
    for (name, path) in &data {
        registry::path(name, Some(path)).or_raise()?;
    }
    watched(py, verbose, |watch| {
        let options = Options { scale, seed, data: data.into_iter().collect(), progress: watch };
        let outcome = run_one(*chosen, &options);
        let record = serde_json::to_value(Record::from(&outcome));
        let finding = outcome.result?;
        let figures: Vec<_> = finding
            .figures
            .iter()
            .map(|figure| (&figure.id, &figure.title, svg(figure, Size::Wide, Theme::Light)))
            .collect();
        record
            .map(|record| json!([record, finding.tables, figures]).to_string())
            .map_err(|error| Error::internal(error.to_string()))
    })
}
