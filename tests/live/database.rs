//! The database of a live test's application, and a session in it for what the test reads and ages.

use crate::support::postgres::{TestDatabase, USER, fresh};
use jobdoctor::model::Engine;
use postgres::Client;
use rusqlite::{Connection, OptionalExtension};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub(super) enum Database {
    Postgres(Box<TestDatabase>),
    Sqlite(PathBuf),
}

impl Database {
    /// A new one; on SQLite in a file of that directory, which the library itself shall make.
    pub(super) fn new(engine: Engine, home: &Path) -> Database {
        match engine {
            Engine::Postgres => Database::Postgres(Box::new(fresh())),
            Engine::Sqlite => Database::Sqlite(home.join("queue.db")),
        }
    }

    pub(super) fn url(&self) -> String {
        match self {
            Database::Postgres(database) => database.url(),
            Database::Sqlite(file) => file.display().to_string(),
        }
    }

    /// Says to an application where it is: by libpq's variables, or by LIVE_SQLITE.
    pub(super) fn tell(&self, command: &mut Command) {
        match self {
            Database::Postgres(database) => {
                command.env("PGHOST", database.socket()).env("PGPORT", "5432");
                command.env("PGUSER", USER).env("PGDATABASE", database.name())
            }
            Database::Sqlite(file) => command.env("LIVE_SQLITE", file),
        };
    }

    pub(super) fn session(&self) -> Session {
        match self {
            Database::Postgres(database) => Session::Postgres(database.client()),
            Database::Sqlite(file) => {
                let connection = Connection::open(file).expect("the application's database");
                connection.busy_timeout(Duration::from_secs(10)).expect("a wait for workers that write");
                Session::Sqlite(connection)
            }
        }
    }

    pub(super) fn copy(&self) -> Database {
        let Database::Postgres(database) = self else { panic!("only those of Postgres are copied") };
        Database::Postgres(Box::new(database.copy()))
    }

    pub(super) fn client(&self) -> Client {
        let Database::Postgres(database) = self else { panic!("only Postgres has sessions of this kind") };
        database.client()
    }
}

/// A session in which a statement about the job `$1`, its id as text, can be run.
pub(super) enum Session {
    Postgres(Client),
    Sqlite(Connection),
}

impl Session {
    pub(super) fn text(&mut self, sql: &str, id: &str) -> Option<Option<String>> {
        match self {
            Session::Postgres(client) => {
                let row = client.query_opt(sql, &[&id]).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
                row.map(|row| row.get(0))
            }
            Session::Sqlite(connection) => {
                let row = connection.query_row(sql, [id], |row| row.get(0)).optional();
                row.unwrap_or_else(|error| panic!("{sql}: {error}"))
            }
        }
    }

    pub(super) fn execute(&mut self, sql: &str, id: &str) -> u64 {
        match self {
            Session::Postgres(client) => client.execute(sql, &[&id]).unwrap_or_else(|error| panic!("{sql}: {error:?}")),
            Session::Sqlite(connection) => {
                connection.execute(sql, [id]).unwrap_or_else(|error| panic!("{sql}: {error}")) as u64
            }
        }
    }
}
