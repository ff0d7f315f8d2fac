//! Pulling through clients that the tests write themselves, and archives that mean harm.

use super::dataset::{DataSet, Source};
use super::store::sha256;
use super::unpack::{Format, contained, unpack};
use super::{Store, catalogue, find};
use metier_core::{Error, Progress, Silent};
use proptest::prelude::*;
use std::collections::HashSet;
use std::fs;
use std::io::{Cursor, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// A home, a shared folder and a folder of clients, all empty.
struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "shared", "bin", "index"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn store(&self) -> Store {
        // The clients are shell scripts, which need the usual tools.
        let search = std::env::join_paths([self.path("bin"), "/usr/bin".into(), "/bin".into()]);
        Store::new(&self.path("home"), Some(&self.path("shared")), search.unwrap())
    }

    /// A store whose search path has nothing on it but the clients of this test.
    fn bare_store(&self) -> Store {
        Store::new(&self.path("home"), None, self.path("bin"))
    }

    fn client(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Puts a package into the index and a `pip` that brings it, counting its calls.
    fn pip_with(&self, package: &[u8]) -> String {
        let stored = self.path("index/toy-1.0-py3-none-any.whl");
        fs::write(&stored, package).unwrap();
        let calls = self.path("calls");
        self.client(
            "pip",
            &format!("echo \"$@\" >> {}\nsleep 0.2\ncp {} .", calls.display(), stored.display()),
        );
        sha256(&stored, &Silent).unwrap()
    }

    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// What lies in the store, lock files aside.
    fn kept(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path("home/data")) else { return Vec::new() };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".lock")).collect()
    }
}

fn toy(source: Source, sha256: &str) -> DataSet {
    DataSet {
        name: "toy",
        holds: "two files",
        source,
        version: "1.0",
        licence: "CC0",
        sha256: Box::leak(sha256.to_owned().into_boxed_str()),
        root: "toy/data",
        inner: None,
        text: None,
        files: &[],
        embedded: &[],
        used_by: &[],
    }
}

fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn wheel() -> Vec<u8> {
    zip_of(&[
        ("toy/__init__.py", b"print('never run')"),
        ("toy/data/a.csv", b"x\n1\n"),
        ("toy/data/deep/b.csv", b"x\n2\n"),
    ])
}

/// A tar archive written byte by byte, as no honest library would write these names.
fn tar_of(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, kind, content) in entries {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = *kind;
        header[157..168].copy_from_slice(b"/etc/passwd");
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.extend(header);
        out.extend(*content);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(content).unwrap();
    out.finish().unwrap()
}

#[test]
fn a_pulled_set_is_found_verified_and_not_pulled_again() {
    let world = World::new();
    let set = toy(Source::Pip("toy"), &world.pip_with(&wheel()));
    let store = world.store();
    let error = store.path(&set, None).unwrap_err();
    assert_eq!(error.to_string(), "the data set `toy` is not here");
    assert_eq!(error.help_text(), Some("run `metier data pull toy`, or pass --data toy=PATH"));
    assert_eq!(error.exit_code(), 3);

    let path = store.pull(&set, &Silent).unwrap();
    assert_eq!(fs::read(path.join("deep/b.csv")).unwrap(), b"x\n2\n");
    assert!(!path.join("__init__.py").exists());
    assert_eq!(store.pull(&set, &Silent).unwrap(), path);
    assert_eq!(store.path(&set, None).unwrap(), path);
    assert_eq!(store.file(&set, "a.csv", None).unwrap(), path.join("a.csv"));
    assert_eq!(store.verify(&set, &Silent).unwrap(), 2);
    assert_eq!(
        world.calls(),
        ["download --disable-pip-version-check --no-input --no-deps --only-binary=:all: --dest . \
          toy==1.0"]
    );
    assert_eq!(world.kept(), ["toy-1.0"]);
}

