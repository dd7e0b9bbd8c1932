use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.log/v1`: a line of stderr with `--log-format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LogLine {
    /// `jobdoctor.log/v1`.
    pub schema: &'static str,
    /// When it was said, by this host's clock; null if that is out of range.
    #[schemars(with = "Option<String>")]
    pub time: Option<Timestamp>,
    /// `debug`, `info`, `warning` or `error`.
    pub level: &'static str,
    /// What is said.
    pub message: String,
    /// The target, where it is one of several; null for one alone.
    pub target: Option<String>,
    /// The run; null before it has looked at the queue.
    pub run: Option<String>,
    /// The exit code; null unless this is the error that ended the run.
    pub code: Option<u8>,
    /// The name of the exit code; null unless this is the error that ended the run.
    pub kind: Option<&'static str>,
    /// What to try.
    pub hints: Vec<String>,
}
