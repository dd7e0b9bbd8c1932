//! How far it is: on a terminal, after a second, and without a trace at the end.

use crate::cli::scene::{incident, orphans};
use crate::cli::signals::SLOW_MAPPING;
use crate::support::cli::{Doctor, until};
use crate::support::pty::{On, OnTerminal, plain};
use rustix::process::Signal;
use std::time::{Duration, Instant};

const SIZE: (u16, u16) = (100, 30);

fn slow_to_move() -> Doctor {
    let doctor = orphans(150);
    doctor.sql(
        "CREATE TRIGGER slow AFTER UPDATE ON jobs BEGIN
            SELECT max(i) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
            SELECT i FROM n); END",
    );
    doctor
}

#[test]
fn reading_is_shown_after_a_second_and_leaves_nothing_behind() {
    let doctor = incident();
    std::fs::write(doctor.path("slow.toml"), SLOW_MAPPING).unwrap();
    let slow = ["stale", "--db", "queue.db", "--config", "slow.toml", "--preset", "slow", "--timeout", "5m"];
    let begun = Instant::now();
    let terminal = OnTerminal::start(&doctor, &slow, SIZE, On::Both);
    until("it says that it reads", || terminal.written().contains("reading claims"));
    assert!(begun.elapsed() >= Duration::from_secs(1), "not before a second has passed");
    terminal.signal(Signal::INT);
    let (end, written) = terminal.end();
    assert_eq!(end, Err(2), "{written:?}");
    let after = written.rsplit("reading claims").next().unwrap();
    assert!(after.contains("\x1b[2K"), "the line is cleared: {written:?}");
    assert!(plain(&written).contains("error: interrupted"), "{written:?}");
}

#[test]
fn applying_shows_how_many_of_how_many() {
    for on in [On::Both, On::Stderr] {
        let doctor = slow_to_move();
        let (end, written) =
            OnTerminal::start(&doctor, &["reclaim", "--db", "queue.db", "--max-jobs", "9999", "--apply"], SIZE, on)
                .end();
        assert_eq!(end, Ok(0), "{written}");
        assert!(written.contains(" of 150 tried, ") && written.contains(" moved"), "{written:?}");
        let is_shown = |n: u32| written.contains(&format!(" {n} of 150 tried, {n} moved"));
        assert!((1..150).any(is_shown), "{written:?}");
        assert_eq!(doctor.rows("SELECT DISTINCT status FROM jobs"), ["QUEUED"]);
    }
}

#[test]
fn nothing_is_drawn_where_nobody_watches_or_quiet_was_asked_for() {
    let quick = incident();
    let (end, written) = OnTerminal::start(&quick, &["stale", "--db", "queue.db", "-o", "none"], SIZE, On::Both).end();
    assert_eq!((end, written.as_str()), (Ok(0), ""), "what is quick draws nothing");
    let doctor = slow_to_move();
    let quiet = ["reclaim", "--db", "queue.db", "--max-jobs", "9999", "--apply", "-q"];
    let (end, written) = OnTerminal::start(&doctor, &quiet, SIZE, On::Stderr).end();
    assert_eq!((end, written.as_str()), (Ok(0), ""));
    let doctor = slow_to_move();
    let ran = doctor.on_queue(&["reclaim", "--max-jobs", "9999", "--apply", "-o", "json"]).exits(0);
    assert!(!ran.stderr.contains("tried,"), "{ran:#?}");
    let doctor = slow_to_move().env("TERM", "dumb");
    let (end, written) =
        OnTerminal::start(&doctor, &["reclaim", "--db", "queue.db", "--max-jobs", "9999", "--apply"], SIZE, On::Stderr)
            .end();
    assert!(end == Ok(0) && !written.contains("tried,"), "{written:?}");
}
