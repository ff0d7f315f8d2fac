//! How a checklist is learnt.

use super::bitset::Part;
use super::checklist::Checklist;
use super::dictionary::Dictionary;
use super::screening::Screening;
use super::select::Selector;
use super::threshold::Threshold;
use metier_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// How a checklist is learnt. The defaults are the paper's where it is consistent.
///
/// ```
/// use metier_decision::agentscore::Config;
/// assert_eq!(Config::default().m, 6);
/// let error = Config { seconds: -1.0, ..Config::default() }.validate().unwrap_err();
/// assert!(error.to_string().starts_with("seconds: the solver's time lies above 0"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How many rules a checklist holds at most.
    pub m: usize,
    /// What a rule has to pass.
    pub screening: Screening,
    /// How deep logical rules may nest.
    pub depth: u8,
    /// How many rules may ask about one column.
    pub max_per_feature: usize,
    /// How rules are chosen.
    pub selector: Selector,
    /// The width of the beam.
    pub beam: usize,
    /// How many checklists the exact selector looks at.
    pub nodes: u64,
    /// How many kept rules the exact and the MIP selector choose from.
    pub exact_pool: usize,
    /// How long the MIP solver may take, in seconds.
    pub seconds: f64,
    /// What the action line is for.
    pub objective: Threshold,
    /// The rows that rules are chosen on, and that risks and the action line are read from.
    pub choose_on: Part,
    /// How many rounds of proposals at most.
    pub rounds: usize,
    /// How often a language model may refine its choice.
    pub refine: usize,
    /// The share of rows that confirm rules (`D_val`).
    pub validation: f64,
    /// What is predicted, for the card and for the search of leaks.
    pub outcome: String,
    /// The column that tells whose rows belong together.
    pub group: Option<String>,
    /// Columns that are used although they look like leaks.
    pub allow: Vec<String>,
    /// Whether to go on with fewer than ten events per class.
    pub force: bool,
    /// Names, units, steps and directions of the columns.
    pub dictionary: Dictionary,
    /// Seed of the split.
    pub seed: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            m: 6,
            screening: Screening::default(),
            depth: 1,
            max_per_feature: 2,
            selector: Selector::Beam,
            beam: 10,
            nodes: 2_000_000,
            exact_pool: 40,
            seconds: 20.0,
            objective: Threshold::Youden,
            choose_on: Part::All,
            rounds: 100,
            refine: 10,
            validation: 0.2,
            outcome: "outcome".into(),
            group: None,
            allow: Vec::new(),
            force: false,
            dictionary: Dictionary::default(),
            seed: 0,
        }
    }
}

impl Config {
    /// Checks the values.
    ///
    /// # Errors
    /// A usage error that names the one at fault.
    pub fn validate(&self) -> Result<()> {
        let wrong = |field: &str, message: &str| Err(Error::usage(message).in_field(field));
        if self.m == 0 || self.m > Checklist::MOST {
            let most = Checklist::MOST;
            return wrong("rules", &format!("a checklist holds between 1 and {most} rules"));
        }
        if self.max_per_feature == 0 {
            return wrong("max-per-feature", "at least one rule per column");
        }
        if self.beam == 0 {
            return wrong("beam", "the beam is at least one wide");
        }
        if self.nodes == 0 {
            return wrong("nodes", "the exact selector looks at one checklist at least");
        }
        if self.exact_pool == 0 {
            return wrong("exact-pool", "there has to be a rule to choose from");
        }
        // A year: more than that is no duration to everything that counts it.
        if !(self.seconds > 0.0 && self.seconds <= 3.2e7) {
            return wrong("seconds", "the solver's time lies above 0 and below a year, in seconds");
        }
        if self.depth > 3 {
            return wrong("depth", "nobody reads logic deeper than 3");
        }
        if self.rounds == 0 {
            return wrong("rounds", "without a round of proposals there are no rules");
        }
        if !(0.0..=0.5).contains(&self.validation) {
            return wrong("validation", "the validation share lies between 0 and 0.5");
        }
        if self.choose_on == Part::Validation {
            return wrong("choose_on", "rules are chosen on the construction rows or on all");
        }
        self.screening.validate()?;
        self.dictionary.validate()?;
        self.objective.validate()
    }
}
