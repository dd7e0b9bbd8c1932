//! A database of the private Postgres cluster, reached directly or through PgBouncer in transaction mode.

use super::{Lab, OpenTransaction, SqlLab};
use crate::support::edit::Edit;
use crate::support::pgbouncer::pooler;
use crate::support::postgres::{TestDatabase, fresh};
use crate::support::tables::{self, Kind, Table};
use jobdoctor::model::Engine;
use jobdoctor::store::{Address, Store, Surroundings, open};
use postgres::Client;
use std::cell::RefCell;

/// How the store under test reaches the server. The tests' own connections never go through the pooler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    Direct,
    /// Through PgBouncer, which lends a server's session for one transaction.
    Pooled,
}

pub struct PostgresLab {
    pub database: TestDatabase,
    route: Route,
    client: RefCell<Client>,
}

impl PostgresLab {
    pub fn new() -> PostgresLab {
        PostgresLab::by(Route::Direct)
    }

    pub fn by(route: Route) -> PostgresLab {
        PostgresLab::of(fresh(), route)
    }

    pub fn of(database: TestDatabase, route: Route) -> PostgresLab {
        let client = RefCell::new(database.client());
        PostgresLab { database, route, client }
    }
}

/// Whatever a test did, the sessions that the pooler lent are given back as they were.
impl Drop for PostgresLab {
    fn drop(&mut self) {
        if self.route == Route::Pooled && !std::thread::panicking() {
            assert_eq!(pooler().left_behind(&self.database), Vec::<String>::new(), "left behind in {}", self.name());
        }
    }
}

pub fn store_at(url: &str) -> Box<dyn Store> {
    open(&Address::parse(url, &Surroundings::default()).unwrap())
}

pub fn declare(kind: Kind) -> &'static str {
    match kind {
        Kind::Id => "bigint PRIMARY KEY",
        Kind::Name => "text PRIMARY KEY",
        Kind::Int => "bigint",
        Kind::Text => "text",
        Kind::Time => "timestamptz",
    }
}

fn image(client: &mut Client, table: &str) -> String {
    let sql =
        format!("SELECT encode(convert_to(t::text, getdatabaseencoding()), 'escape') FROM \"{table}\" AS t ORDER BY 1");
    let rows = client.query(&sql, &[]).unwrap();
    rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
}

impl Lab for PostgresLab {
    fn name(&self) -> &'static str {
        match self.route {
            Route::Direct => "postgres",
            Route::Pooled => "postgres, PgBouncer",
        }
    }

    fn store(&self) -> Box<dyn Store> {
        store_at(&self.address())
    }

    fn create(&self, tables: &[Table]) {
        self.run(&tables.iter().map(|table| tables::ddl(table, declare)).collect::<String>());
    }

    fn clear(&self) {
        self.run("SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public;");
    }

    fn edit(&self, edits: &[Edit]) {
        self.run(&self.script(edits));
    }

    fn hold(&self, edits: &[Edit]) -> Box<dyn OpenTransaction> {
        self.hold_sql(&self.script(edits))
    }

    fn image(&self, table: &str) -> String {
        image(&mut self.client.borrow_mut(), table)
    }

    fn row(&self, table: &Table, id: i64) -> Vec<String> {
        let now = |name: &str| format!("abs(extract(epoch FROM \"{name}\" - now())) < 60");
        let row = self.client.borrow_mut().query_one(&tables::row_sql(table, id, now), &[]).unwrap();
        (0..table.columns.len()).map(|n| row.get(n)).collect()
    }

    fn locks_rows(&self) -> bool {
        true
    }

    fn sql(&self) -> Option<&dyn SqlLab> {
        Some(self)
    }
}

impl SqlLab for PostgresLab {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn address(&self) -> String {
        match self.route {
            Route::Direct => self.database.url(),
            Route::Pooled => self.database.url_through(pooler().socket()),
        }
    }

    /// All statements of one simple query are one transaction.
    fn run(&self, sql: &str) {
        self.client.borrow_mut().batch_execute(sql).unwrap_or_else(|error| panic!("{error:?} in {sql}"));
    }

    fn ask(&self, sql: &str) -> bool {
        let row = self.client.borrow_mut().query_one(sql, &[]).unwrap_or_else(|error| panic!("{error:?} in {sql}"));
        row.get(0)
    }

    fn hold_sql(&self, sql: &str) -> Box<dyn OpenTransaction> {
        let mut client = self.database.client();
        client.batch_execute(&format!("BEGIN; {sql}")).unwrap_or_else(|error| panic!("{error:?} in {sql}"));
        Box::new(Held(client))
    }

    fn ago(&self, seconds: i64) -> String {
        format!("(now() - make_interval(secs => {seconds}))")
    }
}

struct Held(Client);

impl OpenTransaction for Held {
    fn image(&mut self, table: &str) -> String {
        image(&mut self.0, table)
    }

    fn commit(mut self: Box<Self>) {
        self.0.batch_execute("COMMIT").unwrap();
    }

    fn rollback(mut self: Box<Self>) {
        self.0.batch_execute("ROLLBACK").unwrap();
    }
}
