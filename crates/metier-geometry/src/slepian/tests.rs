//! The right values of the method, its laws, and what it says of bad input.

use super::harmonics::Harmonics;
use super::*;
use crate::quadrature::gauss_legendre;
use crate::sphere::{ToPole, lon_lat, unit};
use geo_types::{LineString, MultiPolygon, Polygon};
use ndarray::Array2;
use proptest::prelude::*;
use std::f64::consts::PI;

fn cap(radius: f64, l: usize, thresh: f64) -> SlepianBasis {
    SlepianBasis::new(&Region::cap(-119.5, 37.0, radius), l, thresh, 4000).unwrap()
}

fn close(found: f64, right: f64, within: f64) {
    assert!((found - right).abs() <= within, "{found} where {right} is right");
}

// ---- right values ----

#[test]
fn a_cap_of_thirty_degrees_at_l_10() {
    let basis = cap(30.0, 10, 0.2);
    close(basis.shannon(), 8.105463071041, 1e-11);
    let right = [
        (0.9988797322, 0),
        (0.9795128852, 1),
        (0.8579635022, 2),
        (0.7851535230, 0),
        (0.5523595956, 3),
        (0.3552207877, 1),
    ];
    let mut modes = basis.cap_modes();
    modes.retain(|(_, mode)| mode.parity == Parity::Cos);
    for ((lambda, order), (_, mode)) in right.into_iter().zip(modes) {
        close(mode.lambda, lambda, 5e-11);
        assert_eq!(mode.order, order);
    }
}

#[test]
fn a_cap_of_seven_and_a_half_degrees_at_l_40() {
    let basis = cap(7.5, 40, 0.05);
    let right = [
        0.9975607457,
        0.9622522975,
        0.9622522975,
        0.7889292880,
        0.7889292880,
        0.6861114885,
        0.4563737101,
        0.4563737101,
        0.2509788397,
        0.2509788397,
        0.1718227135,
        0.1718227135,
    ];
    assert_eq!(basis.len(), right.len());
    basis.lambda().iter().zip(right).for_each(|(found, right)| close(*found, right, 5e-11));
    close(basis.shannon(), 7.190594, 5e-7);
    assert_eq!(
        &basis.names()[..6],
        ["slep_m0_k0", "slep_m1c_k0", "slep_m1s_k0", "slep_m2c_k0", "slep_m2s_k0", "slep_m0_k1"]
    );
}

#[test]
fn counts_and_sums_at_l_80_and_120() {
    for (l, modes, shannon, within) in [(80, 44, 28.065132, 5e-7), (120, 86, 62.627892313, 5e-10)] {
        let basis = cap(7.5, l, 0.05);
        assert_eq!(basis.len(), modes);
        close(basis.shannon(), shannon, within);
        let cap = Cap { lon: 0.0, lat: 0.0, radius_deg: 7.5 };
        let sum: f64 = cap_spectrum(&cap, l).iter().map(|(lambda, _)| lambda).sum();
        close(sum, basis.shannon(), 1e-9);
    }
}

#[test]
fn values_of_the_leading_functions_over_california() {
    let (lon, lat) = ([-119.5, -118.0, -122.4], [37.0, 34.0, 37.77]);
    let check = |l: usize, column: usize, right: [f64; 3]| {
        let values = cap(7.5, l, 0.05).evaluate_f64(&lon, &lat).unwrap();
        for (row, right) in right.into_iter().enumerate() {
            let found = match column {
                0 => values[[row, 0]].abs(),
                k => values[[row, k]].hypot(values[[row, k + 1]]),
            };
            close(found, right, 6e-9);
        }
    };
    check(120, 0, [16.87030528, 3.95756081, 7.59370996]);
    check(120, 1, [0.0, 9.78195102, 13.75159806]);
    check(120, 3, [0.0, 11.86015647, 12.21505028]);
    check(40, 0, [9.37668963, 6.18310792, 7.44922443]);
    check(40, 1, [0.0, 7.86369035, 6.92440030]);
}

#[test]
fn harmonics_of_the_first_three_degrees() {
    let right = [
        0.28209479, 0.17274707, 0.34549415, 0.29920671, 0.23654367, 0.27313711, 0.15769578,
        0.47308735, 0.13656855,
    ];
    let found = Harmonics::new(3).unwrap().evaluate(&[30.0], &[45.0], |value| value);
    found.iter().zip(right).for_each(|(found, right)| close(*found, right, 6e-9));
    let single = sh_features(3, &[30.0], &[45.0]).unwrap();
    single.iter().zip(right).for_each(|(found, right)| close(f64::from(*found), right, 3e-8));
    assert_eq!(&sh_names(2), &["sh_l0_m0", "sh_l1_m-1", "sh_l1_m0", "sh_l1_m1"]);
}

#[test]
fn legendre_functions_of_degree_120() {
    close(legendre(120, 0, 0.3), 0.1806352384586, 5e-14);
    close(legendre(120, 60, 0.3), 0.3414077085371, 5e-14);
    close(legendre(120, 120, 0.3), 3.464002162520e-3, 5e-16);
    assert_eq!(legendre(3, 4, 0.3), 0.0);
}

