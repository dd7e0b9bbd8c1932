//! Queues on either engine: the reference schema, and a home-made one whose workers write how far they are.

use crate::support::cli::Ran;
use crate::support::shop::{self, Shop};
use serde_json::Value;
use std::io::{Read, Write};
use std::ops::Deref;
use std::process::{Child, Stdio};

pub struct Queue<'s> {
    shop: &'s Shop,
    flags: &'static [&'static str],
}

impl Deref for Queue<'_> {
    type Target = Shop;

    fn deref(&self) -> &Shop {
        self.shop
    }
}

pub fn on_both(test: impl Fn(&Queue<'_>)) {
    shop::on_both(|shop| test(&Queue { shop, flags: &[] }));
}

/// The home-made queue; with a heartbeat, if asked for.
pub fn crawls_on_both(heartbeat: bool, test: impl Fn(&Queue<'_>)) {
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
    shop::on_both(|shop| {
        shop.sql(
            "CREATE TABLE crawls (id INTEGER PRIMARY KEY, status TEXT NOT NULL, worker TEXT, started {time}, pages INTEGER,
                beat {time}, tries INTEGER NOT NULL DEFAULT 0)",
        );
        std::fs::write(shop.doctor.path("config.toml"), &config).unwrap();
        test(&Queue { shop, flags: &["--config", "config.toml", "--preset", "crawls"] });
    });
}

impl Queue<'_> {
    /// Puts claims of the home-made queue into it: id, worker, seconds since the claim and pages, as they stand in an INSERT.
    pub fn crawl(&self, claims: &[(u32, &str, u32, &str)]) {
        for (id, worker, started, pages) in claims {
            self.sql(&format!(
                "INSERT INTO crawls VALUES ({id}, 'working', {worker}, {{ago {started}}}, {pages}, NULL, 0)"
            ));
        }
    }

    pub fn states(&self) -> Vec<String> {
        self.rows("SELECT id, status FROM jobs ORDER BY id")
    }

    pub fn crawls(&self) -> Vec<String> {
        self.rows("SELECT id, status FROM crawls ORDER BY id")
    }

    fn words<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        self.with_db(&[words, self.flags].concat())
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        self.doctor.run(&self.words(words))
    }

    pub fn json(&self, words: &[&str]) -> Value {
        self.run(&[words, &["--json"]].concat()).exits(0).json()
    }

    pub fn run_with(&self, words: &[&str], input: &[u8]) -> Ran {
        let mut command = self.doctor.command(&self.words(words));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that refuses the list before its end has closed the pipe.
        let _ = child.stdin.take().unwrap().write_all(input);
        Ran::of(child.wait_with_output().unwrap())
    }

    /// Starts it, and comes back once its first snapshot has begun: what is written from now on, that snapshot does not see.
    pub fn first_snapshot(&self, words: &[&str]) -> Child {
        let mut command = self.doctor.command(&self.words(&[words, &["-v"]].concat()));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut said, mut byte) = (String::new(), [0]);
        while !said.contains("store time") {
            let read = child.stderr.as_mut().unwrap().read(&mut byte).unwrap();
            assert_eq!(read, 1, "it ended: {said}");
            said.push(char::from(byte[0]));
        }
        child
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.doctor.path(name), text).unwrap();
    }
}

/// The ids in a list of a document, with a word about each.
pub fn ids(document: &Value, list: &str, word: impl Fn(&Value) -> String) -> Vec<String> {
    let items = document[list].as_array().unwrap_or_else(|| panic!("no {list} in {document:#}"));
    let mut ids: Vec<String> =
        items.iter().map(|item| format!("{} {}", item["id"].as_str().unwrap(), word(item))).collect();
    ids.sort();
    ids
}

pub fn reason(item: &Value) -> String {
    item["reason"].as_str().unwrap().to_owned()
}

/// Of any job, the rules that call it stuck.
pub fn rules(item: &Value) -> String {
    let reasons = item["reasons"].as_array().unwrap();
    reasons.iter().map(|reason| reason["rule"].as_str().unwrap()).collect::<Vec<_>>().join("+")
}