#[test]
fn a_wrong_sum_unpacks_nothing() {
    let world = World::new();
    let sum = world.pip_with(&wheel());
    let set = toy(Source::Pip("toy"), &"0".repeat(64));
    let error = world.store().pull(&set, &Silent).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("Python package toy 1.0 has the SHA-256 {sum}, where {} is right", "0".repeat(64))
    );
    assert_eq!(
        error.help_text(),
        Some("nothing was unpacked: the package is not the one that this program knows")
    );
    assert_eq!(error.exit_code(), 3);
    assert!(world.kept().is_empty());
}

#[test]
fn a_missing_client_is_named() {
    let world = World::new();
    for (source, client, cure) in [
        (Source::Pip("toy"), "pip", "Python with pip"),
        (Source::Npm("toy"), "npm", "Node.js with npm"),
        (Source::Apt("toy"), "apt-get", "the package tools of Debian"),
    ] {
        let error = world.bare_store().pull(&toy(source, ""), &Silent).unwrap_err();
        assert_eq!(error.to_string(), format!("the program `{client}` is not on the search path"));
        let help = format!("install {cure}, or pass the data by --data where they lie already");
        assert_eq!(error.help_text(), Some(help.as_str()));
        assert_eq!(error.exit_code(), 3);
        assert!(world.kept().is_empty());
    }
}

#[test]
fn python_itself_stands_in_for_pip() {
    let world = World::new();
    let sum = world.pip_with(&wheel());
    fs::rename(world.path("bin/pip"), world.path("bin/python3")).unwrap();
    // `cp` and `sleep` must be found, and no pip of this machine.
    for tool in ["cp", "sleep"] {
        let found = ["/bin", "/usr/bin"].iter().map(|f| Path::new(f).join(tool));
        let found = found.into_iter().find(|path| path.exists()).unwrap();
        symlink(found, world.path("bin").join(tool)).unwrap();
    }
    world.bare_store().pull(&toy(Source::Pip("toy"), &sum), &Silent).unwrap();
    assert!(world.calls()[0].starts_with("-m pip download "), "{:?}", world.calls());
}

#[test]
fn a_client_that_fails_is_quoted_and_cleaned_up_after() {
    let world = World::new();
    world.client("npm", "touch half.tgz\necho 'npm error 404 Not Found' >&2\nexit 1");
    let error = world.store().pull(&toy(Source::Npm("toy"), ""), &Silent).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`npm pack --ignore-scripts toy@1.0` failed: npm error 404 Not Found"
    );
    assert_eq!(error.exit_code(), 3);
    world.client("apt-get", "exit 0");
    let error = world.store().pull(&toy(Source::Apt("toy"), ""), &Silent).unwrap_err();
    assert_eq!(error.to_string(), "`apt-get download toy=1.0` brought no file");
    assert!(world.kept().is_empty());
}

#[test]
fn two_at_once_bring_it_once() {
    let world = World::new();
    let set = toy(Source::Pip("toy"), &world.pip_with(&wheel()));
    let paths: Vec<PathBuf> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..4).map(|_| scope.spawn(|| world.store().pull(&set, &Silent).unwrap())).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert!(paths.iter().all(|path| path == &paths[0]));
    assert_eq!(world.calls().len(), 1);
    assert_eq!(world.kept(), ["toy-1.0"]);
}

#[test]
fn what_a_killed_pull_left_is_swept() {
    let world = World::new();
    let set = toy(Source::Pip("toy"), &world.pip_with(&wheel()));
    let stale = world.path("home/data/.pull-toy-dead");
    fs::create_dir_all(stale.join("content")).unwrap();
    world.store().pull(&set, &Silent).unwrap();
    assert!(!stale.exists());
}

/// Asks to stop once the client has begun.
struct Stopping {
    begun: PathBuf,
    asked: AtomicBool,
}

