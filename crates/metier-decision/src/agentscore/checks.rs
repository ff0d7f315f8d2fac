//! What is looked at before anything is learnt from a table: labels, leaks, patients who come
//! twice, values that cannot be meant.

use crate::auroc::auroc_of_pairs;
use metier_core::{Error, Result};
use metier_data::{Column, Frame, Values, format_number};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// The fewest events per class that a checklist is learnt from without being forced.
pub const FEWEST: usize = 10;

/// The labels in a column of 0 and 1.
///
/// # Errors
/// An input error that names the values found.
pub fn labels(frame: &Frame, outcome: &str) -> Result<Vec<u8>> {
    let column = frame.column(outcome)?;
    let wrong = || {
        let mut found: Vec<String> = Vec::new();
        for label in column.labels() {
            let label = label.unwrap_or_else(|| "missing".into());
            if !found.contains(&label) {
                found.push(label);
            }
            if found.len() > 6 {
                found[6] = "…".into();
                break;
            }
        }
        frame
            .error(format!("the outcome is not 0 or 1 but: {}", found.join(", ")))
            .in_field(outcome)
            .help("1 marks a case and 0 the others; for a time to event give --event, --horizon-time and --horizon")
    };
    let Values::Number(values) = &column.values else { return Err(wrong()) };
    values
        .iter()
        .map(|&value| match value {
            0.0 => Ok(0),
            1.0 => Ok(1),
            _ => Err(wrong()),
        })
        .collect()
}

/// The rows that can be labelled at a horizon, and their labels: 1 for an event up to it, 0 for
/// those followed beyond it; those censored before it are left out.
///
/// # Errors
/// An event that is not 0 or 1, or times that are no numbers.
pub fn at_horizon(
    frame: &Frame,
    event: &str,
    time: &str,
    horizon: f64,
) -> Result<(Vec<usize>, Vec<u8>)> {
    let events = labels(frame, event)?;
    let times = frame.numbers(time)?;
    let mut kept = (Vec::new(), Vec::new());
    for (row, (&event, &time)) in events.iter().zip(times).enumerate() {
        if let Some(label) = label_at(event == 1, time, horizon) {
            kept.0.push(row);
            kept.1.push(label);
        }
    }
    Ok(kept)
}

/// The label of one row at a horizon; none for who left before it without an event.
pub(super) fn label_at(event: bool, time: f64, horizon: f64) -> Option<u8> {
    match (event, time <= horizon) {
        (true, true) => Some(1),
        _ if time > horizon => Some(0),
        _ => None,
    }
}

pub(super) fn one_label_per_row(frame: &Frame, y: &[u8]) -> Result<()> {
    if y.len() == frame.height() {
        return Ok(());
    }
    Err(Error::usage(format!("{} labels for {} rows", y.len(), frame.height())))
}

/// Checks that there is something to learn.
///
/// # Errors
/// No rows, or labels for others; one class only; fewer than ten events per class unless `force`.
pub fn classes(frame: &Frame, y: &[u8], force: bool) -> Result<()> {
    one_label_per_row(frame, y)?;
    if y.is_empty() {
        return Err(frame.error("there are no rows to learn from"));
    }
    let cases = y.iter().filter(|&&label| label == 1).count();
    let others = y.len() - cases;
    if let Some(&wrong) = y.iter().find(|&&label| label > 1) {
        return Err(Error::input(format!("the outcome is not 0 or 1 but: {wrong}")));
    }
    if cases == 0 || others == 0 {
        let only = u8::from(cases > 0);
        return Err(frame
            .error(format!("the outcome is {only} in every row"))
            .help("a checklist is learnt from cases and others"));
    }
    if cases.min(others) < FEWEST && !force {
        return Err(frame
            .error(format!("only {cases} cases and {others} others"))
            .help(format!("at least {FEWEST} of each are needed; --force goes on all the same")));
    }
    Ok(())
}

/// Columns that rules may not use, each with the reason.
///
/// # Errors
/// A column that identifies patients of whom some come more than once, where rows are not grouped.
pub fn excluded(
    frame: &Frame,
    y: &[u8],
    outcome: &str,
    group: Option<&str>,
    allowed: &[String],
) -> Result<BTreeMap<String, String>> {
    let mut excluded = BTreeMap::new();
    // The one thing here that looks at every value.
    let separations: Vec<f64> =
        frame.columns().par_iter().map(|column| separation(column, y)).collect();
    for (column, separation) in frame.columns().iter().zip(separations) {
        let name = &column.name;
        if group == Some(name.as_str()) {
            excluded.insert(name.clone(), "tells whose rows belong together".into());
            continue;
        }
        if allowed.contains(name) {
            continue;
        }
        if is_identifier(name) {
            if let (Some((label, count)), None) = (repeated(column), group) {
                return Err(frame
                    .error(format!(
                        "`{label}` comes {count} times: rows of one patient would lie on both sides of a split"
                    ))
                    .in_field(name)
                    .help(format!(
                        "give --group {name} to keep them together, or --allow {name} if it is no patient"
                    )));
            }
            excluded.insert(name.clone(), "identifies rows".into());
        } else if named_like(name, outcome) {
            excluded.insert(name.clone(), "possible leak: it is named like the outcome".into());
        } else if separation > 0.99 {
            excluded.insert(
                name.clone(),
                format!("possible leak: it separates the outcome (AUROC {separation:.3})"),
            );
        }
    }
    Ok(excluded)
}

