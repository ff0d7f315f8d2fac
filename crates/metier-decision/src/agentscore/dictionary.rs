//! The data dictionary: what the columns mean, and what a card may ask about them.

use super::rule::{said_no, said_yes};
use metier_core::{Error, Result};
use metier_data::{Column, Frame, Values, format_number};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What is known about the columns beyond their values.
///
/// ```
/// use metier_decision::agentscore::Dictionary;
/// let dictionary = Dictionary::parse("
/// columns:
///   crea: {label: Creatinine, unit: mg/dL, step: 0.1, direction: up}
///   ward: {use: false}
/// derived: [bun / crea]
/// ")?;
/// assert_eq!(dictionary.label("crea"), "Creatinine");
/// assert_eq!(dictionary.columns["crea"].step, Some(0.1));
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dictionary {
    /// By column.
    pub columns: BTreeMap<String, Entry>,
    /// Ratios and differences that rules may use: `bun / crea`, `sbp - dbp`.
    pub derived: Vec<super::rule::Expr>,
}

/// What is known about one column. Every key may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Entry {
    /// The name on the card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The unit on the card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Cut-points are multiples of this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Which way the risk goes; rules that say otherwise are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Monotone>,
    /// What kind of column it is, where the values do not tell.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Whether rules may ask about it: `false` for what is not at hand at the bedside.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    pub usable: Option<bool>,
}

/// Which way the risk goes with the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Monotone {
    /// Higher values are riskier.
    Up,
    /// Lower values are riskier.
    Down,
}

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A quantity, even when it has two values only.
    Number,
    /// One of several names, even when they are written as numbers.
    Category,
    /// Yes or no: 0 and 1, or words such as `yes` and `absent`.
    Binary,
}

impl Dictionary {
    /// Reads a dictionary in YAML.
    ///
    /// # Errors
    /// An input error with the line and what was expected there.
    pub fn parse(text: &str) -> Result<Self> {
        let dictionary: Self = serde_norway::from_str(text).map_err(|error| {
            let row = error.location().map_or(1, |place| place.line() as u64);
            Error::input(error.to_string()).at_row(row).help(
                "write `columns:` with, by column, label, unit, step, direction (up or down), \
                 type (number, category or binary) and use; and `derived: [a / b]`",
            )
        })?;
        dictionary.validate()?;
        Ok(dictionary)
    }

    /// Checks the values by themselves, without a table.
    ///
    /// # Errors
    /// An input error that names the column at fault.
    pub fn validate(&self) -> Result<()> {
        for (name, entry) in &self.columns {
            if entry.step.is_some_and(|step| !(step > 0.0 && step.is_finite())) {
                return Err(Error::input("step has to be above zero").in_field(name));
            }
        }
        Ok(())
    }

