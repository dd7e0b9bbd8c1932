use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.env/v1`: every setting in force and where it came from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Env {
    /// `jobdoctor.env/v1`.
    pub schema: &'static str,
    /// `postgres` or `sqlite`; null where no database is named.
    pub engine: Option<String>,
    /// The database, without its secrets; null where none is named.
    pub database: Option<String>,
    /// The settings: this program's own first, then those of the connection.
    pub settings: Vec<EnvSetting>,
    /// What is not as it should be, though it stops nothing.
    pub warnings: Vec<String>,
}

/// One setting.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EnvSetting {
    /// Its name: as in the config file, or as libpq has it, with `postgres.` before it.
    pub name: String,
    /// Its value; `(hidden)` if it is a secret, null if it is not set.
    pub value: Option<String>,
    /// What set it: a flag, a variable, a file and line, or `default`.
    pub origin: String,
}
