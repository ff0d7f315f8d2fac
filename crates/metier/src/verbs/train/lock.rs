//! One process to a run.

use metier_core::{Error, Result};
use std::fs::{self, File, TryLockError};
use std::path::Path;

const FILE: &str = ".lock";

/// Makes the folder of a run and holds it until what is returned is dropped, which the system sees
/// to even where the process is killed.
///
/// # Errors
/// Another process that holds it; a folder that cannot be made.
pub fn hold(out: &Path) -> Result<File> {
    fs::create_dir_all(out).map_err(|source| Error::io(out, source))?;
    let path = out.join(FILE);
    let lock = File::create(&path).map_err(|source| Error::io(&path, source))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            Err(Error::usage("another process is training into this folder")
                .in_file(out)
                .help("wait until it ends, or start a new run with another --out"))
        }
        Err(TryLockError::Error(source)) => Err(Error::io(&path, source)),
    }
}
