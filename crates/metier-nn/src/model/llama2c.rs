//! Checkpoints of llama2.c (version 0, float32) as Hugging Face folders.
//!
//! The file holds seven 32-bit integers (width, feed-forward width, layers, heads, key-value heads,
//! vocabulary, context; a negative vocabulary announces an output matrix of its own), then each kind
//! of weight for all layers, then tables of cosines and sines that are computed here instead.

use super::parameters::HostParameter;
use super::{DecoderConfig, Layout, write_weights};
use crate::tokenizer::Llama2cVocabulary;
use metier_core::{Error, Result, files};
use std::path::Path;

const HEADER: usize = 28;

/// Writes the Hugging Face folder `folder` from a checkpoint and, where one is given, the
/// `tokenizer.bin` that belongs to it.
///
/// The checkpoint rotates neighbouring pairs `(2i, 2i + 1)` of a head, the folder's layout the pairs
/// `(i, i + width/2)`; the rows of the query and key maps change places accordingly.
///
/// # Errors
/// A file that cannot be read or whose size does not fit its header.
pub fn convert_llama2c(
    checkpoint: &Path,
    tokenizer: Option<&Path>,
    folder: &Path,
) -> Result<DecoderConfig> {
    let bytes = std::fs::read(checkpoint).map_err(|source| Error::io(checkpoint, source))?;
    let wrong = |message: String| Error::input(message).in_file(checkpoint);
    let config = header(&bytes).map_err(|error| error.in_file(checkpoint))?;
    let mut weights = Reader { rest: &bytes[HEADER..] };
    let tensors = weights.tensors(&config).ok_or_else(|| {
        wrong(format!("{} bytes are too few for the sizes in its header", bytes.len()))
    })?;
    if !weights.rest.is_empty() {
        return Err(wrong(format!(
            "{} bytes too many for the sizes in its header",
            weights.rest.len()
        )));
    }
    let vocabulary = match tokenizer {
        Some(path) => Some(Llama2cVocabulary::read(path, config.vocabulary)?),
        None => None,
    };
    config.write(&folder.join("config.json"))?;
    write_weights(folder, &tensors)?;
    if let Some(vocabulary) = vocabulary {
        files::write_bytes(&folder.join("tokenizer.json"), vocabulary.to_json().as_bytes())?;
    }
    Ok(config)
}

fn header(bytes: &[u8]) -> Result<DecoderConfig> {
    let Some(head) = bytes.get(..HEADER) else {
        return Err(Error::input("shorter than the header of a llama2.c checkpoint"));
    };
    let fields: Vec<i32> =
        head.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let [hidden, intermediate, layers, heads, key_value_heads, vocabulary, context] = fields[..]
    else {
        return Err(Error::internal("the header has seven fields"));
    };
    let all = [
        hidden,
        intermediate,
        layers,
        heads,
        key_value_heads,
        vocabulary.saturating_abs(),
        context,
    ];
    if all.iter().any(|field| !(1..=1 << 24).contains(field)) {
        return Err(Error::input(format!("{fields:?} is not the header of a llama2.c checkpoint"))
            .help("newer versions of the format start with the bytes `ak42`; export version 0"));
    }
    if hidden % heads != 0 {
        let message = format!("{heads} heads do not divide the width {hidden}");
        return Err(Error::input(message).in_field("n_heads"));
    }
    let config = DecoderConfig {
        layout: Layout::Llama,
        vocabulary: vocabulary.unsigned_abs() as usize,
        hidden: hidden as usize,
        intermediate: intermediate as usize,
        layers: layers as usize,
        heads: heads as usize,
        key_value_heads: key_value_heads as usize,
        head_width: (hidden / heads) as usize,
        context: context as usize,
        norm_epsilon: 1e-5,
        rope_base: 1e4,
        tied: vocabulary > 0,
        bias: false,
    };
    config.validate()?;
    Ok(config)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Option<Vec<f32>> {
        let (head, rest) = self.rest.split_at_checked(count.checked_mul(4)?)?;
        self.rest = rest;
        Some(head.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }

    /// One weight of every layer.
    fn stack(
        &mut self,
        c: &DecoderConfig,
        name: &str,
        shape: &[usize],
        out: &mut Vec<HostParameter>,
    ) -> Option<()> {
        for layer in 0..c.layers {
            let mut data = self.take(shape.iter().product())?;
            if name.ends_with("q_proj.weight") || name.ends_with("k_proj.weight") {
                data = halves_from_pairs(&data, c.head_width, shape[1]);
            }
            let name = format!("model.layers.{layer}.{name}");
            out.push(HostParameter { name, shape: shape.to_vec(), data });
        }
        Some(())
    }

    fn tensors(&mut self, c: &DecoderConfig) -> Option<Vec<HostParameter>> {
        let mut out = Vec::new();
        let single = |name: &str, shape: &[usize], data| HostParameter {
            name: name.into(),
            shape: shape.to_vec(),
            data,
        };
        let (d, f, kv) = (c.hidden, c.intermediate, c.key_value_heads * c.head_width);
        let embedding = self.take(c.vocabulary * d)?;
        out.push(single("model.embed_tokens.weight", &[c.vocabulary, d], embedding));
        self.stack(c, "input_layernorm.weight", &[d], &mut out)?;
        self.stack(c, "self_attn.q_proj.weight", &[d, d], &mut out)?;
        self.stack(c, "self_attn.k_proj.weight", &[kv, d], &mut out)?;
        self.stack(c, "self_attn.v_proj.weight", &[kv, d], &mut out)?;
        self.stack(c, "self_attn.o_proj.weight", &[d, d], &mut out)?;
        self.stack(c, "post_attention_layernorm.weight", &[d], &mut out)?;
        self.stack(c, "mlp.gate_proj.weight", &[f, d], &mut out)?;
        self.stack(c, "mlp.down_proj.weight", &[d, f], &mut out)?;
        self.stack(c, "mlp.up_proj.weight", &[f, d], &mut out)?;
        let norm = self.take(d)?;
        out.push(single("model.norm.weight", &[d], norm));
        let cosines_and_sines = c.context * c.head_width;
        self.take(cosines_and_sines)?;
        if !c.tied {
            let head = self.take(c.vocabulary * d)?;
            out.push(single("lm_head.weight", &[c.vocabulary, d], head));
        }
        Some(out)
    }
}

/// Moves row `2i + j` of each head to row `i + j · width/2`.
fn halves_from_pairs(rows: &[f32], head_width: usize, columns: usize) -> Vec<f32> {
    let mut out = vec![0.0; rows.len()];
    let half = head_width / 2;
    for (row, values) in rows.chunks_exact(columns).enumerate() {
        let (head, inside) = (row / head_width, row % head_width);
        let to = head * head_width + inside / 2 + (inside % 2) * half;
        out[to * columns..(to + 1) * columns].copy_from_slice(values);
    }
    out
}
