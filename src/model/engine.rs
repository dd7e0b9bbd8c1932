//! The kinds of databases.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A kind of database. A preset names the engines that it knows and spells some values differently on each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// PostgreSQL 13 to 18.
    Postgres,
    /// SQLite, the version bundled with this program.
    Sqlite,
}

impl Engine {
    /// Every engine, in the order in which they are listed to people.
    pub const ALL: [Engine; 2] = [Engine::Postgres, Engine::Sqlite];

    /// The name used in presets, in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Postgres => "postgres",
            Engine::Sqlite => "sqlite",
        }
    }

    /// The engine of that name.
    pub fn from_name(name: &str) -> Option<Engine> {
        Engine::ALL.into_iter().find(|engine| engine.name() == name)
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
