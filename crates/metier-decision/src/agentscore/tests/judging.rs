//! Another table, and a score that exists already.

use super::{cohort, fitted};
use crate::agentscore::*;
use metier_core::Silent;

// 12
#[test]
fn the_nottingham_index_reproduces_its_auroc() {
    let (frame, y) = evidence::german(3.0).unwrap();
    assert_eq!(frame.height(), 555);
    let index = evidence::npi().unwrap().score(&frame).unwrap();
    assert!((crate::auroc::auroc(&index, &y) - 0.6985).abs() < 5e-5);
}

#[test]
fn a_validation_is_a_page_with_the_old_score_beside() {
    let checklist = fitted(&Config { outcome: "death <1 year".into(), ..Config::default() });
    let (frame, y) = cohort(300);
    let old = r#"{"name":"age & more","terms":[{"column":"age","times":1}]}"#;
    let old = Reference::parse(old).unwrap();
    let plain = checklist.validate(&frame, &y).unwrap();
    let judged = plain.clone().beside(&checklist, &old, &frame, &y).unwrap();
    let page = judged.to_html(&checklist);
    assert!(page.contains("<h1>Validation: Checklist for death &lt;1 year</h1>"), "{page}");
    assert!(page.contains(&format!("AUROC {:.3} (", judged.auroc)), "{page}");
    assert!(page.contains("age &amp; more: 0."), "{page}");
    for figure in ["ROC curve", "Calibration", "Decision curve", "When columns are not at hand"] {
        assert!(page.contains(figure), "{figure}");
    }
    assert!(!page.contains("How many items"));
    let mut counted = checklist.clone();
    let mut fresh = |_| Ok(Box::new(DataProposer::single()) as Box<dyn Proposer>);
    let config = Config::default();
    let mut honest = cross_validate(&frame, &y, &mut fresh, &config, 5, &Silent).unwrap();
    honest.by_items = by_items(&frame, &y, &mut fresh, &config, 3, 5, &Silent).unwrap();
    assert_eq!(honest.by_items.len(), 3);
    counted.honest = Some(honest);
    assert!(judged.to_html(&counted).contains("How many items are worth asking"));
    // Nothing is fetched: addresses are names of formats only.
    assert_eq!(page.matches("http").count(), page.matches("http://www.w3.org/").count());
    assert!(!plain.to_html(&checklist).contains("age &amp; more"));
}

#[test]
fn another_table_is_validated_with_a_score_beside() {
    let (frame, y) = cohort(600);
    let checklist = fit(&frame, &y, &mut DataProposer::default(), &Config::default()).unwrap();
    let (seen, label) = (frame.take(&(0..250).collect::<Vec<_>>()), &y[..250]);
    let age = Reference::parse(r#"{"name":"age","terms":[{"column":"age","times":1}]}"#).unwrap();
    let validation =
        checklist.validate(&seen, label).unwrap().beside(&checklist, &age, &seen, label).unwrap();
    assert_eq!(validation.rows, 250);
    assert!(
        validation.auroc_interval[0] < validation.auroc
            && validation.auroc < validation.auroc_interval[1]
    );
    let comparison = validation.comparison.unwrap();
    assert!(comparison.difference > 0.0 && comparison.interval[0] <= comparison.difference);
    assert_eq!(validation.calibration.iter().map(|c| c.rows).sum::<u64>(), 250);
    // Nothing missing is what was judged, everything missing tells nobody apart.
    let (whole, none) = (&validation.missing[0], validation.missing.last().unwrap());
    assert_eq!(
        (whole.auroc, whole.least, whole.most),
        (validation.auroc, whole.auroc, whole.auroc)
    );
    assert!(none.columns >= 2 && none.auroc == 0.5, "{none:?}");
    assert!(
        validation
            .missing
            .iter()
            .all(|at| at.least <= at.auroc + 1e-12 && at.auroc <= at.most + 1e-12)
    );
    let all = &validation.decision_curve[9];
    let cases = validation.cases as f64;
    assert!((all.all - (cases - (250.0 - cases) / 9.0) / 250.0).abs() < 1e-12);
    let wrong =
        Reference::parse(r#"{"name":"x","terms":[{"column":"a","cuts":[2,1],"points":[0,1,2]}]}"#);
    assert_eq!(wrong.unwrap_err().message(), "cuts have to rise, with one more points than cuts");
}
