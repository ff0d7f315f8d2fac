//! The checklist of fewest errors, as a mixed-integer program ("Optimal Checklists").

use super::Choice;
use metier_core::{Error, Result};
use std::collections::BTreeMap;

/// The problem: rows with equal truth under all rules are one, with weights.
///
/// Minimise `w+ Σ e_i (cases) + w- Σ e_i (non-cases) + eps Σ z_j` with
/// `Σ_j r_ij z_j >= theta - M e_i` for cases, `Σ_j r_ij z_j <= theta - 1 + M e_i` for non-cases and
/// `1 <= theta <= Σ z_j <= m`.
#[derive(Clone, Debug, PartialEq)]
pub struct Covering {
    rows: Vec<Row>,
    rules: usize,
    /// How many rules are chosen at most.
    pub m: usize,
    /// What a rule costs; small, so that it only breaks ties.
    pub eps: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    truth: Vec<bool>,
    is_case: bool,
    weight: f64,
}

/// A solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// The rules chosen.
    pub chosen: Vec<usize>,
    /// At least so many of them mean a case.
    pub theta: usize,
    /// The weighted errors, without the cost of the rules.
    pub errors: f64,
    /// Whether no better solution exists.
    pub proven: bool,
}

impl Covering {
    /// Rows of truth values with their labels; a missed case costs `case_weight`, a false alarm
    /// `other_weight`.
    pub fn new(
        truth: &[Vec<bool>],
        y: &[u8],
        m: usize,
        case_weight: f64,
        other_weight: f64,
    ) -> Self {
        let mut merged: BTreeMap<(&[bool], u8), f64> = BTreeMap::new();
        for (row, &label) in truth.iter().zip(y) {
            *merged.entry((row, label)).or_default() +=
                if label == 1 { case_weight } else { other_weight };
        }
        Self {
            rules: truth.first().map_or(0, Vec::len),
            rows: merged
                .into_iter()
                .map(|((truth, label), weight)| Row {
                    truth: truth.to_vec(),
                    is_case: label == 1,
                    weight,
                })
                .collect(),
            m,
            eps: 1e-3,
        }
    }

    /// The problem of a pool, both classes of equal weight in all.
    pub fn of(choice: &Choice<'_>) -> Self {
        let (cases, others) = choice.totals;
        let mut truth = Vec::new();
        let mut y = Vec::new();
        for (range, label) in [(&choice.positives, 1), (&choice.negatives, 0)] {
            for word in range.clone() {
                for bit in (0..64).filter(|bit| choice.full.words()[word] >> bit & 1 == 1) {
                    let row = choice.bits.iter().map(|bits| bits.words()[word] >> bit & 1 == 1);
                    truth.push(row.collect());
                    y.push(label);
                }
            }
        }
        let scale = (cases + others) as f64 / 2.0;
        Self::new(&truth, &y, choice.m, scale / cases.max(1) as f64, scale / others.max(1) as f64)
    }

    fn errors(&self, chosen: &[usize], theta: usize) -> f64 {
        self.rows
            .iter()
            .filter(|row| {
                let score = chosen.iter().filter(|&&rule| row.truth[rule]).count();
                (score >= theta) != row.is_case
            })
            .map(|row| row.weight)
            .sum()
    }

    // Whether anything could be wrong with a row at all decides whether it needs an error.
    fn big(&self) -> f64 {
        self.m as f64
    }
}

/// Solves the program, by HiGHS where the program was built with it, else by microlp.
///
/// ```
/// use metier_decision::agentscore::select::{Covering, mip};
/// // Two of three signs make a case.
/// let truth = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
///     .map(|row| row.map(|bit| bit == 1).to_vec());
/// let solved = mip(&Covering::new(&truth, &[1, 1, 1, 1, 0, 0, 0, 0], 3, 1.0, 1.0), 10.0)?;
/// assert_eq!((solved.errors, solved.theta, solved.chosen), (0.0, 2, vec![0, 1, 2]));
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// No rules or no rows, or a solver that gives up.
pub fn mip(problem: &Covering, seconds: f64) -> Result<Solved> {
    if problem.rules == 0 || problem.rows.is_empty() || problem.m == 0 {
        return Err(Error::input("no rules to choose from"));
    }
    if !(seconds > 0.0 && seconds.is_finite()) {
        return Err(Error::usage("the solver's time lies above 0, in seconds").in_field("seconds"));
    }
    let (used, theta, proven) = solve(problem, seconds)?;
    let chosen: Vec<usize> = (0..problem.rules).filter(|&rule| used[rule]).collect();
    if chosen.is_empty() {
        return Err(Error::numeric("the solver returned an empty checklist"));
    }
    let theta = theta.clamp(1, chosen.len());
    let errors = problem.errors(&chosen, theta);
    Ok(Solved { chosen, theta, errors, proven })
}

