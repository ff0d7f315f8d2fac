//! Right values on two small sets, and laws.

use super::fidelity::expected_coverage;
use super::*;
use metier_core::Silent;
use ndarray::{Array2, array};
use proptest::prelude::*;

fn points(rows: &Array2<f64>) -> Points<f64> {
    Points::new(rows.view(), Metric::Euclidean).unwrap()
}

fn set_a() -> (Array2<f64>, Array2<f64>) {
    let x = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [3.0, 3.0]];
    (x, array![[0.1, 0.1], [0.9, 0.8], [2.5, 2.9], [5.0, 5.0]])
}

fn set_b() -> (Array2<f64>, Array2<f64>) {
    let x = Array2::from_shape_fn((40, 3), |(i, k)| {
        let i = i as f64;
        [i.sin(), (2.0 * i).cos(), (3.0 * i + 1.0).sin()][k]
    });
    let y = Array2::from_shape_fn((40, 3), |(i, k)| {
        let i = i as f64;
        [(i + 0.5).sin() + 0.1, (2.0 * i + 1.0).cos(), (3.0 * i + 0.3).sin()][k]
    });
    (x, y)
}

fn tight(k: usize) -> IcdmConfig {
    IcdmConfig { k, tolerance: 1e-13, max_sweeps: 500, ..Default::default() }
}

fn near(found: f64, right: f64, bound: f64) {
    assert!((found - right).abs() < bound, "{found} {right}");
}

#[test]
fn factors_of_the_small_sets() {
    let icdm = Icdm::fit(&points(&set_a().0), &tight(2)).unwrap();
    let right = [1.42418041, 1.11721903, 1.11721903, 1.42418041, 0.39499658];
    for (found, right) in icdm.log_delta.iter().zip(right) {
        near(found.exp(), right, 1e-8);
    }
    near(icdm.mean_distance, 1.59112146, 1e-8);
    near(icdm.log_delta.iter().sum(), 0.0, 1e-12);
    assert!(icdm.converged(&tight(2)));
    let icdm = Icdm::fit(&points(&set_b().0), &tight(5)).unwrap();
    near(icdm.mean_distance, 0.53919088, 1e-8);
    for (found, right) in
        icdm.log_delta.iter().zip([1.14335773, 0.98239983, 0.89427873, 0.98393577])
    {
        near(found.exp(), right, 1e-8);
    }
}

#[test]
fn skewness_before_and_after() {
    let x = points(&set_b().0);
    near(hubness(&x, 5, None).unwrap().skewness, 0.55916649, 1e-8);
    let icdm = Icdm::fit(&x, &tight(5)).unwrap();
    near(hubness(&x, 5, Some(&icdm.log_delta)).unwrap().skewness, 0.47887740, 1e-8);
}

#[test]
fn scores_of_the_small_sets() {
    let (x, y) = set_a();
    let a = fidelity(&points(&x), &points(&y), 2, &Silent).unwrap();
    assert_eq!((a.precision, a.recall, a.density, a.coverage), (1.0, 1.0, 1.125, 1.0));
    let (x, y) = set_b();
    let b = fidelity(&points(&x), &points(&y), 5, &Silent).unwrap();
    assert_eq!((b.precision, b.recall, b.coverage), (1.0, 1.0, 1.0));
    near(b.density, 0.975, 1e-12);
    near(b.unclipped_density, 1.066225165563, 1e-12);
    assert_eq!((b.clipped_density, b.clipped_coverage), (1.0, 1.0));
    near(b.uncalibrated_coverage, 0.895, 1e-12);
}

#[test]
fn coverage_is_calibrated_by_the_beta_binomial() {
    let right = [0.125, 0.14999484, 0.17497007, 0.19990022, 0.22474929];
    for (good, right) in (5..10).zip(right) {
        near(expected_coverage(good, 40, 5), right, 1e-8);
    }
    assert_eq!(expected_coverage(4, 40, 5), 0.0);
}

#[test]
fn candidates_are_enough_or_made_enough() {
    // More points than candidates, with a crowd and a far cloud, against factors from all pairs.
    let x = Array2::from_shape_fn((420, 2), |(i, k)| {
        let angle = i as f64 * 2.399963 + k as f64 * 1.57;
        let radius = if i < 400 { 0.01 * i as f64 } else { 100.0 + i as f64 };
        radius * angle.cos()
    });
    let config = IcdmConfig { k: 5, tolerance: 1e-10, max_sweeps: 2000, ..Default::default() };
    let icdm = Icdm::fit(&points(&x), &config).unwrap();
    assert!(icdm.converged(&config), "{}", icdm.residual);
    let delta: Vec<f64> = icdm.log_delta.iter().map(|log| log.exp()).collect();
    for i in 0..420 {
        let mut corrected: Vec<f64> = (0..420)
            .filter(|m| *m != i)
            .map(|m| delta[i] * delta[m] * (&x.row(i) - &x.row(m)).mapv(|d| d * d).sum().sqrt())
            .collect();
        corrected.sort_by(f64::total_cmp);
        let mean = corrected[..5].iter().sum::<f64>() / 5.0;
        near(mean / icdm.mean_distance, 1.0, 1e-8);
    }
}

