//! Small learners that show what features are worth: linear, small networks, a sparse Gaussian process,
//! nearest neighbours.
//!
//! They are what the experiments and `metier slepian fit` need, no more: a user's own model takes
//! the features as columns.

use metier_core::{Error, Result};
use ndarray::Array2;

mod lbfgs;
mod logistic;
mod neighbors;
mod network;
mod ridge;
mod ridge_classifier;
mod sparse_gp;
mod split;

pub use logistic::{Logistic, LogisticConfig};
pub use neighbors::Neighbors;
pub use network::{
    Architecture, DeepRff, Glu, Mlp, Network, NetworkConfig, ResMlp, Siren, Training,
};
pub use ridge::Ridge;
pub use ridge_classifier::RidgeClassifier;
pub use sparse_gp::{SparseGp, SparseGpConfig};
pub use split::{Split, folds, rows, shuffled};

fn check(x: &Array2<f32>, targets: usize) -> Result<()> {
    if x.nrows() != targets {
        return Err(Error::input(format!("{} rows have {targets} targets", x.nrows())));
    }
    if targets == 0 {
        return Err(Error::input("there are no rows to learn from or to choose with"));
    }
    Ok(())
}

// Rows to learn from and rows held out have the same columns.
fn check_columns(x: &Array2<f32>, held_x: &Array2<f32>) -> Result<()> {
    if x.ncols() == held_x.ncols() {
        return Ok(());
    }
    let (learned, held) = (x.ncols(), held_x.ncols());
    Err(Error::input(format!("the rows held out have {held} columns, the others {learned}")))
}

// A model reads columns by their place, so others would be taken for those that it knows.
#[track_caller]
fn expect_columns(x: &Array2<f32>, learned: usize) {
    let given = x.ncols();
    assert!(given == learned, "{given} columns are given to a model of {learned}");
}

/// The share of variance explained, `1 - SS_residual / SS_total`; 0 is as good as the mean.
///
/// ```
/// assert_eq!(metier_geometry::learn::r_squared(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), 1.0);
/// ```
///
/// # Panics
/// Unequal numbers of truths and predictions.
pub fn r_squared(truth: &[f64], predicted: &[f64]) -> f64 {
    assert_eq!(truth.len(), predicted.len(), "as many predictions as truths are compared");
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let total: f64 = truth.iter().map(|y| (y - mean).powi(2)).sum();
    let residual: f64 = truth.iter().zip(predicted).map(|(y, p)| (y - p).powi(2)).sum();
    1.0 - residual / total
}

/// The share of labels that agree.
///
/// # Panics
/// Unequal numbers of truths and predictions.
pub fn accuracy(truth: &[usize], predicted: &[usize]) -> f64 {
    assert_eq!(truth.len(), predicted.len(), "as many predictions as truths are compared");
    let right = truth.iter().zip(predicted).filter(|(a, b)| a == b).count();
    right as f64 / truth.len() as f64
}
