//! Text from a decoder, token by token.

use crate::model::to_host_values as host;
use crate::model::{Decoder, KeyValueCache};
use metier_core::{Error, Progress, Result, rng};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// How the next token is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GenerateConfig {
    /// The most tokens to generate.
    pub tokens: usize,
    /// Divides the scores before they become probabilities; 0 always takes the best token.
    pub temperature: f64,
    /// Only this many of the best tokens are eligible; 0 for all.
    pub top_k: usize,
    /// Only the best tokens that together reach this probability are eligible; 1 for all.
    pub top_p: f64,
    /// Generation ends before any of these tokens.
    pub stop: Vec<u32>,
    /// Decides what is drawn.
    pub seed: u64,
}

impl Default for GenerateConfig {
    fn default() -> Self {
        Self { tokens: 128, temperature: 0.0, top_k: 0, top_p: 1.0, stop: Vec::new(), seed: 0 }
    }
}

impl GenerateConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The field that is out of range.
    pub fn validate(&self) -> Result<()> {
        if !(self.temperature >= 0.0 && self.temperature.is_finite()) {
            return Err(
                Error::usage(format!("{} is below 0", self.temperature)).in_field("temperature")
            );
        }
        if !(self.top_p > 0.0 && self.top_p <= 1.0) {
            return Err(Error::usage(format!("{} is outside (0, 1]", self.top_p)).in_field("top_p"));
        }
        Ok(())
    }
}

/// Continues `prompt` and returns the new tokens. When the context is full, the oldest half of what
/// the model sees is dropped.
///
/// Cost: one pass over the weights per token; the prompt is read in one pass.
///
/// # Errors
/// An empty prompt, one longer than the context, an id outside the vocabulary; a request to stop.
pub fn generate(
    decoder: &Decoder,
    prompt: &[u32],
    config: &GenerateConfig,
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    config.validate()?;
    let mut rng = rng::stream(config.seed, "generate");
    let mut seen = prompt.to_vec();
    let mut cache = KeyValueCache::new();
    let mut out = Vec::new();
    let mut pending = decoder.tokens(&[prompt])?;
    while out.len() < config.tokens {
        progress.check()?;
        let scores = decoder.forward(pending, Some(&mut cache));
        let [_, length, vocabulary] = scores.dims();
        let last = host(scores.narrow(1, length - 1, 1).reshape([vocabulary]));
        let next = choose(&last, config, rng.random());
        if config.stop.contains(&next) {
            break;
        }
        out.push(next);
        seen.push(next);
        progress.advance(1);
        if cache.len() == decoder.config().context {
            cache = KeyValueCache::new();
            seen.drain(..seen.len() - decoder.config().context.div_ceil(2));
            pending = decoder.tokens(&[&seen])?;
        } else {
            pending = decoder.tokens(&[&[next]])?;
        }
    }
    Ok(out)
}

/// The token that `draw`, uniform in [0, 1), selects. Ties go to the lower id.
fn choose(scores: &[f32], config: &GenerateConfig, draw: f64) -> u32 {
    let mut order: Vec<u32> = (0..scores.len() as u32).collect();
    let score = |id: u32| f64::from(scores[id as usize]);
    let best_first = |a: &u32, b: &u32| score(*b).total_cmp(&score(*a)).then(a.cmp(b));
    if config.temperature == 0.0 {
        return order.into_iter().min_by(best_first).unwrap_or(0);
    }
    order.sort_unstable_by(best_first);
    if config.top_k > 0 {
        order.truncate(config.top_k);
    }
    let top = score(order[0]);
    let weights: Vec<f64> =
        order.iter().map(|&id| ((score(id) - top) / config.temperature).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mut eligible = 0;
    let mut mass = 0.0;
    while eligible < weights.len() && (eligible == 0 || mass < config.top_p * total) {
        mass += weights[eligible];
        eligible += 1;
    }
    let mut left = draw * mass;
    for (id, weight) in order.iter().zip(&weights[..eligible]) {
        left -= weight;
        if left < 0.0 {
            return *id;
        }
    }
    order[eligible - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(temperature: f64, top_k: usize, top_p: f64) -> GenerateConfig {
        GenerateConfig { temperature, top_k, top_p, ..GenerateConfig::default() }
    }

    #[test]
    fn greedy_takes_the_best_and_the_lower_id_on_a_tie() {
        assert_eq!(choose(&[0.0, 3.0, 3.0, 1.0], &config(0.0, 0, 1.0), 0.99), 1);
    }

    #[test]
    fn draws_follow_the_probabilities_and_the_limits() {
        // Probabilities 1/2, 1/4, 1/8, 1/8.
        let scores: Vec<f32> = [8.0f32, 4.0, 2.0, 2.0].map(f32::ln).to_vec();
        let all = config(1.0, 0, 1.0);
        let drawn: Vec<u32> =
            [0.0, 0.49, 0.51, 0.74, 0.76, 0.88, 0.999].map(|u| choose(&scores, &all, u)).to_vec();
        assert_eq!(drawn, [0, 0, 1, 1, 2, 3, 3]);
        assert_eq!(choose(&scores, &config(1.0, 2, 1.0), 0.999), 1);
        assert_eq!(choose(&scores, &config(1.0, 0, 0.5), 0.999), 0);
        assert_eq!(choose(&scores, &config(1.0, 0, 0.6), 0.999), 1);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let error = config(-1.0, 0, 1.0).validate().unwrap_err();
        assert_eq!(error.to_string(), "temperature: -1 is below 0");
        let error = config(1.0, 0, 0.0).validate().unwrap_err();
        assert_eq!(error.to_string(), "top_p: 0 is outside (0, 1]");
    }
}
