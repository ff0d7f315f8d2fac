//! One model, trained over again by every optimizer at every learning rate and seed.

use super::grouped::{Grouped, OptimKind};
use super::profile::{mean_of, profile_matrices, relative_flatness};
use metier_core::error::Kind;
use metier_core::{Error, Progress, Result};
use metier_nn::LanguageModel;
use metier_nn::corpus::{Corpus, LoaderConfig, TokenBatches};
use metier_nn::device;
use metier_nn::model::{Decoder, DecoderConfig};
use metier_nn::optim::{GroupPolicy, check_learning_rate};
use metier_nn::tokenizer::Tokenizer;
use metier_nn::train::{Batches, Schedule, TrainConfig, Trainable, Trainer};
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What all runs of a comparison share.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The model, trained from scratch unless a run starts from one.
    pub model: DecoderConfig,
    /// How text becomes tokens.
    pub tokenizer: Tokenizer,
    /// Sequences per step; each is as long as the model's context.
    pub batch: usize,
    /// Steps of every run, a tenth of which warm up. The learning rate then falls along a cosine to
    /// a tenth.
    pub steps: u64,
    /// Batches of held-out text that a loss is measured on.
    pub eval_batches: u64,
    /// How many times the held-out loss is measured along a run.
    pub eval_points: u64,
}

impl Trial {
    /// Checks the counts and the model.
    ///
    /// # Errors
    /// The first that is wrong.
    pub fn validate(&self) -> Result<()> {
        self.model.validate()?;
        for (field, value) in [
            ("batch", self.batch as u64),
            ("steps", self.steps),
            ("eval_batches", self.eval_batches),
            ("eval_points", self.eval_points),
        ] {
            if value == 0 {
                return Err(Error::usage(format!("{field} = 0 is below 1")).in_field(field));
            }
        }
        Ok(())
    }
}

/// One run of a comparison: matrices stepped by an optimizer, the rest by AdamW, both at `lr`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arm {
    /// The optimizer of matrices.
    pub optimizer: OptimKind,
    /// The peak of the learning rate.
    pub lr: f32,
    /// Decides the weights at the start and the order of the text.
    pub seed: u64,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    /// The optimizer's name.
    pub optimizer: String,
    /// The peak of the learning rate.
    pub lr: f32,
    /// The seed.
    pub seed: u64,
    /// Tokens seen at each measurement.
    pub tokens: Vec<u64>,
    /// Held-out loss at each measurement, in nats per token; empty where the run diverged.
    pub held_out: Vec<f64>,
    /// The largest absolute value, mean over hidden matrices, at the end; this and the next two are
    /// NaN where the run diverged.
    pub largest: f64,
    /// The largest singular value, mean over hidden matrices, at the end.
    pub spectral: f64,
    /// How flat the spectra are beside random ones, mean over hidden matrices, at the end.
    pub flatness: f64,
    /// Why the run ended early, if it did.
    pub diverged: Option<String>,
    /// The parameters at the end.
    #[serde(skip)]
    pub values: Vec<Vec<f32>>,
}

impl RunResult {
    /// The held-out loss at the end; infinite where the run diverged.
    pub fn loss(&self) -> f64 {
        match (&self.diverged, self.held_out.last()) {
            (None, Some(loss)) if loss.is_finite() => *loss,
            _ => f64::INFINITY,
        }
    }
}

/// Trains every arm on `corpus`, each on one thread, as many at a time as there are threads. The
/// results come in the order of the arms and do not depend on the number of threads. `start` holds
/// parameters to go on from.
///
/// # Errors
/// Settings that do not fit; text too short; a request to stop. A run that diverges is a result.
pub fn compare(
    trial: &Trial,
    arms: &[Arm],
    corpus: &Corpus,
    start: Option<&[Vec<f32>]>,
    progress: &dyn Progress,
) -> Result<Vec<RunResult>> {
    trial.validate()?;
    for arm in arms {
        check_learning_rate(arm.lr)?;
        arm.optimizer.build()?;
    }
    progress.begin("training", (arms.len() as u64).checked_mul(trial.steps));
    let results = in_parallel(arms, |arm| run(trial, arm, corpus, start, progress));
    progress.finish();
    results
}

