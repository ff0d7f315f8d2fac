//! One file per verb: a thin translation from flags to the libraries.

pub mod completions;
pub mod data;
pub mod evidence;
pub mod man;
pub mod methods;
