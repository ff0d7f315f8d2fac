//! The loop.

use super::clip::scale;
use super::{
    Batches, Checkpoint, CheckpointStore, Metrics, Record, Schedule, Trainable, accumulate,
    clip_gradients, loss_curves,
};
use crate::optim::{GradRef, Optimizer, StepStats, check_gradients};
use metier_core::{Error, Progress, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrainConfig {
    /// The number of steps.
    pub steps: u64,
    /// The learning rate over the steps.
    pub schedule: Schedule,
    /// The norm that all gradients together are scaled down to; `None` leaves them.
    pub clip: Option<f32>,
    /// The number of batches whose mean gradient makes one step.
    pub accumulate: u64,
    /// Measure the held-out loss after every so many steps and after the last; 0 never does.
    pub eval_every: u64,
    /// The number of held-out batches to measure it on.
    pub eval_batches: u64,
    /// Have the model write a sample after every so many steps; 0 never does.
    pub sample_every: u64,
    /// Save a checkpoint after every so many steps and after the last; 0 saves the last only.
    pub save_every: u64,
    /// How many checkpoints to keep.
    pub keep: usize,
    /// The seed of the run.
    pub seed: u64,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            steps: 1000,
            schedule: Schedule::default(),
            clip: Some(1.0),
            accumulate: 1,
            eval_every: 100,
            eval_batches: 16,
            sample_every: 0,
            save_every: 500,
            keep: 2,
            seed: 0,
        }
    }
}

impl TrainConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first out of range, with its value.
    pub fn validate(&self) -> Result<()> {
        let at_least_one = |field: &str, value: u64| match value {
            0 => Err(Error::usage(format!("{field} = 0 is not above zero")).in_field(field)),
            _ => Ok(()),
        };
        at_least_one("steps", self.steps)?;
        at_least_one("accumulate", self.accumulate)?;
        at_least_one("keep", self.keep as u64)?;
        if self.eval_every > 0 {
            at_least_one("eval_batches", self.eval_batches)?;
        }
        if let Some(clip) = self.clip
            && !(clip.is_finite() && clip > 0.0)
        {
            return Err(Error::usage(format!("clip = {clip} is not above zero")).in_field("clip"));
        }
        self.schedule.validate(self.steps)
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainReport {
    /// The number of steps taken in all.
    pub steps: u64,
    /// The training loss of the last step, if any step was taken.
    pub loss: Option<f64>,
    /// The last measured held-out loss.
    pub held_out_loss: Option<f64>,
    /// The records of this run's own steps.
    pub records: Vec<Record>,
    /// The newest checkpoint, where checkpoints were wanted.
    pub checkpoint: Option<PathBuf>,
}

/// A model with its optimizer and its data, at some step of a run.
///
/// ```no_run
/// # use metier_nn::{optim::*, train::*};
/// # fn f<M: Trainable>(model: &mut M, optimizer: &mut dyn Optimizer,
/// #     text: &mut dyn Batches<Batch = M::Batch>) -> metier_core::Result<()> {
/// let config = TrainConfig { steps: 200, eval_every: 0, ..TrainConfig::default() };
/// let mut trainer = Trainer::new(model, optimizer, text, None, config)?;
/// let report = trainer.run(None, &metier_core::Silent)?;
/// # Ok(()) }
/// ```
pub struct Trainer<'a, M: Trainable> {
    model: &'a mut M,
    optimizer: &'a mut dyn Optimizer,
    training: &'a mut dyn Batches<Batch = M::Batch>,
    held_out: Option<&'a mut dyn Batches<Batch = M::Batch>>,
    config: TrainConfig,
    names: Vec<String>,
    step: u64,
    next_batch: u64,
    tokens: u64,
}

