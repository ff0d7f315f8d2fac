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
mod sparse_gp;
mod split;

pub use logistic::{Logistic, LogisticConfig};
pub use neighbors::Neighbors;
pub use network::{
    Architecture, DeepRff, Glu, Mlp, Network, NetworkConfig, ResMlp, Siren, Training,
};
pub use ridge::Ridge;
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
