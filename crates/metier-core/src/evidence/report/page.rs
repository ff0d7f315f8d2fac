//! The page as HTML: every claim with what was measured beside its bar, every table, every figure.

use super::{figure_name, figures};
use crate::evidence::draw::{self, Size, Theme};
use crate::evidence::text::{number, summary, verdict};
use crate::evidence::{Bar, Cell, Claim, Figure, Finding, Outcome, Samples, Table};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole page.
pub fn html(outcomes: &[Outcome]) -> String {
    let style = STYLE
        .replace("/*light*/", &Theme::Light.variables())
        .replace("/*dark*/", &Theme::Dark.variables());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "metier: the evidence" }
                style { (PreEscaped(style)) }
            }
            body {
                header { (head(outcomes)) }
                main { @for outcome in outcomes { (method(outcome)) } }
                footer {
                    "Bars are fixed before a run and never tuned to its outcome. A claim that is no \
                     gate is judged and shown, but does not fail the run. The numbers behind this \
                     page lie beside it: " code { "results.jsonl" } ", one " code { "json" }
                    " file per method, and every figure in " code { "figures/" } "."
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

fn head(outcomes: &[Outcome]) -> Markup {
    let claims: Vec<&Claim> = outcomes.iter().filter_map(claims_of).flatten().collect();
    let holding = claims.iter().filter(|claim| claim.holds()).count();
    let all_hold = outcomes.iter().all(Outcome::gates_hold);
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
    html! {
        div.top {
            h1 { "metier" span.light { " the evidence" } }
            button #theme type="button" hidden aria-label="Switch between light and dark" { "◐" }
        }
        p.verdict.good[all_hold].bad[!all_hold] {
            @if all_hold { "Every gating claim holds. " } @else { "Not every gating claim holds. " }
            span.light { (holding) " of " (claims.len()) " claims hold." }
        }
        @if let Some(first) = outcomes.first() {
            p.light {
                (first.scale) " scale, seed " (first.seed) ", " (format!("{seconds:.0}"))
                " s on this machine"
            }
        }
        nav {
            @for outcome in outcomes {
                a href={ "#" (outcome.card.id) } .good[outcome.gates_hold()]
                    .bad[!outcome.gates_hold()] {
                    (outcome.card.id) span.count { (tally(outcome)) }
                }
            }
        }
    }
}

fn claims_of(outcome: &Outcome) -> Option<&[Claim]> {
    outcome.result.as_ref().ok().map(|finding| finding.claims.as_slice())
}

fn tally(outcome: &Outcome) -> String {
    claims_of(outcome).map_or("failed".into(), |claims| {
        format!("{}/{}", claims.iter().filter(|claim| claim.holds()).count(), claims.len())
    })
}

fn method(outcome: &Outcome) -> Markup {
    let card = outcome.card;
    html! {
        section id=(card.id) {
            h2 { (card.name) }
            p.job { "To " (card.job) "." }
            dl {
                dt { "paper" } dd { (card.paper) }
                dt { "use it" } dd { code { (card.command) } }
                dt { "data" } dd { (card.data) " (" (card.data_licence) ")" }
                dt { "took" } dd { (format!("{:.1} s", outcome.seconds)) }
            }
            @match &outcome.result {
                Ok(finding) => (found(outcome, finding)),
                Err(error) => div.claim.bad {
                    p { span.badge { "failed" } " " (error) }
                    @if let Some(help) = error.help_text() { p.light { (help) } }
                },
            }
        }
    }
}

fn found(outcome: &Outcome, finding: &Finding) -> Markup {
    html! {
        @if !finding.claims.is_empty() {
            h3 { "Claims" }
            @for claim in &finding.claims { (judged(claim)) }
        }
        @if !finding.figures.is_empty() {
            h3 { "Figures" }
            @for figure in figures(outcome) { (drawn(&figure_name(outcome.card, figure), figure)) }
        }
        @if !finding.tables.is_empty() {
            h3 { "Tables" }
            @for table in &finding.tables { (tabled(table)) }
        }
        @if !finding.notes.is_empty() {
            h3 { "Notes" }
            ul.notes { @for note in &finding.notes { li { (note) } } }
        }
    }
}

fn judged(claim: &Claim) -> Markup {
    let class = match (claim.holds(), claim.gate) {
        (true, _) => "claim good",
        (false, true) => "claim bad",
        (false, false) => "claim doubt",
    };
    html! {
        div class=(class) {
            p.statement { span.badge { (verdict(claim).to_lowercase()) } " " (claim.statement) }
            dl.measured {
                div { dt { "metric" } dd { (claim.metric) } }
                div { dt { "ours" } dd { (samples(&claim.ours, claim.bar)) } }
                @if claim.bar.has_baseline() {
                    div { dt { "baseline" } dd { (samples(&claim.baseline, claim.bar)) } }
                }
                div { dt { "bar" } dd { (claim.rule()) } }
            }
            @if !claim.gate { p.light.small { "Not a gate: judged, but in doubt from the start." } }
        }
    }
}

fn samples(samples: &Samples, bar: Bar) -> Markup {
    let each: Vec<String> = samples.iter().map(|sample| number(*sample)).collect();
    let each = html! { div.seeds { (each.join("  ")) } };
    html! {
        strong { (summary(samples, bar)) }
        @match samples.len() {
            0 | 1 => {}
            _ if bar == Bar::Rises => {}
            // A wall of numbers buries the claims around it.
            n if n > SHOWN => details { summary.seeds { (n) " samples" } (each) },
            _ => (each),
        }
    }
}

// The most samples that are shown without being asked for.
const SHOWN: usize = 10;

fn drawn(name: &str, figure: &Figure) -> Markup {
    html! {
        figure {
            h4 { (figure.title) }
            div.wide { (PreEscaped(draw::svg(figure, Size::Wide, Theme::Page))) }
            div.narrow { (PreEscaped(draw::svg(figure, Size::Narrow, Theme::Page))) }
            figcaption {
                @if !figure.caption.is_empty() { (figure.caption) " " }
                a.light href={ "figures/" (name) ".svg" } { "SVG" }
            }
        }
    }
}

fn tabled(table: &Table) -> Markup {
    html! {
        div.table {
            h4 { (table.title) }
            div.scroll tabindex="0" {
                table {
                    thead { tr {
                        @for (c, column) in table.columns.iter().enumerate() {
                            th.n[is_number_column(table, c)] { (column) }
                        }
                    } }
                    tbody {
                        @for row in &table.rows {
                            tr { @for cell in row { td.n[is_number(cell)] { (cell) } } }
                        }
                    }
                }
            }
        }
    }
}

fn is_number(cell: &Cell) -> bool {
    !matches!(cell, Cell::Text(_))
}

fn is_number_column(table: &Table, column: usize) -> bool {
    !table.rows.is_empty() && table.rows.iter().all(|row| row.get(column).is_some_and(is_number))
}
