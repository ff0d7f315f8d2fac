//! Measures the rate of Newton–Schulz steps beside that of plain matrix products on one thread:
//!
//! ```sh
//! cargo run --release -p metier-train --example newton_schulz_rate -- 768 3072
//! ```
//!
//! Prints one JSON object. Rates count `4n²k + 2n³` operations per Newton–Schulz step, as if nothing
//! were known of the products; the symmetric ones are computed at half that cost.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use metier_core::rng;
use metier_nn::kernels::product;
use metier_train::olion::{Scratch, newton_schulz};
use rand::RngExt;
use std::time::Instant;

const STEPS: usize = 5;
const REPEATS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sizes: Vec<usize> =
        std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    let (n, k) = match *sizes.as_slice() {
        [n, k] if n <= k => (n, k),
        _ => {
            return Err(
                "usage: newton_schulz_rate ROWS COLUMNS, with no more rows than columns".into()
            );
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    println!("{}", pool.install(|| measure(n, k)));
    Ok(())
}

fn measure(n: usize, k: usize) -> serde_json::Value {
    let mut rng = rng::stream(0, "bench");
    let g = Mat::from_fn(n, k, |_, _| rng.random::<f32>() - 0.5);
    let square = Mat::from_fn(n, n, |_, _| rng.random::<f32>() - 0.5);
    let mut wide = Mat::<f32>::zeros(n, k);
    let mut narrow = Mat::<f32>::zeros(n, n);
    let mut scratch = Scratch::default();

    let (n2k, n3) = ((n * n * k) as f64, (n * n * n) as f64);
    // The three products of a step as plain ones, the last by both libraries; the fastest of them is
    // the machine's rate.
    let gram = median(2.0 * n2k, &mut || {
        matmul(narrow.as_mut(), Accum::Replace, g.as_ref(), g.transpose(), 1.0, Par::Seq);
    });
    let squared = median(2.0 * n3, &mut || {
        matmul(narrow.as_mut(), Accum::Replace, square.as_ref(), square.as_ref(), 1.0, Par::Seq);
    });
    let faer = median(2.0 * n2k, &mut || {
        matmul(wide.as_mut(), Accum::Replace, square.as_ref(), g.as_ref(), 1.0, Par::Seq);
    });
    let packed = median(2.0 * n2k, &mut || {
        product(wide.as_mut(), square.as_ref(), g.as_ref());
    });
    let flops = STEPS as f64 * (4.0 * n2k + 2.0 * n3);
    // Row by row in memory, as optimizers and NumPy keep matrices.
    let values: Vec<f32> = (0..n * k).map(|at| g[(at / k, at % k)]).collect();
    let mut result = vec![0.0f32; n * k];
    let ns = median(flops, &mut || {
        let g = MatRef::from_row_major_slice(&values, n, k);
        let out = MatMut::from_row_major_slice_mut(&mut result, n, k);
        newton_schulz(g, STEPS, out, &mut scratch);
    });

    let peak = [2.0 * n2k / gram, 2.0 * n3 / squared, 2.0 * n2k / faer, 2.0 * n2k / packed];
    let peak = peak.into_iter().fold(0.0, f64::max);
    let rate = flops / ns;
    serde_json::json!({
        "rows": n,
        "columns": k,
        "steps": STEPS,
        "cpu_seconds": ns,
        "gflops": rate / 1e9,
        "gemm_gflops": peak / 1e9,
        "share_of_gemm": rate / peak,
        "norm": MatRef::from_row_major_slice(&result, n, k).norm_l2(),
    })
}

/// The median CPU seconds of one call, after a round to warm up. Short work is called several times
/// in a row, as the system counts a thread's time in steps of milliseconds.
fn median(flops: f64, work: &mut dyn FnMut()) -> f64 {
    let calls = (5e9 / flops).ceil() as usize;
    let mut round = || {
        let start = cpu_seconds();
        (0..calls).for_each(|_| work());
        (cpu_seconds() - start) / calls as f64
    };
    round();
    let mut times: Vec<f64> = (0..REPEATS).map(|_| round()).collect();
    times.sort_by(f64::total_cmp);
    times[REPEATS / 2]
}

/// The CPU seconds of this thread on Linux, elsewhere those of the clock: other programs on the
/// machine would else count as ours.
fn cpu_seconds() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    thread_local!(static START: Instant = Instant::now());
    nanoseconds.map_or_else(|| START.with(|start| start.elapsed().as_secs_f64()), |ns| ns * 1e-9)
}
