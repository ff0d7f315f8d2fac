//! `metier score` as a user runs it.

use assert_cmd::Command;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn score(folder: &Path, arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("metier").unwrap().current_dir(folder).arg("score").args(arguments).assert()
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

// Old patients with fever die; the ward says nothing.
fn cohort() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut csv = String::from("age,fever,ward,death\n");
    for i in 0..300u32 {
        let (age, fever) = (20 + i * 7 % 70, i * 11 % 3 == 0);
        let ward = ["east", "north", "west"][(i as usize / 3) % 3];
        let death = age + 30 * u32::from(fever) + i * 13 % 25 > 85;
        csv += &format!("{age},{},{ward},{}\n", u8::from(fever), u8::from(death));
    }
    fs::write(folder.path().join("cohort.csv"), csv).unwrap();
    folder
}

#[test]
fn flags_without_a_use_are_refused() {
    let folder = cohort();
    for (flags, message) in [
        (&["--rules-file", "rules.jsonl"][..], "it goes with --proposer file or mixed"),
        (&["--task", "patients"], "it goes with --proposer llm or mixed"),
        (&["--calls", "3"], "it goes with --proposer llm or mixed"),
        (&["--nodes", "5"], "it goes with --select exact"),
        (&["--select", "greedy", "--beam", "3"], "it goes with --select beam"),
        (&["--select", "exact", "--seconds", "3"], "it goes with --select mip"),
    ] {
        let arguments = ["fit", "cohort.csv", "--outcome", "death"];
        let refused = score(folder.path(), &[&arguments[..], flags].concat()).code(2);
        let flag = flags[flags.len() - 2];
        let error = stderr(&refused);
        assert!(error.contains("has no use here") && error.contains(flag), "{error}");
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_goal_that_no_line_reaches_is_told_of() {
    let folder = cohort();
    let goal = ["fit", "cohort.csv", "--outcome", "death", "--folds", "0", "--objective", "ppv=1"];
    let fit = score(folder.path(), &goal).success();
    let all = stdout(&fit) + &stderr(&fit);
    assert!(all.contains("no number of points reaches a positive predictive value of 1"), "{all}");
}

#[test]
fn learn_print_apply_validate_and_audit() {
    let folder = cohort();
    let at = folder.path();
    let fit =
        score(at, &["fit", "cohort.csv", "--outcome", "death", "--out", "score.json"]).success();
    let card = stdout(&fit);
    assert!(card.starts_with("Checklist for death\n"), "{card}");
    assert!(card.contains("Act at ") && card.contains("cross-validated"), "{card}");

    let printed = score(at, &["card", "score.json"]).success();
    assert_eq!(stdout(&printed), card);
    score(at, &["card", "score.json", "--as", "html", "--out", "card.html"]).success();
    assert!(fs::read_to_string(at.join("card.html")).unwrap().starts_with("<!doctype html>"));
    score(at, &["card", "score.json", "--as", "pdf", "--out", "card.pdf"]).success();
    let pdf = fs::read(at.join("card.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-1.") && pdf.trim_ascii_end().ends_with(b"%%EOF"));
    let piped = score(at, &["card", "score.json", "--as", "pdf"]).success();
    assert_eq!(piped.get_output().stdout, pdf);
    let svg = score(at, &["card", "score.json", "--as", "svg"]).success();
    assert!(stdout(&svg).starts_with("<svg "));

    let applied = score(at, &["apply", "score.json", "cohort.csv"]).success();
    let table = stdout(&applied);
    assert_eq!(table.lines().next(), Some("age,fever,ward,death,points,risk,decision"));
    assert_eq!(table.lines().count(), 301);
    score(at, &["apply", "score.json", "cohort.csv", "--out", "scored.parquet"]).success();
    assert!(at.join("scored.parquet").exists());

    fs::write(at.join("age.json"), r#"{"name":"age","terms":[{"column":"age","times":1}]}"#)
        .unwrap();
    let arguments = ["validate", "score.json", "cohort.csv", "--compare", "age.json"];
    let judged = score(at, &[&arguments[..], &["--report", "page.html"]].concat()).success();
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("<title>Validation: "), "{page}");
    assert_eq!(page.matches("<svg").count(), 4);
    let report = stdout(&judged);
    assert!(report.starts_with("300 rows, ") && report.contains("\nage: AUROC "), "{report}");

    let audit = stdout(&score(at, &["audit", "score.json", "--kept"]).success());
    assert!(audit.contains(": on the card"), "{audit}");
    let refused = stdout(&score(at, &["audit", "score.json", "--refused"]).success());
    assert!(refused.contains("AUROC 0.") || refused.contains("same cases"), "{refused}");
}

#[test]
fn a_time_to_event_and_a_dictionary() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let mut csv = String::from("id,age,crea,time,event\n");
    for i in 0..240u32 {
        let (age, crea) = (20 + i * 7 % 70, 50 + i * 17 % 150);
        let time = 1000 - 6 * age - crea + i * 13 % 200;
        csv += &format!("{i},{age},{crea},{time},{}\n", u8::from(i % 4 > 0));
    }
    fs::write(at.join("trial.csv"), csv).unwrap();
    // It speaks of the outcome too, as dictionaries do.
    let dictionary = "columns:\n  crea: {label: Creatinine, unit: umol/L, step: 10, direction: up}\n  \
                      time: {unit: days}\n  event: {type: binary}\n";
    fs::write(at.join("dd.yaml"), dictionary).unwrap();
    let run = score(
        at,
        &[
            "fit",
            "trial.csv",
            "--event",
            "event",
            "--horizon-time",
            "time",
            "--horizon",
            "500",
            "--dictionary",
            "dd.yaml",
            "--rules",
            "3",
            "--folds",
            "0",
        ],
    )
    .success();
    assert!(stderr(&run).contains("were not followed to time = 500"), "{}", stderr(&run));
    assert!(stdout(&run).contains("Creatinine ≥ "), "{}", stdout(&run));
    assert!(!stdout(&run).contains("cross-validated ("), "{}", stdout(&run));
}

#[test]
fn an_expert_s_rules_from_a_file() {
    let folder = cohort();
    let at = folder.path();
    let rules = concat!(
        r#"{"type":"numeric_threshold","feature":"age","op":">=","threshold":65}"#,
        "\n",
        r#"{"type":"binary_true","feature":"fever"}"#,
        "\n",
    );
    fs::write(at.join("rules.jsonl"), rules).unwrap();
    let arguments =
        ["fit", "cohort.csv", "--outcome", "death", "--proposer", "file", "--folds", "0"];
    let run = score(at, &[&arguments[..], &["--rules-file", "rules.jsonl"]].concat()).success();
    let card = stdout(&run);
    assert!(card.contains("age ≥ 65") && card.contains("fever"), "{card}");
    let error = stderr(&score(at, &arguments).code(2));
    assert!(error.contains("no rules are given"), "{error}");
    fs::write(at.join("rules.jsonl"), "{\"type\":\"magic\"}\n").unwrap();
    let error =
        stderr(&score(at, &[&arguments[..], &["--rules-file", "rules.jsonl"]].concat()).code(2));
    assert!(error.contains("unknown variant `magic`") && error.contains("row 1"), "{error}");
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_written() {
    let folder = cohort();
    let at = folder.path();
    let refuse = |arguments: &[&str], code: i32, message: &str| {
        let run = score(at, &[arguments, &["--out", "score.json"]].concat()).code(code);
        assert!(stderr(&run).contains(message), "{}", stderr(&run));
        assert!(!at.join("score.json").exists());
    };
    refuse(&["fit", "cohort.csv", "--outcome", "deth"], 2, "did you mean `death`?");
    refuse(&["fit", "cohort.csv", "--outcome", "ward"], 2, "not 0 or 1 but: east, ");
    refuse(&["fit", "nowhere.csv", "--outcome", "death"], 3, "nowhere.csv");
    refuse(&["fit", "cohort.csv", "--outcome", "death", "--rules", "0"], 2, "between 1 and 20");
    refuse(&["fit", "cohort.csv", "--outcome", "death", "--tau", "0.999"], 2, "no rule passes");
    refuse(
        &["fit", "cohort.csv", "--outcome", "death", "--proposer", "llm"],
        2,
        "no language model is given",
    );
    fs::write(at.join("empty.jsonl"), "").unwrap();
    refuse(
        &[
            "fit",
            "cohort.csv",
            "--outcome",
            "death",
            "--proposer",
            "llm",
            "--replay",
            "empty.jsonl",
        ],
        3,
        "no recorded answer",
    );
    fs::write(at.join("broken.json"), "{}").unwrap();
    let run = score(at, &["card", "broken.json"]).code(2);
    assert!(stderr(&run).contains("no saved score"), "{}", stderr(&run));
}

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

#[test]
fn where_json_is_asked_for_results_are_json() {
    let folder = cohort();
    let at = folder.path();
    let run = |arguments: &[&str]| {
        stdout(&score(at, &[arguments, &["--format", "json"]].concat()).success())
    };
    let learnt = run(&["fit", "cohort.csv", "--outcome", "death", "--out", "score.json"]);
    let learnt = json(learnt.trim_end());
    let items = learnt["items"].as_array().unwrap().len();

    let rows = run(&["apply", "score.json", "cohort.csv"]);
    assert_eq!(rows.lines().count(), 300);
    let first = json(rows.lines().next().unwrap());
    assert!(first["points"].as_u64().unwrap() <= items as u64, "{first}");
    assert!(first["ward"].is_string() && first["risk"].is_number(), "{first}");
    let summary =
        json(run(&["apply", "score.json", "cohort.csv", "--out", "scored.csv"]).trim_end());
    assert_eq!((&summary["rows"], &summary["file"]), (&300.into(), &"scored.csv".into()));
    assert!(at.join("scored.csv").exists());

    let card = json(run(&["card", "score.json"]).trim_end());
    assert_eq!(card["theta"], learnt["theta"]);
    assert_eq!(card["items"].as_array().unwrap().len(), items);
    assert_eq!(card["risk"].as_array().unwrap().len(), items + 1);
    assert_eq!(
        json(&run(&["card", "score.json", "--as", "fhir"]))["resourceType"],
        "Questionnaire"
    );
    let saved = json(run(&["card", "score.json", "--as", "pdf", "--out", "card.pdf"]).trim_end());
    assert_eq!(saved["file"], "card.pdf");
    let refused = score(at, &["card", "score.json", "--as", "html", "--format", "json"]).code(2);
    assert!(stderr(&refused).contains("this form of the card is no JSON"), "{}", stderr(&refused));

    let judged = json(run(&["validate", "score.json", "cohort.csv"]).trim_end());
    assert_eq!(judged["missing"][0]["auroc"], judged["auroc"]);
    let audit = run(&["audit", "score.json"]);
    let chosen = audit.lines().filter(|line| json(line)["on_card"] == true).count();
    assert_eq!(chosen, items);
}

#[test]
fn a_program_solves_what_it_can_in_its_time_and_says_how_far_off_it_may_be() {
    let folder = cohort();
    let at = folder.path();
    let fit = ["fit", "cohort.csv", "--outcome", "death", "--folds", "0"];
    let run = |arguments: &[&str]| stdout(&score(at, &[&fit[..], arguments].concat()).success());
    let solved = run(&["--select", "mip", "--seconds", "0.3", "--max-per-feature", "1"]);
    assert!(solved.contains("balanced error 0."), "{solved}");
    assert_eq!(solved.matches("age ").count(), 1, "{solved}");
    let exact = run(&["--select", "exact", "--nodes", "1", "--exact-pool", "9", "--rules", "4"]);
    assert!(exact.contains("AUROC 0.") && exact.contains(" rules"), "{exact}");
    for (flag, value) in
        [("--seconds", "-1"), ("--nodes", "0"), ("--exact-pool", "0"), ("--tau", "nan")]
    {
        let refused =
            score(at, &[&fit[..], &["--select", "mip", &format!("{flag}={value}")]].concat());
        let error = stderr(&refused.code(2));
        assert!(error.contains(flag.trim_start_matches('-')), "{flag}: {error}");
    }
}

#[test]
fn how_many_items_are_worth_asking_is_told_where_asked_for() {
    let folder = cohort();
    let at = folder.path();
    let fit = ["fit", "cohort.csv", "--outcome", "death", "--out", "score.json"];
    let told = stdout(&score(at, &[&fit[..], &["--by-items", "3"]].concat()).success());
    assert!(told.contains("items at most   AUROC cross-validated"), "{told}");
    score(at, &["validate", "score.json", "cohort.csv", "--report", "page.html"]).success();
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(page.contains("How many items are worth asking?"));
    let error =
        stderr(&score(at, &[&fit[..], &["--by-items", "3", "--folds", "0"]].concat()).code(2));
    assert!(error.contains("no folds to compare"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_score_is_saved_before_it_is_cross_validated() {
    let folder = cohort();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_metier"))
        .args(["score", "fit", "cohort.csv", "--outcome", "death", "--out", "score.json"])
        .args(["--folds", "100", "--by-items", "10"])
        .current_dir(folder.path())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let saved = folder.path().join("score.json");
    while !saved.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let saved = json(&fs::read_to_string(saved).unwrap());
    assert!(saved["honest"].is_null());
    score(folder.path(), &["card", "score.json"]).success();
}

#[test]
fn a_score_changed_by_hand_is_refused() {
    let folder = cohort();
    let at = folder.path();
    score(at, &["fit", "cohort.csv", "--outcome", "death", "--out", "score.json"]).success();
    let mut saved = json(&fs::read_to_string(at.join("score.json")).unwrap());
    saved["theta"] = 0.into();
    fs::write(at.join("score.json"), saved.to_string()).unwrap();
    for verb in [&["card", "score.json"][..], &["apply", "score.json", "cohort.csv"]] {
        let error = stderr(&score(at, verb).code(2));
        assert!(error.contains("acts at 0 points") && error.contains("score.json"), "{error}");
    }
}
