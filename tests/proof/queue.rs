//! The same queue on either engine. `AGO(n)` in SQL is so many seconds ago, as the queue keeps its times.

use crate::support::cli::{Doctor, Ran};
use crate::support::postgres::{TestDatabase, fresh};
use std::io::{Read, Write};
use std::process::{Child, Stdio};

/// A queue in a database of its own.
pub struct Queue {
    /// Who looks at it.
    pub doctor: Doctor,
    /// Its address.
    pub url: String,
    postgres: Option<TestDatabase>,
}

/// An empty queue of the reference schema on each engine.
pub fn on_both(mut test: impl FnMut(&Queue)) {
    for postgres in [None, Some(fresh())] {
        let url = postgres.as_ref().map_or_else(|| "queue.db".to_owned(), TestDatabase::url);
        let queue = Queue { doctor: Doctor::new(), url, postgres };
        queue.doctor.run(&["init", "--db", &queue.url]).exits(0);
        test(&queue);
    }
}

/// A home-made queue, whose workers write how far they are; and, if asked for, a heartbeat.
pub fn crawls_on_both(heartbeat: bool, test: impl Fn(&Queue)) {
    for postgres in [None, Some(fresh())] {
        let url = postgres.as_ref().map_or_else(|| "queue.db".to_owned(), TestDatabase::url);
        let queue = Queue { doctor: Doctor::new(), url, postgres };
        let time = if queue.postgres.is_some() { "timestamptz" } else { "INTEGER" };
        queue.sql(&format!(
            "CREATE TABLE crawls (id INTEGER PRIMARY KEY, status TEXT NOT NULL, worker TEXT, started {time}, beat {time},
                pages INTEGER, tries INTEGER NOT NULL DEFAULT 0)"
        ));
        let beats = if heartbeat { r#"{ by = "heartbeat", column = "beat", silent_after = "5m" }, "# } else { "" };
        let config = format!(
            r#"[mapping.crawls]
time     = {{ default = {{ sqlite = "epoch s", postgres = "native" }} }}
states   = {{ waiting = ["new"], in_flight = ["working"], failed = ["dead"] }}
attempts = {{ column = "tries", max = 5, counted = "at reclaim" }}
[mapping.crawls.claim]
table      = "crawls"
key        = "id"
state      = "status"
claimed_at = "started"
progress   = ["pages"]
liveness   = [{beats}{{ by = "age", column = "started", silent_after = "10m" }}]
[mapping.crawls.owner]
id = "worker"
[mapping.crawls.action]
requeue = {{ to = "new", clear = ["worker", "started"] }}
fail    = {{ to = "dead" }}
"#
        );
        std::fs::write(queue.doctor.path("config.toml"), config).unwrap();
        test(&queue);
    }
}

impl Queue {
    /// Whether it is on Postgres.
    pub fn is_postgres(&self) -> bool {
        self.postgres.is_some()
    }

    /// A client of the test's own; Postgres only.
    pub fn client(&self) -> postgres::Client {
        self.postgres.as_ref().unwrap().client()
    }

    /// Runs SQL on it.
    pub fn sql(&self, sql: &str) {
        let mut parts = sql.split("AGO(");
        let mut said = parts.next().unwrap().to_owned();
        for part in parts {
            let (seconds, rest) = part.split_once(')').unwrap();
            said += &match self.postgres {
                Some(_) => format!("(now() - interval '1 second' * ({seconds})){rest}"),
                None => format!("(unixepoch() - ({seconds})){rest}"),
            };
        }
        match &self.postgres {
            Some(database) => {
                database.client().batch_execute(&said).unwrap_or_else(|error| panic!("{error} in {said}"));
            }
            None => self.doctor.sql("queue.db", &said),
        }
    }

    /// The rows of a query of one text column.
    pub fn rows(&self, query: &str) -> Vec<String> {
        match &self.postgres {
            Some(database) => {
                database.client().query(query, &[]).unwrap().iter().map(|row| row.get::<_, String>(0)).collect()
            }
            None => self.doctor.rows("queue.db", query),
        }
    }

    /// Each job's id and state.
    pub fn states(&self) -> Vec<String> {
        self.rows("SELECT id || ' ' || status FROM jobs ORDER BY id")
    }

    /// The command line, with the database.
    fn words<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        let mut words = [words, &["--db", &self.url]].concat();
        if self.doctor.path("config.toml").exists() {
            words.extend(["--config", "config.toml", "--preset", "crawls"]);
        }
        words
    }

    /// Runs the program on it.
    pub fn run(&self, words: &[&str]) -> Ran {
        self.doctor.run(&self.words(words))
    }

    /// Runs it with something on its standard input.
    pub fn run_with(&self, words: &[&str], input: &[u8]) -> Ran {
        let mut command = self.doctor.command(&self.words(words));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Who refuses the list before its end has closed the pipe.
        let _ = child.stdin.take().unwrap().write_all(input);
        Ran::of(child.wait_with_output().unwrap())
    }

    /// Starts it, and comes back once its first snapshot has begun: what is written from now on, that snapshot does not see.
    pub fn first_snapshot(&self, words: &[&str]) -> Child {
        let words = [words, &["-v"]].concat();
        let mut command = self.doctor.command(&self.words(&words));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut said, mut byte) = (String::new(), [0]);
        while !said.contains("store time") {
            let read = child.stderr.as_mut().unwrap().read(&mut byte).unwrap();
            assert_eq!(read, 1, "it ended: {said}");
            said.push(char::from(byte[0]));
        }
        child
    }

    /// A file beside it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.doctor.path(name), text).unwrap();
    }
}

/// The ids under `steps` or `held`, with a word about each.
pub fn ids(document: &serde_json::Value, list: &str, word: impl Fn(&serde_json::Value) -> String) -> Vec<String> {
    let items = document[list].as_array().unwrap_or_else(|| panic!("no {list} in {document:#}"));
    let mut ids: Vec<String> =
        items.iter().map(|item| format!("{} {}", item["id"].as_str().unwrap(), word(item))).collect();
    ids.sort();
    ids
}

/// Of a held job, the reason.
pub fn reason(item: &serde_json::Value) -> String {
    item["reason"].as_str().unwrap().to_owned()
}

/// Of any job, the rules that call it stuck.
pub fn rules(item: &serde_json::Value) -> String {
    let reasons = item["reasons"].as_array().unwrap();
    reasons.iter().map(|reason| reason["rule"].as_str().unwrap()).collect::<Vec<_>>().join("+")
}
