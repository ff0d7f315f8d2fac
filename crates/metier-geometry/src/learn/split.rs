//! Splits of rows that depend on the seed alone.

use metier_core::{Error, Result, rng};
use ndarray::Array2;
use rand::seq::SliceRandom;

/// Rows to learn from, to choose with, and to judge by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Rows to learn from.
    pub train: Vec<usize>,
    /// Rows to choose strengths and the time to stop by.
    pub validation: Vec<usize>,
    /// Rows that nothing is chosen by.
    pub test: Vec<usize>,
}

impl Split {
    /// 60 % to learn from, 20 % to choose with, 20 % to judge by.
    pub fn new(n: usize, seed: u64) -> Self {
        let mut train = shuffled(n, seed);
        let test = train.split_off(n * 4 / 5);
        let validation = train.split_off(n * 3 / 5);
        Self { train, validation, test }
    }
}

/// The numbers 0..n in an order that the seed decides.
pub fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut rng::stream(seed, "split"));
    order
}

/// The rows of `k` folds of near-equal size with near-equal shares of every label.
///
/// # Errors
/// No folds, or more folds than rows, which would leave some empty.
pub fn folds(labels: &[usize], k: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
    if !(1..=labels.len()).contains(&k) {
        return Err(Error::usage(format!("{k} folds are asked for of {} rows", labels.len()))
            .in_field("folds")
            .help("take at least 1, and no more than there are rows"));
    }
    let mut order = shuffled(labels.len(), seed);
    // A stable sort keeps the shuffled order within each label.
    order.sort_by_key(|row| labels[*row]);
    let mut folds = vec![Vec::new(); k];
    for (place, row) in order.into_iter().enumerate() {
        folds[place % k].push(row);
    }
    Ok(folds)
}

/// The chosen rows of an array.
///
/// # Panics
/// A row that the array does not have.
pub fn rows(x: &Array2<f32>, chosen: &[usize]) -> Array2<f32> {
    x.select(ndarray::Axis(0), chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_uses_every_row_once() {
        let split = Split::new(101, 7);
        let mut all = [split.train.clone(), split.validation.clone(), split.test.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..101).collect::<Vec<_>>());
        assert_eq!((split.train.len(), split.validation.len(), split.test.len()), (60, 20, 21));
        assert_ne!(split, Split::new(101, 8));
    }

    #[test]
    fn folds_share_out_every_label() {
        let labels: Vec<usize> = (0..100).map(|i| i % 4).collect();
        for fold in folds(&labels, 5, 0).unwrap() {
            for label in 0..4 {
                assert_eq!(fold.iter().filter(|row| labels[**row] == label).count(), 5);
            }
        }
        for k in [0, 101] {
            let error = folds(&labels, k, 0).unwrap_err();
            assert_eq!(error.message(), format!("{k} folds are asked for of 100 rows"));
        }
    }
}