#[test]
fn the_dual_problem_agrees_with_the_exact_cap() {
    let (z, z_weights) = gauss_legendre(12, 30f64.to_radians().cos(), 1.0);
    let mut nodes = Nodes::default();
    for (z, weight) in z.iter().zip(&z_weights) {
        for j in 0..24 {
            nodes.push(15.0 * j as f64, z.asin().to_degrees(), weight * 2.0 * PI / 24.0);
        }
    }
    let dual = SlepianBasis::from_nodes(&nodes, 10, 1e-3, 800).unwrap();
    let exact = SlepianBasis::new(&Region::cap(0.0, 90.0, 30.0), 10, 1e-3, 800).unwrap();
    assert_eq!(dual.len(), exact.len());
    dual.lambda().iter().zip(exact.lambda()).for_each(|(a, b)| close(*a, *b, 1e-8));
    close(dual.shannon(), 8.105463071041, 1e-11);
    let values = dual.evaluate_f64(&[0.0, 40.0, 100.0], &[85.0, 70.0, 20.0]).unwrap();
    let sign = values[[0, 0]].signum();
    for (row, right) in [2.29572343, 0.76912161, -0.00646236].into_iter().enumerate() {
        close(sign * values[[row, 0]], right, 6e-9);
    }
}

#[test]
fn a_box_over_california() {
    let region = Region::Box { w: -124.5, s: 32.5, e: -114.0, n: 42.0 };
    for (l, shannon, half, kept) in [
        (40, 3.231781986683, 3, 8),
        (120, 28.147840610957, 28, 44),
        (300, 174.183628658788, 174, 220),
    ] {
        let basis = SlepianBasis::new(&region, l, 0.05, 800).unwrap();
        close(basis.shannon(), shannon, 1e-10 * shannon);
        assert_eq!(basis.lambda().iter().filter(|lambda| **lambda > 0.5).count(), half, "L {l}");
        assert_eq!(basis.len(), kept, "L {l}");
    }
}

// ---- laws ----

#[test]
fn the_addition_theorem_holds_to_degree_300_everywhere() {
    let orders = Harmonics::new(301).unwrap();
    let mut lon: Vec<f64> = (0..98).map(|i| 137.5 * i as f64 % 360.0 - 180.0).collect();
    let mut lat: Vec<f64> =
        (0..98).map(|i| (-1.0 + (2 * i + 1) as f64 / 98.0).asin().to_degrees()).collect();
    lon.extend([12.0, -77.0]);
    lat.extend([90.0, -90.0]);
    let values = orders.evaluate(&lon, &lat, |value| value);
    for row in values.rows() {
        for l in 0..=300 {
            let sum: f64 = (l * l..(l + 1) * (l + 1)).map(|i| row[i] * row[i]).sum();
            close(sum / ((2 * l + 1) as f64 / (4.0 * PI)), 1.0, 1e-11);
        }
    }
}

#[test]
fn the_addition_theorem_holds_at_degree_2000() {
    // There a plain power of the sine underflows where the functions are of order one.
    for mu in [0.0, 0.3, 0.8, 0.93, 0.999] {
        let sum: f64 =
            (0..=2000).map(|m| legendre(2000, m, mu).powi(2) * if m > 0 { 2.0 } else { 1.0 }).sum();
        close(sum / (4001.0 / (4.0 * PI)), 1.0, 1e-9);
    }
}

#[test]
fn functions_are_orthonormal_on_the_sphere_and_orthogonal_in_the_cap() {
    let (l, radius) = (30, 25.0);
    let basis = SlepianBasis::new(&Region::cap(0.0, 90.0, radius), l, 1e-4, 800).unwrap();
    let gram = |from: f64| {
        let (z, z_weights) = gauss_legendre(l + 1, from, 1.0);
        let turns = 2 * l + 2;
        let mut sum = Array2::<f64>::zeros((basis.len(), basis.len()));
        for (z, weight) in z.iter().zip(z_weights) {
            let lon: Vec<f64> = (0..turns).map(|j| 360.0 * j as f64 / turns as f64).collect();
            let values = basis.evaluate_f64(&lon, &vec![z.asin().to_degrees(); turns]).unwrap();
            sum.scaled_add(weight * 2.0 * PI / turns as f64, &values.t().dot(&values));
        }
        sum
    };
    let (whole, inside) = (gram(-1.0), gram(radius.to_radians().cos()));
    for i in 0..basis.len() {
        for j in 0..basis.len() {
            let same = if i == j { 1.0 } else { 0.0 };
            close(whole[[i, j]], same, 1e-10);
            close(inside[[i, j]], same * basis.lambda()[i], 1e-10);
        }
    }
}

#[test]
fn poles_and_the_date_line_are_ordinary_places() {
    let regions = [
        Region::cap(0.0, 90.0, 20.0),
        Region::cap(179.0, 10.0, 20.0),
        Region::Box { w: 170.0, s: 60.0, e: -170.0, n: 90.0 },
    ];
    for region in regions {
        let basis = SlepianBasis::new(&region, 30, 0.05, 800).unwrap();
        let pole = basis.evaluate_f64(&[0.0, 77.7, -180.0, 300.0], &[90.0; 4]).unwrap();
        let line = basis.evaluate_f64(&[180.0, -180.0], &[12.3; 2]).unwrap();
        for k in 0..basis.len() {
            (1..4).for_each(|row| close(pole[[row, k]], pole[[0, k]], 1e-12));
            close(line[[0, k]], line[[1, k]], 1e-12);
        }
    }
}

