//! AUROC, lines and similarity by hand.

use crate::agentscore::*;
use crate::auroc::Histogram;
use metier_core::Silent;
use metier_data::{Column, Frame};
use proptest::prelude::*;

// 1
#[test]
fn auroc_and_youden_by_hand() {
    let y = [0, 0, 1, 0, 1, 1, 1, 0];
    let histogram = Histogram::of(&[0, 1, 1, 2, 2, 3, 3, 3], &y, 3);
    assert_eq!(histogram.auroc(), 0.6875);
    for theta in 1..=3 {
        let line = Confusion::at(&histogram, theta);
        assert!((line.sensitivity() + line.specificity() - 1.25).abs() < 1e-12, "{theta}");
    }
    assert_eq!(Threshold::Youden.theta(&histogram), 1);
}

#[test]
fn each_objective_sets_its_line() {
    // Points 0..=3: cases 1, 2, 3, 4; others 4, 3, 2, 1.
    let histogram = Histogram { positives: vec![1, 2, 3, 4], negatives: vec![4, 3, 2, 1] };
    assert_eq!(Threshold::Sensitivity(0.9).theta(&histogram), 1);
    assert_eq!(Threshold::Sensitivity(0.7).theta(&histogram), 2);
    assert_eq!(Threshold::Ppv(0.75).theta(&histogram), 3);
    assert_eq!(Threshold::Ppv(0.75).missed(&histogram), None);
    let missed = Threshold::Ppv(0.999).missed(&histogram).unwrap();
    assert!(missed.starts_with("no number of points reaches a positive predictive value"));
    assert_eq!(Threshold::F1.theta(&histogram), 1);
    // Net benefit at odds 1: (hits - alarms) / 20 = 3, 4, 3.
    assert_eq!(Threshold::NetBenefit(1.0).theta(&histogram), 2);
    assert!(Threshold::NetBenefit(0.0).validate().is_err());
}

// 2
#[test]
fn jaccard_of_positives_decides_what_is_redundant() {
    let y = [1, 1, 1, 1, 1, 0, 0, 0];
    let layout = Layout::new(&y, &[false; 8]);
    let bits = |rows: &[usize]| {
        let mut truth = vec![false; 8];
        rows.iter().for_each(|&row| truth[row] = true);
        layout.pack(&truth)
    };
    // Non-cases do not count.
    let (a, b) = (bits(&[0, 1, 2, 3, 6]), bits(&[2, 3, 4, 7]));
    assert_eq!(jaccard(&a, &b, &layout, Part::Construction), 0.4);

    let frame = Frame::new(vec![
        Column::number("a", vec![1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
        Column::number("b", vec![0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]),
    ])
    .unwrap();
    let kept = |rho: f64| {
        let screening =
            Screening { tau: Tau::Fixed(0.5), slack: 1.0, rho, gain: 0.5, ..Screening::default() };
        let rows: Vec<usize> = (0..8).collect();
        let view = AggregateView::new(&frame, &y, &rows, &[], &Dictionary::default()).unwrap();
        let mut pool = Pool::new(&frame, &layout, &view, &screening, &[]);
        let rules = ["a", "b"].map(|f| Rule::True { feature: f.into() }).to_vec();
        let mut proposer = FileProposer::new(Vec::new());
        pool.admit(rules, &mut proposer, &Silent).unwrap();
        pool.kept().len()
    };
    assert_eq!((kept(0.95), kept(0.3)), (2, 1));
}

// With columns of falling worth, two of them the same, the fourth best that is not redundant
// sets the bar for the batch.
#[test]
fn the_bar_is_the_auroc_of_a_rule_far_down_the_list() {
    let rows = 200;
    let y: Vec<u8> = (0..rows).map(|row| u8::from(row % 2 == 0)).collect();
    let layout = Layout::new(&y, &vec![false; rows]);
    // Right for all but every n-th row.
    let column = |name: &str, n: usize| {
        let right = |row: usize| !(row / 2).is_multiple_of(n);
        let value = |row: usize| f64::from(u8::from(right(row) == (y[row] == 1)));
        Column::number(name, (0..rows).map(value).collect())
    };
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut columns: Vec<Column> =
        names.iter().zip([9, 8, 7, 6, 5, 4]).map(|(name, n)| column(name, n)).collect();
    columns.push(column("twin", 9));
    let frame = Frame::new(columns).unwrap();
    let every: Vec<usize> = (0..rows).collect();
    let view = AggregateView::new(&frame, &y, &every, &[], &Dictionary::default()).unwrap();
    let kept = |rank: usize| {
        let tau = Tau::Adaptive { cap: 0.99, rank, floor: 0.52 };
        let screening = Screening { tau, slack: 1.0, ..Screening::default() };
        let mut pool = Pool::new(&frame, &layout, &view, &screening, &[]);
        let rules = frame.names().map(|name| Rule::True { feature: name.into() }).collect();
        pool.admit(rules, &mut FileProposer::new(Vec::new()), &Silent).unwrap();
        let words: Vec<String> = pool.kept().iter().map(|kept| kept.rule.to_string()).collect();
        (words, pool.verdicts.last().unwrap().reason.clone())
    };
    let (words, reason) = kept(4);
    assert_eq!(words, ["a", "b", "c", "d"]);
    assert_eq!(reason, "AUROC 0.750 is below 0.830");
    assert_eq!(kept(30).0, names);
    assert!(kept(0).0.is_empty(), "nothing reaches the cap");
}

// 3
#[test]
fn a_rule_alone() {
    let y: Vec<u8> = (0..20).map(|i| u8::from(i < 10)).collect();
    let truth: Vec<bool> = (0..20).map(|i| i < 7 || (10..14).contains(&i)).collect();
    let layout = Layout::new(&y, &[false; 20]);
    assert!((rule_auroc(&layout.pack(&truth), &layout, Part::All) - 0.65).abs() < 1e-15);
}

proptest! {
    // The trapezoids under the curve are the share of pairs in order.
    #[test]
    fn the_area_under_the_roc_curve_is_the_auroc(
        rows in proptest::collection::vec((0u8..6, 0u8..2), 2..40)
    ) {
        let scores: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
        let y: Vec<u8> = rows.iter().map(|row| row.1).collect();
        let curve = crate::auroc::roc(&scores, &y);
        let area: f64 = curve
            .windows(2)
            .map(|two| (two[1][0] - two[0][0]) * (two[1][1] + two[0][1]) / 2.0)
            .sum();
        if curve.is_empty() {
            prop_assert!(y.iter().all(|label| *label == y[0]));
        } else {
            prop_assert!((area - crate::auroc::auroc(&scores, &y)).abs() < 1e-12);
            prop_assert_eq!(curve.last(), Some(&[1.0, 1.0]));
        }
    }
}
