//! The parts that both layouts are made of.

use super::parameters::placeholder;
use crate::kernels::{self, WeightLayout};
use burn::module::{Module, Param};
use burn::tensor::{Device, Int, Tensor, module};

/// A table of vectors, one per token or position.
#[derive(Module, Debug)]
pub struct Embedding {
    /// `[entries, width]`
    pub weight: Param<Tensor<2>>,
}

impl Embedding {
    pub(super) fn new(entries: usize, width: usize, device: &Device) -> Self {
        Self { weight: placeholder([entries, width], device) }
    }

    /// `[batch, length]` indices to `[batch, length, width]`.
    pub(super) fn forward(&self, indices: Tensor<2, Int>) -> Tensor<3> {
        module::embedding(self.weight.val(), indices)
    }

    /// The output map of a model whose embedding is tied: `[batch, length, entries]`.
    pub(super) fn scores(&self, hidden: Tensor<3>) -> Tensor<3> {
        kernels::linear(hidden, self.weight.val(), WeightLayout::OutIn, None)
    }
}

/// A linear map without bias, stored `[out, in]` as Llama checkpoints do.
#[derive(Module, Debug)]
pub struct Linear {
    /// `[out, in]`
    pub weight: Param<Tensor<2>>,
}

impl Linear {
    pub(super) fn new(input: usize, output: usize, device: &Device) -> Self {
        Self { weight: placeholder([output, input], device) }
    }

    pub(super) fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        kernels::linear(x, self.weight.val(), WeightLayout::OutIn, None)
    }
}

/// A linear map stored `[in, out]`, as GPT-2 checkpoints do under the name `Conv1D`.
#[derive(Module, Debug)]
pub struct Conv1d {
    /// `[in, out]`
    pub weight: Param<Tensor<2>>,
    /// `[out]`
    pub bias: Option<Param<Tensor<1>>>,
}

impl Conv1d {
    pub(super) fn new(input: usize, output: usize, bias: bool, device: &Device) -> Self {
        Self {
            weight: placeholder([input, output], device),
            bias: bias.then(|| placeholder([output], device)),
        }
    }

    pub(super) fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let bias = self.bias.as_ref().map(Param::val);
        kernels::linear(x, self.weight.val(), WeightLayout::InOut, bias)
    }
}

/// `(x - mean) / sqrt(variance + ε) · weight + bias` over the last dimension.
#[derive(Module, Debug)]
pub struct LayerNorm {
    /// `[width]`
    pub weight: Param<Tensor<1>>,
    /// `[width]`
    pub bias: Option<Param<Tensor<1>>>,
    #[module(skip)]
    epsilon: f64,
}

impl LayerNorm {
    pub(super) fn new(width: usize, bias: bool, epsilon: f64, device: &Device) -> Self {
        Self {
            weight: placeholder([width], device),
            bias: bias.then(|| placeholder([width], device)),
            epsilon,
        }
    }

    pub(super) fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let bias = self.bias.as_ref().map(Param::val);
        kernels::layer_norm(x, self.weight.val(), bias, self.epsilon)
    }
}

/// `x / sqrt(mean(x²) + ε) · weight` over the last dimension.
#[derive(Module, Debug)]
pub struct RmsNorm {
    /// `[width]`
    pub weight: Param<Tensor<1>>,
    #[module(skip)]
    epsilon: f64,
}

impl RmsNorm {
    pub(super) fn new(width: usize, epsilon: f64, device: &Device) -> Self {
        Self { weight: placeholder([width], device), epsilon }
    }

    pub(super) fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        kernels::rms_norm(x, self.weight.val(), self.epsilon)
    }
}