#[test]
fn coefficients_give_the_functions_back() {
    let regions =
        [Region::cap(138.0, 36.0, 25.0), Region::Box { w: 0.0, s: -20.0, e: 50.0, n: 40.0 }];
    for region in regions {
        let basis = SlepianBasis::new(&region, 12, 0.05, 800).unwrap();
        let coefficients = basis.coefficients().unwrap();
        assert_eq!(coefficients.dim(), (169, basis.len()));
        let (lon, lat) = ([130.0, 10.0, -60.0], [35.0, 5.0, -80.0]);
        let harmonics = Harmonics::new(13).unwrap().evaluate(&lon, &lat, |value| value);
        let (sums, values) =
            (harmonics.dot(&coefficients), basis.evaluate_f64(&lon, &lat).unwrap());
        sums.iter().zip(&values).for_each(|(a, b)| close(*a, *b, 1e-10));
        // Unit norm over the sphere.
        coefficients
            .columns()
            .into_iter()
            .for_each(|column| close(column.dot(&column), 1.0, 1e-10));
    }
}

#[test]
fn the_whole_sphere_keeps_every_function_whole() {
    let basis = SlepianBasis::new(&Region::cap(0.0, 0.0, 180.0), 6, 0.05, 800).unwrap();
    assert_eq!(basis.len(), 49);
    basis.lambda().iter().for_each(|lambda| close(*lambda, 1.0, 1e-12));
}