impl<'a, M: Trainable> Trainer<'a, M> {
    /// A run at its beginning.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(
        model: &'a mut M,
        optimizer: &'a mut dyn Optimizer,
        training: &'a mut dyn Batches<Batch = M::Batch>,
        held_out: Option<&'a mut dyn Batches<Batch = M::Batch>>,
        config: TrainConfig,
    ) -> Result<Self> {
        config.validate()?;
        let names = model.parameters().into_iter().map(|(name, _)| name).collect();
        Ok(Self {
            model,
            optimizer,
            training,
            held_out,
            config,
            names,
            step: 0,
            next_batch: 0,
            tokens: 0,
        })
    }

    /// The number of steps taken.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Takes up the run in the folder `run` at its latest checkpoint. With `reset_optimizer` only
    /// the model is taken from there, and the optimizer starts afresh.
    ///
    /// # Errors
    /// No checkpoint; one of another model, seed or number of accumulated batches; the state of
    /// another optimizer.
    pub fn resume(&mut self, run: &Path, reset_optimizer: bool) -> Result<()> {
        let folder = CheckpointStore::new(run).latest()?.ok_or_else(|| {
            Error::missing("there is no checkpoint to go on from")
                .in_file(run)
                .help("leave out `--resume` to start a run in this folder")
        })?;
        let (place, state) = CheckpointStore::read(&folder)?;
        for (field, saved, asked) in [
            ("seed", place.seed, self.config.seed),
            ("accumulate", place.accumulate, self.config.accumulate),
        ] {
            if saved != asked {
                return Err(Error::usage(format!(
                    "the run was started with {field} = {saved} and cannot go on with {asked}"
                ))
                .in_field(field));
            }
        }
        if !reset_optimizer {
            let in_file = |error: Error| error.in_file(folder.join("optimizer.safetensors"));
            state.expect_optimizer(self.optimizer.name()).map_err(in_file)?;
            state.expect_shapes(&self.model.parameters()).map_err(in_file)?;
            self.optimizer.load_state(&state).map_err(in_file)?;
        }
        self.model.load(&folder)?;
        (self.step, self.next_batch, self.tokens) = (place.step, place.next_batch, place.tokens);
        Ok(())
    }

    /// Takes the steps that are left. With a folder, metrics, curves and checkpoints are written
    /// there; a request to stop then saves a checkpoint first.
    ///
    /// # Errors
    /// What the model, the data or the optimizer report, with the last checkpoint kept; a request to
    /// stop; an I/O error.
    pub fn run(&mut self, run: Option<&Path>, progress: &dyn Progress) -> Result<TrainReport> {
        let metrics = run.map(|run| Metrics::resume(&run.join("metrics.jsonl"), self.step));
        let mut metrics = metrics.transpose()?;
        let mut report = TrainReport {
            steps: self.step,
            loss: None,
            held_out_loss: None,
            records: Vec::new(),
            checkpoint: None,
        };
        let mut saved = self.step;
        progress.begin("train", Some(self.config.steps));
        progress.advance(self.step);
        while self.step < self.config.steps {
            if progress.interrupted() {
                if let Some(run) = run
                    && self.step > saved
                {
                    self.save(run, metrics.as_ref())?;
                }
                progress.finish();
                return Err(self.stopped(run));
            }
            let record = self.train_step()?;
            let last = self.step == self.config.steps;
            progress.advance(1);
            progress.message(&describe(&record));
            if let Some(metrics) = &mut metrics {
                metrics.append(&record)?;
            }
            if record.held_out_loss.is_some() {
                report.held_out_loss = record.held_out_loss;
            }
            report.loss = Some(record.loss);
            report.records.push(record);
            if let Some(run) = run
                && (last || due(self.config.save_every, self.step))
            {
                report.checkpoint = Some(self.save(run, metrics.as_ref())?);
                saved = self.step;
            }
        }
        progress.finish();
        report.steps = self.step;
        if let (Some(run), None) = (run, &report.checkpoint) {
            report.checkpoint = CheckpointStore::new(run).latest()?;
        }
        Ok(report)
    }

    /// One step with all that is due after it.
    fn train_step(&mut self) -> Result<Record> {
        let start = Instant::now();
        let (loss, mut gradients) = self.mean_gradients()?;
        let lr = self.config.schedule.rate(self.step, self.config.steps);
        let (norm, stats) = self.update(&mut gradients, lr)?;
        let tokens = self.config.accumulate * self.training.tokens_per_batch();
        self.step += 1;
        self.next_batch += self.config.accumulate;
        self.tokens += tokens;
        let seconds = start.elapsed().max(Duration::from_nanos(1)).as_secs_f64();

        let last = self.step == self.config.steps;
        let measure =
            self.config.eval_every > 0 && (last || due(self.config.eval_every, self.step));
        let held_out_loss = if measure { self.held_out_loss()? } else { None };
        let sample = if due(self.config.sample_every, self.step) {
            self.model.sample(self.config.seed.wrapping_add(self.step))?
        } else {
            None
        };
        Ok(Record {
            step: self.step,
            tokens: self.tokens,
            loss,
            lr,
            gradient_norm: norm,
            zero_gradients: stats.zero_gradients,
            tokens_per_second: tokens as f64 / seconds,
            held_out_loss,
            sample,
        })
    }

    /// The mean loss and gradients over the batches of one step.
    fn mean_gradients(&mut self) -> Result<(f64, Vec<Vec<f32>>)> {
        let batch = self.training.batch(self.next_batch)?;
        let (mut loss, mut gradients) = self.model.loss_and_gradients(&batch)?;
        for extra in 1..self.config.accumulate {
            let batch = self.training.batch(self.next_batch + extra)?;
            let (more_loss, more) = self.model.loss_and_gradients(&batch)?;
            loss += more_loss;
            accumulate(&mut gradients, &more);
        }
        if self.config.accumulate > 1 {
            scale(&mut gradients, 1.0 / self.config.accumulate as f32);
        }
        Ok((loss / self.config.accumulate as f64, gradients))
    }

    /// Clips the gradients and has the optimizer step. Returns the norm before clipping.
    fn update(&mut self, gradients: &mut [Vec<f32>], lr: f32) -> Result<(f64, StepStats)> {
        let Self { model, optimizer, names, config, step, .. } = self;
        let mut norm = 0.0;
        let mut stats = StepStats::default();
        model.with_parameters(&mut |params| {
            norm = check_gradients(params, &refer(names, gradients), *step + 1)?.norm;
            if let Some(limit) = config.clip {
                clip_gradients(gradients, norm, limit);
            }
            stats = optimizer.step(params, &refer(names, gradients), lr)?;
            Ok(())
        })?;
        Ok((norm, stats))
    }

    /// The mean loss over the first held-out batches, always the same ones.
    fn held_out_loss(&mut self) -> Result<Option<f64>> {
        let Some(held_out) = &mut self.held_out else { return Ok(None) };
        let mut total = 0.0;
        for number in 0..self.config.eval_batches {
            let batch = held_out.batch(number)?;
            total += self.model.loss(&batch)?;
        }
        Ok(Some(total / self.config.eval_batches as f64))
    }

    fn save(&self, run: &Path, metrics: Option<&Metrics>) -> Result<PathBuf> {
        // The checkpoint must not outlive the lines that lead up to it.
        if let Some(metrics) = metrics {
            metrics.sync()?;
        }
        let place = Checkpoint {
            step: self.step,
            next_batch: self.next_batch,
            tokens: self.tokens,
            seed: self.config.seed,
            accumulate: self.config.accumulate,
        };
        let state = self.optimizer.state();
        let folder =
            CheckpointStore::new(run)
                .save(&place, &state, self.config.keep, |folder| self.model.save(folder))?;
        loss_curves(&Metrics::read(&run.join("metrics.jsonl"))?, &run.join("loss.svg"))?;
        Ok(folder)
    }

    fn stopped(&self, run: Option<&Path>) -> Error {
        let error = Error::new(
            metier_core::error::Kind::Interrupted,
            format!("stopped on request after step {} of {}", self.step, self.config.steps),
        );
        match run {
            Some(run) => {
                error.help(format!("`metier train --resume --out {}` goes on", run.display()))
            }
            None => error,
        }
    }
}

fn due(every: u64, step: u64) -> bool {
    every > 0 && step.is_multiple_of(every)
}

fn refer<'a>(names: &'a [String], gradients: &'a [Vec<f32>]) -> Vec<GradRef<'a>> {
    let pairs = names.iter().zip(gradients);
    pairs.map(|(name, data)| GradRef { name, data }).collect()
}

fn describe(record: &Record) -> String {
    let held_out =
        record.held_out_loss.map_or(String::new(), |loss| format!(", held-out {loss:.4}"));
    format!("loss {:.4}{held_out}, {:.0} tokens/s", record.loss, record.tokens_per_second)
}
