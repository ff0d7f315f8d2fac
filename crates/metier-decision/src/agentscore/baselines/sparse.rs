//! Sparse integer scores by logistic loss: a beam search over supports with bounded coefficients,
//! then rounding along several multipliers, in the manner of FasterRisk; and its polish to
//! penalised {-1, 0, 1} scores, in the manner of RiskSLIM.

use crate::logistic::sigmoid;
use rayon::prelude::*;

/// Whole-number points for some yes/no columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntegerScore {
    /// The column and its points.
    pub points: Vec<(usize, i32)>,
    /// What the sum is divided by, with the intercept added before, to get log odds.
    pub multiplier: f64,
    /// The intercept, on the scale of the points.
    pub intercept: f64,
    /// The mean logistic loss on the training rows.
    pub loss: f64,
}

impl IntegerScore {
    /// The sum of points of each of `rows` rows; `columns` hold the rows where each is true.
    pub fn score(&self, columns: &[Vec<u32>], rows: usize) -> Vec<f64> {
        let mut sums = vec![0.0; rows];
        for &(column, points) in &self.points {
            columns[column].iter().for_each(|&row| sums[row as usize] += f64::from(points));
        }
        sums
    }
}

// A support with real coefficients.
#[derive(Clone, Debug)]
struct Model {
    weights: Vec<(usize, f64)>,
    intercept: f64,
    linear: Vec<f64>,
    loss: f64,
}

struct Problem<'a> {
    columns: &'a [Vec<u32>],
    y: &'a [u8],
    bound: f64,
}

impl Problem<'_> {
    fn loss(&self, linear: &[f64]) -> f64 {
        let one = |(&x, &y): (&f64, &u8)| {
            let margin = if y == 1 { x } else { -x };
            // ln(1 + exp(-margin)), without overflow.
            (-margin).max(0.0) + (-margin.abs()).exp().ln_1p()
        };
        linear.iter().zip(self.y).map(one).sum::<f64>() / self.y.len() as f64
    }

    fn slopes(&self, linear: &[f64]) -> (Vec<f64>, Vec<f64>) {
        linear
            .iter()
            .zip(self.y)
            .map(|(&x, &y)| {
                let q = sigmoid(x);
                (f64::from(y) - q, (q * (1.0 - q)).max(1e-6))
            })
            .unzip()
    }

    // Coordinate descent on the support and the intercept, inside the box.
    fn tune(&self, mut model: Model) -> Model {
        for _ in 0..25 {
            let mut largest = 0.0f64;
            for place in 0..=model.weights.len() {
                let (rest, curve) = self.slopes(&model.linear);
                let change = if let Some((column, weight)) = model.weights.get(place).copied() {
                    let rows = &self.columns[column];
                    let g: f64 = rows.iter().map(|&row| rest[row as usize]).sum();
                    let h: f64 = rows.iter().map(|&row| curve[row as usize]).sum();
                    let next = (weight + g / h).clamp(-self.bound, self.bound);
                    model.weights[place].1 = next;
                    let change = next - weight;
                    rows.iter().for_each(|&row| model.linear[row as usize] += change);
                    change
                } else {
                    let change = rest.iter().sum::<f64>() / curve.iter().sum::<f64>();
                    model.intercept += change;
                    model.linear.iter_mut().for_each(|value| *value += change);
                    change
                };
                largest = largest.max(change.abs());
            }
            if largest < 1e-4 {
                break;
            }
        }
        model.loss = self.loss(&model.linear);
        model
    }

    // The columns that lower the loss most when one is added, by a step of Newton's inside the box.
    fn promising(&self, model: &Model, count: usize) -> Vec<usize> {
        let (rest, curve) = self.slopes(&model.linear);
        let mut gains: Vec<(f64, usize)> = (0..self.columns.len())
            .into_par_iter()
            .filter(|column| model.weights.iter().all(|(other, _)| other != column))
            .map(|column| {
                let rows = &self.columns[column];
                let g: f64 = rows.iter().map(|&row| rest[row as usize]).sum();
                let h: f64 = rows.iter().map(|&row| curve[row as usize]).sum();
                let step = (g / h.max(1e-9)).clamp(-self.bound, self.bound);
                (-(g * step - 0.5 * h * step * step), column)
            })
            .collect();
        gains.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        gains.into_iter().take(count).map(|(_, column)| column).collect()
    }

    fn with(&self, model: &Model, column: usize) -> Model {
        let mut next = model.clone();
        next.weights.push((column, 0.0));
        self.tune(next)
    }

    fn start(&self) -> Model {
        let cases = self.y.iter().filter(|&&label| label == 1).count() as f64;
        let odds = (cases / (self.y.len() as f64 - cases)).ln();
        let linear = vec![odds; self.y.len()];
        Model { weights: Vec::new(), intercept: odds, loss: self.loss(&linear), linear }
    }
}

