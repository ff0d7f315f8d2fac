//! The shape of a decoder, and its form in a Hugging Face `config.json`.

use metier_core::{Error, Result, files};
use serde_json::{Map, Value, json};
use std::path::Path;

/// How the blocks of a decoder are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Layer norm, learned positions, a fused query-key-value matrix, tanh-approximated GELU.
    Gpt2,
    /// RMS norm, rotary positions, grouped-query attention, SwiGLU.
    Llama,
}

/// The shape of a decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct DecoderConfig {
    /// How the blocks are laid out.
    pub layout: Layout,
    /// The number of tokens in the vocabulary.
    pub vocabulary: usize,
    /// The width of the residual stream.
    pub hidden: usize,
    /// The width inside the feed-forward block.
    pub intermediate: usize,
    /// The number of blocks.
    pub layers: usize,
    /// The number of query heads.
    pub heads: usize,
    /// The number of key and value heads, which divides `heads`; equal to it in the GPT-2 layout.
    pub key_value_heads: usize,
    /// The width of a head.
    pub head_width: usize,
    /// The longest sequence.
    pub context: usize,
    /// What is added to the variance inside norms.
    pub norm_epsilon: f64,
    /// The base of the rotary frequencies; without meaning in the GPT-2 layout.
    pub rope_base: f64,
    /// Whether the output matrix is the embedding.
    pub tied: bool,
    /// Whether linear maps and layer norms have biases. Only the GPT-2 layout can have them.
    pub bias: bool,
}

/// No size of a model is larger, and four of them multiplied fit 128 bits.
const MOST: usize = 1 << 31;
/// Beyond this the weights alone would be a terabyte.
const MOST_PARAMETERS: u128 = 1 << 38;

impl DecoderConfig {
    /// A GPT-2 without biases, as language models are trained from scratch today, with four times
    /// the width inside its feed-forward blocks.
    pub fn gpt2(
        vocabulary: usize,
        context: usize,
        layers: usize,
        heads: usize,
        hidden: usize,
    ) -> Self {
        Self {
            layout: Layout::Gpt2,
            vocabulary,
            hidden,
            intermediate: hidden.saturating_mul(4),
            layers,
            heads,
            key_value_heads: heads,
            head_width: hidden / heads.max(1),
            context,
            norm_epsilon: 1e-5,
            rope_base: 1e4,
            tied: true,
            bias: false,
        }
    }

    /// Checks that the numbers fit together.
    ///
    /// # Errors
    /// The field that is wrong, its value, and what would be right.
    pub fn validate(&self) -> Result<()> {
        let wrong = |field: &str, message: String| Err(Error::input(message).in_field(field));
        for (field, value) in [
            ("vocab_size", self.vocabulary),
            ("hidden_size", self.hidden),
            ("intermediate_size", self.intermediate),
            ("num_hidden_layers", self.layers),
            ("num_attention_heads", self.heads),
            ("num_key_value_heads", self.key_value_heads),
            ("head_dim", self.head_width),
            ("max_position_embeddings", self.context),
        ] {
            if value == 0 {
                return wrong(field, "must be at least 1".into());
            }
            if value > MOST {
                return wrong(field, format!("{value} is more than any model has"));
            }
        }
        if !self.heads.is_multiple_of(self.key_value_heads) {
            let message = format!(
                "{} key-value heads do not divide {} query heads",
                self.key_value_heads, self.heads
            );
            return wrong("num_key_value_heads", message);
        }
        if self.layout == Layout::Gpt2 && self.head_width * self.heads != self.hidden {
            let message = format!("{} heads do not divide the width {}", self.heads, self.hidden);
            return wrong("n_head", message);
        }
        if self.layout == Layout::Llama && !self.head_width.is_multiple_of(2) {
            let message =
                format!("rotary positions need an even head width, not {}", self.head_width);
            return wrong("head_dim", message);
        }
        if !(self.norm_epsilon > 0.0 && self.rope_base > 0.0) {
            return wrong("norm epsilon and rope base", "must be above 0".into());
        }
        let count = self.matrix_elements();
        if count > MOST_PARAMETERS {
            let message = format!("these sizes make {:.1e} parameters", count as f64);
            return Err(Error::input(message)
                .in_field("config")
                .help("a model in f32 takes four bytes for each, and training some twelve more"));
        }
        Ok(())
    }

