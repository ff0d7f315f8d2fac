//! The shell that a verb runs in: results go to standard output, everything else to standard error.

mod bars;

use crate::cli::Global;
use crate::flags::Format;
use bars::Bars;
use metier_core::{Error, Progress, Result, Silent};
use serde::Serialize;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

const MOST_THREADS: usize = 1024;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static STARTED_BARS: OnceLock<Bars> = OnceLock::new();

/// What every verb is handed.
pub struct Shell {
    /// How results are printed.
    pub format: Format,
    /// Whether only results and errors are printed.
    pub quiet: bool,
}

impl Shell {
    /// Applies the global flags and listens to Ctrl-C.
    ///
    /// # Errors
    /// `--threads 0` or far too many, or a system that refuses threads.
    pub fn open(global: &Global) -> Result<Self> {
        if let Some(threads) = global.threads {
            if threads == 0 {
                return Err(Error::usage("there is nothing to work with")
                    .in_field("--threads 0")
                    .help("leave --threads out for one thread per core"));
            }
            if threads > MOST_THREADS {
                return Err(Error::usage(format!("{threads} threads are too many"))
                    .in_field("--threads")
                    .help(format!("at most {MOST_THREADS}; more than one per core gain nothing")));
            }
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build_global()
                .map_err(|error| Error::internal(error.to_string()))?;
        }
        // The first Ctrl-C asks the work to stop where nothing is half-written; the second ends it.
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        std::panic::set_hook(Box::new(|panic| {
            if let Some(bars) = STARTED_BARS.get() {
                bars.clear_unless_busy();
            }
            tell(format_args!("{}: a fault of metier's own: {panic}\n", style("error", RED)));
        }));
        Ok(Self { format: global.format, quiet: global.quiet })
    }

    /// Whether results are printed as JSON.
    pub fn json(&self) -> bool {
        self.format == Format::Json
    }

    /// Prints a result, followed by a line break.
    ///
    /// # Errors
    /// When standard output cannot be written to.
    pub fn print(&self, text: impl Display) -> Result<()> {
        self.hidden(|| writeln!(std::io::stdout().lock(), "{text}"))
            .map_err(|error| Error::io("standard output", error))
    }

    /// Prints a result as one line of JSON.
    ///
    /// # Errors
    /// When it has no JSON form or standard output cannot be written to.
    pub fn print_json(&self, value: &impl Serialize) -> Result<()> {
        let line =
            serde_json::to_string(value).map_err(|error| Error::internal(error.to_string()))?;
        self.print(line)
    }

    /// Writes bytes to standard output as they are.
    ///
    /// # Errors
    /// When standard output cannot be written to.
    pub fn print_bytes(&self, bytes: &[u8]) -> Result<()> {
        self.hidden(|| {
            let mut out = std::io::stdout().lock();
            out.write_all(bytes)?;
            out.flush()
        })
        .map_err(|error| Error::io("standard output", error))
    }

    /// Says something beside the results, unless asked to be quiet.
    pub fn say(&self, text: impl Display) {
        if !self.quiet {
            self.hidden(|| tell(format_args!("{text}\n")));
        }
    }

    /// Says on stderr what the user should know before trusting the result; not hidden by `--quiet`.
    pub fn warn(&self, text: impl Display) {
        self.hidden(|| tell(format_args!("{} {text}\n", style("warning:", YELLOW))));
    }

    /// Prints an error and goes on.
    pub fn complain(&self, error: &Error) {
        self.hidden(|| tell(explain(error)));
    }

    /// Whom long work tells how far it is, and asks whether it should stop.
    pub fn progress(&self) -> &'static dyn Progress {
        if self.quiet { &QUIET } else { STARTED_BARS.get_or_init(|| Bars::new(&INTERRUPTED)) }
    }

    /// Takes the bars off the terminal.
    pub fn clear(&self) {
        if let Some(bars) = STARTED_BARS.get() {
            bars.clear();
        }
    }

    fn hidden<T>(&self, print: impl FnOnce() -> T) -> T {
        match STARTED_BARS.get() {
            Some(bars) => bars.hidden(print),
            None => print(),
        }
    }
}

static QUIET: Quiet = Quiet(Silent);

// Shows nothing, but still hears Ctrl-C.
struct Quiet(Silent);

impl Progress for Quiet {
    fn begin(&self, task: &str, total: Option<u64>) {
        self.0.begin(task, total);
    }
    fn advance(&self, steps: u64) {
        self.0.advance(steps);
    }
    fn message(&self, text: &str) {
        self.0.message(text);
    }
    fn finish(&self) {
        self.0.finish();
    }
    fn interrupted(&self) -> bool {
        INTERRUPTED.load(Ordering::SeqCst)
    }
}

/// Prints an error and says with which status the program ends. A reader that went away, as `head`
/// does, is no error.
pub fn report(error: &Error) -> ExitCode {
    if broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    tell(explain(error));
    ExitCode::from(error.exit_code())
}

/// What was printed for a reader who went away is no reason to stop work that has other results.
///
/// # Errors
/// Any other.
pub fn even_unread(printed: Result<()>) -> Result<()> {
    match printed {
        Err(error) if broken_pipe(&error) => Ok(()),
        printed => printed,
    }
}

/// Writes to standard error. Where nobody reads it or nothing fits any more, the work matters more than
/// what is said about it.
fn tell(text: impl Display) {
    let _ = write!(std::io::stderr().lock(), "{text}");
}

fn broken_pipe(error: &Error) -> bool {
    std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .is_some_and(|source| source.kind() == std::io::ErrorKind::BrokenPipe)
}

// What is wrong; where; what to do next.
fn explain(error: &Error) -> String {
    let mut text = format!("{}: {}\n", style("error", RED), error.message());
    let place = error.location().to_string();
    if !place.is_empty() {
        text += &format!("   {} {place}\n", style("at", BLUE));
    }
    if let Some(help) = error.help_text() {
        text += &format!(" {}: {help}\n", style("help", BLUE));
    }
    text
}

const RED: &str = "1;31";
const BLUE: &str = "1;36";
const YELLOW: &str = "1;33";

// Colours only where somebody sees them and has not asked to be spared.
fn style(text: &str, code: &str) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain || !std::io::stderr().is_terminal() {
        text.into()
    } else {
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_where_and_what_next() {
        let error = Error::input("latitude 122.4 is outside [-90, 90]")
            .in_file("houses.csv")
            .at_row(17)
            .in_field("lat")
            .help("are the columns swapped?");
        assert_eq!(
            explain(&error),
            "error: latitude 122.4 is outside [-90, 90]\n   at houses.csv: row 17, lat\n \
             help: are the columns swapped?\n"
        );
        assert_eq!(explain(&Error::numeric("did not converge")), "error: did not converge\n");
    }

    #[test]
    fn a_reader_that_went_away_is_no_error() {
        let pipe = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(broken_pipe(&Error::io("standard output", pipe)));
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(!broken_pipe(&Error::io("standard output", full)));
    }
}
