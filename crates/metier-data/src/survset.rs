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

#[cfg(test)]
mod tests {
    use super::*;

    // Rows, columns, missing values, events and total time, as pandas counts them.
    const KNOWN: [(&str, usize, usize, usize, f64, f64); 10] = [
        ("whas500", 461, 19, 0, 176.0, 440986.0),
        ("grace", 1000, 8, 0, 324.0, 109847.5),
        ("TRACE", 1878, 9, 0, 958.0, 8549.539078409205),
        ("rott2", 2982, 14, 0, 1272.0, 255248.4272109),
        ("vlbw", 617, 25, 432, 107.0, 34055.0),
        ("flchain", 7874, 13, 1350, 2169.0, 28827047.0),
        ("smarto", 3873, 29, 6357, 460.0, 5307308.2),
        ("prostate", 502, 18, 19, 354.0, 18137.0),
        ("rhc", 5735, 56, 7324, 3722.0, 1069207.0),
        ("support2", 9105, 38, 34726, 6201.0, 4356286.0),
    ];

    #[test]
    fn the_tables_are_those_that_pandas_reads() {
        let Ok(folder) = registry::path(SET, None) else {
            eprintln!("skipped: needs `metier data pull survset`");
            return;
        };
        for (name, rows, columns, missing, events, time) in KNOWN {
            let table = table_in(&folder, name).unwrap();
            assert_eq!((table.height(), table.columns().len()), (rows, columns), "{name}");
            let gaps = table.columns().iter().map(|column| column.values.missing());
            assert_eq!(gaps.sum::<usize>(), missing, "{name}");
            assert_eq!(table.numbers("event").unwrap().iter().sum::<f64>(), events, "{name}");
            let total: f64 = table.numbers("time").unwrap().iter().sum();
            assert!((total / time - 1.0).abs() < 1e-12, "{name}: {total}");
        }
        assert!(tables().unwrap().len() >= 77);
    }

    #[test]
    fn an_unknown_table_is_answered_with_the_nearest() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rott2.pickle"), b"not read").unwrap();
        let error = table_in(folder.path(), "rott").unwrap_err();
        assert_eq!(error.to_string(), "no table `rott` in survset");
        assert_eq!(error.help_text(), Some("did you mean `rott2`? the tables are: rott2"));
        // A name is looked up in the list, so it cannot lead out of the folder.
        assert_eq!(table_in(folder.path(), "../rott2").unwrap_err().exit_code(), 2);
    }
}
