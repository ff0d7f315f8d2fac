use super::newton_schulz::frobenius;
use super::*;
use faer::{Mat, MatRef, mat};
use metier_core::error::Kind;
use metier_core::{Result, rng};
use metier_nn::optim::{GradRef, GroupPolicy, Optimizer, ParamMut, StepStats, sign};
use ndarray::{Array3, Axis, array};
use proptest::prelude::*;
use rand_distr::{Distribution, StandardNormal};

fn gaussian(seed: u64, rows: usize, columns: usize) -> Mat<f32> {
    let mut rng = rng::stream(seed, "gaussian");
    Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
}

fn ns(g: MatRef<'_, f32>) -> Mat<f32> {
    let mut out = Mat::zeros(g.nrows(), g.ncols());
    newton_schulz(g, 5, out.as_mut(), &mut Scratch::default());
    out
}

fn apply(how: Orthogonalizer, g: MatRef<'_, f32>) -> Mat<f32> {
    let mut out = Mat::zeros(g.nrows(), g.ncols());
    how.apply(g, out.as_mut(), &mut Scratch::default()).unwrap();
    out
}

fn distance(a: MatRef<'_, f32>, b: MatRef<'_, f32>) -> f32 {
    (a - b).norm_max()
}

/// Steps one parameter called `w`.
fn step(
    optimizer: &mut dyn Optimizer,
    shape: &[usize],
    x: &mut [f32],
    g: &[f32],
    lr: f32,
) -> Result<StepStats> {
    optimizer.step(
        &mut [ParamMut { name: "w", shape, data: x }],
        &[GradRef { name: "w", data: g }],
        lr,
    )
}

fn named(name: &str) -> Box<dyn Optimizer> {
    OptimKind::named(name).unwrap().build().unwrap()
}

const Z: [f32; 9] = [3.0, 1.0, 0.5, 3.0, 0.9, -0.5, 3.0, 1.1, 0.6];
const Z_TRANSPOSED: [f32; 9] = [3.0, 3.0, 3.0, 1.0, 0.9, 1.1, 0.5, -0.5, 0.6];
const X0: [f32; 9] = [0.1, -0.2, 0.3, 0.4, 0.5, -0.6, 0.7, 0.8, 0.9];

/// The parameter after each of the three steps with gradients Z, Zᵀ and -Z.
fn three_steps(optimizer: &mut dyn Optimizer) -> [[f32; 9]; 3] {
    let mut x = X0;
    [Z, Z_TRANSPOSED, Z.map(|z| -z)].map(|g| {
        step(optimizer, &[3, 3], &mut x, &g, 0.01).unwrap();
        x
    })
}

fn assert_close(found: &[f32], expected: &[f32], within: f32) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= within, "{found:?} is not {expected:?}");
    }
}

#[test]
fn the_scalar_map_of_the_quintic() {
    let map = |s: f32| QUINTIC[0] * s + QUINTIC[1] * s.powi(3) + QUINTIC[2] * s.powi(5);
    let mut s = 1.0;
    for expected in [0.7010000, 1.1136202, 0.7207059, 1.0899742, 0.6964364] {
        s = map(s);
        assert!((s - expected).abs() < 2e-6, "{s} is not {expected}");
    }
    for (s, expected) in [(0.1, 0.7121201), (0.01, 0.6989171)] {
        // A diagonal matrix of unit norm whose first value is s is mapped value by value.
        let rest = (1.0f32 - s * s).sqrt();
        let out = ns(mat![[s, 0.0], [0.0, rest]].as_ref());
        assert!((out[(0, 0)] - expected).abs() < 5e-6, "{} is not {expected}", out[(0, 0)]);
    }
    let row = mat![[3.0f32, -4.0, 12.0]];
    let expected = Mat::from_fn(1, 3, |_, j| 0.6964364 * row[(0, j)] / 13.0);
    assert!(distance(ns(row.as_ref()).as_ref(), expected.as_ref()) < 2e-6);
}

#[test]
fn the_three_orthogonalizers_of_a_two_by_three_matrix() {
    let g = mat![[1.0f32, 2.0, -3.0], [0.5, -1.0, 4.0]];
    for (how, expected, singular) in [
        (
            Orthogonalizer::default(),
            mat![[0.420764f32, 0.493009, -0.303864], [0.320101, 0.056837, 0.643952]],
            [0.741353, 0.695124],
        ),
        (
            Orthogonalizer::PolarExpress,
            mat![[0.632199f32, 0.723207, -0.408322], [0.486475, 0.109433, 0.915245]],
            [1.049257, 1.036724],
        ),
        (
            Orthogonalizer::Svd,
            mat![[0.602945f32, 0.692299, -0.396459], [0.463159, 0.100866, 0.880517]],
            [1.0, 1.0],
        ),
    ] {
        let out = apply(how, g.as_ref());
        assert!(distance(out.as_ref(), expected.as_ref()) < 2e-6, "{how:?}: {out:?}");
        assert_close(&super::svd::singular_values(out.as_ref()).unwrap(), &singular, 2e-6);
    }
    let values = super::svd::singular_values(g.as_ref()).unwrap();
    assert_close(&values, &[5.405779, 1.423921], 1e-5);
}

