//! Optimizers that step NumPy arrays in place.

use crate::error::OrRaise;
use metier_core::{Error, Result};
use metier_nn::optim::{GradRef, GroupPolicy, Optimizer, ParamMut, StateDict, StateTensor};
use metier_train::olion::{Grouped, OptimKind, Orthogonalizer};
use ndarray::ArrayD;
use numpy::{
    IntoPyArray, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An optimizer's name, the number of steps taken, the settings as JSON, and the tensors.
type State<'py> = (String, u64, String, Bound<'py, PyDict>);

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Stepper>()?;
    module.add_function(wrap_pyfunction!(orthogonalizer, module)?)
}

/// A matrix optimizer, and another for what is no hidden matrix.
#[pyclass(module = "metier._metier")]
struct Stepper {
    matrix: OptimKind,
    aux: Option<OptimKind>,
    policy: GroupPolicy,
    inner: Mutex<Inner>,
}

// The groups are known once the first step shows the parameters; a state may be loaded before.
#[derive(Default)]
struct Inner {
    optimizer: Option<Box<dyn Optimizer>>,
    pending: Option<StateDict>,
}

#[pymethods]
impl Stepper {
    #[new]
    #[pyo3(signature = (name, *, settings, aux, aux_settings, groups, router_as_matrix))]
    fn new(
        name: &str,
        settings: &str,
        aux: Option<&str>,
        aux_settings: &str,
        groups: Vec<String>,
        router_as_matrix: bool,
    ) -> PyResult<Self> {
        let matrix = configured(name, settings).or_raise()?;
        let aux = aux.map(|aux| configured(aux, aux_settings)).transpose().or_raise()?;
        matrix.build().or_raise()?;
        if let Some(aux) = &aux {
            aux.build().or_raise()?;
            if aux.matrices_only() {
                return Err(PyValueError::new_err(
                    "aux: embeddings, norms and biases need adamw or lion",
                ));
            }
        }
        let overrides =
            groups.iter().map(|choice| choice.parse()).collect::<Result<_>>().or_raise()?;
        let policy = GroupPolicy { router_as_matrix, overrides };
        Ok(Self { matrix, aux, policy, inner: Mutex::default() })
    }

    /// Steps each array of `params` against the one of the same name in `grads`. Returns how many
    /// tensors were stepped and how many of them had gradients of zeros only.
    fn step(
        &self,
        py: Python<'_>,
        params: &Bound<'_, PyDict>,
        grads: &Bound<'_, PyDict>,
        lr: f32,
    ) -> PyResult<(usize, usize)> {
        let mut names = Vec::with_capacity(params.len());
        let mut shapes = Vec::with_capacity(params.len());
        let mut values: Vec<PyReadwriteArrayDyn<'_, f32>> = Vec::with_capacity(params.len());
        let mut slopes: Vec<PyReadonlyArrayDyn<'_, f32>> = Vec::with_capacity(params.len());
        let mut owners: HashMap<usize, String> = HashMap::with_capacity(params.len());
        for (key, value) in params {
            let name = key.cast::<PyString>()?.to_string();
            if let Ok(array) = value.cast::<numpy::PyArrayDyn<f32>>()
                && array.len() > 0
                && let Some(owner) = owners.insert(array.data() as usize, name.clone())
            {
                return Err(PyValueError::new_err(format!(
                    "{name} and {owner} are one array: a tied parameter is given once, with the sum \
                     of its gradients"
                )));
            }
            let array = writeable(&name, &value)?;
            let Some(grad) = grads.get_item(&key)? else {
                return Err(PyValueError::new_err(format!("there is no gradient of {name}")));
            };
            let grad = readable(&name, &grad)?;
            if grad.shape() != array.shape() {
                return Err(PyValueError::new_err(format!(
                    "the gradient of {name} has shape {:?}, the parameter {:?}",
                    grad.shape(),
                    array.shape()
                )));
            }
            shapes.push(array.shape().to_vec());
            names.push(name);
            values.push(array);
            slopes.push(grad);
        }
        for key in grads.keys() {
            if !params.contains(&key)? {
                return Err(PyValueError::new_err(format!("there is no parameter {key}")));
            }
        }
        let mut views = Vec::with_capacity(names.len());
        let mut gradients = Vec::with_capacity(names.len());
        for (((name, shape), value), slope) in
            names.iter().zip(&shapes).zip(&mut values).zip(&slopes)
        {
            views.push(ParamMut { name, shape, data: value.as_slice_mut()? });
            gradients.push(GradRef { name, data: slope.as_slice()? });
        }
        py.detach(|| self.step_slices(&mut views, &gradients, lr)).or_raise()
    }

