//! The tables of the `survset` package: patients and machines with time to event.
//!
//! Columns are `pid`, `event`, `time` (and `time2` where subjects change over time), then numbers
//! named `num_…` and categories named `fac_…`. A category whose levels are numbers is a column of
//! numbers here; its prefix tells what it is.

use crate::{Frame, names, pickled, registry};
use metier_core::{Error, Result};
use std::path::Path;

const SET: &str = "survset";

/// The names of the tables, sorted, as found in the pulled package.
///
/// # Errors
/// A missing error when the package is not here; it says how to get it.
pub fn tables() -> Result<Vec<String>> {
    tables_in(&registry::path(SET, None)?)
}

/// A table by its name, such as `rott2`.
///
/// ```no_run
/// let rotterdam = metier_data::survset::table("rott2")?;
/// assert_eq!(rotterdam.height(), 2982);
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// A missing error when the package is not here, or a usage error that names the nearest tables.
pub fn table(name: &str) -> Result<Frame> {
    table_in(&registry::path(SET, None)?, name)
}

/// A table of the package unpacked in `folder`.
///
/// # Errors
/// As for [`table`].
pub fn table_in(folder: &Path, name: &str) -> Result<Frame> {
    let known = tables_in(folder)?;
    if !known.iter().any(|table| table == name) {
        let all = known.iter().map(String::as_str);
        return Err(Error::usage(format!("no table `{name}` in survset")).help(names::suggest(
            name,
            all,
            "the tables are",
        )));
    }
    let path = folder.join(format!("{name}.pickle"));
    let bytes = std::fs::read(&path).map_err(|error| Error::io(&path, error))?;
    pickled::frame(&bytes).map_err(|error| error.in_file(&path))
}

fn tables_in(folder: &Path) -> Result<Vec<String>> {
    stems(folder, ".pickle")
}

/// What comes before `ending` in the names of the files of a folder, sorted.
pub(crate) fn stems(folder: &Path, ending: &str) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, error))?;
    let mut stems: Vec<String> = entries
        .filter_map(|entry| {
            Some(entry.ok()?.file_name().to_str()?.strip_suffix(ending)?.to_owned())
        })
        .collect();
    stems.sort();
    Ok(stems)
}
