//! Rules from a file: an expert's list, or the items of an existing score.

use super::{Feedback, Proposer};
use crate::agentscore::rule::Rule;
use crate::agentscore::view::AggregateView;
use metier_core::{Error, Result};
use std::path::Path;

/// Proposes a fixed list, all at once.
#[derive(Clone, Debug)]
pub struct FileProposer {
    rules: Vec<Rule>,
}

impl FileProposer {
    /// The given rules.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules }
    }

    /// Reads rules from JSON: a list of rules, one rule a line, or a saved score.
    ///
    /// # Errors
    /// A file that cannot be read, or the first rule that is none, with its place.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Self::parse(&text).map_err(|error| error.in_file(path))
    }

    /// Reads rules from the text of such a file.
    ///
    /// # Errors
    /// The first rule that is none, with its place.
    pub fn parse(text: &str) -> Result<Self> {
        let rule = |place: usize, text: &str| {
            Rule::parse(text).map_err(|error| error.at_row(place as u64 + 1))
        };
        let rules = match serde_json::from_str::<serde_json::Value>(text) {
            Ok(serde_json::Value::Array(list)) => list
                .iter()
                .enumerate()
                .map(|(place, value)| rule(place, &value.to_string()))
                .collect::<Result<Vec<_>>>()?,
            Ok(serde_json::Value::Object(score)) if score.contains_key("items") => {
                let items = score["items"].as_array().map_or(&[][..], Vec::as_slice);
                items
                    .iter()
                    .enumerate()
                    .map(|(place, item)| rule(place, &item["rule"].to_string()))
                    .collect::<Result<Vec<_>>>()?
            }
            _ => text
                .lines()
                .enumerate()
                .filter(|(_, line)| !line.trim().is_empty())
                .map(|(place, line)| rule(place, line))
                .collect::<Result<Vec<_>>>()?,
        };
        if rules.is_empty() {
            return Err(Error::input("holds no rules"));
        }
        Ok(Self { rules })
    }
}

impl Proposer for FileProposer {
    fn next(&mut self, _view: &AggregateView, feedback: &Feedback<'_>) -> Result<Vec<Rule>> {
        Ok(if feedback.round == 0 { self.rules.clone() } else { Vec::new() })
    }
}