/// The sparse integer score of at most `k` columns with points in `-bound..=bound`: the best by
/// logistic loss of a pool of supports, each rounded along several multipliers.
pub fn faster_risk(columns: &[Vec<u32>], y: &[u8], k: usize, bound: i32) -> IntegerScore {
    const BEAM: usize = 10;
    let problem = Problem { columns, y, bound: f64::from(bound) };
    let mut beam = vec![problem.start()];
    for _ in 0..k.min(columns.len()) {
        let mut tried: Vec<(usize, usize)> = Vec::new();
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for (place, model) in beam.iter().enumerate() {
            for column in problem.promising(model, BEAM) {
                let mut set: Vec<usize> = model.weights.iter().map(|w| w.0).collect();
                set.push(column);
                set.sort_unstable();
                if !sets.contains(&set) {
                    sets.push(set);
                    tried.push((place, column));
                }
            }
        }
        let mut next: Vec<Model> = tried
            .into_par_iter()
            .map(|(place, column)| problem.with(&beam[place], column))
            .collect();
        next.sort_by(|a, b| a.loss.total_cmp(&b.loss));
        next.truncate(BEAM);
        if next.is_empty() {
            break;
        }
        beam = next;
    }
    // Near-optimal supports that differ in one column from the best.
    if let Some(best) = beam.first().cloned() {
        let swaps: Vec<Model> = (0..best.weights.len())
            .into_par_iter()
            .flat_map_iter(|out| {
                let mut rest = best.clone();
                let (column, weight) = rest.weights.remove(out);
                columns[column].iter().for_each(|&row| rest.linear[row as usize] -= weight);
                let rest = problem.tune(rest);
                problem
                    .promising(&rest, 3)
                    .into_iter()
                    .map(|column| problem.with(&rest, column))
                    .collect::<Vec<_>>()
            })
            .collect();
        beam.extend(swaps);
    }
    beam.par_iter()
        .map(|model| round(&problem, model, bound))
        .reduce_with(|a, b| if b.loss < a.loss { b } else { a })
        .unwrap_or_default()
}

// The best of the roundings at multipliers from 1 up to where the largest weight meets the bound.
fn round(problem: &Problem<'_>, model: &Model, bound: i32) -> IntegerScore {
    const RAYS: usize = 20;
    let largest = model.weights.iter().map(|w| w.1.abs()).fold(1e-9, f64::max);
    let top = (f64::from(bound) / largest).max(1.0);
    (0..RAYS)
        .map(|ray| 1.0 + (top - 1.0) * ray as f64 / (RAYS - 1) as f64)
        .map(|multiplier| rounded(problem, model, multiplier, bound))
        .reduce(|a, b| if b.loss < a.loss { b } else { a })
        .unwrap_or_default()
}

// One weight after the other is rounded up or down, whichever hurts less; then the scale and the
// intercept are fitted again.
fn rounded(problem: &Problem<'_>, model: &Model, multiplier: f64, bound: i32) -> IntegerScore {
    let mut points: Vec<(usize, i32)> = Vec::new();
    let mut linear = model.linear.clone();
    for &(column, weight) in &model.weights {
        let target = weight * multiplier;
        let options = [target.floor(), target.ceil()]
            .map(|value| value.clamp(-f64::from(bound), f64::from(bound)));
        let moved = |value: f64| {
            let change = value / multiplier - weight;
            let mut linear = linear.clone();
            problem.columns[column].iter().for_each(|&row| linear[row as usize] += change);
            linear
        };
        let trial = options.map(|value| (value, moved(value)));
        let [low, high] = trial;
        let best = if problem.loss(&high.1) < problem.loss(&low.1) { high } else { low };
        linear = best.1;
        if best.0 != 0.0 {
            points.push((column, best.0 as i32));
        }
    }
    let score = IntegerScore { points, multiplier, intercept: 0.0, loss: 0.0 };
    scaled(problem, score)
}

