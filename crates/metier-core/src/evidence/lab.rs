//! Where an experiment runs: its scale, seed, data and watcher.

use crate::Progress;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How much of the experiment to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// At most about 30 seconds on two cores.
    Quick,
    /// At most about 8 minutes on two cores.
    Full,
}

impl std::fmt::Display for Scale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Scale::Quick => "quick",
            Scale::Full => "full",
        })
    }
}

/// What an experiment is handed.
pub struct Lab<'a> {
    /// How much to run.
    pub scale: Scale,
    /// The first seed; experiments with several seeds count up from it.
    pub seed: u64,
    /// Whom to tell how far it is.
    pub progress: &'a dyn Progress,
    data: BTreeMap<String, PathBuf>,
}

impl<'a> Lab<'a> {
    /// A lab that finds its data by name.
    pub fn new(scale: Scale, seed: u64, progress: &'a dyn Progress) -> Self {
        Self { scale, seed, progress, data: BTreeMap::new() }
    }

    /// Has the data set `name` taken from `path` instead of the cache.
    #[must_use]
    pub fn with_data(mut self, name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.data.insert(name.into(), path.into());
        self
    }

    /// The path given by the user for the data set `name`, if any.
    pub fn data(&self, name: &str) -> Option<&Path> {
        self.data.get(name).map(PathBuf::as_path)
    }

    /// `quick` at quick scale, `full` at full scale.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        match self.scale {
            Scale::Quick => quick,
            Scale::Full => full,
        }
    }

    /// The seeds of an experiment that repeats itself `n` times.
    pub fn seeds(&self, n: usize) -> Vec<u64> {
        (0..n as u64).map(|i| self.seed.wrapping_add(i)).collect()
    }
}
