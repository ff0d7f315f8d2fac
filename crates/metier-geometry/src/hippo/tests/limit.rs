//! Right values of the layer in the limit and of its operator.

use super::super::*;
use crate::quadrature::gauss_legendre;
use faer::{Mat, Side, c64};
use ndarray::Array2;
use std::f64::consts::PI;

fn layer(basis: Basis, states: usize, dt: f64, discretization: Discretization) -> Continuized {
    let config = ContinuizedConfig { states, basis, discretization, dt, gamma: 0.0 };
    Continuized::new(&config).unwrap()
}

#[test]
fn the_operators_exponential() {
    assert!((decay_of_one(3.0, 0.5) + 0.022966965749).abs() < 1e-12);
    assert!((decay(3.0, 0.5, |_| 1.0) + 0.022966965749).abs() < 1e-12);
    assert!((decay(3.0, 0.5, |u| u) - 0.207867739235).abs() < 1e-12);
    assert!((decay_of_one(10.0, 1.0) - 0.228843818615).abs() < 1e-12);
    // One after the other is both at once.
    let once = decay(5.0, 0.8, |u| decay_of_one(3.0, u));
    assert!((once - decay_of_one(8.0, 0.8)).abs() < 1e-12);
    assert_eq!(decay(0.0, 0.3, |u| u), 0.3);
}

#[test]
fn finite_systems_converge_to_the_limit_in_second_order() {
    let finite = |n: usize, t: f64| {
        let mut row = vec![0.0; n + 1];
        let scale = n as f64 + 0.5;
        baselines::legs_kernels(t / (scale * scale), &mut row);
        // Without the weight of the entry.
        row[n] / (2.0 * scale).sqrt()
    };
    assert!((finite(200, 10.0) - 0.228780747605).abs() < 1e-12, "{}", finite(200, 10.0));
    for t in [1.0, 10.0, 50.0] {
        let error = |n| (finite(n, t) - decay_of_one(t, 1.0)).abs();
        let ratio = error(200) / error(1000);
        assert!((20.0..30.0).contains(&ratio), "{t}: {ratio}");
    }
}

