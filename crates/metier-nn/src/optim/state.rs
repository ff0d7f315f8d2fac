//! What an optimizer remembers between steps, and the file that keeps it.

use super::ParamMut;
use half::bf16;
use metier_core::{Error, Result, files};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// The key of the JSON header in the file's metadata. It is the only key: several would be written
/// in no fixed order, and equal states should be equal files.
const HEADER: &str = "optim";

/// The state of an optimizer: its name, how many steps it has taken, its settings, and its tensors
/// under names such as `optim.lm_head.weight.momentum`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateDict {
    /// The name of the optimizer.
    pub optimizer: String,
    /// The number of steps taken.
    pub step: u64,
    /// Its settings, as they were.
    pub hyper: serde_json::Value,
    /// Its tensors.
    pub tensors: BTreeMap<String, StateTensor>,
}

/// A tensor of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateTensor {
    /// The shape.
    pub shape: Vec<usize>,
    /// The values, row by row.
    pub data: Vec<f32>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    optimizer: String,
    step: u64,
    hyper: serde_json::Value,
}

impl StateDict {
    /// A state without tensors.
    pub fn new(optimizer: &str, step: u64, hyper: &impl Serialize) -> Self {
        Self {
            optimizer: optimizer.to_owned(),
            step,
            hyper: serde_json::to_value(hyper).unwrap_or_default(),
            tensors: BTreeMap::new(),
        }
    }

    /// Checks that this is the state of the optimizer called `name`.
    ///
    /// # Errors
    /// Otherwise, naming both.
    pub fn expect_optimizer(&self, name: &str) -> Result<()> {
        if self.optimizer == name {
            return Ok(());
        }
        Err(Error::input(format!(
            "this is the state of {}, and the optimizer is {name}",
            self.optimizer
        ))
        .help(RESET))
    }

    /// Checks that this is the state of the optimizer called `name`, and that it holds a buffer of
    /// each of these kinds, and no other, for every parameter that it knows.
    ///
    /// # Errors
    /// The state of another optimizer; the first buffer that is missing or has no use.
    pub fn expect(&self, name: &str, kinds: &[&str]) -> Result<()> {
        self.expect_optimizer(name)?;
        for key in self.tensors.keys() {
            let Some((param, kind)) = param_and_kind(key) else { continue };
            if !kinds.contains(&kind) {
                return Err(Error::input(format!(
                    "the state holds {key}, and {name} keeps no {kind} for {param}"
                ))
                .help(RESET));
            }
            for kind in kinds {
                let key = format!("optim.{param}.{kind}");
                if !self.tensors.contains_key(&key) {
                    return Err(Error::input(format!(
                        "the state lacks {key}, without which {name} cannot go on"
                    ))
                    .help(RESET));
                }
            }
        }
        Ok(())
    }

    /// Checks that every tensor of the state that belongs to one of these parameters has its
    /// parameter's shape, that none belongs to a parameter that is not there, and that, once a step
    /// was taken, every parameter has one.
    ///
    /// # Errors
    /// The first tensor that does not fit, with both shapes; the first parameter without any.
    pub fn expect_shapes(&self, params: &[(String, Vec<usize>)]) -> Result<()> {
        let shapes: HashMap<&str, &[usize]> =
            params.iter().map(|(name, shape)| (name.as_str(), shape.as_slice())).collect();
        let mut known = HashSet::new();
        for (key, tensor) in &self.tensors {
            let Some((param, _)) = param_and_kind(key) else { continue };
            known.insert(param);
            match shapes.get(param) {
                Some(shape) if *shape == tensor.shape => {}
                Some(shape) => return Err(other_shape(key, &tensor.shape, param, shape)),
                None => {
                    return Err(Error::input(format!(
                        "the state holds {key}, and the model has no parameter {param}"
                    ))
                    .help(RESET));
                }
            }
        }
        match params.iter().find(|(name, _)| self.step > 0 && !known.contains(name.as_str())) {
            Some((name, _)) => {
                Err(Error::input(format!("the state holds nothing of the parameter {name}"))
                    .help(RESET))
            }
            None => Ok(()),
        }
    }

    /// The state as the bytes of a safetensors file.
    ///
    /// # Errors
    /// A tensor whose values do not fill its shape.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let bytes: Vec<(&str, &[usize], Vec<u8>)> = self
            .tensors
            .iter()
            .map(|(name, tensor)| {
                let bytes = tensor.data.iter().flat_map(|value| value.to_le_bytes()).collect();
                (name.as_str(), tensor.shape.as_slice(), bytes)
            })
            .collect();
        let views = bytes
            .iter()
            .map(|(name, shape, bytes)| {
                TensorView::new(Dtype::F32, shape.to_vec(), bytes).map(|view| (*name, view))
            })
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|error| {
                Error::internal("a state tensor does not fill its shape").caused_by(error)
            })?;
        let header = Header {
            optimizer: self.optimizer.clone(),
            step: self.step,
            hyper: self.hyper.clone(),
        };
        let header = serde_json::to_string(&header)
            .map_err(|error| Error::internal("the state's header is no JSON").caused_by(error))?;
        safetensors::serialize(views, Some(HashMap::from([(HEADER.to_owned(), header)])))
            .map_err(|error| Error::internal("the state cannot be written").caused_by(error))
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// Bytes that are no such file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let broken = |message: &str| Error::input(message.to_owned()).help(RESET);
        let (_, metadata) = SafeTensors::read_metadata(bytes)
            .map_err(|error| broken("this is no safetensors file").caused_by(error))?;
        let header = metadata.metadata().as_ref().and_then(|map| map.get(HEADER));
        let header: Header = header
            .and_then(|text| serde_json::from_str(text).ok())
            .ok_or_else(|| broken("this file holds no optimizer state"))?;
        let file = SafeTensors::deserialize(bytes)
            .map_err(|error| broken("this is no safetensors file").caused_by(error))?;
        let mut tensors = BTreeMap::new();
        for (name, view) in file.iter() {
            if view.dtype() != Dtype::F32 {
                return Err(broken(&format!("{name} is {:?}, not F32", view.dtype())));
            }
            let values = view.data().chunks_exact(4);
            let data = values.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            tensors.insert(name.to_owned(), StateTensor { shape: view.shape().to_vec(), data });
        }
        Ok(Self { optimizer: header.optimizer, step: header.step, hyper: header.hyper, tensors })
    }

    /// Writes the state to a safetensors file.
    ///
    /// # Errors
    /// An I/O error that names the file.
    pub fn write(&self, path: &Path) -> Result<()> {
        files::write_bytes(path, &self.to_bytes()?)
    }

    /// Reads the state from a safetensors file.
    ///
    /// # Errors
    /// An I/O error, or a file that holds no state, naming the file.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|source| Error::io(path, source))?;
        Self::from_bytes(&bytes).map_err(|error| error.in_file(path))
    }
}

