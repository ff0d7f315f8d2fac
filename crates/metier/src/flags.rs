//! Flags that several verbs share.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
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

/// A finite number: choices are kept as JSON, which has no other.
pub fn finite(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err("the number is not finite".into()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_hold_an_equals_sign() {
        let data: NamedPath = "sotu=a=b.txt".parse().unwrap();
        assert_eq!((data.name.as_str(), data.path), ("sotu", PathBuf::from("a=b.txt")));
        for wrong in ["sotu", "=x", "sotu="] {
            assert!(wrong.parse::<NamedPath>().unwrap_err().contains("NAME=PATH"), "{wrong}");
        }
    }
}
