//! Right values of the closed forms, and their laws against dense solves.

use super::super::*;
use faer::{Mat, Side, c64};
use ndarray::Array2;
use proptest::prelude::*;
use std::f64::consts::PI;

fn close(found: f64, right: f64, relative: f64) {
    assert!((found / right - 1.0).abs() < relative, "{found} {right}");
}

#[test]
fn frequencies_of_small_matrices() {
    let omega = |n| legs_spectrum(n).unwrap().omega;
    assert_eq!(omega(1), [0.0]);
    assert_eq!(omega(2).len(), 1);
    close(omega(2)[0], 3f64.sqrt() / 2.0, 1e-15);
    close(omega(3)[0], 23f64.sqrt() / 2.0, 1e-15);
    assert_eq!(omega(3)[1], 0.0);
    let known = [
        (4, vec![4.603293007067, 0.556501115084]),
        (8, vec![19.857410370971, 5.354208515031, 1.957794150903, 0.427488712286]),
    ];
    for (n, known) in known {
        for (found, right) in omega(n).iter().zip(known) {
            close(*found, right, 1e-11);
        }
    }
    close(omega(16)[0], 80.966080924513, 1e-13);
    close(omega(16)[7], 0.352017915889, 1e-11);
    for (found, right) in omega(64).iter().zip([1303.273842981, 433.030756539, 258.152210215]) {
        assert!((found - right).abs() < 5e-10, "{found} {right}");
    }
    close(omega(1024)[0], 333771.583616857, 1e-14);
}

#[test]
fn the_two_term_formula_and_how_its_error_falls() {
    close(asymptotic_omega(1024, 0, 2), 333771.583616279, 1e-14);
    let error = |n: usize, terms| {
        let exact = legs_spectrum(n).unwrap().omega[0];
        (asymptotic_omega(n, 0, terms) - exact) / exact
    };
    assert!((error(64, 2) / -1.1e-7 - 1.0).abs() < 0.05, "{}", error(64, 2));
    assert!((error(256, 2) / -4.4e-10 - 1.0).abs() < 0.05, "{}", error(256, 2));
    assert!(error(64, 2) / error(256, 2) > 200.0);
    // At the other end.
    close(asymptotic_small_omega(1024, 0), 0.17659, 1e-4);
    close(*legs_spectrum(1024).unwrap().omega.last().unwrap(), 0.17826, 1e-4);
}

#[test]
fn a_size_that_no_dense_solver_could_hold() {
    let spectrum = legs_spectrum(100_000).unwrap();
    assert_eq!(spectrum.omega.len(), 50_000);
    close(spectrum.omega[0], asymptotic_omega(100_000, 0, 2), 1e-15);
    close(spectrum.omega[49_999], asymptotic_small_omega(100_000, 0), 6e-3);
    let sum: f64 = spectrum.both_signs().map(|(_, p, _)| 2.0 * p * p).sum();
    close(sum, 1e10, 1e-12);
}

