//! The bedside card: what is printed and pinned to the wall. Pictures of it, for the screen and for
//! paper, are one [`drawing`] in two forms.

mod drawing;
pub(super) mod html;
mod pdf;
mod svg;

use super::checklist::Checklist;
use super::checks::percent;
use serde_json::json;

impl Checklist {
    /// The card as plain text.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n\n", self.heading());
        let width = self.items.iter().map(|item| item.text.chars().count()).max().unwrap_or(0);
        for item in &self.items {
            let gap = " ".repeat(width - item.text.chars().count());
            text += &format!("  [ ] {}{gap}   1 point\n", item.text);
        }
        text += &format!("\nAct at {} or more of {} points.\n\n", self.theta, self.items.len());
        text += "  points   risk    95 %            patients\n";
        for row in &self.risk.rows {
            let mark = if row.points == self.theta { ">" } else { " " };
            text += &format!(
                "{mark} {:>6} {:>6}    {:>4} to {:>4} {:>9}\n",
                row.points,
                whole(row.risk),
                whole(row.low),
                whole(row.high),
                row.rows
            );
        }
        text + "\n" + &self.footing() + "\n"
    }

    /// The card as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("## {}\n\n| item | points |\n| --- | --- |\n", self.heading());
        for item in &self.items {
            text += &format!("| {} | 1 |\n", item.text.replace('|', "\\|"));
        }
        text += &format!(
            "\n**Act at {} or more of {} points.**\n\n| points | risk | 95 % interval | patients |\n| --- | --- | --- | --- |\n",
            self.theta,
            self.items.len()
        );
        for row in &self.risk.rows {
            text += &format!(
                "| {} | {} | {} to {} | {} |\n",
                row.points,
                whole(row.risk),
                whole(row.low),
                whole(row.high),
                row.rows
            );
        }
        text + "\n" + &self.footing() + "\n"
    }

    /// The items as a FHIR R4 Questionnaire of yes/no questions.
    pub fn to_fhir_questionnaire(&self) -> String {
        let items: Vec<_> = self
            .items
            .iter()
            .enumerate()
            .map(|(place, item)| {
                json!({"linkId": format!("item-{}", place + 1), "text": item.text, "type": "boolean", "required": true})
            })
            .collect();
        let questionnaire = json!({
            "resourceType": "Questionnaire",
            "status": "draft",
            "title": self.heading(),
            "description": format!("Each yes is one point. Act at {} or more of {} points. {}",
                self.theta, self.items.len(), self.footing()),
            "item": items,
        });
        format!("{questionnaire:#}\n")
    }

    pub(super) fn heading(&self) -> String {
        format!("Checklist for {}", self.outcome)
    }

    // Where the numbers come from belongs on the card itself.
    fn footing(&self) -> String {
        let training = &self.training;
        let mut text = format!(
            "Learnt from {} patients, {} with the outcome; AUROC {:.3} on them",
            training.rows, training.cases, training.auroc
        );
        text += &match &self.honest {
            Some(honest) => format!(
                ", {:.3} cross-validated ({:.3} to {:.3}).",
                honest.auroc, honest.interval[0], honest.interval[1]
            ),
            None => ", not cross-validated.".to_owned(),
        };
        text + " A missing value counts as no. Not validated for clinical use."
    }
}

fn whole(share: f64) -> String {
    if share > 0.0 && share < 0.01 {
        format!("{} %", percent(share))
    } else {
        format!("{:.0} %", 100.0 * share)
    }
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
