//! `metier gicdm` as a user runs it.

use assert_cmd::Command;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn metier(folder: &Path, arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("metier").unwrap().current_dir(folder).arg("gicdm").args(arguments).assert()
}

fn stdout(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn stderr(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

// Points that fill a box without a pattern, and a set that sits near its middle.
fn sets() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut state = 1u64;
    let mut number = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut write = |name: &str, rows: usize, shrink: f64| {
        let mut text = (0..48).map(|k| format!("x{k}")).collect::<Vec<_>>().join(",");
        for _ in 0..rows {
            let row = (0..48).map(|_| format!("{:.6}", shrink * number())).collect::<Vec<_>>();
            text += &format!("\n{}", row.join(","));
        }
        fs::write(folder.path().join(name), text + "\n").unwrap();
    };
    write("real.csv", 300, 1.0);
    write("held.csv", 300, 1.0);
    write("middle.csv", 100, 0.05);
    folder
}

#[test]
fn sets_are_scored_side_by_side() {
    let folder = sets();
    let base = ["score", "--real", "real.csv", "--gen", "held.csv", "--gen", "middle.csv"];
    let told = stdout(&metier(folder.path(), &base).success());
    assert!(told.contains("held.csv: 300 points") && told.contains("middle.csv: 100 points"));
    assert!(told.contains("0 copies of real points"), "{told}");
    let json = [&base[..], &["--format", "json"]].concat();
    let told = stdout(&metier(folder.path(), &json).success());
    let scores: Vec<serde_json::Value> =
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(scores[0]["precision"].as_f64().unwrap() > 0.8, "{told}");
    // The middle of a box is near everyone, and nobody is there.
    assert_eq!(scores[1]["raw"]["precision"], 1.0);
    assert!(scores[1]["precision"].as_f64().unwrap() < 0.05, "{told}");
}

#[test]
fn rejected_points_are_listed_with_their_reason() {
    let folder = sets();
    let base = ["worst", "--real", "real.csv", "--gen", "middle.csv", "-n", "4"];
    let listed = metier(folder.path(), &base).success();
    let told = stdout(&listed);
    assert_eq!(told.lines().next(), Some("row,reason,beyond,nearest_real_row,distance"));
    assert_eq!(told.matches("too close to the middle").count(), 4, "{told}");
    assert!(stderr(&listed).contains("of 100 points are rejected"));
}

#[test]
fn hubs_are_reported_before_and_after() {
    let folder = sets();
    let told = stdout(&metier(folder.path(), &["hubness", "--in", "real.csv"]).success());
    assert!(told.contains("300 points, 10 neighbours") && told.contains("skewness"), "{told}");
    let json = ["hubness", "--in", "real.csv", "--k", "5", "--format", "json"];
    let told = stdout(&metier(folder.path(), &json).success());
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["raw"]["occurrences"].as_array().unwrap().len(), 300);
}

#[test]
fn wrong_input_is_named() {
    let folder = sets();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("narrow.csv", "a,b\n1,2\n3,4\n");
    write("gap.csv", "a,b\n1,2\n3,NA\n");
    write("text.csv", "a,b\n1,x\n3,y\n");
    write("few.csv", "a\n1\n2\n3\n");
    let copies = "a\n".to_owned()
        + &"1\n".repeat(20)
        + &(2..30).map(|i| format!("{i}\n")).collect::<String>();
    write("copies.csv", &copies);
    let score = |real: &str, generated: &str| {
        stderr(&metier(folder.path(), &["score", "--real", real, "--gen", generated]).failure())
    };
    let told = score("real.csv", "narrow.csv");
    assert!(told.contains("2 columns, where real.csv has 48") && told.contains("narrow.csv"));
    let told = score("real.csv", "gap.csv");
    assert!(told.contains("the number is NaN") && told.contains("row 2, column 2"), "{told}");
    let told = score("real.csv", "text.csv");
    assert!(told.contains("the column holds text") && told.contains("text.csv"), "{told}");
    assert!(score("few.csv", "few.csv").contains("at least 12 are needed"));
    assert!(score("copies.csv", "few.csv").contains("copies of itself"));
    let same = metier(folder.path(), &["score", "--real", "real.csv", "--gen", "real.csv"]);
    let told = same.success();
    assert!(stderr(&told).contains("is the real set itself"));
    assert!(stdout(&told).contains("300 copies of real points"));
    let quantile = ["score", "--real", "real.csv", "--gen", "held.csv", "--quantile", "0.5"];
    let told = stderr(&metier(folder.path(), &quantile).code(2));
    assert!(told.contains("quantile is 0.5, where 0 to 0.5 is meant"), "{told}");
    let scales = ["score", "--real", "real.csv", "--gen", "held.csv", "--scales", "5,0"];
    assert!(stderr(&metier(folder.path(), &scales).code(2)).contains("a scale of 0 neighbours"));
    let cosine = ["hubness", "--in", "zero.csv", "--metric", "cosine", "--k", "1"];
    write("zero.csv", "a,b\n1,2\n0,0\n3,1\n4,4\n");
    let told = stderr(&metier(folder.path(), &cosine).failure());
    assert!(told.contains("a row of zeros has no angle") && told.contains("row 2"), "{told}");
}
