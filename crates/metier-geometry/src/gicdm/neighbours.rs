//! The nearest of many, and their mean.

/// The `k` least of `values` in ascending order, with their places; all where there are fewer.
pub(super) fn least(values: impl Iterator<Item = (usize, f64)>, k: usize) -> Vec<(usize, f64)> {
    let mut all: Vec<(usize, f64)> = values.collect();
    let by_value = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
    if k < all.len() {
        if k > 0 {
            all.select_nth_unstable_by(k - 1, by_value);
        }
        all.truncate(k);
    }
    all.sort_unstable_by(by_value);
    all
}

/// The mean of the `k` least, and the largest of them.
pub(super) fn mean_and_last(values: impl Iterator<Item = f64>, k: usize) -> (f64, f64) {
    let nearest = least(values.enumerate(), k);
    let sum: f64 = nearest.iter().map(|(_, value)| value).sum();
    (sum / nearest.len() as f64, nearest.last().map_or(0.0, |(_, value)| *value))
}
