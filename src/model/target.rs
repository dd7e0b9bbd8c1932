use super::Engine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which queue on which database, without secrets. Documents, records, saved plans and saved snapshots name it alike.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// `postgres` or `sqlite`.
    pub engine: String,
    /// The preset or mapping.
    pub preset: String,
    /// Its variants, as the live tables require.
    pub variants: Vec<String>,
    /// The target's name in the config file.
    pub name: Option<String>,
    /// What the database is called in front of people.
    pub database: String,
    /// What tells it from every other database, whatever it is called: the full path of a file; null where that was not
    /// asked, or may not be.
    pub identity: Option<String>,
    /// Schema and name of the table whose rows are the jobs.
    pub table: String,
    /// The columns that identify a job.
    pub key: Vec<String>,
    /// The standby, if the server is one; otherwise null.
    pub standby: Option<Standby>,
}

/// A server that replays another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Standby {
    /// Its lag behind the primary; null if unknown. `store_time` and all silences are of the replayed moment.
    pub lag_seconds: Option<f64>,
}

/// In what two targets differ: the word for it, and how each one calls it.
pub type Difference = (&'static str, String, String);

impl Target {
    /// True if the database is a file.
    pub fn is_file(&self) -> bool {
        Engine::from_name(&self.engine).is_some_and(Engine::is_file)
    }

    /// Whether both are one database: by identity where both know it, else by name, of which the user is no part.
    pub fn is_on_database_of(&self, other: &Target) -> bool {
        match (&self.identity, &other.identity) {
            (Some(one), Some(other)) => one == other,
            _ => without_user(&self.database) == without_user(&other.database),
        }
    }

    /// In what this queue differs from another one, if it is not the same. Files are called by their paths: two of one
    /// name in different directories are different databases.
    pub fn difference(&self, other: &Target) -> Option<Difference> {
        let path = |target: &Target| target.identity.clone().filter(|path| path.starts_with('/'));
        let names = match (path(self), path(other)) {
            (Some(one), Some(other)) => (one, other),
            _ => (self.database.clone(), other.database.clone()),
        };
        let differing = |what, one: &str, other: &str| (one != other).then(|| (what, one.to_owned(), other.to_owned()));
        (!self.is_on_database_of(other))
            .then_some(("database", names.0, names.1))
            .or_else(|| differing("engine", &self.engine, &other.engine))
            .or_else(|| differing("table", &self.table, &other.table))
            .or_else(|| differing("preset", &self.preset, &other.preset))
            .or_else(|| differing("key", &self.key.join(", "), &other.key.join(", ")))
    }
}

fn without_user(name: &str) -> &str {
    name.rsplit_once('@').map_or(name, |(_, place)| place)
}
