//! Linear regression with a quadratic penalty, its strength chosen on rows held out.

use super::r_squared;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, Side};
use metier_core::{Error, Result};
use ndarray::Array2;

/// A ridge regression on standardised features.
#[derive(Clone, Debug)]
pub struct Ridge {
    weights: Vec<f64>,
    offset: f64,
    /// The strength that was chosen, for features of unit deviation.
    pub alpha: f64,
}

const STRENGTHS: [f64; 10] = [1e-3, 1e-2, 1e-1, 1.0, 3.0, 10.0, 30.0, 100.0, 1e3, 1e4];

impl Ridge {
    /// Learns from `(x, y)` with the strength, out of ten from 1e-3 to 1e4, that does best on
    /// `(held_x, held_y)`. The features are standardised on `x`.
    ///
    /// # Errors
    /// Rows and targets that differ in number, no rows, rows held out with other columns, or an
    /// eigenproblem that does not converge.
    pub fn fit(x: &Array2<f32>, y: &[f64], held_x: &Array2<f32>, held_y: &[f64]) -> Result<Self> {
        super::check(x, y.len())?;
        super::check(held_x, held_y.len())?;
        super::check_columns(x, held_x)?;
        let offset = y.iter().sum::<f64>() / y.len() as f64;
        let Normal { gram, right, mean, deviation } = Normal::of(x, 1, |row, _| y[row] - offset);
        let columns = x.ncols();
        let solved = gram.self_adjoint_eigen(Side::Lower).map_err(|error| {
            Error::numeric(format!("ridge regression did not converge: {error:?}"))
        })?;
        let (vectors, values) = (solved.U(), solved.S().column_vector());
        let turned: Vec<f64> = (0..columns)
            .map(|k| vectors.col(k).iter().zip(right.col(0).iter()).map(|(v, r)| v * r).sum())
            .collect();
        let mut best: Option<(f64, Self)> = None;
        for alpha in STRENGTHS {
            let shrunk = |k: usize| turned[k] / (values[k].max(0.0) + alpha);
            let mut weights = vec![0.0; columns];
            for k in 0..columns {
                let amount = shrunk(k);
                weights.iter_mut().zip(vectors.col(k).iter()).for_each(|(w, v)| *w += amount * v);
            }
            weights.iter_mut().zip(&deviation).for_each(|(w, d)| *w /= d);
            let shift: f64 = weights.iter().zip(&mean).map(|(w, m)| w * m).sum();
            let model = Self { weights, offset: offset - shift, alpha };
            let score = r_squared(held_y, &model.predict(held_x));
            if best.as_ref().is_none_or(|(before, _)| score > *before) {
                best = Some((score, model));
            }
        }
        best.map(|(_, model)| model).ok_or_else(|| Error::internal("no strength was tried"))
    }

    /// The predictions, one per row.
    ///
    /// # Panics
    /// Another number of columns than the model was learned from.
    pub fn predict(&self, x: &Array2<f32>) -> Vec<f64> {
        super::expect_columns(x, self.weights.len());
        let sum = |row: ndarray::ArrayView1<'_, f32>| {
            row.iter().zip(&self.weights).map(|(x, w)| f64::from(*x) * w).sum::<f64>()
        };
        x.rows().into_iter().map(|row| sum(row) + self.offset).collect()
    }
}

/// The normal equations of standardised features: products of all columns with one another and with
/// the targets.
pub(super) struct Normal {
    pub(super) gram: Mat<f64>,
    pub(super) right: Mat<f64>,
    pub(super) mean: Vec<f64>,
    pub(super) deviation: Vec<f64>,
}

impl Normal {
    /// Adds them up for `targets` targets, of which `target` gives the one of a row.
    pub(super) fn of(
        x: &Array2<f32>,
        targets: usize,
        target: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let (rows, columns) = x.dim();
        let (mean, deviation) = moments(x);
        let mut gram = Mat::<f64>::zeros(columns, columns);
        let mut right = Mat::<f64>::zeros(columns, targets);
        // In blocks of rows, so that the doubled features never exist as a whole.
        const BLOCK: usize = 2048;
        for first in (0..rows).step_by(BLOCK) {
            let last = (first + BLOCK).min(rows);
            let block: Vec<f64> = (first..last)
                .flat_map(|row| {
                    let (mean, deviation) = (&mean, &deviation);
                    (0..columns).map(move |k| (f64::from(x[[row, k]]) - mean[k]) / deviation[k])
                })
                .collect();
            let block = MatRef::from_row_major_slice(&block, last - first, columns).transpose();
            let goal = Mat::from_fn(last - first, targets, |i, k| target(first + i, k));
            matmul(&mut gram, Accum::Add, block, block.transpose(), 1.0, Par::rayon(0));
            matmul(&mut right, Accum::Add, block, &goal, 1.0, Par::rayon(0));
        }
        Self { gram, right, mean, deviation }
    }
}

/// Mean and deviation of every column; a column that does not vary has deviation 1.
pub(super) fn moments(x: &Array2<f32>) -> (Vec<f64>, Vec<f64>) {
    let (rows, columns) = x.dim();
    let mut mean = vec![0.0; columns];
    for row in x.rows() {
        mean.iter_mut().zip(row).for_each(|(sum, v)| *sum += f64::from(*v) / rows as f64);
    }
    let mut square = vec![0.0; columns];
    for row in x.rows() {
        for ((sum, v), mean) in square.iter_mut().zip(row).zip(&mean) {
            *sum += (f64::from(*v) - mean).powi(2) / rows as f64;
        }
    }
    let deviation = |square: f64| if square > 1e-20 { square.sqrt() } else { 1.0 };
    (mean, square.into_iter().map(deviation).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_law_is_found_exactly() {
        let x = Array2::from_shape_fn((60, 2), |(i, j)| ((i * (7 + 4 * j)) % 13) as f32);
        let y: Vec<f64> = x
            .rows()
            .into_iter()
            .map(|r| 3.0 * f64::from(r[0]) - 2.0 * f64::from(r[1]) + 5.0)
            .collect();
        let model = Ridge::fit(&x, &y, &x, &y).unwrap();
        assert_eq!(model.alpha, 1e-3);
        for (found, right) in model.predict(&x).iter().zip(&y) {
            assert!((found - right).abs() < 1e-2, "{found} {right}");
        }
    }

    #[test]
    fn rows_held_out_have_the_same_columns() {
        let (x, held) = (Array2::zeros((4, 2)), Array2::zeros((4, 1)));
        let error = Ridge::fit(&x, &[0.0; 4], &held, &[0.0; 4]).unwrap_err();
        assert_eq!(error.message(), "the rows held out have 1 columns, the others 2");
    }

    #[test]
    #[should_panic(expected = "1 columns are given to a model of 2")]
    fn other_columns_are_not_predicted_from() {
        let x = Array2::from_shape_fn((20, 2), |(i, j)| (i * (j + 1)) as f32);
        let y: Vec<f64> = (0..20).map(f64::from).collect();
        Ridge::fit(&x, &y, &x, &y).unwrap().predict(&Array2::zeros((3, 1)));
    }
}
