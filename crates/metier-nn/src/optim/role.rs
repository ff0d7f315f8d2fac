//! What a parameter does in a model, told from its name and shape.

use metier_core::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a parameter does in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A hidden weight: attention and feed-forward projections, convolutions, stacked experts.
    Matrix,
    /// A mixture's router, which is small and decides where tokens go.
    Router,
    /// Token or position embeddings, tied to the head or not.
    Embedding,
    /// The output projection onto the vocabulary or the classes.
    Head,
    /// The gain of a normalization.
    Norm,
    /// A bias.
    Bias,
    /// Any other vector or scalar.
    Vector,
}

impl Role {
    /// The role of the parameter called `name`, by the names that Hugging Face checkpoints of the
    /// GPT-2, Llama, Mixtral and Qwen families use. Whole parts of a name count, never pieces of a
    /// word: `self_attention.output.dense.weight` is a hidden weight, not a head.
    ///
    /// ```
    /// use metier_nn::optim::Role;
    /// assert_eq!(Role::of("model.layers.0.mlp.up_proj.weight", &[128, 64]), Role::Matrix);
    /// assert_eq!(Role::of("model.layers.0.block_sparse_moe.gate.weight", &[8, 64]), Role::Router);
    /// assert_eq!(Role::of("transformer.wte.weight", &[256, 64]), Role::Embedding);
    /// ```
    pub fn of(name: &str, shape: &[usize]) -> Self {
        let parts: Vec<&str> = name.split('.').collect();
        let (last, path) = parts.split_last().unwrap_or((&"", &[]));
        if *last == "bias" || last.ends_with("_bias") {
            return Role::Bias;
        }
        let (module, depth) = match (*last, path.split_last()) {
            ("weight" | "kernel", Some((module, above))) => (*module, above.len()),
            _ => (*last, path.len()),
        };
        if is_norm(module) {
            return Role::Norm;
        }
        if shape.len() < 2 {
            return Role::Vector;
        }
        match module {
            "embed_out" => Role::Head,
            "wte" | "wpe" | "shared" | "cls_token" => Role::Embedding,
            _ if parts.iter().any(|part| is_embedding(part)) => Role::Embedding,
            _ if path.contains(&"final_layer") => Role::Head,
            "lm_head" | "score" | "classifier" => Role::Head,
            // Llama's own files call the head `output`; deeper down the word means other things.
            "output" if depth <= 1 => Role::Head,
            "gate" | "router" | "shared_expert_gate" => Role::Router,
            // A router that is a module of its own, as in `router.layer.weight`.
            _ if path.contains(&"router") => Role::Router,
            _ => Role::Matrix,
        }
    }
}

// `embed_tokens`, `pos_embed`, `token_embd`, `word_embeddings`; a patch's projection lies below one.
fn is_embedding(part: &str) -> bool {
    part.split('_')
        .any(|word| matches!(word, "embed" | "embd" | "emb" | "embedding" | "embeddings"))
}

fn is_norm(module: &str) -> bool {
    matches!(module, "ln" | "ln_f" | "norm" | "layernorm" | "rmsnorm")
        || module.strip_prefix("ln_").is_some_and(|rest| rest.parse::<u32>().is_ok())
        || module.strip_prefix("norm").is_some_and(|rest| rest.parse::<u32>().is_ok())
        || module.ends_with("_norm")
        || module.ends_with("layernorm")
        || module.ends_with("layer_norm")
        || module.ends_with("LayerNorm")
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Role::Matrix => "matrix",
            Role::Router => "router",
            Role::Embedding => "embedding",
            Role::Head => "head",
            Role::Norm => "norm",
            Role::Bias => "bias",
            Role::Vector => "vector",
        })
    }
}

/// A tensor seen as a stack of matrices of one shape, as the matrix optimizers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixView {
    /// How many matrices lie one after the other.
    pub count: usize,
    /// Rows of each.
    pub rows: usize,
    /// Columns of each.
    pub columns: usize,
}

impl MatrixView {
    /// The view of a tensor: a matrix is itself, stacked experts `[E, d1, d2]` are E matrices, and a
    /// convolution `[out, in, kh, kw]` is one matrix `[out, in·kh·kw]`. One of three dimensions is told
    /// from a stack by a part of its name that begins with `conv`.
    ///
    /// # Errors
    /// A tensor of fewer than two dimensions, naming it and its shape.
    pub fn of(name: &str, shape: &[usize]) -> Result<Self> {
        match *shape {
            [rows, columns] => Ok(Self { count: 1, rows, columns }),
            [rows, inputs, width] if name.split('.').any(|part| part.starts_with("conv")) => {
                Ok(Self { count: 1, rows, columns: inputs * width })
            }
            [count, rows, columns] => Ok(Self { count, rows, columns }),
            [rows, ref rest @ ..] if rest.len() > 2 => {
                Ok(Self { count: 1, rows, columns: rest.iter().product() })
            }
            _ => Err(Error::usage(format!(
                "{name} has shape {shape:?} and cannot go to a matrix optimizer"
            ))
            .help("vectors and scalars go to the optimizer that `--aux` names")),
        }
    }
}
