//! Token files larger than memory, and batches drawn from them in an order that can be resumed.

mod loader;
mod source;
#[cfg(test)]
mod tests;
mod tokens;
mod writer;

pub use loader::{LoaderConfig, TokenBatches, Window};
pub use source::{Corpus, learning_texts, read_corpus, write_corpus};
pub use tokens::Tokens;
pub use writer::TokenWriter;
