//! `metier score audit`: says why each rule was kept or refused.

use crate::shell::Shell;
use clap::Args;
use metier_core::Result;
use metier_decision::agentscore::{Checklist, Verdict};
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;

/// What to list.
#[derive(Args)]
pub struct AuditArgs {
    /// The saved score
    score: PathBuf,
    /// Only rules that were kept
    #[arg(long, conflicts_with = "refused")]
    kept: bool,
    /// Only rules that were refused
    #[arg(long)]
    refused: bool,
}

pub fn run(args: &AuditArgs, shell: &Shell) -> Result<()> {
    let checklist = Checklist::read(&args.score)?;
    let shown = checklist
        .audit
        .iter()
        .filter(|verdict| (!args.kept || verdict.kept) && (!args.refused || !verdict.kept));
    // Columns left out are refused, every rule about them at once.
    let mut excluded = checklist.excluded.iter().filter(|_| !args.kept);
    let on_card = |verdict: &Verdict| checklist.items.iter().any(|item| item.rule == verdict.rule);
    if shell.json() {
        for verdict in shown {
            shell.print_json(&Line { verdict, on_card: on_card(verdict) })?;
        }
        return excluded.try_for_each(|(column, reason)| {
            shell.print_json(&json!({ "column": column, "kept": false, "reason": reason }))
        });
    }
    let value = |auroc: Option<f64>| auroc.map_or("    -".into(), |auroc| format!("{auroc:.3}"));
    let mut text = String::from("AUROC  confirmed  rule");
    for verdict in shown {
        let reason = if on_card(verdict) { "on the card" } else { &verdict.reason };
        text += &format!(
            "\n{}      {}  {}: {reason}",
            value(verdict.construction),
            value(verdict.validation),
            verdict.rule.words(&checklist.dictionary)
        );
    }
    for (name, reason) in excluded {
        text += &format!("\n    -          -  every rule about {name}: {reason}");
    }
    shell.print(text)
}

// A verdict, and whether it made the card.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    verdict: &'a Verdict,
    on_card: bool,
}