#[test]
fn neither_a_transpose_nor_a_scale_changes_the_result() {
    let g = mat![[1.0f32, 2.0, -3.0], [0.5, -1.0, 4.0]];
    let out = ns(g.as_ref());
    // Powers of two, so that scaling itself rounds nothing. The 1e-7 beside the norm still tips the
    // rounding of single entries, which the iteration magnifies: 8192 moves the result by 1.07e-6.
    for c in [0.25f32, 4.0] {
        let scaled = Mat::from_fn(2, 3, |i, j| c * g[(i, j)]);
        let moved = distance(out.as_ref(), ns(scaled.as_ref()).as_ref());
        assert!(moved < 1e-6, "{c}: {moved}");
    }
    for g in [g, gaussian(4, 16, 40)] {
        let moved = distance(ns(g.as_ref()).transpose(), ns(g.transpose()).as_ref());
        assert!(moved < 1e-6, "{moved}");
    }
}

#[test]
fn orthogonalizing_flips_a_sign_where_the_matrix_is_ill_conditioned() {
    let out = ns(MatRef::from_row_major_slice(&Z, 3, 3));
    assert_close(&[out[(0, 0)], out[(0, 1)], out[(0, 2)]], &[0.516811, -0.329547, 0.429921], 2e-5);
}

#[test]
fn olion_takes_the_right_steps() {
    let [first, _, third] = three_steps(named("olion").as_mut());
    assert_close(&first[..3], &[0.0979, -0.1978, 0.2977], 1e-7);
    let expected = [
        0.0977062979,
        -0.2014025978,
        0.2971068977,
        0.3968071976,
        0.4965074975,
        -0.5962077974,
        0.6959080973,
        0.7996043972,
        0.8953086971,
    ];
    assert_close(&third, &expected, 2e-7);
}

#[test]
fn lion_rms_takes_the_right_steps() {
    let [_, _, third] = three_steps(named("lion-rms").as_mut());
    assert_close(&third[..3], &[0.0977062979, -0.2053946018, 0.2931068977], 1e-7);
}

#[test]
fn muon_takes_the_right_steps() {
    let [first, _, third] = three_steps(named("muon").as_mut());
    assert_close(&first[..3], &[0.0981097137, -0.1986584167, 0.2982107113], 2e-7);
    assert_close(&third[6..], &[0.6984454376, 0.7986604385, 0.8954745102], 2e-7);
}

#[test]
fn published_muon_scales_tall_matrices_and_does_not_decay() {
    for (shape, factor) in [([4usize, 1], 2.0f32), ([1, 4], 1.0)] {
        let mut x = [1.0f32; 4];
        step(named("muon-jordan").as_mut(), &shape, &mut x, &[1.0, 2.0, 2.0, 4.0], 0.02).unwrap();
        let expected = [1.0f32, 2.0, 2.0, 4.0].map(|g| 1.0 - 0.02 * factor * 0.6964364 * g / 5.0);
        assert_close(&x, &expected, 1e-6);
    }
}

#[test]
fn adamuon_starts_with_equal_steps_of_the_right_size() {
    // After one step v = 0.05·O², so that U is sign(O)/√0.05 and its scaled form a sign step.
    let mut x = [0.0f32; 4];
    let mut adamuon = named("adamuon");
    step(adamuon.as_mut(), &[2, 2], &mut x, &[1.0, -2.0, 3.0, 4.0], 0.01).unwrap();
    assert_close(&x, &[-0.002, 0.002, -0.002, -0.002], 1e-8);
    let state = adamuon.state();
    assert_close(&state.tensors["optim.w.momentum"].data, &[0.05, -0.1, 0.15, 0.2], 1e-7);
    // sign(g) = [[1, -1], [1, 1]] has both singular values √2, 1/√2 of its norm.
    let o = ns(mat![[1.0f32, -1.0], [1.0, 1.0]].as_ref())[(0, 0)];
    assert_close(&state.tensors["optim.w.variance"].data, &[0.05 * o * o; 4], 1e-7);
}

#[test]
fn signum_is_lion_rms_without_the_mixture() {
    let mut x = [0.0f32; 2];
    let mut signum = named("signum");
    step(signum.as_mut(), &[1, 2], &mut x, &[1.0, -1.0], 0.1).unwrap();
    // The momentum outweighs a small gradient of the other sign.
    step(signum.as_mut(), &[1, 2], &mut x, &[-0.5, 0.5], 0.1).unwrap();
    let decayed = -0.02 * (1.0 - 0.1 * 0.1) - 0.02;
    assert_close(&x, &[decayed, -decayed], 1e-7);
}

#[test]
fn a_hadamard_matrix_is_a_fixed_point() {
    let h4 = mat![
        [1.0f32, 1.0, 1.0, 1.0],
        [1.0, -1.0, 1.0, -1.0],
        [1.0, 1.0, -1.0, -1.0],
        [1.0, -1.0, -1.0, 1.0]
    ];
    let out = ns(h4.as_ref());
    let signs = Mat::from_fn(4, 4, |i, j| sign(out[(i, j)]));
    assert_eq!(signs, h4);
    assert!(hadamard_diagnostics(h4.as_ref()).unwrap().hadamard_gap.abs() < 1e-6);
}

#[test]
fn what_the_signs_keep_sums_to_the_norm_of_the_polar_factor() {
    let d = hadamard_diagnostics(gaussian(1, 64, 48).as_ref()).unwrap();
    assert_eq!(d.rank, 48);
    let sum: f64 = d.alignment.iter().sum();
    assert!((sum / d.polar_l1 - 1.0).abs() < 1e-5, "{sum} is not {}", d.polar_l1);
    assert!(d.hadamard_gap > 0.0 && d.hadamard_gap < 0.5, "{}", d.hadamard_gap);
    assert!((d.phi - d.polar_l1 * d.alpha * (1.0 - d.epsilon * d.rho)).abs() < 1e-9 * d.phi);

    let epsilon = |n: usize| {
        let all = (0..4).map(|seed| gaussian(seed, n, n));
        all.map(|g| hadamard_diagnostics(g.as_ref()).unwrap().epsilon).sum::<f64>()
    };
    assert!(epsilon(16) > epsilon(64) && epsilon(64) > epsilon(160));
}

