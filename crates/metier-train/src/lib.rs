//! Methods for training: optimizers, and later what to train on and how to grow a model.

#![deny(unsafe_code)]

pub mod olion;
