//! What a run is told: its flags, and what its folder remembers of them.

use crate::flags::finite;
use crate::text::text_path;
use metier_core::{Error, Result, files};
use metier_nn::corpus::{Corpus, LoaderConfig};
use metier_nn::model::DecoderConfig;
use metier_nn::train::{CheckpointStore, Decay, Schedule, TrainConfig};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

const FILE: &str = "run.json";

/// The flags, none of which has to be given again when a run goes on.
#[derive(clap::Args, Clone, Debug, Default, Serialize)]
pub struct Choices {
    /// gpt2-SIZE or llama-SIZE (nano, micro, mini, small, medium, large), a config.json, or a
    /// checkpoint's folder to go on from its weights [default: gpt2-micro]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// A text file, a folder of .txt files, a token file (.bin), or a data set's name
    #[arg(long, value_name = "PATH")]
    data: Option<String>,
    /// byte, a tokenizer.json, or bpe:N to learn one of N tokens from the text [default: the
    /// checkpoint's own, else byte]
    #[arg(long, value_name = "TOKENIZER")]
    tokenizer: Option<String>,
    /// Steps hidden matrices: olion, adamw, lion, lion-rms, muon, muon-jordan, adamuon or signum
    /// [default: olion]
    #[arg(long, value_name = "NAME", help_heading = "Optimizer")]
    optimizer: Option<String>,
    /// Steps embeddings, norms and biases: adamw or lion [default: adamw, or the optimizer itself
    /// where that steps everything]
    #[arg(long, value_name = "NAME", help_heading = "Optimizer")]
    aux: Option<String>,
    /// The highest learning rate [default: 6e-4]
    #[arg(long, value_name = "RATE", help_heading = "Optimizer", value_parser = finite)]
    lr: Option<f32>,
    /// The share of the old momentum in a step (olion, lion, lion-rms) or its decay (adamw)
    #[arg(long, value_name = "BETA", help_heading = "Optimizer", value_parser = finite)]
    beta1: Option<f32>,
    /// The decay of the momentum (olion, lion, lion-rms) or of the squares (adamw)
    #[arg(long, value_name = "BETA", help_heading = "Optimizer", value_parser = finite)]
    beta2: Option<f32>,
    /// The decay of the momentum (muon, adamuon, signum)
    #[arg(long, value_name = "BETA", help_heading = "Optimizer", value_parser = finite)]
    momentum: Option<f32>,
    /// The decoupled decay of matrices [default: the optimizer's own, usually 0.1]
    #[arg(long, value_name = "RATE", help_heading = "Optimizer", value_parser = finite)]
    weight_decay: Option<f32>,
    /// Newton–Schulz steps (olion, muon, adamuon) [default: 5]
    #[arg(long, value_name = "N", help_heading = "Optimizer")]
    ns_steps: Option<usize>,
    /// quintic, polar-express or svd (olion, muon, adamuon) [default: quintic]
    #[arg(long, value_name = "NAME", help_heading = "Optimizer")]
    orthogonalizer: Option<String>,
    /// Orthogonalize in every N-th step only (olion) [default: 1]
    #[arg(long, value_name = "N", help_heading = "Optimizer")]
    orth_every: Option<usize>,
    /// Orthogonalize the parts of fused matrices by themselves (olion)
    #[arg(long, help_heading = "Optimizer")]
    #[serde(skip_serializing_if = "is_false")]
    split_fused: bool,
    /// The root mean square of an update at a learning rate of one, or none for plain signs
    /// (olion, lion-rms, signum) [default: 0.2]
    #[arg(long, value_name = "SIZE", help_heading = "Optimizer")]
    rms: Option<String>,
    /// Project on orthogonal and on sign matrices N times in a step (olion) [default: 1]
    #[arg(long, value_name = "N", help_heading = "Optimizer")]
    projections: Option<usize>,
    /// f32 or bf16: how the momentum is kept (olion) [default: f32]
    #[arg(long, value_name = "TYPE", help_heading = "Optimizer")]
    state: Option<String>,
    /// Give mixture routers to the matrix optimizer too
    #[arg(long, help_heading = "Optimizer")]
    #[serde(skip_serializing_if = "is_false")]
    router_as_matrix: bool,
    /// Assign the parameters that a regular expression finds: PATTERN=matrix or PATTERN=aux, with a
    /// learning-rate factor as in PATTERN=aux:0.5; may be given several times
    #[arg(long, value_name = "CHOICE", help_heading = "Optimizer")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    group: Vec<String>,
    /// The number of steps [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Course")]
    steps: Option<u64>,
    /// Sequences per batch [default: 16]
    #[arg(long, value_name = "N", help_heading = "Course")]
    batch: Option<usize>,
    /// Tokens per sequence [default: the model's context; 128 for a named model]
    #[arg(long, value_name = "N", help_heading = "Course")]
    context: Option<usize>,
    /// Batches per step [default: 1]
    #[arg(long, value_name = "N", help_heading = "Course")]
    accumulate: Option<u64>,
    /// Steps over which the learning rate rises [default: a tenth of the steps]
    #[arg(long, value_name = "N", help_heading = "Course")]
    warmup: Option<u64>,
    /// How it falls afterwards: cosine, linear or constant [default: cosine]
    #[arg(long, value_name = "NAME", help_heading = "Course")]
    schedule: Option<Decay>,
    /// The share of the highest learning rate that it falls to [default: 0.1]
    #[arg(long, value_name = "SHARE", help_heading = "Course", value_parser = finite)]
    floor: Option<f32>,
    /// The norm that gradients are scaled down to; 0 leaves them [default: 1]
    #[arg(long, value_name = "NORM", help_heading = "Course", value_parser = finite)]
    clip: Option<f32>,
    /// Steps between measurements on held-out text; 0 for none [default: 100]
    #[arg(long, value_name = "N", help_heading = "Course")]
    eval_every: Option<u64>,
    /// Batches per measurement [default: 16]
    #[arg(long, value_name = "N", help_heading = "Course")]
    eval_batches: Option<u64>,
    /// Steps between samples of the model's writing; 0 for none [default: 0]
    #[arg(long, value_name = "N", help_heading = "Course")]
    sample_every: Option<u64>,
    /// Steps between checkpoints; 0 for the last only [default: 500]
    #[arg(long, value_name = "N", help_heading = "Course")]
    save_every: Option<u64>,
    /// How many checkpoints to keep [default: 2]
    #[arg(long, value_name = "N", help_heading = "Course")]
    keep: Option<usize>,
    /// Seed of every random draw [default: 0]
    #[arg(long, value_name = "N", help_heading = "Course")]
    seed: Option<u64>,
    /// Where the model runs: cpu, cuda:N or wgpu [default: cpu]
    #[arg(long, value_name = "DEVICE", help_heading = "Course")]
    device: Option<String>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Everything that a run is told, as `run.json` keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub model: String,
    pub data: Option<String>,
    pub tokenizer: Option<String>,
    pub optimizer: String,
    pub aux: Option<String>,
    pub lr: f32,
    pub beta1: Option<f32>,
    pub beta2: Option<f32>,
    pub momentum: Option<f32>,
    pub weight_decay: Option<f32>,
    pub ns_steps: Option<usize>,
    pub orthogonalizer: Option<String>,
    pub orth_every: Option<usize>,
    pub split_fused: bool,
    pub rms: Option<String>,
    pub projections: Option<usize>,
    pub state: Option<String>,
    pub router_as_matrix: bool,
    pub group: Vec<String>,
    pub steps: u64,
    pub batch: usize,
    pub context: Option<usize>,
    pub accumulate: u64,
    pub warmup: Option<u64>,
    pub schedule: Decay,
    pub floor: f32,
    pub clip: f32,
    pub eval_every: u64,
    pub eval_batches: u64,
    pub sample_every: u64,
    pub save_every: u64,
    pub keep: usize,
    pub seed: u64,
    pub device: String,
    /// The fingerprint of the text as tokens, once it was read.
    pub corpus: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        let TrainConfig { steps, schedule, accumulate, eval_every, eval_batches, .. } =
            TrainConfig::default();
        let TrainConfig { sample_every, save_every, keep, seed, .. } = TrainConfig::default();
        Self {
            model: "gpt2-micro".into(),
            data: None,
            tokenizer: None,
            optimizer: "olion".into(),
            aux: None,
            lr: schedule.peak,
            beta1: None,
            beta2: None,
            momentum: None,
            weight_decay: None,
            ns_steps: None,
            orthogonalizer: None,
            orth_every: None,
            split_fused: false,
            rms: None,
            projections: None,
            state: None,
            router_as_matrix: false,
            group: Vec::new(),
            steps,
            batch: 16,
            context: None,
            accumulate,
            warmup: None,
            schedule: schedule.decay,
            floor: schedule.floor,
            clip: 1.0,
            eval_every,
            eval_batches,
            sample_every,
            save_every,
            keep,
            seed,
            device: "cpu".into(),
            corpus: None,
        }
    }
}

