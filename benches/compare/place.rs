//! A database of the bench, and the commands that are run on it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A database engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// SQLite, with the `sqlite3` shell by hand.
    Sqlite,
    /// Postgres, with `psql` by hand.
    Postgres,
}

impl Engine {
    /// The engine of that name.
    pub fn parse(name: &str) -> Option<Engine> {
        [Engine::Sqlite, Engine::Postgres].into_iter().find(|engine| engine.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Sqlite => "sqlite",
            Engine::Postgres => "postgres",
        }
    }
}

/// How the shell prints rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Columns with a separator.
    Plain,
    /// JSON objects.
    Json,
    /// Comma-separated values with a header.
    Csv,
}

/// A database.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its engine.
    pub engine: Engine,
    /// Its address: a path, or a libpq string.
    pub db: String,
    /// The engine's shell. On Debian, `psql` in PATH is a script that costs 30 ms; this is the program behind it.
    pub shell: PathBuf,
}

impl Place {
    /// One call of the engine's shell with that SQL.
    pub fn by_hand(&self, form: Form, sql: &str) -> Command {
        match self.engine {
            Engine::Sqlite => {
                let mut shell = Command::new(&self.shell);
                shell.args(match form {
                    Form::Plain => &[][..],
                    Form::Json => &["-json"],
                    Form::Csv => &["-csv", "-header"],
                });
                shell.args(["-cmd", ".timeout 5000", &self.db, sql]);
                shell
            }
            Engine::Postgres => {
                let sql = match form {
                    Form::Plain => sql.to_owned(),
                    Form::Json => format!("COPY (SELECT row_to_json(t) FROM ({sql}) AS t) TO STDOUT"),
                    Form::Csv => format!("COPY ({sql}) TO STDOUT WITH (FORMAT csv, HEADER)"),
                };
                let mut shell = Command::new(&self.shell);
                shell.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", &self.db, "-c", &sql]);
                shell
            }
        }
    }
}

/// The binary that is measured, with a home of its own.
#[derive(Debug)]
pub struct Doctor {
    /// The binary.
    pub binary: PathBuf,
    /// The directory for its journal and its config file, which does not exist.
    pub home: PathBuf,
}

impl Doctor {
    /// A call with these arguments.
    pub fn call(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).env("XDG_STATE_HOME", &self.home).env("XDG_CONFIG_HOME", &self.home);
        for inherited in ["JOBDOCTOR_CONFIG", "JOBDOCTOR_TARGET", "JOBDOCTOR_DB", "PGOPTIONS"] {
            command.env_remove(inherited);
        }
        command
    }

    /// A call on that database.
    pub fn on(&self, place: &Place, arguments: &[&str]) -> Command {
        let mut command = self.call(arguments);
        command.args(["--db", &place.db]);
        command
    }
}

/// The socket of a Postgres server in that directory.
pub fn socket_in(directory: &Path) -> PathBuf {
    directory.join(".s.PGSQL.5432")
}
