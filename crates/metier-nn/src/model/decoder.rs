//! One type for decoders of every layout.

use super::attention::KeyValueCache;
use super::config::{DecoderConfig, Layout};
use super::gpt2::Gpt2;
use super::llama::Llama;
use super::parameters::{self, HostParameter};
use super::{checkpoint, init};
use burn::tensor::{Device, Gradients, Int, Tensor, TensorData};
use metier_core::{Error, Result};
use std::path::Path;

/// A decoder-only transformer.
///
/// ```
/// use metier_nn::model::{Decoder, DecoderConfig};
/// let config = DecoderConfig::gpt2(256, 64, 2, 2, 32);
/// let decoder = Decoder::random(&config, 0, &metier_nn::device::cpu())?;
/// let logits = decoder.forward(decoder.tokens(&[&[72, 105]])?, None);
/// assert_eq!(logits.dims(), [1, 2, 256]);
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder {
    config: DecoderConfig,
    body: Body,
    device: Device,
}

#[derive(Clone, Debug)]
enum Body {
    Gpt2(Gpt2),
    Llama(Llama),
}

/// Calls a generic function on the module inside.
macro_rules! on_body {
    ($body:expr, $module:ident => $call:expr) => {
        match $body {
            Body::Gpt2($module) => $call,
            Body::Llama($module) => $call,
        }
    };
}

impl Decoder {
    /// A decoder with the weights of the layout's usual initialization, drawn from `seed`: normal
    /// with deviation 0.02, and by 1/√(2·layers) smaller where a block writes to the residual path.
    ///
    /// # Errors
    /// A configuration whose numbers do not fit together.
    pub fn random(config: &DecoderConfig, seed: u64, device: &Device) -> Result<Self> {
        let decoder = Self::blank(config, device)?;
        let draw = |(name, shape): &(String, Vec<usize>)| init::draw(name, shape, config, seed);
        let values = decoder.parameters().iter().map(draw).collect();
        Ok(decoder.with_values(values))
    }

    /// Reads a Hugging Face folder: `config.json` and `model.safetensors`, whole or sharded.
    ///
    /// # Errors
    /// A file that is missing; a tensor that is missing or has another shape than the configuration
    /// says, with its name and both shapes.
    pub fn read(folder: &Path, device: &Device) -> Result<Self> {
        let config = DecoderConfig::read(&folder.join("config.json"))?;
        let decoder = Self::blank(&config, device)?;
        let prefix = match config.layout {
            Layout::Gpt2 => "transformer.",
            Layout::Llama => "model.",
        };
        let values = checkpoint::read_parameters(folder, &decoder.parameters(), prefix)?;
        Ok(decoder.with_values(values))
    }

    /// Writes a Hugging Face folder: `config.json` and the weights in f32, sharded beyond 5 GB.
    ///
    /// # Errors
    /// An I/O error that names the file.
    pub fn write(&self, folder: &Path) -> Result<()> {
        self.config.write(&folder.join("config.json"))?;
        checkpoint::write_weights(folder, &self.to_host())
    }

    /// A decoder of the given parameters, which must come in the order of
    /// [`parameters`](Self::parameters).
    ///
    /// # Errors
    /// A number of values that does not fit, with the parameter's name.
    pub fn from_values(
        config: &DecoderConfig,
        values: Vec<Vec<f32>>,
        device: &Device,
    ) -> Result<Self> {
        let decoder = Self::blank(config, device)?;
        let expected = decoder.parameters();
        if expected.len() != values.len() {
            let message = format!("{} parameters for {}", values.len(), expected.len());
            return Err(Error::input(message));
        }
        for ((name, shape), values) in expected.iter().zip(&values) {
            if shape.iter().product::<usize>() != values.len() {
                let message = format!("{name}: {} values for the shape {shape:?}", values.len());
                return Err(Error::input(message));
            }
        }
        Ok(decoder.with_values(values))
    }

    fn blank(config: &DecoderConfig, device: &Device) -> Result<Self> {
        config.validate()?;
        let body = match config.layout {
            Layout::Gpt2 => Body::Gpt2(Gpt2::new(config, device)),
            Layout::Llama => Body::Llama(Llama::new(config, device)),
        };
        Ok(Self { config: config.clone(), body, device: device.clone() })
    }

    fn with_values(self, values: Vec<Vec<f32>>) -> Self {
        let body = match self.body {
            Body::Gpt2(module) => Body::Gpt2(parameters::replace(module, values)),
            Body::Llama(module) => Body::Llama(parameters::replace(module, values)),
        };
        Self { body, ..self }
    }

    /// The shape of the decoder.
    pub fn config(&self) -> &DecoderConfig {
        &self.config
    }

    /// Where the decoder lives.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The names and shapes of all parameters, each once, in an order that never changes.
    pub fn parameters(&self) -> Vec<(String, Vec<usize>)> {
        on_body!(&self.body, module => parameters::names(module))
    }

    /// All parameters, copied to the host.
    pub fn to_host(&self) -> Vec<HostParameter> {
        on_body!(&self.body, module => parameters::to_host(module))
    }

    /// The gradients of all parameters in the order of [`parameters`](Self::parameters), moved to
    /// the host.
    pub fn gradients(&self, gradients: &mut Gradients) -> Vec<Vec<f32>> {
        on_body!(&self.body, module => parameters::gradients(module, gradients))
    }

    /// Token ids as the model takes them, `[batch, length]`.
    ///
    /// # Errors
    /// Sequences of different lengths, empty or longer than the context, or an id outside the
    /// vocabulary.
    pub fn tokens(&self, batch: &[&[u32]]) -> Result<Tensor<2, Int>> {
        let length = batch.first().map_or(0, |sequence| sequence.len());
        if length == 0 {
            return Err(Error::input("a batch needs at least one token"));
        }
        if length > self.config.context {
            let message = format!("{length} tokens exceed the context of {}", self.config.context);
            return Err(Error::input(message));
        }
        let mut ids = Vec::with_capacity(batch.len() * length);
        for (row, sequence) in batch.iter().enumerate() {
            if sequence.len() != length {
                let message = format!("{} tokens beside {length}", sequence.len());
                return Err(Error::input(message).at_row(row as u64 + 1));
            }
            for &id in *sequence {
                if id as usize >= self.config.vocabulary {
                    let message = format!(
                        "token {id} is outside the vocabulary of {}",
                        self.config.vocabulary
                    );
                    return Err(Error::input(message).at_row(row as u64 + 1));
                }
                ids.push(id as i32);
            }
        }
        Ok(Tensor::from_data(TensorData::new(ids, [batch.len(), length]), &self.device))
    }

    /// The scores of the next token after each position, `[batch, length, vocabulary]`. With a cache
    /// the tokens follow those that the cache has seen.
    ///
    /// # Panics
    /// When there are more tokens, with those in the cache, than the model's context.
    pub fn forward(&self, tokens: Tensor<2, Int>, cache: Option<&mut KeyValueCache>) -> Tensor<3> {
        on_body!(&self.body, module => module.forward(tokens, cache))
    }
}
