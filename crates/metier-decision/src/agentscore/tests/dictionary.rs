//! What a dictionary says about types and steps has an effect, and what does not fit it is named.

use super::{cohort, rule};
use crate::agentscore::*;
use metier_data::{Column, Frame};

fn view(frame: &Frame, y: &[u8], dictionary: &str) -> metier_core::Result<AggregateView> {
    let rows: Vec<usize> = (0..frame.height()).collect();
    AggregateView::new(frame, y, &rows, &[], &Dictionary::parse(dictionary)?)
}

fn summary(frame: &Frame, y: &[u8], dictionary: &str) -> Summary {
    view(frame, y, dictionary).unwrap().features[0].summary.clone()
}

#[test]
fn types_decide_what_a_column_is() {
    let y = [0, 0, 1, 1, 1, 0];
    let words = ["No", "yes", "YES", "present", "yes", "absent"];
    let words = Frame::new(vec![Column::text("fever", words.map(Some))]).unwrap();
    let grades =
        Frame::new(vec![Column::number("grade", vec![1.0, 2.0, 2.0, 1.0, 2.0, 1.0])]).unwrap();
    let flag =
        Frame::new(vec![Column::number("flag", vec![0.0, 1.0, 1.0, 1.0, 1.0, 0.0])]).unwrap();

    assert!(matches!(summary(&words, &y, "{}"), Summary::Category(_)));
    let binary = summary(&words, &y, "columns: {fever: {type: binary}}");
    let Summary::Binary { share, rate_yes, rate_no, no } = binary else { panic!("{binary:?}") };
    assert!((share - 4.0 / 6.0).abs() < 1e-15 && rate_yes == 0.75 && rate_no == 0.0);
    assert_eq!(no, ["No", "absent"]);

    assert!(matches!(summary(&grades, &y, "{}"), Summary::Category(_)));
    assert!(matches!(summary(&flag, &y, "{}"), Summary::Binary { .. }));
    for (frame, name) in [(&grades, "grade"), (&flag, "flag")] {
        let text = format!("columns: {{{name}: {{type: number}}}}");
        assert!(matches!(summary(frame, &y, &text), Summary::Number { .. }));
        let text = format!("columns: {{{name}: {{type: category}}}}");
        assert!(matches!(summary(frame, &y, &text), Summary::Category(_)));
    }
}

#[test]
fn a_binary_column_of_words_makes_items() {
    let (frame, y) = cohort(600);
    let shock = frame.numbers("shock").unwrap().to_vec();
    let words = shock.iter().map(|&yes| Some(if yes == 1.0 { "Yes" } else { "no" }));
    let frame = frame.select(&["age", "crea"]).unwrap().with(Column::text("shock", words)).unwrap();
    let dictionary = Dictionary::parse("columns: {shock: {type: binary}}").unwrap();
    let config = Config { dictionary, ..Config::default() };
    let checklist = fit(&frame, &y, &mut DataProposer::single(), &config).unwrap();
    assert!(checklist.items.iter().any(|item| item.text == "shock"), "{:?}", checklist.items);
}

#[test]
fn a_column_that_is_not_of_its_type_is_named() {
    let frame = Frame::new(vec![
        Column::number("grade", vec![0.0, 1.0, f64::NAN, 3.0]),
        Column::text("stage", [None, Some("II"), Some("no"), Some("yes")]),
    ])
    .unwrap();
    let refused = |dictionary: &str| {
        let error = view(&frame, &[0, 1, 0, 1], dictionary).unwrap_err();
        assert!(error.help_text().unwrap().starts_with("the dictionary gives it type "), "{error}");
        error.to_string()
    };
    assert_eq!(refused("columns: {grade: {type: binary}}"), "row 4, grade: 3 is neither 0 nor 1");
    assert_eq!(
        refused("columns: {stage: {type: binary}}"),
        "row 2, stage: `II` is neither yes nor no"
    );
    assert_eq!(refused("columns: {stage: {type: number}}"), "row 2, stage: `II` is no number");
}

#[test]
fn a_direction_needs_an_order() {
    let frame = Frame::new(vec![Column::text("ward", [Some("yes"), None, Some("west")])]).unwrap();
    let error = view(&frame, &[0, 1, 0], "columns: {ward: {direction: up}}").unwrap_err();
    assert_eq!(error.to_string(), "row 3, ward: `west` is neither yes nor no");
    assert_eq!(
        error.help_text(),
        Some("the dictionary gives it a direction, up or down; correct the one or the other")
    );
}

