//! One file per verb: a thin translation from flags to the libraries.

pub mod completions;
pub mod convert;
pub mod data;
pub mod evidence;
pub mod generate;
pub mod gicdm;
pub mod hippo;
pub mod man;
pub mod methods;
pub mod optim;
pub mod score;
pub mod slepian;
pub mod tokenize;
pub mod train;