    /// The parameters but for norms and biases.
    fn matrix_elements(&self) -> u128 {
        let size = |value: usize| value as u128;
        let width = size(self.hidden);
        let heads = size(self.head_width) * 2 * (size(self.heads) + size(self.key_value_heads));
        let maps = if self.layout == Layout::Llama { 3 } else { 2 };
        let positions = if self.layout == Layout::Gpt2 { size(self.context) } else { 0 };
        let tables = if self.tied { 1 } else { 2 } * size(self.vocabulary) + positions;
        width * (tables + size(self.layers) * (heads + maps * size(self.intermediate)))
    }

    /// Reads a Hugging Face `config.json`.
    ///
    /// # Errors
    /// A file that cannot be read, a layout that is not known, a field that is missing or does not
    /// fit; each with its name.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::io(path, source))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| {
            Error::input(error.to_string()).in_file(path).at_row(error.line() as u64)
        })?;
        Self::from_json(&value).map_err(|error| error.in_file(path))
    }

    /// Takes the shape from the content of a `config.json`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_json(value: &Value) -> Result<Self> {
        let fields = Fields(value.as_object().ok_or_else(|| Error::input("not a JSON object"))?);
        let config = match fields.text("model_type")? {
            "gpt2" => Self::from_gpt2(&fields)?,
            "llama" => Self::from_llama(&fields)?,
            other => {
                return Err(Error::input(format!("the layout {other} is not known"))
                    .in_field("model_type")
                    .help("known layouts: gpt2, llama"));
            }
        };
        config.validate()?;
        Ok(config)
    }

    fn from_gpt2(fields: &Fields) -> Result<Self> {
        fields.expect("activation_function", "gelu_new")?;
        let hidden = fields.count("n_embd")?;
        let heads = fields.count("n_head")?;
        Ok(Self {
            layout: Layout::Gpt2,
            vocabulary: fields.count("vocab_size")?,
            hidden,
            intermediate: fields.optional_count("n_inner")?.unwrap_or(hidden.saturating_mul(4)),
            layers: fields.count("n_layer")?,
            heads,
            key_value_heads: heads,
            head_width: hidden / heads.max(1),
            context: fields.count("n_positions")?,
            norm_epsilon: fields.number("layer_norm_epsilon", 1e-5)?,
            rope_base: 1e4,
            tied: fields.flag("tie_word_embeddings", true)?,
            bias: fields.flag("bias", true)?,
        })
    }

    fn from_llama(fields: &Fields) -> Result<Self> {
        fields.expect("hidden_act", "silu")?;
        if fields.flag("attention_bias", false)? || fields.flag("mlp_bias", false)? {
            return Err(Error::input("biases are not supported in the llama layout")
                .in_field("attention_bias"));
        }
        if fields.0.get("rope_scaling").is_some_and(|scaling| !scaling.is_null()) {
            return Err(
                Error::input("scaled rotary positions are not supported").in_field("rope_scaling")
            );
        }
        let rope_type = fields.0.get("rope_parameters").and_then(|rope| rope.get("rope_type"));
        if rope_type.is_some_and(|kind| kind != "default" && !kind.is_null()) {
            return Err(Error::input("scaled rotary positions are not supported")
                .in_field("rope_parameters"));
        }
        let hidden = fields.count("hidden_size")?;
        let heads = fields.count("num_attention_heads")?;
        Ok(Self {
            layout: Layout::Llama,
            vocabulary: fields.count("vocab_size")?,
            hidden,
            intermediate: fields.count("intermediate_size")?,
            layers: fields.count("num_hidden_layers")?,
            heads,
            key_value_heads: fields.optional_count("num_key_value_heads")?.unwrap_or(heads),
            head_width: fields.optional_count("head_dim")?.unwrap_or(hidden / heads.max(1)),
            context: fields.optional_count("max_position_embeddings")?.unwrap_or(2048),
            norm_epsilon: fields.number("rms_norm_eps", 1e-6)?,
            rope_base: fields.rope_base()?,
            tied: fields.flag("tie_word_embeddings", false)?,
            bias: false,
        })
    }

    /// The content of a `config.json` that other programs read.
    pub fn to_json(&self) -> Value {
        match self.layout {
            Layout::Gpt2 => json!({
                "architectures": ["GPT2LMHeadModel"],
                "model_type": "gpt2",
                "vocab_size": self.vocabulary,
                "n_positions": self.context,
                "n_ctx": self.context,
                "n_embd": self.hidden,
                "n_layer": self.layers,
                "n_head": self.heads,
                "n_inner": self.intermediate,
                "activation_function": "gelu_new",
                "layer_norm_epsilon": self.norm_epsilon,
                "embd_pdrop": 0.0, "attn_pdrop": 0.0, "resid_pdrop": 0.0,
                "tie_word_embeddings": self.tied,
                "bias": self.bias,
                "torch_dtype": "float32",
            }),
            Layout::Llama => json!({
                "architectures": ["LlamaForCausalLM"],
                "model_type": "llama",
                "vocab_size": self.vocabulary,
                "hidden_size": self.hidden,
                "intermediate_size": self.intermediate,
                "num_hidden_layers": self.layers,
                "num_attention_heads": self.heads,
                "num_key_value_heads": self.key_value_heads,
                "head_dim": self.head_width,
                "max_position_embeddings": self.context,
                "hidden_act": "silu",
                "rms_norm_eps": self.norm_epsilon,
                "rope_theta": self.rope_base,
                "attention_bias": false,
                "mlp_bias": false,
                "tie_word_embeddings": self.tied,
                "torch_dtype": "float32",
            }),
        }
    }

    /// Writes a `config.json`.
    ///
    /// # Errors
    /// An I/O error that names the file.
    pub fn write(&self, path: &Path) -> Result<()> {
        files::write_bytes(path, format!("{:#}\n", self.to_json()).as_bytes())
    }
}

