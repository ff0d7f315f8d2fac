//! What the selectors promise: limits kept, bounds told, a stop heard.

use super::{cohort, rule};
use crate::agentscore::select::{Choice, Covering, beam, exact, greedy, mip};
use crate::agentscore::*;
use metier_core::error::Kind;
use metier_core::{Progress, Silent};
use metier_data::embedded;
use std::sync::atomic::{AtomicUsize, Ordering};

// The trial of the page's own example.
fn trial() -> (metier_data::Frame, Vec<u8>) {
    let table = embedded::gbsg2().unwrap();
    let (rows, y) = checks::at_horizon(&table, "cens", "time", 1095.75).unwrap();
    let names: Vec<&str> = table.names().filter(|name| !["cens", "time"].contains(name)).collect();
    (table.select(&names).unwrap().take(&rows), y)
}

fn balanced_error(checklist: &Checklist, table: &metier_data::Frame, y: &[u8]) -> f64 {
    let histogram =
        crate::auroc::Histogram::of(&checklist.score(table).unwrap(), y, checklist.items.len());
    (1..=checklist.items.len())
        .map(|theta| Confusion::at(&histogram, theta))
        .map(|line| 1.0 - 0.5 * (line.sensitivity() + line.specificity()))
        .fold(1.0, f64::min)
}

#[test]
fn the_program_always_answers_and_never_worse_than_the_beam() {
    let (table, y) = trial();
    let learnt = |selector, max_per_feature| {
        let config = Config { selector, seconds: 0.5, max_per_feature, ..Config::default() };
        fit(&table, &y, &mut DataProposer::default(), &config).unwrap()
    };
    for most in [1, 2] {
        let (by_mip, by_beam) = (learnt(Selector::Mip, most), learnt(Selector::Beam, most));
        let error = balanced_error(&by_mip, &table, &y);
        assert!(error <= balanced_error(&by_beam, &table, &y) + 1e-9, "{error}");
        let proof = by_mip.proof.as_ref().unwrap();
        assert_eq!(proof.goal, Goal::BalancedError);
        assert!((proof.value - error).abs() < 1e-9, "{proof:?} {error}");
        assert!(
            proof.bound <= proof.value && (proof.gap - proof.value + proof.bound).abs() < 1e-12
        );
        assert!(by_beam.proof.is_none());
    }
}

#[test]
fn no_selector_asks_about_a_column_too_often() {
    let (table, y) = trial();
    let selectors = [Selector::Beam, Selector::Greedy, Selector::Exact, Selector::Mip];
    for selector in selectors {
        let config = Config {
            selector,
            max_per_feature: 1,
            exact_pool: 12,
            seconds: 1.0,
            ..Config::default()
        };
        let checklist = fit(&table, &y, &mut DataProposer::default(), &config).unwrap();
        let mut asked: Vec<&str> =
            checklist.items.iter().flat_map(|item| item.rule.features()).collect();
        let all = asked.len();
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked.len(), all, "{selector:?} {:?}", checklist.items);
    }
}

// Proposes two cut-points of one column and a flag, and chooses what it was told to.
struct Stubborn(Vec<Vec<usize>>);

impl Proposer for Stubborn {
    fn next(
        &mut self,
        _view: &AggregateView,
        feedback: &Feedback<'_>,
    ) -> metier_core::Result<Vec<Rule>> {
        let rules = [
            r#"{"type":"numeric_threshold","feature":"age","op":">=","threshold":60}"#,
            r#"{"type":"numeric_threshold","feature":"age","op":">=","threshold":75}"#,
            r#"{"type":"binary_true","feature":"shock"}"#,
        ];
        Ok(if feedback.round == 0 { rules.map(rule).to_vec() } else { Vec::new() })
    }

    fn construct(
        &mut self,
        view: &AggregateView,
        pool: &[Verdict],
        so_far: &[Attempt],
    ) -> metier_core::Result<Option<Vec<usize>>> {
        assert_eq!((view.max_per_feature, pool.len()), (1, 3));
        Ok(self.0.get(so_far.len()).cloned())
    }
}

