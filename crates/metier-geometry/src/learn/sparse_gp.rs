//! A Gaussian process that remembers a few hundred places instead of every row.
//!
//! The process is approximated through its values at inducing places, and the parameters of its
//! kernel maximise the variational lower bound on the likelihood of the targets with the best
//! distribution of those values put in, which for Gaussian noise is known in closed form: the
//! collapsed bound of Titsias (2009). No batches and no variational parameters are left to learn.

use super::lbfgs::minimise;
use super::ridge::moments;
use super::split::shuffled;
use faer::linalg::matmul::matmul;
use faer::prelude::Solve;
use faer::{Accum, Mat, MatRef, Par, Side};
use metier_core::vector::{each, exp_f64};
use metier_core::{Error, Progress, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// How the process is fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SparseGpConfig {
    /// The number of inducing places.
    pub inducing: usize,
    /// The most steps over the parameters of the kernel.
    pub steps: usize,
}

impl Default for SparseGpConfig {
    /// 300 places and at most 40 steps.
    fn default() -> Self {
        Self { inducing: 300, steps: 40 }
    }
}

/// A fitted process with a Matérn kernel of smoothness 5/2 and one length per column. Columns and
/// targets are standardised inside; the inducing places are centres of k-means.
///
/// ```
/// use metier_core::Silent;
/// use metier_geometry::learn::{SparseGp, SparseGpConfig};
/// let x = ndarray::Array2::from_shape_fn((60, 1), |(i, _)| i as f32 / 10.0);
/// let y: Vec<f64> = x.iter().map(|x| f64::from(x.sin())).collect();
/// let config = SparseGpConfig { inducing: 12, ..SparseGpConfig::default() };
/// let model = SparseGp::fit(&config, &x, &y, 0, &Silent)?;
/// let (mean, deviation) = model.predict(&ndarray::array![[2.05]])[0];
/// assert!((mean - 2.05f64.sin()).abs() < 0.05 && deviation < 0.2);
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SparseGp {
    scale: Scale,
    places: Vec<f64>,
    kernel: Kernel,
    noise: f64,
    weights: Mat<f64>,
    // What knowing the targets takes off the variance, as a form in the kernel's values.
    known: Mat<f64>,
}

#[derive(Clone, Debug)]
struct Scale {
    mean: Vec<f64>,
    deviation: Vec<f64>,
    centre: f64,
    spread: f64,
}

#[derive(Clone, Debug)]
struct Kernel {
    lengths: Vec<f64>,
    // The variance of the process.
    variance: f64,
}

// Added to the variance of each inducing place, as a share of it: two may lie close together.
const JITTER: f64 = 1e-6;

impl SparseGp {
    /// Fits the process to rows and targets. The seed decides where the search for inducing places
    /// starts.
    ///
    /// # Errors
    /// Rows and targets that differ in number, no rows or columns, no inducing places, a kernel that
    /// is singular, or a request to stop.
    pub fn fit(
        config: &SparseGpConfig,
        x: &Array2<f32>,
        y: &[f64],
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Self> {
        super::check(x, y.len())?;
        if x.ncols() == 0 {
            return Err(Error::input("there are no columns to learn from"));
        }
        if config.inducing == 0 {
            return Err(
                Error::usage("inducing is 0, where at least 1 is wanted").in_field("inducing")
            );
        }
        let scale = Scale::new(x, y);
        let rows = scale.rows(x);
        let targets: Vec<f64> = y.iter().map(|y| (y - scale.centre) / scale.spread).collect();
        let places = centres(&rows, x.ncols(), config.inducing, seed);
        let problem = Problem { rows: &rows, targets: &targets, places: &places };
        // Lengths of a third of the spread, no more noise than half of it.
        let mut start = vec![0.3f64.ln(); x.ncols()];
        start.extend([0.0, 0.5f64.ln()]);
        let objective = |w: &[f64]| problem.objective(w, x.ncols());
        let found = minimise(objective, start, config.steps, 1e-5, progress)?;
        let (kernel, noise) = unpacked(&found, x.ncols());
        let state = problem.state(&kernel, noise).ok_or_else(|| {
            Error::numeric("the kernel between the inducing places is singular")
                .help("take fewer inducing places")
        })?;
        let known = &state.inverse - &state.posterior;
        Ok(Self { scale, kernel, noise, weights: state.weights, known, places })
    }

    /// The mean and the deviation of a new target at each row; the columns are those of the fit.
    ///
    /// # Panics
    /// Another number of columns than the process was learned from.
    pub fn predict(&self, x: &Array2<f32>) -> Vec<(f64, f64)> {
        let columns = self.kernel.lengths.len();
        super::expect_columns(x, columns);
        let mut all = Vec::with_capacity(x.nrows());
        for block in self.scale.rows(x).chunks(1024 * columns) {
            let k = self.kernel.between(block, &self.places);
            let mean = &k * &self.weights;
            let taken = &k * &self.known;
            for i in 0..k.nrows() {
                let less: f64 = (0..k.ncols()).map(|j| taken[(i, j)] * k[(i, j)]).sum();
                let variance = (self.kernel.variance - less).max(0.0) + self.noise;
                let Scale { centre, spread, .. } = self.scale;
                all.push((mean[(i, 0)] * spread + centre, variance.sqrt() * spread));
            }
        }
        all
    }
}

impl Scale {
    fn new(x: &Array2<f32>, y: &[f64]) -> Self {
        let (mean, deviation) = moments(x);
        let centre = y.iter().sum::<f64>() / y.len() as f64;
        let spread = (y.iter().map(|y| (y - centre).powi(2)).sum::<f64>() / y.len() as f64).sqrt();
        Self { mean, deviation, centre, spread: if spread > 0.0 { spread } else { 1.0 } }
    }

