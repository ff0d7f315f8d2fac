//! Neural models on Burn: decoders in the layouts that people have, their checkpoints and tokenizers,
//! the trainer, and generation.

#![deny(unsafe_code)]

pub mod allocator;
pub mod corpus;
pub mod device;
pub mod generate;
pub mod kernels;
mod language_model;
mod mapped;
pub mod model;
pub mod optim;
pub mod tokenizer;
pub mod train;

pub use language_model::LanguageModel;
