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

/// The script with those programs in the place of the real ones.
fn tests_run(place: &Path) -> Command {
    let mut command = Command::new("bash");
    command
        .args(["-c", "PATH=\"$1:$PATH\" exec tests/run $2", "-"])
        .arg(place)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("TMPDIR", place)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
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
    let run = tests_run(place.path()).env("JOBDOCTOR_BEGUN", &begun).spawn().unwrap();
    until("its first step", || begun.exists());
    kill_process_group(Pid::from_child(&run), Signal::TERM).unwrap();
    let ran = Ran::of(run.wait_with_output().unwrap());
    assert!(ran.stdout.contains("tests/run: FAILED at: cargo fmt --check"), "{ran:#?}");
    assert!(!ran.stdout.contains("passed"), "{ran:#?}");
}

/// What is missing is installed beside the first steps, where a failure is easily lost.
#[test]
fn without_what_it_needs_it_has_not_passed() {
    let place = tempfile::tempdir().unwrap();
    let has_no_deny = "case \"$*\" in 'deny --version' | 'install '*) exit 1 ;; esac; exit 0";
    stand_in(place.path(), "cargo", has_no_deny);
    stand_in(place.path(), "apt-get", "exit 0");
    let ran = Ran::of(tests_run(place.path()).arg("--nightly").output().unwrap());
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stdout.contains("tests/run: FAILED at: finish_installing"), "{ran:#?}");
    assert!(ran.stdout.contains("install_deny"), "it says what it was at: {ran:#?}");
}
