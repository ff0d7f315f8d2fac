//! Times the closed forms, the kernels and the convolutions of hippo on one thread, for
//! `benches/hippo.py`: one line of JSON per case, in CPU seconds, the mean of several runs.

mod clock;

use clock::{mean, on_one_thread};
use metier_geometry::hippo::{
    Basis, Continuized, ContinuizedConfig, Discretization, legs_eigenvectors, legs_spectrum,
};
use ndarray::Array2;

const STATES: usize = 64;
const SAMPLES: usize = 16_384;

fn main() {
    if !on_one_thread() {
        return;
    }
    for n in [1024, 100_000] {
        tell("spectrum", n, mean(|| legs_spectrum(n).map_or(0, |s| s.omega.len())));
    }
    tell("eigenvectors", 1024, mean(|| legs_eigenvectors(1024).map_or(0, |v| v.len())));
    for (name, basis, discretization) in [
        ("nodes-point", Basis::Nodes, Discretization::Point),
        ("nodes-zoh", Basis::Nodes, Discretization::Zoh),
        ("legendre-point", Basis::Legendre, Discretization::Point),
        ("legendre-zoh", Basis::Legendre, Discretization::Zoh),
    ] {
        let config =
            ContinuizedConfig { states: STATES, basis, discretization, dt: 0.25, gamma: 0.0 };
        let Ok(layer) = Continuized::new(&config) else { return };
        tell(name, STATES * SAMPLES, mean(|| layer.bank(SAMPLES).map_or(0, |b| b.lags())));
    }
    let config = ContinuizedConfig { states: STATES, dt: 0.25, ..Default::default() };
    let Ok(bank) = Continuized::new(&config).and_then(|layer| layer.bank(SAMPLES)) else { return };
    let one = Array2::from_shape_fn((1, SAMPLES), |(_, t)| (t as f64).sin());
    let many = Array2::from_shape_fn((256, SAMPLES), |(i, t)| ((i + t) as f64).sin());
    tell("transform", SAMPLES, mean(|| bank.transform(one.view()).map_or(0, |x| x.len())));
    tell("last-state", 256, mean(|| bank.last_state(many.view()).map_or(0, |x| x.len())));
}

fn tell(case: &str, size: usize, seconds: f64) {
    println!("{{\"case\":\"{case}\",\"size\":{size},\"seconds\":{seconds:.9}}}");
}
