//! The experiment: checklists against the scores and models that a user would pick instead.

mod arms;
mod external;
mod figures;
mod tasks;

#[cfg(test)]
pub(super) use external::{german, npi};

use super::CARD;
use metier_core::{Bar, Card, Cell, Claim, Finding, Lab, Method, Result, Samples, Scale};

/// The method with its experiment.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgentScore;

impl Method for AgentScore {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn evidence(&self, lab: &mut Lab) -> Result<Finding> {
        let mut finding = Finding::default();
        let tasks = tasks::tasks(lab)?;
        // Two small embedded trials hardly tell arms a hundredth apart: their bars leave room for
        // that. The ten tasks are held to the full bars.
        let (room, repeats) = lab.pick((0.01, 15), (0.0, 1));
        let results = arms::run(&tasks, repeats, lab)?;
        let folds = |arm: &str| Samples::from(results.folds(arm));
        let mut claim = |id, statement: &str, ours: &str, baseline: &str, margin: f64, gate| {
            finding.claims.push(Claim {
                id,
                statement: statement.into(),
                metric: "AUROC on held-out folds, one sample per task and fold".into(),
                ours: folds(ours),
                baseline: folds(baseline),
                bar: Bar::MeanAtLeast(margin),
                gate,
            });
        };
        claim(
            "as-good-as-integer-scores".into(),
            "six unit-weighted items are as good as a sparse integer score with points -1, 0, 1",
            arms::OURS,
            arms::FASTER_1,
            -0.005 - room,
            true,
        );
        claim(
            "near-logistic-regression".into(),
            "six items lose little against logistic regression on all columns",
            arms::OURS,
            arms::LOGISTIC,
            -0.025 - room,
            true,
        );
        claim(
            "beats-a-tree".into(),
            "they beat a classification tree of depth 4",
            arms::OURS,
            arms::TREE,
            0.02 - room,
            true,
        );
        claim(
            "beats-the-best-rule".into(),
            "they beat the best single rule",
            arms::OURS,
            arms::RULE,
            0.02,
            true,
        );
        claim(
            "redundancy-filter".into(),
            "keeping rules that find the same cases does not help by more than 0.005",
            arms::OURS,
            arms::NO_JACCARD,
            -0.005,
            true,
        );
        claim(
            "outperforms-integer-scores".into(),
            "the paper's claim that checklists outperform integer scores with the same weights \
             (by 0.02; it did not hold on these tables in our trial)",
            arms::OURS,
            arms::FASTER_1,
            0.02,
            false,
        );
        let rounded = results.rounded();
        finding.tables.push(results.by_task());
        finding.tables.push(results.overall());
        finding.tables.push(rounded);
        finding.figures.extend(figures::figures(&tasks, &results, lab)?);
        external::run(lab, &mut finding)?;
        finding.notes.push(
            "Old, partly imputed tables: the comparison is of methods, and no clinical claim is made."
                .into(),
        );
        if lab.scale == Scale::Quick {
            finding.notes.push(
                "Quick scale: two embedded trials, fifteen repeats of 5-fold cross-validation each; \
                 the full scale runs ten tasks of the pulled `survset`. With three repeats the lead \
                 over a tree depended on how the folds fall: over seeds 0 to 9 it was 0.009 to 0.033, \
                 standard deviation 0.007, and missed the bar of 0.01 at seed 0. The repeats were \
                 made more because of that; the bar is the same."
                    .into(),
            );
        }
        Ok(finding)
    }
}

fn number(value: f64) -> Cell {
    if value.is_nan() { Cell::Empty } else { Cell::number(value, 3) }
}
