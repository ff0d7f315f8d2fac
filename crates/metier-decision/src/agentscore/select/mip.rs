//! The checklist of fewest errors, by a mixed-integer program ("Optimal Checklists").

use super::covering::{Covering, Plan};
use metier_core::{Error, Progress, Result};

/// A solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// The rules chosen.
    pub chosen: Vec<usize>,
    /// At least so many of them mean a case.
    pub theta: usize,
    /// The weighted errors, without the cost of the rules.
    pub errors: f64,
    /// No checklist of the pool has fewer weighted errors than this.
    pub bound: f64,
    /// Whether no better solution exists.
    pub proven: bool,
}

impl Solved {
    /// How far the best may lie below what was found; zero when the optimum is proven.
    pub fn gap(&self) -> f64 {
        self.errors - self.bound
    }
}

// What a solver has to say when it ends.
struct Found {
    // None where it has nothing to offer.
    chosen: Option<Vec<usize>>,
    // On the objective, the cost of the rules included.
    bound: f64,
    proven: bool,
}

/// Solves the program, by HiGHS where the program was built with it, else by microlp, in no more
/// than `seconds`. It starts from the checklist of `hint`, or without one from the best single rule,
/// made better by swaps: where the solver finds nothing better in its time, that is the answer.
///
/// ```
/// use metier_core::Silent;
/// use metier_decision::agentscore::select::{Covering, mip};
/// // Two of three signs make a case.
/// let truth = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
///     .map(|row| row.map(|bit| bit == 1).to_vec());
/// let problem = Covering::new(&truth, &[1, 1, 1, 1, 0, 0, 0, 0], 3, 1.0, 1.0);
/// let solved = mip(&problem, &[], 10.0, &Silent)?;
/// assert_eq!((solved.errors, solved.theta, solved.chosen), (0.0, 2, vec![0, 1, 2]));
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// No rules or no rows, a hint at a rule that is not there, no time, or a stop on request.
pub fn mip(
    problem: &Covering,
    hint: &[usize],
    seconds: f64,
    progress: &dyn Progress,
) -> Result<Solved> {
    problem.check(hint)?;
    if !(seconds > 0.0 && seconds.is_finite()) {
        return Err(Error::usage("the solver's time lies above 0, in seconds").in_field("seconds"));
    }
    let start = problem.start(hint, progress)?;
    let found = solve(problem, &start, seconds, progress)?;
    let solved = found.chosen.filter(|chosen| !chosen.is_empty());
    let mut best = start;
    if let Some(plan) = solved.map(|chosen| problem.plan(&chosen))
        && problem.cost(&plan) < problem.cost(&best) - 1e-9
    {
        best = plan;
    }
    // The bound is on errors and rules together.
    let bound = (found.bound - problem.eps * problem.m as f64).clamp(0.0, best.errors);
    Ok(Solved {
        bound: if found.proven { best.errors } else { bound },
        chosen: best.chosen,
        theta: best.theta,
        errors: best.errors,
        proven: found.proven,
    })
}

impl Covering {
    // Scores differ from the line by no more than this, so that an error sets a row free.
    fn big(&self) -> f64 {
        self.m as f64
    }

    // The values of a plan: rules used, the line, the rows in error.
    fn values(&self, plan: &Plan) -> (Vec<f64>, f64, Vec<f64>) {
        let flag = |yes: bool| f64::from(u8::from(yes));
        let used = (0..self.rules).map(|rule| flag(plan.chosen.contains(&rule))).collect();
        let errors = self.rows.iter().map(|row| {
            let score = plan.chosen.iter().filter(|&&rule| row.truth[rule]).count();
            flag((score >= plan.theta) != row.is_case)
        });
        (used, plan.theta as f64, errors.collect())
    }
}

