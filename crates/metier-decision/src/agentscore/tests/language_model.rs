//! A session with a language model, recorded and replayed.

use super::cohort;
use crate::agentscore::*;
use metier_core::Result;
use metier_core::chat::{Chat, Recorder, Replay, Request};
use std::sync::{Arc, Mutex};

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

// A model that names one good rule, finds everything plausible, and chooses the first two.
struct Brief {
    asked: Arc<Mutex<Vec<String>>>,
}

impl Chat for Brief {
    fn complete(&mut self, request: &Request) -> Result<String> {
        let question = request.messages[1].content.clone();
        let answer = if question.contains("plausible to a clinician") {
            "{\"plausible\": true}"
        } else if question.contains("Choose at most") {
            "{\"choice\": [0, 1]}"
        } else {
            "{\"type\":\"binary_true\",\"feature\":\"shock\"}"
        };
        self.asked.lock().unwrap().push(question);
        Ok(answer.into())
    }
}

fn brief(calls: usize) -> (LlmProposer, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let config = LlmConfig { rounds: 3, calls, ..LlmConfig::default() };
    (LlmProposer::new(Box::new(Brief { asked: asked.clone() }), config).unwrap(), asked)
}

#[test]
fn a_model_is_asked_about_its_own_rules_alone() {
    let (frame, y) = cohort(600);
    let (model, asked) = brief(40);
    let mut mixed = MixedProposer::new(vec![Box::new(DataProposer::default()), Box::new(model)]);
    let fitted = fit(&frame, &y, &mut mixed, &Config::default()).unwrap();
    assert!(fitted.training.kept > 10, "the data propose many rules");
    let asked = asked.lock().unwrap();
    let gate = asked.iter().filter(|q| q.contains("plausible to a clinician")).count();
    assert!(gate <= 1, "{gate} rules of the data were asked about");
}

#[test]
fn calls_are_left_to_choose_with() {
    let (frame, y) = cohort(600);
    let (model, asked) = brief(6);
    let mut mixed = MixedProposer::new(vec![Box::new(model), Box::new(DataProposer::default())]);
    let config = Config { selector: Selector::Llm, refine: 1, ..Config::default() };
    let fitted = fit(&frame, &y, &mut mixed, &config).unwrap();
    assert_eq!(fitted.items.len(), 2);
    let asked = asked.lock().unwrap();
    assert!(asked.len() <= 6);
    assert_eq!(asked.iter().filter(|q| q.contains("Choose at most")).count(), 2);
}

#[test]
fn rules_that_no_call_was_left_for_are_told_of() {
    let (frame, y) = cohort(600);
    let (mut model, asked) = brief(1);
    let config = Config { m: 1, ..Config::default() };
    let fitted = fit(&frame, &y, &mut model, &config).unwrap();
    assert_eq!(asked.lock().unwrap().len(), 1);
    let told = "1 rules were not asked about for plausibility: the calls to the model were spent";
    assert!(fitted.warnings.contains(&told.to_owned()), "{:?}", fitted.warnings);
}

#[test]
fn what_only_a_few_patients_have_does_not_leave() {
    let few: Vec<f64> = (0..300).map(|i| f64::from(i < 3)).collect();
    let sick: Vec<f64> = (0..300).map(|i| f64::from(i % 3 == 0)).collect();
    let y: Vec<u8> = (0..300).map(|i| u8::from(i % 3 == 0 && i % 2 == 0)).collect();
    let table = metier_data::Frame::new(vec![
        metier_data::Column::number("rare", few),
        metier_data::Column::number("shock", sick),
    ])
    .unwrap();
    let (mut model, asked) = brief(5);
    fit(&table, &y, &mut model, &Config::default()).unwrap();
    let asked = asked.lock().unwrap();
    assert!(asked[0].contains("- rare: yes/no, nearly always the same\n"), "{}", asked[0]);
    assert!(asked[0].contains("- shock: yes/no, yes 3"), "{}", asked[0]);
}