// The loss of the best scale and intercept for given points.
fn scaled(problem: &Problem<'_>, mut score: IntegerScore) -> IntegerScore {
    let sums = score.score(problem.columns, problem.y.len());
    let (mut slope, mut intercept) = (1.0 / score.multiplier, problem.start().intercept);
    for _ in 0..30 {
        let linear: Vec<f64> = sums.iter().map(|s| slope * s + intercept).collect();
        let (rest, curve) = problem.slopes(&linear);
        let (mut g, mut gs, mut h, mut hs, mut hss) = (0.0, 0.0, 1e-9, 0.0, 1e-9);
        for ((r, c), s) in rest.iter().zip(&curve).zip(&sums) {
            g += r;
            gs += r * s;
            h += c;
            hs += c * s;
            hss += c * s * s;
        }
        let determinant = h * hss - hs * hs;
        let (da, db) = if determinant > 1e-12 {
            ((hss * g - hs * gs) / determinant, (h * gs - hs * g) / determinant)
        } else {
            (g / h, 0.0)
        };
        intercept += da.clamp(-2.0, 2.0);
        slope += db.clamp(-2.0, 2.0);
        if da.abs().max(db.abs()) < 1e-7 {
            break;
        }
    }
    let linear: Vec<f64> = sums.iter().map(|s| slope * s + intercept).collect();
    score.loss = problem.loss(&linear);
    score.multiplier = 1.0 / slope.abs().max(1e-9);
    score.intercept = intercept * score.multiplier;
    score
}

/// The {-1, 0, 1} score of at most `k` columns with the least logistic loss plus `c0` per column:
/// a local optimum under changes of one point, drops and swaps, from the beam's score.
pub fn risk_slim(columns: &[Vec<u32>], y: &[u8], k: usize, c0: f64) -> IntegerScore {
    let problem = Problem { columns, y, bound: 1.0 };
    let cost = |score: &IntegerScore| score.loss + c0 * score.points.len() as f64;
    let mut best = faster_risk(columns, y, k, 1);
    loop {
        let sums = best.score(columns, y.len());
        let linear: Vec<f64> =
            sums.iter().map(|s| (s + best.intercept) / best.multiplier).collect();
        let model = Model {
            weights: best.points.iter().map(|&(c, p)| (c, f64::from(p))).collect(),
            intercept: 0.0,
            loss: best.loss,
            linear,
        };
        let mut sets: Vec<Vec<(usize, i32)>> = Vec::new();
        let promising = problem.promising(&model, 8);
        for out in 0..best.points.len() {
            let mut dropped = best.points.clone();
            let (column, points) = dropped.remove(out);
            for &column in &promising {
                for points in [-1, 1] {
                    let mut swapped = dropped.clone();
                    swapped.push((column, points));
                    sets.push(swapped);
                }
            }
            let mut turned = dropped.clone();
            turned.push((column, -points));
            sets.extend([dropped, turned]);
        }
        if best.points.len() < k {
            for &column in &promising {
                for points in [-1, 1] {
                    let mut grown = best.points.clone();
                    grown.push((column, points));
                    sets.push(grown);
                }
            }
        }
        let multiplier = best.multiplier;
        let next = sets
            .into_par_iter()
            .map(|points| {
                scaled(&problem, IntegerScore { points, multiplier, intercept: 0.0, loss: 0.0 })
            })
            .reduce_with(|a, b| if cost(&b) < cost(&a) { b } else { a });
        match next {
            Some(next) if cost(&next) < cost(&best) - 1e-9 => best = next,
            _ => return best,
        }
    }
}
