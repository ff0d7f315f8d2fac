//! Long calls: they let go of the interpreter, show a bar on standard error, and stop on Ctrl-C.

use crate::error::to_python;
use metier_core::{Progress, Result};
use pyo3::prelude::*;
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Runs `work` without the interpreter's lock. A bar is shown when `verbose` says so, or else when
/// standard error is a terminal. A signal that Python turns into an exception ends the work at its
/// next check and is raised.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    verbose: Option<bool>,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::new(verbose.unwrap_or_else(|| std::io::stderr().is_terminal()));
    let result = py.detach(|| work(&watch));
    watch.end_line(py);
    let raised = lock(&watch.raised).take();
    match raised {
        Some(exception) => Err(exception),
        None => result.map_err(|error| to_python(&error)),
    }
}

/// The watcher of one call.
pub(crate) struct Watch {
    shown: bool,
    tasks: Mutex<Vec<Task>>,
    drawn: Mutex<Drawn>,
    asked: Mutex<Instant>,
    stopped: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

struct Task {
    name: String,
    done: u64,
    total: Option<u64>,
    start: Instant,
    message: String,
}

struct Drawn {
    at: Option<Instant>,
    width: usize,
}

// Often enough for the eye and the hand, seldom enough to cost nothing.
const REDRAW: Duration = Duration::from_millis(100);
const ASK: Duration = Duration::from_millis(50);

impl Watch {
    fn new(shown: bool) -> Self {
        Self {
            shown,
            tasks: Mutex::default(),
            drawn: Mutex::new(Drawn { at: None, width: 0 }),
            asked: Mutex::new(Instant::now()),
            stopped: AtomicBool::new(false),
            raised: Mutex::default(),
        }
    }

    fn draw(&self) {
        if !self.shown {
            return;
        }
        let mut drawn = lock(&self.drawn);
        if drawn.at.is_some_and(|at| at.elapsed() < REDRAW) {
            return;
        }
        let line = lock(&self.tasks).last().map(line).unwrap_or_default();
        let width = line.chars().count();
        // Blanks wipe what a longer line before has left.
        let text = format!("\r{line}{}", " ".repeat(drawn.width.saturating_sub(width)));
        Python::attach(|py| say(py, &text));
        *drawn = Drawn { at: Some(Instant::now()), width };
    }

    fn end_line(&self, py: Python<'_>) {
        if lock(&self.drawn).at.is_some() {
            say(py, "\n");
        }
    }
}

impl Progress for Watch {
    fn begin(&self, task: &str, total: Option<u64>) {
        lock(&self.tasks).push(Task {
            name: task.to_owned(),
            done: 0,
            total,
            start: Instant::now(),
            message: String::new(),
        });
        self.draw();
    }

    fn advance(&self, steps: u64) {
        if let Some(task) = lock(&self.tasks).last_mut() {
            task.done += steps;
        }
        self.draw();
    }

    fn message(&self, text: &str) {
        if let Some(task) = lock(&self.tasks).last_mut() {
            text.clone_into(&mut task.message);
        }
        self.draw();
    }

    fn finish(&self) {
        lock(&self.tasks).pop();
    }

    // Python delivers signals on its main thread alone, which is the one that waits in `watched`
    // unless the user calls from another; then Ctrl-C ends the main thread's own wait.
    fn interrupted(&self) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return true;
        }
        {
            let mut asked = lock(&self.asked);
            if asked.elapsed() < ASK {
                return false;
            }
            *asked = Instant::now();
        }
        let Err(exception) = Python::attach(|py| py.check_signals()) else {
            return false;
        };
        *lock(&self.raised) = Some(exception);
        self.stopped.store(true, Ordering::Relaxed);
        true
    }
}

// `train:  45%|#########           | 45/100 [00:03, 14.2/s] loss 2.31`
fn line(task: &Task) -> String {
    const WIDTH: u64 = 20;
    let seconds = task.start.elapsed().as_secs();
    let rate = task.done as f64 / task.start.elapsed().as_secs_f64().max(1e-3);
    let mut text = format!("{}: ", task.name);
    let _ = match task.total {
        Some(total) if total > 0 => {
            let done = task.done.min(total);
            let full = (done * WIDTH / total) as usize;
            let bar = format!("{}{}", "#".repeat(full), " ".repeat(WIDTH as usize - full));
            write!(text, "{:3}%|{bar}| {done}/{total}", 100 * done / total)
        }
        _ => write!(text, "{}", task.done),
    };
    let _ =
        write!(text, " [{:02}:{:02}, {rate:.1}/s] {}", seconds / 60, seconds % 60, task.message);
    text.trim_end().to_owned()
}

// Through Python's own stream, so that notebooks and test runners see it; a bar that cannot be
// shown is no reason to fail.
fn say(py: Python<'_>, text: &str) {
    let write = || {
        let stderr = py.import("sys")?.getattr("stderr")?;
        stderr.call_method1("write", (text,))?;
        stderr.call_method0("flush")
    };
    let _: PyResult<_> = write();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