impl Progress for Stopping {
    fn begin(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
    fn message(&self, _: &str) {}
    fn finish(&self) {}
    fn interrupted(&self) -> bool {
        if self.begun.exists() {
            self.asked.store(true, Ordering::Relaxed);
        }
        self.asked.load(Ordering::Relaxed)
    }
}

#[test]
fn a_stop_ends_the_client_and_leaves_nothing() {
    let world = World::new();
    let begun = world.path("begun");
    // `exec` makes the sleeper the child itself: were it not ended, the test would hang.
    world.client("pip", &format!("touch {}\nexec sleep 600", begun.display()));
    let stopping = Stopping { begun, asked: AtomicBool::new(false) };
    let error = world.store().pull(&toy(Source::Pip("toy"), ""), &stopping).unwrap_err();
    assert_eq!(error.exit_code(), 130);
    assert!(world.kept().is_empty());
}

#[test]
fn npm_packages_unpack_from_tar_gz() {
    let world = World::new();
    let package = gzip(&tar_of(&[
        ("toy/", b'5', b""),
        ("toy/data/", b'5', b""),
        ("toy/data/a.txt", b'0', b"hello"),
        ("toy/readme.md", b'0', b"no"),
    ]));
    let stored = world.path("index/toy-1.0.tgz");
    fs::write(&stored, package).unwrap();
    world.client("npm", &format!("cp {} .", stored.display()));
    let set = toy(Source::Npm("toy"), &sha256(&stored, &Silent).unwrap());
    let path = world.store().pull(&set, &Silent).unwrap();
    assert_eq!(fs::read_to_string(path.join("a.txt")).unwrap(), "hello");
    assert_eq!(world.store().verify(&set, &Silent).unwrap(), 1);
}

#[test]
fn debian_packages_unpack_through_their_own_tool() {
    let world = World::new();
    let tar = tar_of(&[("./toy/data/a.txt", b'0', b"hello")]);
    let stored = world.path("index/toy_1.0_all.deb");
    fs::write(&stored, tar).unwrap();
    world.client("apt-get", &format!("cp {} .", stored.display()));
    world.client("dpkg-deb", "cat \"$2\"");
    let set = toy(Source::Apt("toy"), &sha256(&stored, &Silent).unwrap());
    let path = world.store().pull(&set, &Silent).unwrap();
    assert_eq!(fs::read_to_string(path.join("a.txt")).unwrap(), "hello");
}

#[test]
fn an_archive_inside_is_unpacked_in_its_turn() {
    let world = World::new();
    let model = zip_of(&[("model.safetensors", b"weights"), ("1_Pooling/config.json", b"{}")]);
    let sum = world.pip_with(&zip_of(&[("toy/data/model.zip", &model)]));
    let set = DataSet { inner: Some("model.zip"), ..toy(Source::Pip("toy"), &sum) };
    let path = world.store().pull(&set, &Silent).unwrap();
    assert!(path.join("1_Pooling/config.json").is_file());
    assert!(!path.join("model.zip").exists());
}

#[test]
fn a_file_that_should_be_another_is_refused() {
    let world = World::new();
    let sum = world.pip_with(&wheel());
    let set = DataSet { files: &[("a.csv", "abc")], ..toy(Source::Pip("toy"), &sum) };
    let error = world.store().pull(&set, &Silent).unwrap_err();
    assert!(error.to_string().starts_with("a.csv: has the SHA-256 "), "{error}");
    assert!(world.kept().is_empty());
}

#[test]
fn verify_finds_what_was_changed_removed_or_added() {
    let world = World::new();
    let set = toy(Source::Pip("toy"), &world.pip_with(&wheel()));
    let store = world.store();
    let path = store.pull(&set, &Silent).unwrap();
    let again = format!("remove {} and pull again", path.display());
    let right = sha256(&path.join("a.csv"), &Silent).unwrap();
    let check = |message: String| {
        let error = store.verify(&set, &Silent).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(error.help_text(), Some(again.as_str()));
    };
    let file = path.join("a.csv");
    fs::write(&file, "").unwrap();
    check(format!(
        "{}: has the SHA-256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855, \
         where {right} is right",
        file.display()
    ));
    fs::remove_file(&file).unwrap();
    check(format!("{}: is gone", file.display()));
    fs::write(&file, "x\n1\n").unwrap();
    fs::write(path.join("extra"), "").unwrap();
    check(format!("{}: was not there when the set was pulled", path.join("extra").display()));
}

#[test]
fn public_sets_come_from_the_shared_folder_or_by_path() {
    let world = World::new();
    let set = find("california-housing").unwrap();
    let store = world.store();
    let error = store.path(set, None).unwrap_err();
    assert_eq!(error.to_string(), "the data set `california-housing` is not here");
    let help = "it lies in the public repository ageron/handson-ml \
                (datasets/housing/housing.csv); pass --data california-housing=PATH, or set \
                METIER_SHARED to a folder that holds california-housing/housing.csv";
    assert_eq!(error.help_text(), Some(help));
    let error = store.pull(set, &Silent).unwrap_err();
    assert_eq!(error.to_string(), "no package holds the data set `california-housing`");
    assert_eq!(error.exit_code(), 3);

    let folder = world.path("shared/california-housing");
    fs::create_dir(&folder).unwrap();
    let error = store.file(set, "housing.csv", None).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: has no file `housing.csv`", folder.display()));
    let file = folder.join("housing.csv");
    fs::write(&file, "not the houses").unwrap();
    assert_eq!(store.file(set, "housing.csv", None).unwrap(), file);
    assert_eq!(store.file(set, "housing.csv", Some(&file)).unwrap(), file);
    assert_eq!(store.file(set, "housing.csv", Some(&folder)).unwrap(), file);
    let error = store.verify(set, &Silent).unwrap_err();
    assert!(error.message().starts_with("has the SHA-256 "), "{error}");
    let error = store.path(set, Some(Path::new("/nowhere"))).unwrap_err();
    assert_eq!(error.exit_code(), 3);
}

#[test]
fn a_text_that_is_there_whole_and_in_parts_is_read_once() {
    let world = World::new();
    let (store, novel) = (world.store(), find("moby-dick").unwrap());
    let folder = world.path("shared/moby-dick");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("chapter_1.txt"), "Call me Ishmael.").unwrap();
    let error = store.text(novel, None).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: has no file `data.txt`", folder.display()));
    fs::write(folder.join("data.txt"), "Call me Ishmael.").unwrap();
    assert_eq!(store.text(novel, None).unwrap(), folder.join("data.txt"));
    let addresses = world.path("shared/sotu");
    fs::create_dir(&addresses).unwrap();
    assert_eq!(store.text(find("sotu").unwrap(), None).unwrap(), addresses);
}