#[cfg(not(feature = "highs"))]
fn solve(problem: &Covering, seconds: f64) -> Result<(Vec<bool>, usize, bool)> {
    use microlp::{ComparisonOp, OptimizationDirection, Problem, SolutionStatus};
    use std::time::Duration;
    let failed = |error: microlp::Error| Error::numeric(format!("the solver gave up: {error}"));
    let mut program = Problem::new(OptimizationDirection::Minimize);
    let used: Vec<_> = (0..problem.rules).map(|_| program.add_binary_var(problem.eps)).collect();
    let theta = program.add_integer_var(0.0, (1, problem.m as i32));
    let mut sum: Vec<_> = used.iter().map(|&z| (z, 1.0)).collect();
    program.add_constraint(&sum, ComparisonOp::Le, problem.m as f64);
    sum.push((theta, -1.0));
    program.add_constraint(&sum, ComparisonOp::Ge, 0.0);
    for row in &problem.rows {
        let error = program.add_binary_var(row.weight);
        let mut terms: Vec<_> = (0..problem.rules)
            .filter(|&rule| row.truth[rule])
            .map(|rule| (used[rule], 1.0))
            .collect();
        terms.push((theta, -1.0));
        if row.is_case {
            terms.push((error, problem.big()));
            program.add_constraint(&terms, ComparisonOp::Ge, 0.0);
        } else {
            terms.push((error, -problem.big()));
            program.add_constraint(&terms, ComparisonOp::Le, -1.0);
        }
    }
    program.set_time_limit(Duration::from_secs_f64(seconds));
    let outcome = program.solve().map_err(failed)?;
    let solution = outcome
        .into_solution()
        .map_err(|_| Error::numeric("the solver found nothing within its time"))?;
    let proven = solution.status() == SolutionStatus::Optimal;
    let values = used.iter().map(|&z| solution.var_value(z) > 0.5).collect();
    Ok((values, solution.var_value(theta).round() as usize, proven))
}

#[cfg(feature = "highs")]
fn solve(problem: &Covering, seconds: f64) -> Result<(Vec<bool>, usize, bool)> {
    use highs::{ColProblem, HighsModelStatus, Sense};
    let mut program = ColProblem::default();
    let m = problem.m as f64;
    let at_most_m = program.add_row(..=m);
    let theta_fits = program.add_row(0.0..);
    let rows: Vec<_> = problem
        .rows
        .iter()
        .map(|row| if row.is_case { program.add_row(0.0..) } else { program.add_row(..=-1.0) })
        .collect();
    for rule in 0..problem.rules {
        let mut terms = vec![(at_most_m, 1.0), (theta_fits, 1.0)];
        terms.extend(
            problem
                .rows
                .iter()
                .zip(&rows)
                .filter(|(row, _)| row.truth[rule])
                .map(|(_, &r)| (r, 1.0)),
        );
        program.add_integer_column(problem.eps, 0.0..=1.0, terms);
    }
    let mut terms = vec![(theta_fits, -1.0)];
    terms.extend(rows.iter().map(|&row| (row, -1.0)));
    program.add_integer_column(0.0, 1.0..=m, terms);
    for (row, &place) in problem.rows.iter().zip(&rows) {
        let sign = if row.is_case { 1.0 } else { -1.0 };
        program.add_integer_column(row.weight, 0.0..=1.0, [(place, sign * problem.big())]);
    }
    let mut model = program.optimise(Sense::Minimise);
    model.make_quiet();
    model.set_option("time_limit", seconds);
    let solved = model.solve();
    let proven = solved.status() == HighsModelStatus::Optimal;
    let solution = solved.get_solution();
    let values = solution.columns();
    if values.len() <= problem.rules {
        return Err(Error::numeric("the solver found nothing within its time"));
    }
    let used = values[..problem.rules].iter().map(|&z| z > 0.5).collect();
    Ok((used, values[problem.rules].round() as usize, proven))
}
