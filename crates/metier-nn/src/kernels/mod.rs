//! The operations of a decoder that are worth fusing.
//!
//! Each is defined by its composition of elementary tensor operations ([`composed`]), which runs on
//! every device and which the fused form is tested against. On the processor the fused form takes its
//! place: one pass over memory instead of five or six, with a gradient written by hand. Work is cut
//! into pieces whose number does not depend on the number of threads, and pieces are added up in a
//! fixed order, so that results do not depend on it either.

mod attention;
pub mod composed;
mod cross_entropy;
mod fused;
mod gelu;
mod linear;
mod norm;
mod product;
mod rotary;
mod swiglu;
#[cfg(test)]
mod tests;

use burn::tensor::{Int, Tensor};

/// [`composed::layer_norm`], fused where the device allows.
///
/// # Panics
/// When the gain or the bias is not as long as a row.
pub fn layer_norm(
    x: Tensor<3>,
    weight: Tensor<1>,
    bias: Option<Tensor<1>>,
    epsilon: f64,
) -> Tensor<3> {
    match norm::layer_norm(&x, &weight, bias.as_ref(), epsilon) {
        Some(out) => out,
        None => composed::layer_norm(x, weight, bias, epsilon),
    }
}

/// [`composed::rms_norm`], fused where the device allows.
///
/// # Panics
/// When the gain is not as long as a row.
pub fn rms_norm(x: Tensor<3>, weight: Tensor<1>, epsilon: f64) -> Tensor<3> {
    match norm::rms_norm(&x, &weight, epsilon) {
        Some(out) => out,
        None => composed::rms_norm(x, weight, epsilon),
    }
}

/// [`composed::packed_attention`], fused where the device allows.
///
/// # Panics
/// When the last side is not three times a multiple of `heads`.
pub fn packed_attention(packed: Tensor<3>, heads: usize) -> Tensor<3> {
    match attention::packed(&packed, heads) {
        Some(out) => out,
        None => composed::packed_attention(packed, heads),
    }
}

/// [`composed::rotary_attention`], fused where the device allows.
///
/// # Panics
/// When the shapes do not fit each other, the heads, or the table.
pub fn rotary_attention(
    parts: [Tensor<3>; 3],
    heads: [usize; 2],
    table: &RotaryTable,
) -> Tensor<3> {
    match rotary::attention(parts.each_ref(), heads, table) {
        Some(out) => out,
        None => composed::rotary_attention(parts, heads, table),
    }
}

/// [`composed::swiglu`], fused where the device allows.
///
/// # Panics
/// When the shapes differ.
pub fn swiglu(gate: Tensor<3>, up: Tensor<3>) -> Tensor<3> {
    match swiglu::swiglu(&gate, &up) {
        Some(out) => out,
        None => composed::swiglu(gate, up),
    }
}

/// [`composed::gelu`], fused where the device allows.
pub fn gelu(x: Tensor<3>) -> Tensor<3> {
    match gelu::gelu(&x) {
        Some(out) => out,
        None => composed::gelu(x),
    }
}

/// [`composed::cross_entropy`], fused where the device allows.
///
/// # Panics
/// When the shapes do not fit, or a target is no column of the scores.
pub fn cross_entropy(scores: Tensor<3>, targets: Tensor<2, Int>) -> Tensor<1> {
    match cross_entropy::cross_entropy(&scores, &targets) {
        Some(out) => out,
        None => composed::cross_entropy(scores, targets),
    }
}

/// How a weight matrix lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightLayout {
    /// `[in, out]`, as GPT-2 checkpoints have it.
    InOut,
    /// `[out, in]`, as most others do.
    OutIn,
}

/// [`composed::linear`], fused where the device allows and there are rows enough to fill a product.
///
/// # Panics
/// When the inner sides differ.
pub fn linear(
    x: Tensor<3>,
    weight: Tensor<2>,
    layout: WeightLayout,
    bias: Option<Tensor<1>>,
) -> Tensor<3> {
    match linear::linear(&x, &weight, layout, bias.as_ref()) {
        Some(out) => out,
        None => composed::linear(x, weight, layout, bias),
    }
}

pub use composed::{causal_attention, repeat_heads, rotate, split_heads};
pub use product::product;
pub use rotary::RotaryTable;
