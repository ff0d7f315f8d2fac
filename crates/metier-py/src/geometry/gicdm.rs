//! Generated data judged by neighbours.

use crate::error::OrRaise;
use crate::watch::watched;
use metier_core::{Error, Result, Silent};
use metier_geometry::gicdm::{
    Gicdm as Fitted, GicdmConfig, Icdm, IcdmConfig, Metric, Points, fidelity, hubness,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Gicdm>()?;
    module.add_function(wrap_pyfunction!(gicdm_fidelity, module)?)?;
    module.add_function(wrap_pyfunction!(gicdm_hubness, module)?)
}

type Rows<'py> = PyReadonlyArray2<'py, f64>;

fn points(rows: &Rows<'_>, metric: &str) -> Result<Points<f64>> {
    let metric: Metric = serde_json::from_value(metric.into())
        .map_err(|error| Error::usage(error.to_string()).in_field("metric"))?;
    Points::new(rows.as_array(), metric)
}

// Results travel as JSON, whose names are those of the program's.
fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::internal(error.to_string()))
}

/// A real set with its factors.
#[pyclass(frozen, module = "metier._metier")]
struct Gicdm {
    fitted: Fitted<f64>,
    metric: String,
}

#[pymethods]
impl Gicdm {
    /// Learns from real rows; `config` is JSON.
    #[staticmethod]
    fn fit(
        py: Python<'_>,
        real: Rows<'_>,
        metric: &str,
        config: &str,
        verbose: Option<bool>,
    ) -> PyResult<Self> {
        let config: GicdmConfig = serde_json::from_str(config)
            .map_err(|error| Error::usage(error.to_string()))
            .or_raise()?;
        let real = points(&real, metric).or_raise()?;
        let fitted = watched(py, verbose, |watch| Fitted::fit(real, &config, watch))?;
        Ok(Self { fitted, metric: metric.to_owned() })
    }

    /// The scores as JSON.
    fn score(
        &self,
        py: Python<'_>,
        generated: Rows<'_>,
        verbose: Option<bool>,
    ) -> PyResult<String> {
        let generated = points(&generated, &self.metric).or_raise()?;
        let scores = watched(py, verbose, |watch| self.fitted.score(&generated, watch))?;
        json(&scores).or_raise()
    }

    /// What the correction makes of each generated row, as JSON.
    fn samples(&self, py: Python<'_>, generated: Rows<'_>) -> PyResult<String> {
        let generated = points(&generated, &self.metric).or_raise()?;
        let samples = py.detach(|| self.fitted.samples(&generated)).or_raise()?;
        json(&samples).or_raise()
    }

    fn log_delta<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.fitted.icdm().log_delta.clone().into_pyarray(py)
    }

    fn converged(&self) -> bool {
        self.fitted.converged()
    }

    fn pass_real(&self) -> f64 {
        self.fitted.pass_real()
    }
}

/// The scores in plain distances, as JSON.
#[pyfunction]
fn gicdm_fidelity(
    py: Python<'_>,
    real: Rows<'_>,
    generated: Rows<'_>,
    k: usize,
) -> PyResult<String> {
    let real = points(&real, "euclidean").or_raise()?;
    let generated = points(&generated, "euclidean").or_raise()?;
    json(&py.detach(|| fidelity(&real, &generated, k, &Silent)).or_raise()?).or_raise()
}

/// The hubness before and after the correction, as JSON.
#[pyfunction]
fn gicdm_hubness(py: Python<'_>, rows: Rows<'_>, k: usize, metric: &str) -> PyResult<String> {
    let points = points(&rows, metric).or_raise()?;
    let found = py.detach(|| {
        let icdm = Icdm::fit(&points, &IcdmConfig { k, ..IcdmConfig::default() })?;
        Ok((hubness(&points, k, None)?, hubness(&points, k, Some(&icdm.log_delta))?))
    });
    json(&found.or_raise()?).or_raise()
}
