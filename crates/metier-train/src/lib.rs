//! Methods for training: optimizers, and later what to train on and how to grow a model.

#![forbid(unsafe_code)]

pub mod olion;