#[test]
fn embedded_sets_are_written_out() {
    let world = World::new();
    let set = find("gbsg2").unwrap();
    assert_eq!(world.bare_store().verify(set, &Silent).unwrap(), 1);
    let path = world.bare_store().pull(set, &Silent).unwrap();
    let frame = crate::read::frame(&path.join("gbsg2.csv")).unwrap();
    assert_eq!(frame, crate::embedded::gbsg2().unwrap());
}

#[test]
fn the_catalogue_is_in_order() {
    let mut names = HashSet::new();
    for set in catalogue() {
        assert!(names.insert(set.name), "{} is there twice", set.name);
        assert!(!set.holds.is_empty() && !set.licence.is_empty(), "{}", set.name);
        let is_package = matches!(set.source, Source::Pip(_) | Source::Npm(_) | Source::Apt(_));
        assert_eq!(set.sha256.len(), if is_package { 64 } else { 0 }, "{}", set.name);
        assert_eq!(set.embedded.is_empty(), set.source != Source::Embedded, "{}", set.name);
        assert!(set.files.iter().all(|(_, sum)| sum.len() == 64), "{}", set.name);
    }
}

/// The list of sums in `data/SOURCES.md` is the one that readers of the repository check.
#[test]
fn the_embedded_files_are_those_of_the_sources_page() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let page = fs::read_to_string(data.join("SOURCES.md")).unwrap();
    let listed: Vec<(&str, &str)> =
        page.lines().filter_map(|line| line.split_once("  ")).filter(|l| l.0.len() == 64).collect();
    let embedded: Vec<_> = catalogue().iter().flat_map(|set| set.embedded).collect();
    assert_eq!(listed.len(), embedded.len());
    for file in embedded {
        let found = sha256(&data.join(file.name), &Silent).unwrap();
        assert!(listed.contains(&(found.as_str(), file.name)), "{} {found}", file.name);
        assert_eq!(fs::read(data.join(file.name)).unwrap(), file.bytes, "{}", file.name);
    }
}