    /// The optimizer's name, the number of steps taken, the settings as JSON, and the tensors.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Option<State<'py>>> {
        let state = {
            let inner = self.lock();
            match (&inner.optimizer, &inner.pending) {
                (Some(optimizer), _) => optimizer.state(),
                (None, Some(pending)) => pending.clone(),
                (None, None) => return Ok(None),
            }
        };
        let tensors = PyDict::new(py);
        for (name, tensor) in state.tensors {
            let array = ArrayD::from_shape_vec(tensor.shape, tensor.data)
                .map_err(|error| PyValueError::new_err(format!("{name}: {error}")))?;
            tensors.set_item(name, array.into_pyarray(py))?;
        }
        Ok(Some((state.optimizer, state.step, state.hyper.to_string(), tensors)))
    }

    /// Goes on from what `state` returned.
    fn load_state(
        &self,
        name: String,
        step: u64,
        hyper: &str,
        tensors: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let mut state = StateDict { optimizer: name, step, ..StateDict::default() };
        state.hyper = serde_json::from_str(hyper)
            .map_err(|error| PyValueError::new_err(format!("the settings are no JSON: {error}")))?;
        for (key, value) in tensors {
            let key = key.cast::<PyString>()?.to_string();
            let array = readable(&key, &value)?;
            let tensor =
                StateTensor { shape: array.shape().to_vec(), data: array.as_slice()?.to_vec() };
            state.tensors.insert(key, tensor);
        }
        state.expect_optimizer(&self.name().or_raise()?).or_raise()?;
        let mut inner = self.lock();
        match &mut inner.optimizer {
            Some(optimizer) => optimizer.load_state(&state).or_raise(),
            None => {
                inner.pending = Some(state);
                Ok(())
            }
        }
    }
}

impl Stepper {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self) -> Result<String> {
        Ok(match &self.aux {
            Some(aux) => format!("{}+{}", self.matrix.build()?.name(), aux.build()?.name()),
            None => self.matrix.build()?.name().to_owned(),
        })
    }

    fn step_slices(
        &self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<(usize, usize)> {
        let mut inner = self.lock();
        if inner.optimizer.is_none() {
            let mut optimizer: Box<dyn Optimizer> = match &self.aux {
                Some(aux) => {
                    let shapes: Vec<(String, Vec<usize>)> =
                        params.iter().map(|p| (p.name.to_owned(), p.shape.to_vec())).collect();
                    Box::new(Grouped::by_role(&shapes, &self.policy, &self.matrix, aux)?)
                }
                None => self.matrix.build()?,
            };
            if let Some(pending) = &inner.pending {
                optimizer.load_state(pending)?;
            }
            // Kept only once the first step has gone through.
            let stats = optimizer.step(params, grads, lr)?;
            *inner = Inner { optimizer: Some(optimizer), pending: None };
            return Ok((stats.tensors, stats.zero_gradients));
        }
        let optimizer = inner.optimizer.as_mut().ok_or_else(|| Error::internal("no optimizer"))?;
        let stats = optimizer.step(params, grads, lr)?;
        Ok((stats.tensors, stats.zero_gradients))
    }
}

// The optimizer called `name`, with some of its settings replaced by those of a JSON object.
fn configured(name: &str, settings: &str) -> Result<OptimKind> {
    let bad = |error: serde_json::Error| Error::usage(format!("{name}: {error}"));
    let usual = serde_json::to_value(OptimKind::named(name)?).map_err(bad)?;
    let given: BTreeMap<String, serde_json::Value> = serde_json::from_str(settings).map_err(bad)?;
    let serde_json::Value::Object(mut all) = usual else {
        return Err(Error::internal("the settings of an optimizer are no object"));
    };
    all.extend(given);
    serde_json::from_value(serde_json::Value::Object(all)).map_err(bad)
}

/// How `ns_steps` and the name of a method make an orthogonalizer, as JSON.
#[pyfunction]
fn orthogonalizer(method: &str, steps: usize) -> PyResult<String> {
    let chosen = match method {
        "quintic" => Orthogonalizer::Quintic { steps },
        "polar-express" => Orthogonalizer::PolarExpress,
        "svd" => Orthogonalizer::Svd,
        other => {
            return Err(PyValueError::new_err(format!(
                "orthogonalizer: `{other}` is none of quintic, polar-express, svd"
            )));
        }
    };
    serde_json::to_string(&chosen).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn writeable<'py>(
    name: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<PyReadwriteArrayDyn<'py, f32>> {
    let array = value.cast::<numpy::PyArrayDyn<f32>>().map_err(|_| wrong_type(name, value))?;
    if !array.is_c_contiguous() {
        return Err(not_contiguous(name));
    }
    array.try_readwrite().map_err(|error| {
        PyValueError::new_err(format!("{name} cannot be changed in place: {error}"))
    })
}

fn readable<'py>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, f32>> {
    let array = value.cast::<numpy::PyArrayDyn<f32>>().map_err(|_| wrong_type(name, value))?;
    if !array.is_c_contiguous() {
        return Err(not_contiguous(name));
    }
    array.try_readonly().map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

fn wrong_type(name: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let found = match value.getattr("dtype") {
        Ok(dtype) => format!("an array of {dtype}"),
        Err(_) => value.get_type().to_string(),
    };
    PyTypeError::new_err(format!("{name} is {found}, where a NumPy array of float32 is wanted"))
}

fn not_contiguous(name: &str) -> PyErr {
    PyValueError::new_err(format!(
        "{name} does not lie in memory row by row; numpy.ascontiguousarray makes a copy that does"
    ))
}
