//! The area under the ROC curve: the share of pairs of one case and one non-case that a score puts
//! in the right order, ties counting half.

use metier_core::rng;
use rand::RngExt;
use std::cmp::Ordering;
use std::ops::Range;

/// The area under the ROC curve of real scores; 0.5 when one class is missing.
///
/// ```
/// let y = [0, 0, 1, 0, 1, 1, 1, 0];
/// let s = [0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0];
/// assert_eq!(metier_decision::auroc::auroc(&s, &y), 0.6875);
/// ```
pub fn auroc(scores: &[f64], y: &[u8]) -> f64 {
    let ranks = dense_ranks(scores);
    let levels = ranks.iter().max().map_or(0, |top| top + 1);
    let mut histogram = Histogram::new(levels);
    for (&rank, &label) in ranks.iter().zip(y) {
        histogram.add(rank, label);
    }
    histogram.auroc()
}

/// The AUROC of scores beside their labels. Sorting the pairs themselves is several times as fast as
/// ranking rows, which is felt where every column of a large table is looked at. No score is NaN.
pub(crate) fn auroc_of_pairs(mut scored: Vec<(f64, u8)>) -> f64 {
    scored.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut histogram = Histogram::new(0);
    for level in scored.chunk_by(|a, b| a.0 == b.0) {
        let cases = level.iter().filter(|(_, label)| *label == 1).count() as u64;
        histogram.positives.push(cases);
        histogram.negatives.push(level.len() as u64 - cases);
    }
    histogram.auroc()
}

/// The ROC curve: at each value of the score from the highest down, the share of non-cases and the
/// share of cases at or above it; it begins at `[0, 0]` and ends at `[1, 1]`. Empty when one class is
/// missing.
///
/// ```
/// use metier_decision::auroc::roc;
/// assert_eq!(roc(&[2.0, 1.0, 1.0], &[1, 0, 1]), [[0.0, 0.0], [0.0, 0.5], [1.0, 1.0]]);
/// ```
pub fn roc(scores: &[f64], y: &[u8]) -> Vec<[f64; 2]> {
    let mut rows: Vec<(f64, u8)> = scores.iter().copied().zip(y.iter().copied()).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let cases = y.iter().filter(|&&label| label == 1).count();
    let others = y.len() - cases;
    if cases == 0 || others == 0 {
        return Vec::new();
    }
    let mut curve = vec![[0.0, 0.0]];
    let (mut hits, mut alarms) = (0usize, 0usize);
    for (place, row) in rows.iter().enumerate() {
        if row.1 == 1 {
            hits += 1;
        } else {
            alarms += 1;
        }
        if rows.get(place + 1).is_none_or(|next| next.0 != row.0) {
            curve.push([alarms as f64 / others as f64, hits as f64 / cases as f64]);
        }
    }
    curve
}

/// Counts of cases and non-cases at each level of an ordered score.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Cases at each level.
    pub positives: Vec<u64>,
    /// Non-cases at each level.
    pub negatives: Vec<u64>,
}

impl Histogram {
    /// No counts at `levels` levels.
    pub fn new(levels: usize) -> Self {
        Self { positives: vec![0; levels], negatives: vec![0; levels] }
    }

    /// The counts of a whole-number score with levels 0 to `top`.
    pub fn of(scores: &[u8], y: &[u8], top: usize) -> Self {
        let mut histogram = Self::new(top + 1);
        for (&score, &label) in scores.iter().zip(y) {
            histogram.add(usize::from(score).min(top), label);
        }
        histogram
    }

    fn add(&mut self, level: usize, label: u8) {
        if label == 1 {
            self.positives[level] += 1;
        } else {
            self.negatives[level] += 1;
        }
    }

    /// `AUROC = sum_l p_l (N_<l + n_l / 2) / (P N)`; 0.5 when one class is missing.
    pub fn auroc(&self) -> f64 {
        let pairs = self.positives.iter().sum::<u64>() * self.negatives.iter().sum::<u64>();
        if pairs == 0 {
            return 0.5;
        }
        twice_ordered(&self.positives, &self.negatives) as f64 / (2 * pairs) as f64
    }
}

/// Twice the number of pairs in the right order, ties counting half: whole, so that two scores
/// compare exactly.
pub fn twice_ordered(positives: &[u64], negatives: &[u64]) -> u64 {
    let mut below = 0;
    let mut total = 0;
    for (&p, &n) in positives.iter().zip(negatives) {
        total += p * (2 * below + n);
        below += n;
    }
    total
}

/// The middle 95 % of the bootstrap distribution of the AUROC over `rounds` resamples of the rows,
/// each class resampled by itself.
///
/// # Panics
/// When there is not one label per score.
pub fn bootstrap(scores: &[f64], y: &[u8], rounds: usize, seed: u64) -> [f64; 2] {
    interval(resampled(&[scores], y, 0..rounds as u64, seed).into_iter().map(|r| r[0]).collect())
}

/// The middle 95 % of the bootstrap distribution of the mean AUROC of several groups of rows, given as
/// scores and labels. Scores of different groups are never compared: each group is resampled by
/// itself, as [`bootstrap`] does.
///
/// ```
/// use metier_decision::auroc::bootstrap_mean;
/// let scores: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 11)).collect();
/// let y: Vec<u8> = (0..40).map(|i| u8::from(i % 3 == 0)).collect();
/// // That the second group has its scores on another scale changes nothing.
/// let moved: Vec<f64> = scores.iter().map(|score| score + 100.0).collect();
/// let same = bootstrap_mean(&[(scores.clone(), y.clone()), (scores.clone(), y.clone())], 200, 0);
/// let both = bootstrap_mean(&[(scores, y.clone()), (moved, y)], 200, 0);
/// assert_eq!(both, same);
/// assert!(both[0] < both[1]);
/// ```
///
/// # Panics
/// When a group has not one label per score.
pub fn bootstrap_mean(groups: &[(Vec<f64>, Vec<u8>)], rounds: usize, seed: u64) -> [f64; 2] {
    let mut means = vec![0.0; rounds];
    for (place, (scores, y)) in groups.iter().enumerate() {
        // Streams of their own, or the groups would be resampled alike.
        let streams = (place * rounds) as u64..((place + 1) * rounds) as u64;
        for (mean, value) in means.iter_mut().zip(resampled(&[scores], y, streams, seed)) {
            *mean += value[0] / groups.len() as f64;
        }
    }
    interval(means)
}

