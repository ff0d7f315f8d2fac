//! A checklist as a file, and what such a file has to hold before anyone is scored by it.

use super::checklist::Checklist;
use metier_core::{Error, Result, files};
use std::path::Path;

impl Checklist {
    /// The name of the file format.
    pub const FORMAT: &'static str = "metier checklist 1";

    /// The checklist as JSON.
    ///
    /// # Errors
    /// Never on a checklist that [`fit`](super::fit) made.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string_pretty(self).map_err(|error| Error::internal(error.to_string()))
    }

    /// Reads a checklist from JSON and checks it: a file that was changed by hand must not score
    /// anyone by other rules than it shows.
    ///
    /// # Errors
    /// An input error that says what is wrong and where.
    pub fn from_json(text: &str) -> Result<Self> {
        let checklist: Self = serde_json::from_str(text)
            .map_err(|error| Error::input(format!("no saved score: {error}")))?;
        if checklist.format != Self::FORMAT {
            return Err(Error::input(format!(
                "is of format `{}`, where `{}` can be read",
                checklist.format,
                Self::FORMAT
            )));
        }
        checklist.check()?;
        Ok(checklist)
    }

    /// Reads a checklist from a file.
    ///
    /// # Errors
    /// A file that cannot be read or is no saved score.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Self::from_json(&text).map_err(|error| error.in_file(path))
    }

    /// Writes the checklist to a file, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        files::write_bytes(path, format!("{}\n", self.to_json()?).as_bytes())
    }

    pub(super) fn few(&self) -> Result<()> {
        let (items, most) = (self.items.len(), Self::MOST);
        if items <= most {
            return Ok(());
        }
        Err(Error::input(format!("{items} items, where a checklist holds 1 to {most}"))
            .in_field("items"))
    }

    fn check(&self) -> Result<()> {
        self.few()?;
        let wrong = |field: &str, message: String| Err(Error::input(message).in_field(field));
        let items = self.items.len();
        if items == 0 {
            return wrong("items", "there are none".into());
        }
        if !(1..=items).contains(&self.theta) {
            return wrong(
                "theta",
                format!("acts at {} points, where {items} items allow 1 to {items}", self.theta),
            );
        }
        for (place, item) in self.items.iter().enumerate() {
            let here = |error: Error| error.in_field(format!("items[{place}].rule"));
            item.rule.well_formed(self.config.depth).map_err(here)?;
            if item.rule.is_relative() {
                return Err(here(
                    Error::input(format!("`{}` is no fixed number", item.rule))
                        .help("a saved score holds numeric_threshold where a rule was proposed by quantile or z-score"),
                ));
            }
            let aurocs = [item.construction, item.validation];
            if aurocs.iter().any(|auroc| !(0.0..=1.0).contains(auroc)) {
                return wrong(&format!("items[{place}]"), "an AUROC lies between 0 and 1".into());
            }
        }
        let risks = &self.risk.rows;
        if risks.len() != items + 1 {
            return wrong(
                "risk",
                format!(
                    "{} rows, where {items} items want one for each of 0 to {items} points",
                    risks.len()
                ),
            );
        }
        for (points, row) in risks.iter().enumerate() {
            let field = format!("risk.rows[{points}]");
            if row.points != points {
                return wrong(
                    &field,
                    format!("is of {} points, where {points} is right", row.points),
                );
            }
            let rising = [0.0, row.low, row.risk, row.high, 1.0].is_sorted();
            if !rising || row.cases > row.rows {
                let right = "a risk lies within its interval, and that between 0 and 1";
                return wrong(&field, format!("{right}; cases are among the rows"));
            }
        }
        if let Some(column) = self.known.keys().find(|name| !self.asks_about(name)) {
            return wrong("known", format!("`{column}` is no column that an item asks about"));
        }
        self.dictionary.validate()?;
        self.objective.validate()?;
        self.config.validate()
    }

    fn asks_about(&self, column: &str) -> bool {
        self.items.iter().any(|item| item.rule.features().contains(&column))
    }
}
