//! Columns of values whose kind is known only cell by cell, as in JSON.

use crate::{Column, format_number};

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Missing,
    Number(f64),
    Logical(bool),
    Text(String),
}

/// A column of numbers where all cells agree to that (true and false being 1 and 0), else of text.
pub(crate) fn column(name: String, cells: Vec<Cell>) -> Column {
    let has = |wanted: fn(&Cell) -> bool| cells.iter().any(wanted);
    let text = has(|cell| matches!(cell, Cell::Text(_)));
    let number = has(|cell| matches!(cell, Cell::Number(_)));
    let logical = has(|cell| matches!(cell, Cell::Logical(_)));
    if text || (number && logical) {
        let texts = cells.into_iter().map(|cell| match cell {
            Cell::Missing => None,
            Cell::Number(value) => Some(format_number(value)),
            Cell::Logical(value) => Some(value.to_string()),
            Cell::Text(text) => Some(text),
        });
        return Column::text(name, texts);
    }
    let numbers = cells.into_iter().map(|cell| match cell {
        Cell::Number(value) => value,
        Cell::Logical(value) => f64::from(u8::from(value)),
        Cell::Missing | Cell::Text(_) => f64::NAN,
    });
    Column::number(name, numbers.collect())
}

/// A whole number, or its digits where a number would lose some: identifiers stay what they are.
pub(crate) fn whole(value: i128) -> Cell {
    let near = value as f64;
    if near as i128 == value { Cell::Number(near) } else { Cell::Text(value.to_string()) }
}
