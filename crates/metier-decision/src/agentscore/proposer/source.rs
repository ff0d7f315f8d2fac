//! Where rules come from, as a user says it: the shell and Python open their proposers here.

use super::{DataProposer, FileProposer, LlmConfig, LlmProposer, MixedProposer, Proposer};
use metier_core::chat::{Chat, Live, Recorder, Replay};
use metier_core::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Which proposers there are, and what they are given.
///
/// ```
/// use metier_decision::agentscore::{Origin, Source};
/// assert!(Source::default().open(1).is_ok());
/// let source = Source { origin: Origin::Llm, ..Source::default() };
/// assert_eq!(source.open(1).err().unwrap().message(), "no language model is given");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Source {
    /// What proposes.
    pub origin: Origin,
    /// Rules of an expert or of an existing score.
    pub rules: Option<PathBuf>,
    /// The base address of an OpenAI-compatible endpoint.
    pub endpoint: Option<String>,
    /// The environment variable that holds its key, where it wants one.
    pub key_variable: String,
    /// Where the session is written down.
    pub record: Option<PathBuf>,
    /// A session written down before, which answers instead of an endpoint.
    pub replay: Option<PathBuf>,
    /// What the language model is asked.
    pub llm: LlmConfig,
}

/// What proposes rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The data: quantiles, categories, and pairs of the best.
    #[default]
    Data,
    /// A language model.
    Llm,
    /// A file of rules.
    File,
    /// The data, and the file and the model where given.
    Mixed,
}

impl Default for Source {
    fn default() -> Self {
        Self {
            origin: Origin::Data,
            rules: None,
            endpoint: None,
            key_variable: "METIER_API_KEY".into(),
            record: None,
            replay: None,
            llm: LlmConfig::default(),
        }
    }
}

impl Source {
    /// Whether a language model is asked, or its recorded answers are read.
    pub fn asks_a_model(&self) -> bool {
        let given = self.endpoint.is_some() || self.replay.is_some();
        matches!(self.origin, Origin::Llm | Origin::Mixed) && given
    }

    /// A fresh proposer; `depth` is how deep logical rules may nest.
    ///
    /// # Errors
    /// Something that the origin needs and that is not given, or a file that cannot be read.
    pub fn open(&self, depth: u8) -> Result<Box<dyn Proposer>> {
        match self.origin {
            Origin::Data => Ok(Box::new(data(depth))),
            Origin::Llm => Ok(Box::new(self.model()?)),
            Origin::File => self.file()?.ok_or_else(|| {
                Error::usage("no rules are given").help("give the file that holds them")
            }),
            Origin::Mixed => {
                let mut parts: Vec<Box<dyn Proposer>> = vec![Box::new(data(depth))];
                parts.extend(self.file()?);
                if self.asks_a_model() {
                    parts.push(Box::new(self.model()?));
                }
                if parts.len() == 1 {
                    return Err(Error::usage("there is nothing to mix the data's rules with")
                        .help("give a file of rules, an endpoint, or a session to replay"));
                }
                Ok(Box::new(MixedProposer::new(parts)))
            }
        }
    }

    fn file(&self) -> Result<Option<Box<dyn Proposer>>> {
        let read = |path| Ok::<Box<dyn Proposer>, Error>(Box::new(FileProposer::read(path)?));
        self.rules.as_deref().map(read).transpose()
    }

    fn model(&self) -> Result<LlmProposer> {
        LlmProposer::new(self.chat()?, self.llm.clone())
    }

    fn chat(&self) -> Result<Box<dyn Chat>> {
        if let Some(path) = &self.replay {
            if self.endpoint.is_some() || self.record.is_some() {
                return Err(Error::usage(
                    "a replayed session asks no endpoint and is not recorded",
                )
                .help("give either a session to replay or an endpoint"));
            }
            return Ok(Box::new(Replay::open(path)?));
        }
        let Some(endpoint) = &self.endpoint else {
            return Err(Error::usage("no language model is given").help(
                "give an endpoint such as http://127.0.0.1:8080/v1, or a session to replay",
            ));
        };
        let live = Live::new(endpoint, &self.key_variable)?;
        Ok(match &self.record {
            Some(path) => Box::new(Recorder::new(Box::new(live), path)),
            None => Box::new(live),
        })
    }
}

fn data(depth: u8) -> DataProposer {
    if depth == 0 { DataProposer::single() } else { DataProposer::default() }
}
