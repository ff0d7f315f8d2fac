//! Splitting rows by what they hold rather than by where they stand, so that the order of the rows
//! and columns that say nothing change nothing.

use metier_core::hash::{OFFSET, fnv1a};
use metier_core::{Error, Result};
use metier_data::{Column, Frame, Values};
use rayon::prelude::*;

/// The part of the rows held out for validation: about `share` of each class. Rows with the same
/// label in the column `group` stay together.
///
/// # Errors
/// A share outside 0 to 1, labels that do not fit the table, or a group column that it lacks.
pub fn holdout(
    frame: &Frame,
    y: &[u8],
    group: Option<&str>,
    share: f64,
    seed: u64,
) -> Result<Vec<bool>> {
    if !(0.0..=1.0).contains(&share) {
        return Err(Error::usage(format!("{share} is no share of the rows"))
            .in_field("validation")
            .help("a share lies between 0 and 1"));
    }
    let units = units(frame, y, group, seed)?;
    let mut held = vec![false; y.len()];
    for class in [1, 0] {
        let members: Vec<&Unit> = units.iter().filter(|unit| unit.label == class).collect();
        let count = (members.len() as f64 * share).round() as usize;
        for unit in &members[..count] {
            unit.rows.iter().for_each(|&row| held[row] = true);
        }
    }
    Ok(held)
}

/// The fold of each row, from 0: stratified by label, rows of one group together.
///
/// ```
/// use metier_data::{Column, Frame};
/// use metier_decision::agentscore::folds;
/// let table = Frame::new(vec![Column::number("x", vec![1.0, 2.0, 3.0, 4.0])])?;
/// let fold = folds(&table, &[0, 1, 0, 1], None, 2, 0)?;
/// assert_eq!(fold.iter().sum::<usize>(), 2);
/// assert!(folds(&table, &[0, 1, 0, 1], None, 0, 0).is_err());
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// Fewer than two folds, labels that do not fit the table, or a group column that it lacks.
pub fn folds(
    frame: &Frame,
    y: &[u8],
    group: Option<&str>,
    count: usize,
    seed: u64,
) -> Result<Vec<usize>> {
    if count < 2 {
        return Err(Error::usage("a cross-validation needs at least two folds").in_field("folds"));
    }
    let units = units(frame, y, group, seed ^ 0x5bf0_3635)?;
    let mut fold = vec![0; y.len()];
    for class in [1, 0] {
        let members = units.iter().filter(|unit| unit.label == class);
        for (place, unit) in members.enumerate() {
            // Non-cases go round the other way, so that fold sizes even out.
            let turn = place % count;
            let here = if class == 1 { turn } else { count - 1 - turn };
            unit.rows.iter().for_each(|&row| fold[row] = here);
        }
    }
    Ok(fold)
}

// Rows that stay together, in a shuffled order that depends on their content and the seed alone.
struct Unit {
    key: u64,
    label: u8,
    rows: Vec<usize>,
}

fn units(frame: &Frame, y: &[u8], group: Option<&str>, seed: u64) -> Result<Vec<Unit>> {
    super::checks::one_label_per_row(frame, y)?;
    let mut units: Vec<Unit> = match group {
        None => row_hashes(frame)
            .into_iter()
            .enumerate()
            .map(|(row, hash)| Unit { key: mix(hash ^ mix(seed)), label: y[row], rows: vec![row] })
            .collect(),
        Some(name) => {
            let labels = frame.column(name)?.labels();
            let mut groups = std::collections::BTreeMap::<Option<String>, Unit>::new();
            for (row, label) in labels.into_iter().enumerate() {
                let key = mix(text_hash(label.as_deref().unwrap_or("")) ^ mix(seed));
                let unit = groups.entry(label).or_insert(Unit { key, label: 0, rows: Vec::new() });
                unit.label = unit.label.max(y[row]);
                unit.rows.push(row);
            }
            groups.into_values().collect()
        }
    };
    units.sort_by_key(|unit| unit.key);
    Ok(units)
}

// A sum over the columns: their order does not count, nor do columns with one value.
fn row_hashes(frame: &Frame) -> Vec<u64> {
    let of_column = |column: &Column| -> Option<Vec<u64>> {
        let name = text_hash(&column.name);
        let cells: Vec<u64> = match &column.values {
            Values::Number(values) => values
                .iter()
                .map(|&value| {
                    let bits = if value.is_nan() { u64::MAX } else { (value + 0.0).to_bits() };
                    mix(name ^ mix(bits))
                })
                .collect(),
            Values::Text(values) => values
                .iter()
                .map(|value| mix(name ^ value.as_deref().map_or(u64::MAX, text_hash)))
                .collect(),
        };
        let told_apart = cells.iter().any(|cell| *cell != cells[0]);
        told_apart.then_some(cells)
    };
    let add = |mut sum: Vec<u64>, cells: Vec<u64>| {
        sum.iter_mut().zip(cells).for_each(|(sum, cell)| *sum = sum.wrapping_add(cell));
        sum
    };
    let hashes = frame.columns().par_iter().filter_map(of_column).reduce_with(add);
    hashes.unwrap_or_else(|| vec![0; frame.height()])
}

fn text_hash(text: &str) -> u64 {
    fnv1a(OFFSET, text.as_bytes())
}

// The finalizer of SplitMix64: every bit of the input reaches every bit of the output.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
