//! Muon, in the two sizes of step that people use.

use super::matrices::Matrices;
use super::momentum::StateType;
use super::orthogonalizer::Orthogonalizer;
use faer::{MatMut, MatRef};
use metier_core::Result;
use metier_nn::optim::{
    GradRef, Optimizer, ParamMut, StateDict, StepStats, check_beta, check_not_negative,
};
use serde::{Deserialize, Serialize};

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
        self.matrices.state(self.name(), &self.config)
    }

    fn load_state(&mut self, state: &StateDict) -> Result<()> {
        state.expect(self.name(), &["momentum"])?;
        self.matrices.load(state);
        Ok(())
    }
}
