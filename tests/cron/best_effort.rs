//! `sweep --best-effort`: whatever becomes of it, workers start, and a line says how it would have ended.

use crate::support::cli::{Doctor, Ran, until};
use crate::support::shop::Shop;
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::Signal;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::time::{Duration, Instant};

const RESTART: [&str; 6] = ["sweep", "--restart", "--host", "web1", "--best-effort", "--apply"];

/// Runs it, and expects 0 and the line with the end that it would have had.
fn ends_well(doctor: &Doctor, more: &[&str], instead_of: &str) -> Ran {
    let ran = doctor.run(&[&RESTART, more].concat()).exits(0);
    let line = format!("--best-effort: would have ended with {instead_of} without it");
    let lines = ran.stderr.lines().filter(|said| said.contains(&line)).count();
    assert_eq!(lines, 1, "`{line}` in {ran:#?}");
    ran
}

#[test]
fn it_ends_with_0_and_says_how_it_would_have_ended() {
    let shop = Shop::empty_on_sqlite();
    let doctor = &shop.doctor;
    ends_well(doctor, &["--db", "queue.db"], "0 (done)");
    ends_well(doctor, &["--db", "missing.db"], "66 (not found)").says("error: ");
    ends_well(doctor, &["--db", "missing.db", "-q"], "66 (not found)");
    ends_well(doctor, &["--db", "host=127.0.0.1 port=1 dbname=app"], "69 (unreachable)");
    ends_well(doctor, &["--db", "queue.db", "--preset", "river"], "78 (misconfigured)");
    std::fs::write(doctor.path("empty"), "").unwrap();
    for wrong in ["--db=mysql://x", "--target=gone", "--preset=simple", "--alive-from=empty"] {
        let host = if wrong.starts_with("--preset") { "--db=queue.db" } else { "-v" };
        ends_well(doctor, &[wrong, host], "78 (misconfigured)");
    }
    shop.in_flight(1, 20, "'web1:' || n", 5);
    ends_well(doctor, &["--db", "queue.db", "--max-jobs", "3"], "4 (refused by a guard)").says("--max-jobs");
    let written = ends_well(doctor, &["--db", "queue.db", "--log-format", "json", "-o", "json"], "0 (done)");
    written
        .stderr
        .lines()
        .for_each(|line| drop(serde_json::from_str::<serde_json::Value>(line).expect("a line is JSON")));
    assert!(shop.states().iter().all(|state| state.ends_with(" QUEUED 1")));
    std::fs::write(doctor.path("c.toml"), "[target.a]\ndb = \"queue.db\"\n[target.b]\ndb = \"missing.db\"\n").unwrap();
    ends_well(doctor, &["--config", "c.toml", "--all-targets"], "66 (not found)");
}

#[test]
fn a_usage_error_and_a_signal_are_what_they_are() {
    let shop = Shop::empty_on_sqlite();
    let wrong = shop.run(&["sweep", "--restart", "--best-effort", "--apply"]).exits(2);
    assert!(!wrong.stderr.contains("would have ended"), "{wrong:#?}");
    let mut waiting = shop.doctor.start(&shop.with_db(&["sweep", "--splay", "1h", "--best-effort", "--apply", "-v"]));
    let (mut line, mut stderr) = (String::new(), BufReader::new(waiting.stderr()));
    stderr.read_line(&mut line).unwrap();
    assert!(line.contains("beginning in"), "{line}");
    waiting.signal(Signal::TERM);
    assert_eq!(waiting.wait().signal, Some(15));
    stderr.read_to_string(&mut line).unwrap();
    assert!(!line.contains("would have ended"), "{line}");
}

/// What a database's timeout ends, and what none does: a server that takes connections and never answers, a pause, a config file
/// that is a pipe.
#[test]
fn it_takes_no_longer_than_it_may() {
    let shop = Shop::empty_on_sqlite();
    let doctor = &shop.doctor;
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let db = format!("host=127.0.0.1 port={} dbname=app sslmode=disable", silent.local_addr().unwrap().port());
    mkfifoat(CWD, doctor.path("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    for (more, instead_of) in [
        (["--db", db.as_str()], "69 (unreachable)"),
        (["--db=queue.db", "--splay=1h"], "75 (busy or out of time)"),
        (["--db=queue.db", "--config=pipe"], "75 (busy or out of time)"),
    ] {
        let began = Instant::now();
        ends_well(doctor, &[&more[..], &["--timeout", "2s"]].concat(), instead_of);
        let took = began.elapsed();
        assert!(took < Duration::from_secs(4), "{more:?} took {took:?}");
    }
    // Nobody reads the report, which is longer than a pipe holds, and no interrupt reaches that.
    shop.in_flight(1, 500, "'web1:' || n", 5);
    let hangs = [&RESTART[..], &["-o", "json", "--timeout", "2s"]].concat();
    let (began, mut hanging) = (Instant::now(), doctor.start(&shop.with_db(&hangs)));
    until("it has ended", || hanging.has_ended());
    assert!(began.elapsed() < Duration::from_secs(4));
    let ran = hanging.wait().exits(0);
    let moved = shop.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'").remove(0);
    ran.says(&format!(" moved {moved} jobs; --best-effort: would have ended with 3 (done in part) without it"));
    let run = ran.stderr.split("ended after 2s; run ").nth(1).unwrap().split(' ').next().unwrap();
    assert_eq!(doctor.run(&["history", run, "-o", "name"]).exits(0).stdout.lines().count().to_string(), moved);
}

/// The work that is in hand when the time is over is rolled back, and nobody waits for it.
#[test]
fn a_batch_in_hand_is_rolled_back() {
    let shop = Shop::empty_on_postgres();
    shop.in_flight(1, 3, "'web1:' || n", 5);
    shop.sql(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(600); RETURN NEW; END'",
    );
    shop.sql("CREATE TRIGGER slow BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION wait()");
    let ran = shop.run(&[&RESTART[..], &["--timeout", "2s"]].concat()).exits(0);
    ran.says("would have ended with 75 (busy or out of time) without it");
    until("no session is left", || {
        shop.rows("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'UPDATE%' AND state = 'active'").is_empty()
    });
    assert!(shop.states().iter().all(|state| state.ends_with(" RUNNING 0")), "{:?}", shop.states());
}