#[test]
fn legendre_kernels_are_products_with_the_polynomials() {
    let right = [0.282979986881, -0.196548095270, 0.023684312050, -6.77861e-7];
    let kernels = layer(Basis::Legendre, 6, 1.0, Discretization::Point).at(&[2.0, 0.0]).unwrap();
    for (n, right) in [0, 1, 2, 5].into_iter().zip(right) {
        let found = kernels[[n, 0]] / ((2 * n + 1) as f64).sqrt();
        assert!((found - right).abs() < 1e-12, "{n}: {found}");
    }
    assert_eq!(kernels.column(1).to_vec(), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    // Against the integral that they stand for, on both sides of the recurrence's turning point.
    let (u, w) = gauss_legendre(200, 0.0, 1.0);
    for t in [0.01, 3.0, 40.0, 3000.0] {
        let kernels = layer(Basis::Legendre, 6, 1.0, Discretization::Point).at(&[t]).unwrap();
        for n in 0..6 {
            let polynomial = |u: f64| crate::quadrature::legendre_pair(n, 2.0 * u - 1.0).1;
            let integral: f64 =
                u.iter().zip(&w).map(|(u, w)| w * polynomial(*u) * decay_of_one(t, *u)).sum();
            let right = ((2 * n + 1) as f64).sqrt() * integral;
            assert!((kernels[[n, 0]] - right).abs() < 1e-12, "{t} {n}: {}", kernels[[n, 0]]);
        }
    }
}

#[test]
fn held_inputs_have_exact_integrals() {
    // At u = 1/2, the one node of one state, whose weight is 1.
    let bank = layer(Basis::Nodes, 1, 0.25, Discretization::Zoh).bank(3).unwrap();
    for (found, right) in bank.values().iter().zip([0.234697151096, 0.205353434649, 0.177843904591])
    {
        assert!((found - right).abs() < 1e-12, "{found} {right}");
    }
    // Every basis against quadrature of its kernel, over irregular steps, near and far.
    let edges = [0.0, 0.3, 0.31, 2.0, 7.5, 30.0, 90.0, 91.0];
    for basis in [Basis::Legendre, Basis::Nodes, Basis::Spectral] {
        for gamma in [0.0, 0.02] {
            if gamma > 0.0 && basis != Basis::Spectral {
                continue;
            }
            let config = ContinuizedConfig { states: 5, basis, gamma, ..Default::default() };
            let layer = Continuized::new(&config).unwrap();
            let over = layer.over(&edges).unwrap();
            for (m, pair) in edges.windows(2).enumerate() {
                let (t, w) = gauss_legendre(60, pair[0], pair[1]);
                let at = layer.at(&t).unwrap();
                for n in 0..5 {
                    let right: f64 = at.row(n).iter().zip(&w).map(|(k, w)| k * w).sum();
                    let found = over[[n, m]];
                    assert!((found - right).abs() < 2e-12, "{basis:?} {n} {m}: {found} {right}");
                }
            }
        }
    }
}

#[test]
fn the_skew_part_has_the_eigenvalues_of_the_formula() {
    let m = 400;
    // Midpoints: half a cell on the diagonal of V cancels in the skew part.
    let sign = |i: usize, k: usize| match i.cmp(&k) {
        std::cmp::Ordering::Greater => 0.5,
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Less => -0.5,
    };
    let hermitian = Mat::from_fn(m, m, |i, k| c64::new(0.0, sign(i, k) / m as f64));
    let values = hermitian.self_adjoint_eigenvalues(Side::Lower).unwrap();
    let right = [0.999994859576, 0.333317911934, 0.199974297245];
    for (j, right) in right.into_iter().enumerate() {
        let found = values[m - 1 - j];
        assert!((found * PI - right).abs() < 1e-11, "{found}");
        assert!((found / operator_frequency(j) - 1.0).abs() < 2e-4 * (j + 1) as f64);
    }
}

#[test]
fn damping_is_a_factor() {
    let config = ContinuizedConfig { gamma: 0.1, ..Default::default() };
    let plain = ContinuizedConfig::default();
    let ages = [0.0, 1.0, 12.0];
    let damped = Continuized::new(&config).unwrap().at(&ages).unwrap();
    let plain = Continuized::new(&plain).unwrap().at(&ages).unwrap();
    let right = Array2::from_shape_fn(plain.dim(), |(n, m)| plain[[n, m]] * (-0.1 * ages[m]).exp());
    assert!((damped - right).iter().all(|difference| difference.abs() < 1e-15));
}

#[test]
fn what_cannot_be_made_is_refused_with_its_name() {
    let message = |config: ContinuizedConfig| Continuized::new(&config).unwrap_err().to_string();
    let default = ContinuizedConfig::default;
    let no_states = message(ContinuizedConfig { states: 0, ..default() });
    assert_eq!(no_states, "n: n must be at least 1");
    for (dt, shown) in [(0.0, "0"), (-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let found = message(ContinuizedConfig { dt, ..default() });
        assert_eq!(found, format!("dt: dt is {shown}, where a positive number is meant"));
    }
    let found = message(ContinuizedConfig { gamma: -0.5, ..default() });
    assert!(found.contains("gamma is -0.5") && found.contains("without bound"), "{found}");
    let late = layer(Basis::Nodes, 2, 1e12, Discretization::Zoh).bank(5000).unwrap_err();
    assert_eq!(
        late.message(),
        "dt is 1000000000000, where 5000 samples can be told apart up to 5e11"
    );
    assert!(layer(Basis::Nodes, 2, 5e11, Discretization::Zoh).bank(5000).is_ok());
    assert!(layer(Basis::Nodes, 2, 1.0, Discretization::Zoh).bank(0).is_err());
    let ages = layer(Basis::Nodes, 2, 1.0, Discretization::Zoh);
    assert!(ages.at(&[-1.0]).unwrap_err().message().contains("age 1 is -1"));
    assert!(ages.over(&[0.0, 2.0, 1.0]).unwrap_err().message().contains("1 comes after 2"));
}
