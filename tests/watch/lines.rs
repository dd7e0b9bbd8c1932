//! What a program reads, on both engines.

use crate::cli::scene::incident;
use crate::support::cli::{Doctor, Running, is_of_schema};
use crate::support::postgres::{TestDatabase, fresh};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};

/// The program, and its lines as they come.
struct Told {
    running: Running,
    lines: std::io::Lines<BufReader<Box<dyn Read>>>,
}

impl Told {
    fn start(doctor: &Doctor, url: &str, more: &[&str]) -> Told {
        let arguments = [&["stale", "--db", url, "--watch", "1s", "-o", "jsonl"], more].concat();
        let mut running = doctor.start(&arguments);
        let lines = BufReader::new(running.stdout()).lines();
        Told { running, lines }
    }

    /// The next line, which must be of the schema.
    fn next(&mut self) -> Value {
        let line: Value = serde_json::from_str(&self.lines.next().expect("a line").unwrap()).unwrap();
        is_of_schema("stale-watch", &line);
        line
    }

    /// Lines up to one of that type and with it, without the looks before it that saw nothing happen.
    fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut lines = Vec::new();
        loop {
            let line = self.next();
            let ends = line["type"] == kind;
            lines.push(line);
            if ends {
                return lines;
            }
            // There is a snapshot every second, and a line for it.
            assert!(lines.len() < 30, "waited in vain for a line of type {kind}: {lines:#?}");
        }
    }

    fn ends_by(self, signal: Signal, number: i32) {
        self.running.signal(signal);
        // Lines that were under way still come.
        self.lines.for_each(|line| drop(line.unwrap()));
        let ran = self.running.wait();
        assert_eq!(ran.signal, Some(number), "{ran:#?}");
        assert_eq!(ran.stderr, "");
    }
}

fn ids<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a str> {
    lines.iter().filter(|line| line["type"] == kind).map(|line| line["id"].as_str().unwrap()).collect()
}

/// Runs it on a queue with three dead jobs, given a way to run SQL there.
fn on_both(test: impl Fn(&Doctor, &str, &dyn Fn(&str))) {
    let insert = |ago: &str| {
        format!(
            "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, heartbeat_at)
            SELECT n, 'mail', 'A', 'RUNNING', 'web1:1', {ago}, {ago} FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) AS t"
        )
    };
    let doctor = Doctor::new();
    doctor.run(&["init", "--db", "queue.db"]).exits(0);
    doctor.sql("queue.db", &insert("unixepoch() - 9000"));
    test(&doctor, "queue.db", &|sql| doctor.sql("queue.db", sql));
    let database: TestDatabase = fresh();
    doctor.run(&["init", "--db", &database.url()]).exits(0);
    database.client().batch_execute(&insert("now() - interval '9000 seconds'")).unwrap();
    test(&doctor, &database.url(), &|sql| database.client().batch_execute(sql).unwrap());
}

#[test]
fn what_appears_what_is_gone_and_each_look() {
    on_both(|doctor, url, sql| {
        let mut told = Told::start(doctor, url, &[]);
        let head = told.next();
        assert_eq!((&head["type"], &head["schema"]), (&"head".into(), &"jobdoctor.stale-watch/v1".into()));
        assert_eq!(head["interval_seconds"], 1.0);
        let first = told.until("snapshot");
        assert_eq!(ids(&first, "appeared"), ["1", "2", "3"]);
        let look = first.last().unwrap();
        assert_eq!((&look["appeared"], &look["gone"], &look["summary"]["stuck"]), (&3.into(), &0.into(), &3.into()));
        assert_eq!(look["diagnoses"][0]["diagnosis"], "vanished");
        sql("DELETE FROM jobs WHERE id = 2");
        let gone = told.until("gone");
        assert_eq!((ids(&gone, "gone"), ids(&gone, "appeared")), (vec!["2"], vec![]));
        assert_eq!(gone.last().unwrap()["owner"], "web1:1", "as it was when it was last seen");
        let look = told.next();
        assert_eq!(
            (&look["type"], &look["gone"], &look["summary"]["stuck"]),
            (&"snapshot".into(), &1.into(), &2.into())
        );
        let times: Vec<&str> =
            [&first[first.len() - 1], &look].map(|look| look["store_time"].as_str().unwrap()).to_vec();
        assert!(times[0] < times[1], "each snapshot has a now of its own: {times:?}");
        told.ends_by(Signal::INT, 2);
    });
}

#[test]
fn a_look_that_fails_is_told_and_tried_again() {
    on_both(|doctor, url, sql| {
        let mut told = Told::start(doctor, url, &[]);
        let last = told.until("snapshot").pop().unwrap();
        sql("ALTER TABLE jobs RENAME TO away");
        let failed = told.until("failed").pop().unwrap();
        assert_eq!((&failed["code"], &failed["kind"]), (&78.into(), &"config".into()));
        let at = failed["last_snapshot_at"].as_str().unwrap();
        assert!(at >= last["store_time"].as_str().unwrap(), "{failed:#}");
        assert!(failed["without_snapshot_seconds"].as_f64().unwrap() >= 1.0, "{failed:#}");
        sql("ALTER TABLE away RENAME TO jobs");
        // Nothing appears and nothing is gone: it was out of sight only.
        let again = told.until("snapshot");
        assert_eq!((ids(&again, "appeared").len(), ids(&again, "gone").len()), (0, 0), "{again:#?}");
        assert_eq!(again.last().unwrap()["summary"]["stuck"], 3);
        told.ends_by(Signal::TERM, 15);
    });
}

#[test]
fn a_limit_hides_nothing_from_a_program_and_a_summary_lists_nothing() {
    on_both(|doctor, url, _| {
        let mut told = Told::start(doctor, url, &["--limit", "1"]);
        assert_eq!(told.until("snapshot").last().unwrap()["appeared"], 3);
        told.ends_by(Signal::INT, 2);
        let mut told = Told::start(doctor, url, &["--summary"]);
        let lines = told.until("snapshot");
        assert_eq!((ids(&lines, "appeared").len(), &lines.last().unwrap()["summary"]["stuck"]), (0, &3.into()));
        told.ends_by(Signal::INT, 2);
    });
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let doctor = incident();
    let mut running = doctor.start(&["stale", "--db", "queue.db", "--watch", "1s", "-o", "jsonl"]);
    assert!(running.first_line().contains("\"head\""));
    let ran = running.wait().exits(0);
    assert_eq!(ran.stderr, "");
}
