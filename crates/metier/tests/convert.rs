//! `metier convert` and `metier generate` as a user runs them.

use assert_cmd::Command;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// The beginning of what upstream publishes as the greedy text of stories260K.
const PUBLISHED: &str = "Once upon a time, there was a little girl named Lily. She loved to play \
    outside in the park. One day, she saw a big, red ball. She wanted to play with it, but it was \
    too high.";

fn metier(arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("metier").unwrap().arg("--quiet").args(arguments).assert()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The folder of the real checkpoint, if it is here.
fn stories() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("METIER_SHARED")?).join("stories260k");
    folder.join("stories260K.bin").exists().then_some(folder)
}

/// A checkpoint of the smallest possible Llama: width 2, one layer, one head, three tokens.
fn tiny() -> Vec<u8> {
    let header: [i32; 7] = [2, 2, 1, 1, 1, 3, 4];
    let floats = 6 + 2 + 4 * 4 + 2 + 3 * 4 + 2 + 4 * 2;
    let mut bytes: Vec<u8> = header.iter().flat_map(|field| field.to_le_bytes()).collect();
    bytes.extend((0..floats).flat_map(|i| (0.01 * i as f32).to_le_bytes()));
    bytes
}

/// A checkpoint with another number in its header.
fn with_field(field: usize, value: i32, checkpoint: &[u8]) -> Vec<u8> {
    let mut bytes = checkpoint.to_vec();
    bytes[4 * field..4 * field + 4].copy_from_slice(&value.to_le_bytes());
    bytes
}

#[test]
fn a_real_checkpoint_writes_its_published_text() {
    let Some(data) = stories() else {
        eprintln!("skipped: needs METIER_SHARED with stories260k");
        return;
    };
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("stories");
    let path = |name: &str| data.join(name).to_string_lossy().into_owned();
    let model = out.to_string_lossy();
    metier(&[
        "convert",
        &path("stories260K.bin"),
        "--tokenizer",
        &path("tok512.bin"),
        "--out",
        &model,
    ])
    .success();
    for name in ["config.json", "model.safetensors", "tokenizer.json"] {
        assert!(out.join(name).exists(), "{name}");
    }
    let generated = metier(&["generate", "--model", &model, "--tokens", "120"]).success();
    let generated = text(&generated.get_output().stdout);
    assert!(generated.starts_with(PUBLISHED), "{generated}");

    let draw = |seed: &str| {
        let drawn = metier(&[
            "generate",
            "--model",
            &model,
            "--prompt",
            "Once",
            "--tokens",
            "20",
            "--temperature",
            "0.9",
            "--top-k",
            "40",
            "--top-p",
            "0.9",
            "--seed",
            seed,
            "--format",
            "json",
        ])
        .success();
        text(&drawn.get_output().stdout)
    };
    assert_eq!(draw("1"), draw("1"));
    assert_ne!(draw("1"), draw("2"));
    let value: serde_json::Value = serde_json::from_str(&draw("1")).unwrap();
    assert_eq!(value["prompt"], "Once");
    assert_eq!(value["ids"].as_array().unwrap().len(), 20);
}

#[test]
fn a_folder_that_holds_a_model_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let checkpoint = folder.path().join("tiny.bin");
    fs::write(&checkpoint, tiny()).unwrap();
    let out = folder.path().join("out");
    let (checkpoint, out) = (checkpoint.to_string_lossy(), out.to_string_lossy());
    let first = metier(&["convert", &checkpoint, "--out", &out, "--format", "json"]).success();
    let summary: serde_json::Value =
        serde_json::from_str(&text(&first.get_output().stdout)).unwrap();
    assert_eq!(summary["vocabulary"], 3);
    let again = metier(&["convert", &checkpoint, "--out", &out]).code(2);
    assert!(text(&again.get_output().stderr).contains("holds a model already"));
}

#[test]
fn a_checkpoint_cut_short_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let checkpoint = folder.path().join("tiny.bin");
    let bytes = tiny();
    let out = folder.path().join("out");
    for (content, message) in [
        (&bytes[..bytes.len() - 3], "bytes are too few for the sizes in its header"),
        (&bytes[..9], "shorter than the header of a llama2.c checkpoint"),
        (&[0x42; 200][..], "is not the header of a llama2.c checkpoint"),
        (&with_field(0, 14, &with_field(3, 3, &bytes)), "3 heads do not divide the width 14"),
    ] {
        fs::write(&checkpoint, content).unwrap();
        let arguments = ["convert", &checkpoint.to_string_lossy(), "--out", &out.to_string_lossy()];
        let failed = metier(&arguments).code(2);
        let said = text(&failed.get_output().stderr);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(message), "{said}");
        assert!(!out.exists());
    }
}

#[test]
fn a_tokenizer_that_does_not_fit_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    // Two tokens where three have a meaning of their own, with an embedding of one row less.
    let mut checkpoint = with_field(5, 2, &tiny());
    checkpoint.truncate(checkpoint.len() - 8);
    fs::write(path("two.bin"), checkpoint).unwrap();
    fs::write(path("tokenizer.bin"), [0; 64]).unwrap();
    let arguments =
        ["convert", &path("two.bin"), "--tokenizer", &path("tokenizer.bin"), "--out", &path("out")];
    let failed = metier(&arguments).code(2);
    let said = text(&failed.get_output().stderr);
    assert!(said.contains("2 tokens leave no room"), "{said}");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_model_that_is_not_there_is_missing() {
    metier(&["generate", "--model", "/nowhere/model"]).code(3);
    metier(&["generate", "--model", "/nowhere/model", "--temperature", "-1"]).code(2);
}
