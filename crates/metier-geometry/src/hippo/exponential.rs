//! The exponential of a small dense matrix, for systems whose kernels have no formula.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// `exp(A)` by scaling to a norm of at most 1/2, the Taylor polynomial of degree 16, whose remainder
/// is below 1e-19 there, and squaring.
pub(super) fn exponential(a: &Mat<f64>) -> Mat<f64> {
    let n = a.nrows();
    let norm =
        (0..n).map(|j| a.col(j).iter().map(|value| value.abs()).sum::<f64>()).fold(0.0, f64::max);
    if !norm.is_finite() {
        // What overflowed has no exponential; a bank of it is refused.
        return Mat::from_fn(n, n, |_, _| f64::NAN);
    }
    let squarings = if norm > 0.5 { (norm / 0.5).log2().ceil() as i32 } else { 0 };
    let scaled = a * faer::Scale(0.5f64.powi(squarings));
    let mut sum = Mat::<f64>::identity(n, n);
    let mut next = Mat::<f64>::zeros(n, n);
    for k in (1..=16).rev() {
        // Horner's scheme: I + A/k (what is there already).
        matmul(&mut next, Accum::Replace, &scaled, &sum, 1.0 / f64::from(k), Par::Seq);
        for i in 0..n {
            next[(i, i)] += 1.0;
        }
        std::mem::swap(&mut sum, &mut next);
    }
    for _ in 0..squarings {
        matmul(&mut next, Accum::Replace, &sum, &sum, 1.0, Par::Seq);
        std::mem::swap(&mut sum, &mut next);
    }
    sum
}
