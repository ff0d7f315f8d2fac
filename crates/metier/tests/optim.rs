//! `metier optim` as a user runs it.

use assert_cmd::Command;
use metier_nn::model::{HostParameter, write_tensors};
use serde_json::Value;
use std::path::Path;

fn metier(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("metier").unwrap();
    command.current_dir(folder).args(["--quiet", "--threads", "2"]);
    command
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

fn fails(command: &mut Command, status: i32) -> String {
    let output = command.assert().code(status).get_output().clone();
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn tensor(name: &str, shape: &[usize], data: Vec<f32>) -> HostParameter {
    HostParameter { name: name.into(), shape: shape.to_vec(), data }
}

#[test]
fn inspect_shows_norms_and_draws_histograms() {
    let folder = tempfile::tempdir().unwrap();
    let identity = (0..64).map(|at| if at % 9 == 0 { 0.5 } else { 0.0 }).collect();
    let ones = vec![0.25; 32];
    write_tensors(
        &folder.path().join("model.safetensors"),
        &[
            tensor("transformer.h.0.attn.c_proj.weight", &[8, 8], identity),
            tensor("transformer.h.0.mlp.c_fc.weight", &[4, 8], ones),
            tensor("transformer.wte.weight", &[8, 4], vec![9.0; 32]),
            tensor("transformer.ln_f.weight", &[4], vec![1.0; 4]),
        ],
    )
    .unwrap();
    let text = stdout(metier(folder.path()).args(["optim", "inspect", ".", "--out", "spectra"]));
    let row = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(row("attn.c_proj").contains("8 × 8") && row("attn.c_proj").contains("0.5000"));
    // 0.25 times a 4 × 8 matrix of ones has the norm 0.25·√32.
    assert!(row("mlp.c_fc").contains("1.4142"), "{text}");
    assert!(!text.contains("wte") && !text.contains("ln_f"), "{text}");
    for picture in ["singular-values.svg", "weights.svg"] {
        let svg = std::fs::read_to_string(folder.path().join("spectra").join(picture)).unwrap();
        assert!(svg.starts_with("<svg"), "{picture}");
    }

    let json = stdout(metier(folder.path()).args([
        "optim",
        "inspect",
        "model.safetensors",
        "--format",
        "json",
    ]));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["matrices"].as_array().unwrap().len(), 2);
    assert_eq!(json["matrices"][0]["flatness"], 1.0);
    assert!(json["likely"].is_string() && json["advice"].is_string());
}

#[test]
fn a_run_that_diverges_is_a_result_without_weights() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("novel.txt"), "all work and no play. ".repeat(100)).unwrap();
    for rate in ["1e30", "3e38"] {
        let text = stdout(metier(folder.path()).args([
            "optim",
            "compare",
            "--data",
            "novel.txt",
            "--optimizers",
            "olion",
            "--lrs",
            rate,
            "--seeds",
            "1",
            "--steps",
            "2",
            "--batch",
            "2",
            "--context",
            "16",
        ]));
        assert!(text.contains("inf") && text.contains("–"), "{text}");
    }
}

#[test]
fn inspect_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let error = fails(metier(folder.path()).args(["optim", "inspect", "."]), 3);
    assert!(error.contains("neither model.safetensors nor its index is there"), "{error}");
    let path = folder.path().join("model.safetensors");
    write_tensors(&path, &[tensor("ln_f.weight", &[2], vec![1.0; 2])]).unwrap();
    let error = fails(metier(folder.path()).args(["optim", "inspect", "."]), 2);
    assert!(error.contains("there are no hidden matrices in it"), "{error}");
}

#[test]
fn compare_runs_every_arm_and_keeps_the_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let text = "It was the best of times, it was the worst of times. ".repeat(60);
    std::fs::write(folder.path().join("novel.txt"), text).unwrap();
    let run = |threads: &str| {
        let mut command = Command::cargo_bin("metier").unwrap();
        command.current_dir(folder.path()).args(["--quiet", "--threads", threads]).args([
            "optim",
            "compare",
            "--data",
            "novel.txt",
            "--optimizers",
            "adamw,olion",
            "--lrs",
            "1e-2",
            "--seeds",
            "2",
            "--steps",
            "4",
            "--batch",
            "2",
            "--context",
            "16",
            "--out",
            "comparison",
            "--format",
            "json",
        ]);
        stdout(&mut command)
    };
    let lines = run("2");
    assert_eq!(lines, run("1"), "the result depends on the number of threads");
    let runs: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let arms: Vec<(&str, u64)> = runs
        .iter()
        .map(|run| (run["optimizer"].as_str().unwrap(), run["seed"].as_u64().unwrap()))
        .collect();
    assert_eq!(arms, [("adamw", 0), ("olion", 0), ("adamw", 1), ("olion", 1)]);
    for run in &runs {
        let losses = run["held_out"].as_array().unwrap();
        let (first, last) = (losses[0].as_f64().unwrap(), losses[3].as_f64().unwrap());
        assert!(last < first && first < 6.0, "{losses:?}");
    }
    let kept = std::fs::read_to_string(folder.path().join("comparison/runs.jsonl")).unwrap();
    assert_eq!(kept, lines);
    for picture in ["loss.svg", "learning-rates.svg", "norms.svg"] {
        assert!(folder.path().join("comparison").join(picture).exists(), "{picture}");
    }
}

#[test]
fn compare_refuses_what_cannot_be_compared() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("novel.txt"), "a novel ".repeat(100)).unwrap();
    let compare = |extra: &[&str]| {
        let mut command = metier(folder.path());
        command.args(["optim", "compare", "--data", "novel.txt", "--context", "16"]).args(extra);
        fails(&mut command, 2)
    };
    let error = compare(&["--optimizers", "adam"]);
    assert!(error.contains("there is no optimizer `adam`") && error.contains("olion"), "{error}");
    assert!(compare(&["--lrs", "0"]).contains("lr = 0 is not above zero"));
    assert!(compare(&["--seeds", "0"]).contains("seeds = 0 is not within 1 to 1000"));
    assert!(compare(&["--steps", "0"]).contains("steps = 0 is below 1"));
    let mut missing = metier(folder.path());
    missing.args(["optim", "compare", "--data", "nowhere.txt"]);
    assert!(fails(&mut missing, 3).contains("nowhere.txt"));
}
