//! The signs of the momentum alone.

use super::matrices::Matrices;
use super::momentum::StateType;
use super::optimizer::check_rms;
use metier_core::Result;
use metier_nn::optim::{
    GradRef, Optimizer, ParamMut, StateDict, StepStats, check_beta, check_not_negative,
};
use serde::{Deserialize, Serialize};

/// Settings of [`Signum`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SignumConfig {
    /// Decay of the momentum.
    pub momentum: f32,
    /// Decoupled weight decay.
    pub weight_decay: f32,
    /// The root mean square of an update at a learning rate of one; plain signs without it.
    pub rms: Option<f32>,
}

impl Default for SignumConfig {
    fn default() -> Self {
        Self { momentum: 0.98, weight_decay: 0.1, rms: Some(0.2) }
    }
}

impl SignumConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first out of range, with its value.
    pub fn validate(&self) -> Result<()> {
        check_beta("momentum", self.momentum)?;
        check_not_negative("weight_decay", self.weight_decay)?;
        check_rms(self.rms)
    }
}

/// The signs of the momentum alone: [`LionRms`](super::LionRms) with β1 = 1.
#[derive(Debug)]
pub struct Signum {
    config: SignumConfig,
    matrices: Matrices,
}

impl Signum {
    /// An optimizer that has taken no step.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(config: SignumConfig) -> Result<Self> {
        config.validate()?;
        Ok(Self { config, matrices: Matrices::new(StateType::F32) })
    }
}

impl Optimizer for Signum {
    fn name(&self) -> &str {
        "signum"
    }

    fn step(
        &mut self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<StepStats> {
        let SignumConfig { momentum, weight_decay, rms } = self.config;
        self.matrices.step(params, grads, lr, None, |matrix, space| {
            matrix.momentum.blend(matrix.g, 1.0, momentum, &mut space.mix);
            matrix.apply_signs(1.0 - lr * weight_decay, lr, rms, &space.mix);
            Ok(())
        })
    }

    fn state(&self) -> StateDict {
        self.matrices.state(self.name(), &self.config)
    }

    fn load_state(&mut self, state: &StateDict) -> Result<()> {
        state.expect(self.name(), &["momentum"])?;
        self.matrices.load(state);
        Ok(())
    }
}
