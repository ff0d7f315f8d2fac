//! `metier slepian` as a user runs it.

use assert_cmd::Command;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn metier(folder: &Path, arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("metier")
        .unwrap()
        .current_dir(folder)
        .arg("slepian")
        .args(arguments)
        .assert()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn stdout(assert: &assert_cmd::assert::Assert) -> String {
    text(&assert.get_output().stdout)
}

fn stderr(assert: &assert_cmd::assert::Assert) -> String {
    text(&assert.get_output().stderr)
}

// Sixty towns with a price that rises towards the south-west.
fn towns() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut csv = String::from("town,longitude,latitude,price\n");
    for i in 0..60 {
        let (lon, lat) = (-123.0 + 0.15 * f64::from(i), 33.0 + 0.8 * f64::from((i * 7) % 11));
        csv += &format!("t{i},{lon:.3},{lat:.3},{:.3}\n", 3.0 - 0.1 * (lon + 120.0) - 0.2 * lat);
    }
    fs::write(folder.path().join("towns.csv"), csv).unwrap();
    folder
}

const CAP: &str = "cap:-119.5,37,7.5";

#[test]
fn info_tells_the_shannon_number_and_the_functions() {
    let folder = TempDir::new().unwrap();
    let told = metier(folder.path(), &["info", "--region", CAP, "--L", "40"]).success();
    let told = stdout(&told);
    assert!(told.contains("Shannon number  7.191"), "{told}");
    assert!(told.contains("functions       12 with lambda from 0.9976 to 0.1718"), "{told}");
    assert!(told.contains("resolution      500 km"), "{told}");
    let json = metier(folder.path(), &["info", "--region", CAP, "--L", "120", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&json.success())).unwrap();
    assert_eq!(json["functions"], 86);
}

#[test]
fn encode_adds_features_to_the_table() {
    let folder = towns();
    let arguments = [
        "encode",
        "--in",
        "towns.csv",
        "--region",
        CAP,
        "--L",
        "40",
        "--global",
        "0",
        "-o",
        "f.csv",
    ];
    metier(folder.path(), &arguments).success();
    let csv = fs::read_to_string(folder.path().join("f.csv")).unwrap();
    let header = csv.lines().next().unwrap();
    assert!(header.starts_with("town,longitude,latitude,price,slep_m0_k0,slep_m1c_k0"), "{header}");
    assert_eq!(csv.lines().count(), 61);
    assert_eq!(header.split(',').count(), 4 + 12);
}

#[test]
fn encode_reads_standard_input_and_writes_standard_output() {
    let folder = towns();
    let csv = fs::read(folder.path().join("towns.csv")).unwrap();
    let told = Command::cargo_bin("metier")
        .unwrap()
        .args(["slepian", "encode", "--in", "-", "--L", "40", "--global", "2", "--features-only"])
        .write_stdin(csv)
        .assert()
        .success();
    let header = stdout(&told).lines().next().unwrap().to_owned();
    assert!(header.starts_with("sh_l0_m0,sh_l1_m-1,sh_l1_m0,sh_l1_m1,slep_m0_k0"), "{header}");
}

#[test]
fn a_saved_encoder_gives_the_same_features_to_later_points() {
    let folder = towns();
    let path = folder.path();
    let fit =
        ["encode", "--in", "towns.csv", "--L", "60", "--save", "e.safetensors", "-o", "a.npy"];
    metier(path, &fit).success();
    let later = ["encode", "--in", "towns.csv", "--encoder", "e.safetensors", "-o", "b.npy"];
    metier(path, &later).success();
    assert_eq!(fs::read(path.join("a.npy")).unwrap(), fs::read(path.join("b.npy")).unwrap());
}

#[test]
fn features_are_read_off_a_grid_when_asked() {
    let folder = towns();
    let path = folder.path();
    let encode = |flags: &[&str], out: &str| {
        let fixed =
            ["encode", "--in", "towns.csv", "--region", CAP, "--L", "20", "--features-only"];
        metier(path, &[&fixed[..], flags, &["-o", out]].concat())
    };
    encode(&[], "exact.csv").success();
    encode(&["--raster", "0.25", "--save", "e.safetensors"], "near.csv").success();
    encode(&["--raster", "0.7"], "no.csv").failure().code(2);
    assert!(!path.join("no.csv").exists());
    let numbers = |name: &str| -> Vec<f64> {
        let text = fs::read_to_string(path.join(name)).unwrap();
        text.lines().skip(1).flat_map(|l| l.split(',')).map(|v| v.parse().unwrap()).collect()
    };
    let (exact, near) = (numbers("exact.csv"), numbers("near.csv"));
    let worst = exact.iter().zip(&near).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst > 0.0 && worst < 0.05, "{worst}");
    // What was saved remembers the grid.
    let later = ["encode", "--in", "towns.csv", "--encoder", "e.safetensors", "--features-only"];
    metier(path, &[&later[..], &["-o", "later.csv"]].concat()).success();
    assert_eq!(numbers("later.csv"), near);
}

