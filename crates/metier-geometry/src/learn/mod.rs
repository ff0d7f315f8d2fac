//! Small learners that show what features are worth: linear, a small network, nearest neighbours.
//!
//! They are what the experiments and `metier slepian fit` need, no more: a user's own model takes
//! the features as columns.

mod logistic;
mod mlp;
mod neighbors;
mod ridge;
mod split;

pub use logistic::{Logistic, LogisticConfig};
pub use mlp::{Mlp, MlpConfig};
pub use neighbors::Neighbors;
pub use ridge::Ridge;
pub use split::{Split, folds, rows, shuffled};

/// The share of variance explained, `1 - SS_residual / SS_total`; 0 is as good as the mean.
///
/// ```
/// assert_eq!(metier_geometry::learn::r_squared(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), 1.0);
/// ```
pub fn r_squared(truth: &[f64], predicted: &[f64]) -> f64 {
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let total: f64 = truth.iter().map(|y| (y - mean).powi(2)).sum();
    let residual: f64 = truth.iter().zip(predicted).map(|(y, p)| (y - p).powi(2)).sum();
    1.0 - residual / total
}

/// The share of labels that agree.
pub fn accuracy(truth: &[usize], predicted: &[usize]) -> f64 {
    let right = truth.iter().zip(predicted).filter(|(a, b)| a == b).count();
    right as f64 / truth.len() as f64
}
