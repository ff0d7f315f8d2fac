//! Progress on standard error: bars on a terminal, a few plain lines in a log.

use super::tell;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use metier_core::Progress;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

// A log is read by people later: tasks this deep, and messages this often, are enough for them.
const LOGGED_DEPTH: usize = 2;
const LOGGED_EVERY: Duration = Duration::from_secs(10);

/// Bars for the tasks in progress, outermost first.
pub struct Bars {
    multi: MultiProgress,
    tasks: Mutex<Tasks>,
    terminal: bool,
    interrupted: &'static AtomicBool,
}

#[derive(Default)]
struct Tasks {
    open: Vec<ProgressBar>,
    said: Option<Instant>,
}

impl Bars {
    /// No bars yet; `interrupted` is set once the user asks to stop.
    pub fn new(interrupted: &'static AtomicBool) -> Self {
        Self {
            multi: MultiProgress::new(),
            tasks: Mutex::default(),
            terminal: std::io::stderr().is_terminal(),
            interrupted,
        }
    }

    /// Takes all bars off the terminal.
    pub fn clear(&self) {
        for bar in self.tasks().open.drain(..) {
            bar.finish_and_clear();
        }
    }

    /// [`clear`](Self::clear) for a thread that may hold the bars itself.
    pub fn clear_unless_busy(&self) {
        if let Ok(mut tasks) = self.tasks.try_lock() {
            tasks.open.drain(..).for_each(|bar| bar.finish_and_clear());
        }
    }

    /// Runs `print` while the bars are off the terminal.
    pub fn hidden<T>(&self, print: impl FnOnce() -> T) -> T {
        if self.terminal { self.multi.suspend(print) } else { print() }
    }

    // A panicking method must not take the bars down with it.
    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Bars {
    fn begin(&self, task: &str, total: Option<u64>) {
        let mut tasks = self.tasks();
        let depth = tasks.open.len();
        let bar = match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::new_spinner(),
        };
        if self.terminal {
            let template = match total {
                Some(_) => "{prefix} {bar:24} {pos}/{len} {elapsed} {wide_msg}",
                None => "{prefix} {spinner} {elapsed} {wide_msg}",
            };
            let style = ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = self.multi.add(bar.with_style(style));
            bar.set_prefix(format!("{:indent$}{task}", "", indent = 2 * depth));
            bar.enable_steady_tick(Duration::from_millis(200));
            tasks.open.push(bar);
        } else {
            bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
            tasks.open.push(bar);
            drop(tasks);
            if depth < LOGGED_DEPTH {
                tell(format_args!("{:indent$}{task}\n", "", indent = 2 * depth));
            }
        }
    }

    fn advance(&self, steps: u64) {
        if let Some(bar) = self.tasks().open.last() {
            bar.inc(steps);
        }
    }

    fn message(&self, text: &str) {
        let mut tasks = self.tasks();
        let Tasks { open, said } = &mut *tasks;
        let Some(bar) = open.last() else { return };
        if self.terminal {
            bar.set_message(text.to_owned());
            return;
        }
        let (depth, done) = (open.len(), bar.position());
        if said.is_none_or(|said| said.elapsed() > LOGGED_EVERY) {
            *said = Some(Instant::now());
            let share = bar.length().map(|total| format!("{done}/{total} ")).unwrap_or_default();
            drop(tasks);
            tell(format_args!("{:indent$}{share}{text}\n", "", indent = 2 * depth));
        }
    }

    fn finish(&self) {
        if let Some(bar) = self.tasks().open.pop() {
            bar.finish_and_clear();
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}
