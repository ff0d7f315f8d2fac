use super::toy::{Examples, Toy};
use super::*;
use crate::optim::{
    AdamW, AdamWConfig, GradRef, Lion, LionConfig, Optimizer, StateDict, StepStats,
};
use metier_core::error::Kind;
use metier_core::{Progress, Silent};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

fn adamw() -> AdamW {
    AdamW::new(AdamWConfig::default()).unwrap()
}

fn config(steps: u64) -> TrainConfig {
    TrainConfig {
        steps,
        schedule: Schedule { peak: 0.02, warmup: 3, ..Schedule::default() },
        eval_every: 4,
        eval_batches: 2,
        sample_every: 5,
        save_every: 3,
        seed: 7,
        ..TrainConfig::default()
    }
}

/// Trains a fresh toy as far as it goes.
fn run(
    config: &TrainConfig,
    optimizer: &mut dyn Optimizer,
    folder: Option<&Path>,
    resume: Option<bool>,
    progress: &dyn Progress,
) -> (Toy, Result<TrainReport>) {
    let mut model = Toy::new(1);
    let report = run_model(&mut model, config, optimizer, folder, resume, progress);
    (model, report)
}

fn run_model(
    model: &mut Toy,
    config: &TrainConfig,
    optimizer: &mut dyn Optimizer,
    folder: Option<&Path>,
    resume: Option<bool>,
    progress: &dyn Progress,
) -> Result<TrainReport> {
    let (mut train, mut held_out) = (Examples { size: 8, seed: 2 }, Examples { size: 16, seed: 3 });
    let mut trainer =
        Trainer::new(model, optimizer, &mut train, Some(&mut held_out), config.clone())?;
    if let (Some(folder), Some(reset)) = (folder, resume) {
        trainer.resume(folder, reset)?;
    }
    trainer.run(folder, progress)
}

/// A user who asks to stop after some steps.
struct StopAfter(AtomicU64);

impl StopAfter {
    fn steps(steps: u64) -> Self {
        Self(AtomicU64::new(steps))
    }
}

impl Progress for StopAfter {
    fn begin(&self, _task: &str, _total: Option<u64>) {}
    fn advance(&self, steps: u64) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some(left.saturating_sub(steps))
        });
    }
    fn message(&self, _text: &str) {}
    fn finish(&self) {}
    fn interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// All files below a folder, by name, with the times in the metrics set to zero.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, all: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, all);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                all.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(folder, folder, &mut all);
    let mut records = Metrics::read(&folder.join("metrics.jsonl")).unwrap();
    records.iter_mut().for_each(|record| record.tokens_per_second = 0.0);
    all.insert("metrics.jsonl".into(), format!("{records:?}").into_bytes());
    all
}

#[test]
fn schedules_have_the_right_values() {
    let schedule = |decay| Schedule { peak: 0.1, warmup: 4, decay, floor: 0.1 };
    let rates = |decay: Decay, at: [u64; 7]| at.map(|step| schedule(decay).rate(step, 12));
    let at = [0, 1, 3, 4, 8, 10, 12];
    for (decay, expected) in [
        (Decay::Constant, [0.025, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1]),
        (Decay::Linear, [0.025, 0.05, 0.1, 0.1, 0.055, 0.0325, 0.01]),
        // At three quarters of the way half a cosine wave stands at (1 - √½)/2.
        (Decay::Cosine, [0.025, 0.05, 0.1, 0.1, 0.055, 0.023_180_195, 0.01]),
    ] {
        for (rate, expected) in rates(decay, at).into_iter().zip(expected) {
            assert!((rate - expected).abs() < 1e-8, "{decay}: {rate} is not {expected}");
        }
    }
    let cold = Schedule { warmup: 0, ..schedule(Decay::Cosine) };
    assert_eq!(cold.rate(0, 1), 0.1);
}

