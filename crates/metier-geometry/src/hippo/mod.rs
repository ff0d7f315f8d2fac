//! The HiPPO-LegS matrix in closed form: what state-space layers (S4, S4D, S5) are initialised with.
//!
//! Such layers build the matrix, decompose it by a dense complex solver in O(N³), and keep its
//! eigenvalues and low-rank terms. All of these have closed forms: [`legs_spectrum`] gives them to
//! the last digits in O(N), [`legs_eigenvectors`] the change of basis in O(N²).
//!
//! Gu, Dao, Ermon, Rudra & Ré, "HiPPO: Recurrent Memory with Optimal Polynomial Projections",
//! arXiv 2008.07669; Gu, Goel & Ré, "Efficiently Modeling Long Sequences with Structured State
//! Spaces", arXiv 2111.00396. The closed forms are our own.

mod angles;
mod legs;
#[cfg(test)]
mod tests;

pub use legs::{
    LegsSpectrum, MAX_DENSE, MAX_STATES, asymptotic_omega, asymptotic_small_omega, legs_b,
    legs_eigenvectors, legs_matrix, legs_skew, legs_spectrum,
};
