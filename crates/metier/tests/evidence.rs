//! `metier evidence`, as a user runs it. That the experiments hold is for `make evidence` to show.

use assert_cmd::Command;
use std::path::Path;

fn refused(folder: &Path, args: &[&str], code: i32) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_metier"))
        .arg("evidence")
        .args(args)
        .current_dir(folder)
        .assert()
        .code(code)
        .get_output()
        .clone();
    assert!(output.stdout.is_empty());
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0, "something was written");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_unknown_method_is_answered_with_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let error = refused(folder.path(), &["slepain"], 2);
    assert!(error.starts_with("error: no method `slepain`\n"), "{error}");
    assert!(error.contains("did you mean `slepian`?"), "{error}");
    assert!(error.contains("the methods are: "), "{error}");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let error = refused(folder.path(), &["--out", "/proc/report"], 1);
    assert!(error.contains("at /proc/report\n"), "{error}");
    assert!(error.contains("--out DIR"), "{error}");
}

#[test]
fn data_has_to_be_known_and_there() {
    let folder = tempfile::tempdir().unwrap();
    let error = refused(folder.path(), &["--data", "sottu=x"], 2);
    assert!(error.contains("no data set `sottu`"), "{error}");
    let error = refused(folder.path(), &["--data", "sotu=/no/such/folder"], 3);
    assert!(error.contains("at /no/such/folder\n"), "{error}");
    let error = refused(folder.path(), &["--data", "sotu"], 2);
    assert!(error.contains("NAME=PATH"), "{error}");
}
