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
    assert!(error.contains("at /no/such/folder: --data\n"), "{error}");
    let error = refused(folder.path(), &["--data", "sotu"], 2);
    assert!(error.contains("NAME=PATH"), "{error}");
}

#[test]
fn a_finding_as_json_has_every_key_of_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_metier"))
        .args(["evidence", "agentscore", "--format", "json", "--seed", "3"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "one object per method, one per line: {text}{error}");
    let finding: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        keys(&finding),
        ["claims", "method", "notes", "scale", "seconds", "seed"],
        "{finding}"
    );
    assert_eq!(finding["method"], "agentscore");
    assert_eq!(finding["scale"], "quick");
    assert_eq!(finding["seed"], 3);
    assert!(finding["seconds"].as_f64().unwrap() > 0.0);
    assert!(finding["notes"].as_array().unwrap().iter().all(|note| note.is_string()));
    let claims = finding["claims"].as_array().unwrap();
    assert!(!claims.is_empty());
    let mut gates_hold = true;
    for claim in claims {
        assert_eq!(
            keys(claim),
            ["bar", "baseline", "gate", "holds", "id", "metric", "ours", "statement"],
            "{claim}"
        );
        for key in ["id", "statement", "metric", "bar"] {
            assert!(!claim[key].as_str().unwrap().is_empty(), "{claim}");
        }
        let numbers = |key: &str| {
            let values = claim[key].as_array().unwrap();
            assert!(values.iter().all(|value| value.is_f64()), "{claim}");
            values.len()
        };
        assert!(numbers("ours") > 0, "{claim}");
        numbers("baseline");
        let holds = claim["holds"].as_bool().unwrap();
        gates_hold &= holds || !claim["gate"].as_bool().unwrap();
    }
    assert_eq!(output.status.code(), Some(if gates_hold { 0 } else { 1 }));
    // The page lies where it is said to, and the numbers beside it are those on standard output.
    let report = folder.path().join("report");
    whole(&report);
    assert!(error.contains("index.html"), "{error}");
    assert_eq!(std::fs::read_to_string(report.join("results.jsonl")).unwrap(), text);
}

fn keys(object: &serde_json::Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Sees that a report is all there: a page that ends, numbers that parse, nothing unfinished.
fn whole(report: &Path) {
    let read = |name: &str| std::fs::read_to_string(report.join(name)).unwrap();
    assert!(read("index.html").trim_end().ends_with("</html>"));
    for line in read("results.jsonl").lines().chain([read("agentscore.json").as_str()]) {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    nothing_unfinished(report);
}

fn nothing_unfinished(report: &Path) {
    for entry in std::fs::read_dir(report).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with('.'), "{name} was left behind");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_an_experiment_and_what_is_written_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_metier"))
        .args(["evidence", "agentscore", "slepian", "--format", "json"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let report = folder.path().join("report");
    while !report.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains("stopped on request"), "{error}");
    // The method that was stopped says so; the one after it was not begun.
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert_eq!(lines[0]["claims"], serde_json::json!([]));
    assert_eq!(lines[0]["notes"], serde_json::json!(["failed: stopped on request"]));
    whole(&report);
}

/// Runs a full-scale experiment that lacks its data, which ends at once with a page that says so,
/// through a shell line that takes the disk away from it.
#[cfg(unix)]
fn on_a_full_disk(folder: &Path, line: &str) -> (Option<i32>, String) {
    let output = std::process::Command::new("sh")
        .args(["-c", line, "sh", env!("CARGO_BIN_EXE_metier")])
        .args(["evidence", "agentscore", "--scale", "full", "--format", "json"])
        .current_dir(folder)
        .env("METIER_HOME", folder.join("home"))
        .env_remove("METIER_SHARED")
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_said_and_leaves_the_page_of_before() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let page = report.join("index.html");
    std::fs::create_dir(&report).unwrap();
    std::fs::write(&page, "the page of before").unwrap();
    // Files may grow to 4 kB: the numbers fit, the page does not.
    let (status, error) = on_a_full_disk(folder.path(), r#"trap '' XFSZ; ulimit -f 8; exec "$@""#);
    assert_eq!(status, Some(1), "{error}");
    assert!(error.contains("error: File too large"), "{error}");
    assert!(error.contains("at report/index.html\n"), "{error}");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "the page of before");
    nothing_unfinished(&report);

    let (status, error) = on_a_full_disk(folder.path(), r#"exec "$@""#);
    assert_eq!(status, Some(3), "{error}");
    assert!(error.contains("metier data pull survset"), "{error}");
    whole(&report);
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_printed_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (status, error) = on_a_full_disk(folder.path(), r#"exec "$@" > /dev/full"#);
    assert_eq!(status, Some(1), "{error}");
    assert!(error.contains("No space left on device"), "{error}");
    assert!(error.contains("at standard output\n"), "{error}");
}
