//! Which rows satisfy a rule, one bit each, cases and non-cases apart.
//!
//! Rows lie in four blocks of whole words: construction cases, validation cases, validation
//! non-cases, construction non-cases. Every part of the training rows is then a range of words, and
//! the counts of a rule on any part are popcounts of that range.

use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

/// The place of each training row in the bitsets.
#[derive(Clone, Debug)]
pub struct Layout {
    blocks: [Vec<usize>; 4],
    starts: [usize; 5],
}

/// One bit per training row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits(Vec<u64>);

/// A part of the training rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The rows that rules are built on (`D_con`).
    Construction,
    /// The rows that confirm them (`D_val`).
    Validation,
    /// Both.
    All,
}

impl Layout {
    /// Splits the rows by label `y` (0 or 1) and by whether they belong to the validation part.
    pub fn new(y: &[u8], validation: &[bool]) -> Self {
        let mut blocks: [Vec<usize>; 4] = Default::default();
        for (row, (&label, &held)) in y.iter().zip(validation).enumerate() {
            let block = match (label, held) {
                (1, false) => 0,
                (1, true) => 1,
                (_, true) => 2,
                (_, false) => 3,
            };
            blocks[block].push(row);
        }
        let mut starts = [0; 5];
        for block in 0..4 {
            starts[block + 1] = starts[block] + blocks[block].len().div_ceil(64);
        }
        Self { blocks, starts }
    }

    /// The rows of a part.
    pub fn rows(&self, part: Part) -> Vec<usize> {
        let blocks: &[usize] = match part {
            Part::Construction => &[0, 3],
            Part::Validation => &[1, 2],
            Part::All => &[0, 1, 2, 3],
        };
        let mut rows: Vec<usize> =
            blocks.iter().flat_map(|&block| self.blocks[block].iter().copied()).collect();
        rows.sort_unstable();
        rows
    }

    /// How many cases and non-cases a part has.
    pub fn totals(&self, part: Part) -> (u64, u64) {
        let size = |block: usize| self.blocks[block].len() as u64;
        match part {
            Part::Construction => (size(0), size(3)),
            Part::Validation => (size(1), size(2)),
            Part::All => (size(0) + size(1), size(2) + size(3)),
        }
    }

    /// The words of the cases of a part, and those of its non-cases.
    pub fn ranges(&self, part: Part) -> (Range<usize>, Range<usize>) {
        let s = &self.starts;
        match part {
            Part::Construction => (s[0]..s[1], s[3]..s[4]),
            Part::Validation => (s[1]..s[2], s[2]..s[3]),
            Part::All => (s[0]..s[2], s[2]..s[4]),
        }
    }

    /// The bits of a truth value per row.
    pub fn pack(&self, truth: &[bool]) -> Bits {
        let mut words = vec![0u64; self.starts[4]];
        for (block, rows) in self.blocks.iter().enumerate() {
            for (chunk, word) in rows.chunks(64).zip(&mut words[self.starts[block]..]) {
                for (bit, &row) in chunk.iter().enumerate() {
                    *word |= u64::from(truth[row]) << bit;
                }
            }
        }
        Bits(words)
    }

    /// Calls `visit(row, bit)` for every row.
    pub fn unpack(&self, bits: &Bits, mut visit: impl FnMut(usize, bool)) {
        for (block, rows) in self.blocks.iter().enumerate() {
            for (place, &row) in rows.iter().enumerate() {
                let word = bits.0[self.starts[block] + place / 64];
                visit(row, word >> (place % 64) & 1 == 1);
            }
        }
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.starts[4]
    }

    /// All rows set.
    pub fn full(&self) -> Bits {
        let rows = self.blocks.iter().map(Vec::len).sum::<usize>();
        let top = self.blocks.iter().flatten().max().map_or(0, |row| row + 1);
        debug_assert!(rows <= top);
        self.pack(&vec![true; top])
    }

    /// How many cases and non-cases of a part are set.
    pub fn counts(&self, bits: &Bits, part: Part) -> (u64, u64) {
        let (positives, negatives) = self.ranges(part);
        (count(&bits.0[positives]), count(&bits.0[negatives]))
    }
}

impl Bits {
    /// No row set, in `words` words.
    pub fn empty(words: usize) -> Self {
        Self(vec![0; words])
    }

    /// The words.
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// The rows of both.
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// The rows of either.
    pub fn or(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// The rows of this that are not in the other.
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }
}

/// How many bits are set.
pub fn count(words: &[u64]) -> u64 {
    Arch::new().dispatch(And(words, words))
}

/// How many bits are set in both.
pub fn count_both(a: &[u64], b: &[u64]) -> u64 {
    Arch::new().dispatch(And(a, b))
}

// The loop is compiled once per instruction set and chosen at run time; with AVX2 or AVX-512 it is
// several times as fast as the portable popcount.
struct And<'a>(&'a [u64], &'a [u64]);

impl WithSimd for And<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> u64 {
        self.0.iter().zip(self.1).map(|(a, b)| u64::from((a & b).count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_are_those_of_the_rows(rows in prop::collection::vec((0u8..2, any::<bool>(), any::<bool>()), 0..300)) {
            let y: Vec<u8> = rows.iter().map(|row| row.0).collect();
            let held: Vec<bool> = rows.iter().map(|row| row.1).collect();
            let truth: Vec<bool> = rows.iter().map(|row| row.2).collect();
            let layout = Layout::new(&y, &held);
            let bits = layout.pack(&truth);
            for (part, inside) in [
                (Part::Construction, [true, false]),
                (Part::Validation, [false, true]),
                (Part::All, [true, true]),
            ] {
                let of = |label| rows.iter()
                    .filter(|row| row.0 == label && row.2 && inside[usize::from(row.1)]).count() as u64;
                prop_assert_eq!(layout.counts(&bits, part), (of(1), of(0)));
            }
            let mut back = vec![false; rows.len()];
            layout.unpack(&bits, |row, bit| back[row] = bit);
            prop_assert_eq!(back, truth);
            let all = layout.full();
            prop_assert_eq!(all.without(&bits).or(&bits), all.clone());
            prop_assert_eq!(all.and(&bits), bits);
        }
    }
}
