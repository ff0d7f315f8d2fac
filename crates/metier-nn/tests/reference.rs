//! Checkpoints of both layouts in f32 against the reference implementation.
//!
//! The fixtures are made by `fixtures/make_reference.py`, which holds how.

use burn::tensor::Tensor;
use metier_nn::device::cpu;
use metier_nn::model::{Decoder, read_tensors};
use std::path::{Path, PathBuf};

const ALL: [&str; 2] = ["gpt2", "llama"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The ids of a fixture, row by row, and the reference's logits.
fn reference(name: &str) -> (Vec<Vec<u32>>, Vec<f32>) {
    let tensors = read_tensors(&fixture(name).join("reference.safetensors")).unwrap();
    let tensor = |name: &str| tensors.iter().find(|tensor| tensor.name == name).unwrap().clone();
    let ids = tensor("ids");
    let rows = ids.data.chunks(ids.shape[1]).map(|row| row.iter().map(|&id| id as u32).collect());
    (rows.collect(), tensor("logits").data)
}

fn logits(decoder: &Decoder, ids: &[Vec<u32>]) -> Vec<f32> {
    let rows: Vec<&[u32]> = ids.iter().map(Vec::as_slice).collect();
    values(decoder.forward(decoder.tokens(&rows).unwrap(), None))
}

fn values(tensor: Tensor<3>) -> Vec<f32> {
    tensor.into_data().try_into_vec().unwrap()
}

fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn logits_are_those_of_the_reference_implementation() {
    for name in ALL {
        let decoder = Decoder::read(&fixture(name), &cpu()).unwrap();
        let (ids, right) = reference(name);
        let difference = largest_difference(&logits(&decoder, &ids), &right);
        assert!(difference <= 1e-4, "{name}: {difference}");
    }
}

#[test]
fn logits_are_the_same_on_a_device_that_records_gradients() {
    for name in ALL {
        let decoder = Decoder::read(&fixture(name), &cpu().autodiff()).unwrap();
        let (ids, right) = reference(name);
        let difference = largest_difference(&logits(&decoder, &ids), &right);
        assert!(difference <= 1e-4, "{name}: {difference}");
    }
}