#[test]
fn several_caps_keep_functions_of_their_own() {
    let caps = vec![
        Cap { lon: -95.0, lat: 40.0, radius_deg: 25.0 },
        Cap { lon: 10.0, lat: 50.0, radius_deg: 20.0 },
    ];
    let one = |cap: Cap| SlepianBasis::new(&Region::Cap(cap), 20, 0.1, 800).unwrap();
    let both = SlepianBasis::new(&Region::Caps(caps.clone()), 20, 0.1, 800).unwrap();
    let first = one(caps[0]);
    assert_eq!(both.len(), first.len() + one(caps[1]).len());
    assert_eq!(both.names()[0], "slep0_m0_k0");
    assert_eq!(both.names()[first.len()], "slep1_m0_k0");
    let (lon, lat) = ([-90.0, 5.0], [35.0, 45.0]);
    let (a, b) = (both.evaluate(&lon, &lat).unwrap(), first.evaluate(&lon, &lat).unwrap());
    assert_eq!(
        a.row(0).iter().take(first.len()).collect::<Vec<_>>(),
        b.row(0).iter().collect::<Vec<_>>()
    );
    let inside = Region::Caps(caps).contains(&[-95.0, 10.0, 100.0], &[40.0, 50.0, 0.0]).unwrap();
    assert_eq!(inside, [true, true, false]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    // Turning the cap and the point together about the axis leaves the features as they are; so
    // does measuring the same distance and bearing from another centre.
    #[test]
    fn features_depend_on_the_place_relative_to_the_cap_alone(
        lon0 in -180.0..180.0f64, lat0 in -89.0..89.0f64,
        depth in 0.0..1.0f64, turn in -PI..PI, spin in -180.0..180.0f64,
    ) {
        let radius = 12.0f64.to_radians();
        let (sin, cos) = (radius * depth).sin_cos();
        let local = [sin * turn.cos(), sin * turn.sin(), cos];
        // The inverse of the rotation to the pole.
        let place = |lon0: f64, lat0: f64| {
            let (z, s) = lat0.to_radians().sin_cos();
            let [x, y, w] = [local[0] * z + local[2] * s, local[1], local[2] * z - local[0] * s];
            let (lon, lat) = lon_lat([x, y, w]);
            (lon0 + lon, lat)
        };
        let values = |lon0: f64, lat0: f64| {
            let (lon, lat) = place(lon0, lat0);
            let basis = SlepianBasis::new(&Region::cap(lon0, lat0, 12.0), 30, 0.05, 800).unwrap();
            let lon = (lon + 540.0).rem_euclid(360.0) - 180.0;
            basis.evaluate_f64(&[lon], &[lat]).unwrap()
        };
        let here = values(lon0, lat0);
        let turned = values((lon0 + spin + 540.0).rem_euclid(360.0) - 180.0, lat0);
        let elsewhere = values(10.0, 50.0);
        for ((a, b), c) in here.iter().zip(&turned).zip(&elsewhere) {
            prop_assert!((a - b).abs() < 1e-10 && (a - c).abs() < 1e-10, "{a} {b} {c}");
        }
    }

    #[test]
    fn a_place_is_the_same_a_turn_later(lon in -180.0..0.0f64, lat in -90.0..90.0f64) {
        let basis = cap(30.0, 12, 0.05);
        let values = basis.evaluate_f64(&[lon, lon + 360.0], &[lat, lat]).unwrap();
        for k in 0..basis.len() {
            prop_assert!((values[[0, k]] - values[[1, k]]).abs() < 1e-12);
        }
    }

    #[test]
    fn lambdas_add_up_to_the_shannon_number(radius in 1.0..179.0f64, l in 1..40usize) {
        let cap = Cap { lon: 0.0, lat: 0.0, radius_deg: radius };
        let sum: f64 = cap_spectrum(&cap, l).iter().map(|(lambda, _)| lambda).sum();
        let right = shannon_number(l, cap.share());
        prop_assert!((sum - right).abs() < 1e-9 * right.max(1.0), "{sum} {right}");
    }

    #[test]
    fn a_fitted_cap_holds_its_points(
        points in prop::collection::vec((-30.0..30.0f64, -30.0..30.0f64), 1..40), turn in -180.0..180.0f64,
    ) {
        let lon: Vec<f64> = points.iter().map(|point| point.0 + turn).collect();
        let lat: Vec<f64> = points.iter().map(|point| point.1).collect();
        let region = Region::fit(&lon, &lat).unwrap();
        prop_assert!(region.contains(&lon, &lat).unwrap().into_iter().all(|inside| inside));
    }
}

// ---- polygons ----

fn polygon(outer: &[(f64, f64)], holes: &[&[(f64, f64)]]) -> Region {
    let holes = holes.iter().map(|hole| LineString::from(hole.to_vec())).collect();
    Region::Polygon(MultiPolygon(vec![Polygon::new(LineString::from(outer.to_vec()), holes)]))
}

#[test]
fn a_rectangle_drawn_as_a_polygon_is_the_box() {
    let corners = [(-124.5, 32.5), (-114.0, 32.5), (-114.0, 42.0), (-124.5, 42.0)];
    let mut reversed = corners;
    reversed.reverse();
    let exact = Region::Box { w: -124.5, s: 32.5, e: -114.0, n: 42.0 };
    let right = SlepianBasis::new(&exact, 60, 0.05, 800).unwrap();
    for corners in [corners, reversed] {
        let region = polygon(&corners, &[]);
        close(region.share().unwrap(), exact.share().unwrap(), 1e-15);
        let basis = SlepianBasis::new(&region, 60, 0.05, 800).unwrap();
        assert_eq!(basis.len(), right.len());
        basis.lambda().iter().zip(right.lambda()).for_each(|(a, b)| close(*a, *b, 2e-4));
    }
}

#[test]
fn holes_and_parts_add_up() {
    let outer = [(0.0, 0.0), (20.0, 0.0), (20.0, 20.0), (0.0, 20.0)];
    // The hole is given a turn away, as a file cut at another meridian would.
    let hole: &[(f64, f64)] = &[(-355.0, 5.0), (-345.0, 5.0), (-345.0, 15.0), (-355.0, 15.0)];
    let inner = Region::Box { w: 5.0, s: 5.0, e: 15.0, n: 15.0 };
    let whole = Region::Box { w: 0.0, s: 0.0, e: 20.0, n: 20.0 };
    let ring = polygon(&outer, &[hole]);
    let right = whole.share().unwrap() - inner.share().unwrap();
    close(ring.share().unwrap(), right, 1e-15);
    let nodes = Nodes::inside(&ring, 60).unwrap();
    close(nodes.weights.iter().sum::<f64>() / (4.0 * PI), right, 1e-3 * right);
    let inside = ring.contains(&[10.0, 2.0, 362.0, -1.0], &[10.0, 10.0, 10.0, 10.0]).unwrap();
    assert_eq!(inside, [false, true, true, false]);
}

#[test]
fn rings_cross_the_date_line_and_go_around_poles() {
    let fiji = polygon(&[(176.0, -20.0), (-178.0, -20.0), (-178.0, -15.0), (176.0, -15.0)], &[]);
    let right = Region::Box { w: 176.0, s: -20.0, e: -178.0, n: -15.0 };
    close(fiji.share().unwrap(), right.share().unwrap(), 1e-15);
    let inside = fiji.contains(&[179.0, -179.0, 170.0, -170.0], &[-17.0; 4]).unwrap();
    assert_eq!(inside, [true, true, false, false]);

    let circle: Vec<(f64, f64)> = (0..36).map(|i| (10.0 * i as f64 - 180.0, -70.0)).collect();
    let antarctic = polygon(&circle, &[]);
    let right = Cap { lon: 0.0, lat: -90.0, radius_deg: 20.0 }.share();
    close(antarctic.share().unwrap(), right, 1e-15);
    assert_eq!(antarctic.contains(&[3.0, 3.0], &[-89.9, -60.0]).unwrap(), [true, false]);
    assert_eq!(
        antarctic.notes().unwrap(),
        ["1 of the rings goes around a pole: the pole nearer to it is taken to be inside"]
    );
}

#[test]
fn a_ring_that_crosses_itself_follows_the_even_odd_rule_and_is_noted() {
    let bow = polygon(&[(0.0, 0.0), (10.0, 10.0), (10.0, 0.0), (0.0, 6.0)], &[]);
    assert_eq!(
        bow.notes().unwrap(),
        ["1 of the rings crosses itself: what is inside follows the even-odd rule"]
    );
    assert!(SlepianBasis::new(&bow, 60, 0.05, 800).is_ok());
    let plain = polygon(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], &[]);
    assert!(plain.notes().unwrap().is_empty());
}

// ---- long work ----

// Counts what it is told, and asks to stop at a check.
#[derive(Default)]
struct Stopper {
    checks_left: std::sync::atomic::AtomicUsize,
    steps: std::sync::atomic::AtomicU64,
}

