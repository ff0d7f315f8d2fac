//! Times the Slepian basis and its evaluation on one thread, for `benches/slepian.py`: one line of
//! JSON per case, in CPU seconds, the mean of several runs.

mod clock;

use clock::{mean, on_one_thread};
use metier_core::rng;
use metier_geometry::slepian::{Region, SlepianBasis};
use rand::RngExt;

const POINTS: usize = 20_640;

fn main() {
    if !on_one_thread() {
        return;
    }
    let mut rng = rng::stream(0, "points");
    let lon: Vec<f64> = (0..POINTS).map(|_| rng.random_range(-124.3..-114.3)).collect();
    let lat: Vec<f64> = (0..POINTS).map(|_| rng.random_range(32.5..42.0)).collect();
    let cap = Region::cap(-119.5, 37.0, 7.5);
    for l in [40, 80, 120, 300, 500] {
        case("cap", &cap, l, &lon, &lat);
    }
    let outline = Region::Box { w: -124.5, s: 32.5, e: -114.0, n: 42.0 };
    for l in [120, 300] {
        case("box", &outline, l, &lon, &lat);
    }
    let repeat =
        |values: &[f64]| values.iter().copied().cycle().take(1_000_000).collect::<Vec<_>>();
    case("cap", &cap, 120, &repeat(&lon), &repeat(&lat));
}

fn case(kind: &str, region: &Region, l: usize, lon: &[f64], lat: &[f64]) {
    let Ok(basis) = SlepianBasis::new(region, l, 0.05, 4000) else { return };
    let make = mean(|| SlepianBasis::new(region, l, 0.05, 4000).map_or(0, |basis| basis.len()));
    let evaluate = mean(|| basis.evaluate(lon, lat).map_or(0, |features| features.len()));
    println!(
        "{{\"region\":\"{kind}\",\"l\":{l},\"modes\":{},\"points\":{},\"basis\":{make:.6},\
         \"evaluate\":{evaluate:.6}}}",
        basis.len(),
        lon.len()
    );
}
