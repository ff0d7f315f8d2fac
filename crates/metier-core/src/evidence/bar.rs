//! The rule that a claim's samples have to satisfy.

use super::Samples;
use serde::{Deserialize, Serialize};
use std::fmt;

/// In how many of the seeds a comparison has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// In every seed.
    All,
    /// In at least this share of the seeds, rounded up: 0.8 of 5 seeds are 4.
    Share(f64),
}

impl Need {
    /// The number of seeds out of `n` in which the comparison has to hold.
    pub fn of(self, n: usize) -> usize {
        match self {
            Need::All => n,
            // A share that is a whole number of seeds must not round up to one more.
            Need::Share(share) => ((share * n as f64 - 1e-9).ceil().max(0.0) as usize).min(n),
        }
    }
}

/// A rule over the samples of a claim that decides whether it holds. It is fixed before the run.
///
/// No rule holds on no samples or on samples that are not finite.
///
/// ```
/// use metier_core::{Bar, Need, Samples};
/// let bar = Bar::Lower { by: 0.2, need: Need::Share(0.8) };
/// let ours = Samples::from([1.0, 1.1, 1.0, 1.2, 1.9]);
/// let adamw = Samples::from([2.0, 2.1, 1.9, 2.2, 2.0]);
/// assert!(bar.holds(&ours, &adamw));
/// assert_eq!(bar.rule(5), "lower by at least 0.2 in at least 4 of 5 seeds");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bar {
    /// Ours is below the baseline by at least `by`, seed by seed.
    Lower {
        /// The least difference.
        by: f64,
        /// In how many seeds.
        need: Need,
    },
    /// Ours is above the baseline by at least `by`, seed by seed.
    Higher {
        /// The least difference; negative allows ours to lie that much below.
        by: f64,
        /// In how many seeds.
        need: Need,
    },
    /// The mean of ours is at least the mean of the baseline plus this; negative allows a deficit.
    MeanAtLeast(f64),
    /// The mean of ours is at most the mean of the baseline plus this.
    MeanAtMost(f64),
    /// The median of ours over the median of the baseline is at most this.
    RatioAtMost(f64),
    /// The median of ours over the median of the baseline is at least this.
    RatioAtLeast(f64),
    /// Ours is at least this in every seed; there is no baseline.
    AtLeast(f64),
    /// Ours is at most this in every seed; there is no baseline.
    AtMost(f64),
    /// Ours equals the baseline within this absolute distance in every seed.
    EqualWithin(f64),
    /// Our samples rise strictly from each to the next; there is no baseline, and the samples are
    /// the steps of a sequence that the claim's metric names.
    Rises,
}

impl Bar {
    /// Whether the rule is satisfied.
    pub fn holds(&self, ours: &Samples, baseline: &Samples) -> bool {
        let finite = |samples: &Samples| {
            !samples.is_empty() && samples.iter().all(|value| value.is_finite())
        };
        if !finite(ours) || (self.has_baseline() && !finite(baseline)) {
            return false;
        }
        let pairs = || ours.iter().zip(baseline.iter());
        let seeds = ours.len();
        let paired = seeds == baseline.len();
        match *self {
            Bar::Lower { by, need } => {
                paired && pairs().filter(|(a, b)| lower_by(**a, **b, by)).count() >= need.of(seeds)
            }
            Bar::Higher { by, need } => {
                paired && pairs().filter(|(a, b)| lower_by(**b, **a, by)).count() >= need.of(seeds)
            }
            Bar::MeanAtLeast(margin) => ours.mean() >= baseline.mean() + margin,
            Bar::MeanAtMost(margin) => ours.mean() <= baseline.mean() + margin,
            Bar::RatioAtMost(ratio) => ours.median() / baseline.median() <= ratio,
            Bar::RatioAtLeast(ratio) => ours.median() / baseline.median() >= ratio,
            Bar::AtLeast(least) => ours.iter().all(|value| *value >= least),
            Bar::AtMost(most) => ours.iter().all(|value| *value <= most),
            Bar::EqualWithin(distance) => paired && pairs().all(|(a, b)| (a - b).abs() <= distance),
            Bar::Rises => seeds > 1 && ours.windows(2).all(|pair| pair[0] < pair[1]),
        }
    }

    /// Whether the rule compares with a baseline.
    pub fn has_baseline(&self) -> bool {
        !matches!(self, Bar::AtLeast(_) | Bar::AtMost(_) | Bar::Rises)
    }

