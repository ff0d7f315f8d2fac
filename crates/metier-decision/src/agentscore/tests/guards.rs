//! Values that would crash, or silently give a wrong answer, are refused by name.

use super::{cohort, fitted};
use crate::agentscore::baselines::AutoScore;
use crate::agentscore::select::{Covering, mip};
use crate::agentscore::*;
use metier_core::Silent;
use metier_data::{Column, Frame};
use serde_json::{Value, json};

// A saved score after a change by hand.
fn changed(change: impl FnOnce(&mut Value)) -> metier_core::Result<Checklist> {
    let checklist = fitted(&Config { m: 3, ..Config::default() });
    let mut saved: Value = serde_json::from_str(&checklist.to_json().unwrap()).unwrap();
    change(&mut saved);
    Checklist::from_json(&saved.to_string())
}

fn refusal(change: impl FnOnce(&mut Value)) -> String {
    changed(change).map(drop).unwrap_err().to_string()
}

#[test]
fn a_saved_score_with_too_many_items_is_refused_rather_than_counted_wrong() {
    let many = |saved: &mut Value| {
        let item = saved["items"][0].clone();
        let risk = saved["risk"]["rows"][0].clone();
        saved["items"] = vec![item; 300].into();
        saved["risk"]["rows"] = (0..=300)
            .map(|points| {
                let mut row = risk.clone();
                row["points"] = points.into();
                row
            })
            .collect();
    };
    assert_eq!(refusal(many), "items: 300 items, where a checklist holds 1 to 20");
    // Nor does one that was put together by a program wrap around.
    let mut checklist = fitted(&Config::default());
    checklist.items = vec![checklist.items[0].clone(); 300];
    let error = checklist.score(&cohort(10).0).unwrap_err();
    assert_eq!(error.to_string(), "items: 300 items, where a checklist holds 1 to 20");
    assert_eq!(refusal(|saved| saved["items"] = json!([])), "items: there are none");
}

#[test]
fn every_field_of_a_saved_score_is_checked() {
    assert!(changed(|_| ()).is_ok());
    for theta in [0, 4] {
        assert_eq!(
            refusal(|saved| saved["theta"] = theta.into()),
            format!("theta: acts at {theta} points, where 3 items allow 1 to 3")
        );
    }
    let rule = |rule: Value| refusal(move |saved| saved["items"][1]["rule"] = rule);
    assert_eq!(
        rule(json!({"type": "categorical_in", "feature": "ward", "in": []})),
        "items[1].rule: no categories"
    );
    // All of no rules would be true of everyone.
    assert_eq!(
        rule(json!({"type": "logical", "op": "and", "rules": []})),
        "items[1].rule: a logical rule joins at least two"
    );
    assert_eq!(
        rule(json!({"type": "numeric_range", "feature": "age", "low": 9, "high": 1})),
        "items[1].rule: low is above high"
    );
    assert!(
        rule(json!({"type": "quantile_threshold", "feature": "age", "op": ">=", "q": 0.5}))
            .ends_with("is no fixed number")
    );
    let threshold = |value: Value| json!({"type": "numeric_threshold", "feature": "age", "op": ">=", "threshold": value});
    // JSON has no NaN; what stands for it is no number either.
    assert!(rule(threshold(Value::Null)).starts_with("no saved score: "));
    assert_eq!(
        refusal(|saved| drop(saved["risk"]["rows"].as_array_mut().unwrap().pop())),
        "risk: 3 rows, where 3 items want one for each of 0 to 3 points"
    );
    assert!(
        refusal(|saved| saved["risk"]["rows"][2]["points"] = 7.into())
            .starts_with("risk.rows[2]: is of 7 points")
    );
    assert!(
        refusal(|saved| saved["risk"]["rows"][2]["risk"] = 1.5.into())
            .starts_with("risk.rows[2]: a risk lies within its interval")
    );
    assert!(
        refusal(|saved| saved["items"][0]["validation"] = 7.into())
            .starts_with("items[0]: an AUROC")
    );
    assert_eq!(
        refusal(|saved| saved["known"] = json!({"shoe": ["left"]})),
        "known: `shoe` is no column that an item asks about"
    );
    assert_eq!(
        refusal(|saved| saved["dictionary"]["columns"]["age"]["step"] = 0.0.into()),
        "age: step has to be above zero"
    );
    assert!(refusal(|saved| saved["config"]["m"] = 0.into()).starts_with("rules: "));
    assert!(refusal(|saved| saved["objective"] = json!({"ppv": 3.0})).starts_with("objective: "));
}

#[test]
fn settings_that_compare_with_nothing_are_refused() {
    let screened = |change: fn(&mut Screening)| {
        let mut config = Config::default();
        change(&mut config.screening);
        config.validate().unwrap_err().to_string()
    };
    assert!(screened(|s| s.tau = Tau::Fixed(f64::NAN)).starts_with("tau: "));
    assert!(
        screened(|s| s.tau = Tau::Adaptive { cap: 0.6, rank: 30, floor: f64::NAN })
            .starts_with("tau: ")
    );
    assert!(screened(|s| s.slack = f64::NAN).starts_with("slack: "));
    assert!(screened(|s| s.gain = -0.1).starts_with("gain: "));
    assert!(screened(|s| s.most = 0).starts_with("most: "));
    for seconds in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        let config = Config { seconds, selector: Selector::Mip, ..Config::default() };
        let error = config.validate().unwrap_err();
        assert_eq!(error.location().field.as_deref(), Some("seconds"), "{seconds}");
        // The program by itself has no settings to check, and does not fall over either.
        let problem = Covering::new(&[vec![true], vec![false]], &[1, 0], 1, 1.0, 1.0);
        assert!(mip(&problem, &[], seconds, &Silent).is_err(), "{seconds}");
    }
    for (config, field) in [
        (Config { nodes: 0, ..Config::default() }, "nodes"),
        (Config { exact_pool: 0, ..Config::default() }, "exact-pool"),
        (Config { rounds: 0, ..Config::default() }, "rounds"),
    ] {
        assert_eq!(config.validate().unwrap_err().location().field.as_deref(), Some(field));
    }
}

#[test]
fn a_table_without_rows_and_no_folds_are_errors() {
    let empty = Frame::new(vec![Column::number("age", Vec::new())]).unwrap();
    let error = AutoScore::fit(&empty, &[], 6, &[]).unwrap_err();
    assert_eq!(error.message(), "there are no rows to learn from");
    let error = fit(&empty, &[], &mut DataProposer::default(), &Config::default()).unwrap_err();
    assert_eq!(error.message(), "there are no rows to learn from");
    let (frame, y) = cohort(30);
    for count in [0, 1] {
        let error = folds(&frame, &y, None, count, 0).unwrap_err();
        assert_eq!(error.to_string(), "folds: a cross-validation needs at least two folds");
    }
    assert_eq!(folds(&frame, &y[1..], None, 5, 0).unwrap_err().message(), "29 labels for 30 rows");
    for share in [-0.1, 1.1, f64::NAN] {
        assert!(holdout(&frame, &y, None, share, 0).is_err(), "{share}");
    }
}
