//! `metier train` as a user runs it.

use assert_cmd::Command;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A folder with a text in it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let words = ["sea", "ship", "whale", "captain", "storm", "harbour", "night"];
        let text: String = (0..3000usize)
            .map(|i| {
                let word = words[(i * i + 3 * i) % 7];
                if i % 9 == 8 { format!("{word}.\n") } else { format!("the {word} ") }
            })
            .collect();
        fs::write(folder.path().join("text.txt"), text).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `metier train` with small settings and the given flags beside.
    fn small(&self, out: &str, flags: &[&str]) -> Vec<String> {
        let mut all: Vec<String> = [
            "train",
            "--threads",
            "1",
            "--model",
            "gpt2-nano",
            "--context",
            "16",
            "--batch",
            "4",
            "--steps",
            "12",
            "--lr",
            "3e-3",
            "--eval-every",
            "5",
            "--eval-batches",
            "2",
            "--save-every",
            "4",
            "--seed",
            "3",
        ]
        .map(String::from)
        .to_vec();
        let text = self.path("text.txt").display().to_string();
        all.extend(["--data".into(), text, "--out".into(), self.path(out).display().to_string()]);
        // A flag given twice is wrong usage: the later one stays.
        let flags = flags.iter().map(|flag| (*flag).to_owned());
        let all: Vec<String> = all.into_iter().chain(flags).collect();
        let pairs: Vec<&[String]> = all[1..].chunks(2).collect();
        let last = |(at, pair): &(usize, &&[String])| {
            !pairs[at + 1..].iter().any(|later| later[0] == pair[0])
        };
        let kept = pairs.iter().enumerate().filter(last).flat_map(|(_, pair)| pair.to_vec());
        std::iter::once(all[0].clone()).chain(kept).collect()
    }

    fn resume(&self, out: &str, flags: &[&str]) -> Vec<String> {
        let mut all = vec!["train".into(), "--resume".into(), "--threads".into(), "1".into()];
        all.extend(["--out".into(), self.path(out).display().to_string()]);
        all.extend(flags.iter().map(|flag| (*flag).to_owned()));
        all
    }
}

fn metier(args: &[String]) -> Command {
    let mut command = Command::cargo_bin("metier").unwrap();
    command.args(args);
    command
}

