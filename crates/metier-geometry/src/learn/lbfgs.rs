//! Limited-memory BFGS.

use metier_core::{Progress, Result};
use std::collections::VecDeque;

const MEMORY: usize = 10;

/// The arguments of a small value of `objective`, which returns its gradient beside it, from `w` on:
/// at most `steps` steps, until no entry of the gradient is above `tolerance`. Armijo's backtracking;
/// steps along which the curvature is not positive are not remembered.
pub(super) fn minimise(
    objective: impl Fn(&[f64]) -> (f64, Vec<f64>),
    mut w: Vec<f64>,
    steps: usize,
    tolerance: f64,
    progress: &dyn Progress,
) -> Result<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut value, mut gradient) = objective(&w);
    let mut past: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::new();
    for step in 0..steps {
        progress.check()?;
        if gradient.iter().all(|g| g.abs() <= tolerance) {
            break;
        }
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut turns = Vec::with_capacity(past.len());
        for (s, y, curvature) in past.iter().rev() {
            let a = dot(s, &direction) / curvature;
            direction.iter_mut().zip(y).for_each(|(d, y)| *d -= a * y);
            turns.push(a);
        }
        if let Some((_, y, curvature)) = past.back() {
            let scale = curvature / dot(y, y);
            direction.iter_mut().for_each(|d| *d *= scale);
        }
        for ((s, y, curvature), a) in past.iter().zip(turns.iter().rev()) {
            let b = dot(y, &direction) / curvature;
            direction.iter_mut().zip(s).for_each(|(d, s)| *d += (a - b) * s);
        }
        let slope = dot(&gradient, &direction);
        let mut length =
            if step == 0 { 1.0 / dot(&gradient, &gradient).sqrt().max(1.0) } else { 1.0 };
        let (next, next_value, next_gradient) = loop {
            let next: Vec<f64> = w.iter().zip(&direction).map(|(w, d)| w + length * d).collect();
            let (next_value, next_gradient) = objective(&next);
            if next_value <= value + 1e-4 * length * slope {
                break (next, next_value, next_gradient);
            }
            length *= 0.5;
            if length < 1e-10 {
                return Ok(w);
            }
        };
        let s: Vec<f64> = next.iter().zip(&w).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = next_gradient.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        let curvature = dot(&s, &y);
        if curvature > 1e-14 * dot(&y, &y) {
            past.push_back((s, y, curvature));
            if past.len() > MEMORY {
                past.pop_front();
            }
        }
        (w, value, gradient) = (next, next_value, next_gradient);
    }
    Ok(w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_core::Silent;

    #[test]
    fn the_bottom_of_a_bent_valley_is_found() {
        // Rosenbrock's.
        let valley = |w: &[f64]| {
            let (a, b) = (1.0 - w[0], w[1] - w[0] * w[0]);
            (a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * w[0] * b, 200.0 * b])
        };
        let found = minimise(valley, vec![-1.2, 1.0], 200, 1e-8, &Silent).unwrap();
        assert!(found.iter().all(|w| (w - 1.0).abs() < 1e-6), "{found:?}");
    }
}
