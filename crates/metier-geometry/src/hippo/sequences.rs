//! Sequences as people have them: with gaps, and of lengths that should be the same.

use metier_core::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// What stands for a sample that is missing or not finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Nothing does: it is an error.
    #[default]
    Refuse,
    /// The last sample before; the first one there is, where none comes before.
    Hold,
    /// 0.
    Zero,
}

/// Fills the gaps of a sequence and says how many there were.
///
/// ```
/// use metier_geometry::hippo::{Missing, fill_missing};
/// let mut u = [f64::NAN, 2.0, f64::NAN, 3.0];
/// assert_eq!(fill_missing(&mut u, Missing::Hold)?, 2);
/// assert_eq!(u, [2.0, 2.0, 2.0, 3.0]);
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// A gap that is refused, as the row counted from 1; or a sequence to hold that is all gaps.
pub fn fill_missing(values: &mut [f64], missing: Missing) -> Result<usize> {
    let Some(first) = values.iter().position(|value| !value.is_finite()) else { return Ok(0) };
    let mut last = match missing {
        Missing::Refuse => {
            return Err(Error::input(format!("the sample is {}", values[first]))
                .at_row(first as u64 + 1)
                .help("fill such samples: hold the last one before, or take 0"));
        }
        Missing::Zero => 0.0,
        Missing::Hold => match values.iter().find(|value| value.is_finite()) {
            Some(there) => *there,
            None => return Err(Error::input("every sample is missing, so none can be held")),
        },
    };
    let mut count = 0;
    for value in values {
        if value.is_finite() {
            last = if missing == Missing::Hold { *value } else { last };
        } else {
            *value = last;
            count += 1;
        }
    }
    Ok(count)
}

/// The sequences as rows of one array.
///
/// # Errors
/// Sequences of different lengths, with the number of the first that differs, from 1.
pub fn sequences(rows: &[Vec<f64>]) -> Result<Array2<f64>> {
    let length = rows.first().map_or(0, Vec::len);
    if let Some(at) = rows.iter().position(|row| row.len() != length) {
        let message = format!("{} samples, where row 1 has {length}", rows[at].len());
        return Err(Error::input(message)
            .at_row(at as u64 + 1)
            .help("sequences of one batch have one length"));
    }
    Array2::from_shape_vec((rows.len(), length), rows.concat())
        .map_err(|error| Error::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_refused_or_filled() {
        let gaps = [1.0, f64::NAN, f64::INFINITY, 4.0];
        let error = fill_missing(&mut gaps.clone(), Missing::Refuse).unwrap_err();
        assert_eq!(error.to_string(), "row 2: the sample is NaN");
        for (how, right) in
            [(Missing::Hold, [1.0, 1.0, 1.0, 4.0]), (Missing::Zero, [1.0, 0.0, 0.0, 4.0])]
        {
            let mut values = gaps;
            assert_eq!(fill_missing(&mut values, how).unwrap(), 2);
            assert_eq!(values, right);
        }
        assert!(fill_missing(&mut [f64::NAN], Missing::Hold).is_err());
        assert_eq!(fill_missing(&mut [f64::NAN], Missing::Zero).unwrap(), 1);
    }

    #[test]
    fn ragged_rows_are_refused_with_both_lengths() {
        let error = sequences(&[vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0]]).unwrap_err();
        assert_eq!(error.to_string(), "row 3: 1 samples, where row 1 has 2");
        assert_eq!(sequences(&[vec![1.0], vec![2.0]]).unwrap().dim(), (2, 1));
    }
}
