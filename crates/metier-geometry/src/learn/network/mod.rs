//! Small networks for regression: the paper's architectures under one training loop.
//!
//! A network is a list of layers and one flat slice of parameters, so that the optimizer, the
//! copy of the best weights and the checks by differences need not know what the layers are. An
//! architecture says which layers; `Training` says how they learn.

mod adam;
mod architecture;
mod deep_rff;
mod elementwise;
mod gate;
mod glu;
mod layer;
mod linear;
mod matrix;
mod mlp;
mod norm;
mod resmlp;
mod siren;
mod training;
mod waves;

pub use architecture::Architecture;
pub use deep_rff::DeepRff;
pub use glu::Glu;
pub use mlp::Mlp;
pub use resmlp::ResMlp;
pub use siren::Siren;
pub use training::Training;

use super::ridge::moments;
use layer::{Layer, Mode, forward};
use matrix::Matrix;
use metier_core::{Error, Progress, Result, rng};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// A network and how it is trained.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetworkConfig {
    /// The layers.
    pub architecture: Architecture,
    /// How they learn.
    pub training: Training,
}

impl NetworkConfig {
    /// Checks every number.
    ///
    /// # Errors
    /// The first that is out of range, by name.
    pub fn validate(&self) -> Result<()> {
        self.architecture.validate()?;
        self.training.validate()
    }
}

/// A trained network.
///
/// ```
/// use metier_core::Silent;
/// use metier_geometry::learn::{Network, NetworkConfig, r_squared};
/// let x = ndarray::Array2::from_shape_fn((200, 1), |(i, _)| i as f32 / 100.0 - 1.0);
/// let y: Vec<f64> = x.iter().map(|x| f64::from(x * x)).collect();
/// // The rows to stop by are the rows to learn from, for brevity.
/// let model = Network::fit(&NetworkConfig::default(), &x, &y, &x, &y, 0, &Silent)?;
/// assert!(r_squared(&y, &model.predict(&x)) > 0.9);
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Network {
    layers: Vec<Layer>,
    parameters: Vec<f32>,
    mean: Vec<f32>,
    scale: Vec<f32>,
    target: (f64, f64),
    /// The passes that were made.
    pub epochs: usize,
}

impl Network {
    /// Trains on `(x, y)` and keeps the weights that do best on `(held_x, held_y)`. Features and
    /// targets are standardised on `x` and `y`.
    ///
    /// # Errors
    /// A configuration that does not validate, rows and targets that differ in number, no rows,
    /// rows held out with other columns, or a request to stop.
    pub fn fit(
        config: &NetworkConfig,
        x: &Array2<f32>,
        y: &[f64],
        held_x: &Array2<f32>,
        held_y: &[f64],
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Self> {
        config.validate()?;
        super::check(x, y.len())?;
        if x.ncols() == 0 {
            return Err(Error::input("there are no columns to learn from"));
        }
        super::check(held_x, held_y.len())?;
        super::check_columns(x, held_x)?;
        let (mean, deviation) = moments(x);
        let centre = y.iter().sum::<f64>() / y.len() as f64;
        let spread = (y.iter().map(|y| (y - centre).powi(2)).sum::<f64>() / y.len() as f64).sqrt();
        let layers = config.architecture.layers(x.ncols(), seed);
        let mut start = rng::stream(seed, "mlp weights");
        let mut model = Self {
            parameters: layers.iter().flat_map(|layer| layer.start(&mut start)).collect(),
            layers,
            mean: mean.into_iter().map(|m| m as f32).collect(),
            scale: deviation.into_iter().map(|d| (1.0 / d) as f32).collect(),
            target: (centre, if spread > 0.0 { spread } else { 1.0 }),
            epochs: 0,
        };
        model.train(&config.training, x, y, (held_x, held_y), seed, progress)?;
        Ok(model)
    }

    /// The predictions, one per row; the columns are those that the network was trained on.
    ///
    /// # Panics
    /// Another number of columns than the network was trained on.
    pub fn predict(&self, x: &Array2<f32>) -> Vec<f64> {
        super::expect_columns(x, self.mean.len());
        self.outputs(&self.standardised(x))
    }

    // Of rows that are standardised, in blocks, so that wide layers never exist for all rows.
    fn outputs(&self, x: &Matrix) -> Vec<f64> {
        const BLOCK: usize = 1024;
        let mut all = Vec::with_capacity(x.row_count());
        for block in x.values.chunks(BLOCK * x.columns.max(1)) {
            let block = Matrix { columns: x.columns, values: block.to_vec() };
            let (out, _) = forward(&self.layers, &self.parameters, block, &mut Mode::Predict);
            all.extend(out.values.iter().map(|v| f64::from(*v) * self.target.1 + self.target.0));
        }
        all
    }

    fn standardised(&self, x: &Array2<f32>) -> Matrix {
        let moments = || self.mean.iter().zip(&self.scale);
        let values = x
            .rows()
            .into_iter()
            .flat_map(|row| {
                let scaled = row.into_iter().zip(moments());
                scaled.map(|(value, (mean, scale))| (value - mean) * scale)
            })
            .collect();
        Matrix { columns: x.ncols(), values }
    }
}

#[cfg(test)]
mod tests;