#[test]
fn diagnostics_of_a_known_matrix() {
    // diag(3, 1): Q = S = I, so m = (1, 1), ε = 0, α = 2, ρ = √2/(2√2) = 1/2, Φ = 2·2.
    let d = hadamard_diagnostics(mat![[3.0f32, 0.0], [0.0, 1.0]].as_ref()).unwrap();
    let found = [d.polar_l1, d.epsilon, d.alpha, d.rho, d.phi, d.hadamard_gap];
    let expected = [2.0, 0.0, 2.0, 0.5, 4.0, 1.0 - 1.0 / 2.0f64.sqrt()];
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{d:?}");
    let zero = hadamard_diagnostics(Mat::zeros(2, 3).as_ref()).unwrap();
    assert_eq!((zero.rank, zero.epsilon, zero.phi, zero.hadamard_gap), (0, 0.0, 0.0, 1.0));
}

#[test]
fn a_large_matrix_agrees_with_plain_products_in_double_precision() {
    // Several tiles, an uneven last one, and more than one panel.
    for (rows, columns) in [(250, 600), (600, 250), (200, 200)] {
        let g = gaussian(5, rows, columns);
        let out = ns(g.as_ref());
        let expected = reference(g.as_ref());
        let worst = (0..rows)
            .flat_map(|i| (0..columns).map(move |j| (i, j)))
            .map(|at| (f64::from(out[at]) - expected[at]).abs())
            .fold(0.0, f64::max);
        assert!(worst < 2e-5, "{rows}×{columns}: {worst}");
    }
}

fn reference(g: MatRef<'_, f32>) -> Mat<f64> {
    let scale = 1.0 / (frobenius(g) + 1e-7);
    let mut x = Mat::from_fn(g.nrows(), g.ncols(), |i, j| f64::from(g[(i, j)]) * scale);
    let [a, b, c] = QUINTIC.map(f64::from);
    for _ in 0..5 {
        let gram = &x * x.transpose();
        let polynomial = faer::Scale(b) * &gram + faer::Scale(c) * (&gram * &gram);
        x = faer::Scale(a) * &x + polynomial * &x;
    }
    x
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let big = gaussian(6, 400, 700);
            let out = ns(big.as_ref());
            let mut x = vec![0.5f32; 5 * 40 * 90];
            let g: Vec<f32> =
                gaussian(7, 200, 90).col_iter().flat_map(|c| c.iter()).copied().collect();
            let mut olion = named("olion");
            for _ in 0..2 {
                step(olion.as_mut(), &[5, 40, 90], &mut x, &g, 0.01).unwrap();
            }
            (out, x)
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn matrices_of_a_stack_are_orthogonalized_by_themselves() {
    let g: Array3<f32> = Array3::from_shape_fn((3, 4, 6), |(e, i, j)| {
        gaussian(e as u64, 4, 6)[(i, j)] * 10f32.powi(e as i32)
    });
    let (mut whole, mut single) =
        (Array3::<f32>::zeros((3, 4, 6)), Array3::<f32>::zeros((3, 4, 6)));
    step(
        named("muon").as_mut(),
        &[3, 4, 6],
        whole.as_slice_mut().unwrap(),
        g.as_slice().unwrap(),
        0.1,
    )
    .unwrap();
    for (x, g) in single.axis_iter_mut(Axis(0)).zip(g.axis_iter(Axis(0))) {
        let (x, g) = (x.into_slice().unwrap(), g.to_slice().unwrap());
        step(named("muon").as_mut(), &[4, 6], x, g, 0.1).unwrap();
    }
    assert_eq!(whole, single);

    let batch = Orthogonalizer::default().orthogonalize_batch(g.view()).unwrap();
    for (q, g) in batch.axis_iter(Axis(0)).zip(g.axis_iter(Axis(0))) {
        assert_eq!(q, Orthogonalizer::default().orthogonalize(g).unwrap());
    }
    // A convolution is the matrix of its filters.
    let (mut conv, mut flat) = ([0.0f32; 72], [0.0f32; 72]);
    let g = g.as_slice().unwrap();
    step(named("olion").as_mut(), &[3, 2, 3, 4], &mut conv, g, 0.1).unwrap();
    step(named("olion").as_mut(), &[3, 24], &mut flat, g, 0.1).unwrap();
    assert_eq!(conv, flat);
}

fn olion(config: OlionConfig) -> Olion {
    Olion::new(config).unwrap()
}

#[test]
fn variants_of_olion() {
    let base = OlionConfig { weight_decay: 0.0, ..OlionConfig::default() };
    // Without the matched size the step is the learning rate itself.
    let mut x = [0.0f32; 9];
    step(&mut olion(OlionConfig { rms: None, ..base }), &[3, 3], &mut x, &Z, 0.01).unwrap();
    assert!(x.iter().all(|x| x.abs() == 0.01), "{x:?}");

    // With every = 2 the second step is a step of lion-rms from the same state.
    let mut sparse = olion(OlionConfig { every: 2, ..base });
    let (mut x, mut y) = ([0.0f32; 9], [0.0f32; 9]);
    step(&mut sparse, &[3, 3], &mut x, &Z, 0.01).unwrap();
    step(&mut olion(base), &[3, 3], &mut y, &Z, 0.01).unwrap();
    assert_eq!(x, y);
    let mut state = sparse.state();
    state.optimizer = "lion-rms".into();
    let mut plain =
        LionRms::new(LionRmsConfig { weight_decay: 0.0, ..LionRmsConfig::default() }).unwrap();
    plain.load_state(&state).unwrap();
    step(&mut sparse, &[3, 3], &mut x, &Z, 0.01).unwrap();
    step(&mut plain, &[3, 3], &mut y, &Z, 0.01).unwrap();
    assert_eq!(x, y);

    // Several projections step along a matrix that is nearer to a Hadamard matrix.
    let g = gaussian(2, 16, 16);
    let g: Vec<f32> = (0..16).flat_map(|i| (0..16).map(move |j| (i, j))).map(|at| g[at]).collect();
    let gap = |projections| {
        let mut x = [0.0f32; 256];
        step(&mut olion(OlionConfig { projections, ..base }), &[16, 16], &mut x, &g, 1.0).unwrap();
        hadamard_diagnostics(MatRef::from_row_major_slice(&x, 16, 16)).unwrap().hadamard_gap
    };
    assert!(gap(4) < gap(1), "{} is not below {}", gap(4), gap(1));

    // A fused matrix is three, along its longer side, however it is stored.
    for (name, shape, transposed) in [
        ("h.0.attn.c_attn.weight", [4usize, 12], false),
        ("layers.0.qkv_proj.weight", [12, 4], true),
    ] {
        let g = gaussian(3, 4, 12);
        let whole: Vec<f32> = if transposed {
            (0..48).map(|at| g[(at % 4, at / 4)]).collect()
        } else {
            (0..48).map(|at| g[(at / 12, at % 12)]).collect()
        };
        let mut x = [0.0f32; 48];
        olion(OlionConfig { split_fused: true, ..base })
            .step(
                &mut [ParamMut { name, shape: &shape, data: &mut x }],
                &[GradRef { name, data: &whole }],
                1.0,
            )
            .unwrap();
        for part in 0..3 {
            let q = ns(g.as_ref().subcols(4 * part, 4));
            for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
                let column = 4 * part + j;
                let at = if transposed { column * 4 + i } else { i * 12 + column };
                assert_eq!(x[at], -0.2 * q[(i, j)].signum(), "{name}");
            }
        }
    }
}

