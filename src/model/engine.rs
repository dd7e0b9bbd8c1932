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

    /// True if a database is a file of this host: no server keeps sessions, their locks or stored functions.
    pub fn is_file(self) -> bool {
        self == Engine::Sqlite
    }

    /// True if one writer keeps all others out, and no row is locked by itself.
    pub fn has_one_writer(self) -> bool {
        self == Engine::Sqlite
    }

    /// True if roles own things, and are granted rights to them.
    pub fn has_roles(self) -> bool {
        self == Engine::Postgres
    }

    /// True if tables, operators and functions lie in schemas, among which a search path decides.
    pub fn has_schemas(self) -> bool {
        self == Engine::Postgres
    }

    /// True if a column holds values of its type only, and truth values and times have types of their own.
    pub fn has_strict_types(self) -> bool {
        self == Engine::Postgres
    }

    /// True if a name also means a table that is spelled in another case.
    pub fn ignores_case_of_names(self) -> bool {
        self == Engine::Sqlite
    }

    /// True if a row has a number besides its columns.
    pub fn has_rowids(self) -> bool {
        self == Engine::Sqlite
    }

    /// True if a table or a trigger may declare what becomes of a row that conflicts with another.
    pub fn has_conflict_clauses(self) -> bool {
        self == Engine::Sqlite
    }

    /// True if a plan can be written as a script for the engine's own shell.
    pub fn has_scripts(self) -> bool {
        self == Engine::Postgres
    }

    /// True if a partial index serves a statement whose values are bound.
    pub fn plans_with_values(self) -> bool {
        self == Engine::Postgres
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
