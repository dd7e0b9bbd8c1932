//! What `tests/run` says of itself is true however it ends.

use crate::support::cli::{Ran, until};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Puts a program of that name in the place of the real one.
fn stand_in(place: &Path, name: &str, script: &str) {
    let path = place.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A signal leaves the status of the step before, and that one was fine.
#[test]
fn by_a_signal_it_has_not_passed() {
    let place = tempfile::tempdir().unwrap();
    // The first step waits; nothing is installed, whatever is missing here.
    let waits = "[ \"$*\" = 'fmt --check' ] || exit 0; : >\"$JOBDOCTOR_BEGUN\"; exec sleep 60";
    stand_in(place.path(), "cargo", waits);
    stand_in(place.path(), "apt-get", "exit 1");
    let begun = place.path().join("begun");
    let run = Command::new("bash")
        .args(["-c", "PATH=\"$1:$PATH\" exec tests/run", "-"])
        .arg(place.path())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("JOBDOCTOR_BEGUN", &begun)
        .env("TMPDIR", place.path())
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("its first step", || begun.exists());
    kill_process_group(Pid::from_child(&run), Signal::TERM).unwrap();
    let ran = Ran::of(run.wait_with_output().unwrap());
    assert!(ran.stdout.contains("tests/run: FAILED at: cargo fmt --check"), "{ran:#?}");
    assert!(!ran.stdout.contains("passed"), "{ran:#?}");
}
