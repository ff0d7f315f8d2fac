//! A small network for regression: two ReLU layers, Adam, minibatches, early stopping.

use super::ridge::moments;
use super::split::rows;
use metier_core::{Error, Progress, Result, rng};
use ndarray::{Array1, Array2, Axis};
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// The network and how it is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MlpConfig {
    /// Units of the two hidden layers.
    pub hidden: [usize; 2],
    /// The step size of Adam.
    pub learning_rate: f32,
    /// Rows per step.
    pub batch: usize,
    /// The most passes over the rows.
    pub epochs: usize,
    /// Passes without a better score on the rows held out before training stops.
    pub patience: usize,
    /// The quadratic penalty on weights.
    pub alpha: f32,
}

impl Default for MlpConfig {
    /// Two layers of 128 and 64 units, Adam at 1e-3, batches of 200, at most 200 passes.
    fn default() -> Self {
        Self {
            hidden: [128, 64],
            learning_rate: 1e-3,
            batch: 200,
            epochs: 200,
            patience: 10,
            alpha: 1e-4,
        }
    }
}

/// A trained network.
#[derive(Clone, Debug)]
pub struct Mlp {
    layers: Vec<Layer>,
    mean: Vec<f32>,
    scale: Vec<f32>,
    target: (f64, f64),
    /// The passes that were made.
    pub epochs: usize,
}

#[derive(Clone, Debug)]
struct Layer {
    weights: Array2<f32>,
    bias: Array1<f32>,
}

impl MlpConfig {
    /// Checks every number.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate(&self) -> Result<()> {
        let positive = self.hidden.iter().all(|n| *n > 0)
            && self.batch > 0
            && self.epochs > 0
            && self.learning_rate > 0.0
            && self.alpha >= 0.0;
        if positive {
            return Ok(());
        }
        Err(Error::usage("a network needs units, rows per step, passes and a step size above 0"))
    }
}