    /// Reads a dictionary from a YAML file.
    ///
    /// # Errors
    /// A file that cannot be read, or is no dictionary.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Self::parse(&text).map_err(|error| error.in_file(path))
    }

    /// Forgets what it says of these columns: a dictionary of a whole file speaks of more than a card
    /// may ask about.
    ///
    /// ```
    /// use metier_decision::agentscore::Dictionary;
    /// let mut dictionary = Dictionary::parse("columns: {age: {unit: years}, death: {type: binary}}")?;
    /// dictionary.forget(["death"]);
    /// assert_eq!(dictionary.columns.keys().collect::<Vec<_>>(), ["age"]);
    /// # Ok::<(), metier_core::Error>(())
    /// ```
    pub fn forget<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        for name in names {
            self.columns.remove(name);
        }
    }

    /// Checks that the table has the columns it speaks of, of the types it gives them.
    ///
    /// ```
    /// use metier_data::{Column, Frame};
    /// use metier_decision::agentscore::Dictionary;
    /// let dictionary = Dictionary::parse("columns: {fever: {type: binary}}")?;
    /// let table = Frame::new(vec![Column::text("fever", [Some("yes"), Some("a little")])])?;
    /// let error = dictionary.check(&table).unwrap_err();
    /// assert_eq!(error.message(), "`a little` is neither yes nor no");
    /// # Ok::<(), metier_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// An input error that names the nearest columns, or the first value that is not of the type.
    pub fn check(&self, frame: &Frame) -> Result<()> {
        for (name, entry) in &self.columns {
            fits(frame, frame.column(name)?, entry)?;
        }
        self.derived.iter().try_for_each(|expr| {
            frame.numbers(&expr.a)?;
            frame.numbers(&expr.b).map(drop)
        })
    }

    /// The name of a column on the card.
    pub fn label(&self, feature: &str) -> String {
        let entry = self.columns.get(feature);
        entry.and_then(|entry| entry.label.clone()).unwrap_or_else(|| feature.to_owned())
    }

    /// The unit of a column with a space before it, or nothing.
    pub fn unit(&self, feature: &str) -> String {
        let entry = self.columns.get(feature);
        entry.and_then(|entry| entry.unit.as_ref()).map_or(String::new(), |unit| format!(" {unit}"))
    }

    /// Whether rules may ask about a column.
    pub fn usable(&self, feature: &str) -> bool {
        self.columns.get(feature).and_then(|entry| entry.usable).unwrap_or(true)
    }

    /// A cut-point as it would be used at the bedside: a multiple of the column's step, or two
    /// significant digits.
    ///
    /// ```
    /// let plain = metier_decision::agentscore::Dictionary::default();
    /// assert_eq!(plain.round("x", 0.12345), 0.12);
    /// assert_eq!(plain.round("x", 1387.0), 1400.0);
    /// ```
    pub fn round(&self, feature: &str, value: f64) -> f64 {
        match self.columns.get(feature).and_then(|entry| entry.step) {
            Some(step) => tidy((value / step).round() * step),
            None => two_digits(value),
        }
    }
}

// Categories are whatever a column holds.
fn fits(frame: &Frame, column: &Column, entry: &Entry) -> Result<()> {
    let wrong = |row: usize, message: String, right: &str| {
        Err(frame
            .error_at(row, &column.name, message)
            .help(format!("the dictionary gives it {right}; correct the one or the other")))
    };
    match (entry.kind, &column.values) {
        (Some(Kind::Number), Values::Text(texts)) => {
            let text = texts.iter().enumerate().find_map(|(row, text)| Some((row, text.as_ref()?)));
            match text {
                Some((row, text)) => wrong(row, format!("`{text}` is no number"), "type number"),
                None => Ok(()),
            }
        }
        (Some(Kind::Binary), Values::Number(values)) => {
            let strange = |value: &f64| value.is_finite() && *value != 0.0 && *value != 1.0;
            match values.iter().position(strange) {
                Some(row) => wrong(
                    row,
                    format!("{} is neither 0 nor 1", format_number(values[row])),
                    "type binary",
                ),
                None => Ok(()),
            }
        }
        // Names are of no order, so that the risk cannot go with them.
        (kind, Values::Text(texts)) if kind == Some(Kind::Binary) || entry.direction.is_some() => {
            let strange = |text: &&String| !said_yes(text) && !said_no(text);
            let found = texts
                .iter()
                .enumerate()
                .find_map(|(row, text)| Some((row, text.as_ref().filter(strange)?)));
            let given =
                if kind == Some(Kind::Binary) { "type binary" } else { "a direction, up or down" };
            match found {
                Some((row, text)) => wrong(row, format!("`{text}` is neither yes nor no"), given),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// A value at two significant digits.
pub fn two_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    // Through text, so that the result is the double nearest to the decimal.
    format!("{value:.1e}").parse().unwrap_or(value)
}

// A multiple of 0.1 should print as one.
fn tidy(value: f64) -> f64 {
    format!("{value:.10}").parse().unwrap_or(value)
}