#[test]
fn half_width_momentum_steps_nearly_alike_and_survives_a_file() {
    let half = OlionConfig { state: StateType::Bf16, ..OlionConfig::default() };
    let (mut x, mut y) = (X0, X0);
    let (mut narrow, mut wide) = (olion(half), olion(OlionConfig::default()));
    for g in [Z, Z_TRANSPOSED, Z] {
        step(&mut narrow, &[3, 3], &mut x, &g, 0.01).unwrap();
        step(&mut wide, &[3, 3], &mut y, &g, 0.01).unwrap();
    }
    let (m, n) = (narrow.state(), wide.state());
    let (m, n) = (&m.tensors["optim.w.momentum"].data, &n.tensors["optim.w.momentum"].data);
    assert_ne!(m, n);
    assert!(m.iter().zip(n).all(|(m, n)| (m - n).abs() <= 0.01 * n.abs() + 1e-4), "{m:?} {n:?}");

    let mut again = olion(half);
    again.load_state(&narrow.state()).unwrap();
    let mut z = x;
    step(&mut narrow, &[3, 3], &mut x, &Z, 0.01).unwrap();
    step(&mut again, &[3, 3], &mut z, &Z, 0.01).unwrap();
    assert_eq!(x, z);
    assert_eq!(narrow.state(), again.state());
}

#[test]
fn every_optimizer_goes_on_from_its_state_to_the_same_bits() {
    for name in OptimKind::NAMES {
        let (mut x, mut optimizer) = (X0, named(name));
        step(optimizer.as_mut(), &[3, 3], &mut x, &Z, 0.01).unwrap();
        let mut again = named(name);
        again.load_state(&optimizer.state()).unwrap();
        let mut y = x;
        step(optimizer.as_mut(), &[3, 3], &mut x, &Z_TRANSPOSED, 0.01).unwrap();
        step(again.as_mut(), &[3, 3], &mut y, &Z_TRANSPOSED, 0.01).unwrap();
        assert_eq!(x, y, "{name}");
        assert_eq!(optimizer.state(), again.state(), "{name}");
    }
}

#[test]
fn an_update_has_the_promised_size() {
    let mut optimizer = olion(OlionConfig { weight_decay: 0.0, ..OlionConfig::default() });
    let mut x = [0.0f32; 30 * 20];
    for t in 0..4u64 {
        let before = x;
        let g: Vec<f32> = gaussian(t, 30, 20).col_iter().flat_map(|c| c.iter()).copied().collect();
        // A power of two, so that the products below are exact.
        step(&mut optimizer, &[30, 20], &mut x, &g, 0.125).unwrap();
        if t == 0 {
            assert!(x.iter().zip(before).all(|(x, b)| (x - b).abs() == 0.2 * 0.125));
        }
        let bound = 0.2 * 0.125 * (t + 1) as f32 + 1e-6;
        assert!(x.iter().all(|x| x.abs() <= bound));
    }
}

#[test]
fn a_gradient_of_zeros_only_decays() {
    for name in ["olion", "lion-rms", "muon", "adamuon", "signum"] {
        let mut x = [1.0f32; 6];
        let stats = step(named(name).as_mut(), &[2, 3], &mut x, &[0.0; 6], 0.01).unwrap();
        assert_eq!(stats, StepStats { tensors: 1, zero_gradients: 1 });
        assert_eq!(x, [0.999; 6], "{name}");
    }
}

