//! Fixed memories of sequences.

use crate::error::OrRaise;
use crate::watch::watched;
use metier_core::{Error, Result};
use metier_geometry::hippo::baselines::Baseline;
use metier_geometry::hippo::{
    Basis, Continuized, ContinuizedConfig, Discretization, Memory, coverage_by_step, export_dplr,
    irregular_states, legs_eigenvectors, legs_spectrum,
};
use numpy::{
    Complex64, IntoPyArray, PyArray1, PyArray2, PyArray3, PyReadonlyArray1, PyReadonlyArray2,
};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Bank>()?;
    module.add_function(wrap_pyfunction!(hippo_coverage, module)?)?;
    module.add_function(wrap_pyfunction!(hippo_irregular, module)?)?;
    module.add_function(wrap_pyfunction!(hippo_spectrum, module)?)?;
    module.add_function(wrap_pyfunction!(hippo_eigenvectors, module)?)?;
    module.add_function(wrap_pyfunction!(hippo_export, module)?)
}

type Matrix<'py> = PyReadonlyArray2<'py, f64>;
type Vector<'py> = PyReadonlyArray1<'py, f64>;

// A name as the library's own files have it.
fn named<T: DeserializeOwned>(field: &'static str, name: &str) -> Result<T> {
    serde_json::from_value(name.into())
        .map_err(|error| Error::usage(error.to_string()).in_field(field))
}

fn config(
    states: usize,
    basis: &str,
    discretization: &str,
    dt: f64,
    gamma: f64,
) -> Result<ContinuizedConfig> {
    let (basis, discretization): (Basis, Discretization) =
        (named("basis", basis)?, named("discretization", discretization)?);
    Ok(ContinuizedConfig { states, basis, discretization, dt, gamma })
}

/// The kernels of a set of states.
#[pyclass(frozen, module = "metier._metier")]
struct Bank(metier_geometry::hippo::Bank);

#[pymethods]
impl Bank {
    /// The layer in the limit.
    #[staticmethod]
    fn limit(
        states: usize,
        basis: &str,
        discretization: &str,
        dt: f64,
        gamma: f64,
        len: usize,
    ) -> PyResult<Self> {
        let config = config(states, basis, discretization, dt, gamma).or_raise()?;
        Continuized::new(&config).and_then(|layer| layer.bank(len)).or_raise().map(Self)
    }

    /// One of the memories that people use.
    #[staticmethod]
    fn baseline(name: &str, states: usize, dt: f64, len: usize, seed: u64) -> PyResult<Self> {
        let baseline: Baseline = named("basis", name).or_raise()?;
        baseline.bank(states, dt, len, seed).or_raise().map(Self)
    }

    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.0.values().to_owned().into_pyarray(py)
    }

    fn kernel<'py>(&self, py: Python<'py>, c: Vector<'_>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.0.kernel(c.as_slice()?).or_raise()?.into_pyarray(py))
    }

    fn readout<'py>(
        &self,
        py: Python<'py>,
        u: Matrix<'_>,
        c: Vector<'_>,
        d: f64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (u, c) = (u.as_array(), c.as_slice()?);
        Ok(py.detach(|| self.0.readout(u, c, d)).or_raise()?.into_pyarray(py))
    }

    fn transform<'py>(
        &self,
        py: Python<'py>,
        u: Matrix<'_>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let u = u.as_array();
        Ok(py.detach(|| self.0.transform(u)).or_raise()?.into_pyarray(py))
    }

    fn last_state<'py>(
        &self,
        py: Python<'py>,
        u: Matrix<'_>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let u = u.as_array();
        Ok(py.detach(|| self.0.last_state(u)).or_raise()?.into_pyarray(py))
    }

    /// The share of white noise's variance that the states give back, by delay.
    fn r_squared<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let memory = py.detach(|| Memory::of(&self.0)).or_raise()?;
        Ok(memory.r_squared().into_pyarray(py))
    }

    /// The most likely history of each row of states, newest sample first.
    fn reconstruct<'py>(
        &self,
        py: Python<'py>,
        states: Matrix<'_>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let states = states.as_array();
        let histories = py.detach(|| {
            let memory = Memory::of(&self.0)?;
            let rows = states.rows().into_iter();
            let rows: Result<Vec<_>> = rows.map(|row| memory.reconstruct(&row.to_vec())).collect();
            let mut histories = ndarray::Array2::zeros((states.nrows(), self.0.lags()));
            for (mut to, from) in histories.rows_mut().into_iter().zip(rows?) {
                to.assign(&ndarray::ArrayView1::from(&from));
            }
            Ok(histories)
        });
        Ok(histories.or_raise()?.into_pyarray(py))
    }
}

/// What each of the usual steps keeps of the sequences' variance, as (dt, share).
#[pyfunction]
fn hippo_coverage(
    py: Python<'_>,
    states: usize,
    basis: &str,
    discretization: &str,
    gamma: f64,
    u: Matrix<'_>,
    verbose: Option<bool>,
) -> PyResult<Vec<(f64, f64)>> {
    let config = config(states, basis, discretization, 1.0, gamma).or_raise()?;
    let u = u.as_array();
    let steps = watched(py, verbose, |watch| coverage_by_step(&config, u, watch))?;
    Ok(steps.into_iter().map(|step| (step.dt, step.coverage)).collect())
}

/// The states of samples at irregular times.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn hippo_irregular<'py>(
    py: Python<'py>,
    states: usize,
    basis: &str,
    dt: f64,
    gamma: f64,
    times: Vector<'_>,
    u: Vector<'_>,
    every: bool,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let config = config(states, basis, "zoh", dt, gamma).or_raise()?;
    let layer = Continuized::new(&config).or_raise()?;
    let (times, u) = (times.as_slice()?, u.as_slice()?);
    Ok(py.detach(|| irregular_states(&layer, times, u, every)).or_raise()?.into_pyarray(py))
}

type Spectrum<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Frequencies in descending order, `p` and `b` of the LegS matrix.
#[pyfunction]
fn hippo_spectrum(py: Python<'_>, n: usize) -> PyResult<Spectrum<'_>> {
    let spectrum = py.detach(|| legs_spectrum(n)).or_raise()?;
    Ok((spectrum.omega.into_pyarray(py), spectrum.p.into_pyarray(py), spectrum.b.into_pyarray(py)))
}

/// Its eigenvectors as columns, pairs next to one another.
#[pyfunction]
fn hippo_eigenvectors(py: Python<'_>, n: usize) -> PyResult<Bound<'_, PyArray2<Complex64>>> {
    let vectors = py.detach(|| legs_eigenvectors(n)).or_raise()?;
    Ok(vectors.mapv(|v| Complex64::new(v.re, v.im)).into_pyarray(py))
}

#[pyfunction]
fn hippo_export(n: usize, vectors: bool, path: std::path::PathBuf) -> PyResult<()> {
    export_dplr(n, vectors, &path).or_raise()
}