#[test]
fn near_copies_keep_their_digits() {
    let x = array![[1e4f64, 0.0], [1e4 + 1e-3, 0.0], [0.0, 0.0]];
    let distances = |i: usize, d: &[f64]| (i, d.to_vec());
    let found = points(&x).map_distances(&points(&x), distances).unwrap();
    near(found[0].1[1], x[[1, 0]] - x[[0, 0]], 1e-18);
    assert_eq!(found[0].1[0], 0.0);
    let single = Points::new(x.mapv(|v| v as f32).view(), Metric::Euclidean).unwrap();
    let found = single.map_distances(&single, distances).unwrap();
    let right = f64::from(1e4f32 + 1e-3) - f64::from(1e4f32);
    near(found[0].1[1], right, 1e-12);
    // Products beyond single precision, whose sums are no numbers.
    let huge = array![[1e30f32, 1e30], [1e30, -1e30]];
    let huge = Points::new(huge.view(), Metric::Euclidean).unwrap();
    let found = huge.map_distances(&huge, distances).unwrap();
    near(found[0].1[1] / 2e30, 1.0, 1e-6);
}

#[test]
fn wrong_input_is_named() {
    let rows = |values: Array2<f64>| Points::new(values.view(), Metric::Cosine).unwrap_err();
    assert!(rows(Array2::zeros((0, 3))).message().contains("0 rows of 3 columns"));
    let mut broken = Array2::ones((3, 2));
    (broken[[1, 1]], broken[[2, 0]]) = (f64::NAN, f64::INFINITY);
    let error = rows(broken).to_string();
    assert!(
        error.contains("the number is NaN, as are 1 more") && error.contains("row 2"),
        "{error}"
    );
    assert!(rows(array![[1.0, 0.0], [0.0, 0.0]]).to_string().contains("row 2: a row of zeros"));
    let x = points(&set_a().0);
    let few = Icdm::fit(&x, &IcdmConfig::default()).unwrap_err();
    assert_eq!(few.message(), "5 points are too few for 10 neighbours: at least 12 are needed");
    let other = points(&Array2::ones((3, 5)));
    let error = x.map_distances(&other, |_, _| ()).unwrap_err();
    assert_eq!(error.message(), "rows of 2 columns meet rows of 5");
    assert!(
        hubness(&x, 5, None).unwrap_err().message().contains("5 neighbours are asked for of 5")
    );
    assert!(hubness(&x, 1, Some(&[0.0])).is_err());
    let few = fidelity(&x, &points(&set_a().1), 4, &Silent).unwrap_err();
    assert_eq!(few.message(), "4 neighbours are asked for of 4 generated points");
    let copies = Array2::from_shape_fn((20, 2), |(i, _)| if i < 6 { 1.0 } else { i as f64 });
    let error =
        Icdm::fit(&points(&copies), &IcdmConfig { k: 3, ..Default::default() }).unwrap_err();
    assert_eq!(error.to_string(), "row 1: the row has 3 or more copies of itself");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn scores_do_not_depend_on_scale_place_turn_or_order(
        scale in 0.1f64..10.0, shift in -5.0f64..5.0, angle in 0.0f64..6.0, start in 0usize..40,
    ) {
        let (x, y) = set_b();
        let (sin, cos) = angle.sin_cos();
        let moved = |rows: &Array2<f64>| {
            Array2::from_shape_fn(rows.dim(), |(i, k)| {
                let row = rows.row((i + start) % 40);
                let turned = [cos * row[0] - sin * row[1], sin * row[0] + cos * row[1], row[2]];
                scale * turned[k] + shift
            })
        };
        let plain = fidelity(&points(&x), &points(&y), 5, &Silent).unwrap();
        let (x2, y2) = (moved(&x), moved(&y));
        let found = fidelity(&points(&x2), &points(&y2), 5, &Silent).unwrap();
        let all = |f: &Fidelity| {
            [f.precision, f.recall, f.density, f.coverage, f.unclipped_density, f.clipped_coverage]
        };
        for (plain, found) in all(&plain).into_iter().zip(all(&found)) {
            prop_assert!((plain - found).abs() < 1e-12);
        }
        let (one, other) = (
            Icdm::fit(&points(&x), &tight(5)).unwrap(),
            Icdm::fit(&points(&x2), &tight(5)).unwrap(),
        );
        for i in 0..40 {
            prop_assert!((one.log_delta[(i + start) % 40] - other.log_delta[i]).abs() < 1e-9);
        }
        prop_assert!((one.mean_distance * scale / other.mean_distance - 1.0).abs() < 1e-9);
    }
}

