//! What goes to stderr: sentences for people, log lines and the error document for programs.

use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// A sentence for a person, by how much it matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Something an operator must know before going on.
    Warn(String),
    /// What the run did or would do.
    Note(String),
    /// The command to type next.
    Hint(String),
}

/// The sentence about ids that name no job.
pub fn no_such_job(table: &str, ids: &[String]) -> String {
    format!("no such job in {table}: {}", ids.join(", "))
}

/// `jobdoctor.log/v1`: a line of stderr with `--log-format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LogLine {
    /// `jobdoctor.log/v1`.
    pub schema: &'static str,
    /// When the line was written, by this host's clock; null if that is out of range.
    #[schemars(with = "Option<String>")]
    pub time: Option<Timestamp>,
    /// `debug`, `info`, `warning` or `error`.
    pub level: &'static str,
    /// The sentence.
    pub message: String,
    /// The target, where it is one of several; null for one alone.
    pub target: Option<String>,
    /// The run; null before it has read the queue.
    pub run: Option<String>,
    /// The exit code; null unless this is the error that ended the run.
    pub code: Option<u8>,
    /// The name of the exit code; null unless this is the error that ended the run.
    pub kind: Option<&'static str>,
    /// What to try.
    pub hints: Vec<String>,
}

/// `jobdoctor.error/v1`: on stderr instead of a document on stdout.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorDocument {
    /// `jobdoctor.error/v1`.
    pub schema: &'static str,
    /// The exit code.
    pub code: u8,
    /// The name of the exit code.
    pub kind: String,
    /// What went wrong.
    pub message: String,
    /// What to try.
    pub hints: Vec<String>,
}
