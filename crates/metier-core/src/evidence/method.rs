//! What a method says of itself, and how it shows that it works.

use super::{Claim, Figure, Lab, Table};
use crate::Result;
use serde::Serialize;

/// A method's entry in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Card {
    /// The name that the program, the page and the folder use: `slepian`.
    pub id: &'static str,
    /// The name that people use: "Slepian location encoder".
    pub name: &'static str,
    /// The paper: title, venue and, where there is one, its arXiv number.
    pub paper: &'static str,
    /// The job that a person has, as a phrase: "encode places inside a region".
    pub job: &'static str,
    /// The command that does the job on the user's own data.
    pub command: &'static str,
    /// What the evidence runs on.
    pub data: &'static str,
    /// The licence of that data.
    pub data_licence: &'static str,
}

/// A method with its experiment.
pub trait Method: Sync {
    /// The method's entry in the catalogue.
    fn card(&self) -> &'static Card;

    /// Runs the experiment.
    ///
    /// # Errors
    /// When the experiment cannot be carried out: data that could not be had, a request to stop. A
    /// claim that does not hold is a result, not an error.
    fn evidence(&self, lab: &mut Lab) -> Result<Finding>;
}

/// What an experiment found.
#[derive(Clone, Debug, Default)]
pub struct Finding {
    /// The claims, judged.
    pub claims: Vec<Claim>,
    /// Numbers beyond the claims.
    pub tables: Vec<Table>,
    /// Pictures.
    pub figures: Vec<Figure>,
    /// What a reader has to know to read the rest honestly.
    pub notes: Vec<String>,
}

impl Finding {
    /// Whether every claim that gates the run holds.
    pub fn gates_hold(&self) -> bool {
        self.claims.iter().all(|claim| claim.holds() || !claim.gate)
    }
}
