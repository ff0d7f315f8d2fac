//! Recorded sessions.

use super::{Chat, Request};
use crate::{Error, Result, files};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    request: String,
    response: String,
}

/// Answers from a recorded session, and from nowhere else.
#[derive(Debug)]
pub struct Replay {
    path: PathBuf,
    answers: HashMap<String, String>,
}

impl Replay {
    /// Opens a recording.
    ///
    /// # Errors
    /// A file that is missing or is no recording.
    pub fn open(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        let mut answers = HashMap::new();
        for (row, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line: Line = serde_json::from_str(line).map_err(|error| {
                Error::input(format!("no recorded answer: {error}"))
                    .in_file(path)
                    .at_row(row as u64 + 1)
            })?;
            answers.insert(line.request, line.response);
        }
        Ok(Self { path: path.to_path_buf(), answers })
    }
}

impl Chat for Replay {
    fn complete(&mut self, request: &Request) -> Result<String> {
        let hash = request.hash();
        self.answers.get(&hash).cloned().ok_or_else(|| {
            Error::missing(format!("no recorded answer to request {hash}"))
                .in_file(&self.path)
                .help("the data, the settings or the prompts have changed; record the session anew")
        })
    }
}

/// Passes requests on and writes every answer down.
pub struct Recorder {
    inner: Box<dyn Chat>,
    path: PathBuf,
    text: String,
}

impl Recorder {
    /// Records what `inner` answers into a file, which is replaced.
    pub fn new(inner: Box<dyn Chat>, path: &Path) -> Self {
        Self { inner, path: path.to_path_buf(), text: String::new() }
    }
}

impl Chat for Recorder {
    fn complete(&mut self, request: &Request) -> Result<String> {
        let response = self.inner.complete(request)?;
        let line = Line { request: request.hash(), response };
        self.text +=
            &serde_json::to_string(&line).map_err(|error| Error::internal(error.to_string()))?;
        self.text.push('\n');
        // After every answer: a session that is broken off keeps what was paid for.
        files::write_bytes(&self.path, self.text.as_bytes())?;
        Ok(line.response)
    }
}