/// What the user should know about the values: missing, infinite, in two units.
pub fn warnings(frame: &Frame) -> Vec<String> {
    frame.columns().par_iter().flat_map_iter(|column| warnings_of(frame, column)).collect()
}

fn warnings_of(frame: &Frame, column: &Column) -> Vec<String> {
    let mut warnings = Vec::new();
    let missing = column.values.missing();
    if missing > 0 {
        let rows: Vec<usize> = match &column.values {
            Values::Number(v) => (0..v.len()).filter(|&row| v[row].is_nan()).collect(),
            Values::Text(v) => (0..v.len()).filter(|&row| v[row].is_none()).collect(),
        };
        warnings.push(format!(
            "{}: missing in {}; rules about it are false there",
            column.name,
            shown(frame, &rows)
        ));
    }
    let Values::Number(values) = &column.values else { return warnings };
    let infinite: Vec<usize> = (0..values.len()).filter(|&row| values[row].is_infinite()).collect();
    if !infinite.is_empty() {
        warnings.push(format!(
            "{}: infinite in {}; taken as missing",
            column.name,
            shown(frame, &infinite)
        ));
    }
    if let Some((minor, factor)) = two_units(values) {
        warnings.push(format!(
            "{}: two groups of values a factor {factor:.0} apart, as from two units; the \
                 smaller group is in {}",
            column.name,
            shown(frame, &minor)
        ));
    }
    warnings
}

fn shown(frame: &Frame, rows: &[usize]) -> String {
    const SHOWN: usize = 5;
    let lines: Vec<String> =
        rows.iter().take(SHOWN).map(|&row| frame.line(row).to_string()).collect();
    let more = if rows.len() > SHOWN {
        format!(" and {} more", rows.len() - SHOWN)
    } else {
        String::new()
    };
    let noun = if rows.len() == 1 { "row" } else { "rows" };
    format!("{noun} {}{more}", lines.join(", "))
}

fn is_identifier(name: &str) -> bool {
    let plain: String =
        name.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
    const NAMES: [&str; 10] = [
        "id",
        "pid",
        "pidnum",
        "patientid",
        "patid",
        "subjectid",
        "subject",
        "patient",
        "mrn",
        "caseid",
    ];
    NAMES.contains(&plain.as_str())
}

fn repeated(column: &Column) -> Option<(String, usize)> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let labels = column.labels();
    for label in labels.iter().flatten() {
        *counts.entry(label.clone()).or_default() += 1;
    }
    let first = labels.into_iter().flatten().find(|label| counts[label] > 1)?;
    let count = counts[&first];
    Some((first, count))
}

fn named_like(name: &str, outcome: &str) -> bool {
    let plain = |text: &str| -> String {
        text.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect()
    };
    let (name, outcome) = (plain(name), plain(outcome));
    outcome.len() >= 4 && name.contains(&outcome)
}

// How well the column alone separates the classes, whichever way.
fn separation(column: &Column, y: &[u8]) -> f64 {
    let scored: Vec<(f64, u8)> = match &column.values {
        Values::Number(values) => values
            .iter()
            .zip(y)
            .filter(|(value, _)| value.is_finite())
            .map(|(v, y)| (*v, *y))
            .collect(),
        Values::Text(values) => {
            let mut tally: HashMap<&str, (f64, f64)> = HashMap::new();
            for (value, &label) in values.iter().zip(y) {
                let entry = tally.entry(value.as_deref().unwrap_or("")).or_default();
                entry.0 += f64::from(label);
                entry.1 += 1.0;
            }
            // Names of single rows separate anything.
            if tally.len() * 5 > values.len() {
                return 0.5;
            }
            let rate = |value: &Option<String>| {
                let entry = tally[value.as_deref().unwrap_or("")];
                entry.0 / entry.1
            };
            values.iter().zip(y).map(|(value, &label)| (rate(value), label)).collect()
        }
    };
    let value = auroc_of_pairs(scored);
    value.max(1.0 - value)
}

// A wide gap between two narrow groups of positive values: the rows of the smaller group, and how
// far apart the groups are.
fn two_units(values: &[f64]) -> Option<(Vec<usize>, f64)> {
    let positive = |value: f64| value > 0.0 && value.is_finite();
    let mut sorted: Vec<f64> = values.iter().copied().filter(|&value| positive(value)).collect();
    if sorted.len() < 20 {
        return None;
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let step = |place: usize| sorted[place] / sorted[place - 1];
    let split = (1..sorted.len()).max_by(|&a, &b| step(a).total_cmp(&step(b)))?;
    let (low, high) = sorted.split_at(split);
    let at = |group: &[f64], share: f64| group[((group.len() - 1) as f64 * share) as usize];
    let narrow = |group: &[f64]| {
        let distinct = at(group, 0.0) < at(group, 1.0);
        distinct && at(group, 0.9) / at(group, 0.1) < 4.0
    };
    let factor = at(high, 0.5) / at(low, 0.5);
    let minor = low.len().min(high.len());
    let found = factor > 5.0
        && step(split) > 2.0
        && minor >= 3
        && minor * 200 >= sorted.len()
        && narrow(low)
        && narrow(high);
    let in_minor = |value: f64| (value < high[0]) == (low.len() < high.len());
    found.then(|| {
        let rows = (0..values.len()).filter(|&row| positive(values[row]) && in_minor(values[row]));
        (rows.collect(), factor)
    })
}

/// For messages: how a rule's share looks.
pub(crate) fn percent(value: f64) -> String {
    format_number((1000.0 * value).round() / 10.0)
}
