//! A claim and the numbers behind it.

use super::Bar;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// One number per seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// No samples: the baseline of a claim that has none.
    pub fn none() -> Self {
        Self::default()
    }

    /// The arithmetic mean; NaN without samples.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// The middle value, or the mean of the two middle values; NaN without samples.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => sorted[n / 2],
            n => 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]),
        }
    }

    /// The sample standard deviation; zero for one sample.
    pub fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (self.0.len().max(2) - 1) as f64).sqrt()
    }
}

impl Deref for Samples {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.0
    }
}

impl AsRef<[f64]> for Samples {
    fn as_ref(&self) -> &[f64] {
        &self.0
    }
}

impl From<Vec<f64>> for Samples {
    fn from(values: Vec<f64>) -> Self {
        Self(values)
    }
}

impl<const N: usize> From<[f64; N]> for Samples {
    fn from(values: [f64; N]) -> Self {
        Self(values.to_vec())
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

/// One statement about a method, the samples that were measured for it, and the bar to clear.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Short, stable name of the claim within its method, such as `beats-adamw`.
    pub id: String,
    /// What is claimed, as a sentence.
    pub statement: String,
    /// What the samples measure, with its unit.
    pub metric: String,
    /// Ours, one number per seed.
    pub ours: Samples,
    /// The baseline, one number per seed in the same order; empty for a rule without a baseline.
    pub baseline: Samples,
    /// The rule that decides, fixed before the run.
    pub bar: Bar,
    /// Whether falling short fails the run. A claim in doubt is judged and printed all the same.
    pub gate: bool,
}

impl Claim {
    /// Whether the claim holds.
    pub fn holds(&self) -> bool {
        self.bar.holds(&self.ours, &self.baseline)
    }

    /// The bar in words.
    pub fn rule(&self) -> String {
        self.bar.rule(self.ours.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_samples() {
        let samples = Samples::from([4.0, 1.0, 3.0, 2.0]);
        assert_eq!(samples.mean(), 2.5);
        assert_eq!(samples.median(), 2.5);
        assert!((samples.deviation() - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Samples::from([3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(Samples::from([3.0]).deviation(), 0.0);
        assert!(Samples::none().mean().is_nan() && Samples::none().median().is_nan());
    }
}
