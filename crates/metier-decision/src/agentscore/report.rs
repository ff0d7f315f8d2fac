//! A validation as a page: what was judged, on whom, how well it separates, whether its risks are
//! right, and whether acting by it helps, in the order in which reports of prediction models are read.

use super::card::{escape, html};
use super::{Calibration, Checklist, Missing, NetBenefit, Validation};
use metier_core::evidence::draw::{self, Size, Theme};
use metier_core::evidence::{Axes, Line};
use metier_core::{Figure, Plot};

impl Validation {
    /// The page, with nothing to fetch; `checklist` is what was judged.
    pub fn to_html(&self, checklist: &Checklist) -> String {
        let items: String = checklist
            .items
            .iter()
            .map(|item| format!("<li>{}</li>\n", escape(&item.text)))
            .collect();
        let lines: String = self
            .at_line
            .iter()
            .map(|at| {
                let [low, high] = at.interval;
                row(&[at.name.clone(), three(at.value), format!("{low:.3} to {high:.3}")])
            })
            .collect();
        let points: String = self.calibration.iter().map(by_points).collect();
        let blind: String = self
            .blind
            .iter()
            .map(|(reason, rows)| format!("<li>{} in {rows} rows</li>\n", escape(reason)))
            .collect();
        let [low, high] = self.auroc_interval;
        let mut separates = format!(
            "AUROC {:.3} ({low:.3} to {high:.3}); {:.3} on the rows that it was learnt from.",
            self.auroc, checklist.training.auroc
        );
        if let Some(other) = &self.comparison {
            separates += &format!(
                " {}: {:.3}; difference {:+.3} ({:+.3} to {:+.3}).",
                escape(&other.name),
                other.auroc,
                other.difference,
                other.interval[0],
                other.interval[1]
            );
        }
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <title>Validation: {heading}</title>\n\
             <style>{style}ul{{padding-left:1.2rem}}figure{{margin:1rem 0;background:#fff}}figure svg{{width:100%;height:auto}}</style>\
             </head>\n<body><main>\n<h1>Validation: {heading}</h1>\n\
             <p>Judged on {rows} rows, {cases} with the outcome.</p>\n\
             <h2>The score</h2>\n<p>One point each; act at {theta} or more.</p>\n<ul>\n{items}</ul>\n\
             <h2>Does it separate?</h2>\n<p>{separates}</p>\n{roc}\n\
             <h2>At the action line</h2>\n<table><thead>{line_head}</thead><tbody>{lines}</tbody></table>\n\
             <h2>Are its risks right?</h2>\n<p>Brier score {brier:.3}; {observed:.2} cases seen for each \
             one expected.</p>\n{calibration}\n\
             <table><thead>{point_head}</thead><tbody>{points}</tbody></table>\n\
             <h2>Does acting by it help?</h2>\n{curve}\n\
             <h2>When columns are not at hand</h2>\n{missing}\n{items_worth}{blind}\n\
             <p class=\"foot\">Intervals are of 95 %: bootstrap for AUROC, Wilson for shares. A missing \
             value counts as no.</p>\n</main></body></html>\n",
            heading = escape(&checklist.heading()),
            style = html::STYLE,
            rows = self.rows,
            cases = self.cases,
            theta = checklist.theta,
            roc = picture(&self.roc_figure()),
            line_head = head(&["at the line", "value", "95 %"]),
            brier = self.brier,
            observed = self.observed_over_expected,
            calibration = picture(&self.calibration_figure()),
            point_head = head(&["points", "rows", "risk stated", "seen", "95 %"]),
            curve = picture(&self.curve_figure()),
            missing = picture(&self.missing_figure()),
            items_worth = checklist.honest.as_ref().map_or_else(String::new, |honest| {
                if honest.by_items.is_empty() {
                    return String::new();
                }
                let figure = by_items_figure(&[("checklist".into(), honest.by_items.clone())]);
                format!("<h2>How many items are worth asking?</h2>\n{}\n", picture(&figure))
            }),
            blind = if blind.is_empty() {
                String::new()
            } else {
                format!("<h2>Where it could not see</h2>\n<ul>\n{blind}</ul>")
            },
        )
    }

    // Old against new, where an old score was given.
    fn roc_figure(&self) -> Figure {
        let mut curves = vec![("checklist", self.roc.clone())];
        if let Some(other) = &self.comparison {
            curves.push((&other.name, other.roc.clone()));
        }
        roc_figure("roc", "ROC curve", &curves)
    }

    fn calibration_figure(&self) -> Figure {
        let seen: Vec<&Calibration> = self.calibration.iter().filter(|at| at.rows > 0).collect();
        let column = |pick: &dyn Fn(&Calibration) -> f64| seen.iter().map(|at| pick(at)).collect();
        let line = Line {
            name: "checklist".into(),
            x: column(&|at| at.predicted),
            y: column(&|at| at.observed),
            low: column(&|at| at.interval[0]),
            high: column(&|at| at.interval[1]),
        };
        let lines = vec![line, Line::new("as stated", vec![0.0, 1.0], vec![0.0, 1.0])];
        Figure::new(
            "calibration",
            "Calibration",
            Plot::Lines { axes: Axes::new("risk stated", "share of cases seen"), lines },
        )
    }

    fn curve_figure(&self) -> Figure {
        net_benefit_figure("Decision curve", &[("checklist", &self.decision_curve)])
    }

    fn missing_figure(&self) -> Figure {
        let column = |pick: &dyn Fn(&Missing) -> f64| self.missing.iter().map(pick).collect();
        let line = Line {
            name: "checklist".into(),
            x: column(&|at| at.columns as f64),
            y: column(&|at| at.auroc),
            low: column(&|at| at.least),
            high: column(&|at| at.most),
        };
        Figure::new(
            "missing-columns",
            "When columns are not at hand: the mean, the best and the worst case",
            Plot::Lines {
                axes: Axes::new("columns missing at the bedside", "AUROC"),
                lines: vec![line],
            },
        )
    }
}

/// AUROC by number of items, one line per table.
pub(super) fn by_items_figure(tables: &[(String, Vec<f64>)]) -> Figure {
    let lines = tables
        .iter()
        .map(|(name, values)| {
            Line::new(name.clone(), (1..=values.len()).map(|m| m as f64).collect(), values.clone())
        })
        .collect();
    Figure::new(
        "auroc-by-items",
        "How many items are worth asking",
        Plot::Lines { axes: Axes::new("items on the card", "held-out AUROC"), lines },
    )
}

/// Net benefits over each other, with those of acting on all and on none. All curves are of the same
/// rows.
pub(super) fn net_benefit_figure(
    title: impl Into<String>,
    curves: &[(&str, &[NetBenefit])],
) -> Figure {
    let first = curves.first().map_or(&[][..], |curve| curve.1);
    // Beyond the share of cases, acting on all is off the scale.
    let shown = first.iter().position(|at| at.all < -0.1).unwrap_or(first.len());
    let x: Vec<f64> = first[..shown].iter().map(|at| at.threshold).collect();
    let line = |name: &str, y: Vec<f64>| Line::new(name, x.clone(), y);
    let mut lines: Vec<Line> = curves
        .iter()
        .map(|(name, curve)| line(name, curve.iter().take(shown).map(|at| at.checklist).collect()))
        .collect();
    lines.push(line("act on all", first[..shown].iter().map(|at| at.all).collect()));
    lines.push(line("act on none", vec![0.0; shown]));
    Figure::new(
        "decision-curve",
        title,
        Plot::Lines { axes: Axes::new("risk at which one would act", "net benefit"), lines },
    )
}

/// ROC curves over each other, with the diagonal of chance.
pub(super) fn roc_figure(
    id: &str,
    title: impl Into<String>,
    curves: &[(&str, Vec<[f64; 2]>)],
) -> Figure {
    let mut lines: Vec<Line> = curves
        .iter()
        .map(|(name, curve)| {
            let (x, y) = curve.iter().map(|point| (point[0], point[1])).unzip();
            Line::new(*name, x, y)
        })
        .collect();
    lines.push(Line::new("chance", vec![0.0, 1.0], vec![0.0, 1.0]));
    Figure::new(id, title, Plot::Lines { axes: Axes::new("1 - specificity", "sensitivity"), lines })
}

fn picture(figure: &Figure) -> String {
    format!("<figure>{}</figure>", draw::svg(figure, Size::Wide, Theme::Light))
}

fn by_points(at: &Calibration) -> String {
    let [low, high] = at.interval;
    row(&[
        at.points.to_string(),
        at.rows.to_string(),
        three(at.predicted),
        three(at.observed),
        format!("{low:.3} to {high:.3}"),
    ])
}

fn row(cells: &[String]) -> String {
    let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
    format!("<tr>{cells}</tr>\n")
}

fn head(names: &[&str]) -> String {
    let cells: String = names.iter().map(|name| format!("<th>{name}</th>")).collect();
    format!("<tr>{cells}</tr>")
}

fn three(value: f64) -> String {
    format!("{value:.3}")
}
