//! The grammar of rules, and what they are true of.

use super::{cohort, rule};
use crate::agentscore::*;
use metier_data::{Column, Frame};

// 5
#[test]
fn a_missing_value_is_neither_above_nor_below() {
    let frame = Frame::new(vec![Column::number("x", vec![f64::NAN, f64::INFINITY, 1.0])]).unwrap();
    let truth =
        |op| Rule::Threshold { feature: "x".into(), op, threshold: 1.0 }.truth(&frame).unwrap();
    assert_eq!(truth(Op::Ge), [false, false, true]);
    assert_eq!(truth(Op::Lt), [false, false, false]);
    assert_eq!(truth(Op::Le), [false, false, true]);
}

// 8
#[test]
fn every_type_of_rule_survives_json() {
    let rules = [
        r#"{"type":"numeric_threshold","feature":"age","op":">=","threshold":65.0}"#,
        r#"{"type":"numeric_range","feature":"age","low":40.0,"high":65.0}"#,
        r#"{"type":"categorical_in","feature":"ward","in":["east","west"]}"#,
        r#"{"type":"binary_true","feature":"shock"}"#,
        r#"{"type":"derived_numeric_threshold","expr":"crea / age","op":">","threshold":2.0}"#,
        r#"{"type":"count_present","features":["shock","ward"],"min_count":1}"#,
        r#"{"type":"logical","op":"and","rules":[{"type":"binary_true","feature":"shock"},{"type":"numeric_threshold","feature":"age","op":"<","threshold":50.0}]}"#,
        r#"{"type":"percent_change","feature_t0":"crea","feature_t1":"age","pct":50.0,"op":">=","direction":"increase"}"#,
        r#"{"type":"zscore_threshold","feature":"crea","op":"<=","z":-1.0}"#,
        r#"{"type":"quantile_threshold","feature":"crea","op":">=","q":0.8}"#,
    ];
    let (frame, _) = cohort(50);
    for text in rules {
        let parsed = rule(text);
        assert_eq!(parsed.key(), text);
        assert_eq!(Rule::parse(&parsed.key()).unwrap(), parsed);
        parsed.check(&frame, 1).unwrap();
        let wrong = text.replacen('{', r#"{"points":2,"#, 1);
        let error = Rule::parse(&wrong).unwrap_err();
        assert!(error.message().contains("unknown field `points`"), "{error}");
    }
    assert_eq!(
        rule(r#"{"type":"categorical_in","feature":"n","in":[1,2.5]}"#).to_string(),
        "n is one of 1, 2.5"
    );
    let error = Rule::parse(r#"{"type":"magic","feature":"age"}"#).unwrap_err();
    assert!(error.message().contains("unknown variant `magic`"), "{error}");
    let inner = rules[6];
    let deep = rule(&format!(r#"{{"type":"logical","op":"or","rules":[{inner},{}]}}"#, rules[3]));
    let error = deep.check(&frame, 1).unwrap_err();
    assert_eq!(error.message(), "logic of depth 2, where 1 is allowed");
    deep.check(&frame, 2).unwrap();
}

#[test]
fn rules_mean_what_they_say() {
    let frame = Frame::new(vec![
        Column::number("a", vec![10.0, 4.0, 0.0, f64::NAN]),
        Column::number("b", vec![5.0, 8.0, 1.0, 1.0]),
        Column::text("t", [Some("yes"), Some("no"), Some("Present"), None]),
        Column::number("c", vec![1.0, 2.0, 0.0, 1.0]),
    ])
    .unwrap();
    let truth = |text: &str| rule(text).truth(&frame).unwrap();
    let yes = |rows: [u8; 4]| rows.map(|row| row == 1).to_vec();
    assert_eq!(
        truth(r#"{"type":"derived_numeric_threshold","expr":"b/a","op":">=","threshold":0.5}"#),
        yes([1, 1, 0, 0])
    );
    assert_eq!(
        truth(r#"{"type":"derived_numeric_threshold","expr":"a - b","op":"<","threshold":0}"#),
        yes([0, 1, 1, 0])
    );
    assert_eq!(truth(r#"{"type":"binary_true","feature":"t"}"#), yes([1, 0, 1, 0]));
    assert_eq!(
        truth(r#"{"type":"count_present","features":["t","c"],"min_count":2}"#),
        yes([1, 0, 0, 0])
    );
    assert_eq!(truth(r#"{"type":"categorical_in","feature":"c","in":["2",0]}"#), yes([0, 1, 1, 0]));
    // From 10 to 5 it falls by 50 %, from 4 to 8 it rises; from nothing it does neither.
    let change = |direction: &str| {
        truth(&format!(
            r#"{{"type":"percent_change","feature_t0":"a","feature_t1":"b","pct":50,"op":">=","direction":"{direction}"}}"#
        ))
    };
    assert_eq!(change("decrease"), yes([1, 0, 0, 0]));
    assert_eq!(change("increase"), yes([0, 1, 0, 0]));
}

#[test]
fn quantiles_become_bedside_numbers() {
    let (frame, y) = cohort(400);
    let rows: Vec<usize> = (0..400).collect();
    let dictionary = Dictionary::parse("columns: {crea: {step: 5}}").unwrap();
    let view = AggregateView::new(&frame, &y, &rows, &[], &dictionary).unwrap();
    let resolved =
        view.resolve(rule(r#"{"type":"quantile_threshold","feature":"crea","op":">=","q":0.5}"#));
    let Rule::Threshold { threshold, .. } = resolved else { panic!("{resolved}") };
    assert_eq!(threshold % 5.0, 0.0);
    let Rule::Z { .. } =
        view.resolve(rule(r#"{"type":"zscore_threshold","feature":"ward","op":">=","z":1}"#))
    else {
        panic!("a category has no mean")
    };
}
