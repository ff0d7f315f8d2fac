//! `metier hippo` as a user runs it.

use assert_cmd::Command;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn metier(folder: &Path, arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("metier").unwrap().current_dir(folder).arg("hippo").args(arguments).assert()
}

fn stdout(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn stderr(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

// A wave with a name per sample, and a time that is not even.
fn series() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut csv = String::from("seconds,load,name\n");
    for i in 0..60 {
        let t = f64::from(i) + if i % 2 == 0 { 0.0 } else { 0.25 };
        csv += &format!("{t},{:.4},s{i}\n", (0.3 * f64::from(i)).sin());
    }
    fs::write(folder.path().join("series.csv"), csv).unwrap();
    folder
}

#[test]
fn a_series_becomes_states_beside_its_table() {
    let folder = series();
    let arguments = [
        "features",
        "--in",
        "series.csv",
        "--column",
        "load",
        "--states",
        "4",
        "-o",
        "states.csv",
        "--plot",
        "past.svg",
        "--plot-dt",
        "steps.svg",
    ];
    let told = stderr(&metier(folder.path(), &arguments).success());
    assert!(told.contains("60 rows of 4 states") && told.contains("of the variance"), "{told}");
    let written = fs::read_to_string(folder.path().join("states.csv")).unwrap();
    let mut lines = written.lines();
    assert_eq!(lines.next(), Some("seconds,load,name,state_0,state_1,state_2,state_3"));
    assert_eq!(lines.count(), 60);
    for picture in ["past.svg", "steps.svg"] {
        assert!(fs::read_to_string(folder.path().join(picture)).unwrap().starts_with("<svg"));
    }
}

#[test]
fn the_last_of_every_sample_is_the_last_state() {
    let folder = series();
    for basis in ["nodes", "legendre", "spectral", "legs", "fourier"] {
        let states = |at: &str| {
            let arguments = [
                "features",
                "--in",
                "series.csv",
                "--column",
                "load",
                "--states",
                "3",
                "--dt",
                "0.1",
                "--basis",
                basis,
                "--at",
                at,
                "--features-only",
            ];
            let told = stdout(&metier(folder.path(), &arguments).success());
            let last = told.lines().last().unwrap().split(',').map(|v| v.parse().unwrap());
            last.collect::<Vec<f64>>()
        };
        for (every, last) in states("every").iter().zip(states("last")) {
            assert!((every - last).abs() < 1e-12, "{basis}: {every} {last}");
        }
    }
}

#[test]
fn rows_are_sequences_and_gaps_are_filled_on_demand() {
    let folder = TempDir::new().unwrap();
    let rows = "id,a,b,c\nx,1,2,3\ny,4,NA,6\n";
    fs::write(folder.path().join("rows.csv"), rows).unwrap();
    let base = ["features", "--in", "rows.csv", "--rows", "--states", "2", "--dt", "1"];
    let refused = stderr(&metier(folder.path(), &base).failure());
    assert!(refused.contains("the sample is missing or not finite"), "{refused}");
    assert!(refused.contains("row 3, b") && refused.contains("--nan hold"), "{refused}");
    let filled = metier(folder.path(), &[&base[..], &["--nan", "hold"]].concat()).success();
    assert_eq!(stdout(&filled).lines().count(), 3);
    assert!(stderr(&filled).contains("1 missing samples were filled"));
    let kept = ["--nan", "zero", "--keep", "id,a"];
    let kept = stdout(&metier(folder.path(), &[&base[..], &kept].concat()).success());
    assert!(kept.starts_with("id,a,state_0,state_1\nx,1,"), "{kept}");
    let json = [&base[..], &["--nan", "zero", "-o", "s.npy", "--format", "json"]].concat();
    let told = stdout(&metier(folder.path(), &json).success());
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (&told["rows"], &told["states"], &told["filled"]),
        (&2.into(), &2.into(), &1.into())
    );
}

#[test]
fn irregular_times_have_their_own_states() {
    let folder = series();
    let base = ["features", "--in", "series.csv", "--column", "load", "--time", "seconds"];
    let arguments = [&base[..], &["--dt", "0.5", "--states", "3", "--at", "last"]].concat();
    assert_eq!(stdout(&metier(folder.path(), &arguments).success()).lines().count(), 2);
    let auto = stderr(&metier(folder.path(), &base).failure());
    assert!(auto.contains("--dt auto needs samples at equal times"), "{auto}");
    fs::write(folder.path().join("back.csv"), "t,u\n0,1\n2,1\n1,1\n").unwrap();
    let back = ["features", "--in", "back.csv", "--column", "u", "--time", "t", "--dt", "1"];
    let told = stderr(&metier(folder.path(), &back).failure());
    assert!(told.contains("time 1 comes after 2") && told.contains("row 4"), "{told}");
}

