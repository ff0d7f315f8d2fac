//! Finding out the delimiter and whether there is a header.

use super::fields::Fields;
use super::records::{Text, as_str};
use ::csv::ByteRecord;
use metier_core::Result;
use std::collections::HashMap;

const SNIFFED_RECORDS: usize = 64;
const SNIFFED_BYTES: usize = 1 << 18;

/// The delimiter that cuts the most records into equally many fields. Where several do, the one
/// least likely to stand inside a field: decimal commas are frequent, tabs are not.
pub(super) fn delimiter(text: &Text<'_>) -> u8 {
    let sample = text.start(SNIFFED_BYTES);
    let mut best = (0.0, b',');
    for delimiter in [b'\t', b';', b'|', b','] {
        let mut records = sample.records(delimiter);
        let mut record = ByteRecord::new();
        let mut widths: HashMap<usize, usize> = HashMap::new();
        let mut count = 0;
        while count < SNIFFED_RECORDS && matches!(records.next(&mut record), Ok(Some(_))) {
            *widths.entry(record.len()).or_default() += 1;
            count += 1;
        }
        let usual = widths.into_iter().max_by_key(|&(width, records)| (records, width));
        if let Some((2.., agreeing)) = usual {
            let agreement = agreeing as f64 / count as f64;
            if agreement > best.0 {
                best = (agreement, delimiter);
            }
        }
    }
    best.1
}

/// Whether the first row names the columns. All numbers: no. All words: yes. Mixed, as in
/// `id,2019,2020`: yes when below some word there are only numbers.
pub(super) fn header(text: &Text<'_>, delimiter: u8, fields: &Fields) -> Result<bool> {
    let mut records = text.records(delimiter);
    let mut first = ByteRecord::new();
    records.next(&mut first)?;
    let words: Vec<bool> = first.iter().map(|field| fields.is_word(field)).collect();
    let present = first.iter().filter(|field| !fields.is_missing(as_str(field))).count();
    let word_count = words.iter().filter(|&&word| word).count();
    if word_count == 0 || word_count == present {
        return Ok(word_count > 0);
    }
    let mut numeric: Vec<Option<bool>> = vec![None; first.len()];
    let mut record = ByteRecord::new();
    for _ in 0..SNIFFED_RECORDS {
        if records.next(&mut record)?.is_none() {
            break;
        }
        for (state, field) in numeric.iter_mut().zip(&record) {
            if !fields.is_missing(as_str(field)) {
                *state = Some(state.unwrap_or(true) && !fields.is_word(field));
            }
        }
    }
    Ok(words.iter().zip(&numeric).any(|(&word, &state)| word && state == Some(true)))
}
