//! What holds whatever the verb is: the global flags, and streams that nobody reads.

use std::fs::File;
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn metier(folder: &TempDir) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("metier"));
    command.current_dir(folder.path()).stdin(Stdio::null());
    command
}

fn text(folder: &TempDir) {
    std::fs::write(folder.path().join("text.txt"), "the sea and the whale ".repeat(100)).unwrap();
}

const TRAIN: [&str; 13] = [
    "train",
    "--data",
    "text.txt",
    "--out",
    "run",
    "--model",
    "gpt2-nano",
    "--context",
    "16",
    "--steps",
    "3",
    "--batch",
    "4",
];

#[test]
#[cfg(target_os = "linux")]
fn work_goes_on_where_standard_error_is_full() {
    let folder = TempDir::new().unwrap();
    text(&folder);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = metier(&folder).args(TRAIN).stderr(full).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(folder.path().join("run/checkpoints/step-00000003/model.safetensors").is_file());
}

#[test]
fn work_goes_on_where_nobody_reads_either_stream() {
    let folder = TempDir::new().unwrap();
    text(&folder);
    let mut child =
        metier(&folder).args(TRAIN).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert!(child.wait().unwrap().success());
    assert!(folder.path().join("run/checkpoints/step-00000003/model.safetensors").is_file());
}

#[test]
fn an_error_keeps_its_status_where_nobody_reads_it() {
    let folder = TempDir::new().unwrap();
    let mut child =
        metier(&folder).args(["train", "--out", "run"]).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn a_number_of_threads_has_to_make_sense() {
    let folder = TempDir::new().unwrap();
    for (threads, message) in
        [("0", "there is nothing to work with"), ("100000", "100000 threads are too many")]
    {
        let output = metier(&folder).args(["methods", "--threads", threads]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.contains(message), "{err}");
    }
}
