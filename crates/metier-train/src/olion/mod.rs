//! OLion, an optimizer for networks of matrices: it orthogonalizes the momentum of each weight
//! matrix, as Muon does, and steps along the signs of the result, as Lion does.
//!
//! Orthogonalizing bounds the spectral norm of a step, taking signs bounds each entry; doing both
//! approaches a Hadamard matrix, which has both properties. The state is one buffer per matrix, half
//! of AdamW's, and a step has the size that AdamW's usually have, so that its learning rates fit.
//!
//! [`Olion`] is the optimizer; [`Grouped`] steps a whole model with it, leaving embeddings, norms
//! and biases to AdamW; [`OptimKind`] chooses by name. [`Muon`], [`AdaMuon`], [`LionRms`] and
//! [`Signum`] are what it is compared with, [`newton_schulz`] what it is made of, and
//! [`hadamard_diagnostics`] what its theory speaks about.

mod adamuon;
mod compare;
mod diagnostics;
mod evidence;
mod figures;
mod fused;
mod grouped;
mod lion_rms;
mod matrices;
mod momentum;
mod muon;
mod newton_schulz;
mod optimizer;
mod orthogonalizer;
mod polar_express;
mod profile;
mod signum;
mod svd;
#[cfg(test)]
mod tests;

pub use adamuon::{AdaMuon, AdaMuonConfig};
pub use compare::{Arm, RunResult, Trial, compare};
pub use diagnostics::{Diagnostics, hadamard_diagnostics};
pub use evidence::OlionMethod;
pub use figures::comparison_figures;
pub use grouped::{Grouped, OptimKind};
pub use lion_rms::{LionRms, LionRmsConfig};
pub use momentum::StateType;
pub use muon::{Muon, MuonConfig, MuonScale};
pub use newton_schulz::{QUINTIC, Scratch, newton_schulz};
pub use optimizer::{Olion, OlionConfig};
pub use orthogonalizer::Orthogonalizer;
pub use polar_express::polar_express;
pub use profile::{
    MatrixProfile, Origin, likely_origin, mean_of, profile_matrices, relative_flatness,
};
pub use signum::{Signum, SignumConfig};