#[cfg(not(feature = "highs"))]
fn solve(problem: &Covering, start: &Plan, seconds: f64, progress: &dyn Progress) -> Result<Found> {
    use microlp::{
        ComparisonOp, OptimizationDirection, Problem, ResumeOptions, SolutionStatus, SolveOptions,
    };
    use std::time::{Duration, Instant};
    let mut program = Problem::new(OptimizationDirection::Minimize);
    let used: Vec<_> = (0..problem.rules).map(|_| program.add_binary_var(problem.eps)).collect();
    let theta = program.add_integer_var(0.0, (1, problem.m as i32));
    let mut sum: Vec<_> = used.iter().map(|&z| (z, 1.0)).collect();
    program.add_constraint(&sum, ComparisonOp::Le, problem.m as f64);
    sum.push((theta, -1.0));
    program.add_constraint(&sum, ComparisonOp::Ge, 0.0);
    for (rules, most) in &problem.limits {
        let about: Vec<_> = rules.iter().map(|&rule| (used[rule], 1.0)).collect();
        program.add_constraint(&about, ComparisonOp::Le, *most as f64);
    }
    let mut errors = Vec::with_capacity(problem.rows.len());
    for row in &problem.rows {
        let error = program.add_binary_var(row.weight);
        errors.push(error);
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
    let (z, line, e) = problem.values(start);
    let mut hint: Vec<_> = used.iter().copied().zip(z).collect();
    hint.push((theta, line));
    hint.extend(errors.into_iter().zip(e));
    // In slices, between which a request to stop is heard.
    const SLICE: Duration = Duration::from_millis(200);
    let begun = Instant::now();
    let left = || (seconds - begun.elapsed().as_secs_f64()).max(0.0);
    let slice = || Some(Duration::try_from_secs_f64(left()).unwrap_or(SLICE).min(SLICE));
    let mut options = SolveOptions::default();
    options.warm_start = Some(hint);
    options.time_limit = slice();
    let mut outcome = program.solve_with(options);
    loop {
        progress.check()?;
        // A solver that loses its way has nothing to add to what it was given.
        let Ok(reached) = outcome else {
            return Ok(Found { chosen: None, bound: 0.0, proven: false });
        };
        if reached.is_optimal() || left() == 0.0 {
            let bound = reached.stats().best_bound.unwrap_or(0.0);
            let solution = reached.into_solution().ok();
            let proven =
                solution.as_ref().is_some_and(|found| found.status() == SolutionStatus::Optimal);
            let chosen = solution.map(|found| {
                (0..problem.rules).filter(|&rule| found.var_value(used[rule]) > 0.5).collect()
            });
            return Ok(Found { chosen, bound, proven });
        }
        let mut options = ResumeOptions::default();
        options.time_limit = slice();
        outcome = reached.resume_with(options);
    }
}

#[cfg(feature = "highs")]
fn solve(problem: &Covering, start: &Plan, seconds: f64, progress: &dyn Progress) -> Result<Found> {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;
    // HiGHS hears nobody while it works: it is left alone with its problem, and after a request to
    // stop it ends by its own time.
    let (sender, answer) = channel();
    let (problem, start) = (problem.clone(), start.clone());
    std::thread::spawn(move || sender.send(by_highs(&problem, &start, seconds)));
    loop {
        progress.check()?;
        match answer.recv_timeout(Duration::from_millis(100)) {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Found { chosen: None, bound: 0.0, proven: false });
            }
        }
    }
}

#[cfg(feature = "highs")]
fn by_highs(problem: &Covering, start: &Plan, seconds: f64) -> Found {
    use highs::{ColProblem, HighsModelStatus, Sense};
    let nothing = Found { chosen: None, bound: 0.0, proven: false };
    let mut program = ColProblem::default();
    let m = problem.m as f64;
    let at_most_m = program.add_row(..=m);
    let theta_fits = program.add_row(0.0..);
    let limits: Vec<_> =
        problem.limits.iter().map(|(_, most)| program.add_row(..=*most as f64)).collect();
    let rows: Vec<_> = problem
        .rows
        .iter()
        .map(|row| if row.is_case { program.add_row(0.0..) } else { program.add_row(..=-1.0) })
        .collect();
    for rule in 0..problem.rules {
        let mut terms = vec![(at_most_m, 1.0), (theta_fits, 1.0)];
        let about = problem.limits.iter().zip(&limits).filter(|(limit, _)| limit.0.contains(&rule));
        terms.extend(about.map(|(_, &place)| (place, 1.0)));
        let met = problem.rows.iter().zip(&rows).filter(|(row, _)| row.truth[rule]);
        terms.extend(met.map(|(_, &place)| (place, 1.0)));
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
    let (mut columns, line, errors) = problem.values(start);
    columns.push(line);
    columns.extend(errors);
    // Without its start the solver is slower, and no less right.
    let _ = model.try_set_solution(Some(&columns), None, None, None);
    let Ok(solved) = model.try_solve() else { return nothing };
    let proven = solved.status() == HighsModelStatus::Optimal;
    let bound = solved.double_info_value(c"mip_dual_bound").unwrap_or(0.0);
    let solution = solved.get_solution();
    let values = solution.columns();
    let chosen = (values.len() > problem.rules)
        .then(|| (0..problem.rules).filter(|&rule| values[rule] > 0.5).collect());
    Found { chosen, bound, proven }
}
