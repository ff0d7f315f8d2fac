//! Multinomial logistic regression by L-BFGS.

use super::lbfgs::minimise;
use super::ridge::moments;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use metier_core::vector::{each, exp_f64};
use metier_core::{Error, Progress, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// How the model is fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogisticConfig {
    /// The weight of the data against the penalty on weights.
    pub c: f64,
    /// The most steps.
    pub steps: usize,
    /// The largest entry of the gradient, per row, at which fitting stops.
    pub tolerance: f64,
}

impl Default for LogisticConfig {
    fn default() -> Self {
        Self { c: 1.0, steps: 300, tolerance: 1e-5 }
    }
}

impl LogisticConfig {
    /// Checks every number.
    ///
    /// # Errors
    /// The first that is out of range, by name.
    pub fn validate(&self) -> Result<()> {
        let out = |name: &str, value: String, wanted: &str| {
            let message = format!("{name} is {value}, where {wanted} is wanted");
            Err(Error::usage(message).in_field(name))
        };
        if !(self.c > 0.0 && self.c.is_finite()) {
            return out("c", self.c.to_string(), "a number above 0");
        }
        if self.steps == 0 {
            return out("steps", "0".into(), "at least 1");
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return out("tolerance", self.tolerance.to_string(), "0 or a number above 0");
        }
        Ok(())
    }
}

/// A fitted model; features are standardised inside.
#[derive(Clone, Debug)]
pub struct Logistic {
    problem: Problem,
    // One row per feature and one for the offset, one column per class.
    weights: Vec<f64>,
}

impl Logistic {
    /// Fits `classes` classes; labels are 0..classes.
    ///
    /// # Errors
    /// A configuration that does not validate, rows and labels that differ in number, a label out
    /// of range, or a request to stop.
    pub fn fit(
        config: &LogisticConfig,
        x: &Array2<f32>,
        labels: &[usize],
        classes: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        config.validate()?;
        super::check(x, labels.len())?;
        if let Some(row) = labels.iter().position(|label| *label >= classes) {
            return Err(Error::input(format!("label {} of {classes} classes", labels[row]))
                .at_row(row as u64 + 1));
        }
        let problem = Problem::new(x, classes);
        let rows = problem.rows(x);
        let n = labels.len();
        let penalty = 1.0 / (config.c * n as f64);
        let objective = |weights: &[f64]| problem.objective(weights, &rows, labels, penalty);
        let start = vec![0.0; problem.size()];
        let weights = minimise(objective, start, config.steps, config.tolerance, progress)?;
        Ok(Self { problem, weights })
    }

    /// The most probable class of each row.
    ///
    /// # Panics
    /// Another number of columns than the model was learned from.
    pub fn predict(&self, x: &Array2<f32>) -> Vec<usize> {
        super::expect_columns(x, self.problem.mean.len());
        let rows = self.problem.rows(x);
        let scores = self.problem.scores(&self.weights, &rows);
        scores
            .chunks_exact(self.problem.classes)
            .map(|row| (1..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best }))
            .collect()
    }
}

#[derive(Clone, Debug)]
struct Problem {
    mean: Vec<f64>,
    deviation: Vec<f64>,
    classes: usize,
}

impl Problem {
    fn new(x: &Array2<f32>, classes: usize) -> Self {
        let (mean, deviation) = moments(x);
        Self { mean, deviation, classes }
    }

    fn width(&self) -> usize {
        self.mean.len() + 1
    }

    fn size(&self) -> usize {
        self.width() * self.classes
    }

    // Standardised rows with a one at the end.
    fn rows(&self, x: &Array2<f32>) -> Vec<f64> {
        let mut rows = Vec::with_capacity(x.nrows() * self.width());
        for row in x.rows() {
            let moments = self.mean.iter().zip(&self.deviation);
            rows.extend(row.iter().zip(moments).map(|(v, (m, d))| (f64::from(*v) - m) / d));
            rows.push(1.0);
        }
        rows
    }

