//! `metier data`, as a user runs it.

use assert_cmd::Command;
use std::path::Path;

fn metier(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metier"));
    command.args(args).env("METIER_HOME", home).env_remove("METIER_SHARED");
    command
}

#[test]
fn the_list_says_what_is_here_and_where_the_rest_comes_from() {
    let home = tempfile::tempdir().unwrap();
    let output = metier(home.path(), &["data", "list", "--format", "json"]).output().unwrap();
    assert!(output.status.success());
    let rows: Vec<serde_json::Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!(row("digits")["here"], true);
    let sotu = row("sotu");
    assert_eq!(sotu["here"], false);
    assert_eq!(sotu["sha256"].as_str().unwrap().len(), 64);
    for key in ["holds", "source", "version", "licence"] {
        assert!(!sotu[key].as_str().unwrap().is_empty(), "{key}");
    }
    let text = metier(home.path(), &["data", "list"]).output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(rows.iter().all(|row| text.contains(row["name"].as_str().unwrap())), "{text}");
}

#[test]
fn an_unknown_set_is_answered_with_the_nearest() {
    let home = tempfile::tempdir().unwrap();
    for verb in ["path", "pull"] {
        let output = metier(home.path(), &["data", verb, "sottu"]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(
            error.starts_with("error: no data set `sottu`\n help: did you mean `sotu`?"),
            "{error}"
        );
    }
}

#[test]
fn a_missing_set_names_the_command_that_gets_it() {
    let home = tempfile::tempdir().unwrap();
    let output = metier(home.path(), &["data", "path", "sotu"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(error.contains("metier data pull sotu"), "{error}");
    assert!(output.stdout.is_empty());
}

#[test]
fn what_is_built_in_can_be_checked() {
    let home = tempfile::tempdir().unwrap();
    let output = metier(home.path(), &["data", "verify", "digits"]).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("digits: "));
    let output =
        metier(home.path(), &["data", "verify", "digits", "--format", "json"]).output().unwrap();
    let row: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(row, serde_json::json!({"name": "digits", "files": 1}));
    let output = metier(home.path(), &["data", "verify", "sotu", "digits"]).output().unwrap();
    // One that is missing does not keep the others from being checked.
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stdout).unwrap().contains("digits: "));
}

/// A home, and a search path on which the package clients are scripts of the test.
#[cfg(unix)]
struct World {
    folder: tempfile::TempDir,
}

#[cfg(unix)]
impl World {
    fn new(pip: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(bin.join("pip"), format!("#!/bin/sh\n{pip}\n")).unwrap();
        std::fs::set_permissions(bin.join("pip"), std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    // A child that can be sent signals; what the scripts leave behind lies beside `home`.
    fn start(&self, args: &[&str]) -> std::process::Child {
        let bin = self.path("bin");
        let search = std::env::join_paths([bin.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()]);
        std::process::Command::new(env!("CARGO_BIN_EXE_metier"))
            .args(args)
            .env("METIER_HOME", self.path("home"))
            .env("WORLD", self.folder.path())
            .env("PATH", search.unwrap())
            .env_remove("METIER_SHARED")
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// What lies in the store, lock files aside.
    fn kept(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.path("home/data"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".lock")).collect()
    }
}

#[cfg(unix)]
fn interrupt(child: &std::process::Child) {
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
}

#[cfg(unix)]
fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_client_and_leaves_nothing() {
    // The download has half a package in place; `exec` makes the sleeper the client itself, so that
    // the test would hang if it were not ended.
    let world =
        World::new("head -c 99999 /dev/zero > vader.whl\necho $$ > $WORLD/begun\nexec sleep 600");
    let child = world.start(&["data", "pull", "vader"]);
    let begun = world.path("begun");
    let client = loop {
        match std::fs::read_to_string(&begun) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(output.stdout.is_empty());
    assert!(world.kept().is_empty(), "{:?}", world.kept());
    let alive = std::process::Command::new("kill").args(["-0", &client]).output().unwrap();
    assert!(!alive.status.success(), "the client runs on");
    let path = world.start(&["data", "path", "vader"]).wait_with_output().unwrap();
    assert_eq!(path.status.code(), Some(3));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_wait_for_another_pull() {
    let world = World::new("touch $WORLD/begun\nexec sleep 600");
    let first = world.start(&["data", "pull", "vader"]);
    while !world.path("begun").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::fs::remove_file(world.path("begun")).unwrap();
    let second = world.start(&["data", "pull", "vader"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(!world.path("begun").exists(), "the second did not wait");
    interrupt(&second);
    assert_eq!(second.wait_with_output().unwrap().status.code(), Some(130));
    interrupt(&first);
    assert_eq!(first.wait_with_output().unwrap().status.code(), Some(130));
    assert!(world.kept().is_empty());
}

#[cfg(unix)]
#[test]
fn a_package_with_another_sum_is_refused_before_it_is_unpacked() {
    let world = World::new("cp $WORLD/package.whl vaderSentiment-3.3.2-py2.py3-none-any.whl");
    std::fs::write(world.path("package.whl"), b"PK\x05\x06 not the package").unwrap();
    let output = world.start(&["data", "pull", "vader"]).wait_with_output().unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("error: Python package vaderSentiment 3.3.2 has the SHA-256 ")
            && error.contains(
                "where 3bf1d243b98b1afad575b9f22bc2cb1e212b94ff89ca74f8a23a588d024ea311 is right"
            )
            && error.contains("help: nothing was unpacked"),
        "{error}"
    );
    assert!(output.stdout.is_empty());
    assert!(world.kept().is_empty(), "{:?}", world.kept());
}

#[cfg(unix)]
#[test]
fn two_pulls_at_once_take_turns() {
    // Each client says when it begins and ends: were both inside, a begin would follow a begin.
    let world =
        World::new("echo begin >> $WORLD/log\nsleep 0.2\necho end >> $WORLD/log\ntouch vader.whl");
    let children: Vec<_> = (0..3).map(|_| world.start(&["data", "pull", "vader"])).collect();
    for child in children {
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(3));
    }
    let log = std::fs::read_to_string(world.path("log")).unwrap();
    assert_eq!(log, "begin\nend\n".repeat(3));
    assert!(world.kept().is_empty(), "{:?}", world.kept());

    // A set that can be had without a client: all end well, with the same whole folder.
    let children: Vec<_> = (0..4).map(|_| world.start(&["data", "pull", "mnist-5k"])).collect();
    let said: Vec<String> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
            text(&output.stdout)
        })
        .collect();
    assert!(said.iter().all(|path| *path == said[0]), "{said:?}");
    assert_eq!(world.kept(), ["mnist-5k-1"]);
    let output = world.start(&["data", "verify", "mnist-5k"]).wait_with_output().unwrap();
    assert!(output.status.success() && text(&output.stdout).starts_with("mnist-5k: "));
}