#[test]
fn vectors_cannot_go_to_a_matrix_optimizer() {
    for shape in [&[3usize][..], &[]] {
        let mut x = vec![1.0f32; shape.iter().product()];
        let g = x.clone();
        for name in ["olion", "lion-rms", "muon", "adamuon", "signum"] {
            let mut optimizer = named(name);
            let error = step(optimizer.as_mut(), shape, &mut x, &g, 0.01).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("w has shape {shape:?} and cannot go to a matrix optimizer")
            );
            assert!(error.help_text().unwrap().contains("`--aux`"));
            assert_eq!(optimizer.state(), named(name).state());
        }
    }
}

#[test]
fn a_gradient_that_is_not_finite_changes_nothing() {
    for name in OptimKind::NAMES {
        let (mut x, mut optimizer) = (X0, named(name));
        step(optimizer.as_mut(), &[3, 3], &mut x, &Z, 0.01).unwrap();
        let (before, state) = (x, optimizer.state());
        let mut g = Z;
        (g[1], g[4]) = (f32::NAN, f32::NEG_INFINITY);
        let error = step(optimizer.as_mut(), &[3, 3], &mut x, &g, 0.01).unwrap_err();
        assert_eq!(error.to_string(), "gradient of w has 2 non-finite values at step 2");
        assert_eq!(error.kind(), Kind::Numeric);
        assert_eq!(x, before, "{name}");
        assert_eq!(optimizer.state(), state, "{name}");
    }
}

#[test]
fn settings_out_of_range_are_named_with_their_value() {
    let base = OlionConfig::default();
    for (config, expected) in [
        (OlionConfig { beta1: 1.0, ..base }, "beta1: beta1 = 1 is outside [0, 1)"),
        (OlionConfig { beta2: -0.5, ..base }, "beta2: beta2 = -0.5 is outside [0, 1)"),
        (
            OlionConfig { weight_decay: f32::NAN, ..base },
            "weight_decay: weight_decay = NaN is not zero or above",
        ),
        (OlionConfig { rms: Some(0.0), ..base }, "rms: rms = 0 is not above zero"),
        (OlionConfig { every: 0, ..base }, "every: every = 0 is below 1"),
        (OlionConfig { projections: 0, ..base }, "projections: projections = 0 is below 1"),
        (
            OlionConfig { orthogonalizer: Orthogonalizer::Quintic { steps: 0 }, ..base },
            "ns_steps: ns_steps = 0 leaves nothing orthogonal",
        ),
    ] {
        let error = Olion::new(config).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.exit_code(), 2);
    }
    let no_steps = Orthogonalizer::Quintic { steps: 0 };
    assert!(no_steps.validate().unwrap_err().help_text().unwrap().contains("`lion-rms`"));
    assert!(Muon::new(MuonConfig { momentum: 1.5, ..MuonConfig::default() }).is_err());
    assert!(Signum::new(SignumConfig { momentum: 1.0, ..SignumConfig::default() }).is_err());
    assert!(AdaMuon::new(AdaMuonConfig { epsilon: -1.0, ..AdaMuonConfig::default() }).is_err());
    assert!(LionRms::new(LionRmsConfig { rms: Some(-1.0), ..LionRmsConfig::default() }).is_err());
    for lr in [0.0, -1.0, f32::INFINITY] {
        let error = step(named("olion").as_mut(), &[3, 3], &mut X0.clone(), &Z, lr).unwrap_err();
        assert_eq!(error.to_string(), format!("lr: lr = {lr} is not above zero"));
    }
    let error = OptimKind::named("adam").unwrap_err();
    assert_eq!(error.to_string(), "optimizer: there is no optimizer `adam`");
    assert!(error.help_text().unwrap().ends_with("signum, olion"));
}

#[test]
fn a_state_of_another_optimizer_or_shape_names_both() {
    let (mut x, mut muon) = (X0, named("muon"));
    step(muon.as_mut(), &[3, 3], &mut x, &Z, 0.01).unwrap();
    let error = named("olion").load_state(&muon.state()).unwrap_err();
    assert_eq!(error.to_string(), "this is the state of muon, and the optimizer is olion");
    assert!(error.help_text().unwrap().contains("--reset-optimizer"));
    let error = step(muon.as_mut(), &[1, 9], &mut x, &Z, 0.01).unwrap_err();
    assert_eq!(
        error.to_string(),
        "optim.w.momentum has shape [3, 3], and the parameter w has [1, 9]"
    );
    assert!(error.help_text().unwrap().contains("--reset-optimizer"));
}

#[test]
fn values_that_are_not_finite_are_not_orthogonalized() {
    let error =
        Orthogonalizer::default().orthogonalize(array![[1.0, f32::NAN]].view()).unwrap_err();
    assert_eq!(error.to_string(), "1 values of the matrices are not finite");
}

fn small_model() -> Vec<(String, Vec<usize>)> {
    [
        ("transformer.wte.weight", vec![4, 3]),
        ("transformer.h.0.attn.c_proj.weight", vec![3, 3]),
        ("transformer.h.0.mlp.c_proj.weight", vec![3, 3]),
        ("transformer.ln_f.weight", vec![3]),
        // Tied to the embeddings: the same tensor under the same name.
        ("transformer.wte.weight", vec![4, 3]),
    ]
    .map(|(name, shape)| (name.to_owned(), shape))
    .to_vec()
}

fn grouped(matrix: &str, overrides: &[&str]) -> Grouped {
    let policy = GroupPolicy {
        overrides: overrides.iter().map(|text| text.parse().unwrap()).collect(),
        ..GroupPolicy::default()
    };
    let (matrix, aux) = (OptimKind::named(matrix).unwrap(), OptimKind::named("adamw").unwrap());
    Grouped::by_role(&small_model(), &policy, &matrix, &aux).unwrap()
}

