//! Unpacking that cannot leave its folder: plain files below it, and nothing else.

use metier_core::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Read};
use std::path::{Component, Path, PathBuf};

/// The archive formats that packages come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Zip,
    TarGz,
    Tar,
}

/// Unpacks what lies below `root` inside `archive` into `folder`, without the leading `root`.
///
/// One bad entry anywhere refuses the whole archive: a path that is absolute or climbs, a link, a
/// device, a file that is there twice.
pub(super) fn unpack(archive: &Path, format: Format, root: &str, folder: &Path) -> Result<usize> {
    let file = File::open(archive).map_err(|error| Error::io(archive, error))?;
    let mut target = Target { folder, root: Path::new(root), count: 0 };
    let outcome = match format {
        Format::Zip => zip(file, &mut target),
        Format::TarGz => tar(flate2::read::MultiGzDecoder::new(BufReader::new(file)), &mut target),
        Format::Tar => tar(BufReader::new(file), &mut target),
    };
    outcome.map_err(|error| error.in_file(archive.file_name().unwrap_or_default()))?;
    if target.count == 0 {
        return Err(Error::input(format!("holds no files below `{root}`"))
            .in_file(archive.file_name().unwrap_or_default()));
    }
    Ok(target.count)
}

fn zip(file: File, target: &mut Target<'_>) -> Result<()> {
    let damaged = |error: zip::result::ZipError| damaged(&error.to_string());
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(damaged)?;
        let name = entry.name().to_owned();
        if entry.is_dir() {
            target.place(&name)?;
            continue;
        }
        // The upper bits of the Unix mode tell plain files from links and devices; archives made
        // elsewhere leave them empty.
        let kind = entry.unix_mode().unwrap_or(0) & 0o170_000;
        if kind != 0 && kind != 0o100_000 {
            return Err(not_plain(&name));
        }
        target.write(&name, &mut entry)?;
    }
    Ok(())
}

fn tar(stream: impl Read, target: &mut Target<'_>) -> Result<()> {
    let failed = |error: std::io::Error| damaged(&error.to_string());
    let mut archive = tar::Archive::new(stream);
    for entry in archive.entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        if kind.is_dir() {
            target.place(&name)?;
        } else if kind.is_file() {
            target.write(&name, &mut entry)?;
        } else if !kind.is_pax_global_extensions() {
            return Err(not_plain(&name));
        }
    }
    Ok(())
}

struct Target<'a> {
    folder: &'a Path,
    root: &'a Path,
    count: usize,
}

impl Target<'_> {
    /// Where an entry goes; `None` when it lies outside `root`.
    fn place(&self, name: &str) -> Result<Option<PathBuf>> {
        let inside = contained(name).ok_or_else(|| {
            Error::input(format!("the archive holds `{name}`, which would leave its folder"))
                .help("nothing was kept; the archive is not what it should be")
        })?;
        let below = inside.strip_prefix(self.root).ok();
        Ok(below.filter(|path| !path.as_os_str().is_empty()).map(|path| self.folder.join(path)))
    }

    fn write(&mut self, name: &str, content: &mut dyn Read) -> Result<()> {
        let Some(path) = self.place(name)? else { return Ok(()) };
        let io = |error| Error::io(&path, error);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(io)?;
        }
        // Never through a file that is there already, whatever it is.
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(Error::input(format!("the archive holds `{name}` twice")));
            }
            Err(error) => return Err(io(error)),
        };
        std::io::copy(content, &mut file).map_err(|error| damaged(&format!("{name}: {error}")))?;
        self.count += 1;
        Ok(())
    }
}

/// The entry's path when it stays inside whatever folder it is joined to.
pub(super) fn contained(name: &str) -> Option<PathBuf> {
    // Backslashes and colons are separators and drives elsewhere.
    if name.is_empty() || name.contains(['\\', '\0', ':']) {
        return None;
    }
    let mut inside = PathBuf::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => inside.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(inside)
}

fn not_plain(name: &str) -> Error {
    Error::input(format!("the archive holds `{name}`, which is not a plain file"))
        .help("nothing was kept; the archive is not what it should be")
}

fn damaged(reason: &str) -> Error {
    Error::input(format!("the archive is damaged: {reason}"))
}
