//! Rules from a language model behind an OpenAI-compatible endpoint.
//!
//! The model sees names, types and aggregates, never a row. It proposes rules, may refuse verified
//! ones as implausible, and may choose among the kept ones.

use super::{Attempt, Feedback, Proposer};
use crate::agentscore::pool::Verdict;
use crate::agentscore::rule::Rule;
use crate::agentscore::view::{AggregateView, Summary};
use metier_core::chat::{Chat, Message, Request};
use metier_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// How the model is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmConfig {
    /// The name of the model.
    pub model: String,
    /// The task in a sentence or two: who the patients are, what is to be predicted, and when.
    pub task: String,
    /// Sampling temperature.
    pub temperature: f64,
    /// How many proposals are asked for.
    pub rounds: usize,
    /// How many calls are made in all.
    pub calls: usize,
    /// The longest answer, in tokens.
    pub max_tokens: u32,
}

impl Default for LlmConfig {
    fn default() -> Self {
        Self {
            model: "local".into(),
            task: String::new(),
            temperature: 1.0,
            rounds: 100,
            calls: 220,
            max_tokens: 600,
        }
    }
}

impl LlmConfig {
    /// Checks the values.
    ///
    /// # Errors
    /// A usage error that names the one at fault.
    pub fn validate(&self) -> Result<()> {
        let fault = if self.model.is_empty() {
            "model is empty"
        } else if !(0.0..=2.0).contains(&self.temperature) {
            "temperature is not between 0 and 2"
        } else if self.calls == 0 {
            "calls is zero"
        } else {
            return Ok(());
        };
        Err(Error::usage(fault).in_field("the language model's settings"))
    }
}

/// What the model was asked and answered, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LlmStats {
    /// Calls made.
    pub calls: usize,
    /// Lines that were no rules.
    pub invalid: usize,
    /// Calls of the plausibility gate among all calls.
    pub plausibility: usize,
}

/// Proposes what a language model proposes.
pub struct LlmProposer {
    chat: Box<dyn Chat>,
    config: LlmConfig,
    stats: LlmStats,
    // Calls kept for choosing among the rules.
    reserved: usize,
    // Rules that no call was left to ask about.
    unasked: usize,
    // Lines that were no rules, to be shown to the model once.
    wrong: Vec<String>,
}

impl LlmProposer {
    /// A proposer over `chat`: a live endpoint, or a recorded session.
    ///
    /// # Errors
    /// Settings out of range.
    pub fn new(chat: Box<dyn Chat>, config: LlmConfig) -> Result<Self> {
        config.validate()?;
        Ok(Self {
            chat,
            config,
            stats: LlmStats::default(),
            reserved: 0,
            unasked: 0,
            wrong: Vec::new(),
        })
    }

    /// What was asked so far.
    pub fn stats(&self) -> LlmStats {
        self.stats
    }

    fn ask(&mut self, question: String) -> Result<String> {
        self.stats.calls += 1;
        let request = Request {
            model: self.config.model.clone(),
            messages: vec![Message::system(SYSTEM), Message::user(question)],
            temperature: self.config.temperature,
            max_tokens: self.config.max_tokens,
            // Equal questions in one session are told apart, so that a recording can answer each.
            turn: self.stats.calls as u64,
        };
        self.chat.complete(&request)
    }

    // What is left for proposing and judging rules.
    fn spent(&self) -> bool {
        self.stats.calls + self.reserved >= self.config.calls
    }
}

const SYSTEM: &str = "You help clinicians write a checklist: yes/no items worth one point each. You \
    see the names and types of the columns and aggregate statistics, never patients. Answer with \
    JSON only, one object per line, no prose and no code fences.";