    fn scores(&self, weights: &[f64], rows: &[f64]) -> Vec<f64> {
        let n = rows.len() / self.width();
        let mut scores = vec![0.0; n * self.classes];
        matmul(
            MatMut::from_row_major_slice_mut(&mut scores, n, self.classes),
            Accum::Replace,
            MatRef::from_row_major_slice(rows, n, self.width()),
            MatRef::from_row_major_slice(weights, self.width(), self.classes),
            1.0,
            Par::Seq,
        );
        scores
    }

    // The mean negative log likelihood with its penalty, and the gradient. The offset is free.
    fn objective(
        &self,
        weights: &[f64],
        rows: &[f64],
        labels: &[usize],
        penalty: f64,
    ) -> (f64, Vec<f64>) {
        let n = labels.len();
        let mut scores = self.scores(weights, rows);
        let mut loss = 0.0;
        for (row, label) in scores.chunks_exact_mut(self.classes).zip(labels) {
            let top = row.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            row.iter_mut().for_each(|score| *score -= top);
            loss -= row[*label] / n as f64;
        }
        each(&mut scores, exp_f64);
        for (row, label) in scores.chunks_exact_mut(self.classes).zip(labels) {
            let sum: f64 = row.iter().sum();
            loss += sum.ln() / n as f64;
            row.iter_mut().for_each(|p| *p /= sum * n as f64);
            row[*label] -= 1.0 / n as f64;
        }
        let mut gradient = vec![0.0; self.size()];
        matmul(
            MatMut::from_row_major_slice_mut(&mut gradient, self.width(), self.classes),
            Accum::Replace,
            MatRef::from_row_major_slice(rows, n, self.width()).transpose(),
            MatRef::from_row_major_slice(&scores, n, self.classes),
            1.0,
            Par::Seq,
        );
        let penalised = self.size() - self.classes;
        for (g, w) in gradient.iter_mut().zip(weights).take(penalised) {
            loss += 0.5 * penalty * w * w;
            *g += penalty * w;
        }
        (loss, gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_core::Silent;

    #[test]
    fn the_gradient_vanishes_at_the_optimum() {
        let x = Array2::from_shape_fn((90, 2), |(i, j)| ((i * (3 + j)) % 17) as f32);
        let labels: Vec<usize> = (0..90).map(|i| (i * i + i / 7) % 3).collect();
        let config = LogisticConfig { c: 10.0, tolerance: 1e-7, ..LogisticConfig::default() };
        let model = Logistic::fit(&config, &x, &labels, 3, &Silent).unwrap();
        let rows = model.problem.rows(&x);
        let (_, gradient) = model.problem.objective(&model.weights, &rows, &labels, 1.0 / 900.0);
        assert!(gradient.iter().all(|g| g.abs() < 1e-6), "{gradient:?}");
    }

    #[test]
    fn separable_classes_are_told_apart() {
        let x = Array2::from_shape_fn((60, 1), |(i, _)| i as f32);
        let labels: Vec<usize> = (0..60).map(|i| i / 20).collect();
        let config = LogisticConfig { c: 100.0, ..LogisticConfig::default() };
        let model = Logistic::fit(&config, &x, &labels, 3, &Silent).unwrap();
        assert!(super::super::accuracy(&labels, &model.predict(&x)) > 0.95);
        let error = Logistic::fit(&config, &x, &labels, 2, &Silent).unwrap_err();
        assert_eq!(error.to_string(), "row 41: label 2 of 2 classes");
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let usual = LogisticConfig::default();
        let text = serde_json::to_string(&usual).unwrap();
        assert_eq!(serde_json::from_str::<LogisticConfig>(&text).unwrap(), usual);
        let x = Array2::zeros((2, 1));
        let told = |config: LogisticConfig| {
            Logistic::fit(&config, &x, &[0, 1], 2, &Silent).unwrap_err().to_string()
        };
        for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let right = format!("c: c is {c}, where a number above 0 is wanted");
            assert_eq!(told(LogisticConfig { c, ..usual.clone() }), right);
        }
        let right = "steps: steps is 0, where at least 1 is wanted";
        assert_eq!(told(LogisticConfig { steps: 0, ..usual.clone() }), right);
        let right = "tolerance: tolerance is -1, where 0 or a number above 0 is wanted";
        assert_eq!(told(LogisticConfig { tolerance: -1.0, ..usual }), right);
    }
}
