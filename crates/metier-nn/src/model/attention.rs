//! Heads, rotary positions, and the keys and values that generation keeps.

use crate::kernels;
use burn::tensor::{Device, Tensor, TensorData};

/// The keys and values of the positions that a model has seen, per block.
#[derive(Clone, Debug, Default)]
pub struct KeyValueCache {
    blocks: Vec<Option<(Tensor<4>, Tensor<4>)>>,
}

impl KeyValueCache {
    /// A cache of a model that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of positions seen.
    pub fn len(&self) -> usize {
        match self.blocks.first() {
            Some(Some((keys, _))) => keys.dims()[2],
            _ => 0,
        }
    }

    /// Whether nothing has been seen yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the keys and values of new positions to those of `block` and returns all of them.
    fn extend(
        &mut self,
        block: usize,
        keys: Tensor<4>,
        values: Tensor<4>,
    ) -> (Tensor<4>, Tensor<4>) {
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, None);
        }
        let (keys, values) = match self.blocks[block].take() {
            Some((k, v)) => (Tensor::cat(vec![k, keys], 2), Tensor::cat(vec![v, values], 2)),
            None => (keys, values),
        };
        self.blocks[block] = Some((keys.clone(), values.clone()));
        (keys, values)
    }
}

/// `[batch, length, heads · width]` to `[batch, heads, length, width]`.
pub(super) fn split_heads(x: Tensor<3>, heads: usize) -> Tensor<4> {
    let [batch, length, width] = x.dims();
    x.reshape([batch, length, heads, width / heads]).swap_dims(1, 2)
}

/// Causal attention of `[batch, heads, length, width]` queries over the keys and values of this
/// call and of the cache, back in the form `[batch, length, heads · width]`.
pub(super) fn attend(
    queries: Tensor<4>,
    keys: Tensor<4>,
    values: Tensor<4>,
    block: usize,
    cache: Option<&mut KeyValueCache>,
) -> Tensor<3> {
    let [batch, heads, length, width] = queries.dims();
    let (keys, values) = match cache {
        Some(cache) => cache.extend(block, keys, values),
        None => (keys, values),
    };
    let out = kernels::causal_attention(queries, keys, values);
    out.swap_dims(1, 2).reshape([batch, length, heads * width])
}

/// The cosines and sines of rotary positions, `[1, 1, length, width]` each.
pub(super) struct Rotary {
    cosines: Tensor<4>,
    sines: Tensor<4>,
}

impl Rotary {
    pub(super) fn new(
        first: usize,
        length: usize,
        width: usize,
        base: f64,
        device: &Device,
    ) -> Self {
        let half = width / 2;
        let table = |f: fn(f64) -> f64| {
            let values: Vec<f32> = (first..first + length)
                .flat_map(|position| {
                    (0..width).map(move |i| {
                        let frequency = base.powf(-2.0 * (i % half) as f64 / width as f64);
                        f(position as f64 * frequency) as f32
                    })
                })
                .collect();
            Tensor::from_data(TensorData::new(values, [1, 1, length, width]), device)
        };
        Self { cosines: table(f64::cos), sines: table(f64::sin) }
    }

    /// Turns each pair `(x_i, x_{i + width/2})` by its angle.
    pub(super) fn apply(&self, x: Tensor<4>) -> Tensor<4> {
        let half = x.dims()[3] / 2;
        let first = x.clone().narrow(3, 0, half);
        let second = x.clone().narrow(3, half, half);
        let turned = Tensor::cat(vec![-second, first], 3);
        x * self.cosines.clone() + turned * self.sines.clone()
    }
}

/// Repeats each key or value head for the query heads that share it.
pub(super) fn repeat_heads(x: Tensor<4>, times: usize) -> Tensor<4> {
    if times == 1 {
        return x;
    }
    let [batch, heads, length, width] = x.dims();
    x.reshape([batch, heads, 1, length, width])
        .expand([batch, heads, times, length, width])
        .reshape([batch, heads * times, length, width])
}
