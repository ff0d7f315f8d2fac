//! The program's face: help, wrong usage, completions, manual pages.

use assert_cmd::Command;
use std::process::Stdio;

fn metier(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metier"));
    command.args(args);
    command
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn the_help_lists_verbs_by_who_needs_them() {
    insta::assert_snapshot!(stdout(&mut metier(&["--help"])));
}

#[test]
fn every_verb_explains_itself_with_an_example() {
    let help = stdout(&mut metier(&["--help"]));
    let verbs: Vec<&str> = help
        .lines()
        .take_while(|line| !line.starts_with("Options") && !line.starts_with("Everywhere"))
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .collect();
    assert!(verbs.contains(&"evidence") && verbs.contains(&"data"), "{verbs:?}");
    for verb in verbs {
        let help = stdout(&mut metier(&[verb, "--help"]));
        assert!(help.contains(&format!("metier {verb}")), "{verb}");
        assert!(help.contains("Example"), "{verb}");
        assert!(help.contains("--threads"), "{verb}");
    }
}

#[test]
fn wrong_usage_ends_with_status_2() {
    for (args, words) in [
        (&["evidnce"][..], "evidence"),
        (&["evidence", "--scale", "medium"], "quick"),
        (&["evidence", "--seed", "-1"], "--seed"),
        (&["data", "list", "--threads", "0"], "--threads 0"),
        (&["data", "list", "--format", "yaml"], "json"),
        (&[], "Usage"),
    ] {
        let output = metier(args).assert().code(2).get_output().clone();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(words), "{args:?}: {error}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn completions_are_scripts() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&mut metier(&["completions", shell]));
        assert!(script.contains("evidence"), "{shell}");
    }
}

#[test]
fn manual_pages_are_written_for_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("man1");
    let list = stdout(&mut metier(&["man", "--out", out.to_str().unwrap()]));
    assert!(list.lines().count() >= 8, "{list}");
    for page in ["metier.1", "metier-evidence.1", "metier-data-pull.1"] {
        let text = std::fs::read_to_string(out.join(page)).unwrap();
        assert!(text.contains(".SH NAME"), "{page}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_metier"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn methods_are_cards() {
    for line in stdout(&mut metier(&["methods", "--format", "json"])).lines() {
        let card: serde_json::Value = serde_json::from_str(line).unwrap();
        for key in ["id", "name", "paper", "job", "command", "data", "data_licence"] {
            assert!(card[key].as_str().is_some_and(|text| !text.is_empty()), "{key} in {line}");
        }
    }
}
