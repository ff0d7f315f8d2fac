//! Every arm on every fold.

use super::number;
use super::tasks::Task;
use crate::agentscore::baselines::{
    self, AutoScore, Indicators, Rounding, faster_risk, pooled, risk_slim,
};
use crate::agentscore::{
    Checklist, Config, DataProposer, NothingPassed, Proposer, Rule, Screening, Selector, Tau, fit,
    folds,
};
use crate::auroc::auroc;
use metier_core::{Cell, Lab, Result, Scale, Table};
use metier_data::{Frame, Values};
use std::collections::BTreeMap;

pub const OURS: &str = "checklist";
pub const SINGLE: &str = "checklist, no and/or";
pub const FASTER_1: &str = "FasterRisk-like ±1";
pub const FASTER_5: &str = "FasterRisk-like ±5";
pub const SLIM: &str = "RiskSLIM-like";
pub const LOGISTIC: &str = "logistic regression";
pub const TREE: &str = "tree, depth 4";
pub const RULE: &str = "best single rule";
pub const GREEDY: &str = "greedy";
pub const SAME_POOL: &str = "FasterRisk-like ±1 on the same pool";
pub const OPTIMAL: &str = "Optimal Checklists";
pub const AUTO: &str = "AutoScore-like";
pub const NO_VERIFICATION: &str = "no verification";
pub const SINGLE_PASS: &str = "single pass";
pub const NO_JACCARD: &str = "no Jaccard filter";
pub const NO_DIVERSITY: &str = "no diversity quota";
pub const TAU_60: &str = "tau fixed at 0.60";

// The order of the tables.
const ARMS: [&str; 17] = [
    OURS,
    SINGLE,
    FASTER_1,
    FASTER_5,
    SLIM,
    LOGISTIC,
    TREE,
    AUTO,
    RULE,
    GREEDY,
    SAME_POOL,
    OPTIMAL,
    NO_VERIFICATION,
    SINGLE_PASS,
    NO_JACCARD,
    NO_DIVERSITY,
    TAU_60,
];

/// A row that was held out: the risk that its points state, the chance that logistic regression
/// gives it, and its label.
#[derive(Clone, Copy, Debug)]
pub struct HeldOut {
    pub risk: f64,
    pub chance: f64,
    pub label: u8,
}

/// AUROC by task, arm and fold.
pub struct Results {
    pub tasks: Vec<String>,
    values: BTreeMap<(usize, String), Vec<f64>>,
    /// AUROC by number of rules, task by task.
    pub by_m: Vec<Vec<f64>>,
    /// AUROC when a share of the columns is missing at the bedside, by share.
    pub dropped: Vec<(f64, Vec<f64>)>,
    /// Every row of the first task.
    pub pooled: Vec<HeldOut>,
}

impl Results {
    /// One sample per task and fold, tasks in order.
    pub fn folds(&self, arm: &str) -> Vec<f64> {
        (0..self.tasks.len())
            .flat_map(|task| self.values.get(&(task, arm.to_owned())).cloned().unwrap_or_default())
            .collect()
    }

