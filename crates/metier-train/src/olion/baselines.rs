//! The optimizers that OLion is compared with, each usable by itself. AdamW and Google's Lion live
//! in [`metier_nn::optim`].

use super::matrices::{Matrices, sign};
use super::momentum::StateType;
use super::newton_schulz::frobenius;
use super::optimizer::check_rms;
use super::orthogonalizer::Orthogonalizer;
use faer::{MatMut, MatRef};
use metier_core::Result;
use metier_nn::optim::{
    Buffers, GradRef, Optimizer, ParamMut, StateDict, StepStats, check_beta, check_not_negative,
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

/// The signs of the momentum alone: [`LionRms`] with β1 = 1.
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

/// How Muon's step depends on the shape `d1 × d2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MuonScale {
    /// `√max(1, d1/d2)`, as Muon was published. Its learning rates are near 0.02.
    Original,
    /// `0.2·√max(d1, d2)`, which matches the size of AdamW's updates, whose learning rates then fit.
    MatchRms,
}

impl MuonScale {
    fn of(self, rows: usize, columns: usize) -> f32 {
        let (d1, d2) = (rows as f64, columns as f64);
        match self {
            Self::Original => (d1 / d2).max(1.0).sqrt() as f32,
            Self::MatchRms => (0.2 * d1.max(d2).sqrt()) as f32,
        }
    }
}

/// Settings of [`Muon`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MuonConfig {
    /// Decay of the momentum, and its share in the direction of a step.
    pub momentum: f32,
    /// Decoupled weight decay.
    pub weight_decay: f32,
    /// The rule for the size of a step.
    pub scale: MuonScale,
    /// How the momentum is orthogonalized.
    pub orthogonalizer: Orthogonalizer,
}

impl Default for MuonConfig {
    fn default() -> Self {
        Self {
            momentum: 0.95,
            weight_decay: 0.1,
            scale: MuonScale::MatchRms,
            orthogonalizer: Orthogonalizer::default(),
        }
    }
}

impl MuonConfig {
    /// Muon as it was published: its own step size, no weight decay.
    pub fn original() -> Self {
        Self { weight_decay: 0.0, scale: MuonScale::Original, ..Self::default() }
    }

    /// Checks every field.
    ///
    /// # Errors
    /// The first out of range, with its value.
    pub fn validate(&self) -> Result<()> {
        check_beta("momentum", self.momentum)?;
        check_not_negative("weight_decay", self.weight_decay)?;
        self.orthogonalizer.validate()
    }
}

/// Muon: `M ← μ·M + (1-μ)·g`, `X ← (1-ηλ)·X - η·scale·NS(μ·M + (1-μ)·g)`.
#[derive(Debug)]
pub struct Muon {
    config: MuonConfig,
    matrices: Matrices,
}

impl Muon {
    /// An optimizer that has taken no step.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(config: MuonConfig) -> Result<Self> {
        config.validate()?;
        Ok(Self { config, matrices: Matrices::new(StateType::F32) })
    }
}

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
        let mut state = StateDict::new(self.name(), self.matrices.step, &self.config);
        self.matrices.save(&mut state);
        state
    }

    fn load_state(&mut self, state: &StateDict) -> Result<()> {
        state.expect_optimizer(self.name())?;
        self.matrices.load(state);
        Ok(())
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
        let mut state = StateDict::new(self.name(), self.matrices.step, &self.config);
        self.matrices.save(&mut state);
        state
    }

    fn load_state(&mut self, state: &StateDict) -> Result<()> {
        state.expect_optimizer(self.name())?;
        self.matrices.load(state);
        Ok(())
    }
}

impl Optimizer for Muon {
    fn name(&self) -> &str {
        match self.config.scale {
            MuonScale::MatchRms => "muon",
            MuonScale::Original => "muon-jordan",
        }
    }

    fn step(
        &mut self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<StepStats> {
        let MuonConfig { momentum, weight_decay, scale, orthogonalizer } = self.config;
        self.matrices.step(params, grads, lr, None, |matrix, space| {
            let (rows, columns) = (matrix.rows, matrix.columns);
            matrix.momentum.blend(matrix.g, momentum, momentum, &mut space.mix);
            orthogonalizer.apply(
                MatRef::from_row_major_slice(&space.mix, rows, columns),
                MatMut::from_row_major_slice_mut(&mut space.out, rows, columns),
                &mut space.scratch,
            )?;
            matrix.apply(1.0 - lr * weight_decay, lr * scale.of(rows, columns), &space.out);
            Ok(())
        })
    }

    fn state(&self) -> StateDict {
        let mut state = StateDict::new(self.name(), self.matrices.step, &self.config);
        self.matrices.save(&mut state);
        state
    }

    fn load_state(&mut self, state: &StateDict) -> Result<()> {
        state.expect_optimizer(self.name())?;
        self.matrices.load(state);
        Ok(())
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
        let mut state = StateDict::new(self.name(), self.matrices.step, &self.config);
        self.matrices.save(&mut state);
        self.second.save(&mut state);
        state
    }

    fn load_state(&mut self, state: &StateDict) -> Result<()> {
        state.expect_optimizer(self.name())?;
        self.matrices.load(state);
        self.second.load(state);
        Ok(())
    }
}
