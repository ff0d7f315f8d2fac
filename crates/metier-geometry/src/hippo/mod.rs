//! The HiPPO-LegS matrix in closed form, and the layer in its limit of infinitely many states.
//!
//! State-space layers (S4, S4D, S5) are initialised with that matrix. They build it, decompose it by a
//! dense complex solver in O(N³), and keep its eigenvalues and low-rank terms. All of these have
//! closed forms: [`legs_spectrum`] gives them to the last digits in O(N), [`legs_eigenvectors`] the
//! change of basis in O(N²).
//!
//! As N grows, the matrix becomes Volterra's integration operator and the layer's kernel a formula in
//! Bessel functions of time: [`Continuized`]. Its [`Bank`] of kernels turns any sequence into a few
//! states that hold its past, for a linear model to read; [`Memory`] says how much of it, and
//! [`baselines`] are the memories that people use instead.
//!
//! Gu, Dao, Ermon, Rudra & Ré, "HiPPO: Recurrent Memory with Optimal Polynomial Projections",
//! arXiv 2008.07669; Gu, Goel & Ré, "Efficiently Modeling Long Sequences with Structured State
//! Spaces", arXiv 2111.00396. The closed forms are our own.

mod angles;
mod bank;
pub mod baselines;
mod bessel;
mod check;
mod continuized;
mod evidence;
mod exponential;
mod export;
mod figures;
mod irregular;
mod legs;
mod memory;
mod operator;
mod sequences;
mod step;
mod stream;
#[cfg(test)]
mod tests;

pub use bank::Bank;
pub use check::{Identity, identities};
pub use continuized::{Basis, Continuized, ContinuizedConfig, Discretization};
pub use evidence::Hippo;
pub use export::export_dplr;
pub use figures::{coverage_figure, kernel_figure, reconstruction_figure, spectrum_figure};
pub use irregular::irregular_states;
pub use legs::{
    LegsSpectrum, MAX_DENSE, MAX_KERNELS, MAX_STATES, asymptotic_omega, asymptotic_small_omega,
    legs_b, legs_eigenvectors, legs_matrix, legs_skew, legs_spectrum,
};
pub use memory::Memory;
pub use operator::{decay, decay_of_one, operator_frequency};
pub use sequences::{Missing, fill_missing, sequences};
pub use step::{StepCoverage, WINDOW, best_step, coverage_by_step};
pub use stream::{BlockStream, Clock, LegsStream, SpectralStream};
