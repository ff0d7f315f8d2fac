//! Decoder-only transformers as plain Burn modules, in the layouts of GPT-2 and Llama.
//!
//! The modules' fields carry the names that Hugging Face checkpoints use, so that a parameter's path
//! through the structs is its name in the file: `model.layers.3.mlp.up_proj.weight`.

mod attention;
mod checkpoint;
mod config;
mod decoder;
mod gpt2;
mod init;
mod layers;
mod llama;
mod llama2c;
mod parameters;
#[cfg(test)]
mod tests;

pub use attention::KeyValueCache;
pub use checkpoint::{read_tensors, write_tensors, write_weights};
pub use config::{DecoderConfig, Layout};
pub use decoder::Decoder;
pub use llama2c::convert_llama2c;
pub use parameters::HostParameter;
pub(crate) use parameters::host as to_host_values;