#[test]
fn parquet_and_outlines_of_ones_own_work() {
    let folder = towns();
    let ring = "[[-125,32],[-114,32],[-114,43],[-125,43],[-125,32]]";
    let json = format!("{{\"type\":\"Polygon\",\"coordinates\":[{ring}]}}");
    fs::write(folder.path().join("west.geojson"), json).unwrap();
    let arguments = [
        "encode",
        "--in",
        "towns.csv",
        "--region",
        "file:west.geojson",
        "--L",
        "60",
        "-o",
        "f.parquet",
    ];
    metier(folder.path(), &arguments).success();
    let arguments = ["encode", "--in", "f.parquet", "--region", CAP, "--L", "20", "--global", "0"];
    let told = metier(folder.path(), &arguments).success();
    assert!(
        stdout(&told).starts_with("town,longitude,latitude,price,sh_l0_m0"),
        "{}",
        stdout(&told)
    );
}

#[test]
fn plots_are_pictures() {
    let folder = TempDir::new().unwrap();
    for arguments in [
        ["plot", "--region", "country:JP", "--L", "40", "--mode", "0", "-o", "p.svg"].as_slice(),
        &["plot", "--region", CAP, "--L", "40", "--curve", "-o", "p.svg"],
    ] {
        metier(folder.path(), arguments).success();
        let picture = fs::read_to_string(folder.path().join("p.svg")).unwrap();
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    }
    let told = metier(folder.path(), &["plot", "--region", CAP, "-o", "p.png"]).code(2);
    assert!(stderr(&told).contains("pictures are written as .svg"));
}

#[test]
fn a_basis_is_listed_and_written() {
    let folder = TempDir::new().unwrap();
    let told = metier(folder.path(), &["basis", "--region", CAP, "--L", "40"]).success();
    assert!(stdout(&told).starts_with("slep_m0_k0\t0.9975607457\n"), "{}", stdout(&told));
    metier(folder.path(), &["basis", "--region", CAP, "--L", "20", "-o", "b.npz"]).success();
    assert!(folder.path().join("b.npz").exists());
}

#[test]
fn fit_scores_on_rows_held_out_beside_the_nearest() {
    let folder = towns();
    let arguments = [
        "fit",
        "--in",
        "towns.csv",
        "--target",
        "price",
        "--region",
        CAP,
        "--L",
        "20",
        "--format",
        "json",
    ];
    let scores = metier(folder.path(), &arguments).success();
    let scores: serde_json::Value = serde_json::from_str(&stdout(&scores)).unwrap();
    assert_eq!((&scores["rows"], &scores["held_out"]), (&60.into(), &12.into()));
    assert!(scores["r2"].as_f64().unwrap() > 0.5, "{scores}");
    assert!(scores["lon_lat_ridge_r2"].as_f64().unwrap() > 0.99, "{scores}");
    assert!(scores["nearest_5_r2"].is_number());
}

#[test]
fn every_model_learns_and_is_drawn_over_the_coasts() {
    let folder = towns();
    let fixed = ["fit", "--in", "towns.csv", "--target", "price", "--region", CAP, "--L", "20"];
    for model in ["ridge", "mlp", "resmlp", "siren", "glu"] {
        let flags = ["--model", model, "--map", "m.svg", "--format", "json"];
        // Passes enough to run, not to learn much: the wider networks are slow without a machine's
        // full vectors.
        let passes: &[&str] = if model == "ridge" { &[] } else { &["--epochs", "3"] };
        let told = metier(folder.path(), &[&fixed[..], &flags, passes].concat()).success();
        let scores: serde_json::Value = serde_json::from_str(&stdout(&told)).unwrap();
        assert_eq!(scores["model"], model);
        assert!(scores["r2"].is_number(), "{scores}");
        assert!(stderr(&told).contains(&format!("price as {model} sees it. Learned from 36 rows")));
        let picture = fs::read_to_string(folder.path().join("m.svg")).unwrap();
        assert!(picture.starts_with("<svg"), "{model}");
        // The label of the colours, the field, and a coast.
        assert!(picture.lines().any(|line| line == "price"), "{model}");
        for part in ["<image", "<polyline"] {
            assert!(picture.contains(part), "{model}: no {part}");
        }
        fs::remove_file(folder.path().join("m.svg")).unwrap();
    }
    let refused =
        |flags: &[&str]| stderr(&metier(folder.path(), &[&fixed[..], flags].concat()).code(2));
    let told = refused(&["--map", "m.png"]);
    assert!(told.contains("pictures are written as .svg") && told.contains("m.png"), "{told}");
    let told = refused(&["--epochs", "3"]);
    assert!(told.contains("--epochs is given, which --model ridge has no use for"), "{told}");
    let told = refused(&["--model", "siren", "--dropout", "0.1"]);
    assert!(told.contains("--dropout is given, which --model siren has no use for"), "{told}");
    let told = refused(&["--model", "mlp", "--dropout", "1"]);
    assert!(told.contains("dropout is 1, where a share from 0 to below 1 is wanted"), "{told}");
}

