//! What a pooler refuses is told in words that help. PgBouncer has one SQLSTATE, 08P01, for nearly all of it, so that
//! its message must tell one from the other.

use crate::support::cli::{Doctor, fails, until};
use crate::support::pgbouncer::{GUARDED, Pooler, pooler};
use crate::support::postgres::{TestDatabase, USER, fresh};
use postgres::{Client, NoTls};

/// A queue, and its address through the shared pooler.
fn queue() -> (Doctor, TestDatabase, String) {
    let (doctor, database) = (Doctor::new(), fresh());
    doctor.run(&["init", "--db", &database.url()]).exits(0);
    let db = database.url_through(pooler().socket());
    (doctor, database, db)
}

#[test]
fn a_database_that_the_pooler_does_not_know() {
    let (doctor, database, _) = queue();
    let pooler = Pooler::new(database.name(), &[]);
    doctor.run(&["stale", "--db", &database.url_through(pooler.socket())]).exits(0);
    let db = format!("host={} user={USER} dbname=nosuch", pooler.socket().display());
    fails(&doctor, &["stale", "--db", &db], 69).says("nosuch").says("database");
}

/// The pooler takes any name, and finds out at the server.
#[test]
fn a_database_that_the_server_behind_does_not_know() {
    let doctor = Doctor::new();
    let db = format!("host={} user={USER} dbname=nosuch", pooler().socket().display());
    // Asked again, PgBouncer 1.15 only says that it cannot connect.
    doctor.run(&["stale", "--db", &db]).exits(69).says("nosuch").says("does not exist");
}

#[test]
fn a_startup_parameter() {
    let (doctor, _database, db) = queue();
    doctor.run(&["stale", "--db", &db]).exits(0);
    for options in ["options=-csearch_path=public", "options='-c statement_timeout=9s'"] {
        let ran = fails(&doctor, &["stale", "--db", &format!("{db} {options}")], 78);
        // PgBouncer 1.20 and later name the parameter within `options`.
        ran.says("the pooler refuses the startup parameter `").says("PGOPTIONS");
    }
}

/// The application's name is among the few things that a pooler lets pass, and is ours, not the server session's.
#[test]
fn our_own_startup_packet_is_not_refused() {
    let (doctor, _database, db) = queue();
    doctor.run(&["stale", "--db", &format!("{db} application_name=deploy")]).exits(0);
}

#[test]
fn a_password() {
    let (doctor, database, db) = queue();
    for (name, method, right) in GUARDED {
        let role = format!(
            "DO $$ BEGIN CREATE ROLE {name} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
            GRANT SELECT ON jobs TO {name}"
        );
        database.client().batch_execute(&role).unwrap();
        let db = db.replace(&format!("user={USER}"), &format!("user={name}"));
        doctor.run(&["stale", "--db", &format!("{db} password={right}")]).exits(0);
        let ran = fails(&doctor, &["stale", "--db", &format!("{db} password=c4n4ry")], 77);
        ran.says("password");
        assert!(!ran.stderr.contains("c4n4ry"), "{method}: {ran:#?}");
        fails(&doctor, &["stale", "--db", &db], 77).says("password");
    }
}

#[test]
fn a_user_whom_the_pooler_does_not_know() {
    let (doctor, _database, db) = queue();
    let db = db.replace(&format!("user={USER}"), "user=nosuch");
    fails(&doctor, &["stale", "--db", &db], 77).says("nosuch");
}

#[test]
fn no_more_clients() {
    let (doctor, database, _) = queue();
    let pooler = Pooler::new(database.name(), &["max_client_conn = 1"]);
    let db = database.url_through(pooler.socket());
    // The one that saw it start goes away a moment later.
    let mut held = None;
    until("the only place is ours", || {
        held = Client::connect(&db, NoTls).ok();
        held.is_some()
    });
    fails(&doctor, &["stale", "--db", &db], 75).says("no more connections allowed").says("try again");
    fails(&doctor, &["reclaim", "--db", &db, "--apply"], 75).says("no more connections allowed").says("try again");
    drop(held);
    until("the place is free again", || doctor.run(&["stale", "--db", &db]).code == 0);
}

/// The pooler lets in and then has no session to lend. Its last words come together with the end of the connection, and
/// the driver may lose them, or the system, because the pooler has not read all that it was asked.
#[test]
fn no_session_for_too_long() {
    let (doctor, database, _) = queue();
    let pooler = Pooler::new(database.name(), &["default_pool_size = 1", "query_wait_timeout = 1"]);
    let db = database.url_through(pooler.socket());
    let mut holder = pooler.client(&database);
    holder.batch_execute("BEGIN; SELECT 1").unwrap();
    let ran = doctor.run(&["stale", "--db", &db]).exits(69);
    let said = ["query_wait_timeout", "connection closed", "Connection reset"];
    assert!(ran.stdout.is_empty() && said.iter().any(|words| ran.stderr.contains(words)), "{ran:#?}");
    holder.batch_execute("COMMIT").unwrap();
    doctor.run(&["stale", "--db", &db]).exits(0);
}
