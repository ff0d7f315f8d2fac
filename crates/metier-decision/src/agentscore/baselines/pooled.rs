//! Penalised logistic regression with rounding: a pool of elastic nets, each made a whole-number
//! score in one of the usual ways, and the best by loss kept.

use super::sparse::IntegerScore;
use crate::design::Matrix;
use crate::logistic::Logistic;
use metier_core::rng;
use rand::RngExt;

/// How weights become points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest whole number in -5..=5 (RD).
    Nearest,
    /// To their signs (RDU).
    Unit,
    /// Scaled so that the largest is 5, then to the nearest (RSRD).
    Rescaled,
    /// Scaled, then up or down by chance, in proportion (Rand).
    Random,
    /// Nearest, then single points changed while it helps (RDP).
    NearestPolished,
    /// Scaled, rounded one after the other by loss, then polished (RDSP).
    SequentialPolished,
}

impl Rounding {
    /// All of them.
    pub const ALL: [Rounding; 6] = [
        Rounding::Nearest,
        Rounding::Unit,
        Rounding::Rescaled,
        Rounding::Random,
        Rounding::NearestPolished,
        Rounding::SequentialPolished,
    ];

    /// The usual abbreviation.
    pub fn name(self) -> &'static str {
        match self {
            Rounding::Nearest => "RD",
            Rounding::Unit => "RDU",
            Rounding::Rescaled => "RSRD",
            Rounding::Random => "Rand",
            Rounding::NearestPolished => "RDP",
            Rounding::SequentialPolished => "RDSP",
        }
    }
}

/// A pool of elastic nets on yes/no columns, computed once for all roundings.
#[derive(Clone, Debug)]
pub struct Pooled {
    models: Vec<Logistic>,
}

/// The models of an elastic-net grid that use at most `k` columns.
pub fn pooled(columns: &[Vec<u32>], y: &[u8], k: usize) -> Pooled {
    let dense = |rows: &Vec<u32>| {
        let mut column = vec![0.0; y.len()];
        rows.iter().for_each(|&row| column[row as usize] = 1.0);
        column
    };
    let matrix = Matrix {
        names: vec![String::new(); columns.len()],
        columns: columns.iter().map(dense).collect(),
    };
    let mut models = Vec::new();
    for l1 in [1.0, 0.8] {
        let path = Logistic::elastic_path(&matrix, y, l1, 60, k);
        models.extend(path.into_iter().filter(|m| m.weights.iter().any(|weight| *weight != 0.0)));
    }
    Pooled { models }
}

impl Pooled {
    /// The best score of the pool by training loss after rounding.
    pub fn round(&self, how: Rounding, columns: &[Vec<u32>], y: &[u8], seed: u64) -> IntegerScore {
        let mut best: Option<IntegerScore> = None;
        for (place, model) in self.models.iter().enumerate() {
            let weights: Vec<(usize, f64)> = (0..model.weights.len())
                .filter(|&column| model.weights[column] != 0.0)
                .map(|column| (column, model.weights[column]))
                .collect();
            let largest = weights.iter().map(|w| w.1.abs()).fold(1e-9, f64::max);
            let scale = match how {
                Rounding::Rescaled | Rounding::Random | Rounding::SequentialPolished => {
                    5.0 / largest
                }
                _ => 1.0,
            };
            let mut random = rng::indexed(seed, "random rounding", place as u64);
            let points = weights
                .iter()
                .map(|&(column, weight)| {
                    let value = (weight * scale).clamp(-5.0, 5.0);
                    let whole = match how {
                        Rounding::Unit => value.signum(),
                        Rounding::Random => {
                            let up = random.random::<f64>() < value - value.floor();
                            if up { value.floor() + 1.0 } else { value.floor() }
                        }
                        _ => value.round(),
                    };
                    (column, whole as i32)
                })
                .collect();
            let polish = matches!(how, Rounding::NearestPolished | Rounding::SequentialPolished);
            let score = finish(points, model.intercept * scale, scale, columns, y, polish);
            if best.as_ref().is_none_or(|best| score.loss < best.loss) {
                best = Some(score);
            }
        }
        best.unwrap_or_default()
    }
}

fn finish(
    points: Vec<(usize, i32)>,
    intercept: f64,
    multiplier: f64,
    columns: &[Vec<u32>],
    y: &[u8],
    polish: bool,
) -> IntegerScore {
    let mut score = IntegerScore { points, multiplier, intercept, loss: f64::INFINITY };
    let loss = |score: &IntegerScore| {
        let sums = score.score(columns, y.len());
        let one = |(s, &y): (&f64, &u8)| {
            let linear = (s + score.intercept) / score.multiplier;
            let margin = if y == 1 { linear } else { -linear };
            (-margin).max(0.0) + (-margin.abs()).exp().ln_1p()
        };
        sums.iter().zip(y).map(one).sum::<f64>() / y.len() as f64
    };
    score.loss = loss(&score);
    if polish {
        // One point changed after the other, for as long as it helps.
        loop {
            let mut best = score.clone();
            for place in 0..score.points.len() {
                for change in [-1, 1] {
                    let mut next = score.clone();
                    next.points[place].1 = (next.points[place].1 + change).clamp(-5, 5);
                    next.loss = loss(&next);
                    if next.loss < best.loss - 1e-12 {
                        best = next;
                    }
                }
            }
            if best.loss >= score.loss {
                break;
            }
            score = best;
        }
    }
    score
}