/// The fields of a configuration, each error with the field's name.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn wrong<T>(&self, name: &str, expected: &str) -> Result<T> {
        let found = match self.0.get(name) {
            Some(value) => format!("{value} is not {expected}"),
            None => "is missing".into(),
        };
        Err(Error::input(found).in_field(name))
    }

    fn text(&self, name: &str) -> Result<&str> {
        self.0.get(name).and_then(Value::as_str).map_or_else(|| self.wrong(name, "a text"), Ok)
    }

    fn optional_count(&self, name: &str) -> Result<Option<usize>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64() {
                Some(count) => Ok(Some(count as usize)),
                None => self.wrong(name, "a count"),
            },
        }
    }

    fn count(&self, name: &str) -> Result<usize> {
        self.optional_count(name)?.map_or_else(|| self.wrong(name, "a count"), Ok)
    }

    fn number(&self, name: &str, default: f64) -> Result<f64> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value.as_f64().map_or_else(|| self.wrong(name, "a number"), Ok),
        }
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value.as_bool().map_or_else(|| self.wrong(name, "true or false"), Ok),
        }
    }

    fn expect(&self, name: &str, only: &str) -> Result<()> {
        match self.0.get(name) {
            None => Ok(()),
            Some(value) if value == only => Ok(()),
            Some(value) => Err(Error::input(format!("{value} is not supported"))
                .in_field(name)
                .help(format!("this layout is computed with {only}"))),
        }
    }

    /// Newer files keep the base inside `rope_parameters`.
    fn rope_base(&self) -> Result<f64> {
        let nested = self.0.get("rope_parameters").and_then(Value::as_object);
        match nested.and_then(|rope| rope.get("rope_theta")).and_then(Value::as_f64) {
            Some(base) => Ok(base),
            None => self.number("rope_theta", 1e4),
        }
    }
}
