//! What is checked before a step changes anything.

use super::{GradRef, ParamMut};
use metier_core::{Error, Result};
use rayon::prelude::*;
use std::collections::HashSet;

/// What a look through all gradients found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gradients {
    /// The Euclidean norm over all gradients together.
    pub norm: f64,
    /// The number of gradients that hold zeros only.
    pub zeros: usize,
}

/// Checks that every parameter has its gradient and a name of its own, and that all gradients are
/// finite. `step` is the
/// number of the step about to be taken, counted from 1.
///
/// # Errors
/// The first gradient that is missing, of another length, or not finite; two parameters of one name.
pub fn check_gradients(
    params: &[ParamMut<'_>],
    grads: &[GradRef<'_>],
    step: u64,
) -> Result<Gradients> {
    if params.len() != grads.len() {
        return Err(Error::input(format!(
            "{} parameters came with {} gradients",
            params.len(),
            grads.len()
        )));
    }
    let mut total = 0.0;
    let mut zeros = 0;
    let mut names = HashSet::with_capacity(params.len());
    for (param, grad) in params.iter().zip(grads) {
        if param.name != grad.name {
            return Err(Error::input(format!(
                "the gradient of {} stands where that of {} is due",
                grad.name, param.name
            ))
            .help("gradients come in the order of their parameters"));
        }
        if !names.insert(param.name) {
            return Err(Error::input(format!("two parameters are called {}", param.name)));
        }
        let size: usize = param.shape.iter().product();
        for (what, len) in [("values", param.data.len()), ("gradient values", grad.data.len())] {
            if len != size {
                return Err(Error::input(format!(
                    "{} of shape {:?} came with {len} {what}, not {size}",
                    param.name, param.shape
                )));
            }
        }
        let squares = sum_of_squares(grad.data);
        if !squares.is_finite() {
            return Err(not_finite(grad, step));
        }
        zeros += usize::from(squares == 0.0);
        total += squares;
    }
    Ok(Gradients { norm: total.sqrt(), zeros })
}

fn not_finite(grad: &GradRef<'_>, step: u64) -> Error {
    let count = grad.data.iter().filter(|value| !value.is_finite()).count();
    let values = if count == 1 { "value" } else { "values" };
    Error::numeric(format!(
        "gradient of {} has {count} non-finite {values} at step {step}",
        grad.name
    ))
    .help("parameters and optimizer state are as before the step; try a lower learning rate")
}

/// The sum of squares in f64, which no finite f32 can overflow: it is finite exactly when every
/// value is. Chunks have a fixed size, so that the sum has the same bits on any number of threads.
pub(crate) fn sum_of_squares(values: &[f32]) -> f64 {
    const CHUNK: usize = 1 << 15;
    if values.len() <= CHUNK {
        return squares(values);
    }
    let parts: Vec<f64> = values.par_chunks(CHUNK).map(squares).collect();
    parts.iter().sum()
}

/// The sum of squares in f64, on one thread and in an order that depends on nothing but the length.
///
/// ```
/// assert_eq!(metier_nn::optim::squares(&[3.0, 4.0]), 25.0);
/// ```
pub fn squares(values: &[f32]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let mut eights = values.chunks_exact(8);
    for eight in &mut eights {
        for (lane, value) in lanes.iter_mut().zip(eight) {
            *lane += f64::from(*value) * f64::from(*value);
        }
    }
    let rest: f64 = eights.remainder().iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
    lanes.iter().sum::<f64>() + rest
}

/// Checks that a decay rate of a moving average lies in [0, 1).
///
/// # Errors
/// Otherwise, naming the field and its value.
pub fn check_beta(field: &str, value: f32) -> Result<()> {
    if (0.0..1.0).contains(&value) {
        return Ok(());
    }
    Err(Error::usage(format!("{field} = {value} is outside [0, 1)")).in_field(field))
}

/// Checks that a learning rate is a finite number above zero.
///
/// # Errors
/// Otherwise, naming the value.
pub fn check_learning_rate(lr: f32) -> Result<()> {
    if lr.is_finite() && lr > 0.0 {
        return Ok(());
    }
    Err(Error::usage(format!("lr = {lr} is not above zero")).in_field("lr"))
}

/// Checks that a weight decay, an epsilon or the like is finite and not below zero.
///
/// # Errors
/// Otherwise, naming the field and its value.
pub fn check_not_negative(field: &str, value: f32) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::usage(format!("{field} = {value} is not zero or above")).in_field(field))
}
