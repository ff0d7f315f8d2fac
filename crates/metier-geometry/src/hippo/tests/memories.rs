//! Banks, streams and baselines against one another, and their laws.

use super::super::baselines::{Baseline, dplr_kernel};
use super::super::exponential::exponential;
use super::super::*;
use faer::Mat;
use ndarray::Array2;
use proptest::prelude::*;

fn noise(rows: usize, columns: usize) -> Array2<f64> {
    let mut state = 1u64;
    Array2::from_shape_simple_fn((rows, columns), || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    })
}

fn near(found: &Array2<f64>, right: &Array2<f64>, bound: f64) {
    assert_eq!(found.dim(), right.dim());
    let worst = (found - right).iter().fold(0.0f64, |most, d| most.max(d.abs()));
    assert!(worst < bound, "{worst}");
}

fn nodes(states: usize, dt: f64, len: usize) -> Bank {
    let config = ContinuizedConfig { states, dt, ..Default::default() };
    Continuized::new(&config).unwrap().bank(len).unwrap()
}

#[test]
fn transforms_agree_with_sums_and_with_the_last_state() {
    for (len, lags) in [(257, 257), (64, 257), (257, 31), (1, 1), (2, 1)] {
        let (u, bank) = (noise(3, len), nodes(6, 0.7, lags));
        let (fast, direct) =
            (bank.transform(u.view()).unwrap(), bank.transform_direct(u.view()).unwrap());
        assert_eq!(fast.dim(), (3, len, 6));
        assert!((&fast - &direct).iter().all(|difference| difference.abs() < 1e-12));
        let last = bank.last_state(u.view()).unwrap();
        near(&last, &direct.index_axis(ndarray::Axis(1), len - 1).to_owned(), 1e-12);
    }
}

#[test]
fn a_readout_reads_the_states() {
    let (u, bank) = (noise(3, 40), nodes(6, 0.7, 40));
    let c: Vec<f64> = (0..6).map(|n| n as f64 - 2.0).collect();
    let states = bank.transform(u.view()).unwrap();
    let right = Array2::from_shape_fn((3, 40), |(i, t)| {
        (0..6).map(|n| c[n] * states[[i, t, n]]).sum::<f64>() + 0.5 * u[[i, t]]
    });
    near(&bank.readout(u.view(), &c, 0.5).unwrap(), &right, 1e-12);
    assert!(bank.readout(u.view(), &c[1..], 0.5).is_err());
}

#[test]
fn the_legs_kernel_is_the_matrix_exponential() {
    let right = [
        0.496585303791,
        -0.005874035381,
        -0.555121563473,
        0.013458059648,
        0.558397919278,
        -0.021085262502,
    ];
    let (a, b) = (legs_matrix(12).unwrap(), legs_b(12));
    let a = Mat::from_fn(12, 12, |i, k| -0.7 * a[[i, k]]);
    let dense = exponential(&a) * Mat::from_fn(12, 1, |i, _| b[i]);
    let mut row = [0.0; 12];
    baselines::legs_kernels(0.7, &mut row);
    for n in 0..12 {
        assert!((row[n] - dense[(n, 0)]).abs() < 1e-12, "{n}: {} {}", row[n], dense[(n, 0)]);
        if let Some(right) = right.get(n) {
            assert!((row[n] - right).abs() < 1e-12, "{n}: {}", row[n]);
        }
    }
}

#[test]
fn s4s_kernel_is_that_of_the_recurrence() {
    for (states, len) in [(1, 5), (4, 64), (7, 65), (16, 33)] {
        let c: Vec<f64> = (0..states).map(|n| (n as f64 * 1.7).cos()).collect();
        let kernel = dplr_kernel(&c, 0.05, len).unwrap();
        let mut stream = LegsStream::new(states, Clock::Invariant { dt: 0.05 }).unwrap();
        for (m, found) in kernel.iter().enumerate() {
            let state = stream.push(if m == 0 { 1.0 } else { 0.0 });
            let right: f64 = state.iter().zip(&c).map(|(x, c)| x * c).sum();
            assert!((found - right).abs() < 1e-13, "{states} {m}: {found} {right}");
        }
    }
}

