//! The usual initialization of decoders.

use super::DecoderConfig;
use metier_core::rng;
use rand_distr::{Distribution, Normal};

const DEVIATION: f64 = 0.02;

/// The first values of the parameter called `name`, which depend on nothing but the seed, the name
/// and the shape.
pub(super) fn draw(name: &str, shape: &[usize], config: &DecoderConfig, seed: u64) -> Vec<f32> {
    let count = shape.iter().product();
    if name.ends_with(".bias") {
        return vec![0.0; count];
    }
    if shape.len() == 1 {
        return vec![1.0; count];
    }
    let writes_residual = ["c_proj.weight", "o_proj.weight", "down_proj.weight"];
    let deviation = if writes_residual.iter().any(|end| name.ends_with(end)) {
        DEVIATION / (2.0 * config.layers as f64).sqrt()
    } else {
        DEVIATION
    };
    let mut rng = rng::stream(seed, name);
    match Normal::new(0.0, deviation) {
        Ok(normal) => (0..count).map(|_| normal.sample(&mut rng) as f32).collect(),
        Err(_) => unreachable!("the deviation is finite and positive"),
    }
}
