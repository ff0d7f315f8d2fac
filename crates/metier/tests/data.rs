//! `metier data`, as a user runs it.

use assert_cmd::Command;
use std::path::Path;

fn metier(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metier"));
    command.args(args).env("METIER_HOME", home).env_remove("METIER_SHARED");
    command
}

#[test]
fn the_list_says_what_is_here_and_where_the_rest_comes_from() {
    let home = tempfile::tempdir().unwrap();
    let output = metier(home.path(), &["data", "list", "--format", "json"]).output().unwrap();
    assert!(output.status.success());
    let rows: Vec<serde_json::Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!(row("digits")["here"], true);
    let sotu = row("sotu");
    assert_eq!(sotu["here"], false);
    assert_eq!(sotu["sha256"].as_str().unwrap().len(), 64);
    for key in ["holds", "source", "version", "licence"] {
        assert!(!sotu[key].as_str().unwrap().is_empty(), "{key}");
    }
    let text = metier(home.path(), &["data", "list"]).output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(rows.iter().all(|row| text.contains(row["name"].as_str().unwrap())), "{text}");
}

#[test]
fn an_unknown_set_is_answered_with_the_nearest() {
    let home = tempfile::tempdir().unwrap();
    for verb in ["path", "pull"] {
        let output = metier(home.path(), &["data", verb, "sottu"]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(
            error.starts_with("error: no data set `sottu`\n help: did you mean `sotu`?"),
            "{error}"
        );
    }
}

#[test]
fn a_missing_set_names_the_command_that_gets_it() {
    let home = tempfile::tempdir().unwrap();
    let output = metier(home.path(), &["data", "path", "sotu"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(error.contains("metier data pull sotu"), "{error}");
    assert!(output.stdout.is_empty());
}

#[test]
fn what_is_built_in_can_be_checked() {
    let home = tempfile::tempdir().unwrap();
    let output = metier(home.path(), &["data", "verify", "digits"]).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("digits: "));
    let output = metier(home.path(), &["data", "verify", "sotu", "digits"]).output().unwrap();
    // One that is missing does not keep the others from being checked.
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stdout).unwrap().contains("digits: "));
}
