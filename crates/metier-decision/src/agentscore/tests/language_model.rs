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
