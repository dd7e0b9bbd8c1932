//! Who sets the environment or owns the working directory can lead the program to another database, and no further: no variable
//! has it write, what the command line says stands, and no file or program of the directory is read or run.

use crate::cli::scene::{STATE, incident};
use jobdoctor::cli::VARIABLES;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Whatever the variables hold, `--apply` is a word of the command line alone.
#[test]
fn no_variable_writes() {
    let invented = ["JOBDOCTOR_APPLY", "JOBDOCTOR_MAX_JOBS", "JOBDOCTOR_TO", "JOBDOCTOR_OLDER", "JOBDOCTOR_BRAKE"];
    for value in ["1", "true", "--apply", ""] {
        let mut doctor = incident();
        for name in VARIABLES.iter().map(|(name, _)| *name).chain(invented) {
            // Those that name a file, a target or a shell would be an error, and are the matter of the next test.
            if !["_DB", "CONFIG", "_TARGET", "_FILE", "HOME", "_COMPLETE"].iter().any(|end| name.ends_with(end)) {
                doctor = doctor.env(name, value);
            }
        }
        let before = doctor.rows(STATE);
        doctor.run(&["reclaim", "--db", "queue.db", "-o", "json"]).exits(0);
        doctor.run(&["sweep", "--db", "queue.db", "-o", "json"]).exits(0);
        assert_eq!(doctor.rows(STATE), before, "{value}");
    }
}

#[test]
fn the_command_line_names_the_database() {
    let doctor = incident();
    fs::copy(doctor.path("queue.db"), doctor.path("other.db")).unwrap();
    fs::write(
        doctor.path("evil.toml"),
        "default_target = 'evil'\n[target.evil]\ndb = 'other.db'\nolder = '1s'\nbrake = false\n",
    )
    .unwrap();
    let mut doctor = doctor;
    for (name, value) in [
        ("JOBDOCTOR_DB", "other.db"),
        ("DATABASE_URL", "other.db"),
        ("JOBDOCTOR_CONFIG", "evil.toml"),
        ("PGHOST", "127.0.0.1"),
        ("PGDATABASE", "other"),
        ("PGSERVICE", "evil"),
    ] {
        doctor = doctor.env(name, value);
    }
    let before = doctor.rows_in("other.db", STATE);
    let done = doctor.run(&["reclaim", "--apply", "--db", "queue.db", "-o", "json"]).exits(0).json();
    assert_eq!((&done["summary"]["outcomes"]["moved"], &done["target"]["name"]), (&5.into(), &serde_json::Value::Null));
    assert_eq!(doctor.rows_in("other.db", STATE), before);
}

/// Programs that a tool like this could run, and files that it could read, in the working directory and first in the path.
#[test]
fn nothing_of_the_working_directory_is_run_or_read() {
    let doctor = incident().env("PAGER", "./less").env("EDITOR", "./vi").env("BROWSER", "./less").env("SHELL", "./sh");
    let doctor = doctor.env("PATH", ".").env("LESSOPEN", "|./less %s").env("MANPAGER", "./less");
    for name in
        ["sh", "bash", "less", "more", "man", "vi", "psql", "sqlite3", "hostname", "ps", "id", "sudo", "git", "kubectl"]
    {
        fs::write(doctor.path(name), format!("#!/bin/bash\n/usr/bin/touch {}\n", doctor.path("PWNED").display()))
            .unwrap();
        fs::set_permissions(doctor.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for name in [
        "config.toml",
        "jobdoctor.toml",
        ".jobdoctor.toml",
        "lease.toml",
        ".env",
        ".pgpass",
        ".pg_service.conf",
        "lease",
    ] {
        fs::write(doctor.path(name), "this would be an error ] wherever it was read\n").unwrap();
    }
    fs::create_dir(doctor.path("jobdoctor")).unwrap();
    fs::write(doctor.path("jobdoctor/config.toml"), "this too ]").unwrap();
    for arguments in [
        &["stale", "--db", "queue.db"][..],
        &["stale", "--preset", "lease", "--db", "queue.db"],
        &["owners", "--db", "queue.db"],
        &["check", "--db", "queue.db"],
        &["env", "--db", "queue.db"],
        &["presets", "show", "lease"],
        &["help", "recipes"],
        &["man", "stale"],
        &["reclaim", "--apply", "--db", "queue.db"],
        &["history"],
    ] {
        doctor.run(arguments).exits(0);
    }
    assert!(!doctor.path("PWNED").exists());
    // The trap works for who steps into it.
    std::process::Command::new(doctor.path("less")).status().unwrap();
    assert!(doctor.path("PWNED").exists());
}
