//! Writing files so that a reader sees the old content or the new, never half of it.

use crate::{Error, Result};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes `path` through a temporary file beside it: write, flush to disk, rename. Missing parent
/// folders are made. When `write` fails nothing is left behind and the old file stays.
///
/// # Errors
/// The error of `write`, or an I/O error that names `path`.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let io = |source| Error::io(path, source);
    fs::create_dir_all(folder).map_err(|source| Error::io(folder, source))?;
    let mut temporary =
        tempfile::Builder::new().prefix(".metier-").tempfile_in(folder).map_err(io)?;
    {
        let mut out = BufWriter::with_capacity(1 << 16, temporary.as_file_mut());
        write(&mut out)?;
        out.flush().map_err(io)?;
    }
    temporary.as_file().sync_all().map_err(io)?;
    set_usual_permissions(temporary.as_file()).map_err(io)?;
    temporary.persist(path).map_err(|error| io(error.error))?;
    sync_folder(folder)
}

/// [`write_atomic`] of bytes that are at hand.
///
/// # Errors
/// An I/O error that names `path`.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomic(path, |out| out.write_all(bytes).map_err(|source| Error::io(path, source)))
}

/// Brings a folder's entries to the disk: after a rename, so that the new name outlasts a crash.
///
/// # Errors
/// An I/O error that names `folder`.
pub fn sync_folder(folder: &Path) -> Result<()> {
    // Only Unix opens folders; elsewhere the file system sees to it.
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|file| file.sync_all());
        synced.map_err(|source| Error::io(folder, source))?;
    }
    Ok(())
}

// A temporary file is private to its owner; a result should be readable as any file is.
#[cfg(unix)]
fn set_usual_permissions(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_usual_permissions(_file: &File) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_keeps_the_old_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/result.json");
        write_bytes(&path, b"old").unwrap();
        let error = write_atomic(&path, |out| {
            out.write_all(b"half").unwrap();
            Err(Error::numeric("did not converge"))
        })
        .unwrap_err();
        assert_eq!(error.message(), "did not converge");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_write_replaces_the_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        write_bytes(&path, b"a longer first version").unwrap();
        write_bytes(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
