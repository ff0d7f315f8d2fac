//! AdaMuon: Muon over signs, with a second moment.

use super::matrices::Matrices;
use super::momentum::StateType;
use super::newton_schulz::frobenius;
use super::orthogonalizer::Orthogonalizer;
use faer::{MatMut, MatRef};
use metier_core::Result;
use metier_nn::optim::{
    Buffers, GradRef, Optimizer, ParamMut, StateDict, StepStats, check_beta, check_not_negative,
    sign,
};
use serde::{Deserialize, Serialize};

/// Settings of [`AdaMuon`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdaMuonConfig {
    /// Decay of the momentum and of the mean of squares.
    pub momentum: f32,
    /// Added to the root of that mean.
    pub epsilon: f32,
    /// Decoupled weight decay.
    pub weight_decay: f32,
    /// How the signs of the momentum are orthogonalized.
    pub orthogonalizer: Orthogonalizer,
}

impl Default for AdaMuonConfig {
    fn default() -> Self {
        Self {
            momentum: 0.95,
            epsilon: 1e-8,
            weight_decay: 0.1,
            orthogonalizer: Orthogonalizer::default(),
        }
    }
}

impl AdaMuonConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first out of range, with its value.
    pub fn validate(&self) -> Result<()> {
        check_beta("momentum", self.momentum)?;
        check_not_negative("epsilon", self.epsilon)?;
        check_not_negative("weight_decay", self.weight_decay)?;
        self.orthogonalizer.validate()
    }
}

/// AdaMuon: `O ← NS(sign(g + μ·M))` over a second moment of its own, `v ← μ·v + (1-μ)·O²`, with
/// `U ← O/(√v + ε)` stepped at a root mean square of 0.2.
///
/// The momentum is kept as a mean, `1-μ` times the sum that its authors keep; the signs are the
/// same.
#[derive(Debug)]
pub struct AdaMuon {
    config: AdaMuonConfig,
    matrices: Matrices,
    second: Buffers,
}

impl AdaMuon {
    /// An optimizer that has taken no step.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(config: AdaMuonConfig) -> Result<Self> {
        config.validate()?;
        let (matrices, second) = (Matrices::new(StateType::F32), Buffers::new("variance"));
        Ok(Self { config, matrices, second })
    }
}

impl Optimizer for AdaMuon {
    fn name(&self) -> &str {
        "adamuon"
    }

    fn step(
        &mut self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<StepStats> {
        let AdaMuonConfig { momentum, epsilon, weight_decay, orthogonalizer } = self.config;
        // The buffers must not be made for a step that will be refused.
        self.matrices.check(params, grads, lr)?;
        let second = self.second.of(params)?;
        self.matrices.step(params, grads, lr, Some(second), |matrix, space| {
            let (rows, columns) = (matrix.rows, matrix.columns);
            matrix.momentum.blend(matrix.g, momentum, momentum, &mut space.mix);
            space.mix.iter_mut().for_each(|value| *value = sign(*value));
            orthogonalizer.apply(
                MatRef::from_row_major_slice(&space.mix, rows, columns),
                MatMut::from_row_major_slice_mut(&mut space.out, rows, columns),
                &mut space.scratch,
            )?;
            for (v, o) in matrix.second.iter_mut().zip(&mut space.out) {
                *v = momentum * *v + (1.0 - momentum) * *o * *o;
                *o /= v.sqrt() + epsilon;
            }
            let norm = frobenius(MatRef::from_row_major_slice(&space.out, rows, columns));
            let size = (rows * columns) as f64;
            let rate = 0.2 * size.sqrt() / (norm + f64::from(epsilon));
            matrix.apply(1.0 - lr * weight_decay, lr * rate as f32, &space.out);
            Ok(())
        })
    }

    fn state(&self) -> StateDict {
        let mut state = self.matrices.state(self.name(), &self.config);
        self.second.save(&mut state);
        state
    }

    fn load_state(&mut self, state: &StateDict) -> Result<()> {
        state.expect(self.name(), &["momentum", "variance"])?;
        self.matrices.load(state);
        self.second.load(state);
        Ok(())
    }
}
