//! The bytes of a file or of standard input, unpacked where they are gzipped.

use metier_core::{Error, Result};
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

/// The whole content; `-` is standard input. Gzip is recognised by its first bytes.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let raw = if path == Path::new("-") {
        let mut raw = Vec::new();
        std::io::stdin().lock().read_to_end(&mut raw).map_err(|error| Error::io(path, error))?;
        raw
    } else {
        std::fs::read(path).map_err(|error| Error::io(path, error))?
    };
    if is_gzip(&raw) { gunzip(&raw).map_err(|error| error.in_file(path)) } else { Ok(raw) }
}

/// Unpacks gzip; several members one after the other count as one.
pub(crate) fn gunzip(raw: &[u8]) -> Result<Vec<u8>> {
    let mut unpacked = Vec::with_capacity(raw.len() * 4);
    flate2::read::MultiGzDecoder::new(raw)
        .read_to_end(&mut unpacked)
        .map_err(|error| Error::input("the gzip data are damaged or cut short").caused_by(error))?;
    Ok(unpacked)
}

/// Whether the bytes begin as gzip does.
pub(crate) fn is_gzip(raw: &[u8]) -> bool {
    raw.starts_with(&[0x1f, 0x8b])
}

/// The ending of the name in lower case, without `.gz`.
pub(crate) fn ending(path: &Path) -> String {
    let lower = |text: &OsStr| text.to_string_lossy().to_lowercase();
    let last = path.extension().map(lower).unwrap_or_default();
    if last != "gz" {
        return last;
    }
    path.file_stem().map(Path::new).and_then(Path::extension).map(lower).unwrap_or_default()
}
