//! A writer that has to wait for another one judges by what the other one leaves. That takes a transaction that begins
//! with the write lock: one that begins by reading is refused at once (SQLITE_BUSY_SNAPSHOT), or both wait forever.

use crate::cli::scene::{STATE, incident};
use crate::support::cli::{Doctor, Ran};
use crate::support::files::Writer;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::time::Duration;

/// The program, after it has looked, and while another process holds the write lock.
pub(crate) struct Waiting {
    child: Child,
    said: String,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Waiting {
    pub(crate) fn start(doctor: &Doctor, arguments: &[&str]) -> Waiting {
        let mut command = doctor.command(arguments);
        let mut child = command.arg("-v").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        stderr.read_line(&mut said).unwrap();
        assert!(said.contains("store time"), "it says where it looks: {said}");
        // It now plans, which takes no time, and then waits.
        std::thread::sleep(Duration::from_millis(200));
        assert!(child.try_wait().unwrap().is_none(), "it waits");
        Waiting { child, said, stderr }
    }

    pub(crate) fn end(self) -> Ran {
        // Both streams at once: a full pipe would stop it.
        let (mut stderr, mut said) = (self.stderr, self.said);
        let rest = std::thread::spawn(move || {
            stderr.read_to_string(&mut said).unwrap();
            said
        });
        let mut ran = Ran::of(self.child.wait_with_output().unwrap());
        ran.stderr = rest.join().unwrap();
        ran
    }
}

#[test]
fn what_was_committed_meanwhile_counts() {
    for mode in ["delete", "wal"] {
        let doctor = incident();
        doctor.sql(&format!("PRAGMA journal_mode = {mode}"));
        let mut worker = Writer::at(
            &doctor.path("queue.db"),
            "BEGIN IMMEDIATE; UPDATE jobs SET heartbeat_at = unixepoch(), lease_expires_at = unixepoch() + 60 WHERE id = 1; \
             DELETE FROM jobs WHERE id = 3;",
        );
        let waiting = Waiting::start(&doctor, &["reclaim", "--apply", "--db", "queue.db", "-o", "json"]);
        worker.run("COMMIT;");
        let outcomes = waiting.end().exits(0).json()["summary"]["outcomes"].clone();
        assert_eq!((&outcomes["changed"], &outcomes["gone"]), (&1.into(), &1.into()), "{mode}: {outcomes}");
        assert_eq!(outcomes["moved"], 3, "{mode}: {outcomes}");
        assert_eq!(doctor.rows(STATE)[0], "1 RUNNING media1:2207 1", "{mode}: it lives");
        worker.end();
    }
}

/// Taken back, or killed: nothing is left that we would trip over.
#[test]
fn what_was_not_committed_does_not() {
    for (mode, is_killed) in [("delete", false), ("wal", false), ("delete", true), ("wal", true)] {
        let doctor = incident();
        doctor.sql(&format!("PRAGMA journal_mode = {mode}"));
        let mut worker = Writer::at(&doctor.path("queue.db"), "BEGIN IMMEDIATE; DELETE FROM jobs;");
        let waiting = Waiting::start(&doctor, &["reclaim", "--apply", "--db", "queue.db", "-o", "json"]);
        if is_killed {
            worker.kill();
        } else {
            worker.run("ROLLBACK;");
            worker.end();
        }
        assert_eq!(waiting.end().exits(0).json()["summary"]["outcomes"]["moved"], 5, "{mode}");
    }
}
