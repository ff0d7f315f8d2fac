//! The bars of verification: what a rule has to pass to be chosen from.

use metier_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// The least AUROC of a rule on the construction rows (`tau_rule`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tau {
    /// Always this.
    Fixed(f64),
    /// `min(cap, AUROC of the rank-th best non-redundant rule)`, never below `floor`, taken anew for
    /// each batch of rules: a fixed 0.60 admits no rule at all where every single sign is weak.
    Adaptive {
        /// The paper's value.
        cap: f64,
        /// How many rules there should be to choose from.
        rank: usize,
        /// No rule is admitted below this.
        floor: f64,
    },
}

impl Default for Tau {
    fn default() -> Self {
        Tau::Adaptive { cap: 0.60, rank: 30, floor: 0.52 }
    }
}

impl Tau {
    /// The value where the rules that are not redundant have these AUROCs, best first.
    pub(super) fn among(self, best: &[f64]) -> f64 {
        match self {
            Tau::Fixed(tau) => tau,
            Tau::Adaptive { cap, rank: 0, .. } => cap,
            Tau::Adaptive { cap, rank, floor } => {
                best.get(rank - 1).map_or(floor, |last| last.max(floor)).min(cap)
            }
        }
    }

    /// The least that it can be.
    pub(super) fn least(self) -> f64 {
        match self {
            Tau::Fixed(tau) => tau,
            Tau::Adaptive { cap, floor, .. } => floor.min(cap),
        }
    }
}

/// What a rule has to pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Screening {
    /// Whether rules are verified at all; without it every well-formed rule is kept (an ablation).
    pub verify: bool,
    /// The least AUROC on the construction rows.
    pub tau: Tau,
    /// How far the AUROC on the validation rows may lie below that, or below the floor where that
    /// adapts: so few rows as confirm a rule would refuse every second one whose AUROC is the same
    /// there, were the bar theirs too.
    pub slack: f64,
    /// The greatest Jaccard similarity `J+` with a kept rule; 1 keeps all (an ablation).
    pub rho: f64,
    /// A rule more similar than that is kept when it covers at least this share of the cases anew.
    pub gain: f64,
    /// How many rules on the same features are kept; 0 keeps all (an ablation).
    pub family: usize,
    /// How many rules are kept in all.
    pub most: usize,
}

impl Default for Screening {
    fn default() -> Self {
        Self {
            verify: true,
            tau: Tau::default(),
            slack: 0.02,
            rho: 0.95,
            gain: 0.001,
            family: 8,
            most: 800,
        }
    }
}

impl Screening {
    /// Checks the values. A comparison with NaN is never true, so that a NaN would switch a test off
    /// without a word.
    ///
    /// ```
    /// use metier_decision::agentscore::{Screening, Tau};
    /// let screening = Screening { tau: Tau::Fixed(f64::NAN), ..Screening::default() };
    /// let error = screening.validate().unwrap_err();
    /// assert_eq!(error.to_string(), "tau: the least AUROC of a rule lies between 0 and 1");
    /// ```
    ///
    /// # Errors
    /// A usage error that names the one at fault.
    pub fn validate(&self) -> Result<()> {
        let wrong = |field: &str, message: &str| Err(Error::usage(message).in_field(field));
        let share = 0.0..=1.0;
        let taus = match self.tau {
            Tau::Fixed(tau) => [tau; 2],
            Tau::Adaptive { cap, floor, .. } => [cap, floor],
        };
        if !taus.iter().all(|tau| share.contains(tau)) {
            return wrong("tau", "the least AUROC of a rule lies between 0 and 1");
        }
        // Infinite where nothing is to be confirmed.
        if self.slack.is_nan() || self.slack < 0.0 {
            return wrong("slack", "how far the validation rows may fall short is 0 or more");
        }
        if !share.contains(&self.rho) {
            return wrong("rho", "a similarity lies between 0 and 1");
        }
        if !share.contains(&self.gain) {
            return wrong("gain", "a share of the cases lies between 0 and 1");
        }
        if self.most == 0 {
            return wrong("most", "one rule at least has to be kept");
        }
        Ok(())
    }
}
