//! The keys and values that generation keeps.

use crate::kernels;
use burn::tensor::Tensor;

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

/// Causal attention of `[batch, heads, length, width]` queries over the keys and values of this
/// call and of the cache, back in the form `[batch, length, heads · width]`.
pub(super) fn attend(
    queries: Tensor<4>,
    keys: Tensor<4>,
    values: Tensor<4>,
    block: usize,
    cache: &mut KeyValueCache,
) -> Tensor<3> {
    let [batch, heads, length, width] = queries.dims();
    let (keys, values) = cache.extend(block, keys, values);
    let out = kernels::causal_attention(queries, keys, values);
    out.swap_dims(1, 2).reshape([batch, length, heads * width])
}
