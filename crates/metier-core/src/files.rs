//! Writing files so that a reader sees the old content or the new, never half of it.

use crate::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes `path` through a temporary file beside it: write, flush to disk, rename. Missing parent
/// folders are made. When `write` fails nothing is left behind and the old file stays.
///
/// A file that is replaced keeps its permissions, and a symbolic link its place: what it points to is
/// replaced. What is no file, such as a terminal or a pipe, is written to as it is.
///
/// # Errors
/// The error of `write`, or an I/O error that names `path`.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let (target, old) = match fs::metadata(path) {
        Ok(old) if !old.is_file() && !old.is_dir() => return write_through(path, write),
        // The place that a link leads to; the path itself where it is none.
        Ok(old) => (fs::canonicalize(path).map_err(|source| Error::io(path, source))?, Some(old)),
        Err(_) => (path.to_owned(), None),
    };
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let io = |source| Error::io(path, source);
    fs::create_dir_all(folder).map_err(|source| Error::io(folder, source))?;
    let mut temporary = temporary(folder).map_err(io)?;
    {
        let mut out = BufWriter::with_capacity(1 << 16, temporary.as_file_mut());
        write(&mut out)?;
        out.flush().map_err(io)?;
    }
    temporary.as_file().sync_all().map_err(io)?;
    if let Some(old) = old {
        temporary.as_file().set_permissions(old.permissions()).map_err(io)?;
    }
    temporary.persist(&target).map_err(|error| io(error.error))?;
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

fn write_through(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let io = |source| Error::io(path, source);
    let mut out = BufWriter::new(OpenOptions::new().write(true).open(path).map_err(io)?);
    write(&mut out)?;
    out.flush().map_err(io)
}

// A file that may be read by whoever may read the user's other new files; a temporary one is usually
// its owner's alone.
fn temporary(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.prefix(".metier-").tempfile_in(folder)
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

    #[cfg(unix)]
    #[test]
    fn permissions_links_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        // A new file has what any new file has here.
        let (ours, usual) = (folder.path().join("ours"), folder.path().join("usual"));
        write_bytes(&ours, b"new").unwrap();
        File::create(&usual).unwrap();
        assert_eq!(mode(&ours), mode(&usual));

        fs::set_permissions(&ours, fs::Permissions::from_mode(0o600)).unwrap();
        let link = folder.path().join("link");
        symlink("ours", &link).unwrap();
        write_bytes(&link, b"newer").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!((fs::read(&ours).unwrap(), mode(&ours)), (b"newer".to_vec(), 0o600));

        write_bytes(Path::new("/dev/null"), b"nothing").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
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
