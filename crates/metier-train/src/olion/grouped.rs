//! The optimizers by name, and the one that steps a whole model: matrices one way, the rest another.

use super::adamuon::{AdaMuon, AdaMuonConfig};
use super::lion_rms::{LionRms, LionRmsConfig};
use super::muon::{Muon, MuonConfig, MuonScale};
use super::optimizer::{Olion, OlionConfig};
use super::signum::{Signum, SignumConfig};
use metier_core::{Error, Result};
use metier_nn::optim::{
    AdamW, AdamWConfig, GradRef, GroupPolicy, Groups, Lion, LionConfig, Optimizer, ParamMut, Side,
    StateDict, StepStats, check_gradients, check_learning_rate, group_by_role,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// An optimizer with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "optimizer", rename_all = "kebab-case")]
pub enum OptimKind {
    /// `adamw`
    #[serde(rename = "adamw")]
    AdamW(AdamWConfig),
    /// `lion`: as its authors published it.
    Lion(LionConfig),
    /// `lion-rms`: as the paper's baseline has it.
    LionRms(LionRmsConfig),
    /// `muon` with the step size that matches AdamW's, or `muon-jordan` as it was published.
    Muon(MuonConfig),
    /// `adamuon`
    #[serde(rename = "adamuon")]
    AdaMuon(AdaMuonConfig),
    /// `signum`
    Signum(SignumConfig),
    /// `olion`
    Olion(OlionConfig),
}

impl OptimKind {
    /// The names that [`named`](Self::named) knows.
    pub const NAMES: [&str; 8] =
        ["adamw", "lion", "lion-rms", "muon", "muon-jordan", "adamuon", "signum", "olion"];

    /// The optimizer called `name`, with its usual settings.
    ///
    /// # Errors
    /// An unknown name; the help lists those that are known.
    ///
    /// ```
    /// use metier_train::olion::{OlionConfig, OptimKind};
    /// assert_eq!(OptimKind::named("olion")?, OptimKind::Olion(OlionConfig::default()));
    /// # Ok::<(), metier_core::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "adamw" => Self::AdamW(AdamWConfig::default()),
            "lion" => Self::Lion(LionConfig::default()),
            "lion-rms" => Self::LionRms(LionRmsConfig::default()),
            "muon" => Self::Muon(MuonConfig::default()),
            "muon-jordan" => Self::Muon(MuonConfig::original()),
            "adamuon" => Self::AdaMuon(AdaMuonConfig::default()),
            "signum" => Self::Signum(SignumConfig::default()),
            "olion" => Self::Olion(OlionConfig::default()),
            _ => {
                return Err(Error::usage(format!("there is no optimizer `{name}`"))
                    .in_field("optimizer")
                    .help(format!("one of {}", Self::NAMES.join(", "))));
            }
        })
    }

    /// Its name, as [`named`](Self::named) knows it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::AdamW(_) => "adamw",
            Self::Lion(_) => "lion",
            Self::LionRms(_) => "lion-rms",
            Self::Muon(MuonConfig { scale: MuonScale::MatchRms, .. }) => "muon",
            Self::Muon(MuonConfig { scale: MuonScale::Original, .. }) => "muon-jordan",
            Self::AdaMuon(_) => "adamuon",
            Self::Signum(_) => "signum",
            Self::Olion(_) => "olion",
        }
    }

    /// Whether it steps matrices only, so that the rest of a model needs another.
    pub fn matrices_only(&self) -> bool {
        !matches!(self, Self::AdamW(_) | Self::Lion(_))
    }

    /// A fresh optimizer.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn build(&self) -> Result<Box<dyn Optimizer>> {
        Ok(match *self {
            Self::AdamW(config) => Box::new(AdamW::new(config)?),
            Self::Lion(config) => Box::new(Lion::new(config)?),
            Self::LionRms(config) => Box::new(LionRms::new(config)?),
            Self::Muon(config) => Box::new(Muon::new(config)?),
            Self::AdaMuon(config) => Box::new(AdaMuon::new(config)?),
            Self::Signum(config) => Box::new(Signum::new(config)?),
            Self::Olion(config) => Box::new(Olion::new(config)?),
        })
    }

    /// Replaces the weight decay.
    #[must_use]
    pub fn with_weight_decay(mut self, weight_decay: f32) -> Self {
        *match &mut self {
            Self::AdamW(config) => &mut config.weight_decay,
            Self::Lion(config) => &mut config.weight_decay,
            Self::LionRms(config) => &mut config.weight_decay,
            Self::Muon(config) => &mut config.weight_decay,
            Self::AdaMuon(config) => &mut config.weight_decay,
            Self::Signum(config) => &mut config.weight_decay,
            Self::Olion(config) => &mut config.weight_decay,
        } = weight_decay;
        self
    }
}

