use super::columns::{Columns, column};
use super::format::Table;
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
    /// What is wrong with the setup, though it stops nothing.
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

impl Env {
    /// The settings as a table for people.
    pub fn table(&self) -> Table {
        let columns = Columns::<EnvSetting>::new()
            .add(column("setting", 0, None), "name", |setting| setting.name.as_str().into())
            .add(column("value", 0, Some(24)), "value", |setting| setting.value.as_deref().unwrap_or("-").into())
            .add(column("from", 0, Some(24)), "origin", |setting| setting.origin.as_str().into());
        columns.table(self.settings.iter())
    }
}