/// What a run cannot change on its way without becoming another run.
///
/// The text is held to its fingerprint instead, wherever it lies.
const FIXED: [&str; 6] = ["model", "tokenizer", "batch", "context", "accumulate", "seed"];

impl Settings {
    /// Whether the folder holds the settings of a run.
    pub fn exist(out: &Path) -> bool {
        out.join(FILE).exists()
    }

    /// The settings of a run: what was chosen now, else what its folder remembers, else the usual.
    ///
    /// # Errors
    /// A folder that holds a run already, or none to go on with; a choice that a run cannot change.
    pub fn of(out: &Path, resume: bool, choices: &Choices) -> Result<Self> {
        let file = out.join(FILE);
        let internal = |error: serde_json::Error| Error::internal(error.to_string());
        let saved = if resume { Some(Self::read(&file)?) } else { None };
        if !resume && (file.exists() || CheckpointStore::new(out).latest()?.is_some()) {
            return Err(Error::usage("this folder holds a run already").in_file(out).help(
                format!(
                    "`metier train --resume --out {}` goes on with it; a new run needs a new --out",
                    out.display()
                ),
            ));
        }
        let base = saved.clone().unwrap_or_default();
        let mut merged = serde_json::to_value(&base).map_err(internal)?;
        let chosen = serde_json::to_value(choices).map_err(internal)?;
        if let (Value::Object(merged), Value::Object(chosen)) = (&mut merged, chosen) {
            for (field, value) in chosen.into_iter().filter(|(_, value)| !value.is_null()) {
                let before = merged.get(&field).unwrap_or(&Value::Null);
                if saved.is_some() && FIXED.contains(&field.as_str()) && *before != value {
                    let flag = format!("--{field}");
                    return Err(Error::usage(format!(
                        "the run was started with {before} and cannot go on with {value}"
                    ))
                    .in_field(flag)
                    .help("start a new run with another --out"));
                }
                merged.insert(field, value);
            }
        }
        let mut settings: Self = serde_json::from_value(merged).map_err(internal)?;
        if settings.optimizer == "muon-jordan" && choices.lr.is_none() && saved.is_none() {
            return Err(Error::usage("muon-jordan has no usual rate for a whole model")
                .in_field("--lr")
                .help(
                    "its matrices were published with 0.02; everything else takes the same rate, \
                     or a part of it: --lr 0.02 --group 'wte|wpe|ln_|bias=aux:0.03'",
                ));
        }
        // A run may be gone on with from another folder.
        if let Some(path) =
            settings.data.as_ref().and_then(|data| Path::new(data).canonicalize().ok())
        {
            settings.data = Some(path.display().to_string());
        }
        Ok(settings)
    }

