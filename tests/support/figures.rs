//! What a run tried, in numbers, for the summary that `tests/run` ends with.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

/// Where the figures of this run are collected; none where a test is run by hand.
fn place() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the file is between tests/run and the tests")]
    std::env::var_os("JOBDOCTOR_FIGURES").map(PathBuf::from)
}

/// Adds to one figure: `tests/run` prints the sum of each under its name, which reads well behind a number, such as
/// "histories on SQLite". Call it once a test is through, with what it has really done.
pub fn add(count: u64, name: &str) {
    let Some(path) = place() else { return };
    let file = OpenOptions::new().append(true).create(true).open(path);
    // One write a line, so that lines of tests that run at once do not mix.
    file.and_then(|mut file| file.write_all(format!("{count}\t{name}\n").as_bytes())).expect("write the figures");
}