proptest! {
    #[test]
    fn a_schedule_rises_to_its_peak_and_never_rises_again(
        warmup in 0u64..30, rest in 1u64..50, floor in 0f32..1.0,
        decay in prop::sample::select(vec![Decay::Constant, Decay::Linear, Decay::Cosine]),
    ) {
        let schedule = Schedule { peak: 1.0, warmup, decay, floor };
        let steps = warmup + rest;
        let rates: Vec<f32> = (0..steps).map(|step| schedule.rate(step, steps)).collect();
        let (rise, fall) = rates.split_at(warmup as usize);
        prop_assert!(rise.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(fall.windows(2).all(|pair| pair[0] >= pair[1]));
        prop_assert!(fall[0] == 1.0 && rates.iter().all(|rate| *rate > 0.0 && *rate <= 1.0));
        prop_assert!(fall.iter().all(|rate| *rate >= floor - 1e-6));
    }

    #[test]
    fn clipping_keeps_the_direction_and_bounds_the_norm(
        values in prop::collection::vec(-100f32..100.0, 2..40), limit in 0.1f32..50.0,
    ) {
        let norm = |gradients: &[Vec<f32>]| {
            gradients.iter().flatten().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt()
        };
        let (left, right) = values.split_at(values.len() / 2);
        let before = vec![left.to_vec(), right.to_vec()];
        let mut after = before.clone();
        let length = norm(&before);
        clip_gradients(&mut after, length, limit);
        if length <= f64::from(limit) {
            prop_assert_eq!(after, before);
        } else {
            prop_assert!((norm(&after) / f64::from(limit) - 1.0).abs() < 1e-5);
            let factor = f64::from(limit) / length;
            for (a, b) in after.iter().flatten().zip(before.iter().flatten()) {
                prop_assert!((f64::from(*a) - factor * f64::from(*b)).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let base = config(10);
    let schedule = base.schedule;
    for (config, message) in [
        (TrainConfig { steps: 0, ..base.clone() }, "steps: steps = 0 is not above zero"),
        (
            TrainConfig { accumulate: 0, ..base.clone() },
            "accumulate: accumulate = 0 is not above zero",
        ),
        (TrainConfig { clip: Some(0.0), ..base.clone() }, "clip: clip = 0 is not above zero"),
        (
            TrainConfig { schedule: Schedule { peak: 0.0, ..schedule }, ..base.clone() },
            "lr: lr = 0 is not above zero",
        ),
        (
            TrainConfig { schedule: Schedule { warmup: 11, ..schedule }, ..base.clone() },
            "warmup: 11 warm-up steps are more than the 10 steps of the run",
        ),
        (
            TrainConfig { schedule: Schedule { floor: 1.5, ..schedule }, ..base.clone() },
            "floor: floor = 1.5 is outside [0, 1]",
        ),
    ] {
        let error = config.validate().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(error.exit_code(), 2);
    }
    let error = "step".parse::<Decay>().unwrap_err();
    assert_eq!(error.help_text(), Some("constant, linear or cosine"));
}

#[test]
fn training_learns_and_records_what_it_did() {
    let config = TrainConfig { steps: 200, accumulate: 2, ..config(200) };
    let (_, report) = run(&config, &mut adamw(), None, None, &Silent);
    let report = report.unwrap();
    assert_eq!((report.steps, report.records.len()), (200, 200));
    assert_eq!(report.checkpoint, None);
    let first = &report.records[0];
    assert_eq!((first.step, first.tokens), (1, 16));
    assert_eq!(first.lr, 0.02 / 3.0);
    assert!(first.gradient_norm > 0.0 && first.held_out_loss.is_none());
    assert!(report.records[3].held_out_loss.is_some());
    assert_eq!(report.records[4].sample.as_deref(), Some("sample 12"));
    assert!(report.held_out_loss.unwrap() < 0.01 * first.loss, "{report:?}");
}

/// Keeps the gradients that it is handed and leaves the parameters alone.
#[derive(Default)]
struct Recorder(Vec<Vec<f32>>);

impl Optimizer for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }
    fn step(
        &mut self,
        _params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        _lr: f32,
    ) -> Result<StepStats> {
        self.0 = grads.iter().map(|grad| grad.data.to_vec()).collect();
        Ok(StepStats::default())
    }
    fn state(&self) -> StateDict {
        StateDict::default()
    }
    fn load_state(&mut self, _state: &StateDict) -> Result<()> {
        Ok(())
    }
}

#[test]
fn accumulated_batches_are_one_large_batch() {
    let gradients = |size, accumulate| {
        let mut recorder = Recorder::default();
        let mut model = Toy::new(1);
        let mut examples = Examples { size, seed: 2 };
        let config = TrainConfig { accumulate, clip: None, eval_every: 0, ..config(3) };
        let mut trainer =
            Trainer::new(&mut model, &mut recorder, &mut examples, None, config).unwrap();
        let report = trainer.run(None, &Silent).unwrap();
        (recorder.0, report.loss.unwrap(), report.records[2].tokens)
    };
    let (large, large_loss, large_tokens) = gradients(32, 1);
    let (small, small_loss, small_tokens) = gradients(8, 4);
    assert_eq!(large_tokens, small_tokens);
    assert!((large_loss - small_loss).abs() < 1e-6);
    for (a, b) in large.iter().flatten().zip(small.iter().flatten()) {
        assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    }
    assert!(large.iter().flatten().any(|value| value.abs() > 1e-3));
}

#[test]
fn a_stopped_run_resumes_to_the_same_bits() {
    for stop in [1, 3, 8, 13] {
        let (straight, stopped) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        // A stop adds a checkpoint of its own; with one kept, both runs end with the last.
        let config = TrainConfig { keep: 1, ..config(14) };
        let (model, report) = run(&config, &mut adamw(), Some(straight.path()), None, &Silent);
        report.unwrap();

        let stop = StopAfter::steps(stop);
        let (_, report) = run(&config, &mut adamw(), Some(stopped.path()), None, &stop);
        let error = report.unwrap_err();
        assert_eq!(error.kind(), Kind::Interrupted);
        assert!(error.help_text().unwrap().contains("--resume"), "{error:?}");
        let (resumed, report) =
            run(&config, &mut adamw(), Some(stopped.path()), Some(false), &Silent);
        assert_eq!(report.unwrap().steps, 14);

        assert_eq!(model.weight, resumed.weight);
        let (a, b) = (content(straight.path()), content(stopped.path()));
        assert!(a.keys().eq(b.keys()), "{:?} is not {:?}", a.keys(), b.keys());
        for (name, bytes) in &a {
            assert!(bytes == &b[name], "{name} differs");
        }
    }
}

#[test]
fn a_run_resumes_after_lines_and_files_that_a_kill_left_behind() {
    let (straight, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let config = config(9);
    run(&config, &mut adamw(), Some(straight.path()), None, &Silent).1.unwrap();
    let stop = StopAfter::steps(3);
    run(&config, &mut adamw(), Some(killed.path()), None, &stop).1.unwrap_err();
    // As if the run had gone two steps past its checkpoint and died while it wrote the next.
    let metrics = killed.path().join("metrics.jsonl");
    let straight_lines = fs::read_to_string(straight.path().join("metrics.jsonl")).unwrap();
    let lines: String = straight_lines.split_inclusive('\n').take(5).collect();
    fs::write(&metrics, lines + "{\"step\":6,\"tok").unwrap();
    let half = killed.path().join("checkpoints/.partial-step-00000006");
    fs::create_dir_all(&half).unwrap();
    fs::write(half.join("toy.bin"), b"half").unwrap();
    let unnamed = killed.path().join("checkpoints/step-00000006");
    fs::create_dir_all(&unnamed).unwrap();
    fs::write(unnamed.join("toy.bin"), b"complete, but not yet the latest").unwrap();

    run(&config, &mut adamw(), Some(killed.path()), Some(false), &Silent).1.unwrap();
    assert_eq!(content(straight.path()), content(killed.path()));
    let steps: Vec<u64> = Metrics::read(&metrics).unwrap().iter().map(|r| r.step).collect();
    assert_eq!(steps, (1..=9).collect::<Vec<_>>());
}

#[test]
fn only_the_newest_checkpoints_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let config = TrainConfig { keep: 2, ..config(10) };
    let (_, report) = run(&config, &mut adamw(), Some(folder.path()), None, &Silent);
    let mut names: Vec<_> = fs::read_dir(folder.path().join("checkpoints"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["step-00000009", "step-00000010"]);
    let latest = CheckpointStore::new(folder.path()).latest().unwrap();
    assert_eq!(latest, report.unwrap().checkpoint);
    assert!(latest.unwrap().ends_with("step-00000010"));
}

#[test]
fn a_gradient_that_is_not_finite_stops_the_run_and_keeps_the_last_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Toy { broken_from_call: Some(8), ..Toy::new(1) };
    let mut optimizer = adamw();
    let report =
        run_model(&mut model, &config(20), &mut optimizer, Some(folder.path()), None, &Silent);
    let error = report.unwrap_err();
    assert_eq!(error.to_string(), "gradient of layers.0.weight has 1 non-finite value at step 8");
    assert!(model.weight.iter().chain(&model.gain).all(|value| value.is_finite()));
    assert_eq!(optimizer.state().step, 7);
    let latest = CheckpointStore::new(folder.path()).latest().unwrap().unwrap();
    assert!(latest.ends_with("step-00000006"));
    assert_eq!(Metrics::read(&folder.path().join("metrics.jsonl")).unwrap().len(), 7);
}

#[test]
fn resuming_with_another_optimizer_names_both_and_can_be_forced() {
    let folder = tempfile::tempdir().unwrap();
    run(&config(6), &mut adamw(), Some(folder.path()), None, &Silent).1.unwrap();
    let mut lion = Lion::new(LionConfig::default()).unwrap();
    let longer = config(8);
    let (_, report) = run(&longer, &mut lion, Some(folder.path()), Some(false), &Silent);
    let error = report.unwrap_err();
    assert_eq!(error.message(), "this is the state of adamw, and the optimizer is lion");
    assert!(error.help_text().unwrap().contains("--reset-optimizer"));
    assert!(error.location().file.as_ref().unwrap().ends_with("optimizer.safetensors"));

    let (_, report) = run(&longer, &mut lion, Some(folder.path()), Some(true), &Silent);
    assert_eq!(report.unwrap().steps, 8);
    assert_eq!(lion.state().step, 2);
}

#[test]
fn a_run_cannot_go_on_with_what_would_change_its_course() {
    let folder = tempfile::tempdir().unwrap();
    let again = |config: TrainConfig| {
        let (_, report) = run(&config, &mut adamw(), Some(folder.path()), Some(false), &Silent);
        report.map(|report| report.steps)
    };
    let error = again(config(6)).unwrap_err();
    assert!(error.to_string().ends_with("there is no checkpoint to go on from"));
    assert_eq!(error.exit_code(), 3);
    run(&config(6), &mut adamw(), Some(folder.path()), None, &Silent).1.unwrap();

    let error = again(TrainConfig { seed: 8, ..config(6) }).unwrap_err();
    let message = "seed: the run was started with seed = 7 and cannot go on with 8";
    assert_eq!(error.to_string(), message);
    let error = again(TrainConfig { accumulate: 2, ..config(6) }).unwrap_err();
    assert!(error.to_string().starts_with("accumulate: the run was started with accumulate = 1"));
    assert_eq!(again(config(6)).unwrap(), 6);
    assert_eq!(again(config(9)).unwrap(), 9);

    fs::write(folder.path().join("latest"), "../../elsewhere\n").unwrap();
    let error = again(config(9)).unwrap_err();
    assert!(error.to_string().contains("`../../elsewhere` is no checkpoint's name"), "{error}");
}

#[test]
fn a_broken_metrics_line_is_found_by_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.jsonl");
    fs::write(&path, "{\"step\": 1}\nnot a record\n").unwrap();
    let error = Metrics::read(&path).unwrap_err();
    assert_eq!(error.location().row, Some(1));
    assert_eq!(Metrics::read(&folder.path().join("none.jsonl")).unwrap(), []);
}

#[test]
fn presets_are_models_that_fit_together() {
    for layout in ["gpt2", "llama"] {
        for size in ["nano", "micro", "mini", "small", "medium", "large"] {
            let config = preset(&format!("{layout}-{size}"), 256, 64).unwrap();
            config.validate().unwrap();
            assert_eq!((config.vocabulary, config.context), (256, 64));
        }
    }
    let llama = preset("llama-nano", 256, 64).unwrap();
    assert_eq!((llama.layout, llama.intermediate), (crate::model::Layout::Llama, 192));
    for wrong in ["gpt2", "gpt2-tiny", "bert-small"] {
        let error = preset(wrong, 256, 64).unwrap_err();
        assert_eq!(error.to_string(), format!("model: there is no model `{wrong}`"));
        assert!(error.help_text().unwrap().contains("gpt2-SIZE or llama-SIZE"));
    }
}
