//! The one buffer that a matrix optimizer keeps for each parameter.

use half::bf16;
use metier_core::{Error, Result};
use metier_nn::optim::{ParamMut, StateDict, StateTensor};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// How the momentum is kept between steps. It is computed in f32 either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StateType {
    /// Four bytes a value.
    #[default]
    F32,
    /// Two bytes a value, rounded to the nearest.
    Bf16,
}

/// Momentum buffers by parameter; zeros until first used.
#[derive(Clone, Debug)]
pub(super) struct Momenta {
    state_type: StateType,
    by_name: BTreeMap<String, Buffer>,
}

#[derive(Clone, Debug)]
struct Buffer {
    shape: Vec<usize>,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    F32(Vec<f32>),
    Bf16(Vec<bf16>),
}

/// The momentum of one matrix.
#[derive(Debug)]
pub(super) enum Momentum<'a> {
    F32(&'a mut [f32]),
    Bf16(&'a mut [bf16]),
}

impl Momenta {
    pub(super) fn new(state_type: StateType) -> Self {
        Self { state_type, by_name: BTreeMap::new() }
    }

    /// Checks that the buffers that exist have the shapes of these parameters.
    pub(super) fn check(&self, params: &[ParamMut<'_>]) -> Result<()> {
        for param in params {
            if let Some(buffer) = self.by_name.get(param.name)
                && buffer.shape != param.shape
            {
                return Err(Error::input(format!(
                    "{} has shape {:?}, and the parameter {} has {:?}",
                    key(param.name),
                    buffer.shape,
                    param.name,
                    param.shape
                ))
                .help("`--reset-optimizer` goes on with a fresh state"));
            }
        }
        Ok(())
    }

    /// The buffers of these parameters, in their order.
    pub(super) fn of(&mut self, params: &[ParamMut<'_>]) -> Result<Vec<Momentum<'_>>> {
        for param in params {
            if !self.by_name.contains_key(param.name) {
                let zeros = vec![0.0; param.shape.iter().product()];
                let buffer = Buffer::new(param.shape, &zeros, self.state_type);
                self.by_name.insert(param.name.to_owned(), buffer);
            }
        }
        let mut all: HashMap<&str, Momentum<'_>> =
            self.by_name.iter_mut().map(|(name, buffer)| (name.as_str(), buffer.view())).collect();
        params
            .iter()
            .map(|param| {
                all.remove(param.name).ok_or_else(|| {
                    Error::input(format!("two parameters are called {}", param.name))
                })
            })
            .collect()
    }

    pub(super) fn save(&self, state: &mut StateDict) {
        for (name, buffer) in &self.by_name {
            let data = match &buffer.values {
                Values::F32(values) => values.clone(),
                Values::Bf16(values) => values.iter().map(|value| value.to_f32()).collect(),
            };
            state.tensors.insert(key(name), StateTensor { shape: buffer.shape.clone(), data });
        }
    }

    pub(super) fn load(&mut self, state: &StateDict) {
        self.by_name = state
            .tensors
            .iter()
            .filter_map(|(key, tensor)| {
                let name = key.strip_prefix("optim.")?.strip_suffix(".momentum")?;
                let buffer = Buffer::new(&tensor.shape, &tensor.data, self.state_type);
                Some((name.to_owned(), buffer))
            })
            .collect();
    }
}

fn key(name: &str) -> String {
    format!("optim.{name}.momentum")
}

impl Buffer {
    fn new(shape: &[usize], values: &[f32], state_type: StateType) -> Self {
        let values = match state_type {
            StateType::F32 => Values::F32(values.to_vec()),
            StateType::Bf16 => Values::Bf16(values.iter().map(|v| bf16::from_f32(*v)).collect()),
        };
        Self { shape: shape.to_vec(), values }
    }

    fn view(&mut self) -> Momentum<'_> {
        match &mut self.values {
            Values::F32(values) => Momentum::F32(values),
            Values::Bf16(values) => Momentum::Bf16(values),
        }
    }
}

impl<'a> Momentum<'a> {
    /// Cuts off the first `len` values.
    pub(super) fn split_at(self, len: usize) -> (Self, Self) {
        match self {
            Self::F32(values) => {
                let (head, tail) = values.split_at_mut(len);
                (Self::F32(head), Self::F32(tail))
            }
            Self::Bf16(values) => {
                let (head, tail) = values.split_at_mut(len);
                (Self::Bf16(head), Self::Bf16(tail))
            }
        }
    }

    /// `m ← β2·m + (1-β2)·g`, then `mix ← β1·m + (1-β1)·g`.
    pub(super) fn blend(&mut self, g: &[f32], beta1: f32, beta2: f32, mix: &mut [f32]) {
        match self {
            Self::F32(values) => {
                for ((m, g), mix) in values.iter_mut().zip(g).zip(mix) {
                    *m = beta2 * *m + (1.0 - beta2) * g;
                    *mix = beta1 * *m + (1.0 - beta1) * g;
                }
            }
            Self::Bf16(values) => {
                for ((kept, g), mix) in values.iter_mut().zip(g).zip(mix) {
                    let m = beta2 * kept.to_f32() + (1.0 - beta2) * g;
                    *mix = beta1 * m + (1.0 - beta1) * g;
                    *kept = bf16::from_f32(m);
                }
            }
        }
    }
}
