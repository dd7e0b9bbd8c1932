//! A database of either engine with the reference schema, and a config file beside it.

use crate::support::cli::{Doctor, Ran};
use crate::support::postgres::{TestDatabase, fresh};

/// See the module.
pub struct Place {
    /// Runs the program.
    pub doctor: Doctor,
    /// The database's address.
    pub db: String,
    server: Option<TestDatabase>,
}

/// Runs a test on a SQLite file, then on Postgres.
pub fn on_both(test: impl Fn(&Place)) {
    for place in [Place::sqlite(), Place::postgres()] {
        test(&place);
    }
}

/// The same with the reference schema there.
pub fn with_jobs(test: impl Fn(&Place)) {
    on_both(|place| {
        place.doctor.run(&["init", "--db", &place.db]).exits(0);
        test(place);
    });
}

impl Place {
    fn sqlite() -> Place {
        let doctor = Doctor::new();
        doctor.sql("q.db", "PRAGMA user_version = 1");
        Place { doctor, db: "q.db".to_owned(), server: None }
    }

    fn postgres() -> Place {
        let server = fresh();
        Place { doctor: Doctor::new(), db: server.url(), server: Some(server) }
    }

    /// True on Postgres.
    pub fn is_server(&self) -> bool {
        self.server.is_some()
    }

    /// Picks the text for this engine.
    pub fn pick<'t>(&self, sqlite: &'t str, postgres: &'t str) -> &'t str {
        if self.is_server() { postgres } else { sqlite }
    }

    /// Runs statements in which `{n s ago}` is the instant so many seconds ago, as the reference schema spells it.
    pub fn sql(&self, sql: &str) {
        let mut spelled = String::new();
        let mut rest = sql;
        while let Some((before, from)) = rest.split_once('{') {
            let (seconds, after) = from.split_once(" s ago}").unwrap_or_else(|| panic!("{from}"));
            let ago = match self.is_server() {
                true => format!("(now() - ({seconds}) * interval '1 second')"),
                false => format!("(unixepoch() - ({seconds}))"),
            };
            spelled.push_str(&format!("{before}{ago}"));
            rest = after;
        }
        spelled.push_str(rest);
        self.raw(&spelled);
    }

    /// Runs statements as they are.
    pub fn raw(&self, sql: &str) {
        match &self.server {
            Some(server) => server.client().batch_execute(sql).unwrap_or_else(|error| panic!("{error:?} in {sql}")),
            None => self.doctor.sql("q.db", sql),
        }
    }

    /// `n` jobs of a kind that ended well, of which number `i`, counted from 1, ran for so many seconds as `runs` says, and
    /// ended an hour ago.
    pub fn finished(&self, queue: &str, kind: &str, n: u32, runs: &str) {
        let numbers = match self.is_server() {
            true => format!("(SELECT i FROM generate_series(1, {n}) AS i) AS n"),
            false => format!(
                "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {n}) SELECT i FROM n) AS n"
            ),
        };
        self.sql(&format!(
            "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at)
            SELECT '{queue}', '{kind}', 'SUCCEEDED', {{3600 + ({runs}) s ago}}, {{3600 s ago}} FROM {numbers}"
        ));
    }

    /// A claim of that age, of which the table shows nothing else.
    pub fn claim(&self, queue: &str, kind: &str, seconds: u32) {
        self.sql(&format!(
            "INSERT INTO jobs (queue, kind, status, owner_id, claimed_at)
            VALUES ('{queue}', '{kind}', 'RUNNING', 'web1:1', {{{seconds} s ago}})"
        ));
    }

    /// Writes `config.toml`, with this database as target `shop` and these lines in it.
    pub fn config(&self, lines: &str) {
        let text = format!("[target.shop]\ndb = \"{}\"\n{lines}\n", self.db.replace('\\', "\\\\").replace('"', "\\\""));
        std::fs::write(self.doctor.path("config.toml"), text).unwrap();
    }

    /// Runs a command on the target of the config file.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.doctor.run(&[arguments, &["--config", "config.toml"]].concat())
    }

    /// Runs a command on the database alone.
    pub fn on_db(&self, arguments: &[&str]) -> Ran {
        self.doctor.run(&[arguments, &["--db", &self.db]].concat())
    }
}