/// The middle 95 % of the bootstrap distribution of `AUROC(a) - AUROC(b)` on the same rows.
///
/// # Panics
/// When there is not one label per score.
pub fn bootstrap_difference(a: &[f64], b: &[f64], y: &[u8], rounds: usize, seed: u64) -> [f64; 2] {
    interval(
        resampled(&[a, b], y, 0..rounds as u64, seed).into_iter().map(|r| r[0] - r[1]).collect(),
    )
}

// The AUROC of each score on each resample; one stream per round, so that rounds can be split.
fn resampled(scores: &[&[f64]], y: &[u8], streams: Range<u64>, seed: u64) -> Vec<Vec<f64>> {
    use rayon::prelude::*;
    let ranks: Vec<Vec<usize>> = scores.iter().map(|scores| dense_ranks(scores)).collect();
    let class = |label| (0..y.len()).filter(|&i| y[i] == label).collect::<Vec<_>>();
    let (positives, negatives) = (class(1), class(0));
    streams
        .into_par_iter()
        .map(|stream| {
            let mut random = rng::indexed(seed, "auroc bootstrap", stream);
            let mut counts: Vec<Histogram> = ranks
                .iter()
                .map(|ranks| Histogram::new(ranks.iter().max().map_or(0, |top| top + 1)))
                .collect();
            for class in [&positives, &negatives] {
                for _ in 0..class.len() {
                    let row = class[random.random_range(0..class.len())];
                    for (histogram, ranks) in counts.iter_mut().zip(&ranks) {
                        histogram.add(ranks[row], y[row]);
                    }
                }
            }
            counts.iter().map(Histogram::auroc).collect()
        })
        .collect()
}

fn interval(mut values: Vec<f64>) -> [f64; 2] {
    if values.is_empty() {
        return [f64::NAN; 2];
    }
    values.sort_by(f64::total_cmp);
    let at = |q: f64| values[((values.len() - 1) as f64 * q).round() as usize];
    [at(0.025), at(0.975)]
}

/// The rank of each value among the distinct values, from 0; NaN ranks lowest.
pub fn dense_ranks(values: &[f64]) -> Vec<usize> {
    let compare = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
    };
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| compare(values[a], values[b]));
    let mut ranks = vec![0; values.len()];
    let mut rank = 0;
    for pair in 1..order.len() {
        let (before, here) = (order[pair - 1], order[pair]);
        rank += usize::from(compare(values[before], values[here]) != Ordering::Equal);
        ranks[here] = rank;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rule_scores_the_mean_of_sensitivity_and_specificity() {
        // 7 of 10 cases and 4 of 10 non-cases satisfy it: (0.7 + 0.6) / 2.
        let histogram = Histogram { positives: vec![3, 7], negatives: vec![6, 4] };
        assert_eq!(histogram.auroc(), 0.65);
    }

    #[test]
    fn one_class_alone_says_nothing() {
        assert_eq!(auroc(&[1.0, 2.0], &[1, 1]), 0.5);
        assert_eq!(auroc(&[], &[]), 0.5);
    }

    #[test]
    fn intervals_hold_the_estimate_and_do_not_depend_on_threads() {
        let scores: Vec<f64> = (0..80).map(|i| f64::from(i % 13)).collect();
        let y: Vec<u8> = (0..80).map(|i| u8::from(i % 13 + i % 7 > 9)).collect();
        let [low, high] = bootstrap(&scores, &y, 300, 1);
        let value = auroc(&scores, &y);
        assert!(low < value && value < high, "{low} {value} {high}");
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(one.install(|| bootstrap(&scores, &y, 300, 1)), [low, high]);
        assert_eq!(bootstrap_difference(&scores, &scores, &y, 100, 1), [0.0, 0.0]);
    }

    proptest! {
        #[test]
        fn it_is_the_share_of_ordered_pairs(cases in prop::collection::vec((0u8..5, 0u8..2), 1..60)) {
            let scores: Vec<f64> = cases.iter().map(|case| f64::from(case.0)).collect();
            let y: Vec<u8> = cases.iter().map(|case| case.1).collect();
            let (mut ordered, mut pairs) = (0.0, 0.0);
            for i in (0..y.len()).filter(|&i| y[i] == 1) {
                for j in (0..y.len()).filter(|&j| y[j] == 0) {
                    pairs += 1.0;
                    ordered += if scores[i] > scores[j] { 1.0 } else if scores[i] == scores[j] { 0.5 } else { 0.0 };
                }
            }
            let expected = if pairs == 0.0 { 0.5 } else { ordered / pairs };
            prop_assert!((auroc(&scores, &y) - expected).abs() < 1e-12);
            let pairs: Vec<(f64, u8)> = scores.iter().copied().zip(y.iter().copied()).collect();
            prop_assert_eq!(auroc_of_pairs(pairs), auroc(&scores, &y));
            let turned: Vec<f64> = scores.iter().map(|score| -score).collect();
            prop_assert!((auroc(&scores, &y) + auroc(&turned, &y) - 1.0).abs() < 1e-12);
        }
    }
}