fn step_model(optimizer: &mut dyn Optimizer, values: &mut [Vec<f32>; 4]) -> Result<StepStats> {
    let model = small_model();
    let grads: Vec<Vec<f32>> =
        values.iter().map(|v| (0..v.len()).map(|i| (i as f32 - 1.3) * 0.1).collect()).collect();
    let mut params: Vec<ParamMut<'_>> = model
        .iter()
        .zip(values.iter_mut())
        .map(|((name, shape), data)| ParamMut { name, shape, data })
        .collect();
    let grads: Vec<GradRef<'_>> =
        model.iter().zip(&grads).map(|((name, _), data)| GradRef { name, data }).collect();
    optimizer.step(&mut params, &grads, 0.01)
}

#[test]
fn a_model_is_stepped_by_role_and_tied_embeddings_once() {
    let mut optimizer = grouped("olion", &[]);
    assert_eq!(optimizer.name(), "olion+adamw");
    let mut values = [vec![0.5; 12], vec![0.5; 9], vec![0.5; 9], vec![0.5; 3]];
    let stats = step_model(&mut optimizer, &mut values).unwrap();
    assert_eq!(stats, StepStats { tensors: 4, zero_gradients: 0 });
    let size = |x: f32, keep: f32| (x - 0.5 * keep).abs();
    // AdamW's first step has the size of the learning rate, OLion's a fifth of it.
    assert!(values[0].iter().all(|x| (size(*x, 0.999) - 0.01).abs() < 1e-6), "{:?}", values[0]);
    assert!(values[1].iter().all(|x| (size(*x, 0.999) - 0.002).abs() < 1e-6), "{:?}", values[1]);
    assert!(values[3].iter().all(|x| (size(*x, 1.0) - 0.01).abs() < 1e-6), "{:?}", values[3]);
    let table = optimizer.table();
    assert!(table.contains("olion") && table.contains("embedding  adamw"), "{table}");

    // With AdamW for the matrices too it is AdamW, and says so.
    assert_eq!(grouped("adamw", &[]).name(), "adamw");
    let olion = OptimKind::named("olion").unwrap();
    let error = Grouped::by_role(&small_model(), &GroupPolicy::default(), &olion, &olion);
    let error = error.err().unwrap();
    assert_eq!(error.to_string(), "aux: olion steps matrices only");
}

#[test]
fn a_model_goes_on_from_its_state_to_the_same_bits() {
    for (matrix, overrides) in
        [("olion", &[][..]), ("adamuon", &[r"mlp\.=matrix:0.5", "wte=aux:2"])]
    {
        let mut optimizer = grouped(matrix, overrides);
        let mut values = [vec![0.5; 12], vec![0.4; 9], vec![0.3; 9], vec![0.2; 3]];
        step_model(&mut optimizer, &mut values).unwrap();
        let state = optimizer.state();
        assert_eq!(state.step, 1);
        assert_eq!(state.hyper["aux"]["beta2"], serde_json::json!(0.95f32));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("optimizer.safetensors");
        state.write(&path).unwrap();
        let mut again = grouped(matrix, overrides);
        again.load_state(&metier_nn::optim::StateDict::read(&path).unwrap()).unwrap();
        let mut same = values.clone();
        step_model(&mut optimizer, &mut values).unwrap();
        step_model(&mut again, &mut same).unwrap();
        assert_eq!(values, same);
        assert_eq!(optimizer.state(), again.state());
    }
    let error = grouped("muon", &[]).load_state(&grouped("olion", &[]).state()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "this is the state of olion+adamw, and the optimizer is muon+adamw"
    );
}

#[test]
fn a_model_with_a_broken_gradient_is_left_alone() {
    let mut optimizer = grouped("olion", &[]);
    let mut ln = [1.0f32; 3];
    let mut matrix = X0;
    let (ln_name, matrix_name) = ("transformer.ln_f.weight", "transformer.h.0.attn.c_proj.weight");
    let error = optimizer
        .step(
            &mut [
                ParamMut { name: matrix_name, shape: &[3, 3], data: &mut matrix },
                ParamMut { name: ln_name, shape: &[3], data: &mut ln },
            ],
            &[
                GradRef { name: matrix_name, data: &Z },
                GradRef { name: ln_name, data: &[0.0, f32::NAN, 0.0] },
            ],
            0.01,
        )
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "gradient of transformer.ln_f.weight has 1 non-finite value at step 1"
    );
    assert_eq!((matrix, ln), (X0, [1.0; 3]));
}

prop_compose! {
    fn matrices()(rows in 1usize..12, columns in 1usize..12)(
        values in prop::collection::vec(-1.0f32..1.0, rows * columns), rows in Just(rows), columns in Just(columns),
    ) -> Mat<f32> {
        Mat::from_fn(rows, columns, |i, j| values[i * columns + j])
    }
}

