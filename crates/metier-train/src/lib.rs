//! Methods for training: optimizers, and later what to train on and how to grow a model.

#![deny(unsafe_code)]

pub mod olion;

/// The methods of this crate, in the order of the page.
///
/// ```
/// assert!(metier_train::METHODS.iter().any(|method| method.card().id == "olion"));
/// ```
pub static METHODS: &[&dyn metier_core::Method] = &[&olion::OlionMethod];

// The examples of the pages are compiled as this crate's own.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/training.md")]
struct TrainingPage;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/methods/olion.md")]
struct OlionPage;