/// Steps the parameters of a whole model: hidden matrices with one optimizer, everything else with
/// another, at the same learning rate up to the factors that the user chose.
///
/// ```
/// use metier_nn::optim::{GroupPolicy, Optimizer};
/// use metier_train::olion::{Grouped, OptimKind};
/// let params = [
///     ("transformer.wte.weight".to_owned(), vec![256, 64]),
///     ("transformer.h.0.attn.c_proj.weight".to_owned(), vec![64, 64]),
/// ];
/// let (olion, adamw) = (OptimKind::named("olion")?, OptimKind::named("adamw")?);
/// let optimizer = Grouped::by_role(&params, &GroupPolicy::default(), &olion, &adamw)?;
/// assert_eq!(optimizer.name(), "olion+adamw");
/// println!("{}", optimizer.table());
/// # Ok::<(), metier_core::Error>(())
/// ```
pub struct Grouped {
    name: String,
    groups: Groups,
    step: u64,
    members: Vec<Member>,
    member_of: HashMap<String, usize>,
}

/// One optimizer and the factor of its learning rate.
struct Member {
    side: Side,
    lr_factor: f32,
    optimizer: Box<dyn Optimizer>,
}

impl Grouped {
    /// An optimizer for the parameters of these names and shapes, assigned by role.
    ///
    /// # Errors
    /// A policy that does not fit; a setting out of range; an `aux` for matrices only.
    pub fn by_role(
        params: &[(String, Vec<usize>)],
        policy: &GroupPolicy,
        matrix: &OptimKind,
        aux: &OptimKind,
    ) -> Result<Self> {
        Self::new(group_by_role(params, policy)?, matrix, aux)
    }

    /// An optimizer for groups that are made already.
    ///
    /// # Errors
    /// A setting out of range; an `aux` that steps matrices only.
    pub fn new(groups: Groups, matrix: &OptimKind, aux: &OptimKind) -> Result<Self> {
        let (matrix_name, aux_name) = (matrix.name(), aux.name());
        if aux.matrices_only() {
            return Err(Error::usage(format!("{aux_name} steps matrices only"))
                .in_field("aux")
                .help("embeddings, norms and biases need `adamw` or `lion`"));
        }
        let name = if matrix == aux {
            matrix_name.to_owned()
        } else {
            format!("{matrix_name}+{aux_name}")
        };
        matrix.build()?;
        aux.build()?;
        // One optimizer per side and factor: each counts its own steps, and a step is one call.
        let mut members: Vec<Member> = Vec::new();
        let mut member_of = HashMap::new();
        for group in &groups.groups {
            let same =
                |member: &Member| member.side == group.side && member.lr_factor == group.lr_factor;
            let at = match members.iter().position(same) {
                Some(at) => at,
                None => {
                    let kind = if group.side == Side::Matrix { matrix } else { aux };
                    members.push(Member {
                        side: group.side,
                        lr_factor: group.lr_factor,
                        optimizer: kind.build()?,
                    });
                    members.len() - 1
                }
            };
            member_of.extend(group.params.iter().map(|(param, _)| (param.clone(), at)));
        }
        Ok(Self { name, groups, step: 0, members, member_of })
    }