proptest! {
    #[test]
    fn a_transpose_is_orthogonalized_into_the_transpose(g in matrices()) {
        let (out, transposed) = (ns(g.as_ref()), ns(g.transpose()));
        // Directions that are nearly absent magnify rounding.
        prop_assert!(distance(out.transpose(), transposed.as_ref()) < 2e-4);
    }

    #[test]
    fn the_scale_of_a_matrix_does_not_matter(g in matrices(), power in -8i32..8) {
        prop_assume!(frobenius(g.as_ref()) > 0.05);
        let scaled = Mat::from_fn(g.nrows(), g.ncols(), |i, j| g[(i, j)] * 2f32.powi(power));
        // The 1e-7 that guards against a division by zero is all that differs.
        let room = 1e-6f32.max(3e-7 / (0.05 * 2f32.powi(power)));
        prop_assert!(distance(ns(g.as_ref()).as_ref(), ns(scaled.as_ref()).as_ref()) < 4.0 * room);
    }

    #[test]
    fn singular_values_stay_bounded(g in matrices()) {
        for how in [Orthogonalizer::default(), Orthogonalizer::PolarExpress, Orthogonalizer::Svd] {
            let out = apply(how, g.as_ref());
            let largest = super::svd::singular_values(out.as_ref()).unwrap()[0];
            prop_assert!(largest < 1.3, "{how:?}: {largest}");
        }
    }

    #[test]
    fn what_is_kept_sums_to_the_norm(g in matrices()) {
        let d = hadamard_diagnostics(g.as_ref()).unwrap();
        let sum: f64 = d.alignment.iter().sum();
        prop_assert!((sum - d.polar_l1).abs() <= 1e-4 * d.polar_l1.max(1e-3));
        prop_assert!(d.hadamard_gap > -1e-5 && d.hadamard_gap <= 1.0);
    }

    // f(X) = ½‖AX − B‖² has a gradient that is L-Lipschitz for L = ‖A‖²: a step of plain signs lowers
    // it by what the theory promises.
    #[test]
    fn a_step_descends_as_guaranteed(
        seed in 0u64..1000, d1 in 2usize..9, d2 in 2usize..9, lr in 1e-4f64..0.3,
    ) {
        let double = |m: Mat<f32>| Mat::from_fn(m.nrows(), m.ncols(), |i, j| f64::from(m[(i, j)]));
        let (a, b) = (double(gaussian(seed, d1 + 2, d1)), double(gaussian(seed + 1, d1 + 2, d2)));
        let x = double(gaussian(seed + 2, d1, d2));
        let loss = |x: &Mat<f64>| (&a * x - &b).squared_norm_l2() / 2.0;
        let gradient = a.transpose() * (&a * &x - &b);
        let gradient = Mat::from_fn(d1, d2, |i, j| gradient[(i, j)] as f32);
        let lipschitz = a.singular_values().unwrap()[0].powi(2);
        let phi = hadamard_diagnostics(gradient.as_ref()).unwrap().phi;

        let polar = apply(Orthogonalizer::Svd, gradient.as_ref());
        let signs = Mat::from_fn(d1, d2, |i, j| f64::from(sign(polar[(i, j)])));
        let gained = loss(&x) - loss(&(&x - faer::Scale(lr) * signs));
        let promised = lr * phi - lipschitz * lr * lr * (d1 * d2) as f64 / 2.0;
        prop_assert!(gained >= promised - 1e-5 * lr * phi.abs(), "{gained} < {promised}");
    }

    #[test]
    fn no_value_moves_further_than_promised(
        g in matrices(), lr in 1e-4f32..0.1, steps in 1usize..4,
    ) {
        let mut optimizer = olion(OlionConfig { weight_decay: 0.0, ..OlionConfig::default() });
        let shape = [g.nrows(), g.ncols()];
        let mut x = vec![0.0f32; shape[0] * shape[1]];
        let values: Vec<f32> = (0..x.len()).map(|at| g[(at / shape[1], at % shape[1])]).collect();
        for _ in 0..steps {
            step(&mut optimizer, &shape, &mut x, &values, lr).unwrap();
        }
        // Zeros among the signs make the others larger, by at most the root of the size.
        let zeros = values.contains(&0.0);
        let largest = 0.2 * lr * steps as f32 * if zeros { (x.len() as f32).sqrt() } else { 1.0 };
        prop_assert!(x.iter().all(|x| x.abs() <= largest * 1.0001));
    }
}

#[test]
fn a_regrouped_model_does_not_take_a_state_of_other_buffers() {
    let params = [("h.0.mlp.c_proj.weight".to_owned(), vec![2usize, 2])];
    let grouped = |overrides: &[&str]| {
        let overrides = overrides.iter().map(|choice| choice.parse().unwrap()).collect();
        let policy = GroupPolicy { overrides, ..GroupPolicy::default() };
        let (olion, adamw) =
            (OptimKind::named("olion").unwrap(), OptimKind::named("adamw").unwrap());
        Grouped::by_role(&params, &policy, &olion, &adamw).unwrap()
    };
    let (mut first, mut x) = (grouped(&[]), [0.5f32; 4]);
    first
        .step(
            &mut [ParamMut { name: &params[0].0, shape: &[2, 2], data: &mut x }],
            &[GradRef { name: &params[0].0, data: &[1.0, 2.0, 3.0, 5.0] }],
            0.01,
        )
        .unwrap();
    let error = grouped(&["c_proj=aux"]).load_state(&first.state()).unwrap_err();
    assert!(error.message().contains("lacks optim.h.0.mlp.c_proj.weight.variance"), "{error}");
    grouped(&[]).load_state(&first.state()).unwrap();
}

