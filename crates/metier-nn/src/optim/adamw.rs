//! Adam with decoupled weight decay.

use super::elementwise::for_each_chunk_of_two;
use super::{
    Buffers, GradRef, Optimizer, ParamMut, StateDict, StepStats, check_beta, check_gradients,
    check_learning_rate, check_not_negative,
};
use metier_core::Result;
use serde::{Deserialize, Serialize};

/// Settings of [`AdamW`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdamWConfig {
    /// Decay of the mean of gradients.
    pub beta1: f32,
    /// Decay of the mean of squared gradients.
    pub beta2: f32,
    /// Added to the root of the latter.
    pub epsilon: f32,
    /// Decoupled decay of tensors with two or more dimensions; vectors do not decay.
    pub weight_decay: f32,
}

impl Default for AdamWConfig {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0.1 }
    }
}

impl AdamWConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first out of range, with its value.
    pub fn validate(&self) -> Result<()> {
        check_beta("beta1", self.beta1)?;
        check_beta("beta2", self.beta2)?;
        check_not_negative("epsilon", self.epsilon)?;
        check_not_negative("weight_decay", self.weight_decay)
    }
}

/// AdamW: `m ← β1·m + (1-β1)·g`, `v ← β2·v + (1-β2)·g²`,
/// `x ← (1-ηλ)·x - η·m̂/(√v̂ + ε)` with bias-corrected means.
#[derive(Clone, Debug)]
pub struct AdamW {
    config: AdamWConfig,
    step: u64,
    first: Buffers,
    second: Buffers,
}

impl AdamW {
    /// An optimizer that has taken no step.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(config: AdamWConfig) -> Result<Self> {
        config.validate()?;
        let (first, second) = (Buffers::new("momentum"), Buffers::new("variance"));
        Ok(Self { config, step: 0, first, second })
    }
}

impl Optimizer for AdamW {
    fn name(&self) -> &str {
        "adamw"
    }

    fn step(
        &mut self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<StepStats> {
        check_learning_rate(lr)?;
        let found = check_gradients(params, grads, self.step + 1)?;
        self.second.check(params)?;
        let firsts = self.first.of(params)?;
        let seconds = self.second.of(params)?;
        self.step += 1;

        let AdamWConfig { beta1, beta2, epsilon, weight_decay } = self.config;
        let power = i32::try_from(self.step).unwrap_or(i32::MAX);
        // 1 - βᵗ loses its digits in f32 when β is near 1.
        let corrected = |beta: f32| 1.0 - f64::from(beta).powi(power);
        let rate = (f64::from(lr) / corrected(beta1)) as f32;
        let unbias = (1.0 / corrected(beta2)) as f32;
        for (((param, grad), first), second) in
            params.iter_mut().zip(grads).zip(firsts).zip(seconds)
        {
            let keep = if param.shape.len() > 1 { 1.0 - lr * weight_decay } else { 1.0 };
            for_each_chunk_of_two(param.data, first, second, grad.data, |x, m, v, g| {
                for (((x, m), v), g) in x.iter_mut().zip(m).zip(v).zip(g) {
                    *m = beta1 * *m + (1.0 - beta1) * g;
                    *v = beta2 * *v + (1.0 - beta2) * g * g;
                    *x = keep * *x - rate * *m / ((*v * unbias).sqrt() + epsilon);
                }
            });
        }
        Ok(StepStats { tensors: params.len(), zero_gradients: found.zeros })
    }

    fn state(&self) -> StateDict {
        let mut state = StateDict::new(self.name(), self.step, &self.config);
        self.first.save(&mut state);
        self.second.save(&mut state);
        state
    }

    fn load_state(&mut self, state: &StateDict) -> Result<()> {
        state.expect(self.name(), &["momentum", "variance"])?;
        self.step = state.step;
        self.first.load(state);
        self.second.load(state);
        Ok(())
    }
}
