//! A live OpenAI-compatible endpoint.

use super::{Chat, Request};
use crate::{Error, Result};
use reqwest::blocking::Client;
use std::net::IpAddr;
use std::time::Duration;

/// Asks `POST {base}/chat/completions`.
///
/// The key, if the endpoint wants one, is read from an environment variable and sent to that
/// endpoint alone; it appears in no message, error or recording.
pub struct Live {
    client: Client,
    base: String,
    key: Option<String>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("base", &self.base).finish_non_exhaustive()
    }
}

const PATIENCE: Duration = Duration::from_secs(120);

impl Live {
    /// An endpoint by its base address, such as `http://127.0.0.1:8080/v1`, with the key in the
    /// environment variable `key_variable` where that is set.
    ///
    /// # Errors
    /// An address that is none, or an unencrypted one of another machine.
    pub fn new(base: &str, key_variable: &str) -> Result<Self> {
        let base = base.trim_end_matches('/').to_owned();
        let wrong = |message: &str| Error::usage(message).in_field(&base);
        let url = reqwest::Url::parse(&base)
            .map_err(|error| wrong(&format!("is no address: {error}")))?;
        let host = url.host_str().unwrap_or_default();
        // Addresses of IPv6 stand in brackets.
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        let local = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
        match url.scheme() {
            "https" => {}
            "http" if local => {}
            "http" => {
                return Err(wrong("would send the request over the network unencrypted")
                    .help("use https, or an endpoint on this machine"));
            }
            _ => return Err(wrong("is neither http nor https")),
        }
        let client = Client::builder()
            .timeout(PATIENCE)
            // A redirect could carry the question, and the key, to another host.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(|error| Error::internal(error.to_string()))?;
        let key = std::env::var(key_variable).ok().filter(|key| !key.is_empty());
        Ok(Self { client, base, key })
    }
}

impl Chat for Live {
    fn complete(&mut self, request: &Request) -> Result<String> {
        let failed = |message: String| Error::missing(message).in_field(&self.base);
        let body = serde_json::json!({
            "model": request.model,
            "messages": request.messages,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
        });
        let mut call = self.client.post(format!("{}/chat/completions", self.base)).json(&body);
        if let Some(key) = &self.key {
            call = call.bearer_auth(key);
        }
        let answer = call.send().map_err(|error| {
            // Without its address, which may hold what the user keeps to himself.
            failed(format!("the endpoint does not answer: {}", error.without_url()))
                .help("is the server running, and is the address the one that ends in /v1?")
        })?;
        let status = answer.status();
        let text = answer
            .text()
            .map_err(|error| failed(format!("the answer broke off: {}", error.without_url())))?;
        if !status.is_success() {
            let shown: String = text.chars().take(300).collect();
            return Err(failed(format!("the endpoint answered {status}: {shown}")));
        }
        let value: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| failed(format!("the answer is no JSON: {error}")))?;
        value["choices"][0]["message"]["content"]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| failed("the answer holds no choices[0].message.content".into()))
    }
}
