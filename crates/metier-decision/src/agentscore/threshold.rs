//! The line to act at, and what is decided there.

use crate::auroc::Histogram;
use metier_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// What the action line is set for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// The greatest sensitivity + specificity - 1; ties go to the lower line.
    #[default]
    Youden,
    /// The highest line whose sensitivity is at least this.
    Sensitivity(f64),
    /// The lowest line whose positive predictive value is at least this.
    Ppv(f64),
    /// The greatest F1.
    F1,
    /// The greatest net benefit where one missed case is worth this many false alarms' inverse:
    /// the odds of the risk at which one would act.
    NetBenefit(f64),
}

impl Threshold {
    /// Checks the value.
    ///
    /// # Errors
    /// A share outside 0 to 1, or odds that are not positive.
    pub fn validate(&self) -> Result<()> {
        let fine = match *self {
            Threshold::Youden | Threshold::F1 => true,
            Threshold::Sensitivity(share) | Threshold::Ppv(share) => (0.0..=1.0).contains(&share),
            Threshold::NetBenefit(odds) => odds > 0.0 && odds.is_finite(),
        };
        if fine {
            return Ok(());
        }
        Err(Error::usage("sensitivity and PPV lie between 0 and 1, odds above 0")
            .in_field("objective"))
    }

    /// Why the line of [`theta`](Self::theta) falls short of what was asked for, if no line reaches it.
    pub fn missed(&self, histogram: &Histogram) -> Option<String> {
        let at = Confusion::at(histogram, self.theta(histogram));
        let (name, wanted, found) = match *self {
            Threshold::Sensitivity(wanted) => ("sensitivity", wanted, at.sensitivity()),
            Threshold::Ppv(wanted) => ("positive predictive value", wanted, at.ppv()),
            Threshold::Youden | Threshold::F1 | Threshold::NetBenefit(_) => return None,
        };
        (found < wanted).then(|| {
            format!("no number of points reaches a {name} of {wanted}: the best has {found:.3}")
        })
    }

    /// The line for the given counts per number of points, between 1 and the greatest number. A goal
    /// that no line reaches gives the one that comes nearest.
    pub fn theta(&self, histogram: &Histogram) -> usize {
        let top = histogram.positives.len().saturating_sub(1).max(1);
        let lines: Vec<Confusion> =
            (1..=top).map(|theta| Confusion::at(histogram, theta)).collect();
        let best = |value: &dyn Fn(&Confusion) -> f64| {
            let mut best = 0;
            for (place, line) in lines.iter().enumerate() {
                // Differences of rounding alone are ties.
                if value(line) > value(&lines[best]) + 1e-12 {
                    best = place;
                }
            }
            best + 1
        };
        match *self {
            Threshold::Youden => best(&|line| line.sensitivity() + line.specificity() - 1.0),
            Threshold::F1 => best(&Confusion::f1),
            Threshold::NetBenefit(odds) => best(&|line| line.net_benefit(odds)),
            Threshold::Sensitivity(least) => {
                (1..=top).rev().find(|&t| lines[t - 1].sensitivity() >= least).unwrap_or(1)
            }
            Threshold::Ppv(least) => (1..=top)
                .find(|&t| lines[t - 1].ppv() >= least)
                .unwrap_or_else(|| best(&Confusion::ppv)),
        }
    }
}

/// Right and wrong decisions at a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confusion {
    /// Cases at or above the line.
    pub hits: u64,
    /// Cases below.
    pub misses: u64,
    /// Others at or above.
    pub alarms: u64,
    /// Others below.
    pub passes: u64,
}

impl Confusion {
    /// The decisions of "at least `theta` points".
    pub fn at(histogram: &Histogram, theta: usize) -> Self {
        let split = |counts: &[u64]| {
            let below: u64 = counts.iter().take(theta).sum();
            (counts.iter().sum::<u64>() - below, below)
        };
        let (hits, misses) = split(&histogram.positives);
        let (alarms, passes) = split(&histogram.negatives);
        Self { hits, misses, alarms, passes }
    }

    /// The share of cases at or above the line.
    pub fn sensitivity(&self) -> f64 {
        share(self.hits, self.hits + self.misses)
    }

    /// The share of others below it.
    pub fn specificity(&self) -> f64 {
        share(self.passes, self.passes + self.alarms)
    }

    /// The share of cases among those at or above.
    pub fn ppv(&self) -> f64 {
        share(self.hits, self.hits + self.alarms)
    }

    /// The share of others among those below.
    pub fn npv(&self) -> f64 {
        share(self.passes, self.passes + self.misses)
    }

    /// The harmonic mean of sensitivity and positive predictive value.
    pub fn f1(&self) -> f64 {
        share(2 * self.hits, 2 * self.hits + self.misses + self.alarms)
    }

    /// True minus weighted false positives per patient, at the odds at which one would act.
    pub fn net_benefit(&self, odds: f64) -> f64 {
        let all = (self.hits + self.misses + self.alarms + self.passes).max(1) as f64;
        (self.hits as f64 - odds * self.alarms as f64) / all
    }
}

pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
