//! metier-nn

pub mod optim;
pub mod train;