    fn rows(&self, x: &Array2<f32>) -> Vec<f64> {
        let scaled = |row: ndarray::ArrayView1<'_, f32>| -> Vec<f64> {
            let moments = self.mean.iter().zip(&self.deviation);
            row.iter().zip(moments).map(|(v, (m, d))| (f64::from(*v) - m) / d).collect()
        };
        x.rows().into_iter().flat_map(scaled).collect()
    }
}

impl Kernel {
    // The distance of two places in lengths, by square.
    fn square(&self, a: &[f64], b: &[f64]) -> f64 {
        let parts = a.iter().zip(b).zip(&self.lengths);
        parts.map(|((a, b), length)| ((a - b) / length).powi(2)).sum()
    }

    // The distance of each pair times the square root of 5, a column for each of `b`.
    fn distances(&self, a: &[f64], b: &[f64]) -> Vec<f64> {
        let d = self.lengths.len();
        let mut all = Vec::with_capacity(a.len() / d * (b.len() / d));
        for b in b.chunks_exact(d) {
            all.extend(a.chunks_exact(d).map(|a| (5.0 * self.square(a, b)).sqrt()));
        }
        all
    }

    fn between(&self, a: &[f64], b: &[f64]) -> Mat<f64> {
        let (rows, columns) = (a.len() / self.lengths.len(), b.len() / self.lengths.len());
        let mut values = self.distances(a, b);
        let variance = self.variance;
        each(&mut values, |r| variance * (1.0 + r + r * r / 3.0) * exp_f64(-r));
        MatRef::from_column_major_slice(&values, rows, columns).to_owned()
    }

    // Adds up the slopes along the logarithm of each length, times what the caller makes of each pair.
    fn slopes(&self, a: &[f64], b: &[f64], factor: MatRef<f64>) -> Vec<f64> {
        let d = self.lengths.len();
        let mut values = self.distances(a, b);
        let scale = self.variance * 5.0 / 3.0;
        each(&mut values, |r| scale * (1.0 + r) * exp_f64(-r));
        let mut sums = vec![0.0; d];
        let columns = values.chunks_exact(a.len() / d);
        for (j, (b, values)) in b.chunks_exact(d).zip(columns).enumerate() {
            for (i, (a, value)) in a.chunks_exact(d).zip(values).enumerate() {
                let common = factor[(i, j)] * value;
                for k in 0..d {
                    sums[k] += common * ((a[k] - b[k]) / self.lengths[k]).powi(2);
                }
            }
        }
        sums
    }
}

// The logarithms of the lengths, of the deviation of the process and of that of the noise.
fn unpacked(w: &[f64], columns: usize) -> (Kernel, f64) {
    // Within these no exponential over- or underflows.
    let number = |w: f64| w.clamp(-15.0, 15.0).exp();
    let lengths = w[..columns].iter().map(|w| number(*w)).collect();
    let variance = number(w[columns]).powi(2);
    (Kernel { lengths, variance }, number(w[columns + 1]).powi(2))
}

struct Problem<'a> {
    rows: &'a [f64],
    targets: &'a [f64],
    places: &'a [f64],
}

struct State {
    // The kernel between rows and places, and between places.
    cross: Mat<f64>,
    own: Mat<f64>,
    // Of `cross^T cross`.
    gram: Mat<f64>,
    inverse: Mat<f64>,
    // The inverse of `own + gram / noise`.
    posterior: Mat<f64>,
    log_determinants: f64,
    weights: Mat<f64>,
}

