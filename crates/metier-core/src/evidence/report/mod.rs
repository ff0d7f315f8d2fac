//! The page of a run, with its figures and numbers beside it.

mod page;
#[cfg(test)]
mod tests;

use super::draw::{self, Size, Theme};
use super::{Card, Figure, Outcome, Record, Table};
use crate::{Error, Result, files};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder that a run is reported in:
///
/// - `index.html`, the page: one file that needs no network and no other file;
/// - `figures/METHOD-FIGURE.svg` and `…-dark.svg`, every figure by itself;
/// - `results.jsonl`, one line per method, as `metier evidence --format json` prints them;
/// - `METHOD.json`, the same with the numbers behind every table and figure.
#[derive(Clone, Debug)]
pub struct Report {
    folder: PathBuf,
}

impl Report {
    /// Makes the folder and sees that it can be written to, so that a long run does not end without
    /// a place for what it found.
    ///
    /// # Errors
    /// When the folder cannot be made or written to.
    pub fn create(folder: &Path) -> Result<Self> {
        let refused = |error: std::io::Error| {
            Error::new(crate::error::Kind::Io, format!("cannot write the report: {error}"))
                .in_file(folder)
                .help("name a folder that can be written to with --out DIR")
                .caused_by(error)
        };
        fs::create_dir_all(folder).map_err(refused)?;
        tempfile::tempfile_in(folder).map_err(refused)?;
        Ok(Self { folder: folder.to_path_buf() })
    }

    /// Writes everything and returns the path of the page.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, outcomes: &[Outcome]) -> Result<PathBuf> {
        let mut lines = String::new();
        for outcome in outcomes {
            lines += &json(&Record::from(outcome))?;
            lines.push('\n');
            self.write_numbers(outcome)?;
            self.write_figures(outcome)?;
        }
        files::write_bytes(&self.folder.join("results.jsonl"), lines.as_bytes())?;
        let page = self.folder.join("index.html");
        files::write_bytes(&page, page::html(outcomes).as_bytes())?;
        Ok(page)
    }

    // Figures that an earlier run left and this one does not draw would pass for this run's.
    fn write_figures(&self, outcome: &Outcome) -> Result<()> {
        let folder = self.folder.join("figures");
        let mut drawn = Vec::new();
        for figure in figures(outcome) {
            for (ending, theme) in [("", Theme::Light), ("-dark", Theme::Dark)] {
                let name = format!("{}{ending}.svg", figure_name(outcome.card, figure));
                let svg = draw::svg(figure, Size::Wide, theme);
                files::write_bytes(&folder.join(&name), svg.as_bytes())?;
                drawn.push(name);
            }
        }
        let Ok(found) = fs::read_dir(&folder) else { return Ok(()) };
        let ours = format!("{}-", outcome.card.id);
        for entry in found.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(&ours) && name.ends_with(".svg") && !drawn.contains(&name) {
                fs::remove_file(entry.path()).map_err(|error| Error::io(entry.path(), error))?;
            }
        }
        Ok(())
    }

    fn write_numbers(&self, outcome: &Outcome) -> Result<()> {
        #[derive(Serialize)]
        struct Numbers<'a> {
            card: &'a Card,
            #[serde(flatten)]
            record: Record<'a>,
            tables: &'a [Table],
            figures: &'a [Figure],
        }
        let tables = outcome.result.as_ref().map_or(&[][..], |finding| &finding.tables);
        let text = json(&Numbers {
            card: outcome.card,
            record: Record::from(outcome),
            tables,
            figures: figures(outcome),
        })?;
        let path = self.folder.join(format!("{}.json", outcome.card.id));
        files::write_bytes(&path, text.as_bytes())
    }
}

fn figures(outcome: &Outcome) -> &[Figure] {
    outcome.result.as_ref().map_or(&[], |finding| &finding.figures)
}

// The name of a figure's file, whatever its author called it.
fn figure_name(card: &Card, figure: &Figure) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    format!("{}-{}", card.id, figure.id.chars().map(plain).collect::<String>())
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::internal(error.to_string()))
}
