//! OLion: the signs of an orthogonalized momentum.

use super::fused::blocks;
use super::matrices::{Matrices, Matrix, Workspace};
use super::momentum::StateType;
use super::orthogonalizer::Orthogonalizer;
use faer::prelude::ReborrowMut;
use faer::{MatMut, MatRef};
use metier_core::{Error, Result};
use metier_nn::optim::{
    GradRef, Optimizer, ParamMut, StateDict, StepStats, check_beta, check_not_negative, sign,
};
use serde::{Deserialize, Serialize};

/// Settings of [`Olion`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OlionConfig {
    /// The share of the momentum in the direction of a step.
    pub beta1: f32,
    /// Decay of the momentum.
    pub beta2: f32,
    /// Decoupled weight decay.
    pub weight_decay: f32,
    /// The root mean square of an update at a learning rate of one; without it the update is the
    /// plain signs. 0.2 is the usual size of AdamW's updates, whose learning rates then fit.
    pub rms: Option<f32>,
    /// How the momentum is orthogonalized.
    pub orthogonalizer: Orthogonalizer,
    /// Orthogonalize in every `every`-th step, the first included; the steps between are cheap
    /// sign steps (`lion-rms`). Not in the paper, which has 1.
    pub every: usize,
    /// How many times to project on orthogonal and then on sign matrices within a step. The paper
    /// has 1; more come closer to matrices that are both.
    pub projections: usize,
    /// Orthogonalize the parts of a fused query-key-value or gate-up matrix by themselves. The
    /// paper takes a stored matrix as it is.
    pub split_fused: bool,
    /// How the momentum is kept.
    pub state: StateType,
}

impl Default for OlionConfig {
    fn default() -> Self {
        Self {
            beta1: 0.95,
            beta2: 0.98,
            weight_decay: 0.1,
            rms: Some(0.2),
            orthogonalizer: Orthogonalizer::default(),
            every: 1,
            projections: 1,
            split_fused: false,
            state: StateType::F32,
        }
    }
}

impl OlionConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first out of range, with its value.
    pub fn validate(&self) -> Result<()> {
        check_beta("beta1", self.beta1)?;
        check_beta("beta2", self.beta2)?;
        check_not_negative("weight_decay", self.weight_decay)?;
        check_rms(self.rms)?;
        self.orthogonalizer.validate()?;
        for (field, value) in [("every", self.every), ("projections", self.projections)] {
            if value == 0 {
                return Err(Error::usage(format!("{field} = 0 is below 1")).in_field(field));
            }
        }
        Ok(())
    }
}

pub(super) fn check_rms(rms: Option<f32>) -> Result<()> {
    match rms {
        Some(rms) if !(rms.is_finite() && rms > 0.0) => {
            Err(Error::usage(format!("rms = {rms} is not above zero")).in_field("rms"))
        }
        _ => Ok(()),
    }
}

/// OLion (the paper's Algorithm 1): `M ← β2·M + (1-β2)·g`, `S ← sign(NS(β1·M + (1-β1)·g))`,
/// `X ← (1-ηλ)·X - η·γ·S` with `γ = 0.2·√(d1·d2)/‖S‖_F`. The momentum is mixed after its update.
///
/// Parameters are matrices, stacks of matrices `[E, d1, d2]`, each orthogonalized by itself, or
/// convolutions `[out, in, kh, kw]`, seen as `[out, in·kh·kw]`.
///
/// ```
/// use metier_nn::optim::{GradRef, Optimizer, ParamMut};
/// use metier_train::olion::{Olion, OlionConfig};
/// let mut olion = Olion::new(OlionConfig { weight_decay: 0.0, ..OlionConfig::default() })?;
/// let mut weight = [0.0f32; 4];
/// olion.step(
///     &mut [ParamMut { name: "w", shape: &[2, 2], data: &mut weight }],
///     &[GradRef { name: "w", data: &[1.0, 2.0, -3.0, 4.0] }],
///     0.01,
/// )?;
/// assert_eq!(weight.map(f32::abs), [0.002; 4]);
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Olion {
    config: OlionConfig,
    matrices: Matrices,
}

impl Olion {
    /// An optimizer that has taken no step.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(config: OlionConfig) -> Result<Self> {
        config.validate()?;
        Ok(Self { config, matrices: Matrices::new(config.state) })
    }

    /// The settings.
    pub fn config(&self) -> &OlionConfig {
        &self.config
    }
}

impl Optimizer for Olion {
    fn name(&self) -> &str {
        "olion"
    }

    fn step(
        &mut self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<StepStats> {
        let config = self.config;
        let orthogonal = self.matrices.step.is_multiple_of(config.every as u64);
        self.matrices.step(params, grads, lr, None, |matrix, space| {
            let keep = 1.0 - lr * config.weight_decay;
            matrix.momentum.blend(matrix.g, config.beta1, config.beta2, &mut space.mix);
            if !orthogonal {
                matrix.apply_signs(keep, lr, config.rms, &space.mix);
                return Ok(());
            }
            project(matrix, &config, space)?;
            matrix.apply_signs(keep, lr, config.rms, &space.out);
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

/// Orthogonalizes `space.mix` into `space.out`, block by block, as often as the settings say, with
/// signs taken between.
fn project(matrix: &Matrix<'_>, config: &OlionConfig, space: &mut Workspace) -> Result<()> {
    let (rows, columns) = (matrix.rows, matrix.columns);
    for round in 0..config.projections {
        if round > 0 {
            for (mix, out) in space.mix.iter_mut().zip(&space.out) {
                *mix = sign(*out);
            }
        }
        let mix = MatRef::from_row_major_slice(&space.mix, rows, columns);
        let mut out = MatMut::from_row_major_slice_mut(&mut space.out, rows, columns);
        for block in blocks(matrix.name, rows, columns, config.split_fused) {
            config.orthogonalizer.apply(
                block.of(mix),
                block.of_mut(out.rb_mut()),
                &mut space.scratch,
            )?;
        }
    }
    Ok(())
}
