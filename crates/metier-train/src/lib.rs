//! Methods for training: optimizers, and later what to train on and how to grow a model.

#![deny(unsafe_code)]

pub mod olion;

// The examples of the pages are compiled as this crate's own.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/training.md")]
struct TrainingPage;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/methods/olion.md")]
struct OlionPage;
