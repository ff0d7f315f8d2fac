//! Flags that several verbs share.

use clap::{Args, ValueEnum};
use metier_core::Result;
use metier_data::registry;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    // Explained at `--format`: an explanation here would stretch every help page.
    #[default]
    Text,
    Json,
}

/// `--seed`, for verbs that draw random numbers.
#[derive(Args, Clone, Copy, Debug)]
pub struct Seed {
    /// Seed of every random draw
    #[arg(long, default_value_t = 0, value_name = "N", allow_negative_numbers = true)]
    pub seed: u64,
}

/// `--device`, for verbs that run neural networks.
#[derive(Args, Clone, Copy, Debug)]
pub struct OnDevice {
    /// Where neural networks run: cpu, cuda:N or wgpu
    #[arg(long, default_value = "cpu", value_name = "DEVICE")]
    pub device: Device,
}

/// Where neural networks run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// The CUDA device of this number.
    Cuda(usize),
    /// Whatever graphics device WebGPU finds.
    Wgpu,
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok();
        match text {
            "cpu" => Some(Device::Cpu),
            "wgpu" => Some(Device::Wgpu),
            "cuda" => Some(Device::Cuda(0)),
            other => other.strip_prefix("cuda:").and_then(number).map(Device::Cuda),
        }
        .ok_or_else(|| "it is one of `cpu`, `cuda:0` and `wgpu`".into())
    }
}

/// `NAME=PATH`: a data set taken from a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    /// The name of the data set.
    pub name: String,
    /// Where its files lie.
    pub path: PathBuf,
}

impl FromStr for NamedPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => {
                Ok(Self { name: name.into(), path: path.into() })
            }
            _ => Err("it has the form NAME=PATH, such as sotu=speeches/".into()),
        }
    }
}

/// Where the text of `--data` lies: the path itself, or the place of the data set of this name.
///
/// # Errors
/// A data set that is not here, with the command that gets it.
pub fn text_path(data: &str) -> Result<PathBuf> {
    let path = Path::new(data);
    if path.exists() || registry::find(data).is_err() {
        return Ok(path.to_owned());
    }
    registry::text(data, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices() {
        assert_eq!("cpu".parse(), Ok(Device::Cpu));
        assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
        assert_eq!("cuda:3".parse(), Ok(Device::Cuda(3)));
        assert_eq!("wgpu".parse(), Ok(Device::Wgpu));
        for wrong in ["", "gpu", "cuda:", "cuda:-1", "cuda:x"] {
            assert!(wrong.parse::<Device>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_path_may_hold_an_equals_sign() {
        let data: NamedPath = "sotu=a=b.txt".parse().unwrap();
        assert_eq!((data.name.as_str(), data.path), ("sotu", PathBuf::from("a=b.txt")));
        for wrong in ["sotu", "=x", "sotu="] {
            assert!(wrong.parse::<NamedPath>().unwrap_err().contains("NAME=PATH"), "{wrong}");
        }
    }
}