    fn mean(&self, task: usize, arm: &str) -> f64 {
        self.values
            .get(&(task, arm.to_owned()))
            .map_or(f64::NAN, |values| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The mean of an arm over the tasks.
    pub fn overall_mean(&self, arm: &str) -> f64 {
        let n = self.tasks.len() as f64;
        (0..self.tasks.len()).map(|task| self.mean(task, arm)).sum::<f64>() / n
    }

    pub fn by_task(&self) -> Table {
        let shown = [OURS, SINGLE, FASTER_1, FASTER_5, LOGISTIC, TREE, RULE];
        let columns: Vec<String> =
            std::iter::once("task").chain(shown).map(str::to_owned).collect();
        let mut table = Table::new("Mean AUROC over folds, by task", columns);
        for (task, name) in self.tasks.iter().enumerate() {
            let cells = shown.iter().map(|arm| number(self.mean(task, arm)));
            table.row(std::iter::once(Cell::from(name.as_str())).chain(cells));
        }
        let cells = shown.iter().map(|arm| number(self.overall_mean(arm)));
        table.row(std::iter::once(Cell::from("mean")).chain(cells));
        table
    }

    pub fn overall(&self) -> Table {
        let columns = ["arm", "mean AUROC", "minus the checklist"].map(str::to_owned).to_vec();
        let mut table = Table::new("All arms and ablations, mean over tasks", columns);
        let ours = self.overall_mean(OURS);
        for arm in ARMS {
            let mean = self.overall_mean(arm);
            table.row([arm.into(), number(mean), number(mean - ours)]);
        }
        table
    }

    pub fn rounded(&self) -> Table {
        let columns = ["rounding", "mean AUROC"].map(str::to_owned).to_vec();
        let mut table = Table::new("Pooled penalised logistic regression, rounded", columns);
        for how in Rounding::ALL {
            table.row([how.name().into(), number(self.overall_mean(how.name()))]);
        }
        table
    }
}

/// Runs every arm on five folds of every task.
pub fn run(tasks: &[Task], repeats: u64, lab: &Lab) -> Result<Results> {
    let mut results = Results {
        tasks: tasks.iter().map(|task| task.name.clone()).collect(),
        values: BTreeMap::new(),
        by_m: Vec::new(),
        dropped: Vec::new(),
        pooled: Vec::new(),
    };
    lab.progress.begin("cross-validating", Some(tasks.len() as u64 * repeats * 5));
    let mut dropped: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (place, task) in tasks.iter().enumerate() {
        let mut sums: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut by_m = vec![0.0; 10];
        for repeat in 0..repeats {
            let seed = lab.seed.wrapping_mul(1000).wrapping_add(repeat);
            let fold_of = folds(&task.frame, &task.y, None, 5, seed)?;
            for fold in 0..5 {
                lab.progress.check()?;
                let set = Fold::new(task, &fold_of, fold);
                for (arm, value) in set.claimed(seed)? {
                    sums.entry(arm).or_insert_with(|| vec![0.0; 5])[fold] += value / repeats as f64;
                }
                // What no claim rests on is measured once.
                if repeat == 0 {
                    for (arm, value) in set.others(seed, lab.scale)? {
                        sums.entry(arm).or_insert_with(|| vec![0.0; 5])[fold] = value;
                    }
                    for (m, sum) in by_m.iter_mut().enumerate() {
                        *sum += set.ours(&Config { m: m + 1, ..config(seed) })? / 5.0;
                    }
                    set.robustness(seed, &mut dropped)?;
                    if place == 0 {
                        results.pooled.extend(set.scores(seed)?);
                    }
                }
                lab.progress.advance(1);
            }
        }
        for (arm, values) in sums {
            results.values.insert((place, arm), values);
        }
        results.by_m.push(by_m);
    }
    lab.progress.finish();
    results.dropped =
        dropped.into_iter().map(|(percent, values)| (percent as f64 / 100.0, values)).collect();
    Ok(results)
}

// Folds of a trial have few events at times; the experiment goes on all the same.
fn config(seed: u64) -> Config {
    Config { seed, force: true, ..Config::default() }
}

fn named(arms: Vec<(&str, f64)>) -> Vec<(String, f64)> {
    arms.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

struct Fold {
    train: Frame,
    train_y: Vec<u8>,
    test: Frame,
    test_y: Vec<u8>,
}

impl Fold {
    fn new(task: &Task, fold_of: &[usize], fold: usize) -> Self {
        let rows = |inside: bool| -> Vec<usize> {
            (0..fold_of.len()).filter(|&row| (fold_of[row] == fold) == inside).collect()
        };
        let (test, train) = (rows(true), rows(false));
        let pick = |rows: &[usize]| rows.iter().map(|&row| task.y[row]).collect();
        Self {
            train_y: pick(&train),
            test_y: pick(&test),
            train: task.frame.take(&train),
            test: task.frame.take(&test),
        }
    }

    fn judge(&self, scores: &[f64]) -> f64 {
        auroc(scores, &self.test_y)
    }

    fn fitted(&self, proposer: &mut dyn Proposer, config: &Config) -> Result<f64> {
        self.fell(fit(&self.train, &self.train_y, proposer, config))
    }

    // How a checklist did, or an attempt at one.
    fn fell(&self, checklist: Result<Checklist>) -> Result<f64> {
        match checklist {
            Ok(checklist) => {
                let points: Vec<f64> =
                    checklist.score(&self.test)?.into_iter().map(f64::from).collect();
                Ok(self.judge(&points))
            }
            // An arm that admits no rule is a coin, as in the paper's pooled tests.
            Err(error) if NothingPassed::caused(&error) => Ok(0.5),
            Err(error) => Err(error),
        }
    }

    fn ours(&self, config: &Config) -> Result<f64> {
        self.fitted(&mut DataProposer::default(), config)
    }

    // The arms that claims compare.
    fn claimed(&self, seed: u64) -> Result<Vec<(String, f64)>> {
        let config = config(seed);
        let no_jaccard = Screening { rho: 1.0, ..Screening::default() };
        let (train, y, test) = (&self.train, &self.train_y[..], &self.test);
        let indicators = Indicators::new(train, &[])?;
        let (columns, seen) = (indicators.transform(train)?, indicators.transform(test)?);
        let faster = faster_risk(&columns, y, 6, 1)?.score(&seen, self.test_y.len());
        Ok(named(vec![
            (OURS, self.ours(&config)?),
            (NO_JACCARD, self.ours(&Config { screening: no_jaccard, ..config.clone() })?),
            (RULE, self.fell(baselines::best_rule(train, y, &config))?),
            (FASTER_1, self.judge(&faster)),
            (LOGISTIC, self.judge(&baselines::logistic_regression(train, y, test, &[])?)),
            (TREE, self.judge(&baselines::tree(train, y, test, &[])?)),
        ]))
    }

    // The other baselines and ablations.
    fn others(&self, seed: u64, scale: Scale) -> Result<Vec<(String, f64)>> {
        let config = config(seed);
        let usual = Screening::default;
        let screened = |screening: Screening| self.ours(&Config { screening, ..config.clone() });
        let (train, y, test) = (&self.train, &self.train_y[..], &self.test);
        let single = Config { depth: 0, ..config.clone() };
        let greedy = Config { selector: Selector::Greedy, ..config.clone() };
        let mut arms = vec![
            (SINGLE, self.fitted(&mut DataProposer::single(), &single)?),
            (NO_VERIFICATION, screened(Screening { verify: false, ..usual() })?),
            (SINGLE_PASS, self.ours(&Config { rounds: 1, ..greedy })?),
            (NO_DIVERSITY, screened(Screening { family: 0, ..usual() })?),
            (TAU_60, screened(Screening { tau: Tau::Fixed(0.60), ..usual() })?),
            (GREEDY, self.fell(baselines::greedy(train, y, &config))?),
            (SAME_POOL, self.same_pool(&config)?),
            (AUTO, self.judge(&AutoScore::fit(train, y, 6, &[])?.score(test)?)),
        ];
        // Every checklist of the best rules is looked at.
        let pool = if scale == Scale::Quick { 14 } else { 18 };
        let (rules, _) = baselines::optimal_checklist(train, y, pool, 6)?;
        arms.push((OPTIMAL, self.judge(&baselines::points(&rules, test)?)));
        let indicators = Indicators::new(train, &[])?;
        let (columns, seen) = (indicators.transform(train)?, indicators.transform(test)?);
        let rows = self.test_y.len();
        let mut score = |name, score: baselines::IntegerScore| {
            arms.push((name, self.judge(&score.score(&seen, rows))));
        };
        score(FASTER_5, faster_risk(&columns, y, 6, 5)?);
        score(SLIM, risk_slim(&columns, y, 6, 1e-6)?);
        let models = pooled(&columns, y, 6);
        for how in Rounding::ALL {
            score(how.name(), models.round(how, &columns, y, seed));
        }
        Ok(named(arms))
    }

    // Sparse logistic loss over the rules that a checklist is chosen from.
    fn same_pool(&self, config: &Config) -> Result<f64> {
        let fitted = fit(&self.train, &self.train_y, &mut DataProposer::default(), config);
        let pool = match fitted {
            Ok(checklist) => checklist.audit.into_iter().filter(|verdict| verdict.kept),
            Err(error) if NothingPassed::caused(&error) => return Ok(0.5),
            Err(error) => return Err(error),
        };
        let rules: Vec<Rule> = pool.map(|verdict| verdict.rule).collect();
        let columns = |table: &Frame| -> Result<Vec<Vec<u32>>> {
            let rows = |truth: Vec<bool>| {
                (0..truth.len() as u32).filter(|&row| truth[row as usize]).collect()
            };
            rules.iter().map(|rule| Ok(rows(rule.truth(table)?))).collect()
        };
        let score = faster_risk(&columns(&self.train)?, &self.train_y, 6, 1)?;
        Ok(self.judge(&score.score(&columns(&self.test)?, self.test_y.len())))
    }

    // A share of the columns is not at hand at the bedside: every value of them is missing.
    fn robustness(&self, seed: u64, dropped: &mut BTreeMap<usize, Vec<f64>>) -> Result<()> {
        use rand::seq::SliceRandom;
        let checklist =
            match fit(&self.train, &self.train_y, &mut DataProposer::default(), &config(seed)) {
                Ok(checklist) => checklist,
                Err(_) => return Ok(()),
            };
        for percent in [0, 10, 25] {
            let mut order: Vec<usize> = (0..self.test.columns().len()).collect();
            order.shuffle(&mut metier_core::rng::indexed(seed, "columns dropped", percent as u64));
            let count = (order.len() * percent).div_ceil(100);
            let gone = &order[..count];
            let columns = self.test.columns().iter().enumerate().map(|(place, column)| {
                let mut column = column.clone();
                if gone.contains(&place) {
                    match &mut column.values {
                        Values::Number(values) => values.fill(f64::NAN),
                        Values::Text(values) => values.fill(None),
                    }
                }
                column
            });
            let table = Frame::new(columns.collect())?;
            let points: Vec<f64> = checklist.score(&table)?.into_iter().map(f64::from).collect();
            dropped.entry(percent).or_default().push(self.judge(&points));
        }
        Ok(())
    }

    fn scores(&self, seed: u64) -> Result<Vec<HeldOut>> {
        let checklist =
            fit(&self.train, &self.train_y, &mut DataProposer::default(), &config(seed))?;
        let points = checklist.score(&self.test)?;
        let logistic = baselines::logistic_regression(&self.train, &self.train_y, &self.test, &[])?;
        Ok(points
            .into_iter()
            .zip(logistic)
            .zip(&self.test_y)
            .map(|((points, chance), &label)| HeldOut {
                risk: checklist.risk.at(points),
                chance,
                label,
            })
            .collect())
    }
}
