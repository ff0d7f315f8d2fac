//! Bad input, row by row of the specification.

use super::{cohort, rule};
use crate::agentscore::*;
use metier_data::{Column, Frame};

#[test]
fn an_outcome_that_is_not_0_or_1_is_named() {
    let frame =
        Frame::new(vec![Column::text("death", [Some("alive"), Some("dead"), None])]).unwrap();
    let error = checks::labels(&frame, "death").unwrap_err();
    assert_eq!(error.to_string(), "death: the outcome is not 0 or 1 but: alive, dead, missing");
    let frame = Frame::new(vec![Column::number("death", vec![0.0, 1.0, 2.0])]).unwrap();
    let error = checks::labels(&frame, "death").unwrap_err();
    assert_eq!(error.message(), "the outcome is not 0 or 1 but: 0, 1, 2");
}

#[test]
fn one_class_and_few_events_are_refused() {
    let (frame, _) = cohort(50);
    let run = |y: &[u8], force: bool| {
        let config = Config { force, ..Config::default() };
        fit(&frame, y, &mut DataProposer::default(), &config)
    };
    assert_eq!(run(&[0; 50], true).unwrap_err().message(), "the outcome is 0 in every row");
    let few: Vec<u8> = (0..50).map(|i| u8::from(i % 10 == 0)).collect();
    let error = run(&few, false).unwrap_err();
    assert_eq!(error.message(), "only 5 cases and 45 others");
    assert!(error.help_text().unwrap().contains("--force"));
    let forced = run(&few, true);
    assert!(
        forced.map_or_else(|e| e.message().starts_with("no rule passes"), |c| !c.items.is_empty())
    );
}

#[test]
fn leaks_are_left_out_unless_allowed() {
    let (frame, y) = cohort(300);
    let status = y.iter().map(|&label| Some(if label == 1 { "morgue" } else { "home" }));
    let frame = frame
        .with(Column::text("discharge_status", status))
        .unwrap()
        .with(Column::number("death_day", (0..300).map(f64::from).collect()))
        .unwrap();
    let config = Config { outcome: "death".into(), ..Config::default() };
    let checklist = fit(&frame, &y, &mut DataProposer::default(), &config).unwrap();
    assert!(checklist.warnings.iter().any(|w| w == "possible leak: discharge_status (it separates the outcome (AUROC 1.000)); it is left out"), "{:?}", checklist.warnings);
    assert!(checklist.warnings.iter().any(|w| w == "possible leak: death_day (it is named like the outcome); it is left out"));
    let config = Config { allow: vec!["discharge_status".into()], ..config };
    let allowed = fit(&frame, &y, &mut DataProposer::default(), &config).unwrap();
    assert_eq!(allowed.training.auroc, 1.0);
}

#[test]
fn strange_values_are_pointed_at() {
    let mut crea: Vec<f64> = (0..60).map(|i| 60.0 + f64::from(i)).collect();
    crea[3] = f64::NAN;
    crea[4] = f64::INFINITY;
    for row in [10, 20, 30] {
        crea[row] = 0.8 + 0.01 * row as f64;
    }
    let frame = Frame::new(vec![Column::number("crea", crea)]).unwrap();
    let warnings = checks::warnings(&frame);
    assert_eq!(warnings[0], "crea: missing in row 4; rules about it are false there");
    assert_eq!(warnings[1], "crea: infinite in row 5; taken as missing");
    assert!(
        warnings[2].starts_with("crea: two groups of values a factor ")
            && warnings[2].ends_with("as from two units; the smaller group is in rows 11, 21, 31"),
        "{}",
        warnings[2]
    );
    // A skewed laboratory value is no mixture of units.
    let skewed = (1..200).map(|i| (f64::from(i) / 30.0).exp()).collect();
    assert!(checks::warnings(&Frame::new(vec![Column::number("crp", skewed)]).unwrap()).is_empty());
}

