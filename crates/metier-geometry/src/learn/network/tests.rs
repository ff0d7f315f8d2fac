//! Every layer's backward pass against differences, and what the networks learn.

use super::layer::backward;
use super::*;
use crate::learn::r_squared;
use metier_core::Silent;

// A network of these layers on inputs of three columns.
fn network(layers: Vec<Layer>) -> Network {
    let mut rng = rng::stream(3, "test weights");
    let mut parameters: Vec<f32> = layers.iter().flat_map(|layer| layer.start(&mut rng)).collect();
    // So that gains and shifts are no ones and zeros.
    parameters.iter_mut().enumerate().for_each(|(i, w)| *w += 0.1 * (i as f32).sin());
    let (mean, scale) = (vec![0.0; 3], vec![1.0; 3]);
    Network { layers, parameters, mean, scale, target: (0.0, 1.0), epochs: 0 }
}

fn inputs() -> Matrix {
    let value = |i: usize| ((i / 3 * 5 + i % 3 * 3) % 7) as f32 / 3.0 - 1.0;
    Matrix { columns: 3, values: (0..18).map(value).collect() }
}

const TARGETS: [f32; 6] = [0.3, -0.2, 0.9, 0.0, 1.1, -0.7];

// Half the mean squared error and half the penalty, in double precision from the outputs on. The
// same units are dropped in every pass.
fn loss(network: &Network) -> f64 {
    let mut rng = rng::stream(9, "test dropout");
    let mode = &mut Mode::Train(&mut rng);
    let (out, _) = forward(&network.layers, &network.parameters, inputs(), mode);
    let errors = out.values.iter().zip(&TARGETS);
    errors.map(|(o, y)| (f64::from(*o) - f64::from(*y)).powi(2)).sum::<f64>() / 12.0
}

fn agrees_with_differences(layers: Vec<Layer>) {
    let network = network(layers);
    let mut found = vec![0.0; network.parameters.len()];
    let mut rng = rng::stream(9, "test dropout");
    network.gradient(inputs(), &TARGETS, 0.0, &mut Mode::Train(&mut rng), &mut found);
    let step = 2e-3f32;
    for (i, found) in found.iter().enumerate() {
        let moved = |by: f32| {
            let mut moved = network.clone();
            moved.parameters[i] += by;
            loss(&moved)
        };
        let slope = (moved(step) - moved(-step)) / (2.0 * f64::from(step));
        let bound = 1e-3 + 0.01 * slope.abs();
        assert!((slope - f64::from(*found)).abs() < bound, "{i}: {slope} {found}");
    }
}

#[test]
fn gradients_agree_with_differences() {
    let siren = Siren { width: 5, depth: 3, last: 4, omega_first: 3.0, omega: 1.0 };
    let deep = DeepRff { features: 6, width: 4, depth: 3, ..DeepRff::default() };
    for architecture in [
        Architecture::from(Mlp { hidden: [4, 5], dropout: 0.0 }),
        Mlp { hidden: [8, 6], dropout: 0.3 }.into(),
        ResMlp { width: 5, depth: 2, last: 4, dropout: 0.0 }.into(),
        ResMlp { width: 6, depth: 1, last: 3, dropout: 0.2 }.into(),
        siren.into(),
        Glu { width: 5, depth: 2, last: 4, dropout: 0.0 }.into(),
        Glu { width: 6, depth: 3, last: 3, dropout: 0.2 }.into(),
        deep.into(),
    ] {
        agrees_with_differences(architecture.layers(3, 1));
    }
}

#[test]
fn slopes_at_the_inputs_agree_with_differences() {
    let siren = Siren { width: 5, depth: 3, last: 4, omega_first: 3.0, omega: 1.0 };
    for architecture in [
        Architecture::from(Mlp { hidden: [4, 5], dropout: 0.0 }),
        ResMlp { width: 5, depth: 2, last: 4, dropout: 0.0 }.into(),
        siren.into(),
        Glu { width: 5, depth: 2, last: 4, dropout: 0.0 }.into(),
        DeepRff { features: 6, width: 4, depth: 3, ..DeepRff::default() }.into(),
    ] {
        slopes_agree_with_differences(&network(architecture.layers(3, 1)));
    }
}

