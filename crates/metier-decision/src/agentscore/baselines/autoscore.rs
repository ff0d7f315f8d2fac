//! Points per interval of a variable, in the manner of AutoScore: rank the variables, cut each at
//! fixed quantiles, fit logistic regression on the intervals, scale the points to a total of 100.

use crate::agentscore::checks;
use crate::auroc::auroc;
use crate::design::{Design, Matrix};
use crate::logistic::Logistic;
use metier_core::Result;
use metier_data::Frame;

/// Points per interval of the best variables.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoScore {
    design: Design,
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq)]
struct Term {
    column: usize,
    cuts: Vec<f64>,
    points: Vec<f64>,
}

// The quantiles that the intervals are cut at.
const CUTS: [f64; 4] = [0.05, 0.2, 0.8, 0.95];

impl AutoScore {
    /// Learns points for the `variables` best variables.
    ///
    /// # Errors
    /// No rows, labels that do not fit them, or one class only.
    pub fn fit(train: &Frame, y: &[u8], variables: usize, excluded: &[String]) -> Result<Self> {
        checks::classes(train, y, true)?;
        let design = Design::new(train, excluded);
        let matrix = design.transform(train)?;
        let cut: Vec<Vec<f64>> = matrix.columns.iter().map(|column| cuts(column)).collect();
        // The rank of a variable is the AUROC of a model of its intervals alone.
        let mut ranked: Vec<(f64, usize)> = (0..matrix.columns.len())
            .map(|column| {
                let intervals = intervals(&matrix.columns[column], &cut[column]);
                let model = Logistic::ridge(&intervals, y, 1.0);
                (-auroc(&model.linear(&intervals), y), column)
            })
            .collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        ranked.truncate(variables);
        let mut all = Matrix::default();
        for &(_, column) in &ranked {
            let mut part = intervals(&matrix.columns[column], &cut[column]);
            all.names.append(&mut part.names);
            all.columns.append(&mut part.columns);
        }
        let model = Logistic::ridge(&all, y, 1.0);
        let mut weights = model.weights.as_slice();
        let mut terms = Vec::new();
        for &(_, column) in &ranked {
            let (own, rest) = weights.split_at(cut[column].len());
            weights = rest;
            let mut points: Vec<f64> = std::iter::once(0.0).chain(own.iter().copied()).collect();
            let least = points.iter().copied().fold(f64::INFINITY, f64::min);
            points.iter_mut().for_each(|value| *value -= least);
            terms.push(Term { column, cuts: cut[column].clone(), points });
        }
        // Shares of 100, rounded, as the authors print their scores.
        let total: f64 = terms
            .iter()
            .map(|term| term.points.iter().copied().fold(0.0, f64::max))
            .sum::<f64>()
            .max(1e-9);
        for term in &mut terms {
            term.points.iter_mut().for_each(|value| *value = (*value * 100.0 / total).round());
        }
        Ok(Self { design, terms })
    }

    /// The points of each row, 0 to about 100.
    ///
    /// # Errors
    /// A column that the table lacks.
    pub fn score(&self, table: &Frame) -> Result<Vec<f64>> {
        let matrix = self.design.transform(table)?;
        let mut sums = vec![0.0; table.height()];
        for term in &self.terms {
            for (sum, &value) in sums.iter_mut().zip(&matrix.columns[term.column]) {
                *sum += term.points[interval(value, &term.cuts)];
            }
        }
        Ok(sums)
    }
}

fn cuts(column: &[f64]) -> Vec<f64> {
    let mut sorted = column.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |q: f64| sorted[((sorted.len() - 1) as f64 * q).round() as usize];
    let mut cuts: Vec<f64> = CUTS.iter().map(|&q| at(q)).filter(|cut| *cut > sorted[0]).collect();
    if cuts.is_empty() {
        cuts.push(sorted[sorted.len() - 1]);
    }
    cuts.dedup();
    cuts
}

fn interval(value: f64, cuts: &[f64]) -> usize {
    cuts.iter().filter(|&&cut| value >= cut).count()
}

fn intervals(column: &[f64], cuts: &[f64]) -> Matrix {
    let columns = (1..=cuts.len())
        .map(|wanted| {
            column.iter().map(|&x| f64::from(u8::from(interval(x, cuts) == wanted))).collect()
        })
        .collect();
    Matrix { names: vec![String::new(); cuts.len()], columns }
}
