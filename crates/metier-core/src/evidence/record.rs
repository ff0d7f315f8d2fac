//! The JSON form of an outcome, which other programs read: one object per method and line.

use super::{Claim, Outcome, Samples, Scale};
use serde::Serialize;

/// An [`Outcome`] as it is written for programs. The keys and their order are fixed.
///
/// A method that failed has no claims, and one note that begins with `failed:`. A sample that is
/// not a finite number is written as `null`.
#[derive(Clone, Debug, Serialize)]
pub struct Record<'a> {
    method: &'a str,
    scale: Scale,
    seed: u64,
    seconds: f64,
    claims: Vec<ClaimRecord<'a>>,
    notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct ClaimRecord<'a> {
    id: &'a str,
    statement: &'a str,
    metric: &'a str,
    ours: &'a Samples,
    baseline: &'a Samples,
    bar: String,
    holds: bool,
    gate: bool,
}

impl<'a> From<&'a Claim> for ClaimRecord<'a> {
    fn from(claim: &'a Claim) -> Self {
        Self {
            id: &claim.id,
            statement: &claim.statement,
            metric: &claim.metric,
            ours: &claim.ours,
            baseline: &claim.baseline,
            bar: claim.rule(),
            holds: claim.holds(),
            gate: claim.gate,
        }
    }
}

impl<'a> From<&'a Outcome> for Record<'a> {
    fn from(outcome: &'a Outcome) -> Self {
        let (claims, notes) = match &outcome.result {
            Ok(finding) => (finding.claims.iter().map(Into::into).collect(), finding.notes.clone()),
            Err(error) => (Vec::new(), vec![format!("failed: {error}")]),
        };
        Self {
            method: outcome.card.id,
            scale: outcome.scale,
            seed: outcome.seed,
            // Milliseconds are all that a clock on the wall can mean.
            seconds: (outcome.seconds * 1e3).round() / 1e3,
            claims,
            notes,
        }
    }
}
