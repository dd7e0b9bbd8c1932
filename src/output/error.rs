use schemars::JsonSchema;
use serde::Serialize;

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