    /// The rule in words, for `seeds` samples.
    pub fn rule(&self, seeds: usize) -> String {
        let often = |need: Need| Often { need, seeds };
        match *self {
            Bar::Lower { by: 0.0, need } => format!("lower {}", often(need)),
            Bar::Lower { by, need } => format!("lower by at least {by} {}", often(need)),
            Bar::Higher { by: 0.0, need } => format!("higher {}", often(need)),
            Bar::Higher { by, need } if by < 0.0 => {
                format!("at most {} lower {}", -by, often(need))
            }
            Bar::Higher { by, need } => format!("higher by at least {by} {}", often(need)),
            Bar::MeanAtLeast(margin) => format!("mean at least {}", from_baseline(margin)),
            Bar::MeanAtMost(margin) => format!("mean at most {}", from_baseline(margin)),
            Bar::RatioAtMost(ratio) => format!("ratio at most {ratio}"),
            Bar::RatioAtLeast(ratio) => format!("ratio at least {ratio}"),
            Bar::AtLeast(least) => format!("at least {least}"),
            Bar::AtMost(most) => format!("at most {most}"),
            Bar::EqualWithin(distance) => format!("equal within {distance:e}"),
            Bar::Rises => "rises at every step".into(),
        }
    }
}

/// `a` is below `b` by at least `by`; a margin of zero asks for strictly below.
fn lower_by(a: f64, b: f64, by: f64) -> bool {
    if by == 0.0 { a < b } else { a <= b - by }
}

fn from_baseline(margin: f64) -> String {
    match margin {
        0.0 => "the baseline's".into(),
        m if m > 0.0 => format!("the baseline's + {m}"),
        m => format!("the baseline's - {}", -m),
    }
}

struct Often {
    need: Need,
    seeds: usize,
}

impl fmt::Display for Often {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.need.of(self.seeds) {
            1 if self.seeds == 1 => f.write_str("in the one seed"),
            k if k == self.seeds => write!(f, "in {k} of {k} seeds"),
            k => write!(f, "in at least {k} of {} seeds", self.seeds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[f64]) -> Samples {
        Samples::from(values.to_vec())
    }

    #[test]
    fn a_share_rounds_up_to_whole_seeds() {
        assert_eq!(Need::Share(0.8).of(5), 4);
        assert_eq!(Need::Share(0.8).of(3), 3);
        assert_eq!(Need::Share(0.6).of(5), 3);
        assert_eq!(Need::All.of(5), 5);
    }

    #[test]
    fn a_rule_speaks_of_as_many_seeds_as_there_are() {
        let bar = Bar::Lower { by: 0.2, need: Need::All };
        assert_eq!(bar.rule(1), "lower by at least 0.2 in the one seed");
        assert_eq!(bar.rule(3), "lower by at least 0.2 in 3 of 3 seeds");
    }

    #[test]
    fn each_rule_holds_and_fails_where_it_should() {
        let ours = samples(&[1.0, 2.0, 3.0]);
        let base = samples(&[1.5, 2.5, 3.0]);
        let all = Need::All;
        let most = Need::Share(0.6);
        for (bar, expected) in [
            (Bar::Lower { by: 0.0, need: all }, false),
            (Bar::Lower { by: 0.0, need: most }, true),
            (Bar::Lower { by: 0.5, need: most }, true),
            (Bar::Lower { by: 0.6, need: most }, false),
            (Bar::Higher { by: 0.0, need: most }, false),
            (Bar::Higher { by: -0.5, need: all }, true),
            (Bar::MeanAtLeast(-0.4), true),
            (Bar::MeanAtLeast(0.0), false),
            (Bar::MeanAtMost(0.0), true),
            (Bar::RatioAtMost(0.8), true),
            (Bar::RatioAtMost(0.79), false),
            (Bar::RatioAtLeast(0.8), true),
            (Bar::AtLeast(1.0), true),
            (Bar::AtLeast(1.1), false),
            (Bar::AtMost(3.0), true),
            (Bar::AtMost(2.9), false),
            (Bar::EqualWithin(0.5), true),
            (Bar::EqualWithin(0.4), false),
            (Bar::Rises, true),
        ] {
            assert_eq!(bar.holds(&ours, &base), expected, "{}", bar.rule(3));
        }
        assert!(!Bar::Rises.holds(&samples(&[1.0, 1.0]), &samples(&[])));
    }

    #[test]
    fn nothing_holds_without_finite_samples() {
        let none = samples(&[]);
        let broken = samples(&[1.0, f64::NAN]);
        let fine = samples(&[1.0, 2.0]);
        for bar in [
            Bar::Lower { by: 0.0, need: Need::Share(0.0) },
            Bar::RatioAtMost(9.0),
            Bar::EqualWithin(9.0),
            Bar::AtMost(9.0),
            Bar::Rises,
        ] {
            assert!(!bar.holds(&none, &none));
            assert!(!bar.holds(&broken, &fine));
        }
        assert!(!Bar::RatioAtMost(9.0).holds(&fine, &broken));
        assert!(!Bar::EqualWithin(9.0).holds(&fine, &samples(&[1.0])));
    }
}
