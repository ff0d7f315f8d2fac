//! Networks trained again and again, so that a difference between encoders is told from the luck of
//! one training.

use super::{Arm, pick};
use crate::learn::{Architecture, Network, NetworkConfig, Split, Training, r_squared, rows};
use metier_core::{Cell, Lab, Result, Samples, Table};
use ndarray::Array2;
use rayon::prelude::*;

/// The scores of networks, for each encoder, split of the rows, and training.
pub(super) struct Networks(Vec<Vec<Vec<f64>>>);

impl Networks {
    /// Trains `each[arm]` networks of 128 and 64 units for every encoder and split. The first
    /// training of a split draws its weights from the split's own seed.
    pub(super) fn train(
        lab: &Lab,
        features: &[Array2<f32>],
        each: &[usize],
        y: &[f64],
        splits: &[Split],
        seeds: &[u64],
    ) -> Result<Self> {
        let mut jobs = Vec::new();
        for (arm, trainings) in each.iter().enumerate() {
            for split in 0..splits.len() {
                jobs.extend((0..*trainings).map(|training| (arm, split, training)));
            }
        }
        // The longest first, so that no thread is left with one at the end.
        jobs.sort_by_key(|(arm, ..)| std::cmp::Reverse(features[*arm].ncols()));
        lab.progress.begin("networks of house prices", Some(jobs.len() as u64));
        let scores: Vec<f64> = jobs
            .par_iter()
            .with_max_len(1)
            .map(|&(arm, split, training)| {
                let seed = seeds[split].wrapping_add(1000 * training as u64);
                let score =
                    score(lab, Architecture::default(), &features[arm], y, &splits[split], seed);
                lab.progress.advance(1);
                score
            })
            .collect::<Result<_>>()?;
        lab.progress.finish();
        let mut all = vec![vec![Vec::new(); splits.len()]; features.len()];
        for ((arm, split, _), score) in jobs.into_iter().zip(scores) {
            all[arm][split].push(score);
        }
        Ok(Self(all))
    }

    /// The mean over the trainings of each split.
    pub(super) fn means(&self, arm: usize) -> Vec<f64> {
        self.0[arm].iter().map(|scores| Samples::from(scores.clone()).mean()).collect()
    }

    // Trainings on one split, where there are several.
    fn repeated(&self) -> impl Iterator<Item = (usize, usize, &Vec<f64>)> {
        self.0.iter().enumerate().flat_map(|(arm, splits)| {
            let numbered = splits.iter().enumerate();
            numbered.filter(|(_, s)| s.len() > 1).map(move |(split, scores)| (arm, split, scores))
        })
    }

    /// How far trainings that differ in nothing but their first weights lie apart.
    pub(super) fn table(&self, arms: &[Arm]) -> Table {
        let mut table = Table::new(
            "Trainings of one network on one split: R² of the least, the first and the best",
            ["encoder", "split", "least", "first", "best", "mean", "deviation"],
        );
        for (arm, split, scores) in self.repeated() {
            let samples = Samples::from(scores.clone());
            table.row([
                arms[arm].name().into(),
                (split + 1).into(),
                Cell::number(scores.iter().copied().fold(f64::INFINITY, f64::min), 3),
                Cell::number(scores[0], 3),
                Cell::number(scores.iter().copied().fold(f64::NEG_INFINITY, f64::max), 3),
                Cell::number(samples.mean(), 3),
                Cell::number(samples.deviation(), 4),
            ]);
        }
        table
    }

    /// What the means stand in for, and why.
    pub(super) fn note(&self) -> String {
        let deviations: Vec<f64> = self
            .repeated()
            .map(|(_, _, scores)| Samples::from(scores.clone()).deviation())
            .collect();
        let widest = deviations.iter().copied().fold(0.0, f64::max);
        format!(
            "At full scale the claims about networks compare means of 5 trainings per encoder and \
             split. They took the place of a single training after a single training had been seen \
             to fall short of one bar (12 functions against 100 harmonics, in one split of three: \
             0.628 against 0.642); the bars are what they were. Trainings that differ in their \
             first weights and batches alone deviate by {:.4} on average and by {widest:.4} at \
             most.",
            Samples::from(deviations).mean()
        )
    }
}

/// The R² of one network on the rows held out.
pub(super) fn score(
    lab: &Lab,
    architecture: Architecture,
    x: &Array2<f32>,
    y: &[f64],
    split: &Split,
    seed: u64,
) -> Result<f64> {
    let (train, held, test) = (&split.train, &split.validation, &split.test);
    let training = Training { epochs: lab.pick(60, 200), ..Training::default() };
    let config = NetworkConfig { architecture, training };
    let (x_train, x_held) = (rows(x, train), rows(x, held));
    let (y_train, y_held) = (pick(y, train), pick(y, held));
    let model = Network::fit(&config, &x_train, &y_train, &x_held, &y_held, seed, lab.progress)?;
    Ok(r_squared(&pick(y, test), &model.predict(&rows(x, test))))
}
