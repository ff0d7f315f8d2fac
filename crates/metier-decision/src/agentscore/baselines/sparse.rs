//! Sparse integer scores by logistic loss: a beam search over supports with bounded coefficients,
//! then rounding along several multipliers, in the manner of FasterRisk; and its polish to
//! penalised {-1, 0, 1} scores, in the manner of RiskSLIM.

use crate::logistic::sigmoid;
use metier_core::{Error, Result};
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

// As many places of a support as a cell has bits.
const MOST: usize = 64;

// Rows that agree on every column of a support are one cell: six yes/no columns make at most 64, and
// all that fitting needs is how many cases and others each holds.
#[derive(Clone, Copy, Debug)]
struct Cell {
    // One bit per place of the support.
    holds: u64,
    cases: f64,
    others: f64,
    linear: f64,
}

impl Cell {
    fn holds(&self, place: usize) -> bool {
        self.holds >> place & 1 == 1
    }

    // The slope and the curvature of the log-likelihood along the cell's log odds.
    fn slope(&self) -> (f64, f64) {
        let (q, rows) = (sigmoid(self.linear), self.cases + self.others);
        (self.cases - rows * q, rows * (q * (1.0 - q)).max(1e-6))
    }
}

// A support with real coefficients.
#[derive(Clone, Debug)]
struct Model {
    weights: Vec<(usize, f64)>,
    intercept: f64,
    loss: f64,
    // The cell of each row.
    cell: Vec<u32>,
    cells: Vec<Cell>,
}

impl Model {
    // Puts a column on the support: each cell is cut where the column is true.
    fn push(&mut self, problem: &Problem<'_>, column: usize, weight: f64) {
        let bit = 1 << self.weights.len();
        self.weights.push((column, weight));
        let mut cut: Vec<Option<u32>> = vec![None; self.cells.len()];
        for &row in &problem.columns[column] {
            let old = self.cell[row as usize] as usize;
            let new = *cut[old].get_or_insert_with(|| {
                let Cell { holds, linear, .. } = self.cells[old];
                let (holds, linear) = (holds | bit, linear + weight);
                self.cells.push(Cell { holds, linear, cases: 0.0, others: 0.0 });
                (self.cells.len() - 1) as u32
            });
            self.cell[row as usize] = new;
            let case = f64::from(problem.y[row as usize]);
            let (old, new) = (old, new as usize);
            self.cells[old].cases -= case;
            self.cells[old].others -= 1.0 - case;
            self.cells[new].cases += case;
            self.cells[new].others += 1.0 - case;
        }
    }

    // The sum of the points of each cell; `points` follow the support.
    fn sums(&self, points: &[i32]) -> Vec<f64> {
        let of = |cell: &Cell| -> i32 {
            points.iter().enumerate().filter(|(place, _)| cell.holds(*place)).map(|p| p.1).sum()
        };
        self.cells.iter().map(|cell| f64::from(of(cell))).collect()
    }
}

struct Problem<'a> {
    columns: &'a [Vec<u32>],
    y: &'a [u8],
    bound: f64,
}

impl<'a> Problem<'a> {
    fn new(columns: &'a [Vec<u32>], y: &'a [u8], bound: f64) -> Result<Self> {
        let cases = y.iter().filter(|&&label| label == 1).count();
        if cases == 0 || cases == y.len() {
            return Err(Error::input("the labels are of one class, so that no odds can be fitted"));
        }
        Ok(Self { columns, y, bound })
    }

    // The mean logistic loss where `linear` gives the log odds of each cell.
    fn loss(&self, cells: &[Cell], linear: impl Iterator<Item = f64>) -> f64 {
        let one = |(cell, x): (&Cell, f64)| {
            // ln(1 + exp(-margin)), without overflow.
            let tail = (-x.abs()).exp().ln_1p();
            cell.cases * ((-x).max(0.0) + tail) + cell.others * (x.max(0.0) + tail)
        };
        cells.iter().zip(linear).map(one).sum::<f64>() / self.y.len() as f64
    }

    // Coordinate descent on the support and the intercept, inside the box.
    fn tune(&self, mut model: Model) -> Model {
        for _ in 0..25 {
            let mut largest = 0.0f64;
            // The place after the last is the intercept, which moves every cell.
            for place in 0..=model.weights.len() {
                let everywhere = place == model.weights.len();
                let (mut g, mut h) = (0.0, 0.0);
                for cell in model.cells.iter().filter(|cell| everywhere || cell.holds(place)) {
                    let (slope, curve) = cell.slope();
                    g += slope;
                    h += curve;
                }
                let change = if everywhere {
                    model.intercept += g / h;
                    g / h
                } else {
                    let weight = &mut model.weights[place].1;
                    let before = *weight;
                    *weight = (before + g / h).clamp(-self.bound, self.bound);
                    *weight - before
                };
                for cell in &mut model.cells {
                    if everywhere || cell.holds(place) {
                        cell.linear += change;
                    }
                }
                largest = largest.max(change.abs());
            }
            if largest < 1e-4 {
                break;
            }
        }
        model.loss = self.loss(&model.cells, model.cells.iter().map(|cell| cell.linear));
        model
    }

    // The columns that lower the loss most when one is added, by a step of Newton's inside the box.
    fn promising(&self, model: &Model, count: usize) -> Vec<usize> {
        let chance: Vec<f64> = model.cells.iter().map(|cell| sigmoid(cell.linear)).collect();
        let (rest, curve): (Vec<f64>, Vec<f64>) = model
            .cell
            .iter()
            .zip(self.y)
            .map(|(&cell, &y)| {
                let q = chance[cell as usize];
                (f64::from(y) - q, (q * (1.0 - q)).max(1e-6))
            })
            .unzip();
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
        next.push(self, column, 0.0);
        self.tune(next)
    }

