//! Every fused operation against its composition, forward and backward.

use super::*;
use crate::device;
use crate::model::to_host_values as host;
use burn::tensor::{Tensor, TensorData};
use metier_core::rng;
use rand::RngExt;

fn random<const D: usize>(name: &str, shape: [usize; D]) -> Tensor<D> {
    let mut rng = rng::stream(3, name);
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|_| 4.0 * rng.random::<f32>() - 2.0).collect();
    Tensor::from_data(TensorData::new(values, shape), &device::cpu().autodiff()).require_grad()
}

fn assert_close(name: &str, ours: Vec<f32>, right: Vec<f32>) {
    assert_eq!(ours.len(), right.len(), "{name}");
    let size = right.iter().fold(1e-3f32, |most, value| most.max(value.abs()));
    for (i, (a, b)) in ours.iter().zip(&right).enumerate() {
        assert!((a - b).abs() <= 2e-5 * size, "{name}[{i}]: {a} for {b}");
    }
}

/// Compares outputs and the gradients of every input under a random weighting of the outputs.
macro_rules! agree {
    ($name:expr, ($($input:ident : $shape:expr),+), $fused:expr, $composed:expr) => {{
        $(let $input = random(stringify!($input), $shape);)+
        let (ours, right) = ($fused, $composed);
        assert_close($name, host(ours.clone()), host(right.clone()));
        let weights = random("weights", ours.dims()).detach();
        let mut ours = (ours * weights.clone()).sum().backward();
        let mut right = (right * weights).sum().backward();
        $(
            let a = $input.grad_remove(&mut ours).expect("a gradient");
            let b = $input.grad_remove(&mut right).expect("a gradient");
            assert_close(concat!("gradient of ", stringify!($input)), host(a), host(b));
        )+
    }};
}

#[test]
fn norms_agree() {
    agree!("layer norm", (x: [3, 70, 37], w: [37], b: [37]),
        layer_norm(x.clone(), w.clone(), Some(b.clone()), 1e-5),
        composed::layer_norm(x.clone(), w.clone(), Some(b.clone()), 1e-5));
    agree!("layer norm without bias", (x: [2, 5, 16], w: [16]),
        layer_norm(x.clone(), w.clone(), None, 1e-5),
        composed::layer_norm(x.clone(), w.clone(), None, 1e-5));
    agree!("rms norm", (x: [2, 5, 19], w: [19]),
        rms_norm(x.clone(), w.clone(), 1e-6),
        composed::rms_norm(x.clone(), w.clone(), 1e-6));
}

#[test]
fn attention_agrees_within_and_across_blocks() {
    for length in [1, 7, 64, 65, 150] {
        agree!("attention", (x: [2, length, 3 * 24]),
            packed_attention(x.clone(), 3), composed::packed_attention(x.clone(), 3));
    }
}

#[test]
fn linear_agrees_with_rows_in_one_piece_and_in_several() {
    for (batch, length) in [(1, 128), (3, 50), (2, 300)] {
        for (layout, shape) in [(WeightLayout::InOut, [19, 140]), (WeightLayout::OutIn, [140, 19])]
        {
            agree!("linear", (x: [batch, length, 19], w: shape),
                linear(x.clone(), w.clone(), layout, None),
                composed::linear(x.clone(), w.clone(), layout, None));
            agree!("linear with bias", (x: [batch, length, 19], w: shape, b: [140]),
                linear(x.clone(), w.clone(), layout, Some(b.clone())),
                composed::linear(x.clone(), w.clone(), layout, Some(b.clone())));
        }
    }
}

#[test]
fn rotary_attention_agrees_with_heads_shared_and_not() {
    let table = RotaryTable::new(3, 70, 6, 1e4);
    for shared in [1, 2, 4] {
        let narrow = [2, 70, 6 * shared];
        agree!("rotary attention", (q: [2, 70, 24], k: narrow, v: narrow),
            rotary_attention([q.clone(), k.clone(), v.clone()], [4, shared], &table),
            composed::rotary_attention([q.clone(), k.clone(), v.clone()], [4, shared], &table));
    }
}

#[test]
fn swiglu_agrees() {
    agree!("swiglu", (gate: [2, 9, 33], up: [2, 9, 33]),
        swiglu(gate.clone(), up.clone()), composed::swiglu(gate.clone(), up.clone()));
}

#[test]
fn gelu_agrees() {
    agree!("gelu", (x: [2, 9, 33]), gelu(x.clone()), composed::gelu(x.clone()));
}

#[test]
fn cross_entropy_agrees() {
    let ids: Vec<i32> = (0..22).map(|i| (7 * i) % 51).collect();
    let device = device::cpu().autodiff();
    let targets = || Tensor::from_data(TensorData::new(ids.clone(), [2, 11]), &device);
    agree!("cross entropy", (x: [2, 11, 51]),
        cross_entropy(x.clone(), targets()), composed::cross_entropy(x.clone(), targets()));
}

#[test]
fn nothing_is_traced_without_autodiff() {
    let x = random("x", [1, 4, 8]).inner();
    let w = random("w", [8]).inner();
    let ours = layer_norm(x.clone(), w.clone(), None, 1e-5);
    assert!(!ours.is_autodiff());
    assert_close("inner", host(ours), host(composed::layer_norm(x, w, None, 1e-5)));
}