impl Stopper {
    fn after(checks: usize) -> Self {
        Self { checks_left: checks.into(), ..Self::default() }
    }

    fn steps(&self) -> u64 {
        self.steps.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl metier_core::Progress for Stopper {
    fn begin(&self, _task: &str, _total: Option<u64>) {}
    fn advance(&self, steps: u64) {
        self.steps.fetch_add(steps, std::sync::atomic::Ordering::Relaxed);
    }
    fn message(&self, _text: &str) {}
    fn finish(&self) {}
    fn interrupted(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.checks_left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn long_work_stops_when_asked_and_says_how_far_it_is() {
    let stopped = |error: metier_core::Error| assert_eq!(error.exit_code(), 130, "{error}");
    let regions =
        [Region::cap(-119.5, 37.0, 7.5), Region::Box { w: -124.5, s: 32.5, e: -114.0, n: 42.0 }];
    for region in regions {
        for checks in [0, 2, 5] {
            let stop = Stopper::after(checks);
            let basis = SlepianBasis::new_with_progress(&region, 40, 0.05, 800, &stop);
            stopped(basis.unwrap_err());
        }
        let basis = SlepianBasis::new(&region, 40, 0.05, 800).unwrap();
        stopped(basis.coefficients_with_progress(&Stopper::after(1)).unwrap_err());
    }
    let config = SlepianConfig {
        region: Region::cap(-119.5, 37.0, 7.5).into(),
        l: 10,
        global_l: 2,
        scale: false,
        ..SlepianConfig::default()
    };
    let n = (1 << 16) + 300;
    let lon: Vec<f64> = (0..n).map(|i| -125.0 + 1.5e-4 * i as f64).collect();
    let lat: Vec<f64> = (0..n).map(|i| 32.0 + 9.5 * (0.618 * i as f64 % 1.0)).collect();
    stopped(
        SlepianEncoder::fit_with_progress(&config, &lon, &lat, &Stopper::after(3)).unwrap_err(),
    );
    let encoder = SlepianEncoder::fit(&config, &lon, &lat).unwrap();
    let stop = Stopper::after(2);
    stopped(encoder.transform_with_progress(&lon, &lat, &stop).unwrap_err());
    assert_eq!(stop.steps(), 1 << 16);
    // Blocks leave no seam.
    let watch = Stopper::after(usize::MAX);
    let all = encoder.transform_with_progress(&lon, &lat, &watch).unwrap();
    assert_eq!(watch.steps(), n as u64);
    let (from, to) = ((1 << 16) - 200, n);
    let part = encoder.transform(&lon[from..to], &lat[from..to]).unwrap();
    assert_eq!(all.select(ndarray::Axis(0), &(from..to).collect::<Vec<_>>()), part);
}

// ---- bad input ----

fn refusal(region: Region, l: usize, thresh: f64, max_modes: usize) -> (String, String) {
    let error = SlepianBasis::new(&region, l, thresh, max_modes).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    (error.to_string(), error.help_text().unwrap_or_default().to_owned())
}

#[test]
fn regions_that_are_none_are_refused() {
    for radius in [0.0, -1.0, 180.5, f64::NAN] {
        let (text, help) = refusal(Region::cap(0.0, 0.0, radius), 20, 0.05, 800);
        assert_eq!(text, format!("region: the cap's radius is {radius} degrees"));
        assert_eq!(help, "a radius is above 0 and at most 180 degrees; one degree is 111 km");
    }
    let (text, help) = refusal(Region::cap(37.0, -119.5, 7.5), 20, 0.05, 800);
    assert_eq!(text, "region: latitude -119.5 is outside [-90, 90]");
    assert_eq!(help, "are the longitude and latitude columns swapped?");
    let (text, _) = refusal(Region::Box { w: 0.0, s: 10.0, e: 5.0, n: 10.0 }, 20, 0.05, 800);
    assert_eq!(text, "region: the box reaches from latitude 10 to 10");
    let (text, _) = refusal(Region::Box { w: 5.0, s: 0.0, e: 5.0, n: 10.0 }, 20, 0.05, 800);
    assert_eq!(text, "region: the box has no width: both edges lie at 5");
    let (text, _) = refusal(Region::Caps(vec![]), 20, 0.05, 800);
    assert_eq!(text, "region: no cap is given");
    let (text, _) = refusal(polygon(&[(0.0, 0.0), (5.0, 5.0), (10.0, 10.0)], &[]), 20, 0.05, 800);
    assert_eq!(text, "region: the polygon has no area");
}

#[test]
fn bandwidths_thresholds_and_sizes_out_of_range_are_refused() {
    let region = || Region::cap(0.0, 0.0, 7.5);
    let (text, _) = refusal(region(), 2001, 0.05, 800);
    assert_eq!(
        text,
        "L: L is 2001, where at most 2000 can be had; its 17145 functions would take 68.6 GB of \
         memory for a million places"
    );
    assert_eq!(refusal(region(), 0, 0.05, 800).0, "L: L is 0, which leaves one constant function");
    let (text, help) = refusal(region(), 120, 0.05, 50);
    assert!(text.starts_with("max_modes: the basis has more than 50 functions (about 6"), "{text}");
    assert!(text.ends_with("a million places would take 0.3 GB of memory"), "{text}");
    assert_eq!(help, "raise max_modes if you mean it, lower L, or raise thresh");
    // The second of two caps does not fit any more: what counts is both together.
    let (west, east) =
        (Cap { lon: 0.0, lat: 0.0, radius_deg: 7.5 }, Cap { lon: 90.0, lat: 0.0, radius_deg: 7.5 });
    let (text, _) = refusal(Region::Caps(vec![west, east]), 40, 0.05, 20);
    assert!(text.starts_with("max_modes: the basis has more than 20 functions (about 2"), "{text}");
    let (text, _) = refusal(Region::Box { w: 0.0, s: 0.0, e: 9.0, n: 9.0 }, 120, 0.05, 5);
    assert!(text.starts_with("max_modes: the basis has more than 5 functions"), "{text}");
    let (text, help) = refusal(Region::cap(0.0, 0.0, 2.0), 20, 0.5, 800);
    assert_eq!(
        text,
        "thresh: no function is concentrated above thresh = 0.5: the largest lambda is 0.125695"
    );
    assert_eq!(help, "lower thresh, raise L, or enlarge the region");
    let (text, _) = refusal(region(), 20, 1.0, 800);
    assert_eq!(text, "thresh: thresh is 1, where a share from 0 to below 1 is wanted");
}

#[test]
fn too_few_nodes_are_refused() {
    let nodes = Nodes { lon: vec![0.0, 5.0], lat: vec![0.0, 5.0], weights: vec![0.2, 0.2] };
    let error = SlepianBasis::from_nodes(&nodes, 30, 0.05, 800).unwrap_err();
    assert!(error.message().contains("2 quadrature nodes are too few for L = 30"), "{error}");
    let nodes = Nodes { weights: vec![0.2, 0.0], ..nodes };
    let error = SlepianBasis::from_nodes(&nodes, 30, 0.05, 800).unwrap_err();
    assert_eq!(error.to_string(), "every quadrature node needs one positive weight");
}

#[test]
fn a_region_smaller_than_a_function_is_warned_of() {
    let basis = SlepianBasis::new(&Region::cap(0.0, 0.0, 2.0), 20, 0.05, 800).unwrap();
    assert_eq!(
        basis.warnings(),
        ["the region is smaller than one function (Shannon number 0.134): L = 181 would give 10"]
    );
    assert!(cap(7.5, 40, 0.05).warnings().is_empty());
    assert!(shannon_number(181, 3.0458649e-4) >= 10.0 && shannon_number(180, 3.0458649e-4) < 10.0);
}

#[test]
fn regions_are_written_in_words() {
    let parse = |text: &str| text.parse::<RegionSpec>();
    let given = |region: Region| RegionSpec::Given(region);
    assert_eq!(parse("fit").unwrap(), RegionSpec::Fit);
    assert_eq!(parse("cap:10, 50, 20").unwrap(), given(Region::cap(10.0, 50.0, 20.0)));
    let caps = parse("caps:-95,40,25;10,50,20").unwrap();
    assert!(matches!(&caps, RegionSpec::Given(Region::Caps(caps)) if caps.len() == 2));
    assert_eq!(
        parse("box:170,-10,-170,10").unwrap(),
        given(Region::Box { w: 170.0, s: -10.0, e: -170.0, n: 10.0 })
    );
    let message = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(message("cap:1,2"), "region: 2 numbers are given for cap:lon,lat,radius");
    assert_eq!(message("cap:1,2,x"), "region: `x` is not a number");
    assert_eq!(message("disc:1,2,3"), "region: `disc` is no kind of region");
    assert_eq!(message("japan"), "region: `japan` is no region");
    assert_eq!(message("cap:1,2,0"), "region: the cap's radius is 0 degrees");
}

#[test]
fn a_fit_needs_points_that_lie_together() {
    let error = Region::fit(&[], &[]).unwrap_err();
    assert_eq!(error.to_string(), "no points are given to fit a region to");
    let lon = [0.0, 90.0, 180.0, -90.0, 0.0, 0.0];
    let lat = [0.0, 0.0, 0.0, 0.0, 90.0, -90.0];
    let error = Region::fit(&lon, &lat).unwrap_err();
    assert_eq!(
        error.to_string(),
        "region: the points lie on more than half of the earth: no cap fits them"
    );
    assert!(ToPole::new(0.0, 0.0).apply(0.0, 0.0)[2] > 0.999 && unit(0.0, 0.0)[0] > 0.999);
}

// ---- the encoder ----

fn towns() -> (Vec<f64>, Vec<f64>) {
    let lon = (0..50).map(|i| -123.0 + 0.17 * i as f64).collect();
    let lat = (0..50).map(|i| 33.0 + 0.9 * ((i * 7) % 10) as f64).collect();
    (lon, lat)
}

#[test]
fn features_have_mean_0_and_deviation_1_on_the_points_of_the_fit() {
    let (lon, lat) = towns();
    let config = SlepianConfig { l: 60, global_l: 4, ..SlepianConfig::default() };
    let encoder = SlepianEncoder::fit(&config, &lon, &lat).unwrap();
    let x = encoder.transform(&lon, &lat).unwrap();
    assert_eq!(x.ncols(), encoder.features());
    assert_eq!(encoder.feature_names().len(), x.ncols());
    assert_eq!(&encoder.feature_names()[15..17], ["sh_l3_m3", "slep_m0_k0"]);
    for (k, column) in x.columns().into_iter().enumerate() {
        let mean = column.iter().map(|v| f64::from(*v)).sum::<f64>() / 50.0;
        let square = column.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / 50.0;
        close(mean, 0.0, 1e-5);
        // The constant harmonic stays constant.
        close(square, if k == 0 { 0.0 } else { 1.0 }, 1e-4);
    }
}

#[test]
fn points_outside_the_region_are_counted_and_warned_of() {
    let region = Region::cap(-119.5, 37.0, 7.5);
    let config =
        SlepianConfig { region: region.into(), l: 40, scale: false, ..SlepianConfig::default() };
    let (lon, lat) = ([-119.0, -120.0, 2.0], [37.0, 36.0, 48.0]);
    let encoder = SlepianEncoder::fit(&config, &lon, &lat).unwrap();
    assert_eq!(encoder.outside(&lon, &lat).unwrap(), 1);
    assert_eq!(
        encoder.warnings(),
        ["1 of 3 points lie outside the region, where its functions are close to zero"]
    );
    let far = encoder.transform(&[2.0], &[48.0]).unwrap();
    assert!(far.iter().skip(100).take(3).all(|value| value.abs() < 0.2), "{far}");
    assert!(SlepianEncoder::fit(&config, &lon[..2], &lat[..2]).unwrap().warnings().is_empty());
}

#[test]
fn encoders_refuse_points_that_are_none_and_name_the_row() {
    let config = SlepianConfig::default();
    let error = SlepianEncoder::fit(&config, &[1.0, 37.0], &[2.0, -122.0]).unwrap_err();
    assert_eq!(error.to_string(), "row 2, lat: latitude -122 is outside [-90, 90]");
    let (lon, lat) = towns();
    let encoder = SlepianEncoder::fit(&config, &lon, &lat).unwrap();
    let error = encoder.transform(&[f64::NAN], &[0.0]).unwrap_err();
    assert_eq!(error.to_string(), "row 1, lon: the value is missing or not finite");
    let error = SlepianEncoder::fit(&config, &[], &[]).unwrap_err();
    assert_eq!(error.message(), "no points are given to learn the scale of the features from");
    let wide = SlepianConfig { global_l: 300, ..config };
    let error = SlepianEncoder::fit(&wide, &lon, &lat).unwrap_err();
    assert_eq!(error.to_string(), "global: global = 300 would make 90000 columns");
}

#[test]
fn a_saved_encoder_comes_back_to_the_last_digit() {
    let (lon, lat) = towns();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("encoder.safetensors");
    let ring = polygon(&[(-125.0, 32.0), (-114.0, 32.0), (-114.0, 42.0), (-125.0, 42.0)], &[]);
    let regions = [
        RegionSpec::Fit,
        RegionSpec::Given(Region::Box { w: -125.0, s: 32.0, e: -114.0, n: 42.0 }),
        RegionSpec::Given(ring),
        "caps:-120,37,8;-115,40,5".parse().unwrap(),
    ];
    for region in regions {
        let config = SlepianConfig { region, l: 40, global_l: 3, ..SlepianConfig::default() };
        let encoder = SlepianEncoder::fit(&config, &lon, &lat).unwrap();
        encoder.save(&path).unwrap();
        let back = SlepianEncoder::load(&path).unwrap();
        assert_eq!(back.feature_names(), encoder.feature_names());
        assert_eq!(back.region(), encoder.region());
        assert_eq!(back.transform(&lon, &lat).unwrap(), encoder.transform(&lon, &lat).unwrap());
    }
}

#[test]
fn a_configuration_is_written_down_and_read() {
    let regions = [
        RegionSpec::Fit,
        Region::cap(138.0, 36.0, 10.0).into(),
        "caps:-120,37,8;-115,40,5".parse().unwrap(),
        Region::Box { w: 170.0, s: -20.0, e: -170.0, n: -10.0 }.into(),
        RegionSpec::Mended {
            region: polygon(
                &[(0.0, 0.0), (9.0, 0.0), (9.0, 9.0)],
                &[&[(6.0, 1.0), (7.0, 1.0), (7.0, 2.0)]],
            ),
            notes: vec!["a note".into()],
        },
    ];
    for region in regions {
        let config =
            SlepianConfig { region, raster: Some(Raster::default()), ..SlepianConfig::default() };
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<SlepianConfig>(&text).unwrap(), config, "{text}");
    }
    let short: SlepianConfig = serde_json::from_str("{\"l\":40,\"region\":\"Fit\"}").unwrap();
    assert_eq!(short, SlepianConfig { l: 40, ..SlepianConfig::default() });
}

#[test]
fn files_that_are_no_encoder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("encoder.safetensors");
    assert_eq!(SlepianEncoder::load(&path).unwrap_err().exit_code(), 3);
    std::fs::write(&path, b"not at all").unwrap();
    let error = SlepianEncoder::load(&path).unwrap_err();
    assert!(error.message().starts_with("this is no saved encoder"), "{error}");
    let basis = cap(30.0, 8, 0.05);
    basis.export(&path).unwrap();
    let error = SlepianEncoder::load(&path).unwrap_err();
    assert_eq!(error.message(), "this is no saved encoder: it holds a basis alone");
    let error = basis.export(&folder.path().join("basis.txt")).unwrap_err();
    assert_eq!(error.message(), "cannot write a basis as `.txt`");
}

#[test]
fn an_exported_basis_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("basis.npz");
    let basis = cap(30.0, 8, 0.05);
    basis.export(&path).unwrap();
    let arrays = metier_data::read::npz(&path).unwrap();
    let find = |name: &str| &arrays.iter().find(|(found, _)| found.starts_with(name)).unwrap().1;
    assert_eq!(find("lambda").shape(), [basis.len()]);
    assert_eq!(find("coefficients").shape(), [81, basis.len()]);
    assert_eq!(
        find("coefficients").clone().into_dimensionality().unwrap(),
        basis.coefficients().unwrap()
    );
}

#[test]
fn what_was_mended_in_an_outline_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outline.geojson");
    let spec = |ring: &str| -> RegionSpec {
        let json = format!("{{\"type\":\"Polygon\",\"coordinates\":[[{ring}]]}}");
        std::fs::write(&path, json).unwrap();
        format!("file:{}", path.display()).parse().unwrap()
    };
    let ring = "[-125,32],[-114,32],[-114,43],[-125,43]";
    let region = spec(ring);
    assert_eq!(region.notes(), ["coordinates[0] is not closed; its ends are joined"]);
    let (lon, lat) = towns();
    let config = SlepianConfig { region, l: 20, ..SlepianConfig::default() };
    let encoder = SlepianEncoder::fit(&config, &lon, &lat).unwrap();
    assert_eq!(encoder.warnings()[0], config.region.notes()[0]);
    let closed = spec(&format!("{ring},[-125,32]"));
    assert!(matches!(closed, RegionSpec::Given(_)) && closed.notes().is_empty());
    assert_eq!(
        closed.resolve(&[], &[]).unwrap().share().unwrap(),
        encoder.region().share().unwrap()
    );
}

