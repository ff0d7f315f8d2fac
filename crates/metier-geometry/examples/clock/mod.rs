//! CPU seconds of a call on this thread, for the examples that benchmarks run.

use std::time::Instant;

/// Puts all work on this thread, whose CPU time the kernel tells; says why where that cannot be done.
pub fn on_one_thread() -> bool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    pool.inspect_err(|error| eprintln!("{error}")).is_ok()
}

/// The mean over runs that take half a second together, three at least: one run may be shorter than a
/// tick of the clock.
pub fn mean(run: impl Fn() -> usize) -> f64 {
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
