//! Optimizers on host memory: one small trait, the state that a checkpoint keeps, and the rule that
//! tells which parameter goes to which optimizer.
//!
//! An [`Optimizer`] sees the parameters of a model as named `f32` slices. It neither knows nor cares
//! what computed the gradients, so that the same code steps a Burn module, a NumPy dictionary and a
//! plain vector in a test. [`AdamW`] and [`Lion`] live here; the matrix optimizers build on them.
//!
//! ```
//! use metier_nn::optim::{AdamW, AdamWConfig, GradRef, Optimizer, ParamMut};
//! let mut weight = vec![1.0f32];
//! let mut adamw = AdamW::new(AdamWConfig::default())?;
//! let stats = adamw.step(
//!     &mut [ParamMut { name: "w", shape: &[1, 1], data: &mut weight }],
//!     &[GradRef { name: "w", data: &[2.0] }],
//!     0.01,
//! )?;
//! assert!((weight[0] - 0.989).abs() < 1e-6);
//! assert_eq!(stats.tensors, 1);
//! # Ok::<(), metier_core::Error>(())
//! ```

mod adamw;
mod check;
mod elementwise;
mod group;
mod lion;
mod role;
mod state;
#[cfg(test)]
mod tests;

pub use adamw::{AdamW, AdamWConfig};
pub use check::{
    Gradients, check_beta, check_gradients, check_learning_rate, check_not_negative, squares,
};
pub use elementwise::{for_each_chunk, sign};
pub use group::{GroupPolicy, Groups, Override, ParamGroup, Side, group_by_role};
pub use lion::{Lion, LionConfig};
pub use role::{MatrixView, Role};
pub use state::{Buffers, Kept, StateDict, StateTensor};

use metier_core::Result;

/// A parameter that an optimizer may change.
#[derive(Debug)]
pub struct ParamMut<'a> {
    /// Its name in the checkpoint, such as `model.layers.3.mlp.up_proj.weight`.
    pub name: &'a str,
    /// Its shape; the product is the length of `data`.
    pub shape: &'a [usize],
    /// Its values, row by row.
    pub data: &'a mut [f32],
}

/// The gradient of the parameter at the same position, with the same name and length.
#[derive(Clone, Copy, Debug)]
pub struct GradRef<'a> {
    /// The name of the parameter.
    pub name: &'a str,
    /// The derivative of the loss by each of its values, row by row.
    pub data: &'a [f32],
}

/// What one step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepStats {
    /// The number of parameter tensors that were stepped.
    pub tensors: usize,
    /// How many of them had a gradient of zeros only, and so only decayed.
    pub zero_gradients: usize,
}

impl std::ops::AddAssign for StepStats {
    fn add_assign(&mut self, other: Self) {
        self.tensors += other.tensors;
        self.zero_gradients += other.zero_gradients;
    }
}

/// A rule that moves parameters against their gradients.
///
/// A step either happens completely or not at all: on an error neither the parameters nor the state
/// have changed. The same calls give the same bits on any number of threads.
pub trait Optimizer: Send {
    /// The name by which it is chosen and under which its state is saved: `adamw`.
    fn name(&self) -> &str;

    /// Takes one step at the learning rate `lr`, which the schedule has already set.
    ///
    /// # Errors
    /// A gradient that is missing, of another length or not finite; a parameter whose shape is not
    /// that of its saved state; a learning rate that is not a number above zero.
    fn step(
        &mut self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<StepStats>;

    /// A copy of all that the next step depends on.
    fn state(&self) -> StateDict;

    /// Goes on from a saved state.
    ///
    /// # Errors
    /// The state of another optimizer, naming both; a state that lacks something.
    fn load_state(&mut self, state: &StateDict) -> Result<()>;
}

impl<O: Optimizer + ?Sized> Optimizer for Box<O> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn step(
        &mut self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<StepStats> {
        (**self).step(params, grads, lr)
    }

    fn state(&self) -> StateDict {
        (**self).state()
    }

    fn load_state(&mut self, state: &StateDict) -> Result<()> {
        (**self).load_state(state)
    }
}
