//! Token files larger than memory, and batches drawn from them in an order that can be resumed.

mod loader;
mod source;
#[cfg(test)]
mod tests;
mod tokens;

pub use loader::{LoaderConfig, TokenBatches, Window};
pub use source::{Corpus, read_corpus};
pub use tokens::Tokens;