const GRAMMAR: &str = r#"{"type":"numeric_threshold","feature":F,"op":">=|>|<=|<","threshold":X}
{"type":"numeric_range","feature":F,"low":X,"high":Y}
{"type":"categorical_in","feature":F,"in":["A","B"]}
{"type":"binary_true","feature":F}
{"type":"derived_numeric_threshold","expr":"F / G","op":">=","threshold":X}   (also "F - G")
{"type":"count_present","features":[F,G,H],"min_count":2}
{"type":"logical","op":"and|or","rules":[RULE,RULE]}
{"type":"percent_change","feature_t0":F,"feature_t1":G,"pct":X,"op":">=","direction":"increase|decrease"}
{"type":"zscore_threshold","feature":F,"op":">=","z":X}
{"type":"quantile_threshold","feature":F,"op":">=","q":0.8}"#;

impl Proposer for LlmProposer {
    fn next(&mut self, view: &AggregateView, feedback: &Feedback<'_>) -> Result<Vec<Rule>> {
        if feedback.round >= self.config.rounds || self.spent() {
            return Ok(Vec::new());
        }
        let mut question = format!(
            "Task: {}\nOutcome: {} ({} of {} rows, {:.1} %).\n\nColumns:\n{}\n\nRule types:\n{GRAMMAR}\n",
            self.config.task,
            view.outcome,
            view.cases,
            view.rows,
            100.0 * view.cases as f64 / view.rows.max(1) as f64,
            describe(view)
        );
        if view.depth == 0 {
            question += "Do not use the type logical.\n";
        }
        let list = |verdicts: &mut dyn Iterator<Item = &Verdict>| {
            verdicts
                .map(|v| format!("{}  AUROC {}  {}\n", v.rule.key(), thousandths(v), v.reason))
                .collect::<String>()
        };
        let mut kept: Vec<&Verdict> = feedback.kept().collect();
        kept.sort_by(|a, b| {
            b.construction.unwrap_or(0.0).total_cmp(&a.construction.unwrap_or(0.0))
        });
        if !kept.is_empty() {
            question += &format!(
                "\nKept so far (the best of {}):\n{}",
                kept.len(),
                list(&mut kept.iter().take(20).copied())
            );
        }
        let refused: Vec<&Verdict> = feedback.verdicts.iter().rev().filter(|v| !v.kept).collect();
        if !refused.is_empty() {
            question += &format!(
                "\nRefused most recently:\n{}",
                list(&mut refused.iter().take(5).rev().copied())
            );
        }
        for wrong in self.wrong.drain(..) {
            question += &format!("\nThis line of yours was no rule: {wrong}\n");
        }
        question += "\nPropose 1 to 3 new rules whose truth raises the risk of the outcome, \
                     different from those above, one JSON object per line.";
        let answer = self.ask(question)?;
        let mut rules = Vec::new();
        for line in lines(&answer) {
            match Rule::parse(line) {
                Ok(rule) if rules.len() < 3 => rules.push(rule),
                Ok(_) => {}
                Err(error) => {
                    self.stats.invalid += 1;
                    self.wrong.push(format!("{} ({})", shorten(line, 200), error.message()));
                }
            }
        }
        if rules.is_empty() && !self.spent() {
            // An answer without a rule does not end the search: an empty list would.
            let round = feedback.round + 1;
            return self.next(view, &Feedback { round, ..*feedback });
        }
        Ok(rules)
    }

    fn plausible(&mut self, view: &AggregateView, rule: &Rule) -> Result<bool> {
        if self.spent() {
            self.unasked += 1;
            return Ok(true);
        }
        self.stats.plausibility += 1;
        let answer = self.ask(format!(
            "Task: {}\nOutcome: {}.\nIs this rule plausible to a clinician as a sign of higher risk?\n\
             {}\nAnswer {{\"plausible\": true}} or {{\"plausible\": false}}.",
            self.config.task,
            view.outcome,
            rule.key()
        ))?;
        // The gate may only refuse: an answer that is none lets the rule pass.
        Ok(lines(&answer).find_map(|line| read(line, "plausible")?.as_bool()).unwrap_or(true))
    }

