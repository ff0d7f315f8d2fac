//! Polar Express: Newton–Schulz with another polynomial in each of its five steps, which brings the
//! singular values closer to one than five steps of one quintic do.

use super::newton_schulz::{Scratch, iterate};
use faer::{MatMut, MatRef};

/// The coefficients of the five steps. They are given in double precision.
const STEPS: [[f64; 3]; 5] = [
    [8.156554524902461, -22.48329292557795, 15.878769915207462],
    [4.042929935166739, -2.808917465908714, 0.5000178451051316],
    [3.8916678022926607, -2.772484153217685, 0.5060648178503393],
    [3.285753657755655, -2.3681294933425376, 0.46449024233003106],
    [2.3465413258596377, -1.7097828382687081, 0.42323551169305323],
];

/// Writes to `out` the orthogonalized `g`. Two percent of room keeps the largest singular value
/// inside the range that the first polynomial is made for.
///
/// # Panics
/// When the shapes of `g` and `out` differ.
pub fn polar_express(g: MatRef<'_, f32>, out: MatMut<'_, f32>, scratch: &mut Scratch) {
    let steps = STEPS.iter().map(|step| step.map(|coefficient| coefficient as f32));
    iterate(g, steps, |norm| 1.0 / (1.02 * norm + 1e-6), out, scratch);
}