#[test]
fn a_country_is_a_region() {
    let RegionSpec::Given(japan) = "country:JP".parse().unwrap() else { panic!("a region") };
    // 378,000 of 510 million square kilometres, at a scale of 1 to 50 million.
    close(japan.share().unwrap(), 378.0 / 510_100.0, 3e-5);
    let inside = japan.contains(&[138.0, 135.5, 127.0], &[36.0, 34.7, 37.5]).unwrap();
    assert_eq!(inside, [true, true, false]);
    let basis = SlepianBasis::new(&japan, 60, 0.05, 800).unwrap();
    assert!(basis.lambda()[0] < 1.0 && basis.lambda()[0] > 0.3, "{:?}", basis.lambda());
}

#[test]
fn outlines_of_every_kind_have_nodes_of_their_area() {
    // They touch the date line, a pole, or themselves, have holes, or hundreds of small islands.
    for code in ["US", "RU", "FJ", "AQ", "ZA", "CA", "BS", "AS", "JP"] {
        let region = Region::Polygon(metier_data::geo::country(code).unwrap());
        let nodes = Nodes::inside(&region, 20).unwrap();
        assert!(nodes.weights.iter().all(|weight| *weight > 0.0), "{code}");
        let area: f64 = nodes.weights.iter().sum();
        // The area of a ring that crosses itself is not what the even-odd rule leaves of it.
        let tolerance = if region.notes().unwrap().is_empty() { 1e-3 } else { 2e-3 };
        close(area / (4.0 * PI * region.share().unwrap()), 1.0, tolerance);
    }
}

