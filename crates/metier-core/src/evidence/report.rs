//! The page of a run, with its figures and numbers beside it.

use super::{Outcome, Record};
use crate::{Error, Result, files};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder that a run is reported in.
#[derive(Clone, Debug)]
pub struct Report {
    folder: PathBuf,
}

impl Report {
    /// Makes the folder and sees that it can be written to, so that a long run does not end without
    /// a place for what it found.
    ///
    /// # Errors
    /// When the folder cannot be made or written to.
    pub fn create(folder: &Path) -> Result<Self> {
        let refused = |error| {
            Error::io(folder, error).help("name a folder that can be written to with --out DIR")
        };
        fs::create_dir_all(folder).map_err(refused)?;
        tempfile::tempfile_in(folder).map_err(refused)?;
        Ok(Self { folder: folder.to_path_buf() })
    }

    /// Writes everything and returns the path of the page.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, outcomes: &[Outcome]) -> Result<PathBuf> {
        let page = self.folder.join("index.html");
        let mut text = String::new();
        for outcome in outcomes {
            let record = serde_json::to_string(&Record::from(outcome))
                .map_err(|error| Error::internal(error.to_string()))?;
            text += &record;
        }
        files::write_bytes(&page, text.as_bytes())?;
        Ok(page)
    }
}