/// Maps every item on one thread of its own, several at a time; the first error ends the rest.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<R>>>> = Mutex::new(items.iter().map(|_| None).collect());
    let worker = || {
        // A pool of one thread keeps the engine inside a run from spreading over the others' cores.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        while let Some(item) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).map(|item| (at, item))
        } {
            let (at, item) = item;
            let result = match &pool {
                Ok(pool) => pool.install(|| work(item)),
                Err(error) => Err(Error::internal(error.to_string())),
            };
            if result.is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(items.len()) {
            scope.spawn(worker);
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    // An error comes before the items that it kept from being started.
    let (mut results, mut stopped) = (Vec::with_capacity(items.len()), false);
    for result in done {
        match result {
            Some(result) => results.push(result?),
            None => stopped = true,
        }
    }
    if stopped { Err(Error::interrupted()) } else { Ok(results) }
}

fn run(
    trial: &Trial,
    arm: &Arm,
    corpus: &Corpus,
    start: Option<&[Vec<f32>]>,
    progress: &dyn Progress,
) -> Result<RunResult> {
    let device = device::cpu();
    let decoder = match start {
        Some(values) => Decoder::from_values(&trial.model, values.to_vec(), &device)?,
        None => Decoder::random(&trial.model, arm.seed, &device)?,
    };
    let mut model = LanguageModel::of(decoder, trial.tokenizer.clone())?;
    let aux = OptimKind::named("adamw")?;
    let policy = GroupPolicy::default();
    let mut optimizer = Grouped::by_role(&model.parameters(), &policy, &arm.optimizer, &aux)?;
    let mut training = batches(trial, corpus.train.clone(), arm.seed)?;
    // Every run is judged by the same text.
    let mut held_out = batches(trial, corpus.held_out.clone(), 0)?;
    let config = TrainConfig {
        steps: trial.steps,
        schedule: Schedule { peak: arm.lr, warmup: trial.steps / 10, ..Schedule::default() },
        eval_every: (trial.steps / trial.eval_points).max(1),
        eval_batches: trial.eval_batches,
        seed: arm.seed,
        ..TrainConfig::default()
    };
    let steps = Steps(progress);
    let report =
        Trainer::new(&mut model, &mut optimizer, &mut training, Some(&mut held_out), config)?
            .run(None, &steps);
    let (records, diverged) = match report {
        Ok(report) => (report.records, None),
        Err(error) if error.kind() == Kind::Numeric => (Vec::new(), Some(error.to_string())),
        Err(error) => return Err(error),
    };
    let measured = || records.iter().filter_map(|r| r.held_out_loss.map(|loss| (r.tokens, loss)));
    let mut values = Vec::new();
    model.with_parameters(&mut |params| {
        values = params.iter().map(|param| param.data.to_vec()).collect();
        Ok(())
    })?;
    let names = model.parameters();
    let tensors: Vec<(&str, &[usize], &[f32])> = names
        .iter()
        .zip(&values)
        .map(|((name, shape), data)| (name.as_str(), shape.as_slice(), data.as_slice()))
        .collect();
    let diverged = diverged.or_else(|| not_finite(&tensors));
    let profiles = if diverged.is_none() { profile_matrices(&tensors)? } else { Vec::new() };
    let of_the_end = |property: f64| if diverged.is_none() { property } else { f64::NAN };
    Ok(RunResult {
        optimizer: arm.optimizer.name().to_owned(),
        lr: arm.lr,
        seed: arm.seed,
        tokens: measured().map(|(tokens, _)| tokens).collect(),
        held_out: measured().map(|(_, loss)| loss).collect(),
        largest: of_the_end(mean_of(&profiles, |profile| profile.largest)),
        spectral: of_the_end(mean_of(&profiles, |profile| profile.spectral)),
        flatness: of_the_end(relative_flatness(&profiles)),
        diverged,
        values,
    })
}

/// Why weights that have left the finite numbers are no result.
fn not_finite(tensors: &[(&str, &[usize], &[f32])]) -> Option<String> {
    let (name, ..) = tensors.iter().find(|(_, _, data)| data.iter().any(|v| !v.is_finite()))?;
    Some(format!("{name} is not finite at the end"))
}

/// The loss of a model with these parameters on the held-out part of another corpus.
pub(super) fn held_out_loss(trial: &Trial, values: &[Vec<f32>], corpus: &Corpus) -> Result<f64> {
    let decoder = Decoder::from_values(&trial.model, values.to_vec(), &device::cpu())?;
    let mut model = LanguageModel::of(decoder, trial.tokenizer.clone())?;
    let mut held_out = batches(trial, corpus.held_out.clone(), 0)?;
    let mut total = 0.0;
    for number in 0..trial.eval_batches {
        total += model.loss(&held_out.batch(number)?)?;
    }
    Ok(total / trial.eval_batches as f64)
}

fn batches(trial: &Trial, tokens: metier_nn::corpus::Tokens, seed: u64) -> Result<TokenBatches> {
    let (batch, context) = (trial.batch, trial.model.context);
    TokenBatches::new(tokens, LoaderConfig { batch, context, seed, shuffle: true })
}

/// Counts the steps of many runs in one bar.
struct Steps<'a>(&'a dyn Progress);

impl Progress for Steps<'_> {
    fn begin(&self, _task: &str, _total: Option<u64>) {}
    fn advance(&self, steps: u64) {
        self.0.advance(steps);
    }
    fn message(&self, _text: &str) {}
    fn finish(&self) {}
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}