#[test]
fn a_proposer_s_choice_is_held_to_the_same_limits() {
    let (frame, y) = cohort(600);
    let config = Config {
        selector: Selector::Llm,
        max_per_feature: 1,
        screening: Screening { rho: 1.0, ..Screening::default() },
        ..Config::default()
    };
    let learn = |choices: &[&[usize]]| {
        let choices = choices.iter().map(|choice| choice.to_vec()).collect();
        fit(&frame, &y, &mut Stubborn(choices), &config)
    };
    // The first two are refused; the third stands, though the second would have separated better.
    let places = |checklist: Checklist| checklist.items.len();
    assert_eq!(places(learn(&[&[0, 1, 2], &[0, 9], &[2]]).unwrap()), 1);
    for (choice, fault) in [
        (&[0, 1, 2][..], "rules ask about `"),
        (&[0, 9], "there is no rule 9"),
        (&[2, 2], "rule 2 comes twice"),
        (&[], "no rule is chosen"),
    ] {
        let error = learn(&[choice]).unwrap_err();
        assert!(error.message().contains(fault), "{error}");
    }
}

#[test]
fn a_search_cut_short_says_how_far_off_it_may_be() {
    let (table, y) = trial();
    let learnt = |nodes| {
        let config =
            Config { selector: Selector::Exact, m: 3, exact_pool: 12, nodes, ..Config::default() };
        fit(&table, &y, &mut DataProposer::single(), &config).unwrap()
    };
    let (whole, short) = (learnt(u64::MAX), learnt(1));
    let (proof, open) = (whole.proof.as_ref().unwrap(), short.proof.as_ref().unwrap());
    assert!(proof.proven && proof.gap == 0.0 && proof.value == whole.training.auroc, "{proof:?}");
    assert!(!open.proven && open.gap > 0.0 && open.bound >= proof.value, "{open:?}");
    assert!(proof.to_string().starts_with("Proven: AUROC 0."), "{proof}");
    assert!(open.to_string().contains("(gap 0."), "{open}");
    // It is saved with the score; a score saved without it still reads.
    let text = short.to_json().unwrap();
    assert_eq!(Checklist::from_json(&text).unwrap().proof, short.proof);
    let mut older: serde_json::Value = serde_json::from_str(&text).unwrap();
    older.as_object_mut().unwrap().remove("proof");
    assert!(Checklist::from_json(&older.to_string()).unwrap().proof.is_none());
}

// Asks to stop at the given check.
struct After(AtomicUsize);

impl Progress for After {
    fn begin(&self, _task: &str, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) {}
    fn message(&self, _text: &str) {}
    fn finish(&self) {}
    fn interrupted(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .is_err()
    }
}

#[test]
fn every_selector_stops_when_asked_to() {
    let (frame, y) = cohort(300);
    let layout = Layout::new(&y, &vec![false; y.len()]);
    let rules = baselines::best_rules(&frame, &y, 12).unwrap();
    let bits: Vec<Bits> = rules.iter().map(|r| layout.pack(&r.truth(&frame).unwrap())).collect();
    let listed: Vec<_> = rules.iter().zip(&bits).collect();
    let choice = Choice::new(&listed, &layout, Part::All, 4, usize::MAX);
    let problem = Covering::of(&choice);
    let after = |checks| After(AtomicUsize::new(checks));
    // At once, and after some work.
    for checks in [0, 1] {
        let ends = [
            beam(&choice, 3, &after(checks)).map(drop),
            greedy(&choice, &after(checks)).map(drop),
            exact(&choice, &[], u64::MAX, &after(checks)).map(drop),
            mip(&problem, &[], 60.0, &after(checks)).map(drop),
        ];
        for end in ends {
            assert_eq!(end.unwrap_err().kind(), Kind::Interrupted);
        }
    }
    // A cross-validation hears it inside a fold too.
    let mut fresh = |_| Ok(Box::new(DataProposer::default()) as Box<dyn Proposer>);
    let config = Config::default();
    let error = cross_validate(&frame, &y, &mut fresh, &config, 5, &after(3)).unwrap_err();
    assert_eq!(error.kind(), Kind::Interrupted);
    assert!(
        exact(&choice, &[99], 1, &Silent).is_err() && mip(&problem, &[99], 1.0, &Silent).is_err()
    );
}
