//! Logistic regression with a ridge, or with an elastic net.
//!
//! Not the multinomial one of the geometry family, which takes L-BFGS steps over dense `f32` features:
//! two classes and few columns make Newton's steps exact, and rounding needs the elastic net's path.

use crate::design::Matrix;

/// A linear model of the log odds, on the scale of the columns as they were given.
#[derive(Clone, Debug, PartialEq)]
pub struct Logistic {
    /// One weight per column.
    pub weights: Vec<f64>,
    /// The log odds at zero.
    pub intercept: f64,
}

struct Standard {
    columns: Vec<Vec<f64>>,
    means: Vec<f64>,
    deviations: Vec<f64>,
}

impl Standard {
    fn new(matrix: &Matrix) -> Self {
        let n = matrix.rows().max(1) as f64;
        let mut standard = Self { columns: vec![], means: vec![], deviations: vec![] };
        for column in &matrix.columns {
            let mean = column.iter().sum::<f64>() / n;
            let square = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            let deviation = if square > 0.0 { square.sqrt() } else { 1.0 };
            standard.columns.push(column.iter().map(|x| (x - mean) / deviation).collect());
            standard.means.push(mean);
            standard.deviations.push(deviation);
        }
        standard
    }

    fn back(&self, weights: &[f64], intercept: f64) -> Logistic {
        let weights: Vec<f64> = weights.iter().zip(&self.deviations).map(|(w, d)| w / d).collect();
        let shift: f64 = weights.iter().zip(&self.means).map(|(w, m)| w * m).sum();
        Logistic { weights, intercept: intercept - shift }
    }
}

/// `1 / (1 + exp(-x))`.
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Logistic {
    /// The greatest penalised likelihood on standardised columns:
    /// `sum log-loss + ridge / 2 · |w|²` (the usual `C` is `1 / ridge`), by Newton steps.
    pub fn ridge(matrix: &Matrix, y: &[u8], ridge: f64) -> Self {
        let standard = Standard::new(matrix);
        let p = standard.columns.len();
        let n = y.len();
        let mut weights = vec![0.0; p];
        let mut intercept = 0.0;
        for _ in 0..30 {
            let mut linear = vec![intercept; n];
            for (column, &weight) in standard.columns.iter().zip(&weights) {
                for (value, x) in linear.iter_mut().zip(column) {
                    *value += weight * x;
                }
            }
            let chance: Vec<f64> = linear.iter().map(|&x| sigmoid(x)).collect();
            let curve: Vec<f64> = chance.iter().map(|q| (q * (1.0 - q)).max(1e-9)).collect();
            let rest: Vec<f64> = chance.iter().zip(y).map(|(q, &y)| f64::from(y) - q).collect();
            // The last unknown is the intercept, which is not penalised.
            let scaled: Vec<Vec<f64>> = standard
                .columns
                .iter()
                .map(|column| column.iter().zip(&curve).map(|(x, c)| x * c).collect())
                .collect();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            let mut matrix = vec![vec![0.0; p + 1]; p + 1];
            let mut right = vec![0.0; p + 1];
            for i in 0..p {
                for (cell, column) in matrix[i].iter_mut().zip(&standard.columns[..=i]) {
                    *cell = dot(&scaled[i], column);
                }
                matrix[i][i] += ridge;
                matrix[p][i] = scaled[i].iter().sum();
                right[i] = dot(&standard.columns[i], &rest) - ridge * weights[i];
            }
            matrix[p][p] = curve.iter().sum::<f64>() + 1e-9;
            right[p] = rest.iter().sum();
            let step = cholesky(matrix, right);
            let largest = step.iter().fold(0.0f64, |most, s| most.max(s.abs()));
            // A step of more than a few would overshoot where classes hardly overlap.
            let scale = if largest > 5.0 { 5.0 / largest } else { 1.0 };
            weights.iter_mut().zip(&step).for_each(|(w, s)| *w += scale * s);
            intercept += scale * step[p];
            if largest < 1e-8 {
                break;
            }
        }
        standard.back(&weights, intercept)
    }

    /// The path of an elastic net on standardised columns, from the strongest penalty down: the
    /// models at up to `steps` penalties, ending before the first with more than `most` columns.
    /// `l1` is the share of the absolute-value penalty.
    pub fn elastic_path(
        matrix: &Matrix,
        y: &[u8],
        l1: f64,
        steps: usize,
        most: usize,
    ) -> Vec<Self> {
        let standard = Standard::new(matrix);
        let n = y.len() as f64;
        let mean = y.iter().map(|&label| f64::from(label)).sum::<f64>() / n;
        let slope = |column: &[f64]| {
            column.iter().zip(y).map(|(x, &y)| x * (f64::from(y) - mean)).sum::<f64>().abs() / n
        };
        let top = standard.columns.iter().map(|c| slope(c)).fold(1e-9, f64::max) / l1.max(1e-3);
        let mut weights = vec![0.0; standard.columns.len()];
        let mut intercept = (mean / (1.0 - mean)).ln();
        let mut linear = vec![intercept; y.len()];
        let mut path = Vec::with_capacity(steps);
        for step in 0..steps {
            let penalty = top * 0.01f64.powf(step as f64 / steps.max(2) as f64);
            for _ in 0..30 {
                let mut largest = 0.0f64;
                // The quarter bounds the curvature of the loss, so that every step descends.
                let mut rest: Vec<f64> =
                    linear.iter().zip(y).map(|(&x, &y)| f64::from(y) - sigmoid(x)).collect();
                for (column, weight) in standard.columns.iter().zip(&mut weights) {
                    let g = column.iter().zip(&rest).map(|(x, r)| x * r).sum::<f64>() / n;
                    let z = 0.25 * *weight + g;
                    let shrunk = z.signum() * (z.abs() - penalty * l1).max(0.0);
                    let next = shrunk / (0.25 + penalty * (1.0 - l1));
                    let change = next - *weight;
                    if change != 0.0 {
                        *weight = next;
                        largest = largest.max(change.abs());
                        for ((value, r), x) in linear.iter_mut().zip(&mut rest).zip(column) {
                            *value += change * x;
                            *r -= 0.25 * change * x;
                        }
                    }
                }
                let change = 4.0 * rest.iter().sum::<f64>() / n;
                intercept += change;
                linear.iter_mut().for_each(|value| *value += change);
                if largest < 1e-4 {
                    break;
                }
            }
            if weights.iter().filter(|weight| **weight != 0.0).count() > most {
                break;
            }
            path.push(standard.back(&weights, intercept));
        }
        path
    }

    /// The log odds of each row.
    pub fn linear(&self, matrix: &Matrix) -> Vec<f64> {
        let mut linear = vec![self.intercept; matrix.rows()];
        for (column, &weight) in matrix.columns.iter().zip(&self.weights) {
            if weight != 0.0 {
                linear.iter_mut().zip(column).for_each(|(value, x)| *value += weight * x);
            }
        }
        linear
    }

    /// The chance of each row.
    pub fn predict(&self, matrix: &Matrix) -> Vec<f64> {
        self.linear(matrix).into_iter().map(sigmoid).collect()
    }
}