// The eigenvalues of i K, which is Hermitian.
fn dense(n: usize) -> Vec<f64> {
    let skew = legs_skew(n).unwrap();
    let turned = Mat::from_fn(n, n, |i, j| c64::new(0.0, skew[[i, j]]));
    let mut values = turned.self_adjoint_eigenvalues(Side::Lower).unwrap();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

#[test]
fn frequencies_agree_with_a_dense_solver() {
    for n in [2, 3, 4, 8, 16, 64, 257] {
        let spectrum = legs_spectrum(n).unwrap();
        let dense = dense(n);
        for (found, right) in spectrum.omega.iter().zip(&dense) {
            // The dense side loses digits of the small ones to the large.
            let rounding = 1e-12 * found + 4.0 * f64::EPSILON * dense[0];
            assert!((found - right).abs() < rounding, "{n}: {found} {right}");
        }
    }
}

#[test]
fn products_with_the_input_add_up() {
    for n in [1, 2, 3, 64, 65, 1000] {
        let spectrum = legs_spectrum(n).unwrap();
        let sum: f64 = spectrum
            .both_signs()
            .map(|(_, p, b)| {
                assert_eq!(b, 2f64.sqrt() * p);
                2.0 * p * p
            })
            .sum();
        // |B|² = sum (2n + 1) = N², of which 2 p² per vector is twice |P|².
        close(sum, (n * n) as f64, 1e-12);
    }
    close(legs_spectrum(64).unwrap().p[0].powi(2), 830.3562685856, 1e-12);
}

#[test]
fn eigenvectors_solve_their_equation() {
    for n in [1, 2, 7, 8, 33] {
        let (skew, vectors) = (legs_skew(n).unwrap(), legs_eigenvectors(n).unwrap());
        let spectrum = legs_spectrum(n).unwrap();
        let largest = spectrum.omega[0].max(1.0);
        let b = legs_b(n);
        for (k, (omega, p, _)) in spectrum.both_signs().enumerate() {
            let v = vectors.column(k);
            for i in 0..n {
                let product: c64 = (0..n).map(|j| v[j] * skew[[i, j]]).sum();
                let gap = product - c64::new(0.0, omega) * v[i];
                assert!(gap.norm() < 1e-13 * largest, "{n} {k} {i}: {gap}");
                let modulus = v[i].norm_sqr() * ((i as f64 + 0.5).powi(2) + omega * omega)
                    / (2 * i + 1) as f64;
                close(modulus, 0.5 * p * p, 1e-12);
            }
            let projected: c64 = (0..n).map(|i| v[i].conj() * b[i] / 2f64.sqrt()).sum();
            assert!((projected - p).norm() < 1e-12 * p.max(1.0), "{projected} {p}");
        }
    }
}

#[test]
fn the_matrix_is_the_sum_of_its_parts() {
    let (a, skew, b) = (legs_matrix(9).unwrap(), legs_skew(9).unwrap(), legs_b(9));
    let rebuilt = Array2::from_shape_fn((9, 9), |(i, j)| {
        skew[[i, j]] + 0.5 * b[i] * b[j] + if i == j { 0.5 } else { 0.0 }
    });
    for (found, right) in rebuilt.iter().zip(&a) {
        assert!((found - right).abs() < 1e-13);
    }
}

#[test]
fn sizes_that_cannot_be_had() {
    assert_eq!(legs_spectrum(0).unwrap_err().message(), "n must be at least 1");
    assert_eq!(legs_matrix(0).unwrap_err().message(), "n must be at least 1");
    let error = legs_eigenvectors(1_000_000).unwrap_err();
    assert_eq!(error.message(), "n is 1000000, where at most 16384 can be had");
    assert!(legs_spectrum(usize::MAX).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // For every size: as many as there are pairs, falling, each a root, and the sum of squares that
    // the entries of the matrix have.
    #[test]
    fn laws_of_the_spectrum(n in 1usize..3000) {
        let omega = legs_spectrum(n).unwrap().omega;
        prop_assert_eq!(omega.len(), n.div_ceil(2));
        prop_assert!(omega.windows(2).all(|pair| pair[0] > pair[1]));
        for (j, omega) in omega.iter().enumerate().filter(|(_, omega)| **omega > 0.0) {
            let sum = super::super::angles::above(n, *omega);
            let right = (2 * j + 1) as f64 * PI / 2.0;
            prop_assert!((sum - right).abs() < 1e-14 * n as f64 + 1e-13, "{} {}", sum, right);
        }
        // |K|² = sum over n > k of (2n+1)(2k+1) / 2 = (N⁴ - sum (2n+1)²) / 4.
        let n = n as f64;
        let squares = (n.powi(4) - n * (4.0 * n * n - 1.0) / 3.0) / 4.0;
        let found: f64 = omega.iter().map(|omega| 2.0 * omega * omega).sum();
        prop_assert!((found - squares).abs() <= 1e-11 * squares, "{} {}", found, squares);
    }
}
