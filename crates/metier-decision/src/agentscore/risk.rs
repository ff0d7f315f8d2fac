//! The risk at each number of points.

use super::threshold::share;
use crate::auroc::Histogram;
use serde::{Deserialize, Serialize};

/// The risk at each number of points: isotonic regression of the outcome on the points, with the
/// Wilson interval of each pooled group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RiskTable {
    /// From 0 points up.
    pub rows: Vec<Risk>,
}

/// The risk at one number of points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Risk {
    /// Points.
    pub points: usize,
    /// Rows seen with as many.
    pub rows: u64,
    /// Cases among them.
    pub cases: u64,
    /// The risk, never falling with the points.
    pub risk: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl RiskTable {
    /// The table of the given counts.
    pub fn new(histogram: &Histogram) -> Self {
        // Pool adjacent violators; a level that nobody reached joins the one before it.
        let mut blocks: Vec<(u64, u64, usize)> = Vec::new();
        for (&p, &n) in histogram.positives.iter().zip(&histogram.negatives) {
            blocks.push((p, p + n, 1));
            while let [.., (a, b, c), (x, y, z)] = blocks[..] {
                // a/b > x/y, or nothing seen on either side.
                if a * y > x * b || y == 0 || b == 0 {
                    blocks.truncate(blocks.len() - 2);
                    blocks.push((a + x, b + y, c + z));
                } else {
                    break;
                }
            }
        }
        let mut rows = Vec::new();
        for (cases, all, levels) in blocks {
            let [low, high] = wilson(cases, all);
            for _ in 0..levels {
                let points = rows.len();
                let (p, n) = (histogram.positives[points], histogram.negatives[points]);
                rows.push(Risk {
                    points,
                    rows: p + n,
                    cases: p,
                    risk: share(cases, all),
                    low,
                    high,
                });
            }
        }
        Self { rows }
    }

    /// The risk at `points`.
    pub fn at(&self, points: u8) -> f64 {
        let last = self.rows.len().saturating_sub(1);
        self.rows.get(usize::from(points).min(last)).map_or(f64::NAN, |row| row.risk)
    }
}

/// The Wilson 95 % interval of a share.
///
/// ```
/// let [low, high] = metier_decision::agentscore::wilson(5, 10);
/// assert!((low - 0.2366).abs() < 1e-4 && (high - 0.7634).abs() < 1e-4);
/// ```
pub fn wilson(part: u64, whole: u64) -> [f64; 2] {
    if whole == 0 {
        return [0.0, 1.0];
    }
    const Z: f64 = 1.959_963_984_540_054;
    let (n, p) = (whole as f64, part as f64 / whole as f64);
    let scale = 1.0 + Z * Z / n;
    let middle = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
    // Rounding alone must not lift the interval off zero or one.
    let low = if part == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if part == whole { 1.0 } else { (middle + half).min(1.0) };
    [low, high]
}
