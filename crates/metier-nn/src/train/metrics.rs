//! One line per step, in a file that survives being killed.

use metier_core::{Error, Result, files};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What one step measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The step, counted from 1.
    pub step: u64,
    /// Tokens seen up to and with this step.
    pub tokens: u64,
    /// The mean training loss of the step, before its update.
    pub loss: f64,
    /// The learning rate.
    pub lr: f32,
    /// The norm of all gradients together, before clipping.
    pub gradient_norm: f64,
    /// How many parameters had a gradient of zeros only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub zero_gradients: usize,
    /// Tokens per second of the step, evaluation and saving not counted.
    pub tokens_per_second: f64,
    /// The mean loss on held-out data after the step, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out_loss: Option<f64>,
    /// What the model wrote after the step, where it was asked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The metrics file of a run.
#[derive(Debug)]
pub struct Metrics {
    path: PathBuf,
    file: File,
}

impl Metrics {
    /// Opens the file at `path` to go on after `step` steps. Lines of later steps, which a killed
    /// run left behind, are removed first, and so is a last line that was cut short.
    ///
    /// # Errors
    /// An I/O error that names the file.
    pub fn resume(path: &Path, step: u64) -> Result<Self> {
        let kept: Vec<Record> =
            Self::read(path)?.into_iter().filter(|record| record.step <= step).collect();
        files::write_atomic(path, |out| {
            kept.iter().try_for_each(|record| line(out, path, record))
        })?;
        let file = OpenOptions::new().append(true).open(path);
        let file = file.map_err(|source| Error::io(path, source))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// All complete lines of the file at `path`; none when there is no file.
    ///
    /// # Errors
    /// A file that cannot be read, or a line in its midst that is no record.
    pub fn read(path: &Path) -> Result<Vec<Record>> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(path, error)),
        };
        // Whatever follows the last line end was cut short.
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut records = Vec::new();
        for (row, line) in complete.lines().enumerate() {
            let record = serde_json::from_str(line).map_err(|error| {
                Error::input("this line is no record of a training step")
                    .in_file(path)
                    .at_row(row as u64 + 1)
                    .caused_by(error)
            })?;
            records.push(record);
        }
        Ok(records)
    }

    /// Appends one line.
    ///
    /// # Errors
    /// An I/O error that names the file.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        // One write call per line: a kill leaves whole lines, or one short one at the end.
        let mut bytes = Vec::new();
        line(&mut bytes, &self.path, record)?;
        self.file.write_all(&bytes).map_err(|source| Error::io(&self.path, source))
    }

    /// Waits until all lines have reached the disk.
    ///
    /// # Errors
    /// An I/O error that names the file.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|source| Error::io(&self.path, source))
    }
}

fn line(out: &mut dyn Write, path: &Path, record: &Record) -> Result<()> {
    let mut text = serde_json::to_string(record)
        .map_err(|error| Error::internal("a record is no JSON").caused_by(error))?;
    text.push('\n');
    out.write_all(text.as_bytes()).map_err(|source| Error::io(path, source))
}
