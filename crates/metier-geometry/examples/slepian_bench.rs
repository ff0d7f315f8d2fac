//! Times the Slepian basis and its evaluation on one thread, for `benches/slepian.py`: one line of
//! JSON per case, in CPU seconds, the mean of several runs.

use metier_core::rng;
use metier_geometry::slepian::{Region, SlepianBasis};
use rand::RngExt;
use std::time::Instant;

const POINTS: usize = 20_640;

fn main() {
    // Everything on this thread, whose CPU time the kernel tells.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    if let Err(error) = pool {
        eprintln!("{error}");
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

// The mean over runs that take half a second together, three at least: one run may be shorter than a
// tick of the clock.
fn mean(run: impl Fn() -> usize) -> f64 {
    let begun = Instant::now();
    let before = cpu_seconds(&begun);
    let mut runs = 0;
    while runs < 3 || begun.elapsed().as_secs_f64() < 0.5 {
        std::hint::black_box(run());
        runs += 1;
    }
    (cpu_seconds(&begun) - before) / f64::from(runs)
}

// The time that this thread has run, or else the time that has passed.
fn cpu_seconds(begun: &Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| begun.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}