    /// The groups.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The table of groups that a user reads before a run.
    pub fn table(&self) -> String {
        let (matrix, aux) = self.name.split_once('+').unwrap_or((&self.name, &self.name));
        self.groups.table(matrix, aux)
    }

    fn member(&self, param: &str) -> Result<usize> {
        self.member_of
            .get(param)
            .copied()
            .ok_or_else(|| Error::input(format!("{param} is in none of the optimizer's groups")))
    }
}

impl Optimizer for Grouped {
    fn name(&self) -> &str {
        &self.name
    }

    fn step(
        &mut self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<StepStats> {
        // Everything is checked before the first member steps, so that all step or none does.
        for member in &self.members {
            check_learning_rate(lr * member.lr_factor)?;
        }
        check_gradients(params, grads, self.step + 1)?;
        self.state_fits(params)?;
        let members: Vec<usize> =
            params.iter().map(|param| self.member(param.name)).collect::<Result<_>>()?;
        self.step += 1;
        let mut stats = StepStats::default();
        for (at, member) in self.members.iter_mut().enumerate() {
            let mine = || members.iter().enumerate().filter(|(_, m)| **m == at).map(|(i, _)| i);
            let their_grads: Vec<GradRef<'_>> = mine().map(|i| grads[i]).collect();
            let mut their_params: Vec<ParamMut<'_>> = params
                .iter_mut()
                .zip(&members)
                .filter(|(_, member)| **member == at)
                .map(|(param, _)| ParamMut {
                    name: param.name,
                    shape: param.shape,
                    data: &mut *param.data,
                })
                .collect();
            stats +=
                member.optimizer.step(&mut their_params, &their_grads, lr * member.lr_factor)?;
        }
        Ok(stats)
    }

    fn state(&self) -> StateDict {
        let mut hyper = BTreeMap::new();
        let mut tensors = BTreeMap::new();
        for member in &self.members {
            let state = member.optimizer.state();
            let side = if member.side == Side::Matrix { "matrix" } else { "aux" };
            hyper.insert(side, state.hyper);
            tensors.extend(state.tensors);
        }
        StateDict { tensors, ..StateDict::new(&self.name, self.step, &hyper) }
    }

    fn load_state(&mut self, state: &StateDict) -> Result<()> {
        state.expect_optimizer(&self.name)?;
        state.expect_shapes(
            &self.groups.groups.iter().flat_map(|g| g.params.clone()).collect::<Vec<_>>(),
        )?;
        let Self { members, member_of, .. } = self;
        for (at, member) in members.iter_mut().enumerate() {
            let mut share = StateDict {
                optimizer: member.optimizer.name().to_owned(),
                step: state.step,
                hyper: serde_json::Value::Null,
                tensors: BTreeMap::new(),
            };
            for (key, tensor) in &state.tensors {
                let param = key.strip_prefix("optim.").and_then(|key| key.rsplit_once('.'));
                if param.is_some_and(|(param, _)| member_of.get(param) == Some(&at)) {
                    share.tensors.insert(key.clone(), tensor.clone());
                }
            }
            member.optimizer.load_state(&share)?;
        }
        self.step = state.step;
        Ok(())
    }
}

impl Grouped {
    /// Checks that these parameters have the shapes that they were grouped with.
    fn state_fits(&self, params: &[ParamMut<'_>]) -> Result<()> {
        let shapes: HashMap<&str, &[usize]> = self
            .groups
            .groups
            .iter()
            .flat_map(|group| &group.params)
            .map(|(name, shape)| (name.as_str(), shape.as_slice()))
            .collect();
        for param in params {
            if let Some(shape) = shapes.get(param.name)
                && *shape != param.shape
            {
                return Err(Error::input(format!(
                    "{} has shape {:?}, and the optimizer was made for {shape:?}",
                    param.name, param.shape
                )));
            }
        }
        Ok(())
    }
}