#[test]
fn a_patient_who_comes_twice_needs_a_group() {
    let (frame, y) = cohort(200);
    let ids = (0..200).map(|i| f64::from(i / 2)).collect();
    let frame = frame.with(Column::number("patient_id", ids)).unwrap();
    let error = fit(&frame, &y, &mut DataProposer::default(), &Config::default()).unwrap_err();
    assert_eq!(error.location().field.as_deref(), Some("patient_id"));
    assert_eq!(
        error.message(),
        "`0` comes 2 times: rows of one patient would lie on both sides of a split"
    );
    let config = Config { group: Some("patient_id".into()), ..Config::default() };
    let checklist = fit(&frame, &y, &mut DataProposer::default(), &config).unwrap();
    assert!(checklist.items.iter().all(|item| !item.text.contains("patient_id")));
}

#[test]
fn an_unknown_category_is_false_and_counted() {
    let (frame, y) = cohort(600);
    let rules = vec![
        rule(r#"{"type":"categorical_in","feature":"ward","in":["east"]}"#),
        rule(r#"{"type":"numeric_threshold","feature":"age","op":">=","threshold":60}"#),
    ];
    let config = Config {
        screening: Screening { verify: false, ..Screening::default() },
        ..Config::default()
    };
    let mut checklist = fit(&frame, &y, &mut FileProposer::new(rules.clone()), &config).unwrap();
    checklist.items[0].rule = rules[0].clone();
    checklist.known.insert("ward".into(), vec!["east".into(), "north".into(), "west".into()]);
    let other = Frame::new(vec![
        Column::text("ward", [Some("south"), Some("east"), None]),
        Column::number("age", vec![30.0; 3]),
    ])
    .unwrap();
    assert_eq!(rules[0].truth(&other).unwrap(), [false, true, false]);
    let spots = checklist.blind_spots(&other);
    assert!(spots.contains(&("ward: category not seen in training".into(), 1)), "{spots:?}");
    assert!(spots.contains(&("ward: missing".into(), 1)), "{spots:?}");
}

#[test]
fn no_rule_at_all_shows_the_nearest() {
    let (frame, y) = cohort(300);
    let config = Config {
        screening: Screening { tau: Tau::Fixed(0.99), ..Screening::default() },
        ..Config::default()
    };
    let error = fit(&frame, &y, &mut DataProposer::single(), &config).unwrap_err();
    let message = error.message();
    assert!(message.starts_with("no rule passes; the best by AUROC are:\n  0."), "{message}");
    assert_eq!(message.lines().count(), 11);
}

#[test]
fn an_unknown_feature_is_refused_with_the_nearest_names() {
    let (frame, _) = cohort(20);
    let error = rule(r#"{"type":"binary_true","feature":"creat"}"#).check(&frame, 1).unwrap_err();
    assert_eq!(error.message(), "no column `creat`");
    assert!(error.help_text().unwrap().starts_with("did you mean `crea`?"));
}

#[test]
fn settings_out_of_range_are_named() {
    for (config, message) in [
        (Config { m: 0, ..Config::default() }, "a checklist holds between 1 and 20 rules"),
        (Config { max_per_feature: 0, ..Config::default() }, "at least one rule per column"),
        (Config { depth: 9, ..Config::default() }, "nobody reads logic deeper than 3"),
        (
            Config { objective: Threshold::Sensitivity(1.5), ..Config::default() },
            "sensitivity and PPV lie between 0 and 1, odds above 0",
        ),
    ] {
        assert_eq!(config.validate().unwrap_err().message(), message);
    }
    let error = Dictionary::parse("columns:\n  crea: {stepp: 1}\n").unwrap_err();
    assert!(error.message().contains("stepp"), "{error}");
    let error = Dictionary::parse("columns: {crea: {step: 0}}").unwrap_err();
    assert_eq!(error.to_string(), "crea: step has to be above zero");
    let (frame, y) = cohort(100);
    let dictionary = Dictionary::parse("columns: {creat: {step: 1}}").unwrap();
    let error =
        fit(&frame, &y, &mut DataProposer::default(), &Config { dictionary, ..Config::default() })
            .unwrap_err();
    assert_eq!(error.message(), "no column `creat`");
}
