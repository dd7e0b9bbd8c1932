//! Each way in which a connection does not come about has one message that says what, to where, why, and what to try.

use crate::support::cli::{Doctor, fails};
use crate::support::postgres::fresh;
use rustix::process::{Pid, Signal, kill_process};
use std::net::TcpListener;
use std::time::{Duration, Instant};

#[test]
fn no_such_host() {
    let ran = fails(&Doctor::new(), &["stale", "--db", "postgres://ops@db.invalid/app"], 69);
    ran.says("ops@db.invalid/app: no host has this name");
}

#[test]
fn no_such_database_and_no_such_user() {
    let url = fresh().url();
    let ran = fails(&Doctor::new(), &["stale", "--db", &url.replace("dbname=", "dbname=no_")], 69);
    ran.says("does not exist").says("dbname=...");
    let ran = fails(&Doctor::new(), &["stale", "--db", &url.replace("user=", "user=no_")], 77);
    ran.says("\"no_doctor\" does not exist").says("user=...");
}

/// Something else than Postgres, or a server that is full, hangs up.
#[test]
fn a_server_that_hangs_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let ran = fails(&Doctor::new(), &["stale", "--db", &format!("postgres://ops@127.0.0.1:{port}/app")], 69);
    ran.says("hung up during the startup");
}

/// When `connect_timeout` or `--timeout` says so.
#[test]
fn a_server_that_says_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for (connect, timeout) in [(" connect_timeout=1", "30s"), ("", "1s")] {
        let begun = Instant::now();
        let db = format!("host=127.0.0.1 port={port} user=ops{connect}");
        fails(&Doctor::new(), &["stale", "--timeout", timeout, "--db", &db], 69).says("does not answer");
        // Once for people and once for programs; of itself each would wait for 10 s.
        assert!(begun.elapsed() < Duration::from_secs(19), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_role_without_the_right_to_connect() {
    let database = fresh();
    let name = database.url().split("dbname=").nth(1).unwrap().to_owned();
    let role = format!("{name}_outsider");
    let sql = format!("CREATE ROLE {role} LOGIN; REVOKE CONNECT ON DATABASE {name} FROM PUBLIC");
    database.client().batch_execute(&sql).unwrap();
    let url = database.url().replace("user=doctor", &format!("user={role}"));
    fails(&Doctor::new(), &["stale", "--db", &url], 77).says("permission denied for database").says("GRANT CONNECT");
    database.client().batch_execute(&format!("DROP ROLE {role}")).unwrap();
}

/// Rows that a policy hides would read as "nothing stuck".
#[test]
fn rows_that_a_policy_hides() {
    let (doctor, database) = (Doctor::new(), fresh());
    doctor.run(&["init", "--db", &database.url()]).exits(0);
    let role = format!("{}_tenant", database.url().split("dbname=").nth(1).unwrap());
    let sql =
        format!("CREATE ROLE {role} LOGIN; GRANT SELECT ON jobs TO {role}; ALTER TABLE jobs ENABLE ROW LEVEL SECURITY");
    database.client().batch_execute(&sql).unwrap();
    let url = database.url().replace("user=doctor", &format!("user={role}"));
    fails(&doctor, &["stale", "--db", &url], 77).says("row-level security").says("BYPASSRLS");
    database.client().batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
}

/// A server whose process stands still ends neither a statement nor our patience, whatever the limits that it was told.
#[test]
fn a_server_that_freezes() {
    let (doctor, database) = (Doctor::new(), fresh());
    doctor.run(&["init", "--db", &database.url()]).exits(0);
    let mut holder = database.client();
    let mut held = holder.transaction().unwrap();
    held.batch_execute("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE").unwrap();
    for arguments in [&["stale"][..], &["reclaim", "--apply"]] {
        let begun = Instant::now();
        let running = doctor.start(&[arguments, &["--db", &database.url(), "--timeout", "5s"]].concat());
        let mut watcher = database.client();
        let pid = loop {
            let sql = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'jobdoctor/%' AND wait_event_type = 'Lock' \
                       AND datname = current_database()";
            match watcher.query_opt(sql, &[]).unwrap() {
                Some(row) => break row.get::<_, i32>(0),
                None => assert!(begun.elapsed() < Duration::from_secs(60), "it never came to the lock"),
            }
        };
        let pid = Pid::from_raw(pid).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        let ran = running.wait();
        kill_process(pid, Signal::CONT).unwrap();
        assert_eq!(ran.code, 69, "{ran:#?}");
        ran.says("has stopped answering");
        assert!(begun.elapsed() < Duration::from_secs(90), "{:?}", begun.elapsed());
    }
}
