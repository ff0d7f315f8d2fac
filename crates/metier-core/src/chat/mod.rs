//! Talking to a language model: a live endpoint, a recorded session, or a recorder between.
//!
//! A recorded session (a *cassette*) is a file of JSON lines, each with a stable hash of
//! a request and the answer to it. Replaying it makes an agent's run a function of the file: a
//! request that the file does not hold is an error, never a live call.

mod cassette;
mod live;
#[cfg(test)]
mod tests;

pub use cassette::{Recorder, Replay};
pub use live::Live;

use crate::Result;
use crate::hash::{OFFSET, fnv1a};
use serde::{Deserialize, Serialize};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
}

impl Message {
    /// What frames the conversation.
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: "system".into(), content: content.into() }
    }

    /// What is asked.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: "user".into(), content: content.into() }
    }
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The name of the model at its endpoint.
    pub model: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Sampling temperature.
    pub temperature: f64,
    /// The longest answer, in tokens.
    pub max_tokens: u32,
    /// Tells equal requests of one session apart; it is not sent.
    pub turn: u64,
}

impl Request {
    /// A stable name for the request: 32 hexadecimal digits of its content.
    pub fn hash(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        // Two hashes with different starts: plenty against accidents.
        let half = |start| fnv1a(start, text.as_bytes());
        format!("{:016x}{:016x}", half(OFFSET), half(0x6c62_272e_07bb_0142))
    }
}

/// Whoever answers.
pub trait Chat: Send {
    /// The model's answer.
    ///
    /// # Errors
    /// An endpoint that cannot be reached or refuses, or a recording that lacks the request.
    fn complete(&mut self, request: &Request) -> Result<String>;
}
