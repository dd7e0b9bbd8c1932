//! `--emit-sql`: scripts that are run through the real psql and sqlite3.

mod encodings;
mod hostile;
mod postgres;
mod refusals;
mod sqlite;

/// The run's id in the reason differs from run to run.
fn without_run(text: &str) -> String {
    let mut parts = text.split("(run ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "(run)" + part.split_once(')').map_or("", |(_, rest)| rest))
}
