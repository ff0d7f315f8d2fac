//! Classes by linear regression with a quadratic penalty: one target of 1 or -1 per class, the
//! largest prediction wins.

use super::ridge::Normal;
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use metier_core::{Error, Result};
use ndarray::Array2;

/// A ridge classifier on standardised features.
#[derive(Clone, Debug)]
pub struct RidgeClassifier {
    // Features x classes, and one offset per class.
    weights: Mat<f64>,
    offsets: Vec<f64>,
}

impl RidgeClassifier {
    /// Learns the classes `labels`, counted from 0, with the penalty `alpha` for features of unit
    /// deviation.
    ///
    /// # Errors
    /// Rows and labels that differ in number, no rows, or a penalty that is no positive number.
    pub fn fit(x: &Array2<f32>, labels: &[usize], alpha: f64) -> Result<Self> {
        super::check(x, labels.len())?;
        if !(alpha > 0.0 && alpha.is_finite()) {
            let message = format!("alpha is {alpha}, where a positive number is meant");
            return Err(Error::usage(message).in_field("alpha"));
        }
        let classes = labels.iter().max().map_or(0, |last| last + 1);
        let sign = |row: usize, class: usize| if labels[row] == class { 1.0 } else { -1.0 };
        let rows = labels.len() as f64;
        let means: Vec<f64> = (0..classes)
            .map(|class| (0..labels.len()).map(|row| sign(row, class)).sum::<f64>() / rows)
            .collect();
        let Normal { mut gram, right, mean, deviation } =
            Normal::of(x, classes, |row, class| sign(row, class) - means[class]);
        for k in 0..gram.nrows() {
            gram[(k, k)] += alpha;
        }
        let factor = gram.llt(Side::Lower).map_err(|error| {
            Error::numeric(format!("the ridge classifier's matrix is not positive: {error:?}"))
        })?;
        let mut weights = factor.solve(&right);
        for class in 0..classes {
            weights.col_mut(class).iter_mut().zip(&deviation).for_each(|(w, d)| *w /= d);
        }
        let shift =
            |class| -> f64 { weights.col(class).iter().zip(&mean).map(|(w, m)| w * m).sum() };
        let offsets = means.iter().enumerate().map(|(class, m)| m - shift(class)).collect();
        Ok(Self { weights, offsets })
    }

    /// The class of each row.
    ///
    /// # Panics
    /// Another number of columns than the model was learned from.
    pub fn predict(&self, x: &Array2<f32>) -> Vec<usize> {
        super::expect_columns(x, self.weights.nrows());
        let score = |row: &ndarray::ArrayView1<'_, f32>, class: usize| -> f64 {
            let weights = self.weights.col(class);
            row.iter().zip(weights.iter()).map(|(x, w)| f64::from(*x) * w).sum::<f64>()
                + self.offsets[class]
        };
        let best = |row: ndarray::ArrayView1<'_, f32>| {
            let scores = (0..self.offsets.len()).map(|class| (class, score(&row, class)));
            scores.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(class, _)| class)
        };
        x.rows().into_iter().map(best).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separated_classes_are_told_apart() {
        let labels: Vec<usize> = (0..60).map(|i| i % 3).collect();
        let x = Array2::from_shape_fn((60, 2), |(i, k)| {
            let jitter = ((i * 7 + k * 3) % 5) as f32 * 0.1;
            [[0.0, 5.0], [5.0, 0.0], [-5.0, -5.0]][labels[i]][k] + jitter
        });
        let model = RidgeClassifier::fit(&x, &labels, 1.0).unwrap();
        assert_eq!(model.predict(&x), labels);
        let error = RidgeClassifier::fit(&x, &labels, 0.0).unwrap_err();
        assert_eq!(error.message(), "alpha is 0, where a positive number is meant");
        assert!(RidgeClassifier::fit(&x, &labels[1..], 1.0).is_err());
    }
}
