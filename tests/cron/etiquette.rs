//! Cron mails whatever is said, every minute: nothing to do is silence, and a failure is one clear paragraph, on stderr, with
//! its code.

use crate::cli::scene::{calm, incident};
use crate::support::cli::{Doctor, Ran};
use crate::support::shop::on_both;
use std::fs;

fn cron(doctor: &Doctor, more: &[&str]) -> Ran {
    doctor.run(&[&["sweep", "--apply"], more].concat())
}

/// One error, with at most a few hints, and nothing else anywhere.
#[track_caller]
fn is_one_paragraph(ran: Ran, code: i32, words: &[&str]) {
    let ran = ran.exits(code);
    assert_eq!(ran.stdout, "", "{ran:#?}");
    let mut lines = ran.stderr.lines();
    assert!(lines.next().is_some_and(|line| line.starts_with("error: ")), "{ran:#?}");
    assert!(lines.all(|line| line.starts_with("hint: ")), "{ran:#?}");
    for word in words {
        assert!(ran.stderr.contains(word), "{word}: {ran:#?}");
    }
}

#[test]
fn nothing_to_do_is_silence() {
    on_both(|shop| {
        shop.run(&["sweep", "--apply"]).exits(0).is_silent();
        shop.in_flight(1, 3, "'web1:7'", 600);
        assert!(shop.run(&["sweep", "--apply"]).exits(0).stdout.contains("moved 3 of 3"));
        shop.run(&["sweep", "--apply"]).exits(0).is_silent();
        shop.run(&["sweep", "--apply", "--lock-wait", "1s", "--warn-above", "1"]).exits(0).is_silent();
    });
}

/// `check` is where a set-up is told about.
#[test]
fn what_check_warns_about_is_no_news() {
    let doctor = calm();
    doctor.sql("DROP INDEX jobs_lease");
    doctor.on_queue(&["check"]).shows("index");
    cron(&doctor, &["--db", "queue.db"]).exits(0).is_silent();
    // No place for journals and locks.
    let doctor = calm().env("HOME", "");
    cron(&doctor, &["--db", "queue.db", "--lock-wait", "1s"]).exits(0).is_silent();
}

#[test]
fn each_failure_is_one_paragraph() {
    let doctor = Doctor::new();
    is_one_paragraph(cron(&doctor, &["--db", "no-such.db"]), 66, &["no-such.db"]);
    is_one_paragraph(cron(&doctor, &["--db", "postgres://u@127.0.0.1:1/app"]), 69, &["127.0.0.1"]);
    is_one_paragraph(cron(&doctor, &[]), 2, &["no database is named"]);
    doctor.sql_in("empty.db", "CREATE TABLE t (x)");
    is_one_paragraph(cron(&doctor, &["--db", "empty.db"]), 78, &["no known queue"]);
    fs::write(doctor.path("c.toml"), "[target.app]\nolderr = \"5m\"\n").expect("a config file");
    is_one_paragraph(cron(&doctor, &["--config", "c.toml"]), 78, &["olderr", "line 2"]);
    fs::write(doctor.path("not.db"), "hello, I am no database at all, just some text").expect("a file");
    is_one_paragraph(cron(&doctor, &["--db", "not.db"]), 66, &["not.db"]);
    let doctor = incident();
    fs::write(doctor.path("c.toml"), "[target.app]\ndb = \"queue.db\"\nread_only = true\n").expect("a config file");
    is_one_paragraph(cron(&doctor, &["--config", "c.toml"]), 4, &["target app is read-only", "nothing was written"]);
}