/// Solves `A x = b` for a symmetric positive definite `A`, of which the lower half is read.
fn cholesky(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        for j in 0..=i {
            let (row_i, row_j) = (&a[i][..j], &a[j][..j]);
            let sum: f64 = row_i.iter().zip(row_j).map(|(x, y)| x * y).sum();
            let value = a[i][j] - sum;
            a[i][j] = if i == j { value.max(1e-12).sqrt() } else { value / a[j][j] };
        }
    }
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| a[i][k] * b[k]).sum();
        b[i] = (b[i] - sum) / a[i][i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| a[k][i] * b[k]).sum();
        b[i] = (b[i] - sum) / a[i][i];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(column: Vec<f64>) -> Matrix {
        Matrix { names: vec!["x".into()], columns: vec![column] }
    }

    #[test]
    fn a_two_by_two_table_has_its_log_odds_ratio() {
        // 10 of 40 among x = 0, 30 of 40 among x = 1: the log odds are ∓ ln 3.
        let x: Vec<f64> = (0..80).map(|i| f64::from(i / 40)).collect();
        let y: Vec<u8> = (0..80).map(|i| u8::from(i % 40 < if i < 40 { 10 } else { 30 })).collect();
        let model = Logistic::ridge(&one(x.clone()), &y, 0.0);
        assert!((model.intercept + 3f64.ln()).abs() < 1e-7, "{model:?}");
        assert!((model.weights[0] - 2.0 * 3f64.ln()).abs() < 1e-7, "{model:?}");
        let path = Logistic::elastic_path(&one(x.clone()), &y, 1.0, 60, 1);
        assert_eq!(path[0].weights, [0.0]);
        let last = &path[59];
        assert!(last.weights[0] > 1.9 && last.weights[0] < model.weights[0], "{last:?}");
        let chances = model.predict(&one(x));
        assert!((chances[0] - 0.25).abs() < 1e-7 && (chances[79] - 0.75).abs() < 1e-7);
    }

    #[test]
    fn separated_classes_stay_finite() {
        let model = Logistic::ridge(&one(vec![0.0, 0.0, 1.0, 1.0]), &[0, 0, 1, 1], 1.0);
        assert!(model.weights[0].is_finite() && model.weights[0] > 0.0);
    }
}
