//! What every method shares, and no machine learning: the evidence contract with its figures and
//! its page, errors with a location, seeded random streams, progress, and safe file writes.

#![forbid(unsafe_code)]

#[cfg(feature = "chat")]
pub mod chat;
pub mod error;
pub mod evidence;
pub mod files;
pub mod hash;
pub mod progress;
pub mod rng;
pub mod vector;

pub use error::{Error, Result};
pub use evidence::{
    Bar, Card, Cell, Claim, Figure, Finding, Lab, Method, Need, Plot, Samples, Scale, Table,
};
pub use progress::{Progress, Silent};