#[test]
fn kernels_and_their_readout_are_written() {
    let folder = TempDir::new().unwrap();
    let base = ["kernel", "--states", "3", "--len", "4", "--basis", "legendre"];
    let told = stdout(&metier(folder.path(), &base).success());
    assert_eq!(told.lines().count(), 5);
    fs::write(folder.path().join("c.csv"), "c\n1\n0\n0\n").unwrap();
    let read =
        stdout(&metier(folder.path(), &[&base[..], &["--weights", "c.csv"]].concat()).success());
    for (kernel, states) in read.lines().zip(told.lines()).skip(1) {
        assert_eq!(kernel, states.split(',').next().unwrap());
    }
    fs::write(folder.path().join("c.csv"), "c\n1\n").unwrap();
    let wrong =
        stderr(&metier(folder.path(), &[&base[..], &["--weights", "c.csv"]].concat()).failure());
    assert!(
        wrong.contains("1 weights are given for 3 states") && wrong.contains("c.csv"),
        "{wrong}"
    );
}

#[test]
fn the_spectrum_is_listed_beside_its_rules() {
    let folder = TempDir::new().unwrap();
    let arguments = ["spectrum", "--n", "4", "--compare", "s4d-inv,s4d-lin,asymptotic"];
    let told = stdout(&metier(folder.path(), &arguments).success());
    let mut lines = told.lines();
    assert_eq!(lines.next(), Some("omega,p,b,s4d_inv,s4d_lin,asymptotic"));
    assert!(lines.next().unwrap().starts_with("4.60329300706"), "{told}");
    let json =
        stdout(&metier(folder.path(), &["spectrum", "--n", "3", "--format", "json"]).success());
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert!((first["omega"].as_f64().unwrap() - 23f64.sqrt() / 2.0).abs() < 1e-14);
    let layer = ["dplr", "--states", "5", "-o", "legs.safetensors"];
    metier(folder.path(), &layer).success();
    assert!(folder.path().join("legs.safetensors").exists());
    let wrong = metier(folder.path(), &["dplr", "--states", "5", "-o", "legs.bin"]).code(2);
    assert!(stderr(&wrong).contains(".safetensors"));
}

#[test]
fn every_identity_is_checked() {
    let told = stdout(&metier(Path::new("."), &["check", "--states", "33"]).success());
    assert_eq!(told.matches("holds").count(), 6, "{told}");
}

#[test]
fn wrong_usage_names_the_flag_and_the_value() {
    let folder = series();
    let base = ["features", "--in", "series.csv", "--column", "load"];
    for (more, message) in [
        (&["--dt", "-1"][..], "dt is -1, where a positive number is meant"),
        (&["--dt", "NaN"], "dt is NaN"),
        (&["--dt", "soon"], "it is auto or a number"),
        (&["--states", "0"], "n must be at least 1"),
        (&["--gamma", "-2", "--basis", "spectral"], "would grow without bound"),
        (&["--basis", "legs"], "LegS has no --dt auto"),
        (&["--basis", "legs", "--dt", "1", "--gamma", "1"], "only the limit's bases have"),
        (&["--basis", "legs", "--dt", "1", "--time", "seconds"], "LegS has no --time"),
        (&["--dt", "1e15"], "can be told apart up to"),
        (&["--lags", "0"], "a memory of no samples"),
        (&["--plot", "past.png"], "pictures are written as .svg"),
        (&["--dt", "1", "--plot-dt", "x.svg"], "a fixed --dt has no use for"),
    ] {
        let told = stderr(&metier(folder.path(), &[&base[..], more].concat()).code(2));
        assert!(told.contains(message), "{more:?}: {told}");
    }
    let text = ["features", "--in", "series.csv", "--column", "name"];
    let told = stderr(&metier(folder.path(), &text).failure());
    assert!(told.contains("`s0` is not a number") && told.contains("row 2, name"), "{told}");
    let unnamed = stderr(&metier(folder.path(), &["features", "--in", "series.csv"]).failure());
    assert!(unnamed.contains("2 columns of numbers"), "{unnamed}");
    let none = ["features", "--in", "series.csv", "--column", "lead"];
    assert!(stderr(&metier(folder.path(), &none).failure()).contains("load"));
}