fn plain(config: IcdmConfig) -> GicdmConfig {
    GicdmConfig { icdm: config, scales: Vec::new(), ..Default::default() }
}

#[test]
fn factors_of_generated_points() {
    for ((x, y), k, right) in [
        (set_a(), 2, [2.62324429, 2.61013479, 0.87208983, 0.38475119]),
        (set_b(), 5, [1.41017995, 1.08934772, 1.12202348, 1.24030445]),
    ] {
        let gicdm = Gicdm::fit(points(&x), &plain(tight(k)), &Silent).unwrap();
        let samples = gicdm.samples(&points(&y)).unwrap();
        for (sample, right) in samples.iter().zip(right) {
            near(sample.log_delta.exp(), right, 1e-8);
            assert!(sample.accepted && !sample.copy);
        }
    }
}

fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    use rand_distr::{Distribution, StandardNormal};
    let mut rng = metier_core::rng::stream(seed, "gicdm-test");
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(&mut rng))
}

#[test]
fn copies_are_told_and_counted_as_real() {
    let x = normal(300, 16, 0);
    let gicdm = Gicdm::fit(points(&x), &GicdmConfig::default(), &Silent).unwrap();
    let scores = gicdm.score(&points(&x), &Silent).unwrap();
    assert_eq!(scores.copies, 300);
    let raw = scores.raw;
    assert_eq!((raw.precision, raw.recall, raw.coverage), (1.0, 1.0, 1.0));
    assert_eq!((scores.corrected.precision, scores.precision), (1.0, 1.0));
}

#[test]
fn disjoint_sets_score_nothing_however_raw_scores_soar() {
    let sphere = |seed, radius: f64| {
        let mut rows = normal(600, 32, seed);
        for mut row in rows.rows_mut() {
            let length = row.dot(&row).sqrt();
            row.mapv_inplace(|value| radius * value / length);
        }
        rows
    };
    let gicdm = Gicdm::fit(points(&sphere(0, 1.0)), &GicdmConfig::default(), &Silent).unwrap();
    let inner = gicdm.score(&points(&sphere(1, 0.8)), &Silent).unwrap();
    assert!(inner.raw.precision > 0.95 && inner.raw.density > 2.0, "{inner:?}");
    assert!(inner.precision <= 0.02 && inner.coverage <= 0.02, "{inner:?}");
    let same = gicdm.score(&points(&sphere(2, 1.0)), &Silent).unwrap();
    assert!(same.precision > 0.9, "{same:?}");
}

#[test]
fn points_at_the_mean_lower_precision_by_their_share() {
    let x = normal(800, 128, 0);
    let gicdm = Gicdm::fit(points(&x), &GicdmConfig::default(), &Silent).unwrap();
    let honest = normal(800, 128, 1);
    let mut spoilt = honest.clone();
    for mut row in spoilt.rows_mut().into_iter().take(80) {
        row.mapv_inplace(|value| 1e-3 * value);
    }
    let before = gicdm.score(&points(&honest), &Silent).unwrap();
    let after = gicdm.score(&points(&spoilt), &Silent).unwrap();
    near(before.precision - after.precision, 0.1, 0.02);
    assert!(after.raw.density > 5.0, "{after:?}");
}

#[test]
fn single_precision_finds_the_same() {
    let (x, y) = (normal(300, 24, 0), normal(300, 24, 1));
    let single = |rows: &Array2<f64>| {
        Points::new(rows.mapv(|v| v as f32).view(), Metric::Euclidean).unwrap()
    };
    let double = Gicdm::fit(points(&x), &GicdmConfig::default(), &Silent).unwrap();
    let double = double.score(&points(&y), &Silent).unwrap();
    let found = Gicdm::fit(single(&x), &GicdmConfig::default(), &Silent).unwrap();
    let found = found.score(&single(&y), &Silent).unwrap();
    near(found.raw.density, double.raw.density, 2e-3);
    near(found.precision, double.precision, 1e-2);
    near(found.corrected.clipped_density, double.corrected.clipped_density, 1e-2);
}