/// Unpacks hostile bytes and returns the error, having made sure that nothing lies outside.
fn hostile(archive: &[u8], format: Format) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.pkg");
    fs::write(&path, archive).unwrap();
    let target = folder.path().join("deep/target");
    fs::create_dir_all(&target).unwrap();
    let error = unpack(&path, format, "", &target).unwrap_err();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    assert_eq!(fs::read_dir(folder.path().join("deep")).unwrap().count(), 1);
    error
}

#[test]
fn hostile_archives_are_refused_whole() {
    for name in ["../evil", "a/../../evil", "/etc/evil", "a\\..\\..\\evil", "C:evil"] {
        let leaves = format!("bad.pkg: the archive holds `{name}`, which would leave its folder");
        assert_eq!(hostile(&zip_of(&[(name, b"x")]), Format::Zip).to_string(), leaves);
        let tar = tar_of(&[(name, b'0', b"x")]);
        assert_eq!(hostile(&tar, Format::Tar).to_string(), leaves);
        assert_eq!(hostile(&gzip(&tar), Format::TarGz).to_string(), leaves);
    }
    // Hard link, symbolic link, character device, pipe.
    for kind in [b'1', b'2', b'3', b'6'] {
        let error = hostile(&tar_of(&[("link", kind, b"")]), Format::Tar);
        assert_eq!(
            error.to_string(),
            "bad.pkg: the archive holds `link`, which is not a plain file"
        );
    }
    let twice = tar_of(&[("a", b'0', b"x"), ("./a", b'0', b"y")]);
    let error = hostile(&twice, Format::Tar);
    assert_eq!(error.to_string(), "bad.pkg: the archive holds `./a` twice");
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("link", "/etc/passwd", zip::write::SimpleFileOptions::default()).unwrap();
    let linked = writer.finish().unwrap().into_inner();
    assert_eq!(
        hostile(&linked, Format::Zip).to_string(),
        "bad.pkg: the archive holds `link`, which is not a plain file"
    );
    for format in [Format::Zip, Format::TarGz] {
        let error = hostile(b"neither zip nor gzip", format);
        assert!(error.message().starts_with("the archive is damaged: "), "{error}");
    }
    let error = hostile(&zip_of(&[]), Format::Zip);
    assert_eq!(error.to_string(), "bad.pkg: holds no files below ``");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever an entry is called, its place is inside the folder or nowhere.
    #[test]
    fn no_name_leaves_the_folder(name in r"([./\\:~a\x00]|\.\.|/){0,12}") {
        if let Some(inside) = contained(&name) {
            prop_assert!(inside.is_relative());
            let mut depth = 0i32;
            for part in inside.iter() {
                depth += if part == ".." { -1 } else { 1 };
                prop_assert!(depth > 0);
            }
            prop_assert!(Path::new("/base").join(&inside).starts_with("/base"));
        }
    }

    /// Whatever names an archive holds, unpacking writes below its folder only.
    #[test]
    fn unpacking_never_escapes(names in proptest::collection::vec(r"(\.\.|[a-c]|/|\.){1,8}", 1..4)) {
        let folder = tempfile::tempdir().unwrap();
        let entries: Vec<(&str, u8, &[u8])> =
            names.iter().map(|name| (name.as_str(), b'0', &b"x"[..])).collect();
        let path = folder.path().join("bad.tar");
        fs::write(&path, tar_of(&entries)).unwrap();
        let target = folder.path().join("deep/target");
        fs::create_dir_all(&target).unwrap();
        let _ = unpack(&path, Format::Tar, "", &target);
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        prop_assert_eq!(fs::read_dir(folder.path().join("deep")).unwrap().count(), 1);
    }
}
