//! Gauss–Legendre quadrature.

use std::f64::consts::PI;

/// Nodes in ascending order and weights of the `n`-point Gauss–Legendre rule on `[from, to]`, exact
/// for polynomials up to degree `2n - 1`.
///
/// ```
/// use metier_geometry::quadrature::gauss_legendre;
/// let (x, w) = gauss_legendre(3, 0.0, 2.0);
/// let integral: f64 = x.iter().zip(&w).map(|(x, w)| w * x.powi(5)).sum();
/// assert!((integral - 64.0 / 6.0).abs() < 1e-13);
/// ```
pub fn gauss_legendre(n: usize, from: f64, to: f64) -> (Vec<f64>, Vec<f64>) {
    let (half, middle) = (0.5 * (to - from), 0.5 * (to + from));
    let (mut nodes, mut weights) = (vec![middle; n], vec![to - from; n]);
    for i in 0..n / 2 {
        let (x, w) = node(n, i);
        nodes[i] = middle - half * x;
        nodes[n - 1 - i] = middle + half * x;
        weights[i] = half * w;
        weights[n - 1 - i] = half * w;
    }
    if n % 2 == 1 {
        let (_, slope) = legendre(n, 0.0);
        weights[n / 2] = half * 2.0 / (slope * slope);
    }
    (nodes, weights)
}

// The i-th largest node on [-1, 1] with its weight, by Newton's method from Tricomi's guess.
fn node(n: usize, i: usize) -> (f64, f64) {
    let count = n as f64;
    let angle = PI * (i as f64 + 0.75) / (count + 0.5);
    let mut x = (1.0 - (count - 1.0) / (8.0 * count.powi(3))) * angle.cos();
    for _ in 0..20 {
        let (value, slope) = legendre(n, x);
        let step = value / slope;
        x -= step;
        if step.abs() < 1e-15 {
            break;
        }
    }
    let (_, slope) = legendre(n, x);
    (x, 2.0 / ((1.0 - x * x) * slope * slope))
}

// P_n and its derivative at |x| < 1.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (before, value) = legendre_pair(n, x);
    (value, n as f64 * (before - x * value) / (1.0 - x * x))
}

/// The Legendre polynomials `P_{n-1}` (0 for n = 0) and `P_n` at `x`, by their recurrence.
pub(crate) fn legendre_pair(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (0.0, 1.0);
    for l in 1..=n {
        let l = l as f64;
        (before, value) = (value, ((2.0 * l - 1.0) * x * value - (l - 1.0) * before) / l);
    }
    (before, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_n_nodes_is_exact_to_degree_2n_minus_1() {
        for n in [1, 2, 5, 16, 33] {
            let (x, w) = gauss_legendre(n, -1.0, 1.0);
            for degree in 0..2 * n {
                let sum: f64 = x.iter().zip(&w).map(|(x, w)| w * x.powi(degree as i32)).sum();
                let exact = if degree % 2 == 0 { 2.0 / (degree as f64 + 1.0) } else { 0.0 };
                assert!((sum - exact).abs() < 1e-13, "n {n} degree {degree}: {sum} {exact}");
            }
        }
    }

    #[test]
    fn nodes_ascend_inside_the_interval_and_weights_add_up_to_its_length() {
        let (x, w) = gauss_legendre(501, 0.25, 0.75);
        assert!(x.windows(2).all(|pair| pair[0] < pair[1]) && x[0] > 0.25 && x[500] < 0.75);
        assert!((w.iter().sum::<f64>() - 0.5).abs() < 1e-14);
    }
}