    fn construct(
        &mut self,
        view: &AggregateView,
        pool: &[Verdict],
        so_far: &[Attempt],
    ) -> Result<Option<Vec<usize>>> {
        if self.stats.calls >= self.config.calls {
            return Ok(None);
        }
        let mut question = format!(
            "Task: {}\nOutcome: {}.\nChoose at most {} of these rules for a checklist, one point \
             each, at most {} of them about one column, so that the number of points separates \
             cases from others as well as it can:\n",
            self.config.task, view.outcome, view.m, view.max_per_feature
        );
        for (place, verdict) in pool.iter().enumerate() {
            question +=
                &format!("{place}: {}  AUROC {}\n", verdict.rule.key(), thousandths(verdict));
        }
        for Attempt { chosen, outcome } in so_far {
            question += &match outcome {
                Ok(auroc) => {
                    format!("Tried {chosen:?}: AUROC {auroc:.3} on the validation rows.\n")
                }
                Err(fault) => format!("Tried {chosen:?}: not allowed, {fault}.\n"),
            };
        }
        question += "Answer {\"choice\": [numbers]}.";
        let answer = self.ask(question)?;
        Ok(lines(&answer).find_map(|line| {
            let choice = read(line, "choice")?;
            let numbers = choice.as_array()?.iter().map(|n| n.as_u64().map(|n| n as usize));
            let mut places = numbers.collect::<Option<Vec<usize>>>()?;
            places.sort_unstable();
            places.dedup();
            (!places.is_empty()).then_some(places)
        }))
    }

    fn reserve(&mut self, choices: usize) {
        self.reserved = choices;
    }

    fn unasked(&self) -> usize {
        self.unasked
    }

    fn invalid(&self) -> usize {
        self.stats.invalid
    }
}

fn thousandths(verdict: &Verdict) -> String {
    verdict.construction.map_or("unknown".into(), |auroc| format!("{auroc:.3}"))
}

fn lines(answer: &str) -> impl Iterator<Item = &str> {
    answer.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("```"))
}

fn read(line: &str, key: &str) -> Option<serde_json::Value> {
    serde_json::from_str::<serde_json::Value>(line).ok()?.get(key).cloned()
}

fn shorten(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

// Rare categories and extremes could point at a person; they are left out.
fn describe(view: &AggregateView) -> String {
    const FEWEST: usize = 10;
    let mut text = String::new();
    for feature in &view.features {
        let label = view.dictionary.label(&feature.name);
        let unit = view.dictionary.unit(&feature.name);
        text += &format!("- {}", feature.name);
        if label != feature.name {
            text += &format!(" ({label})");
        }
        match &feature.summary {
            Summary::Number { mean, deviation, grid } => {
                text += &format!(
                    ": number{unit}, mean {}, sd {}, 5/25/50/75/95 %: {} {} {} {} {}",
                    short(*mean),
                    short(*deviation),
                    short(grid[0]),
                    short(grid[4]),
                    short(grid[9]),
                    short(grid[14]),
                    short(grid[18])
                );
            }
            Summary::Binary { share, rate_yes, rate_no, .. } => {
                let known = view.rows as f64 * (1.0 - feature.missing);
                text += &if known * share.min(1.0 - share) < FEWEST as f64 {
                    ": yes/no, nearly always the same".to_owned()
                } else {
                    format!(
                        ": yes/no, yes {:.0} %, outcome {:.0} % if yes, {:.0} % if no",
                        100.0 * share,
                        100.0 * rate_yes,
                        100.0 * rate_no
                    )
                };
            }
            Summary::Category(levels) => {
                let shown: Vec<String> = levels
                    .iter()
                    .filter(|level| level.count >= FEWEST)
                    .map(|level| format!("{} ({:.0} %)", level.label, 100.0 * level.rate))
                    .collect();
                text += &format!(": category, with the share of the outcome: {}", shown.join(", "));
            }
        }
        if feature.missing > 0.0 {
            text += &format!(", missing {:.0} %", 100.0 * feature.missing);
        }
        text.push('\n');
    }
    text
}

fn short(value: f64) -> String {
    metier_data::format_number(format!("{value:.2e}").parse().unwrap_or(value))
}
