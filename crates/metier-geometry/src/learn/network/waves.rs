//! Random features of a kernel: cosines of random directions.

use super::layer::{Kept, Mode};
use super::matrix::{Matrix, view};
use metier_core::rng::Rng;
use metier_core::vector::{each, each_with_slope, sin_cos};
use rand::RngExt;
use rand_distr::{ChiSquared, Distribution, StandardNormal};
use std::f32::consts::TAU;

/// `sqrt(2 / D) cos(x W + b)`, whose products approach a kernel as their number D grows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Waves {
    // One row per input, one column per wave.
    frequencies: Vec<f32>,
    phases: Vec<f32>,
}

impl Waves {
    /// Of the Matérn kernel of smoothness 5/2, whose spectrum is Student's t with 5 degrees of
    /// freedom, in as many dimensions as there are inputs.
    pub(super) fn matern(inputs: usize, waves: usize, length: f32, rng: &mut Rng) -> Self {
        const FREEDOM: f32 = 5.0;
        let squares = ChiSquared::new(FREEDOM).ok();
        let reach: Vec<f32> = (0..waves)
            .map(|_| {
                let square = squares.map_or(FREEDOM, |law| law.sample(rng)).max(f32::MIN_POSITIVE);
                (FREEDOM / square).sqrt() / length
            })
            .collect();
        let normal = |rng: &mut Rng| -> f32 { StandardNormal.sample(rng) };
        let frequencies =
            (0..inputs).flat_map(|_| reach.iter().map(|r| r * normal(rng)).collect::<Vec<_>>());
        let frequencies = frequencies.collect();
        Self { frequencies, phases: (0..waves).map(|_| rng.random_range(0.0..TAU)).collect() }
    }

    pub(super) fn forward(&self, x: &Matrix, mode: &Mode) -> (Matrix, Kept) {
        let waves = self.phases.len();
        let scale = (2.0 / waves as f32).sqrt();
        let mut y = Matrix::product(x.view(), view(&self.frequencies, waves));
        for row in y.rows_mut() {
            row.iter_mut().zip(&self.phases).for_each(|(v, phase)| *v += phase);
        }
        if !mode.trains() {
            each(&mut y.values, |v| scale * sin_cos(v).1);
            return (y, Kept::Nothing);
        }
        let mut slopes = vec![0.0; y.values.len()];
        each_with_slope(&mut y.values, &mut slopes, |v| {
            let (sin, cos) = sin_cos(v);
            (scale * cos, -scale * sin)
        });
        (y, Kept::Slopes(slopes))
    }

    pub(super) fn backward(
        &self,
        mut delta: Matrix,
        slopes: &[f32],
        wanted: bool,
    ) -> Option<Matrix> {
        wanted.then(|| {
            delta.values.iter_mut().zip(slopes).for_each(|(d, slope)| *d *= slope);
            let frequencies = view(&self.frequencies, self.phases.len());
            Matrix::product(delta.view(), frequencies.transpose())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_core::rng;

    #[test]
    fn products_of_waves_approach_their_kernel() {
        let waves = Waves::matern(2, 40_000, 0.7, &mut rng::stream(2, "test"));
        let x = Matrix { columns: 2, values: vec![0.1, -0.3, 0.6, 0.2] };
        let (y, _) = waves.forward(&x, &Mode::Predict);
        let (a, b) = y.values.split_at(40_000);
        let product: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        let r = 5f32.sqrt() * 0.5f32.hypot(0.5) / 0.7;
        let right = (1.0 + r + r * r / 3.0) * (-r).exp();
        assert!((product - right).abs() < 0.02, "{product} {right}");
    }
}
