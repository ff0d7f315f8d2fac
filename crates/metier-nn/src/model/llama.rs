//! The Llama layout.

use super::attention::{KeyValueCache, attend};
use super::config::DecoderConfig;
use super::layers::{Embedding, Linear, RmsNorm};
use crate::kernels::{self, RotaryTable};
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};

/// A decoder in the Llama layout.
#[derive(Module, Debug)]
pub struct Llama {
    /// Everything but the output map.
    pub model: Model,
    /// The output map, unless it is the embedding.
    pub lm_head: Option<Linear>,
}

/// Embedding, blocks and the last norm.
#[derive(Module, Debug)]
pub struct Model {
    /// Tokens.
    pub embed_tokens: Embedding,
    /// The blocks.
    pub layers: Vec<Block>,
    /// The norm before the output map.
    pub norm: RmsNorm,
    #[module(skip)]
    head_width: usize,
    #[module(skip)]
    rope_base: f64,
}

/// Attention and feed-forward, each behind a norm and beside a residual path.
#[derive(Module, Debug)]
pub struct Block {
    /// The norm before attention.
    pub input_layernorm: RmsNorm,
    /// Attention.
    pub self_attn: Attention,
    /// The norm before the feed-forward map.
    pub post_attention_layernorm: RmsNorm,
    /// The feed-forward map.
    pub mlp: Mlp,
}

/// Grouped-query attention with rotary positions.
#[derive(Module, Debug)]
pub struct Attention {
    /// Queries.
    pub q_proj: Linear,
    /// Keys.
    pub k_proj: Linear,
    /// Values.
    pub v_proj: Linear,
    /// The map back to the residual stream.
    pub o_proj: Linear,
    #[module(skip)]
    heads: usize,
    #[module(skip)]
    key_value_heads: usize,
}

/// The feed-forward map, gated by SiLU.
#[derive(Module, Debug)]
pub struct Mlp {
    /// The gate.
    pub gate_proj: Linear,
    /// The map to the wide side.
    pub up_proj: Linear,
    /// The map back.
    pub down_proj: Linear,
}

impl Llama {
    pub(super) fn new(c: &DecoderConfig, device: &Device) -> Self {
        let norm = || RmsNorm::new(c.hidden, c.norm_epsilon, device);
        let map = |input, output| Linear::new(input, output, device);
        let queries = c.heads * c.head_width;
        let keys = c.key_value_heads * c.head_width;
        let block = |_| Block {
            input_layernorm: norm(),
            self_attn: Attention {
                q_proj: map(c.hidden, queries),
                k_proj: map(c.hidden, keys),
                v_proj: map(c.hidden, keys),
                o_proj: map(queries, c.hidden),
                heads: c.heads,
                key_value_heads: c.key_value_heads,
            },
            post_attention_layernorm: norm(),
            mlp: Mlp {
                gate_proj: map(c.hidden, c.intermediate),
                up_proj: map(c.hidden, c.intermediate),
                down_proj: map(c.intermediate, c.hidden),
            },
        };
        Self {
            model: Model {
                embed_tokens: Embedding::new(c.vocabulary, c.hidden, device),
                layers: (0..c.layers).map(block).collect(),
                norm: norm(),
                head_width: c.head_width,
                rope_base: c.rope_base,
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
        let first = cache.as_ref().map_or(0, |cache| cache.len());
        let m = &self.model;
        let rotary = RotaryTable::new(first, length, m.head_width, m.rope_base);
        let mut x = m.embed_tokens.forward(tokens);
        for (i, block) in m.layers.iter().enumerate() {
            let normed = block.input_layernorm.forward(x.clone());
            x = x + block.self_attn.forward(normed, &rotary, i, cache.as_deref_mut());
            x = x.clone() + block.mlp.forward(block.post_attention_layernorm.forward(x));
        }
        let x = m.norm.forward(x);
        match &self.lm_head {
            Some(head) => head.forward(x),
            None => m.embed_tokens.scores(x),
        }
    }
}

impl Attention {
    fn forward(
        &self,
        x: Tensor<3>,
        rotary: &RotaryTable,
        block: usize,
        cache: Option<&mut KeyValueCache>,
    ) -> Tensor<3> {
        let (heads, shared) = (self.heads, self.key_value_heads);
        let queries = self.q_proj.forward(x.clone());
        let keys = self.k_proj.forward(x.clone());
        let values = self.v_proj.forward(x);
        let out = match cache {
            None => kernels::rotary_attention([queries, keys, values], [heads, shared], rotary),
            Some(cache) => {
                let queries = kernels::rotate(kernels::split_heads(queries, heads), rotary);
                let keys = kernels::rotate(kernels::split_heads(keys, shared), rotary);
                let repeat = |x| kernels::repeat_heads(x, heads / shared);
                let values = kernels::split_heads(values, shared);
                attend(queries, repeat(keys), repeat(values), block, cache)
            }
        };
        self.o_proj.forward(out)
    }
}

impl Mlp {
    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let gate = self.gate_proj.forward(x.clone());
        self.down_proj.forward(kernels::swiglu(gate, self.up_proj.forward(x)))
    }
}
