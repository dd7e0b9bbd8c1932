//! The worker's statements for the reference schema: that they run, and that each write is fenced.

use super::bench::Bench;
use super::statements::{Database, Row, filled, postgres, sqlite, statements};
use crate::support::postgres::fresh;

#[test]
fn the_statements_for_sqlite_run_and_are_fenced() {
    let bench = Bench::new();
    let path = bench.work().join("queue.db");
    bench.say("jobdoctor init --db queue.db").expect("init");
    let database = sqlite(&path);
    Worker { statements: statements("sql worker sqlite"), database }.work(&bench, "queue.db", "unixepoch()", "90");
}

#[test]
fn the_statements_for_postgres_run_and_are_fenced() {
    let bench = Bench::new();
    let database = fresh();
    let url = database.url();
    bench.say(&format!("jobdoctor init --db '{url}'")).expect("init");
    let run = postgres(&url);
    let worker = Worker { statements: statements("sql worker postgres"), database: run };
    worker.work(&bench, &format!("'{url}'"), "now()", "interval '90 seconds'");
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
        let sql = filled(&self.statements[which], parameters);
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