#[test]
fn a_fine_recurrence_is_the_exact_kernel() {
    let (dt, len) = (1e-3, 700);
    let mut stream = LegsStream::new(6, Clock::Invariant { dt }).unwrap();
    for m in 0..len {
        stream.push(if m == 0 { 1.0 / dt } else { 0.0 });
    }
    let mut row = [0.0; 6];
    baselines::legs_kernels((len as f64 - 0.5) * dt, &mut row);
    for (found, right) in stream.state().iter().zip(row) {
        assert!((found - right).abs() < 1e-4, "{found} {right}");
    }
}

#[test]
fn sliding_windows_forget_what_has_left_them() {
    // A window of 1 holds what came within it, and of what came before nearly nothing.
    for baseline in [Baseline::Legt, Baseline::Fourier] {
        let bank = baseline.bank(33, 0.01, 300, 0).unwrap();
        let energy = |from: usize, to: usize| -> f64 {
            bank.values().columns().into_iter().skip(from).take(to - from).map(|c| c.dot(&c)).sum()
        };
        assert!(energy(150, 300) < 0.05 * energy(0, 100), "{baseline:?}");
    }
}

#[test]
fn laguerre_functions_solve_their_system() {
    let n = 5;
    let a = Mat::from_fn(n, n, |i, k| match i.cmp(&k) {
        std::cmp::Ordering::Greater => -1.0,
        std::cmp::Ordering::Equal => -0.5,
        std::cmp::Ordering::Less => 0.0,
    });
    let bank = Baseline::Lagt.bank(n, 3.0, 1, 0).unwrap();
    let right = exponential(&(&a * faer::Scale(1.5))) * Mat::from_fn(n, 1, |_, _| 1.0);
    for i in 0..n {
        assert!((bank.values()[[i, 0]] - right[(i, 0)]).abs() < 1e-12);
    }
}

#[test]
fn every_baseline_makes_a_bank_and_refuses_a_wrong_step() {
    for baseline in Baseline::ALL {
        for states in [1, 2, 7] {
            let bank = baseline.bank(states, 0.02, 50, 3).unwrap();
            assert_eq!(bank.values().dim(), (states, 50), "{baseline:?}");
        }
        let error = baseline.bank(4, -1.0, 10, 0).unwrap_err();
        assert_eq!(error.message(), "dt is -1, where a positive number is meant");
    }
    // Steps and lengths beyond all measure end in an error, not in a hang or without memory.
    for baseline in Baseline::ALL {
        assert!(baseline.bank(4, 1.0, usize::MAX, 0).is_err());
        let far = baseline.bank(4, 1e308, 3, 0);
        assert!(far.is_err() || far.unwrap().values().iter().all(|v| v.is_finite()));
    }
    assert!(Baseline::Legt.bank(4, 1e308, 3, 0).is_err());
    let layer = Continuized::new(&ContinuizedConfig { dt: 1e-9, ..Default::default() }).unwrap();
    let error = layer.bank(1 << 40).unwrap_err();
    assert!(error.message().contains("more than the 2147483648 numbers"), "{error}");
    let frequencies = |seed| Baseline::Random.bank(8, 0.1, 20, seed).unwrap();
    assert_eq!(frequencies(1), frequencies(1));
    assert_ne!(frequencies(1), frequencies(2));
}

#[test]
fn streams_are_their_banks() {
    let u = noise(1, 90);
    for discretization in [Discretization::Point, Discretization::Zoh] {
        for (states, gamma, dt) in [(6, 0.0, 3.0), (7, 0.01, 0.4), (1, 0.0, 1.0), (4, 0.0, 1e-7)] {
            let config =
                ContinuizedConfig { states, basis: Basis::Spectral, discretization, dt, gamma };
            let bank = Continuized::new(&config).unwrap().bank(90).unwrap();
            let right = bank.transform_direct(u.view()).unwrap();
            let mut stream = SpectralStream::new(&config).unwrap();
            for (t, value) in u.iter().enumerate() {
                let state = stream.push(*value);
                for n in 0..states {
                    let (found, right) = (state[n], right[[0, t, n]]);
                    let bound = 1e-11 * dt.max(1.0);
                    assert!((found - right).abs() < bound, "{config:?} {t} {n}: {found} {right}");
                }
            }
        }
    }
    let bank = nodes(5, 0.5, 20);
    let whole = bank.transform_direct(u.view()).unwrap();
    let mut stream = BlockStream::new(bank);
    let mut at = 0;
    for length in [1, 7, 30, 2, 50] {
        let block: Vec<f64> = u.iter().skip(at).take(length).copied().collect();
        let states = stream.push(&block).unwrap();
        let right = whole.index_axis(ndarray::Axis(0), 0);
        for (i, row) in states.rows().into_iter().enumerate() {
            for n in 0..5 {
                assert!((row[n] - right[[at + i, n]]).abs() < 1e-12);
            }
        }
        at += length;
    }
    assert_eq!(at, 90);
    let config = ContinuizedConfig::default();
    assert!(SpectralStream::new(&config).unwrap_err().message().contains("spectral"));
}