    fn cases(&self) -> f64 {
        self.y.iter().filter(|&&label| label == 1).count() as f64
    }

    // The log odds before anything is asked.
    fn odds(&self) -> f64 {
        (self.cases() / (self.y.len() as f64 - self.cases())).ln()
    }

    // A support with its weights as they are.
    fn model(&self, intercept: f64, weights: &[(usize, f64)]) -> Model {
        let cases = self.cases();
        let others = self.y.len() as f64 - cases;
        let all = Cell { holds: 0, cases, others, linear: intercept };
        let cell = vec![0; self.y.len()];
        let mut model =
            Model { weights: Vec::new(), intercept, loss: f64::INFINITY, cell, cells: vec![all] };
        weights.iter().for_each(|&(column, weight)| model.push(self, column, weight));
        model
    }
}

/// The sparse integer score of at most `k` columns with points in `-bound..=bound`: the best by
/// logistic loss of a pool of supports, each rounded along several multipliers. `columns` hold the
/// rows where each is true.
///
/// # Errors
/// Labels of one class.
///
/// # Panics
/// When a column names a row beyond the labels.
pub fn faster_risk(columns: &[Vec<u32>], y: &[u8], k: usize, bound: i32) -> Result<IntegerScore> {
    const BEAM: usize = 10;
    let problem = Problem::new(columns, y, f64::from(bound))?;
    let mut beam = vec![problem.model(problem.odds(), &[])];
    for _ in 0..k.min(columns.len()).min(MOST) {
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
                let mut weights = best.weights.clone();
                weights.remove(out);
                let rest = problem.tune(problem.model(best.intercept, &weights));
                problem
                    .promising(&rest, 3)
                    .into_iter()
                    .map(|column| problem.with(&rest, column))
                    .collect::<Vec<_>>()
            })
            .collect();
        beam.extend(swaps);
    }
    Ok(beam
        .par_iter()
        .map(|model| round(&problem, model, bound))
        .reduce_with(|a, b| if b.loss < a.loss { b } else { a })
        .unwrap_or_default())
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
    let mut linear: Vec<f64> = model.cells.iter().map(|cell| cell.linear).collect();
    let mut points = Vec::new();
    for (place, &(_, weight)) in model.weights.iter().enumerate() {
        let target = weight * multiplier;
        let moved = |value: f64| {
            let value = value.clamp(-f64::from(bound), f64::from(bound));
            let change = value / multiplier - weight;
            let cells = model.cells.iter().zip(&linear);
            let linear: Vec<f64> =
                cells.map(|(c, x)| if c.holds(place) { x + change } else { *x }).collect();
            (problem.loss(&model.cells, linear.iter().copied()), value, linear)
        };
        let (low, high) = (moved(target.floor()), moved(target.ceil()));
        let best = if high.0 < low.0 { high } else { low };
        points.push(best.1 as i32);
        linear = best.2;
    }
    scaled(problem, model, &points, multiplier)
}

// The points of a support with the best scale and intercept, from the scale given.
fn scaled(problem: &Problem<'_>, model: &Model, points: &[i32], multiplier: f64) -> IntegerScore {
    let sums = model.sums(points);
    let (mut slope, mut intercept) = (1.0 / multiplier, problem.odds());
    for _ in 0..30 {
        let (mut g, mut gs, mut h, mut hs, mut hss) = (0.0, 0.0, 1e-9, 0.0, 1e-9);
        for (cell, s) in model.cells.iter().zip(&sums) {
            let (r, c) = Cell { linear: slope * s + intercept, ..*cell }.slope();
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
    let loss = problem.loss(&model.cells, sums.iter().map(|s| slope * s + intercept));
    let multiplier = 1.0 / slope.abs().max(1e-9);
    let columns = model.weights.iter().map(|weight| weight.0);
    let points = columns.zip(points.iter().copied()).filter(|pair| pair.1 != 0).collect();
    IntegerScore { points, multiplier, intercept: intercept * multiplier, loss }
}

/// The {-1, 0, 1} score of at most `k` columns with the least logistic loss plus `c0` per column:
/// a local optimum under changes of one point, drops and swaps, from the beam's score.
///
/// # Errors
/// Labels of one class.
///
/// # Panics
/// When a column names a row beyond the labels.
pub fn risk_slim(columns: &[Vec<u32>], y: &[u8], k: usize, c0: f64) -> Result<IntegerScore> {
    let problem = Problem::new(columns, y, 1.0)?;
    let cost = |score: &IntegerScore| score.loss + c0 * score.points.len() as f64;
    let mut best = faster_risk(columns, y, k, 1)?;
    loop {
        let weights: Vec<(usize, f64)> =
            best.points.iter().map(|&(c, p)| (c, f64::from(p) / best.multiplier)).collect();
        let model = problem.model(best.intercept / best.multiplier, &weights);
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
        if best.points.len() < k.min(MOST) {
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
                let weights: Vec<(usize, f64)> = points.iter().map(|p| (p.0, 0.0)).collect();
                let points: Vec<i32> = points.iter().map(|p| p.1).collect();
                scaled(&problem, &problem.model(0.0, &weights), &points, multiplier)
            })
            .reduce_with(|a, b| if cost(&b) < cost(&a) { b } else { a });
        match next {
            Some(next) if cost(&next) < cost(&best) - 1e-9 => best = next,
            _ => return Ok(best),
        }
    }
}
