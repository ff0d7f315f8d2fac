//! Adam, over one flat slice of parameters.

use metier_core::vector::wide;

/// The running moments of the gradient.
pub(super) struct Adam {
    rate: f32,
    step: i32,
    first: Vec<f32>,
    second: Vec<f32>,
}

const BETA: [f32; 2] = [0.9, 0.999];

impl Adam {
    pub(super) fn new(parameters: usize, rate: f32) -> Self {
        Self { rate, step: 0, first: vec![0.0; parameters], second: vec![0.0; parameters] }
    }

    pub(super) fn step(&mut self, parameters: &mut [f32], gradient: &[f32]) {
        self.step += 1;
        let correction = (1.0 - BETA[1].powi(self.step)).sqrt() / (1.0 - BETA[0].powi(self.step));
        let rate = self.rate * correction;
        let (first, second) = (&mut self.first, &mut self.second);
        // The widest vectors that the machine has: this touches every parameter once per batch.
        wide(|| {
            let moments = first.iter_mut().zip(second);
            for ((w, g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
                *m = BETA[0] * *m + (1.0 - BETA[0]) * g;
                *v = BETA[1] * *v + (1.0 - BETA[1]) * g * g;
                *w -= rate * *m / (v.sqrt() + 1e-8);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_length_of_the_rate() {
        let mut adam = Adam::new(2, 0.1);
        let mut w = [1.0, 2.0];
        adam.step(&mut w, &[5.0, -0.01]);
        assert!((w[0] - 0.9).abs() < 1e-6 && (w[1] - 2.1).abs() < 1e-5, "{w:?}");
        // A second gradient of the other sign: m = 0.9 * 0.5 - 0.5 = -0.05 and v = 0.024975 + 0.025,
        // each over its correction.
        adam.step(&mut w[..1], &[-5.0]);
        let (m, v) = (-0.05f32 / 0.19, 0.049_975_f32 / 0.001_999);
        assert!((w[0] - (0.9 - 0.1 * m / v.sqrt())).abs() < 1e-5, "{w:?}");
    }
}