/// The parameter's name and the kind of buffer in a key such as `optim.lm_head.weight.momentum`.
fn param_and_kind(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix("optim.")?.rsplit_once('.')
}

const RESET: &str = "`--reset-optimizer` goes on with a fresh state";

fn other_shape(key: &str, found: &[usize], param: &str, shape: &[usize]) -> Error {
    Error::input(format!("{key} has shape {found:?}, and the parameter {param} has {shape:?}"))
        .help(RESET)
}

/// How a value is kept between steps: as it is, or in half the memory.
pub trait Kept: Copy + Default + Send + Sync {
    /// The value that is kept.
    fn keep(value: f32) -> Self;
    /// The value that comes back.
    fn recall(self) -> f32;
}

impl Kept for f32 {
    #[inline]
    fn keep(value: f32) -> Self {
        value
    }

    #[inline]
    fn recall(self) -> f32 {
        self
    }
}

impl Kept for bf16 {
    #[inline]
    fn keep(value: f32) -> Self {
        Self::from_f32(value)
    }

    #[inline]
    fn recall(self) -> f32 {
        self.to_f32()
    }
}

/// One buffer per parameter, such as its momentum; zeros until first used.
#[derive(Clone, Debug)]
pub struct Buffers<T = f32> {
    kind: &'static str,
    by_name: BTreeMap<String, Buffer<T>>,
}

#[derive(Clone, Debug)]
struct Buffer<T> {
    shape: Vec<usize>,
    data: Vec<T>,
}

impl<T: Kept> Buffers<T> {
    /// No buffers yet. `kind` ends their names in a file: `momentum`.
    pub fn new(kind: &'static str) -> Self {
        Self { kind, by_name: BTreeMap::new() }
    }

    fn key(&self, name: &str) -> String {
        format!("optim.{name}.{}", self.kind)
    }

    /// Checks that the buffers that exist have the shapes of these parameters. Nothing changes.
    ///
    /// # Errors
    /// The first that has another, with both shapes.
    pub fn check(&self, params: &[ParamMut<'_>]) -> Result<()> {
        for param in params {
            if let Some(buffer) = self.by_name.get(param.name)
                && buffer.shape != param.shape
            {
                let key = self.key(param.name);
                return Err(other_shape(&key, &buffer.shape, param.name, param.shape));
            }
        }
        Ok(())
    }

    /// The buffers of these parameters, in their order; a new one holds zeros.
    ///
    /// # Errors
    /// A buffer of another shape, or two parameters of one name.
    pub fn of(&mut self, params: &[ParamMut<'_>]) -> Result<Vec<&mut [T]>> {
        self.check(params)?;
        for param in params {
            if !self.by_name.contains_key(param.name) {
                let data = vec![T::default(); param.shape.iter().product()];
                let buffer = Buffer { shape: param.shape.to_vec(), data };
                self.by_name.insert(param.name.to_owned(), buffer);
            }
        }
        let mut all: HashMap<&str, &mut [T]> = self
            .by_name
            .iter_mut()
            .map(|(name, buffer)| (name.as_str(), buffer.data.as_mut_slice()))
            .collect();
        params
            .iter()
            .map(|param| {
                all.remove(param.name).ok_or_else(|| {
                    Error::input(format!("two parameters are called {}", param.name))
                })
            })
            .collect()
    }

    /// Copies the buffers into `state`.
    pub fn save(&self, state: &mut StateDict) {
        for (name, Buffer { shape, data }) in &self.by_name {
            let data = data.iter().map(|value| value.recall()).collect();
            state.tensors.insert(self.key(name), StateTensor { shape: shape.clone(), data });
        }
    }

    /// Takes the buffers of this kind from `state`, in place of those at hand.
    pub fn load(&mut self, state: &StateDict) {
        let ending = format!(".{}", self.kind);
        self.by_name = state
            .tensors
            .iter()
            .filter_map(|(key, StateTensor { shape, data })| {
                let name = key.strip_prefix("optim.")?.strip_suffix(&ending)?;
                let data = data.iter().map(|value| T::keep(*value)).collect();
                Some((name.to_owned(), Buffer { shape: shape.clone(), data }))
            })
            .collect();
    }
}
