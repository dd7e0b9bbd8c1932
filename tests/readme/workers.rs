//! The worker's statements for the reference schema: that they run, and that each write is fenced.

use super::bench::Bench;
use super::block::text_of;
use crate::support::postgres::fresh;
use postgres::SimpleQueryMessage;
use rusqlite::types::Value;

type Row = Vec<Option<String>>;

/// Runs a statement; gives the rows that come back.
type Database = Box<dyn FnMut(&str) -> Vec<Row>>;

#[test]
fn the_statements_for_sqlite_run_and_are_fenced() {
    let bench = Bench::new();
    let path = bench.work().join("queue.db");
    bench.say("jobdoctor init --db queue.db").expect("init");
    let connection = rusqlite::Connection::open(&path).expect("queue.db");
    let database: Database = Box::new(move |sql| {
        let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let columns = statement.column_count();
        let text = |value: Value| match value {
            Value::Null => None,
            Value::Integer(n) => Some(n.to_string()),
            Value::Text(text) => Some(text),
            other => panic!("{other:?}"),
        };
        let rows = statement.query_map([], |row| (0..columns).map(|n| row.get(n).map(text)).collect());
        rows.expect("query").collect::<Result<_, _>>().expect("rows")
    });
    Worker { statements: statements("sql worker sqlite"), database }.work(&bench, "queue.db", "unixepoch()", "90");
}

#[test]
fn the_statements_for_postgres_run_and_are_fenced() {
    let bench = Bench::new();
    let database = fresh();
    let url = database.url();
    bench.say(&format!("jobdoctor init --db '{url}'")).expect("init");
    let mut client = database.client();
    let run: Database = Box::new(move |sql| {
        let messages = client.simple_query(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let row = |message| match message {
            SimpleQueryMessage::Row(row) => Some((0..row.len()).map(|n| row.get(n).map(str::to_owned)).collect()),
            _ => None,
        };
        messages.into_iter().filter_map(row).collect()
    });
    let worker = Worker { statements: statements("sql worker postgres"), database: run };
    worker.work(&bench, &format!("'{url}'"), "now()", "interval '90 seconds'");
}

/// Claim, heartbeat, finish well, finish badly.
fn statements(title: &str) -> [String; 4] {
    let text = text_of(title);
    let parts: Vec<String> =
        text.split(";\n").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    for (part, beginning) in parts.iter().zip(["-- claim", "-- heartbeat", "-- finish, well", "-- finish, badly"]) {
        assert!(part.starts_with(beginning), "{part}");
    }
    parts.try_into().expect("four statements")
}

struct Worker {
    statements: [String; 4],
    database: Database,
}

impl Worker {
    fn run(&mut self, sql: &str) -> Vec<Row> {
        (self.database)(sql)
    }

    /// One of the four, with its parameters put in.
    fn call(&mut self, which: usize, parameters: &[(&str, &str)]) -> Vec<Row> {
        let mut sql = self.statements[which].clone();
        for (name, value) in parameters {
            sql = sql.replace(&format!(":{name}"), &format!("'{value}'"));
        }
        self.run(&sql)
    }

    fn claim(&mut self) -> Option<(String, String)> {
        let rows = self.call(0, &[("owner", "web1:7"), ("queue", "mail")]);
        assert!(rows.len() < 2, "one job at a time: {rows:?}");
        let row = rows.into_iter().next()?;
        Some((row[0].clone().expect("id"), row[3].clone().expect("token")))
    }

    /// A fenced statement: as the wrong owner, with the wrong token, then rightly.
    fn fenced(&mut self, which: usize, id: &str, token: &str) -> Row {
        for (owner, token) in [("web1:8", token), ("web1:7", "another")] {
            let rows = self.call(which, &[("id", id), ("owner", owner), ("token", token), ("error", "no")]);
            assert!(rows.is_empty(), "statement {which} let {owner} with token {token} through");
        }
        let mut rows = self.call(which, &[("id", id), ("owner", "web1:7"), ("token", token), ("error", "no")]);
        assert_eq!(rows.len(), 1, "statement {which}");
        rows.remove(0)
    }

    fn one(&mut self, sql: &str) -> String {
        self.run(sql)[0][0].clone().expect("a value")
    }

    fn work(mut self, bench: &Bench, db: &str, now: &str, longer_than_a_lease: &str) {
        self.run("INSERT INTO jobs (queue, priority) VALUES ('mail', 1), ('mail', 0), ('media', 0)");
        let (second, token) = self.claim().expect("the job of smaller priority");
        assert_eq!(second, "2");
        let (first, first_token) = self.claim().expect("the other one");
        assert_eq!(first, "1");
        assert_ne!(token, first_token);
        assert_eq!(self.claim(), None, "the third is in another queue");

        assert_eq!(self.fenced(1, "2", &token), [None]);
        self.run(&format!("UPDATE jobs SET cancel_requested_at = {now} WHERE id = 2"));
        assert!(self.fenced(1, "2", &token)[0].is_some(), "the heartbeat hears of the request");
        self.fenced(2, "2", &token);
        assert_eq!(self.one("SELECT status FROM jobs WHERE id = 2"), "SUCCEEDED");

        assert_eq!(self.fenced(3, "1", &first_token), [Some("QUEUED".to_owned())]);
        assert_eq!(self.one("SELECT attempts FROM jobs WHERE id = 1"), "1");
        assert_eq!(self.claim(), None, "it rests for 30 seconds");
        self.run(&format!("UPDATE jobs SET attempts = 4, run_at = {now} WHERE id = 1"));
        let (_, token) = self.claim().expect("the last attempt");
        assert_eq!(self.fenced(3, "1", &token), [Some("FAILED".to_owned())]);
        assert_eq!(self.one("SELECT attempts FROM jobs WHERE id = 1"), "5");

        self.run("INSERT INTO jobs (queue) VALUES ('mail')");
        let (late, token) = self.claim().expect("the new job");
        let alive = bench.say(&format!("jobdoctor reclaim --db {db} --apply -o name -q")).expect("reclaim");
        assert_eq!(alive, "", "its lease runs");
        self.run(&format!(
            "UPDATE jobs SET claimed_at = claimed_at - {longer_than_a_lease}, heartbeat_at = heartbeat_at - \
             {longer_than_a_lease}, lease_expires_at = lease_expires_at - {longer_than_a_lease} WHERE id = {late}"
        ));
        let dead = bench.say(&format!("jobdoctor reclaim --db {db} --apply -o name -q")).expect("reclaim");
        assert_eq!(dead.trim(), late);
        for which in [1, 2, 3] {
            let parameters = [("id", late.as_str()), ("owner", "web1:7"), ("token", token.as_str()), ("error", "late")];
            assert!(self.call(which, &parameters).is_empty(), "statement {which} of a worker that comes back late");
        }
        assert_eq!(self.one(&format!("SELECT attempts FROM jobs WHERE id = {late}")), "1");
        assert!(self.claim().is_some(), "it can be claimed anew");
    }
}