impl Mlp {
    /// Trains on `(x, y)` and keeps the weights that do best on `(held_x, held_y)`. Features and
    /// targets are standardised on `x` and `y`.
    ///
    /// # Errors
    /// A configuration that does not validate, rows and targets that differ in number, no rows, or a
    /// request to stop.
    pub fn fit(
        config: &MlpConfig,
        x: &Array2<f32>,
        y: &[f64],
        held_x: &Array2<f32>,
        held_y: &[f64],
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Self> {
        config.validate()?;
        check(x, y.len())?;
        check(held_x, held_y.len())?;
        let (mean, deviation) = moments(x);
        let centre = y.iter().sum::<f64>() / y.len() as f64;
        let spread = (y.iter().map(|y| (y - centre).powi(2)).sum::<f64>() / y.len() as f64).sqrt();
        let target = (centre, if spread > 0.0 { spread } else { 1.0 });
        let mut model = Self {
            layers: initial(&[x.ncols(), config.hidden[0], config.hidden[1], 1], seed),
            mean: mean.into_iter().map(|m| m as f32).collect(),
            scale: deviation.into_iter().map(|d| (1.0 / d) as f32).collect(),
            target,
            epochs: 0,
        };
        let x = model.standardised(x);
        let y: Vec<f32> = y.iter().map(|y| ((y - target.0) / target.1) as f32).collect();
        let mut adam = Adam::new(&model.layers, config.learning_rate);
        let mut order: Vec<usize> = (0..y.len()).collect();
        let (mut best, mut best_layers, mut waited) = (f64::NEG_INFINITY, model.layers.clone(), 0);
        for epoch in 0..config.epochs {
            progress.check()?;
            order.shuffle(&mut rng::indexed(seed, "mlp batches", epoch as u64));
            for chunk in order.chunks(config.batch) {
                let targets: Vec<f32> = chunk.iter().map(|row| y[*row]).collect();
                let gradients = gradients(&model.layers, rows(&x, chunk), &targets, config.alpha);
                adam.step(&mut model.layers, &gradients);
            }
            model.epochs = epoch + 1;
            let score = super::r_squared(held_y, &model.predict(held_x));
            if score > best + 1e-4 {
                waited = 0;
            } else {
                waited += 1;
            }
            if score > best {
                best = score;
                best_layers.clone_from(&model.layers);
            }
            if waited > config.patience || !score.is_finite() {
                break;
            }
        }
        model.layers = best_layers;
        Ok(model)
    }

    /// The predictions, one per row.
    pub fn predict(&self, x: &Array2<f32>) -> Vec<f64> {
        let last = forward(&self.layers, self.standardised(x)).pop();
        let back = |value: &f32| f64::from(*value) * self.target.1 + self.target.0;
        last.map(|values| values.iter().map(back).collect()).unwrap_or_default()
    }

    fn standardised(&self, x: &Array2<f32>) -> Array2<f32> {
        let mut x = x.clone();
        for mut row in x.rows_mut() {
            for ((value, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
                *value = (*value - mean) * scale;
            }
        }
        x
    }
}

pub(super) fn check(x: &Array2<f32>, targets: usize) -> Result<()> {
    if x.nrows() != targets {
        return Err(Error::input(format!("{} rows have {targets} targets", x.nrows())));
    }
    if targets == 0 {
        return Err(Error::input("there are no rows to learn from or to choose with"));
    }
    Ok(())
}

// Glorot's uniform start.
fn initial(sizes: &[usize], seed: u64) -> Vec<Layer> {
    let mut rng = rng::stream(seed, "mlp weights");
    sizes
        .windows(2)
        .map(|pair| {
            let bound = (6.0 / (pair[0] + pair[1]) as f32).sqrt();
            let mut draw = || rng.random_range(-bound..bound);
            Layer {
                weights: Array2::from_shape_simple_fn((pair[0], pair[1]), &mut draw),
                bias: Array1::from_shape_simple_fn(pair[1], &mut draw),
            }
        })
        .collect()
}

// The input and the output of every layer.
fn forward(layers: &[Layer], x: Array2<f32>) -> Vec<Array2<f32>> {
    let mut values = vec![x];
    for (i, layer) in layers.iter().enumerate() {
        let mut next = values[i].dot(&layer.weights) + &layer.bias;
        if i + 1 < layers.len() {
            next.mapv_inplace(|v| v.max(0.0));
        }
        values.push(next);
    }
    values
}

// Of half the mean squared error, with the penalty shared over the rows.
fn gradients(layers: &[Layer], x: Array2<f32>, y: &[f32], alpha: f32) -> Vec<Layer> {
    let n = y.len() as f32;
    let values = forward(layers, x);
    let mut delta = values[layers.len()].clone();
    delta.iter_mut().zip(y).for_each(|(d, y)| *d = (*d - y) / n);
    let mut all = Vec::with_capacity(layers.len());
    for i in (0..layers.len()).rev() {
        let mut weights = values[i].t().dot(&delta);
        weights.scaled_add(alpha / n, &layers[i].weights);
        all.push(Layer { weights, bias: delta.sum_axis(Axis(0)) });
        if i > 0 {
            let mut before = delta.dot(&layers[i].weights.t());
            before.zip_mut_with(&values[i], |d, v| {
                if *v <= 0.0 {
                    *d = 0.0;
                }
            });
            delta = before;
        }
    }
    all.reverse();
    all
}

struct Adam {
    rate: f32,
    step: i32,
    moments: Vec<[Vec<f32>; 4]>,
}

impl Adam {
    fn new(layers: &[Layer], rate: f32) -> Self {
        let zeros = |layer: &Layer| {
            let (w, b) = (vec![0.0; layer.weights.len()], vec![0.0; layer.bias.len()]);
            [w.clone(), w, b.clone(), b]
        };
        Self { rate, step: 0, moments: layers.iter().map(zeros).collect() }
    }

    fn step(&mut self, layers: &mut [Layer], gradients: &[Layer]) {
        self.step += 1;
        let correction = (1.0 - 0.999f32.powi(self.step)).sqrt() / (1.0 - 0.9f32.powi(self.step));
        let rate = self.rate * correction;
        for ((layer, gradient), [mw, vw, mb, vb]) in
            layers.iter_mut().zip(gradients).zip(&mut self.moments)
        {
            let weights = layer.weights.iter_mut().zip(&gradient.weights);
            weights.zip(mw.iter_mut().zip(vw)).for_each(|((w, g), (m, v))| adam(w, *g, m, v, rate));
            let bias = layer.bias.iter_mut().zip(&gradient.bias);
            bias.zip(mb.iter_mut().zip(vb)).for_each(|((w, g), (m, v))| adam(w, *g, m, v, rate));
        }
    }
}

fn adam(w: &mut f32, g: f32, m: &mut f32, v: &mut f32, rate: f32) {
    *m = 0.9 * *m + 0.1 * g;
    *v = 0.999 * *v + 0.001 * g * g;
    *w -= rate * *m / (v.sqrt() + 1e-8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_core::Silent;

    #[test]
    fn gradients_agree_with_differences() {
        let layers = initial(&[3, 4, 5, 1], 3);
        let x = Array2::from_shape_fn((6, 3), |(i, j)| ((i * 5 + j * 3) % 7) as f32 / 3.0 - 1.0);
        let y = [0.3, -0.2, 0.9, 0.0, 1.1, -0.7];
        let loss = |layers: &[Layer]| {
            let out = forward(layers, x.clone()).pop().unwrap();
            out.iter().zip(&y).map(|(o, y)| f64::from(o - y).powi(2)).sum::<f64>() / 12.0
        };
        let found = gradients(&layers, x.clone(), &y, 0.0);
        for i in 0..3 {
            let mut moved = layers.clone();
            moved[i].weights[[1, 0]] += 1e-2;
            let up = loss(&moved);
            moved[i].weights[[1, 0]] -= 2e-2;
            let slope = (up - loss(&moved)) / 2e-2;
            let right = f64::from(found[i].weights[[1, 0]]);
            assert!((slope - right).abs() < 2e-3, "layer {i}: {slope} {right}");
        }
    }

    #[test]
    fn a_bump_is_learned() {
        let x = Array2::from_shape_fn((400, 1), |(i, _)| i as f32 / 200.0 - 1.0);
        let y: Vec<f64> = x.iter().map(|x| (-8.0 * f64::from(*x).powi(2)).exp()).collect();
        let config = MlpConfig { batch: 50, epochs: 60, ..MlpConfig::default() };
        let model = Mlp::fit(&config, &x, &y, &x, &y, 0, &Silent).unwrap();
        assert!(super::super::r_squared(&y, &model.predict(&x)) > 0.97);
    }
}