impl Problem<'_> {
    fn state(&self, kernel: &Kernel, noise: f64) -> Option<State> {
        let cross = kernel.between(self.rows, self.places);
        let mut own = kernel.between(self.places, self.places);
        (0..own.nrows()).for_each(|i| own[(i, i)] += JITTER * kernel.variance);
        let m = own.nrows();
        let mut gram = Mat::zeros(m, m);
        matmul(&mut gram, Accum::Replace, cross.transpose(), &cross, 1.0, Par::Seq);
        let sum = Mat::from_fn(m, m, |i, j| own[(i, j)] + gram[(i, j)] / noise);
        let (first, second) = (own.llt(Side::Lower).ok()?, sum.llt(Side::Lower).ok()?);
        let log = |l: MatRef<f64>| 2.0 * (0..m).map(|i| l[(i, i)].ln()).sum::<f64>();
        let log_determinants = log(first.L()) - log(second.L());
        let (inverse, posterior) =
            (first.solve(Mat::identity(m, m)), second.solve(Mat::identity(m, m)));
        let y = MatRef::from_column_major_slice(self.targets, self.targets.len(), 1);
        let along = cross.transpose() * y;
        let weights = second.solve(&along) * faer::Scale(1.0 / noise);
        Some(State { cross, own, gram, inverse, posterior, log_determinants, weights })
    }

    // The negative bound per row, and its slope along each logarithm. A place where the kernel is
    // singular is as bad as can be.
    fn objective(&self, w: &[f64], columns: usize) -> (f64, Vec<f64>) {
        let (kernel, noise) = unpacked(w, columns);
        let Some(state) = self.state(&kernel, noise) else {
            return (f64::INFINITY, vec![0.0; w.len()]);
        };
        let State { cross, own, gram, inverse, posterior, log_determinants, weights } = &state;
        let (n, m) = (self.targets.len(), own.nrows());
        let count = n as f64;
        let precision = 1.0 / noise;
        let predicted = cross * weights;
        let left: Vec<f64> = (0..n).map(|i| self.targets[i] - predicted[(i, 0)]).collect();
        let squares: f64 = self.targets.iter().map(|y| y * y).sum();
        // y^T K weights, weights^T gram weights and the traces that the bound is made of.
        let fitted: f64 = (0..n).map(|i| self.targets[i] * predicted[(i, 0)]).sum();
        let power: f64 = (0..n).map(|i| predicted[(i, 0)].powi(2)).sum();
        let trace = |a: &Mat<f64>, b: &Mat<f64>| -> f64 {
            (0..m).map(|j| (0..m).map(|i| a[(i, j)] * b[(i, j)]).sum::<f64>()).sum()
        };
        let explained = trace(inverse, gram);
        let unexplained = count * kernel.variance - explained;
        let bound = 0.5 * log_determinants
            + 0.5 * count * (precision / (2.0 * std::f64::consts::PI)).ln()
            - 0.5 * precision * (squares - fitted + unexplained);
        let by_precision = 0.5 * count / precision - 0.5 * trace(posterior, gram) - 0.5 * squares
            + fitted
            - 0.5 * power
            - 0.5 * unexplained;
        // The slope of the bound along each value of the kernel, between rows and places ...
        let known = inverse - posterior;
        let mut by_cross = Mat::zeros(n, m);
        matmul(&mut by_cross, Accum::Replace, cross, &known, precision, Par::Seq);
        for j in 0..m {
            (0..n).for_each(|i| by_cross[(i, j)] += precision * left[i] * weights[(j, 0)]);
        }
        // ... and between places.
        let through = inverse * gram * inverse;
        let by_own = Mat::from_fn(m, m, |i, j| {
            0.5 * (known[(i, j)] - weights[(i, 0)] * weights[(j, 0)] - precision * through[(i, j)])
        });
        let mut gradient = kernel.slopes(self.rows, self.places, by_cross.as_ref());
        let own_slopes = kernel.slopes(self.places, self.places, by_own.as_ref());
        gradient.iter_mut().zip(own_slopes).for_each(|(a, b)| *a += b);
        let crossed: f64 =
            (0..m).map(|j| (0..n).map(|i| by_cross[(i, j)] * cross[(i, j)]).sum::<f64>()).sum();
        gradient.push(2.0 * (crossed + trace(&by_own, own)) - precision * count * kernel.variance);
        gradient.push(-2.0 * precision * by_precision);
        gradient.iter_mut().for_each(|g| *g /= -count);
        (-bound / count, gradient)
    }
}

