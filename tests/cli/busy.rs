//! 75: it takes too long, and nothing was written. Locks on files are in `files::locked`.

use super::scene::incident;
use crate::support::cli::fails;
use insta::assert_snapshot;

#[test]
fn a_look_that_takes_too_long() {
    let doctor = incident();
    std::fs::write(doctor.path("config.toml"), super::signals::SLOW_MAPPING).unwrap();
    let arguments = ["stale", "--db", "queue.db", "--config", "config.toml", "--preset", "slow", "--timeout", "1s"];
    assert_snapshot!(fails(&doctor, &arguments, 75).stderr, @r"
error: the time limit ran out
hint: give it longer with --timeout, or narrow what is asked
");
}

/// A server that accepts and then says nothing must not keep us for longer than we were told.
#[test]
fn a_server_that_does_not_answer() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let begun = std::time::Instant::now();
    let db = format!("postgres://ops@127.0.0.1:{port}/app");
    let ran = fails(&incident(), &["stale", "--db", &db, "--timeout", "1s"], 69);
    assert!(ran.stderr.contains("does not answer"), "{}", ran.stderr);
    // Twice a second: `fails` asks for people and for programs.
    assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// A view takes no writes on SQLite, and `check` says so before an apply does. No right would help.
#[test]
fn a_view_cannot_be_reclaimed() {
    let doctor = incident();
    doctor.sql("queue.db", "ALTER TABLE jobs RENAME TO all_jobs; CREATE VIEW jobs AS SELECT * FROM all_jobs");
    doctor.run(&["stale", "--db", "queue.db"]).exits(0);
    let ran = fails(&doctor, &["check", "--db", "queue.db"], 78);
    assert!(ran.stderr.contains("jobs is a view"), "{}", ran.stderr);
}

/// Somebody's script gives an empty host when `hostname` fails: nothing must be swept, and somebody must hear of it.
#[test]
fn an_empty_host_is_a_mistake() {
    let doctor = incident();
    fails(&doctor, &["sweep", "--db", "queue.db", "--restart", "--host", "", "--apply"], 2);
    fails(&doctor, &["sweep", "--db", "queue.db", "--restart", "--owner", "", "--apply"], 2);
}
