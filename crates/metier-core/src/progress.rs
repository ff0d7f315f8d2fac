//! How long work reports what it does and learns that it should stop.

use crate::{Error, Result};

/// What long work reports to. The shell shows bars, Python shows its own, tests are silent.
///
/// Tasks nest: [`begin`](Progress::begin) opens one inside the current one and
/// [`finish`](Progress::finish) closes the innermost.
pub trait Progress: Send + Sync {
    /// Opens a task of `total` steps, or of an unknown number of them.
    fn begin(&self, task: &str, total: Option<u64>);
    /// Counts `steps` more steps of the innermost task as done.
    fn advance(&self, steps: u64);
    /// Says something beside the innermost task, such as the current loss.
    fn message(&self, text: &str);
    /// Closes the innermost task.
    fn finish(&self);
    /// Whether the user asked to stop.
    fn interrupted(&self) -> bool {
        false
    }
    /// Returns [`Error::interrupted`] once the user has asked to stop; call it wherever the work
    /// can end with nothing half-written.
    fn check(&self) -> Result<()> {
        if self.interrupted() { Err(Error::interrupted()) } else { Ok(()) }
    }
}

/// Progress that nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _task: &str, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) {}
    fn message(&self, _text: &str) {}
    fn finish(&self) {}
}