#[test]
fn a_continent_around_a_pole_is_a_region() {
    let region = Region::Polygon(metier_data::geo::country("AQ").unwrap());
    let basis = SlepianBasis::new(&region, 40, 0.05, 800).unwrap();
    // (L + 1)^2 times the 12.3 of 510 million square kilometres inside that coast line.
    close(basis.shannon(), 41.0 * 41.0 * region.share().unwrap(), 0.05);
    assert!((0.999..1.0 + 1e-6).contains(&basis.lambda()[0]), "{}", basis.lambda()[0]);
    let values = basis.evaluate_f64(&[-180.0, 180.0, 17.0, 93.0], &[-80.0, -80.0, -90.0, -90.0]);
    let values = values.unwrap();
    for k in 0..basis.len() {
        close(values[[0, k]], values[[1, k]], 1e-9);
        close(values[[2, k]], values[[3, k]], 1e-9);
    }
}

#[test]
fn figures_show_the_window_of_their_region() {
    let window = window_of(&Region::Box { w: 170.0, s: -20.0, e: -170.0, n: -10.0 });
    close(window[0], 165.0, 1e-9);
    close(window[2], 195.0, 1e-9);
    let basis = cap(7.5, 40, 0.05);
    let region = Region::cap(-119.5, 37.0, 7.5);
    let figure = mode_map(&region, &basis, 3, 40).unwrap();
    assert_eq!(figure.title, "Function 3: slep_m2c_k0");
    let metier_core::Plot::Map(map) = figure.plot else { panic!("a map") };
    assert!(!map.outlines.is_empty() && !map.region.is_empty());
    let error = mode_map(&region, &basis, 12, 40).unwrap_err();
    assert_eq!(error.to_string(), "mode: function 12 is asked for, where the basis has 0 to 11");
}
