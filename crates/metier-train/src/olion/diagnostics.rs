//! What the theory says of an update: how far it is from a matrix that is orthogonal and of signs
//! alone, and how much descent it promises.

use super::svd::ThinSvd;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use metier_core::Result;
use metier_nn::optim::sign;
use serde::Serialize;

/// The quantities of the paper's analysis for an update signal `G = U·Σ·Vᵀ` of rank `r`, with its
/// polar factor `Q = U·Vᵀ` and the signs `S = sign(Q)` that OLion steps along.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnostics {
    /// The rank `r`.
    pub rank: usize,
    /// `m_k = u_kᵀ·S·v_k`, what the signs keep of each singular direction. They sum to `‖Q‖₁`.
    pub alignment: Vec<f64>,
    /// `‖Q‖₁`, the sum of absolute values.
    pub polar_l1: f64,
    /// Diagonal isotropy `ε = √r·‖m - ‖Q‖₁/r‖₂ / ‖Q‖₁`: zero where the signs keep all directions
    /// alike.
    pub epsilon: f64,
    /// The mean singular value `α = tr Σ / r`.
    pub alpha: f64,
    /// The spread of singular values `ρ = ‖Σ - αI‖_F / (α·√r)`.
    pub rho: f64,
    /// Stationarity `Φ = ‖Q‖₁·α·(1 - ε·ρ)`: a step `η` along `-S` lowers a function with
    /// `L`-Lipschitz gradient `G` by at least `η·Φ - L·η²·d1·d2/2`.
    pub phi: f64,
    /// Hadamard gap `1 - ‖Q‖₁/(d2·√d1)` for `d1 ≥ d2`: zero exactly where `Q` is a scaled part of a
    /// Hadamard matrix, which is orthogonal and of signs alone.
    pub hadamard_gap: f64,
}

/// The diagnostics of a gradient or momentum. A matrix of zeros has rank 0, gap 1 and zeros else.
///
/// # Errors
/// A singular value decomposition that does not converge.
///
/// ```
/// use metier_train::olion::hadamard_diagnostics;
/// let hadamard = faer::mat![[1.0f32, 1.0], [1.0, -1.0]];
/// let d = hadamard_diagnostics(hadamard.as_ref())?;
/// assert!(d.hadamard_gap.abs() < 1e-6 && d.epsilon < 1e-6 && d.rho < 1e-6);
/// # Ok::<(), metier_core::Error>(())
/// ```
pub fn hadamard_diagnostics(g: MatRef<'_, f32>) -> Result<Diagnostics> {
    let (rows, columns) = (g.nrows(), g.ncols());
    let svd = ThinSvd::of(g)?;
    let rank = svd.rank();
    let mut q = Mat::zeros(rows, columns);
    svd.polar(q.as_mut());
    let polar_l1: f64 = q.col_iter().flat_map(|c| c.iter()).map(|q| f64::from(q.abs())).sum();
    let signs = Mat::from_fn(rows, columns, |i, j| sign(q[(i, j)]));
    let mut kept = Mat::<f32>::zeros(rows, rank);
    let v = svd.v.as_ref().subcols(0, rank);
    matmul(kept.as_mut(), Accum::Replace, signs.as_ref(), v, 1.0, Par::Seq);
    let dot = |k: usize| {
        let (u, s) = (svd.u.col(k), kept.col(k));
        u.iter().zip(s.iter()).map(|(u, s)| f64::from(*u) * f64::from(*s)).sum::<f64>()
    };
    let alignment: Vec<f64> = (0..rank).map(dot).collect();

    let r = rank as f64;
    let or_zero = |value: f64| if value.is_finite() { value } else { 0.0 };
    let spread = |values: &mut dyn Iterator<Item = f64>, mean: f64| {
        values.map(|value| (value - mean).powi(2)).sum::<f64>().sqrt()
    };
    let epsilon =
        or_zero(r.sqrt() * spread(&mut alignment.iter().copied(), polar_l1 / r) / polar_l1);
    let s = || svd.s.iter().take(rank).map(|s| f64::from(*s));
    let alpha = or_zero(s().sum::<f64>() / r);
    let rho = or_zero(spread(&mut s(), alpha) / (alpha * r.sqrt()));
    let (long, short) = (rows.max(columns) as f64, rows.min(columns) as f64);
    Ok(Diagnostics {
        rank,
        alignment,
        polar_l1,
        epsilon,
        alpha,
        rho,
        phi: polar_l1 * alpha * (1.0 - epsilon * rho),
        hadamard_gap: 1.0 - or_zero(polar_l1 / (short * long.sqrt())),
    })
}
