//! What single fields mean, and what a column of them is.

use super::records::as_str;
use std::collections::HashSet;

/// How single fields are understood.
pub(super) struct Fields {
    missing: HashSet<String>,
    /// Numbers may have a decimal comma, as where semicolons part the fields.
    comma: bool,
}

impl Fields {
    pub(super) fn new(missing: &[String], delimiter: u8) -> Self {
        let missing = missing.iter().map(|word| word.trim().to_lowercase()).collect();
        Self { missing, comma: delimiter == b';' }
    }

    pub(super) fn is_missing(&self, field: &str) -> bool {
        let field = field.trim();
        field.len() <= 16 && self.missing.contains(&field.to_lowercase())
    }

    fn number(&self, field: &str) -> Option<f64> {
        if self.comma && field.contains(',') {
            let plain = !field.contains('.') && field.matches(',').count() == 1;
            return if plain { field.replace(',', ".").parse().ok() } else { None };
        }
        let value: f64 = field.parse().ok()?;
        // An identifier whose last digits a number would lose is text.
        if field.len() > 15
            && let Ok(whole) = field.parse::<i128>()
            && value as i128 != whole
        {
            return None;
        }
        Some(value)
    }

    /// Neither a number nor missing.
    pub(super) fn is_word(&self, field: &[u8]) -> bool {
        let field = as_str(field).trim();
        self.number(field).is_none() && !self.is_missing(field)
    }
}

/// What a column has turned out to be so far.
pub(super) enum Kind {
    Number { values: Vec<f64>, logical: Option<bool> },
    Text,
}

impl Kind {
    pub(super) fn new(text: bool) -> Self {
        if text { Self::Text } else { Self::Number { values: Vec::new(), logical: None } }
    }

    pub(super) fn push(&mut self, field: &[u8], fields: &Fields) {
        let Self::Number { values, logical } = self else { return };
        let field = as_str(field).trim();
        // Most fields are numbers; a missing value is looked up only where one does not parse,
        // save NaN, which does.
        let (value, is_logical) = match fields.number(field) {
            Some(value) => (value, false),
            None if fields.is_missing(field) => {
                values.push(f64::NAN);
                return;
            }
            None => match parse_logical(field) {
                Some(value) => (value, true),
                None => {
                    *self = Self::Text;
                    return;
                }
            },
        };
        // A column that mixes numbers with true and false is text.
        if logical.is_some_and(|before| before != is_logical) {
            *self = Self::Text;
            return;
        }
        if !value.is_nan() {
            *logical = Some(is_logical);
        }
        values.push(value);
    }
}

fn parse_logical(field: &str) -> Option<f64> {
    if field.eq_ignore_ascii_case("true") {
        Some(1.0)
    } else if field.eq_ignore_ascii_case("false") {
        Some(0.0)
    } else {
        None
    }
}
