use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.init/v1`: what `init` made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Init {
    /// `jobdoctor.init/v1`.
    pub schema: &'static str,
    /// `postgres` or `sqlite`.
    pub engine: String,
    /// The database, without its secrets.
    pub database: String,
    /// The statements that were run, in one transaction.
    pub statements: Vec<String>,
    /// False if they were only printed.
    pub created: bool,
}