fn slopes_agree_with_differences(network: &Network) {
    let mut rng = rng::stream(0, "none");
    let (out, kept) =
        forward(&network.layers, &network.parameters, inputs(), &mut Mode::Train(&mut rng));
    let ones = Matrix { columns: 1, values: vec![1.0; out.values.len()] };
    let mut sums = vec![0.0; network.parameters.len()];
    let gradient = layer::Gradient { sums: &mut sums, decay: 0.0 };
    let slopes =
        backward(&network.layers, &network.parameters, kept, ones, gradient, true).unwrap();
    for i in 0..slopes.values.len() {
        let moved = |by: f32| -> f32 {
            let mut x = inputs();
            x.values[i] += by;
            forward(&network.layers, &network.parameters, x, &mut Mode::Predict)
                .0
                .values
                .iter()
                .sum()
        };
        let slope = (moved(2e-3) - moved(-2e-3)) / 4e-3;
        let bound = 1e-2 + 0.01 * slope.abs();
        assert!((slope - slopes.values[i]).abs() < bound, "{i}: {slope} {}", slopes.values[i]);
    }
}

#[test]
fn every_architecture_learns_a_wave() {
    let x = Array2::from_shape_fn((300, 2), |(i, j)| {
        [(i as f32 * 0.37).sin(), i as f32 / 150.0 - 1.0][j]
    });
    let y: Vec<f64> = x.column(1).iter().map(|x| (4.0 * f64::from(*x)).sin()).collect();
    let training = Training { batch: 30, epochs: 40, ..Training::default() };
    for architecture in [
        Architecture::from(Mlp { dropout: 0.1, ..Mlp::default() }),
        ResMlp { width: 48, depth: 2, last: 16, dropout: 0.1 }.into(),
        Siren { width: 48, depth: 3, last: 16, omega_first: 4.0, omega: 1.0 }.into(),
        Glu { width: 48, depth: 2, last: 16, dropout: 0.1 }.into(),
        DeepRff { features: 48, width: 8, depth: 2, ..DeepRff::default() }.into(),
    ] {
        let config = NetworkConfig { architecture, training: training.clone() };
        let model = Network::fit(&config, &x, &y, &x, &y, 0, &Silent).unwrap();
        let score = r_squared(&y, &model.predict(&x));
        assert!(score > 0.75, "{architecture:?}: {score}");
    }
}

#[test]
fn what_is_dropped_keeps_its_mean() {
    let mut rng = rng::stream(0, "test");
    let mut x = Matrix { columns: 100, values: vec![1.0; 100_000] };
    let _ = elementwise::dropout(&mut x, 0.3, &mut Mode::Train(&mut rng));
    let zeros = x.values.iter().filter(|v| **v == 0.0).count();
    assert!((29_000..31_000).contains(&zeros), "{zeros}");
    assert!(x.values.iter().all(|v| *v == 0.0 || (v - 1.0 / 0.7).abs() < 1e-6));
    // Nothing is dropped in use.
    let mut x = Matrix { columns: 2, values: vec![1.0; 4] };
    let _ = elementwise::dropout(&mut x, 0.3, &mut Mode::Predict);
    assert_eq!(x.values, [1.0; 4]);
}

#[test]
fn a_normalized_row_has_mean_0_and_deviation_1() {
    let layer = norm::Norm { width: 4 };
    let x = Matrix { columns: 4, values: vec![1.0, 2.0, 3.0, 6.0] };
    let (y, _) = layer.forward(&layer.start(), x, &Mode::Predict);
    // Mean 3, mean square deviation 3.5.
    let right = [-2.0, -1.0, 0.0, 3.0].map(|v: f32| v / 3.500_01f32.sqrt());
    assert!(y.values.iter().zip(right).all(|(y, r)| (y - r).abs() < 1e-6), "{:?}", y.values);
}

