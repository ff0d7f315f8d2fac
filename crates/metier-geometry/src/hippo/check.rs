//! Whether every closed form holds at a given size, on the machine at hand.

use super::baselines::dplr_kernel;
use super::{
    Basis, Clock, Continuized, ContinuizedConfig, LegsStream, decay_of_one, legs_eigenvectors,
    legs_matrix, legs_skew, legs_spectrum,
};
use crate::quadrature::gauss_legendre;
use faer::{Mat, Side, c64};
use metier_core::{Error, Progress, Result};
use serde::Serialize;

// Dense solves of more states take minutes.
const MAX_CHECKED: usize = 2048;

/// An identity, and by how much it fails.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Identity {
    /// What should be equal.
    pub statement: &'static str,
    /// The largest relative difference.
    pub residual: f64,
    /// What rounding explains.
    pub bound: f64,
}

impl Identity {
    /// Whether rounding explains the difference.
    pub fn holds(&self) -> bool {
        self.residual <= self.bound
    }
}

// The statement, the bound, and what measures the difference.
type Check<'a> = (&'static str, f64, &'a dyn Fn() -> Result<f64>);

/// Every identity of this module at N states against dense algebra, recurrences and quadrature.
///
/// ```
/// let identities = metier_geometry::hippo::identities(16, &metier_core::Silent)?;
/// assert!(identities.iter().all(|identity| identity.holds()));
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// No states or more than 2,048, a dense solve that does not converge, or an interruption.
pub fn identities(n: usize, progress: &dyn Progress) -> Result<Vec<Identity>> {
    super::legs::check_states(n, MAX_CHECKED)?;
    let size = n as f64;
    let checks: [Check<'_>; 6] = [
        ("frequencies are the eigenvalues of the skew part", 1e-11, &|| difference_from_dense(n)),
        ("eigenvectors are eigenvectors, of unit length", 1e-12, &|| eigenvectors(n)),
        ("2 Σ p² is N²/2 with both signs and the zero", 1e-12, &|| {
            let spectrum = legs_spectrum(n)?;
            let sum: f64 = spectrum.both_signs().map(|(_, p, _)| p * p).sum();
            Ok((sum / (0.5 * size * size) - 1.0).abs())
        }),
        ("diagonal plus low rank, turned back, is the matrix", 1e-12, &|| matrix(n)),
        ("Cauchy sums give the recurrence's kernel", 1e-10, &|| kernel(n)),
        ("Legendre kernels are integrals of J₀", 1e-10, &|| integrals(n)),
    ];
    progress.begin("checking", Some(checks.len() as u64));
    let mut found = Vec::new();
    for (statement, bound, residual) in checks {
        progress.check()?;
        found.push(Identity { statement, residual: residual()?, bound });
        progress.advance(1);
    }
    progress.finish();
    Ok(found)
}

/// The largest relative difference of the frequencies from a dense solve.
///
/// # Errors
/// A dense solve that does not converge.
pub(super) fn difference_from_dense(n: usize) -> Result<f64> {
    let skew = legs_skew(n)?;
    let hermitian = Mat::from_fn(n, n, |i, k| c64::new(0.0, skew[[i, k]]));
    let dense = hermitian.self_adjoint_eigenvalues(Side::Lower).map_err(|error| {
        Error::numeric(format!("the dense eigenproblem did not converge: {error:?}"))
    })?;
    let closed = legs_spectrum(n)?.omega;
    // The dense solver finds every eigenvalue up to rounding of the largest, and a zero as such.
    let pairs = closed.iter().zip(dense.iter().rev()).filter(|(omega, _)| **omega > 0.0);
    Ok(pairs.map(|(omega, dense)| (dense / omega - 1.0).abs()).fold(0.0, f64::max))
}

// Each eigenvector's signed frequency and its product with P.
type Modes = Vec<(f64, f64)>;

// The eigenvectors as a dense matrix.
fn vectors(n: usize) -> Result<(Mat<c64>, Modes)> {
    let vectors = legs_eigenvectors(n)?;
    let modes = legs_spectrum(n)?.both_signs().map(|(w, p, _)| (w, p)).collect();
    Ok((Mat::from_fn(n, n, |i, k| vectors[[i, k]]), modes))
}

fn eigenvectors(n: usize) -> Result<f64> {
    let (vectors, modes) = vectors(n)?;
    let skew = legs_skew(n)?;
    let product = Mat::from_fn(n, n, |i, k| c64::new(skew[[i, k]], 0.0)) * &vectors;
    let norm = legs_skew(n)?.iter().fold(f64::MIN_POSITIVE, |sum, v| sum.hypot(*v));
    let gram = vectors.adjoint() * &vectors;
    let mut worst = 0.0f64;
    for (k, (w, _)) in modes.iter().enumerate() {
        for i in 0..n {
            let residual = product[(i, k)] - c64::new(0.0, *w) * vectors[(i, k)];
            let unit = if i == k { 1.0 } else { 0.0 };
            worst = worst.max(residual.norm() / norm).max((gram[(i, k)] - unit).norm());
        }
    }
    Ok(worst)
}

fn matrix(n: usize) -> Result<f64> {
    let (vectors, modes) = vectors(n)?;
    let middle = Mat::from_fn(n, n, |i, k| {
        let diagonal = if i == k { c64::new(0.5, modes[i].0) } else { c64::new(0.0, 0.0) };
        diagonal + modes[i].1 * modes[k].1
    });
    let turned = &vectors * middle * vectors.adjoint();
    let a = legs_matrix(n)?;
    let largest = a.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let difference = |((i, k), a): ((usize, usize), &f64)| (turned[(i, k)] - *a).norm() / largest;
    Ok(a.indexed_iter().map(difference).fold(0.0, f64::max))
}

fn kernel(n: usize) -> Result<f64> {
    // Slow enough for the last samples to matter.
    let (len, dt) = (64, 1.0 / (8.0 * n as f64));
    let c: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -0.5 }).collect();
    let found = dplr_kernel(&c, dt, len)?;
    let mut stream = LegsStream::new(n, Clock::Invariant { dt })?;
    let right: Vec<f64> = (0..len)
        .map(|m| {
            let state = stream.push(if m == 0 { 1.0 } else { 0.0 });
            state.iter().zip(&c).map(|(x, c)| x * c).sum()
        })
        .collect();
    let largest = right.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    Ok(found.iter().zip(&right).map(|(a, b)| (a - b).abs() / largest).fold(0.0, f64::max))
}

fn integrals(n: usize) -> Result<f64> {
    let config = ContinuizedConfig { states: n, basis: Basis::Legendre, ..Default::default() };
    let ages = [0.5, 0.05 * (n * n) as f64, (n * n) as f64];
    let found = Continuized::new(&config)?.at(&ages)?;
    let (u, w) = gauss_legendre(4 * n + 40, 0.0, 1.0);
    let mut worst = 0.0f64;
    for state in [0, n / 2, n - 1] {
        for (m, age) in ages.iter().enumerate() {
            let polynomial = |u: f64| crate::quadrature::legendre_pair(state, 2.0 * u - 1.0).1;
            let integral: f64 =
                u.iter().zip(&w).map(|(u, w)| w * polynomial(*u) * decay_of_one(*age, *u)).sum();
            let right = ((2 * state + 1) as f64).sqrt() * integral;
            worst = worst.max((found[[state, m]] - right).abs());
        }
    }
    Ok(worst)
}
