//! Lion as its authors published it.

use super::{
    Buffers, GradRef, Optimizer, ParamMut, StateDict, StepStats, check_beta, check_gradients,
    check_learning_rate, check_not_negative, for_each_chunk, sign,
};
use metier_core::Result;
use serde::{Deserialize, Serialize};

/// Settings of [`Lion`]. Its learning rate is usually a third to a tenth of AdamW's, and its weight
/// decay three to ten times as large.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LionConfig {
    /// The share of the momentum in the direction of a step.
    pub beta1: f32,
    /// Decay of the momentum.
    pub beta2: f32,
    /// Decoupled decay of tensors with two or more dimensions; vectors do not decay.
    pub weight_decay: f32,
}

impl Default for LionConfig {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.99, weight_decay: 0.1 }
    }
}

impl LionConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first out of range, with its value.
    pub fn validate(&self) -> Result<()> {
        check_beta("beta1", self.beta1)?;
        check_beta("beta2", self.beta2)?;
        check_not_negative("weight_decay", self.weight_decay)
    }
}

/// Lion: `u ← sign(β1·m + (1-β1)·g)` with the momentum of before, `x ← (1-ηλ)·x - η·u`, and only
/// then `m ← β2·m + (1-β2)·g`.
#[derive(Clone, Debug)]
pub struct Lion {
    config: LionConfig,
    step: u64,
    momentum: Buffers,
}

impl Lion {
    /// An optimizer that has taken no step.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(config: LionConfig) -> Result<Self> {
        config.validate()?;
        Ok(Self { config, step: 0, momentum: Buffers::new("momentum") })
    }
}

impl Optimizer for Lion {
    fn name(&self) -> &str {
        "lion"
    }

    fn step(
        &mut self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<StepStats> {
        check_learning_rate(lr)?;
        let found = check_gradients(params, grads, self.step + 1)?;
        let momenta = self.momentum.of(params)?;
        self.step += 1;

        let LionConfig { beta1, beta2, weight_decay } = self.config;
        for ((param, grad), momentum) in params.iter_mut().zip(grads).zip(momenta) {
            let keep = if param.shape.len() > 1 { 1.0 - lr * weight_decay } else { 1.0 };
            for_each_chunk(param.data, momentum, grad.data, |x, m, g| {
                for ((x, m), g) in x.iter_mut().zip(m).zip(g) {
                    let mix = beta1 * *m + (1.0 - beta1) * g;
                    *x = keep * *x - lr * sign(mix);
                    *m = beta2 * *m + (1.0 - beta2) * g;
                }
            });
        }
        Ok(StepStats { tensors: params.len(), zero_gradients: found.zeros })
    }

    fn state(&self) -> StateDict {
        let mut state = StateDict::new(self.name(), self.step, &self.config);
        self.momentum.save(&mut state);
        state
    }

    fn load_state(&mut self, state: &StateDict) -> Result<()> {
        state.expect(self.name(), &["momentum"])?;
        self.step = state.step;
        self.momentum.load(state);
        Ok(())
    }
}
