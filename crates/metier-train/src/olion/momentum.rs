//! The one buffer that a matrix optimizer keeps for each parameter.

use half::bf16;
use metier_core::Result;
use metier_nn::optim::{Buffers, Kept, ParamMut, StateDict};
use serde::{Deserialize, Serialize};

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
pub(super) enum Momenta {
    F32(Buffers<f32>),
    Bf16(Buffers<bf16>),
}

/// The momentum of one matrix.
#[derive(Debug)]
pub(super) enum Momentum<'a> {
    F32(&'a mut [f32]),
    Bf16(&'a mut [bf16]),
}

impl Momenta {
    pub(super) fn new(state_type: StateType) -> Self {
        match state_type {
            StateType::F32 => Self::F32(Buffers::new("momentum")),
            StateType::Bf16 => Self::Bf16(Buffers::new("momentum")),
        }
    }

    pub(super) fn check(&self, params: &[ParamMut<'_>]) -> Result<()> {
        match self {
            Self::F32(buffers) => buffers.check(params),
            Self::Bf16(buffers) => buffers.check(params),
        }
    }

    pub(super) fn of(&mut self, params: &[ParamMut<'_>]) -> Result<Vec<Momentum<'_>>> {
        Ok(match self {
            Self::F32(buffers) => buffers.of(params)?.into_iter().map(Momentum::F32).collect(),
            Self::Bf16(buffers) => buffers.of(params)?.into_iter().map(Momentum::Bf16).collect(),
        })
    }

    pub(super) fn save(&self, state: &mut StateDict) {
        match self {
            Self::F32(buffers) => buffers.save(state),
            Self::Bf16(buffers) => buffers.save(state),
        }
    }

    pub(super) fn load(&mut self, state: &StateDict) {
        match self {
            Self::F32(buffers) => buffers.load(state),
            Self::Bf16(buffers) => buffers.load(state),
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
            Self::F32(values) => blend(values, g, beta1, beta2, mix),
            Self::Bf16(values) => blend(values, g, beta1, beta2, mix),
        }
    }
}

fn blend<T: Kept>(values: &mut [T], g: &[f32], beta1: f32, beta2: f32, mix: &mut [f32]) {
    for ((kept, g), mix) in values.iter_mut().zip(g).zip(mix) {
        let m = beta2 * kept.recall() + (1.0 - beta2) * g;
        *mix = beta1 * m + (1.0 - beta1) * g;
        *kept = T::keep(m);
    }
}
