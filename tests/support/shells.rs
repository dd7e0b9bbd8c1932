//! The shell that people run a script in: psql, as its users have it but for their own start files.

use super::cli::Ran;
use super::postgres::{TestDatabase, USER, binaries};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

/// The program itself, where it lies beside the server's: what Debian puts into everybody's path is a script in Perl that
/// chooses between them, and takes longer than they do.
static PSQL: LazyLock<PathBuf> = LazyLock::new(|| {
    let beside = binaries().join("psql");
    if beside.exists() { beside } else { PathBuf::from("psql") }
});

pub fn psql(database: &TestDatabase, script: &str) -> Ran {
    psql_as(database, USER, script)
}

pub fn psql_as(database: &TestDatabase, role: &str, script: &str) -> Ran {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), script).unwrap();
    let ran = Command::new(&*PSQL)
        .env_clear()
        .env("PATH", path())
        .env("HOME", "/nonexistent")
        .args(["-X", "-v", "ON_ERROR_STOP=1", "-U", role, "-d", database.name(), "-h"])
        .arg(database.socket())
        .arg("-f")
        .arg(file.path())
        .output()
        .expect("psql: tests/run installs it");
    Ran::of(ran)
}

fn path() -> &'static str {
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin"
}
