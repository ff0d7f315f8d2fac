//! ROC, risk by points, decision curve, AUROC by number of items.

use super::arms::{self, HeldOut, Results};
use super::tasks::Task;
use crate::agentscore::report::{by_items_figure, net_benefit_figure, roc_figure};
use crate::agentscore::{Config, DataProposer, decision_curve, fit};
use metier_core::evidence::{Axes, BarGroup, Line};
use metier_core::{Figure, Lab, Plot, Result};

pub fn figures(tasks: &[Task], results: &Results, lab: &Lab) -> Result<Vec<Figure>> {
    let mut figures = vec![by_task(results), by_m(results), robustness(results)];
    if let Some(task) = tasks.first() {
        figures.push(roc(task, results));
        figures.push(curve(task, results));
        figures.push(risk(task, lab)?);
    }
    Ok(figures)
}

fn by_task(results: &Results) -> Figure {
    let shown = [arms::OURS, arms::FASTER_1, arms::LOGISTIC, arms::TREE, arms::RULE];
    let groups = results
        .tasks
        .iter()
        .enumerate()
        .map(|(task, name)| BarGroup {
            label: name.clone(),
            values: shown
                .iter()
                .map(|arm| {
                    let folds = results.folds(arm);
                    folds[task * 5..task * 5 + 5].iter().sum::<f64>() / 5.0
                })
                .collect(),
            errors: Vec::new(),
        })
        .collect();
    Figure::new(
        "auroc-by-task",
        "Held-out AUROC by task",
        Plot::Bars {
            y_label: "AUROC".into(),
            names: shown.iter().map(|&arm| arm.to_owned()).collect(),
            groups,
        },
    )
    .caption("Mean of five folds. Six yes/no items, one point each, beside what a user would pick.")
}

fn by_m(results: &Results) -> Figure {
    let tables: Vec<(String, Vec<f64>)> =
        results.tasks.iter().cloned().zip(results.by_m.iter().cloned()).collect();
    by_items_figure(&tables).caption("Mean of five folds; the paper's default is six items.")
}

fn robustness(results: &Results) -> Figure {
    let (x, y) = results
        .dropped
        .iter()
        .map(|(share, values)| {
            (100.0 * share, values.iter().sum::<f64>() / values.len().max(1) as f64)
        })
        .unzip();
    Figure::new(
        "missing-columns",
        "When columns are not at hand",
        Plot::Lines {
            axes: Axes::new("columns missing at the bedside (%)", "held-out AUROC"),
            lines: vec![Line::new("checklist", x, y)],
        },
    )
    .caption("A missing value makes its items false. Mean over tasks and folds.")
}

fn roc(task: &Task, results: &Results) -> Figure {
    let y: Vec<u8> = results.pooled.iter().map(|row| row.label).collect();
    let of = |pick: &dyn Fn(&HeldOut) -> f64| {
        crate::auroc::roc(&results.pooled.iter().map(pick).collect::<Vec<f64>>(), &y)
    };
    let curves =
        [("checklist", of(&|row| row.risk)), ("logistic regression", of(&|row| row.chance))];
    roc_figure("roc", format!("ROC curve: {}", task.name), &curves)
        .caption("Every row scored by the model of the folds that it was not in.")
}

fn curve(task: &Task, results: &Results) -> Figure {
    let y: Vec<u8> = results.pooled.iter().map(|row| row.label).collect();
    let of = |pick: &dyn Fn(&HeldOut) -> f64| {
        let risks: Vec<f64> = results.pooled.iter().map(pick).collect();
        decision_curve(&risks, &y)
    };
    net_benefit_figure(
        format!("Decision curve: {}", task.name),
        &[("checklist", &of(&|row| row.risk)), ("logistic regression", &of(&|row| row.chance))],
    )
    .caption("Out-of-fold risks. Higher is better; acting on none is zero.")
}

fn risk(task: &Task, lab: &Lab) -> Result<Figure> {
    let config = Config { seed: lab.seed, ..Config::default() };
    let checklist = fit(&task.frame, &task.y, &mut DataProposer::default(), &config)?;
    let rows = &checklist.risk.rows;
    let column = |pick: &dyn Fn(&crate::agentscore::Risk) -> f64| rows.iter().map(pick).collect();
    let line = Line {
        name: "risk".into(),
        x: column(&|row| row.points as f64),
        y: column(&|row| row.risk),
        low: column(&|row| row.low),
        high: column(&|row| row.high),
    };
    let items: Vec<&str> = checklist.items.iter().map(|item| item.text.as_str()).collect();
    Ok(Figure::new(
        "risk-by-points",
        format!("Risk by points: {}", task.name),
        Plot::Lines { axes: Axes::new("points", "risk"), lines: vec![line] },
    )
    .caption(format!("Learnt on the whole table. One point each: {}.", items.join("; "))))
}
