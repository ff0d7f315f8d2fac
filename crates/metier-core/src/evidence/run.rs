//! Runs experiments one after another and keeps what each found, or why it failed.

use super::{Card, Finding, Lab, Method, Scale};
use crate::error::Kind;
use crate::{Error, Progress, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Instant;

/// How experiments are run.
#[derive(Clone)]
pub struct Options<'a> {
    /// How much of each to run.
    pub scale: Scale,
    /// The first seed.
    pub seed: u64,
    /// Data sets taken from a path instead of the cache, by name.
    pub data: Vec<(String, PathBuf)>,
    /// Whom to tell how far the work is.
    pub progress: &'a dyn Progress,
}

/// What came of one experiment.
#[derive(Debug)]
pub struct Outcome {
    /// The method's entry in the catalogue.
    pub card: &'static Card,
    /// How much was run.
    pub scale: Scale,
    /// The first seed.
    pub seed: u64,
    /// How long it took, by the clock on the wall.
    pub seconds: f64,
    /// What was found, or why nothing was. A panic counts as an internal error.
    pub result: Result<Finding>,
}

impl Outcome {
    /// Whether the experiment was carried out and every claim that gates it holds.
    pub fn gates_hold(&self) -> bool {
        self.result.as_ref().is_ok_and(Finding::gates_hold)
    }

    fn exit_code(&self) -> u8 {
        match &self.result {
            Ok(finding) if finding.gates_hold() => 0,
            Ok(_) => 1,
            Err(error) => error.exit_code(),
        }
    }
}

/// Runs the experiment of one method; its errors and its panics become the outcome.
pub fn run_one(method: &dyn Method, options: &Options) -> Outcome {
    let card = method.card();
    let mut lab = Lab::new(options.scale, options.seed, options.progress);
    for (name, path) in &options.data {
        lab = lab.with_data(name, path);
    }
    options.progress.begin(card.id, None);
    let start = Instant::now();
    // The lab is dropped right after, so no state that a panic broke is seen again.
    let result = catch_unwind(AssertUnwindSafe(|| method.evidence(&mut lab)))
        .unwrap_or_else(|panic| Err(crash(panic.as_ref())));
    let seconds = start.elapsed().as_secs_f64();
    options.progress.finish();
    Outcome { card, scale: options.scale, seed: options.seed, seconds, result }
}

/// Runs the experiments of several methods and shows each outcome as it comes. One that fails does not
/// keep the others from running; a request to stop does, and leaves fewer outcomes than methods.
///
/// # Errors
/// What `show` returns.
pub fn run(
    methods: &[&dyn Method],
    options: &Options,
    mut show: impl FnMut(&Outcome) -> Result<()>,
) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::with_capacity(methods.len());
    for method in methods {
        // Asked to stop between two methods, what is there is still worth its page.
        if options.progress.interrupted() {
            break;
        }
        let outcome = run_one(*method, options);
        show(&outcome)?;
        let stop = outcome.result.as_ref().is_err_and(|error| error.kind() == Kind::Interrupted);
        outcomes.push(outcome);
        if stop {
            break;
        }
    }
    Ok(outcomes)
}

/// The exit status of a run: 130 when it was stopped, else 1 when a gate falls short or a method
/// crashed, else 2 when a method was handed wrong data, else 3 when something was missing, else 0.
pub fn exit_code(outcomes: &[Outcome]) -> u8 {
    let codes: Vec<u8> = outcomes.iter().map(Outcome::exit_code).collect();
    [130, 1, 2, 3].into_iter().find(|code| codes.contains(code)).unwrap_or(0)
}

fn crash(panic: &(dyn Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    Error::internal(format!("crashed: {text}"))
        .help("this is a fault of the toolkit; please report it with the command that shows it")
}
