//! Methods that decide.
//!
//! [`agentscore`] learns a clinical score that fits on a card: at most a handful of yes/no items,
//! one point each. What its experiment compares it with is of use by itself: [`auroc`],
//! [`logistic`] regression, a depth-limited [`cart`] tree, a numeric [`design`] matrix of a table.

#![forbid(unsafe_code)]

pub mod agentscore;
pub mod auroc;
pub mod cart;
pub mod design;
pub mod logistic;

/// The methods of this crate, in the order of the page.
///
/// ```
/// assert!(metier_decision::METHODS.iter().any(|method| method.card().id == "agentscore"));
/// ```
pub static METHODS: &[&dyn metier_core::Method] = &[&agentscore::AgentScore];

// The examples of the page are compiled as this crate's own.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/methods/agentscore.md")]
struct AgentScorePage;
