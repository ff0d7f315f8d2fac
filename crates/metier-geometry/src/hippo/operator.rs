//! The limit of the HiPPO matrix: Volterra's operator `(V g)(u) = ∫_0^u g` on [0, 1], what its
//! exponential does, and the eigenvalues of its skew part.

use super::bessel::{Kind, value};
use crate::quadrature::gauss_legendre;
use std::f64::consts::PI;

/// `(e^{-tV} 1)(u) = J_0(2 sqrt(t u))`: what is left at `u` after time `t` of an input of 1.
///
/// ```
/// let x = metier_geometry::hippo::decay_of_one(3.0, 0.5);
/// assert!((x + 0.022966965749).abs() < 1e-12);
/// ```
///
/// # Panics
/// A negative `t` or `u`.
pub fn decay_of_one(t: f64, u: f64) -> f64 {
    assert!(t >= 0.0 && u >= 0.0, "time and place are at least 0");
    value(Kind::Zero, t * u)
}

/// `(e^{-tV} g)(u) = g(u) - ∫_0^u t K(t (u - v)) g(v) dv` with `K(x) = J_1(2 sqrt x) / sqrt x`, by a
/// Gauss–Legendre rule that is exact to rounding for smooth `g`: `g` is a state, and this the state
/// after time `t` without input.
///
/// # Panics
/// A negative `t` or `u`.
pub fn decay(t: f64, u: f64, g: impl Fn(f64) -> f64) -> f64 {
    assert!(t >= 0.0 && u >= 0.0, "time and place are at least 0");
    // The kernel is entire, with about sqrt(t u) / pi waves.
    let nodes = 24 + (2.0 * (t * u).sqrt()) as usize;
    let (places, weights) = gauss_legendre(nodes, 0.0, u);
    let lost: f64 = places
        .iter()
        .zip(&weights)
        .map(|(v, w)| w * t * value(Kind::One, t * (u - v)) * g(*v))
        .sum();
    g(u) - lost
}

/// The j-th largest eigenvalue of the skew part `(V - V*) / 2`, without the factor of i: `1 / ((2j+1)
/// pi)`. Those of the HiPPO matrix are `N²` times as large as N grows. `V` itself has none.
pub fn operator_frequency(j: usize) -> f64 {
    1.0 / ((2 * j + 1) as f64 * PI)
}
