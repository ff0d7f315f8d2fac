//! Checkpoints that are there completely or not at all.

use crate::optim::StateDict;
use metier_core::{Error, Result, files};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const LATEST: &str = "latest";
const FOLDER: &str = "checkpoints";
const OPTIMIZER: &str = "optimizer.safetensors";
const TRAINER: &str = "trainer.json";
const TEMPORARY: &str = ".partial-";

/// Where a run stands: all that it needs beside the model and the optimizer. Batches and random
/// choices follow from the seed and these counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The number of steps taken.
    pub step: u64,
    /// The number of the next batch.
    pub next_batch: u64,
    /// The number of tokens seen.
    pub tokens: u64,
    /// The seed of the run.
    pub seed: u64,
    /// The number of batches per step.
    pub accumulate: u64,
}

/// The checkpoints of one run.
#[derive(Clone, Debug)]
pub struct CheckpointStore {
    run: PathBuf,
}

impl CheckpointStore {
    /// The checkpoints of the run in the folder `run`, which need not exist yet.
    pub fn new(run: &Path) -> Self {
        Self { run: run.to_owned() }
    }

    /// The newest complete checkpoint, if there is one.
    ///
    /// # Errors
    /// A `latest` file that cannot be read or that points outside the run's folder.
    pub fn latest(&self) -> Result<Option<PathBuf>> {
        let pointer = self.run.join(LATEST);
        let text = match fs::read_to_string(&pointer) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&pointer, error)),
        };
        let name = text.trim();
        if step_of(name).is_none() {
            return Err(Error::input(format!("`{name}` is no checkpoint's name"))
                .in_file(&pointer)
                .help("a name such as step-00000500"));
        }
        let folder = self.run.join(FOLDER).join(name);
        if !folder.is_dir() {
            return Err(Error::missing("this checkpoint is gone").in_file(folder));
        }
        Ok(Some(folder))
    }

    /// Writes a checkpoint: `model` fills the folder, then the optimizer's state and the trainer's
    /// place join it. Only when all of it is on the disk does it get its name and become the latest;
    /// then all but the newest `keep` are removed. Returns its folder.
    ///
    /// # Errors
    /// The error of `model`, or an I/O error; earlier checkpoints stay as they are.
    pub fn save(
        &self,
        place: &Checkpoint,
        optimizer: &StateDict,
        keep: usize,
        model: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let all = self.run.join(FOLDER);
        fs::create_dir_all(&all).map_err(|source| Error::io(&all, source))?;
        self.clean()?;
        let name = format!("step-{:08}", place.step);
        let partial = all.join(format!("{TEMPORARY}{name}"));
        fs::create_dir(&partial).map_err(|source| Error::io(&partial, source))?;

        model(&partial)?;
        optimizer.write(&partial.join(OPTIMIZER))?;
        let text = serde_json::to_string_pretty(place)
            .map_err(|error| Error::internal("a checkpoint is no JSON").caused_by(error))?;
        files::write_bytes(&partial.join(TRAINER), text.as_bytes())?;
        sync_all(&partial)?;

        let folder = all.join(&name);
        if folder.exists() {
            // Left by a run that was killed before it could name this one the latest.
            let old = all.join(format!("{TEMPORARY}old-{name}"));
            fs::rename(&folder, &old).map_err(|source| Error::io(&folder, source))?;
        }
        fs::rename(&partial, &folder).map_err(|source| Error::io(&folder, source))?;
        files::sync_folder(&all)?;
        files::write_bytes(&self.run.join(LATEST), format!("{name}\n").as_bytes())?;
        self.prune(place.step, keep)?;
        Ok(folder)
    }

    /// Reads the trainer's place and the optimizer's state from a checkpoint's folder.
    ///
    /// # Errors
    /// A file that is missing or broken, by name.
    pub fn read(folder: &Path) -> Result<(Checkpoint, StateDict)> {
        let path = folder.join(TRAINER);
        let text = fs::read_to_string(&path).map_err(|source| Error::io(&path, source))?;
        let place = serde_json::from_str(&text).map_err(|error| {
            Error::input("this is no trainer's state").in_file(&path).caused_by(error)
        })?;
        Ok((place, StateDict::read(&folder.join(OPTIMIZER))?))
    }

    /// Removes what a killed run left half-written.
    fn clean(&self) -> Result<()> {
        self.remove(|name| name.starts_with(TEMPORARY))
    }

    /// Removes all but the newest `keep` checkpoints up to `step`, and those of later steps, which
    /// belong to a course that the run has left.
    fn prune(&self, step: u64, keep: usize) -> Result<()> {
        let mut steps: Vec<u64> = self.names()?.iter().filter_map(|name| step_of(name)).collect();
        steps.retain(|saved| *saved <= step);
        steps.sort_unstable();
        let kept = steps.split_off(steps.len().saturating_sub(keep.max(1)));
        self.remove(|name| {
            name.starts_with(TEMPORARY) || step_of(name).is_some_and(|step| !kept.contains(&step))
        })
    }

    fn names(&self) -> Result<Vec<String>> {
        let all = self.run.join(FOLDER);
        let io = |source| Error::io(&all, source);
        let mut names = Vec::new();
        for entry in fs::read_dir(&all).map_err(io)? {
            names.extend(entry.map_err(io)?.file_name().into_string().ok());
        }
        Ok(names)
    }

    fn remove(&self, unwanted: impl Fn(&str) -> bool) -> Result<()> {
        for name in self.names()?.iter().filter(|name| unwanted(name)) {
            let folder = self.run.join(FOLDER).join(name);
            fs::remove_dir_all(&folder).map_err(|source| Error::io(&folder, source))?;
        }
        Ok(())
    }
}

fn step_of(name: &str) -> Option<u64> {
    name.strip_prefix("step-")?.parse().ok()
}

fn sync_all(folder: &Path) -> Result<()> {
    let io = |source| Error::io(folder, source);
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.is_file() {
            let file = File::open(&path).map_err(|source| Error::io(&path, source))?;
            file.sync_all().map_err(|source| Error::io(&path, source))?;
        }
    }
    files::sync_folder(folder)
}
