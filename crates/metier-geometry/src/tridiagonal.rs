//! Single eigenpairs of a symmetric tridiagonal matrix.
//!
//! A caller that wants the few most extreme of many eigenpairs pays for those alone: bisection on
//! Sturm counts finds a value, inverse iteration its vector. Values must be simple and well apart,
//! as those of a Sturm–Liouville problem are.

/// A symmetric tridiagonal matrix.
#[derive(Clone, Debug)]
pub struct Tridiagonal {
    diagonal: Vec<f64>,
    // One shorter than the diagonal.
    off: Vec<f64>,
    squares: Vec<f64>,
    bounds: (f64, f64),
}

impl Tridiagonal {
    /// The matrix with this diagonal and the entries `off` beside it, one fewer.
    ///
    /// # Panics
    /// When `off` is not one shorter than a diagonal of at least one entry.
    pub fn new(diagonal: Vec<f64>, off: Vec<f64>) -> Self {
        assert_eq!(diagonal.len(), off.len() + 1, "a tridiagonal matrix has n and n - 1 entries");
        let beside = |i: usize| {
            let left = if i > 0 { off[i - 1].abs() } else { 0.0 };
            left + off.get(i).map_or(0.0, |value| value.abs())
        };
        // Gershgorin's discs hold every eigenvalue.
        let bounds = diagonal
            .iter()
            .enumerate()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (i, d)| {
                (low.min(d - beside(i)), high.max(d + beside(i)))
            });
        let squares = off.iter().map(|value| value * value).collect();
        Self { diagonal, off, squares, bounds }
    }

    /// The size of the matrix.
    pub fn size(&self) -> usize {
        self.diagonal.len()
    }

    /// How many eigenvalues lie below `x`.
    pub fn count_below(&self, x: f64) -> usize {
        let tiny = f64::MIN_POSITIVE.sqrt();
        // A pivot of zero counts as a tiny negative one.
        let nudged = |pivot: f64| if pivot.abs() < tiny { -tiny } else { pivot };
        let mut pivot = nudged(self.diagonal[0] - x);
        let mut count = usize::from(pivot < 0.0);
        for (d, square) in self.diagonal[1..].iter().zip(&self.squares) {
            pivot = nudged(d - x - square / pivot);
            count += usize::from(pivot < 0.0);
        }
        count
    }

    /// The eigenpair number `k` in ascending order of values, with a vector of unit length.
    ///
    /// # Panics
    /// When `k` is not below the size.
    pub fn eigenpair(&self, k: usize) -> (f64, Vec<f64>) {
        assert!(k < self.size(), "eigenpair {k} of a matrix of size {}", self.size());
        let (mut low, mut high) = self.bounds;
        // Inverse iteration gains all further digits, as neighbours are far apart compared to this.
        let accuracy = 1e-11 * low.abs().max(high.abs());
        while high - low > accuracy {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if self.count_below(middle) > k {
                high = middle;
            } else {
                low = middle;
            }
        }
        let shift = 0.5 * (low + high);
        let solver = Shifted::new(self, shift);
        let mut vector: Vec<f64> = (0..self.size()).map(start).collect();
        normalize(&mut vector);
        for _ in 0..4 {
            let before = vector.clone();
            solver.solve(&mut vector);
            normalize(&mut vector);
            let turn: f64 = before.iter().zip(&vector).map(|(a, b)| a * b).sum();
            if turn.abs() > 1.0 - 1e-15 {
                break;
            }
        }
        (self.rayleigh(&vector), vector)
    }

    fn rayleigh(&self, v: &[f64]) -> f64 {
        let own: f64 = self.diagonal.iter().zip(v).map(|(d, v)| d * v * v).sum();
        let beside: f64 = self.off.iter().zip(v.windows(2)).map(|(e, v)| e * v[0] * v[1]).sum();
        own + 2.0 * beside
    }
}

// A fixed start that no eigenvector is orthogonal to, except by a rare accident of rounding.
fn start(i: usize) -> f64 {
    1.0 + 0.5
        * ((i as f64 * 0.618_033_988_749_895).fract() - 0.5)
        * if i.is_multiple_of(2) { 1.0 } else { -1.0 }
}

fn normalize(v: &mut [f64]) {
    // Scaled first: a solve close to an eigenvalue may overflow a plain sum of squares.
    let largest = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let norm = v.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt() * largest;
    v.iter_mut().for_each(|x| *x /= norm);
}

// LU with partial pivoting of a shifted tridiagonal matrix: two upper diagonals fill in.
struct Shifted {
    pivots: Vec<[f64; 3]>,
    factors: Vec<f64>,
    swapped: Vec<bool>,
}

impl Shifted {
    fn new(matrix: &Tridiagonal, shift: f64) -> Self {
        let n = matrix.size();
        // Of a matrix of zeros too, what is divided by this stays finite.
        let smallest = f64::EPSILON * matrix.bounds.0.abs().max(matrix.bounds.1.abs()).max(1e-280);
        let off = |i: usize| matrix.off.get(i).copied().unwrap_or(0.0);
        let mut row = [matrix.diagonal[0] - shift, off(0), 0.0];
        let (mut pivots, mut factors, mut swapped) =
            (Vec::with_capacity(n), Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..n.saturating_sub(1) {
            let next = [off(i), matrix.diagonal[i + 1] - shift, off(i + 1)];
            let swap = next[0].abs() > row[0].abs();
            let (top, below) = if swap { (next, row) } else { (row, next) };
            let pivot = if top[0].abs() < smallest { smallest } else { top[0] };
            let factor = below[0] / pivot;
            pivots.push([pivot, top[1], top[2]]);
            factors.push(factor);
            swapped.push(swap);
            row = [below[1] - factor * top[1], below[2] - factor * top[2], 0.0];
        }
        let last = if row[0].abs() < smallest { smallest } else { row[0] };
        pivots.push([last, 0.0, 0.0]);
        Self { pivots, factors, swapped }
    }

    fn solve(&self, v: &mut [f64]) {
        let n = v.len();
        for i in 0..n - 1 {
            if self.swapped[i] {
                v.swap(i, i + 1);
            }
            v[i + 1] -= self.factors[i] * v[i];
        }
        for i in (0..n).rev() {
            let [pivot, one, two] = self.pivots[i];
            let mut rest = v[i];
            if i + 1 < n {
                rest -= one * v[i + 1];
            }
            if i + 2 < n {
                rest -= two * v[i + 2];
            }
            v[i] = rest / pivot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn the_second_difference_has_its_known_spectrum() {
        let n = 64;
        let matrix = Tridiagonal::new(vec![2.0; n], vec![-1.0; n - 1]);
        for k in [0, 1, 31, 62, 63] {
            let (value, vector) = matrix.eigenpair(k);
            let angle = PI * (k as f64 + 1.0) / (n as f64 + 1.0);
            assert!((value - (2.0 - 2.0 * angle.cos())).abs() < 1e-13, "{k}: {value}");
            let scale = (2.0 / (n as f64 + 1.0)).sqrt() * vector[0].signum();
            for (i, v) in vector.iter().enumerate() {
                let exact = scale * (angle * (i as f64 + 1.0)).sin();
                assert!((v - exact).abs() < 1e-11, "{k} {i}: {v} {exact}");
            }
        }
    }

    #[test]
    fn a_single_entry_is_its_own_eigenvalue() {
        for value in [-3.5, 0.0] {
            assert_eq!(Tridiagonal::new(vec![value], vec![]).eigenpair(0), (value, vec![1.0]));
        }
    }
}
