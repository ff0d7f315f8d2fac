//! Lion as the paper's baseline has it.

use super::matrices::Matrices;
use super::momentum::StateType;
use super::optimizer::check_rms;
use metier_core::Result;
use metier_nn::optim::{
    GradRef, Optimizer, ParamMut, StateDict, StepStats, check_beta, check_not_negative,
};
use serde::{Deserialize, Serialize};

/// Settings of [`LionRms`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LionRmsConfig {
    /// The share of the momentum in the direction of a step.
    pub beta1: f32,
    /// Decay of the momentum.
    pub beta2: f32,
    /// Decoupled weight decay.
    pub weight_decay: f32,
    /// The root mean square of an update at a learning rate of one; plain signs without it.
    pub rms: Option<f32>,
}

impl Default for LionRmsConfig {
    fn default() -> Self {
        Self { beta1: 0.95, beta2: 0.98, weight_decay: 0.1, rms: Some(0.2) }
    }
}

impl LionRmsConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first out of range, with its value.
    pub fn validate(&self) -> Result<()> {
        check_beta("beta1", self.beta1)?;
        check_beta("beta2", self.beta2)?;
        check_not_negative("weight_decay", self.weight_decay)?;
        check_rms(self.rms)
    }
}

/// Lion as the paper's baseline has it: OLion without the orthogonalization. It differs from
/// [`metier_nn::optim::Lion`] in the order (the momentum is updated first) and in the step size.
#[derive(Debug)]
pub struct LionRms {
    config: LionRmsConfig,
    matrices: Matrices,
}

impl LionRms {
    /// An optimizer that has taken no step.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(config: LionRmsConfig) -> Result<Self> {
        config.validate()?;
        Ok(Self { config, matrices: Matrices::new(StateType::F32) })
    }
}

impl Optimizer for LionRms {
    fn name(&self) -> &str {
        "lion-rms"
    }

    fn step(
        &mut self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<StepStats> {
        let LionRmsConfig { beta1, beta2, weight_decay, rms } = self.config;
        self.matrices.step(params, grads, lr, None, |matrix, space| {
            matrix.momentum.blend(matrix.g, beta1, beta2, &mut space.mix);
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
