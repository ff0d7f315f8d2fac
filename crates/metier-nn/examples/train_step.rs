//! Measures a training step of a small GPT: forward, backward and AdamW, in CPU seconds.
//!
//! ```sh
//! cargo run --release -p metier-nn --example train_step -- 16 128 20
//! ```
//!
//! The arguments are sequences, tokens in each, and steps. Prints one JSON object; the parts of a
//! step are medians. `benches/train_step.py` sets the same step in PyTorch beside it.

use metier_core::rng;
use metier_nn::LanguageModel;
use metier_nn::allocator::{self, Allocator};
use metier_nn::corpus::Window;
use metier_nn::device::cpu;
use metier_nn::model::DecoderConfig;
use metier_nn::optim::{AdamW, AdamWConfig, GradRef, Optimizer};
use metier_nn::tokenizer::Tokenizer;
use metier_nn::train::Trainable;
use rand::RngExt;

const VOCABULARY: u32 = 2048;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    allocator::keep_freed_memory();
    let sizes: Vec<usize> =
        std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    let [batch, context, steps] = *sizes.as_slice() else {
        return Err("usage: train_step SEQUENCES TOKENS STEPS".into());
    };
    let config = DecoderConfig::gpt2(VOCABULARY as usize, context, 6, 8, 256);
    let mut model = LanguageModel::random(&config, Tokenizer::Bytes, 0, &cpu())?;
    let mut adamw = AdamW::new(AdamWConfig::default())?;
    let window = window(batch, context);
    let (mut passes, mut updates, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    for step in 0..=steps {
        let start = cpu_seconds()?;
        let (loss, gradients) = model.loss_and_gradients(&window)?;
        let middle = cpu_seconds()?;
        model.with_parameters(&mut |params| {
            let names: Vec<String> = params.iter().map(|param| param.name.to_string()).collect();
            let named = names.iter().zip(&gradients);
            let grads: Vec<_> = named.map(|(name, data)| GradRef { name, data }).collect();
            adamw.step(params, &grads, 1e-3).map(drop)
        })?;
        // The first step warms caches and allocator up.
        if step > 0 {
            passes.push(middle - start);
            updates.push(cpu_seconds()? - middle);
        }
        losses.push(loss);
    }
    let count = |shape: &[usize]| shape.iter().product::<usize>();
    let parameters: usize = model.parameters().iter().map(|(_, shape)| count(shape)).sum();
    println!(
        "{}",
        serde_json::json!({
            "parameters": parameters,
            "passes_cpu_seconds": median(&mut passes),
            "update_cpu_seconds": median(&mut updates),
            "first_loss": losses.first(),
            "last_loss": losses.last(),
        })
    );
    Ok(())
}

fn window(batch: usize, context: usize) -> Window {
    let mut rng = rng::stream(0, "bench");
    let mut row = || (0..context).map(|_| rng.random_range(0..VOCABULARY)).collect::<Vec<u32>>();
    let inputs = (0..batch).map(|_| row()).collect();
    Window { inputs, targets: (0..batch).map(|_| row()).collect() }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// User and system time of all threads, in the steps of 10 ms that Linux counts them in.
fn cpu_seconds() -> std::io::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The program's name, in brackets, may hold spaces; the times are fields 14 and 15.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    Ok(ticks.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0)
}
