//! Quantiles, as proposers and baselines cut columns at them.

/// The quantile `q` of values that are sorted and not none, interpolated between neighbours.
pub(super) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let low = place.floor() as usize;
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (place - low as f64) * (sorted[high] - sorted[low])
}

/// The quantiles at 5 %, 10 %, … 95 %.
pub(super) fn grid(sorted: &[f64]) -> Vec<f64> {
    (1..20).map(|step| quantile(sorted, f64::from(step) / 20.0)).collect()
}
