//! Pictures that a verb writes beside its results.

use crate::shell::Shell;
use metier_core::evidence::draw::{Size, Theme, svg};
use metier_core::{Error, Figure, Result, files};
use std::path::Path;

/// Whether a picture can be written under this name; to be asked before anything is computed.
///
/// # Errors
/// Another ending than `.svg`.
pub fn check(path: &Path) -> Result<()> {
    if path.extension().is_some_and(|ending| ending == "svg") {
        return Ok(());
    }
    Err(Error::usage("pictures are written as .svg").in_file(path))
}

/// Writes the picture and says what it shows.
///
/// # Errors
/// When the file cannot be written.
pub fn draw(figure: &Figure, path: &Path, shell: &Shell) -> Result<()> {
    files::write_bytes(path, svg(figure, Size::Wide, Theme::Light).as_bytes())?;
    shell.say(format_args!("{}. {}", figure.title, figure.caption));
    Ok(())
}
