//! What looking costs, against what one would type into sqlite3 otherwise: whole commands, taken in turns in one run, so that
//! only the ratio counts. `cargo bench --bench looking`; needs the sqlite3 shell.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROWS: usize = 1_000_000;
const TURNS: usize = 15;

/// A table of finished jobs with one in flight, and stuck, for every `every` rows.
fn queue(file: &Path, every: usize) -> io::Result<()> {
    jobdoctor(&["init", "--db", &file.display().to_string()])?;
    let sql = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
         INSERT INTO jobs (queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
         SELECT 'mail', 'Send', CASE WHEN i % {every} = 0 THEN 'RUNNING' ELSE 'SUCCEEDED' END, 'web' || (i % 5) || ':1', 't',
                unixepoch() - 900 - i % 3600, unixepoch() - 800 - i % 3600, unixepoch() - 700 - i % 3600 FROM n"
    );
    sqlite3(file, &sql)?;
    Ok(())
}

fn jobdoctor(arguments: &[&str]) -> io::Result<Duration> {
    timed(Command::new(env!("CARGO_BIN_EXE_jobdoctor")).args(arguments))
}

fn sqlite3(file: &Path, sql: &str) -> io::Result<Duration> {
    timed(Command::new("sqlite3").arg("-json").arg(file).arg(sql))
}

/// A figure of a command that failed would be worse than none.
fn timed(command: &mut Command) -> io::Result<Duration> {
    let begun = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let took = begun.elapsed();
    if status.success() { Ok(took) } else { Err(io::Error::other(format!("{command:?} ended with {status}"))) }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64)
}

fn main() -> io::Result<()> {
    let directory = tempfile::tempdir()?;
    let mut report = String::new();
    for (name, every) in [("1,000 stuck of 1,000,000", 1000), ("100,000 stuck of 1,000,000", 10)] {
        let file = directory.path().join(format!("{every}.db"));
        queue(&file, every)?;
        let db = file.display().to_string();
        let typed = "SELECT * FROM jobs WHERE status IN ('RUNNING', 'CLAIMED') AND lease_expires_at < unixepoch() \
                     ORDER BY lease_expires_at";
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            ours.push(jobdoctor(&["stale", "--db", &db, "-o", "json"])?);
            theirs.push(sqlite3(&file, typed)?);
        }
        let (ours, theirs) = (median(ours), median(theirs));
        report += &format!(
            "stale -o json, {name}: {:.1} ms, sqlite3 -json {:.1} ms, ratio {:.2}\n",
            ours * 1e3,
            theirs * 1e3,
            ours / theirs
        );
    }
    io::stdout().write_all(report.as_bytes())
}