    /// Settles the length of sequences for a model.
    ///
    /// # Errors
    /// Sequences longer than the model's context.
    pub fn fit(&mut self, model: &DecoderConfig) -> Result<()> {
        let context = self.context.unwrap_or(model.context);
        if context > model.context {
            return Err(Error::usage(format!(
                "{context} tokens are more than the model's context of {}",
                model.context
            ))
            .in_field("--context"));
        }
        self.context = Some(context);
        Ok(())
    }

    /// Remembers the text that was read.
    ///
    /// # Errors
    /// Another text, or another tokenizer's view of it, than the run began with.
    pub fn meet(&mut self, corpus: &Corpus) -> Result<()> {
        let found = corpus.fingerprint();
        if self.corpus.as_ref().is_some_and(|begun_with| *begun_with != found) {
            return Err(Error::input(format!(
                "{} has changed since the run began",
                self.data.as_deref().unwrap_or_default()
            ))
            .in_field("--data")
            .help(
                "bring the text back as it was; to go on with another, start a new run with \
                 --model set to the checkpoint",
            ));
        }
        self.corpus = Some(found);
        Ok(())
    }

    fn read(file: &Path) -> Result<Self> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::missing("there is no run to go on with")
                    .in_file(file.parent().unwrap_or(file))
                    .help("leave out --resume to start one"));
            }
            Err(error) => return Err(Error::io(file, error)),
        };
        serde_json::from_str(&text).map_err(|error| Error::input(error.to_string()).in_file(file))
    }

    /// Writes the settings to the run's folder.
    ///
    /// # Errors
    /// An I/O error that names the file.
    pub fn write(&self, out: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::internal(error.to_string()))?;
        files::write_bytes(&out.join(FILE), format!("{text}\n").as_bytes())
    }

    /// The settings of the trainer.
    pub fn train_config(&self) -> TrainConfig {
        TrainConfig {
            steps: self.steps,
            schedule: Schedule {
                peak: self.lr,
                warmup: self.warmup.unwrap_or(self.steps / 10),
                decay: self.schedule,
                floor: self.floor,
            },
            clip: (self.clip != 0.0).then_some(self.clip),
            accumulate: self.accumulate,
            eval_every: self.eval_every,
            eval_batches: self.eval_batches,
            sample_every: self.sample_every,
            save_every: self.save_every,
            keep: self.keep,
            seed: self.seed,
        }
    }

    /// How text is cut for a model of this shape.
    pub fn loader(&self, model: &DecoderConfig) -> LoaderConfig {
        LoaderConfig {
            batch: self.batch,
            context: self.context.unwrap_or(model.context),
            seed: self.seed,
            shuffle: true,
        }
    }

    /// Where the text is: a path, or a data set by name.
    ///
    /// # Errors
    /// No data; a data set that is not there, with the command that gets it.
    pub fn data_path(&self) -> Result<PathBuf> {
        let data = self.data.as_deref().ok_or_else(|| {
            Error::usage("there is nothing to train on")
                .in_field("--data")
                .help("a text file, a folder of .txt files, or the name of a data set")
        })?;
        text_path(data)
    }
}