/// Runs to success and returns standard output and standard error.
fn succeed(args: &[String]) -> (String, String) {
    let output = metier(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{args:?}\n{err}");
    (out, err)
}

/// Runs to failure and returns standard error.
fn fail(args: &[String], status: i32) -> String {
    let output = metier(args).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{args:?}\n{err}");
    assert!(output.stdout.is_empty());
    err
}

/// Starts a process of our own that can be killed.
fn start(args: &[String]) -> Child {
    std::process::Command::new(assert_cmd::cargo::cargo_bin("metier"))
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the metrics of a run have at least so many lines. Says whether it was still going.
fn wait_for_lines(run: &Path, lines: usize, child: &mut Child) -> bool {
    loop {
        let ended = child.try_wait().unwrap().is_some();
        let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
        if ended || text.lines().count() >= lines {
            return !ended;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// All files of a run by name; metrics without the speed, which is the machine's.
fn content(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, all);
            } else {
                let name = path.strip_prefix(root).unwrap().to_owned();
                let mut bytes = fs::read(&path).unwrap();
                if name.ends_with("metrics.jsonl") {
                    bytes =
                        metrics(&path).iter().flat_map(|m| m.to_string().into_bytes()).collect();
                }
                all.insert(name, bytes);
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(run, run, &mut all);
    all
}

fn metrics(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        let speed = line.as_object_mut().unwrap().remove("tokens_per_second").unwrap();
        assert!(speed.as_f64().unwrap() > 0.0);
    }
    lines
}

fn assert_same(a: &Path, b: &Path) {
    let (a, b) = (content(a), content(b));
    assert!(a.keys().eq(b.keys()), "{:?}\n{:?}", a.keys(), b.keys());
    for (name, bytes) in &a {
        assert!(bytes == &b[name], "{} differs", name.display());
    }
}

#[test]
fn training_learns_and_leaves_a_model_with_its_curves() {
    let place = Place::new();
    let args = place.small("run", &["--steps", "60", "--sample-every", "30", "--format", "json"]);
    let (out, err) = succeed(&args);
    let summary: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(summary["steps"], 60);
    assert!(summary["held_out_loss"].as_f64().unwrap() < 3.5, "{summary}");
    let folder = PathBuf::from(summary["checkpoint"].as_str().unwrap());
    for name in ["config.json", "model.safetensors", "tokenizer.json", "optimizer.safetensors"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    // The table of groups says who steps what.
    assert!(err.contains("matrix") && err.contains("olion"), "{err}");
    assert!(err.contains("embedding") && err.contains("adamw"), "{err}");

    let lines = metrics(&place.path("run/metrics.jsonl"));
    assert_eq!(lines.len(), 60);
    assert!(lines[59]["loss"].as_f64().unwrap() < 0.8 * lines[0]["loss"].as_f64().unwrap());
    assert_eq!(lines[59]["tokens"], 60 * 4 * 16);
    assert!(lines[29]["sample"].as_str().is_some());
    let svg = fs::read_to_string(place.path("run/loss.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("held out"));
}

#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    let place = Place::new();
    let flags = ["--keep", "1", "--steps", "40", "--save-every", "8"];
    succeed(&place.small("straight", &flags));
    let mut killed = 0;
    // Before the first checkpoint, between checkpoints, and late.
    for (name, lines) in [("early", 1), ("middle", 14), ("late", 30)] {
        let run = place.path(name);
        let mut child = start(&place.small(name, &flags));
        killed += usize::from(wait_for_lines(&run, lines, &mut child));
        child.kill().unwrap();
        child.wait().unwrap();
        succeed(&place.resume(name, &[]));
        assert_same(&place.path("straight"), &run);
    }
    assert!(killed > 0, "every run ended before it could be killed");
}

#[cfg(unix)]
#[test]
fn a_stopped_run_saves_says_how_to_go_on_and_does() {
    let place = Place::new();
    let long = ["--steps", "4000", "--save-every", "0", "--eval-every", "0"];
    let run = place.path("run");
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("metier"))
        .args(place.small("run", &long))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert!(wait_for_lines(&run, 3, &mut child));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("stopped on request after step"), "{err}");
    assert!(err.contains(&format!("metier train --resume --out {}", run.display())), "{err}");

    let done = metrics(&run.join("metrics.jsonl")).len();
    let (out, _) = succeed(&place.resume("run", &["--steps", &(done + 2).to_string()]));
    assert!(out.starts_with(&format!("{} steps", done + 2)), "{out}");
    let steps: Vec<u64> = metrics(&run.join("metrics.jsonl"))
        .iter()
        .map(|line| line["step"].as_u64().unwrap())
        .collect();
    assert_eq!(steps, (1..=done as u64 + 2).collect::<Vec<_>>());
}

#[test]
fn every_optimizer_trains() {
    let place = Place::new();
    for name in ["adamw", "lion", "lion-rms", "muon", "muon-jordan", "adamuon", "signum"] {
        let args = place.small(name, &["--optimizer", name, "--steps", "2"]);
        let (out, _) = succeed(&args);
        assert!(out.starts_with("2 steps, loss"), "{name}: {out}");
    }
}

#[test]
fn a_llama_with_a_learned_tokenizer_trains_and_goes_on_elsewhere() {
    let place = Place::new();
    let llama = ["--model", "llama-nano", "--tokenizer", "bpe:300", "--steps", "2"];
    let args = place.small("llama", &llama);
    succeed(&args);
    let folder = place.path("llama/checkpoints/step-00000002").display().to_string();
    let config = fs::read_to_string(format!("{folder}/config.json")).unwrap();
    let config: serde_json::Value = serde_json::from_str(&config).unwrap();
    assert_eq!(config["model_type"], "llama");
    assert!((257..=300).contains(&config["vocab_size"].as_u64().unwrap()), "{config}");

    let args = place.small("on", &["--model", &folder, "--steps", "2"]);
    succeed(&args);
    let first =
        |run: &str| metrics(&place.path(run).join("metrics.jsonl"))[0]["loss"].as_f64().unwrap();
    assert!(first("on") < first("llama"));
}

#[test]
fn a_token_file_trains_as_its_text_does() {
    let place = Place::new();
    let data = place.path("text.txt").display().to_string();
    let out = place.path("tokens").display().to_string();
    let made = ["tokenize", "--data", &data, "--tokenizer", "bpe:300", "--out", &out];
    let args: Vec<String> = made.iter().map(|arg| arg.to_string()).collect();
    let (said, _) = succeed(&args);
    assert!(said.contains("tokens.bin: ") && said.contains("of a vocabulary of"), "{said}");
    let err = fail(&args, 2);
    assert!(err.contains("holds a token file already"), "{err}");

    let file = format!("{out}/tokens.bin");
    let mapped = ["--data", &file, "--tokenizer", &out, "--steps", "2"];
    succeed(&place.small("mapped", &mapped));
    succeed(&place.small("direct", &["--tokenizer", "bpe:300", "--steps", "2"]));
    let losses = |run: &str| {
        let lines = metrics(&place.path(run).join("metrics.jsonl"));
        lines.iter().map(|line| line["loss"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(losses("mapped"), losses("direct"));
}

#[test]
fn a_sample_longer_than_the_context_is_cut() {
    let place = Place::new();
    let flags = ["--context", "2", "--sample-every", "1", "--steps", "1"];
    succeed(&place.small("run", &flags));
}

#[test]
fn a_run_does_not_overwrite_another_and_keeps_its_course() {
    let place = Place::new();
    succeed(&place.small("run", &["--steps", "2"]));
    let before = content(&place.path("run"));

    let err = fail(&place.small("run", &[]), 2);
    assert!(err.contains("this folder holds a run already") && err.contains("--resume"), "{err}");
    let err = fail(&place.resume("run", &["--batch", "8"]), 2);
    assert!(err.contains("started with 4 and cannot go on with 8"), "{err}");
    assert!(err.contains("--batch"), "{err}");
    let err = fail(&place.resume("run", &["--optimizer", "muon"]), 2);
    assert!(err.contains("state of olion+adamw, and the optimizer is muon+adamw"), "{err}");
    assert!(err.contains("--reset-optimizer"), "{err}");
    let err = fail(&place.resume("nothing", &[]), 3);
    assert!(err.contains("there is no run to go on with"), "{err}");
    assert!(content(&place.path("run")) == before, "a refused run changed its folder");

    let flags = ["--optimizer", "muon", "--reset-optimizer", "--steps", "3"];
    succeed(&place.resume("run", &flags));
    assert_eq!(metrics(&place.path("run/metrics.jsonl")).len(), 3);
}

#[test]
fn a_run_goes_on_with_the_text_it_began_with() {
    let place = Place::new();
    succeed(&place.small("run", &["--steps", "2"]));
    let before = content(&place.path("run"));
    let text = fs::read_to_string(place.path("text.txt")).unwrap();
    fs::write(place.path("text.txt"), text.replace("storm", "waves")).unwrap();
    let err = fail(&place.resume("run", &["--steps", "3"]), 2);
    assert!(err.contains("text.txt has changed since the run began"), "{err}");
    assert!(err.contains("--data") && err.contains("start a new run"), "{err}");
    assert!(content(&place.path("run")) == before, "a refused run changed its folder");
    fs::remove_file(place.path("text.txt")).unwrap();
    let moved = place.path("moved.txt").display().to_string();
    fs::write(&moved, text).unwrap();
    succeed(&place.resume("run", &["--data", &moved, "--context", "16", "--steps", "3"]));
}

#[test]
fn a_run_goes_on_from_another_folder() {
    let place = Place::new();
    let text = place.path("text.txt").display().to_string();
    let args: Vec<String> = place.small("run", &["--steps", "2"]);
    let relative = args.iter().map(|arg| if *arg == text { "text.txt" } else { arg.as_str() });
    metier(&relative.map(String::from).collect::<Vec<_>>())
        .current_dir(place.path(""))
        .assert()
        .success();
    succeed(&place.resume("run", &["--steps", "3"]));
}

#[test]
fn a_checkpoint_cannot_be_asked_for_more_than_it_has() {
    let place = Place::new();
    succeed(&place.small("run", &["--tokenizer", "bpe:300", "--steps", "1"]));
    let folder = place.path("run/checkpoints/step-00000001");
    let model = folder.display().to_string();
    let err = fail(&place.small("on", &["--model", &model, "--context", "64"]), 2);
    assert!(err.contains("64 tokens are more than the model's context of 16"), "{err}");
    assert!(!place.path("on").exists());
    fs::remove_file(folder.join("tokenizer.json")).unwrap();
    let err = fail(&place.small("on", &["--model", &model]), 2);
    assert!(err.contains("no tokenizer.json") && err.contains("--tokenizer FILE"), "{err}");
    assert!(!place.path("on").exists());
}

#[test]
fn two_processes_do_not_train_into_one_folder() {
    let place = Place::new();
    let mut first = start(&place.small("run", &["--steps", "100000"]));
    assert!(wait_for_lines(&place.path("run"), 5, &mut first));
    let err = fail(&place.resume("run", &[]), 2);
    assert!(err.contains("another process is training into this folder"), "{err}");
    first.kill().unwrap();
    first.wait().unwrap();
    // The lock goes with its process.
    let steps = fs::read_dir(place.path("run/checkpoints")).unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.strip_prefix("step-").and_then(|step| step.parse::<u64>().ok())
    });
    let next = (steps.max().unwrap() + 1).to_string();
    succeed(&place.resume("run", &["--steps", &next]));
}

#[test]
fn a_data_set_whose_text_is_there_twice_is_read_once() {
    let place = Place::new();
    let novel = place.path("shared/moby-dick");
    fs::create_dir_all(&novel).unwrap();
    fs::copy(place.path("text.txt"), novel.join("data.txt")).unwrap();
    // Chapters that cannot be read as text: whoever reads them fails.
    (1..=20).for_each(|i| fs::write(novel.join(format!("chapter_{i}.txt")), [0xff]).unwrap());
    let train = |data: &str, out: &str| {
        let args = place.small(out, &["--data", data, "--steps", "2"]);
        let home = place.path("home");
        let shared = place.path("shared");
        let output = metier(&args)
            .env("METIER_HOME", home)
            .env("METIER_SHARED", shared)
            .current_dir(place.folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    train("moby-dick", "by-name");
    train("text.txt", "by-path");
    let losses = |out: &str| metrics(&place.path(out).join("metrics.jsonl"));
    assert_eq!(losses("by-name"), losses("by-path"));
}

#[test]
fn bad_settings_are_named_and_leave_nothing_behind() {
    let place = Place::new();
    for (flags, expected) in [
        (&["--beta1", "1"][..], &["beta1 = 1 is outside [0, 1)"][..]),
        (&["--beta2", "-0.5"], &["beta2 = -0.5 is outside [0, 1)"]),
        (&["--lr", "0"], &["lr = 0 is not above zero"]),
        (&["--lr", "nan"], &["--lr", "the number is not finite"]),
        (&["--clip", "inf"], &["--clip", "the number is not finite"]),
        (&["--ns-steps", "0"], &["ns_steps", "0", "lion-rms"]),
        (&["--group", "ln_f=matrix"], &["transformer.ln_f.weight", "[64]", "`--aux`"]),
        (&["--group", "ln_f"], &["`ln_f` names no group", "PATTERN=matrix"]),
        (&["--optimizer", "sgd"], &["there is no optimizer `sgd`", "olion"]),
        (&["--optimizer", "muon", "--beta1", "0.9"], &["muon has no such setting", "--beta1"]),
        (&["--aux", "muon"], &["muon steps matrices only"]),
        (&["--orthogonalizer", "qr"], &["there is no orthogonalizer `qr`"]),
        (
            &["--optimizer", "lion-rms", "--ns-steps", "0", "--orthogonalizer", "svd"],
            &["lion-rms has no such setting", "--ns-steps"],
        ),
        (&["--model", "gpt2-tiny"], &["there is no model `gpt2-tiny`", "nano"]),
        (&["--schedule", "step"], &["there is no schedule `step`"]),
        (&["--warmup", "13"], &["13 warm-up steps are more than the 12 steps"]),
        (&["--device", "abacus"], &["abacus is not a device"]),
        (&["--context", "100000"], &["too few for a window"]),
        (&["--context", "18446744073709551615"], &["max_position_embeddings", "more than any"]),
        (&["--batch", "18446744073709551615"], &["too many at once", "--accumulate"]),
        (&["--tokenizer", "bpe:many"], &["bpe:many names no number"]),
        (&["--tokenizer", "bpe:99999999999"], &["99999999999 tokens are too many"]),
        (&["--rms", "0"], &["rms = 0 is not above zero"]),
        (&["--rms", "x"], &["a size, or none"]),
        (&["--optimizer", "adamw", "--rms", "0.1"], &["adamw has no such setting", "--rms"]),
        (&["--optimizer", "muon", "--projections", "2"], &["muon has no such setting"]),
        (&["--optimizer", "lion", "--state", "bf16"], &["lion has no such setting", "--state"]),
    ] {
        let err = fail(&place.small("run", flags), 2);
        for part in expected {
            assert!(err.contains(part), "{flags:?} gave\n{err}");
        }
        assert!(!place.path("run").exists(), "{flags:?}");
    }
    let err = fail(&place.small("run", &["--data", "nowhere.txt"]), 3);
    assert!(err.contains("nowhere.txt"), "{err}");
    let zero = ["--optimizer", "lion-rms", "--ns-steps", "0", "--steps", "1"];
    succeed(&place.small("run", &zero));
    let all = ["--rms", "none", "--projections", "2", "--state", "bf16", "--steps", "1"];
    succeed(&place.small("all", &all));
}

#[test]
fn a_gradient_that_is_not_finite_ends_the_run_and_keeps_the_last_checkpoint() {
    let place = Place::new();
    let flags = ["--optimizer", "adamw", "--lr", "1e30", "--warmup", "0", "--save-every", "1"];
    let err = fail(&place.small("run", &flags), 1);
    assert!(err.contains("gradient of transformer."), "{err}");
    assert!(err.contains("non-finite values at step"), "{err}");
    assert!(place.path("run/checkpoints/step-00000001/model.safetensors").is_file());
}
