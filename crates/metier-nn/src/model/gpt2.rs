//! The GPT-2 layout.

use super::attention::{KeyValueCache, attend};
use super::config::DecoderConfig;
use super::layers::{Conv1d, Embedding, LayerNorm, Linear};
use crate::kernels;
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};

/// A decoder in the GPT-2 layout.
#[derive(Module, Debug)]
pub struct Gpt2 {
    /// Everything but the output map.
    pub transformer: Transformer,
    /// The output map, unless it is the embedding.
    pub lm_head: Option<Linear>,
}

/// Embeddings, blocks and the last norm.
#[derive(Module, Debug)]
pub struct Transformer {
    /// Tokens.
    pub wte: Embedding,
    /// Positions.
    pub wpe: Embedding,
    /// The blocks.
    pub h: Vec<Block>,
    /// The norm before the output map.
    pub ln_f: LayerNorm,
}

/// Attention and feed-forward, each behind a norm and beside a residual path.
#[derive(Module, Debug)]
pub struct Block {
    /// The norm before attention.
    pub ln_1: LayerNorm,
    /// Attention.
    pub attn: Attention,
    /// The norm before the feed-forward map.
    pub ln_2: LayerNorm,
    /// The feed-forward map.
    pub mlp: Mlp,
}

/// Causal attention with one matrix for queries, keys and values.
#[derive(Module, Debug)]
pub struct Attention {
    /// Queries, keys and values side by side.
    pub c_attn: Conv1d,
    /// The map back to the residual stream.
    pub c_proj: Conv1d,
    #[module(skip)]
    heads: usize,
}

/// The feed-forward map.
#[derive(Module, Debug)]
pub struct Mlp {
    /// The map to the wide side.
    pub c_fc: Conv1d,
    /// The map back.
    pub c_proj: Conv1d,
}

impl Gpt2 {
    pub(super) fn new(c: &DecoderConfig, device: &Device) -> Self {
        let norm = || LayerNorm::new(c.hidden, c.bias, c.norm_epsilon, device);
        let map = |input, output| Conv1d::new(input, output, c.bias, device);
        let block = |_| Block {
            ln_1: norm(),
            attn: Attention {
                c_attn: map(c.hidden, 3 * c.hidden),
                c_proj: map(c.hidden, c.hidden),
                heads: c.heads,
            },
            ln_2: norm(),
            mlp: Mlp { c_fc: map(c.hidden, c.intermediate), c_proj: map(c.intermediate, c.hidden) },
        };
        Self {
            transformer: Transformer {
                wte: Embedding::new(c.vocabulary, c.hidden, device),
                wpe: Embedding::new(c.context, c.hidden, device),
                h: (0..c.layers).map(block).collect(),
                ln_f: norm(),
            },
            lm_head: (!c.tied).then(|| Linear::new(c.hidden, c.vocabulary, device)),
        }
    }

    pub(super) fn forward(
        &self,
        tokens: Tensor<2, Int>,
        mut cache: Option<&mut KeyValueCache>,
    ) -> Tensor<3> {
        let [_, length] = tokens.dims();
        let first = cache.as_ref().map_or(0, |cache| cache.len()) as i64;
        let positions = Tensor::arange(first..first + length as i64, &tokens.device());
        let t = &self.transformer;
        let mut x = t.wte.forward(tokens) + t.wpe.forward(positions.unsqueeze());
        for (i, block) in t.h.iter().enumerate() {
            x = x.clone() + block.attn.forward(block.ln_1.forward(x), i, cache.as_deref_mut());
            x = x.clone() + block.mlp.forward(block.ln_2.forward(x));
        }
        let x = t.ln_f.forward(x);
        match &self.lm_head {
            Some(head) => head.forward(x),
            None => t.wte.scores(x),
        }
    }
}

impl Attention {
    fn forward(&self, x: Tensor<3>, block: usize, cache: Option<&mut KeyValueCache>) -> Tensor<3> {
        let width = x.dims()[2];
        let all = self.c_attn.forward(x);
        let out = match cache {
            None => kernels::packed_attention(all, self.heads),
            Some(cache) => {
                let part =
                    |i| kernels::split_heads(all.clone().narrow(2, i * width, width), self.heads);
                attend(part(0), part(1), part(2), block, cache)
            }
        };
        self.c_proj.forward(out)
    }
}

impl Mlp {
    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        self.c_proj.forward(kernels::gelu(self.c_fc.forward(x)))
    }
}
