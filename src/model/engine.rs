//! The kinds of databases, and the queue of one of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::{Display, IntoStaticStr};

/// A kind of database. A preset names the engines that it knows and spells some values differently on each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr, Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
        self.into()
    }

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

    /// True if `[a b]` and `` `a b` `` are names too. Elsewhere comments nest, and texts may be `E'..'` or `$tag$..$tag$`.
    pub fn quotes_in_brackets(self) -> bool {
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

    /// True if its planner knows values: a partial index serves a statement that binds them, and any index the rows whose
    /// column is seldom set.
    pub fn plans_with_values(self) -> bool {
        self == Engine::Postgres
    }
}

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
    /// What tells a file from another one at its path, as after a restore: its inode and when it was made; null for a server,
    /// and where that was not asked.
    #[serde(default)]
    pub file: Option<String>,
    /// Schema and name of the table whose rows are the jobs.
    pub table: String,
    /// The columns that identify a job.
    pub key: Vec<String>,
    /// The standby, if the server is one; otherwise null.
    pub standby: Option<Standby>,
}

/// What the operator says about the queue: where it lives, and what the database does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// `--schema`.
    pub schema: Option<String>,
    /// `--table`: another name for the claim's own table.
    pub table: Option<String>,
    /// `--option`: what only the operator knows, by the preset's names for it.
    pub options: BTreeMap<String, String>,
}

/// A server that replays another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Standby {
    /// Its lag behind the primary; null if unknown. `store_time` and all silences are of the replayed moment.
    pub lag_seconds: Option<f64>,
}

/// How the name of a variant ends that a mapping laid over a preset.
pub const UNPROVEN: &str = ", unproven";

/// What a mapping overrides of the preset that it extends, if these are the variants of such a one.
pub fn overridden(variants: &[String]) -> Option<&str> {
    variants.iter().find(|variant| variant.ends_with(UNPROVEN)).map(String::as_str)
}

impl Target {
    pub fn is_file(&self) -> bool {
        Engine::from_name(&self.engine).is_some_and(Engine::is_file)
    }

    /// Whether both are one database: by identity where both know it, else by name, of which the user is no part.
    pub fn is_on_database_of(&self, other: &Target) -> bool {
        let known = self.identity.as_ref().zip(other.identity.as_ref());
        known.map_or_else(|| without_user(&self.database) == without_user(&other.database), |(one, other)| one == other)
    }

    /// Whether the database at this place is another file by now.
    pub fn is_of_earlier_file(&self, here: &Target) -> bool {
        self.is_on_database_of(here)
            && self.file.as_ref().zip(here.file.as_ref()).is_some_and(|(then, now)| then != now)
    }

    /// Whether what is recorded of this one is true of the database at hand.
    pub fn is_recorded_of(&self, here: &Target) -> bool {
        self.is_on_database_of(here) && !self.is_of_earlier_file(here)
    }

    /// In what this queue differs from another one, if it is not the same: the word for it, and how each one calls it.
    /// Files are called by their paths: two of one name in different directories are different databases.
    pub fn difference(&self, other: &Target) -> Option<(&'static str, String, String)> {
        let path = |target: &Target| target.identity.clone().filter(|path| path.starts_with('/'));
        let names = path(self).zip(path(other)).unwrap_or_else(|| (self.database.clone(), other.database.clone()));
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