#[test]
fn every_kind_of_rule_is_held_to_the_directions() {
    let column = |name: &str, top: usize| {
        Column::number(name, (0..40).map(|row| (row * 7 % top) as f64).collect())
    };
    let words = (0..40).map(|row| Some(if row % 3 == 0 { "yes" } else { "no" }));
    let frame = Frame::new(vec![
        column("crea", 39),
        column("bun", 37),
        column("flag", 2),
        column("grade", 4),
        Column::text("fever", words),
    ])
    .unwrap();
    let y: Vec<u8> = (0..40).map(|row| u8::from(row % 4 == 0)).collect();
    let dictionary = "columns: {crea: {direction: up}, bun: {direction: down}, flag: {direction: up}, \
                      grade: {type: category, direction: up}, fever: {direction: up}}";
    let view = view(&frame, &y, dictionary).unwrap();
    let against = |text: &str| view.against_direction(&rule(text));
    for (right, wrong, feature) in [
        (
            r#"{"type":"binary_true","feature":"flag"}"#,
            r#"{"type":"categorical_in","feature":"flag","in":["0"]}"#,
            "flag",
        ),
        (
            r#"{"type":"categorical_in","feature":"fever","in":["yes"]}"#,
            r#"{"type":"categorical_in","feature":"fever","in":["no"]}"#,
            "fever",
        ),
        (
            r#"{"type":"categorical_in","feature":"grade","in":["3","2"]}"#,
            r#"{"type":"categorical_in","feature":"grade","in":["1","0"]}"#,
            "grade",
        ),
        (
            r#"{"type":"categorical_in","feature":"grade","in":["3"]}"#,
            r#"{"type":"categorical_in","feature":"grade","in":["0","3"]}"#,
            "grade",
        ),
        (
            r#"{"type":"derived_numeric_threshold","expr":"crea / bun","op":">","threshold":2}"#,
            r#"{"type":"derived_numeric_threshold","expr":"bun - crea","op":">","threshold":2}"#,
            "bun",
        ),
        (
            r#"{"type":"count_present","features":["flag","fever"],"min_count":1}"#,
            r#"{"type":"count_present","features":["flag","bun"],"min_count":1}"#,
            "bun",
        ),
        (
            r#"{"type":"percent_change","feature_t0":"bun","feature_t1":"crea","pct":50,"op":">=","direction":"increase"}"#,
            r#"{"type":"percent_change","feature_t0":"bun","feature_t1":"crea","pct":50,"op":">=","direction":"decrease"}"#,
            "crea",
        ),
        (
            r#"{"type":"logical","op":"and","rules":[{"type":"binary_true","feature":"flag"},{"type":"binary_true","feature":"fever"}]}"#,
            r#"{"type":"logical","op":"and","rules":[{"type":"binary_true","feature":"flag"},{"type":"categorical_in","feature":"fever","in":["no"]}]}"#,
            "fever",
        ),
    ] {
        assert_eq!(against(right), None, "{right}");
        assert_eq!(against(wrong).as_deref(), Some(feature), "{wrong}");
    }
}

#[test]
fn every_cut_point_is_rounded_to_the_bedside() {
    let (frame, y) = cohort(400);
    let view = view(&frame, &y, "columns: {crea: {step: 0.5}}").unwrap();
    let rounded = |text: &str| view.resolve(rule(text)).key();
    for (proposed, expected) in [
        (
            r#"{"type":"numeric_threshold","feature":"age","op":">=","threshold":64.37}"#,
            r#""threshold":64.0}"#,
        ),
        (
            r#"{"type":"numeric_threshold","feature":"crea","op":">=","threshold":64.37}"#,
            r#""threshold":64.5}"#,
        ),
        (
            r#"{"type":"numeric_range","feature":"age","low":40.12,"high":65.9}"#,
            r#""low":40.0,"high":66.0}"#,
        ),
        (
            r#"{"type":"derived_numeric_threshold","expr":"crea / age","op":">","threshold":2.345}"#,
            r#""threshold":2.3}"#,
        ),
        (
            r#"{"type":"percent_change","feature_t0":"crea","feature_t1":"age","pct":48.7,"op":">=","direction":"increase"}"#,
            r#""pct":49.0,"op":">=","direction":"increase"}"#,
        ),
        (
            r#"{"type":"logical","op":"or","rules":[{"type":"binary_true","feature":"shock"},{"type":"numeric_threshold","feature":"age","op":"<","threshold":50.4}]}"#,
            r#""threshold":50.0}]}"#,
        ),
    ] {
        assert!(rounded(proposed).ends_with(expected), "{}", rounded(proposed));
    }
}

#[test]
fn an_expert_is_told_when_a_cut_point_was_rounded() {
    let (frame, y) = cohort(600);
    let rules = || {
        FileProposer::new(vec![
            rule(r#"{"type":"numeric_threshold","feature":"age","op":">=","threshold":60.4}"#),
            rule(r#"{"type":"binary_true","feature":"shock"}"#),
        ])
    };
    let learn = |dictionary: &str| {
        let dictionary = Dictionary::parse(dictionary).unwrap();
        fit(&frame, &y, &mut rules(), &Config { dictionary, ..Config::default() }).unwrap()
    };
    let rounded = learn("{}");
    assert_eq!(rounded.items[0].text, "age ≥ 60");
    assert_eq!(
        rounded.warnings,
        [
            "`age ≥ 60.4` is rounded to `age ≥ 60`; give the column a finer step in the dictionary to keep it"
        ]
    );
    let kept = learn("columns: {age: {step: 0.1}}");
    assert_eq!((kept.items[0].text.as_str(), kept.warnings.len()), ("age ≥ 60.4", 0));
}
