//! A decoder with its tokenizer, ready to be trained.

use crate::corpus::Window;
use crate::generate::{GenerateConfig, generate};
use crate::kernels;
use crate::model::{Decoder, DecoderConfig, to_host_values};
use crate::optim::ParamMut;
use crate::tokenizer::Tokenizer;
use crate::train::Trainable;
use burn::tensor::{Device, Tensor};
use metier_core::{Error, Result, Silent};
use std::path::Path;

/// A decoder with its tokenizer. Its parameters live on the host, where optimizers work, and are
/// sent to the device before the next pass after a change.
#[derive(Debug)]
pub struct LanguageModel {
    tokenizer: Tokenizer,
    config: DecoderConfig,
    names: Vec<(String, Vec<usize>)>,
    values: Vec<Vec<f32>>,
    /// The decoder of the current values, on a device that records gradients.
    decoder: Option<Decoder>,
    /// The same on a device that does not, made for the first pass without gradients.
    unrecorded: Option<Decoder>,
    device: Device,
}

impl LanguageModel {
    /// A model with random weights.
    ///
    /// # Errors
    /// A configuration that does not fit together, or a vocabulary smaller than the tokenizer's.
    pub fn random(
        config: &DecoderConfig,
        tokenizer: Tokenizer,
        seed: u64,
        device: &Device,
    ) -> Result<Self> {
        Self::of(Decoder::random(config, seed, device)?, tokenizer)
    }

    /// A model from a Hugging Face folder.
    ///
    /// # Errors
    /// As [`Decoder::read`] and [`Tokenizer::read`].
    pub fn read(folder: &Path, device: &Device) -> Result<Self> {
        let tokenizer = Tokenizer::read(&folder.join("tokenizer.json"))?;
        Self::of(Decoder::read(folder, device)?, tokenizer)
    }

    /// A model of a decoder and the tokenizer that belongs to it.
    ///
    /// # Errors
    /// A vocabulary smaller than the tokenizer's.
    pub fn of(decoder: Decoder, tokenizer: Tokenizer) -> Result<Self> {
        let (has, needs) = (decoder.config().vocabulary, tokenizer.vocabulary());
        if has < needs {
            return Err(Error::input(format!("{has} is smaller than the tokenizer's {needs}"))
                .in_field("vocab_size"));
        }
        let device = decoder.device().clone();
        Ok(Self {
            tokenizer,
            config: decoder.config().clone(),
            names: decoder.parameters(),
            values: decoder.to_host().into_iter().map(|parameter| parameter.data).collect(),
            decoder: None,
            unrecorded: None,
            device,
        })
    }

    /// The model's tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The shape of the decoder.
    pub fn config(&self) -> &DecoderConfig {
        &self.config
    }

    /// The decoder of the current values, for passes without gradients.
    ///
    /// # Errors
    /// None in practice: the values came out of a decoder of the same shape.
    pub fn decoder(&self) -> Result<Decoder> {
        Decoder::from_values(&self.config, self.values.clone(), &self.device)
    }

    /// Drops what was made of values that are about to change.
    fn forget(&mut self) {
        self.decoder = None;
        self.unrecorded = None;
    }

    fn loss_of(decoder: &Decoder, batch: &Window) -> Result<Tensor<1>> {
        let rows =
            |ids: &[Vec<u32>]| decoder.tokens(&ids.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let scores = decoder.forward(rows(&batch.inputs)?, None);
        Ok(kernels::cross_entropy(scores, rows(&batch.targets)?))
    }
}

/// The single value of a loss.
fn scalar(loss: Tensor<1>) -> f64 {
    to_host_values(loss).first().map_or(f64::NAN, |&value| f64::from(value))
}

impl Trainable for LanguageModel {
    type Batch = Window;

    fn parameters(&self) -> Vec<(String, Vec<usize>)> {
        self.names.clone()
    }

    fn loss_and_gradients(&mut self, batch: &Window) -> Result<(f64, Vec<Vec<f32>>)> {
        let decoder = match self.decoder.take() {
            Some(decoder) => decoder,
            None => {
                let device = self.device.clone().autodiff();
                Decoder::from_values(&self.config, self.values.clone(), &device)?
            }
        };
        let loss = Self::loss_of(&decoder, batch)?;
        let mut gradients = loss.backward();
        let gradients = decoder.gradients(&mut gradients);
        self.decoder = Some(decoder);
        Ok((scalar(loss), gradients))
    }

    fn loss(&mut self, batch: &Window) -> Result<f64> {
        let decoder = match self.unrecorded.take() {
            Some(decoder) => decoder,
            None => self.decoder()?,
        };
        let loss = Self::loss_of(&decoder, batch)?;
        self.unrecorded = Some(decoder);
        Ok(scalar(loss))
    }

    fn with_parameters(
        &mut self,
        change: &mut dyn FnMut(&mut [ParamMut<'_>]) -> Result<()>,
    ) -> Result<()> {
        self.forget();
        let mut params: Vec<ParamMut<'_>> = self
            .names
            .iter()
            .zip(&mut self.values)
            .map(|((name, shape), data)| ParamMut { name, shape, data })
            .collect();
        change(&mut params)
    }

    fn save(&self, folder: &Path) -> Result<()> {
        self.decoder()?.write(folder)?;
        self.tokenizer.write(&folder.join("tokenizer.json"))
    }

    fn load(&mut self, folder: &Path) -> Result<()> {
        let decoder = Decoder::read(folder, &self.device)?;
        if decoder.config() != &self.config {
            return Err(
                Error::input("holds a model of another shape").in_file(folder.join("config.json"))
            );
        }
        self.values = decoder.to_host().into_iter().map(|parameter| parameter.data).collect();
        self.forget();
        Ok(())
    }

    fn sample(&mut self, seed: u64) -> Result<Option<String>> {
        let config = GenerateConfig {
            tokens: 100.min(self.config.context),
            temperature: 0.8,
            top_p: 0.95,
            seed,
            ..GenerateConfig::default()
        };
        let mut prompt = self.tokenizer.encode("The ")?;
        prompt.truncate(self.config.context);
        // A tokenizer of one's own may know none of its characters.
        if prompt.is_empty() {
            return Ok(None);
        }
        let drawn = generate(&self.decoder()?, &prompt, &config, &Silent)?;
        let all: Vec<u32> = prompt.into_iter().chain(drawn).collect();
        self.tokenizer.decode(&all).map(Some)
    }
}