#[test]
fn a_step_that_cannot_be_taken_by_all_is_taken_by_none() {
    let params =
        [("a.weight".to_owned(), vec![2usize, 2]), ("b.weight".to_owned(), vec![2usize, 2])];
    let policy = GroupPolicy {
        overrides: vec!["b=matrix:1e-30".parse().unwrap()],
        ..GroupPolicy::default()
    };
    let (olion, adamw) = (OptimKind::named("olion").unwrap(), OptimKind::named("adamw").unwrap());
    let mut grouped = Grouped::by_role(&params, &policy, &olion, &adamw).unwrap();
    let before = grouped.state();
    let (mut a, mut b) = ([1.0f32; 4], [1.0f32; 4]);
    let g = [1.0, 2.0, 3.0, 5.0];
    // 1e-20 of 1e-30 is zero.
    let error = grouped
        .step(
            &mut [
                ParamMut { name: "a.weight", shape: &[2, 2], data: &mut a },
                ParamMut { name: "b.weight", shape: &[2, 2], data: &mut b },
            ],
            &[GradRef { name: "a.weight", data: &g }, GradRef { name: "b.weight", data: &g }],
            1e-20,
        )
        .unwrap_err();
    assert!(error.message().contains("lr = 0"), "{error}");
    assert_eq!((a, b, grouped.state()), ([1.0; 4], [1.0; 4], before));

    let mut twice = Olion::new(OlionConfig::default()).unwrap();
    let (mut a, mut b) = ([1.0f32; 4], [1.0f32; 4]);
    let error = twice
        .step(
            &mut [
                ParamMut { name: "w", shape: &[2, 2], data: &mut a },
                ParamMut { name: "w", shape: &[2, 2], data: &mut b },
            ],
            &[GradRef { name: "w", data: &g }, GradRef { name: "w", data: &g }],
            0.1,
        )
        .unwrap_err();
    assert_eq!(error.to_string(), "two parameters are called w");
    assert_eq!((a, b), ([1.0; 4], [1.0; 4]));
    assert!(twice.state().tensors.is_empty());
}

#[test]
fn the_decomposition_stands_numbers_of_any_size() {
    for size in [1e-38f32, 1e37] {
        let g = Mat::from_fn(2, 3, |i, j| size * (1.0 + (3 * i + j * j) as f32));
        let q = apply(Orthogonalizer::Svd, g.as_ref());
        let unit = Mat::from_fn(2, 3, |i, j| 1.0 + (3 * i + j * j) as f32);
        assert!(distance(q.as_ref(), apply(Orthogonalizer::Svd, unit.as_ref()).as_ref()) < 1e-5);
    }
}

#[test]
fn gate_and_up_are_halves_of_the_rows() {
    // Wider than tall, as in a mixture of narrow experts; and stacks stay whole.
    let g = gaussian(5, 4, 6);
    let values: Vec<f32> = (0..24).map(|at| g[(at / 6, at % 6)]).collect();
    let stepped = |name: &str, shape: &[usize]| {
        let mut x = [0.0f32; 24];
        Olion::new(OlionConfig { split_fused: true, weight_decay: 0.0, ..OlionConfig::default() })
            .unwrap()
            .step(
                &mut [ParamMut { name, shape, data: &mut x }],
                &[GradRef { name, data: &values }],
                1.0,
            )
            .unwrap();
        x
    };
    let halves: Vec<f32> = [0, 2]
        .iter()
        .flat_map(|row| {
            let q = ns(g.as_ref().subrows(*row, 2));
            (0..12).map(move |at| -0.2 * q[(at / 6, at % 6)].signum()).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(stepped("layers.0.mlp.gate_up_proj.weight", &[4, 6]).as_slice(), halves);
    let whole = ns(g.as_ref());
    let whole: Vec<f32> = (0..24).map(|at| -0.2 * whole[(at / 6, at % 6)].signum()).collect();
    assert_eq!(stepped("layers.0.mlp.experts.gate_up_proj", &[1, 4, 6]).as_slice(), whole);
}

#[test]
fn adamuon_remembers_squares() {
    // On a diagonal of two equal signs O is a multiple q of the identity in every step; with
    // v = 0.05 q^2 after the first and 0.0975 q^2 after the second, both entries are equal.
    let mut x = [0.0f32; 4];
    let mut adamuon = named("adamuon");
    for _ in 0..2 {
        step(adamuon.as_mut(), &[2, 2], &mut x, &[1.0, 0.0, 0.0, 1.0], 0.01).unwrap();
    }
    let q = ns(mat![[1.0f32, 0.0], [0.0, 1.0]].as_ref())[(0, 0)];
    let v = 0.95 * 0.05 * q * q + 0.05 * q * q;
    assert_close(&adamuon.state().tensors["optim.w.variance"].data, &[v, 0.0, 0.0, v], 1e-6);
    // Two of four entries move, by 0.2·√(4/2) of the rate; the first step decays by 0.1 % in the second.
    let size = 0.01 * 0.2 * 2f32.sqrt();
    assert_close(&x, &[-size * 1.999, 0.0, 0.0, -size * 1.999], 1e-6);
}

#[test]
fn spectra_are_told_apart() {
    let profiles = |matrix: &Mat<f32>| {
        let (rows, columns) = (matrix.nrows(), matrix.ncols());
        let values: Vec<f32> =
            (0..rows * columns).map(|at| matrix[(at / columns, at % columns)]).collect();
        profile_matrices(&[("h.0.mlp.c_fc.weight", &[rows, columns], &values)]).unwrap()
    };
    let random = gaussian(7, 32, 32);
    let spiked = Mat::from_fn(32, 32, |i, j| random[(i, j)] * 0.01 + 1.0);
    assert_eq!(likely_origin(&profiles(&random)), Origin::Orthogonalized);
    assert_eq!(likely_origin(&profiles(&spiked)), Origin::Elementwise);
    assert_eq!(likely_origin(&[]), Origin::Unclear);
    let error =
        profile_matrices(&[("h.0.mlp.c_fc.weight", &[1, 2], &[f32::NAN, 1.0])]).unwrap_err();
    assert_eq!(error.to_string(), "h.0.mlp.c_fc.weight holds 1 values that are not finite");
}