// Centres of k-means: ten rounds from rows taken at random.
fn centres(rows: &[f64], columns: usize, wanted: usize, seed: u64) -> Vec<f64> {
    let n = rows.len() / columns;
    let row = |i: usize| &rows[i * columns..(i + 1) * columns];
    let chosen = &shuffled(n, seed)[..wanted.min(n)];
    let mut centres: Vec<f64> = chosen.iter().flat_map(|i| row(*i).iter().copied()).collect();
    for _ in 0..10 {
        let mut sums = vec![0.0; centres.len()];
        let mut counts = vec![0usize; chosen.len()];
        for i in 0..n {
            let distance = |centre: &[f64]| -> f64 {
                centre.iter().zip(row(i)).map(|(a, b)| (a - b).powi(2)).sum()
            };
            let mut best = (f64::INFINITY, 0);
            for (k, centre) in centres.chunks_exact(columns).enumerate() {
                let distance = distance(centre);
                if distance < best.0 {
                    best = (distance, k);
                }
            }
            counts[best.1] += 1;
            let sum = &mut sums[best.1 * columns..(best.1 + 1) * columns];
            sum.iter_mut().zip(row(i)).for_each(|(sum, v)| *sum += v);
        }
        for (k, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            for c in k * columns..(k + 1) * columns {
                centres[c] = sums[c] / *count as f64;
            }
        }
    }
    centres
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_core::Silent;

    fn rows() -> (Vec<f64>, Vec<f64>) {
        let rows: Vec<f64> = (0..40).map(|i| ((i * 37 + 11) % 23) as f64 / 8.0 - 1.3).collect();
        let targets =
            rows.chunks_exact(2).map(|r| (2.0 * r[0]).sin() + 0.3 * r[1] * r[1] - 0.4).collect();
        (rows, targets)
    }

    #[test]
    fn the_gradient_of_the_bound_agrees_with_differences() {
        let (rows, targets) = rows();
        let problem = Problem { rows: &rows, targets: &targets, places: &rows[..12] };
        let w = [-0.2, 0.3, 0.1, -0.9];
        let (_, gradient) = problem.objective(&w, 2);
        for i in 0..w.len() {
            let moved = |by: f64| {
                let mut w = w;
                w[i] += by;
                problem.objective(&w, 2).0
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - gradient[i]).abs() < 1e-6, "{i}: {slope} {}", gradient[i]);
        }
    }

    #[test]
    fn with_every_row_a_place_the_bound_is_the_likelihood() {
        let (rows, targets) = rows();
        let problem = Problem { rows: &rows, targets: &targets, places: &rows };
        let w = [0.1, -0.1, 0.2, -0.5];
        let (kernel, noise) = unpacked(&w, 2);
        let n = targets.len();
        let mut full = kernel.between(&rows, &rows);
        (0..n).for_each(|i| full[(i, i)] += noise);
        let llt = full.llt(Side::Lower).unwrap();
        let y = Mat::from_fn(n, 1, |i, _| targets[i]);
        let form = (y.transpose() * llt.solve(&y))[(0, 0)];
        let log: f64 = (0..n).map(|i| 2.0 * llt.L()[(i, i)].ln()).sum();
        let right = -0.5 * (form + log + n as f64 * (2.0 * std::f64::consts::PI).ln());
        let found = -problem.objective(&w, 2).0 * n as f64;
        // Below it, by no more than the jitter makes.
        assert!(found <= right && right - found < 1e-3, "{found} {right}");
    }

    #[test]
    fn a_field_is_learned_with_an_honest_deviation() {
        let x = Array2::from_shape_fn((500, 2), |(i, j)| {
            ((i * (31 + 6 * j) + j * 5) % 101) as f32 / 20.0
        });
        let clean = |row: ndarray::ArrayView1<'_, f32>| f64::from(row[0]).sin() * f64::from(row[1]);
        let noise = |i: usize| 0.2 * (((i * 7919) % 1013) as f64 / 1013.0 - 0.5) * 12f64.sqrt();
        let y: Vec<f64> =
            x.rows().into_iter().enumerate().map(|(i, row)| clean(row) + noise(i)).collect();
        let config = SparseGpConfig { inducing: 40, ..SparseGpConfig::default() };
        let model = SparseGp::fit(&config, &x, &y, 0, &Silent).unwrap();
        let found = model.predict(&x);
        let truth: Vec<f64> = x.rows().into_iter().map(clean).collect();
        let means: Vec<f64> = found.iter().map(|(mean, _)| *mean).collect();
        assert!(crate::learn::r_squared(&truth, &means) > 0.99);
        let typical = found.iter().map(|(_, d)| d).sum::<f64>() / 500.0;
        assert!((0.15..0.26).contains(&typical), "{typical}");
        // Far from every row nothing is known.
        let far = model.predict(&ndarray::array![[60.0, 60.0]])[0];
        assert!(far.1 > 5.0 * typical, "{far:?}");
    }

    #[test]
    fn what_cannot_be_fitted_is_told() {
        let x = Array2::zeros((3, 1));
        let fit = |config: SparseGpConfig, y: &[f64]| {
            SparseGp::fit(&config, &x, y, 0, &Silent).map(|_| ()).unwrap_err().to_string()
        };
        assert_eq!(fit(SparseGpConfig::default(), &[1.0]), "3 rows have 1 targets");
        let none = SparseGpConfig { inducing: 0, ..SparseGpConfig::default() };
        assert!(fit(none, &[1.0; 3]).contains("inducing is 0"));
    }
}