#[test]
fn the_penalty_pulls_weights_and_not_offsets() {
    let network = network(Mlp { hidden: [2, 2], dropout: 0.0 }.layers(3));
    let gradient = |alpha: f32| {
        let mut sums = vec![0.0; network.parameters.len()];
        let mut rng = rng::stream(0, "none");
        network.gradient(inputs(), &TARGETS, alpha, &mut Mode::Train(&mut rng), &mut sums);
        sums
    };
    let (without, with) = (gradient(0.0), gradient(0.6));
    for i in 0..8 {
        let right = if i < 6 { 0.1 * network.parameters[i] } else { 0.0 };
        assert!((with[i] - without[i] - right).abs() < 1e-6, "{i}");
    }
}

#[test]
fn a_bump_is_learned() {
    let x = Array2::from_shape_fn((400, 1), |(i, _)| i as f32 / 200.0 - 1.0);
    let y: Vec<f64> = x.iter().map(|x| (-8.0 * f64::from(*x).powi(2)).exp()).collect();
    let training = Training { batch: 50, epochs: 60, ..Training::default() };
    let config = NetworkConfig { training, ..NetworkConfig::default() };
    let model = Network::fit(&config, &x, &y, &x, &y, 0, &Silent).unwrap();
    assert!(r_squared(&y, &model.predict(&x)) > 0.97);
    // The same again, to the bit.
    let again = Network::fit(&config, &x, &y, &x, &y, 0, &Silent).unwrap();
    assert_eq!(model.predict(&x), again.predict(&x));
}

#[test]
fn training_ends_where_patience_does() {
    // Noise: nothing that is learned helps on rows never seen.
    let noise = |i: usize| ((i * 7919 + 13) % 1009) as f64 / 1009.0;
    let x = Array2::from_shape_fn((80, 2), |(i, j)| noise(i * 2 + j) as f32);
    let y: Vec<f64> = (0..80).map(|i| noise(i * i + 5)).collect();
    let held = x.mapv(|v| 1.0 - v);
    let training = Training { patience: 3, ..Training::default() };
    let config = NetworkConfig { training, ..NetworkConfig::default() };
    let held_y: Vec<f64> = y.iter().rev().copied().collect();
    let model = Network::fit(&config, &x, &y, &held, &held_y, 0, &Silent).unwrap();
    assert!(model.epochs < 200, "{}", model.epochs);
}

#[test]
fn numbers_out_of_range_are_named() {
    let told = |config: NetworkConfig| config.validate().unwrap_err().to_string();
    let training = |training| NetworkConfig { training, ..NetworkConfig::default() };
    let network =
        |architecture: Architecture| NetworkConfig { architecture, ..NetworkConfig::default() };
    for (told, right) in [
        (told(training(Training { batch: 0, ..Training::default() })), "batch is 0"),
        (told(training(Training { alpha: f32::NAN, ..Training::default() })), "alpha is NaN"),
        (
            told(training(Training { learning_rate: -1.0, ..Training::default() })),
            "learning_rate is -1, where a number above 0 is wanted",
        ),
        (told(network(Mlp { hidden: [0, 3], ..Mlp::default() }.into())), "hidden is 0"),
        (told(network(Siren { depth: 1, ..Siren::default() }.into())), "depth is 1"),
        (told(network(Siren { omega: 0.0, ..Siren::default() }.into())), "omega is 0"),
        (told(network(Glu { depth: 0, ..Glu::default() }.into())), "depth is 0"),
        (told(network(ResMlp { last: 0, ..ResMlp::default() }.into())), "last is 0"),
        (told(network(DeepRff { length: -1.0, ..DeepRff::default() }.into())), "length is -1"),
        (
            told(network(Mlp { dropout: 1.0, ..Mlp::default() }.into())),
            "dropout is 1, where a share from 0 to below 1 is wanted",
        ),
    ] {
        assert!(told.contains(right), "{told}");
    }
}
