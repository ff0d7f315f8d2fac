//! Yes/no columns of a table, as users of integer scores make them.

use crate::agentscore::dictionary::two_digits;
use crate::agentscore::quantile::{grid, quantile};
use metier_core::Result;
use metier_data::{Frame, Values};

/// `column >= cut` at the quantile grid of the training table, and one indicator per category.
/// Missing numbers are medians. Indicators that are true in fewer than 1 % or more than 99 % of
/// the training rows are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Indicators {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    AtLeast { name: String, cut: f64, median: f64 },
    Is { name: String, level: String },
}

impl Indicators {
    /// Learns the cut-points of a training table.
    ///
    /// # Errors
    /// Never on a table that is consistent.
    pub fn new(frame: &Frame, excluded: &[String]) -> Result<Self> {
        let mut parts = Vec::new();
        for column in frame.columns().iter().filter(|column| !excluded.contains(&column.name)) {
            let name = || column.name.clone();
            match &column.values {
                Values::Number(values) => {
                    let mut sorted: Vec<f64> =
                        values.iter().copied().filter(|value| value.is_finite()).collect();
                    sorted.sort_by(f64::total_cmp);
                    let Some(last) = sorted.len().checked_sub(1) else { continue };
                    let mut cuts: Vec<f64> = grid(&sorted).into_iter().map(two_digits).collect();
                    // A column of two values has one cut, wherever its quantiles lie.
                    if sorted.iter().all(|x| *x == sorted[0] || *x == sorted[last]) {
                        cuts = vec![sorted[last]];
                    }
                    cuts.sort_by(f64::total_cmp);
                    cuts.dedup();
                    let median = quantile(&sorted, 0.5);
                    parts.extend(cuts.into_iter().map(|cut| Part::AtLeast {
                        name: name(),
                        cut,
                        median,
                    }));
                }
                Values::Text(values) => {
                    let levels: std::collections::BTreeSet<&String> =
                        values.iter().flatten().collect();
                    if (2..=12).contains(&levels.len()) {
                        let first = usize::from(levels.len() == 2);
                        parts.extend(
                            levels
                                .into_iter()
                                .skip(first)
                                .map(|level| Part::Is { name: name(), level: level.clone() }),
                        );
                    }
                }
            }
        }
        let all = Self { parts };
        let columns = all.transform(frame)?;
        let rows = frame.height() as f64;
        let fine = |rows_true: &Vec<u32>| {
            let share = rows_true.len() as f64 / rows;
            (0.01..=0.99).contains(&share)
        };
        Ok(Self {
            parts: all
                .parts
                .into_iter()
                .zip(&columns)
                .filter(|(_, rows)| fine(rows))
                .map(|(part, _)| part)
                .collect(),
        })
    }

    /// The number of indicators.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The indicator at a place, in words.
    ///
    /// # Panics
    /// Where there are no more than `place` indicators.
    pub fn name(&self, place: usize) -> String {
        match &self.parts[place] {
            Part::AtLeast { name, cut, .. } => format!("{name} ≥ {cut}"),
            Part::Is { name, level } => format!("{name} is {level}"),
        }
    }

    /// For each indicator, the rows where it is true, rising.
    ///
    /// # Errors
    /// A column that is missing or of another kind.
    pub fn transform(&self, frame: &Frame) -> Result<Vec<Vec<u32>>> {
        self.parts
            .iter()
            .map(|part| {
                let truth: Vec<bool> = match part {
                    Part::AtLeast { name, cut, median } => frame
                        .numbers(name)?
                        .iter()
                        .map(|x| if x.is_finite() { x >= cut } else { median >= cut })
                        .collect(),
                    Part::Is { name, level } => frame
                        .column(name)?
                        .texts()?
                        .iter()
                        .map(|text| text.as_ref() == Some(level))
                        .collect(),
                };
                Ok((0..truth.len() as u32).filter(|&row| truth[row as usize]).collect())
            })
            .collect()
    }
}