#[test]
fn flags_without_a_use_are_refused() {
    let folder = towns();
    let path = folder.path();
    let fit = ["encode", "--in", "towns.csv", "--L", "20", "--save", "e.safetensors"];
    metier(path, &fit).success();
    let refused = |arguments: &[&str]| {
        let told = metier(path, arguments).code(2);
        assert!(stdout(&told).is_empty());
        stderr(&told)
    };
    // What was fitted is what it is.
    let encode = ["encode", "--in", "towns.csv", "--encoder", "e.safetensors"];
    for flags in [&["--thresh", "0.1"][..], &["--max-modes", "5"], &["--no-scale"], &["--L", "9"]] {
        let told = refused(&[&encode[..], flags].concat());
        assert!(told.contains("--encoder") && told.contains(flags[0]), "{told}");
    }
    // A region that is given does not depend on points.
    for (verb, more) in [("info", &[][..]), ("basis", &[][..]), ("plot", &["-o", "p.svg"][..])] {
        for (flag, value) in [("--in", "nosuch.csv"), ("--in", "towns.csv"), ("--lon", "x")] {
            let given = [verb, "--region", CAP, "--L", "20", flag, value];
            let told = refused(&[&given[..], more].concat());
            let wrong = format!("{flag} is given, which --region {CAP} has no use for");
            assert!(told.contains(&wrong), "{told}");
        }
    }
    assert!(!path.join("p.svg").exists());
    metier(path, &["info", "--in", "towns.csv", "--L", "20"]).success();
}

#[test]
fn a_ring_that_was_not_closed_is_told_of() {
    let folder = towns();
    let ring = "[[-125,32],[-114,32],[-114,43],[-125,43]]";
    let json = format!("{{\"type\":\"Polygon\",\"coordinates\":[{ring}]}}");
    fs::write(folder.path().join("open.geojson"), json).unwrap();
    for arguments in [&["info"][..], &["encode", "--in", "towns.csv", "-o", "f.csv"]] {
        let region = ["--region", "file:open.geojson", "--L", "20"];
        let told = metier(folder.path(), &[arguments, &region].concat()).success();
        assert!(stderr(&told).contains("is not closed; its ends are joined"), "{}", stderr(&told));
    }
}

#[test]
fn bad_input_is_named_with_its_place() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("swapped.csv"), "lon,lat\n37.7,-122.4\n").unwrap();
    fs::write(path.join("gap.csv"), "lon,lat\n1,2\n3,\n").unwrap();
    fs::write(path.join("named.csv"), "a,b\n1,2\n").unwrap();
    let refused = |arguments: &[&str]| {
        let told = metier(path, arguments).code(2);
        assert!(stdout(&told).is_empty());
        stderr(&told)
    };
    let told = refused(&["encode", "--in", "swapped.csv", "--region", CAP]);
    assert!(told.contains("latitude -122.4 is outside [-90, 90]"), "{told}");
    assert!(told.contains("swapped.csv: row 2, lat"), "{told}");
    assert!(told.contains("are the longitude and latitude columns swapped?"), "{told}");
    let told = refused(&["encode", "--in", "gap.csv", "--region", CAP]);
    assert!(told.contains("gap.csv: row 3, lat"), "{told}");
    let told = refused(&["encode", "--in", "named.csv", "--region", CAP]);
    assert!(told.contains("no column is called longitude, lon, lng, long, x"), "{told}");
    assert!(told.contains("the columns are: a, b"), "{told}");
    let told = refused(&["info", "--region", "cap:0,0,0"]);
    assert!(told.contains("the cap's radius is 0 degrees"), "{told}");
    let told = refused(&["info", "--region", CAP, "--L", "2001"]);
    assert!(told.contains("L is 2001, where at most 2000 can be had"), "{told}");
    let told = refused(&["info", "--region", "fit"]);
    assert!(told.contains("no points are given, which `--region fit` needs"), "{told}");
}
