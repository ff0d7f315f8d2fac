//! Polynomials through Chebyshev points, by powers: what tables are made of.

use std::f64::consts::PI;

/// The `N` Chebyshev points of [-1, 1], from the right.
pub(super) fn points<const N: usize>() -> [f64; N] {
    std::array::from_fn(|j| angle::<N>(j).cos())
}

/// The matrix that takes the values at the [`points`] to the coefficients of the powers 0 to N - 1
/// of the polynomial through them.
pub(super) fn to_powers<const N: usize>() -> [[f64; N]; N] {
    let mut matrix = [[0.0; N]; N];
    // T_k by powers, built up as k grows.
    let (mut before, mut now) = ([0.0; N], [0.0; N]);
    now[0] = 1.0;
    for k in 0..N {
        let share = if k == 0 { 1.0 } else { 2.0 } / N as f64;
        for (row, power) in matrix.iter_mut().zip(&now) {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry += share * power * (k as f64 * angle::<N>(j)).cos();
            }
        }
        let mut next = [0.0; N];
        for i in 0..N {
            let shifted = if i > 0 { now[i - 1] } else { 0.0 };
            next[i] = if k == 0 { shifted } else { 2.0 * shifted - before[i] };
        }
        (before, now) = (now, next);
    }
    matrix
}

fn angle<const N: usize>(j: usize) -> f64 {
    PI * (j as f64 + 0.5) / N as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_is_its_own_interpolant() {
        let right = [3.0, -1.0, 0.5, 2.0, 0.0, -4.0];
        let value = |x: f64| right.iter().rev().fold(0.0, |sum, c| sum * x + c);
        let samples = points::<6>().map(value);
        for (row, right) in to_powers::<6>().iter().zip(right) {
            let found: f64 = row.iter().zip(&samples).map(|(a, b)| a * b).sum();
            assert!((found - right).abs() < 1e-14, "{found} {right}");
        }
    }
}
