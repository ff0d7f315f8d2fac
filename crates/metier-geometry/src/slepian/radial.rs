//! The radial functions of a cap, tabulated.
//!
//! To add a function up over its degrees takes L steps at every point. Inside the cap each is read
//! from a table instead: polynomials of degree 11 in the chord `sqrt(2 - 2 mu)` from the centre,
//! over pieces as long as a radian of the fastest wave, which leave an error no larger than the
//! rounding of the sum. That takes 12 steps whatever L is.
//!
//! What is tabulated is the function without its power of the sine. So the centre is an ordinary
//! place, and an entry never over- or underflows where the function itself does not.

use super::chebyshev::{points, to_powers};
use super::harmonics::{Lane, Sums, TILE};
use crate::simd::{dispatch, fma};
use std::cell::RefCell;

const TERMS: usize = 12;

// The most memory that a table may take, in bytes; a basis that needs more goes without.
const MOST: usize = 1 << 26;

/// All radial functions of a cap as functions of the chord from its centre.
#[derive(Clone, Debug)]
pub(super) struct RadialTable {
    pieces_per_unit: f64,
    pieces: usize,
    // One for every TILE functions, of each piece.
    groups: usize,
    // [piece][group]: the coefficients of each power, for the functions of the group.
    terms: Vec<[Lane; TERMS]>,
}

impl RadialTable {
    /// The functions of all orders, one after the other, out to `radius` (at most a right angle
    /// counts, in radians). `None` where the table would be too large.
    pub(super) fn new<'a>(
        sums: impl Iterator<Item = &'a Sums> + Clone,
        l: usize,
        radius: f64,
    ) -> Option<Self> {
        let reach = 2.0 * (0.5 * radius.min(std::f64::consts::FRAC_PI_2)).sin();
        let pieces_per_unit = l as f64 + 1.0;
        let pieces = (reach * pieces_per_unit).ceil() as usize;
        let functions: usize = sums.clone().map(Sums::count).sum();
        let groups = functions.div_ceil(TILE);
        if pieces * groups * size_of::<[Lane; TERMS]>() > MOST {
            return None;
        }
        let matrix = to_powers::<TERMS>();
        // Whole tiles of Chebyshev points: the last repeats.
        let places = points::<TERMS>();
        let mut terms = vec![[[0.0; TILE]; TERMS]; pieces * groups];
        let widest = sums.clone().map(Sums::count).max().unwrap_or(0);
        let mut scratch = vec![[0.0; TILE]; widest];
        for (piece, terms) in terms.chunks_exact_mut(groups).enumerate() {
            for (tile, places) in places.chunks(TILE).enumerate() {
                let mu: Lane = std::array::from_fn(|j| {
                    let s = places[j.min(places.len() - 1)];
                    let chord = (piece as f64 + 0.5 * (s + 1.0)) / pieces_per_unit;
                    1.0 - 0.5 * chord * chord
                });
                let mut number = 0;
                for sums in sums.clone() {
                    add_up(sums, &mu, &mut scratch);
                    for values in &scratch[..sums.count()] {
                        let group = &mut terms[number / TILE];
                        for (power, row) in group.iter_mut().zip(&matrix) {
                            for (j, value) in values.iter().take(places.len()).enumerate() {
                                power[number % TILE] += row[tile * TILE + j] * value;
                            }
                        }
                        number += 1;
                    }
                }
            }
        }
        Some(Self { pieces_per_unit, pieces, groups, terms })
    }

    /// Room for the values of all functions.
    pub(super) fn room(&self) -> Vec<Lane> {
        vec![[0.0; TILE]; self.groups]
    }

    /// Whether the table reaches this far.
    #[inline(always)]
    pub(super) fn holds(&self, chord: f64) -> bool {
        chord * self.pieces_per_unit < self.pieces as f64
    }

    /// Every function at a chord that the table holds.
    #[inline(always)]
    pub(super) fn look_up<const FMA: bool>(&self, chord: f64, values: &mut [Lane]) {
        let place = chord * self.pieces_per_unit;
        let piece = place as usize;
        let s = 2.0 * (place - piece as f64) - 1.0;
        let terms = &self.terms[piece * self.groups..(piece + 1) * self.groups];
        for (value, terms) in values.iter_mut().zip(terms) {
            let mut sum = terms[TERMS - 1];
            for term in terms[..TERMS - 1].iter().rev() {
                for j in 0..TILE {
                    sum[j] = fma::<FMA>(sum[j], s, term[j]);
                }
            }
            *value = sum;
        }
    }
}

fn add_up(sums: &Sums, mu: &Lane, scratch: &mut [Lane]) {
    // Only one of the two closures runs, which the borrow checker cannot know.
    let scratch = RefCell::new(scratch);
    dispatch(
        #[inline(always)]
        || sums.add_up::<true>(mu, &mut scratch.borrow_mut()),
        #[inline(always)]
        || sums.add_up::<false>(mu, &mut scratch.borrow_mut()),
    );
}

#[cfg(test)]
mod tests {
    use super::super::harmonics::Order;
    use super::*;

    #[test]
    fn the_table_agrees_with_the_sum_over_degrees() {
        for (l, m, radius) in [(1, 0, 0.3), (40, 3, 1.6), (120, 17, 0.13), (300, 0, 0.5)] {
            // A function of all degrees, as sharp at the centre as one can be.
            let functions = [(m..=l).map(|l| (2.0 * l as f64 + 1.0).sqrt()).collect::<Vec<f64>>()];
            let sums = Sums::new(Order::new(m, l), &functions);
            let table = RadialTable::new(std::iter::once(&sums), l, radius).unwrap();
            let (mut room, mut right) = (table.room(), [[0.0; TILE]]);
            let mut worst: f64 = 0.0;
            let mut peak: f64 = 0.0;
            for i in 0..=1000 {
                let theta = radius.min(1.57) * f64::from(i) / 1000.0;
                let chord = 2.0 * (0.5 * theta).sin();
                add_up(&sums, &[1.0 - 0.5 * chord * chord; TILE], &mut right);
                assert!(table.holds(chord));
                table.look_up::<false>(chord, &mut room);
                // Times the power, without which large values near the centre hide the others.
                let power = theta.sin().powi(m as i32);
                worst = worst.max((room[0][0] - right[0][0]).abs() * power);
                peak = peak.max(right[0][0].abs() * power);
            }
            // The sum itself is no better: `mu` is rounded, and degree L makes that L² times as much.
            let rounding = 1e-13 + (l * l) as f64 * f64::EPSILON;
            assert!(worst < rounding * peak, "L {l}, m {m}: {:e}", worst / peak);
        }
    }

    #[test]
    fn a_table_that_would_be_too_large_is_not_made() {
        let functions = vec![vec![1.0]; 40_000];
        let sums = Sums::new(Order::new(0, 0), &functions);
        assert!(RadialTable::new(std::iter::once(&sums), 200, 1.5).is_none());
    }
}