#[test]
fn what_the_states_determine_is_given_back() {
    // As many states as samples, none of which is lost.
    let bank = nodes(8, 4.0, 8);
    let memory = Memory::of(&bank).unwrap();
    let u = noise(1, 8);
    let state = bank.last_state(u.view()).unwrap();
    let history = memory.reconstruct(&state.row(0).to_vec()).unwrap();
    for (found, right) in history.iter().zip(u.row(0).iter().rev()) {
        assert!((found - right).abs() < 1e-6, "{found} {right}");
    }
    assert_eq!(memory.reach(0.999), 8);
    assert!((memory.coverage(u.view()).unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(memory.coverage(Array2::zeros((2, 8)).view()).unwrap(), 1.0);
    let error = memory.reconstruct(&[0.0; 3]).unwrap_err();
    assert_eq!(error.message(), "3 values are given for 8 states");
}

#[test]
fn wrong_sequences_are_refused_with_their_place() {
    let bank = nodes(3, 1.0, 10);
    let mut u = noise(2, 10);
    u[[1, 4]] = f64::NAN;
    for error in [
        bank.transform(u.view()).unwrap_err(),
        bank.transform_direct(u.view()).unwrap_err(),
        bank.last_state(u.view()).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "row 2: sample 5 is NaN");
    }
    assert!(bank.last_state(Array2::zeros((2, 0)).view()).is_err());
    assert!(bank.kernel(&[1.0]).unwrap_err().message().contains("1 weights are given for 3"));
    assert!(Bank::new(Array2::zeros((0, 4))).is_err());
    let broken = Bank::new(Array2::from_elem((1, 2), f64::INFINITY)).unwrap_err();
    assert_eq!(broken.message(), "the kernel of state 0 is inf at lag 0");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn banks_are_linear_causal_and_of_bounded_gram(
        states in 1usize..12, len in 2usize..60, dt in 0.01f64..20.0, at in 0usize..60,
        factor in -3.0f64..3.0,
    ) {
        let bank = nodes(states, dt, len);
        let (u, at) = (noise(2, len), at % len);
        let found = bank.transform_direct(u.view()).unwrap();
        // Scaled inputs, scaled states.
        let scaled = bank.transform_direct((&u * factor).view()).unwrap();
        prop_assert!((scaled - &found * factor).iter().all(|d| d.abs() < 1e-9));
        // What comes at `at` changes no bit before.
        let mut changed = u.clone();
        changed[[0, at]] += 1.0;
        let later = bank.transform_direct(changed.view()).unwrap();
        for t in 0..at {
            for n in 0..states {
                prop_assert_eq!(found[[0, t, n]].to_bits(), later[[0, t, n]].to_bits());
            }
        }
        // |J_0| <= 1 and weights of 1 in all: a sample leaves states of length at most its own times
        // dt, so the Gram matrix's eigenvalues are at most len dt².
        let gram = bank.values().dot(&bank.values().t());
        let gram = Mat::from_fn(states, states, |i, k| gram[[i, k]]);
        let values = gram.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
        let most = len as f64 * dt * dt * (1.0 + 1e-12);
        prop_assert!(values.iter().all(|v| (-1e-12 * most..=most).contains(v)));
        // Shares of variance are shares, and add up to the rank.
        let shares = Memory::of(&bank).unwrap().r_squared();
        prop_assert!(shares.iter().all(|share| (-1e-12..=1.0 + 1e-9).contains(share)));
        prop_assert!(shares.iter().sum::<f64>() <= states as f64 + 1e-9);
    }
}
