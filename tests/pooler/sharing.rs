//! The pooler of these tests really lends one session of the server to many clients; else a suite through it proves
//! nothing.

use crate::support::pgbouncer::pooler;
use crate::support::postgres::fresh;
use postgres::Client;
use std::time::Duration;

fn session(client: &mut Client) -> i32 {
    client.query_typed("SELECT pg_backend_pid()", &[]).unwrap()[0].get(0)
}

fn setting(client: &mut Client, name: &str) -> String {
    client.query_typed(&format!("SELECT current_setting('{name}')"), &[]).unwrap()[0].get(0)
}

#[test]
fn what_a_session_is_told_reaches_the_next_client() {
    let database = fresh();
    let mut one = pooler().client(&database);
    let mut other = pooler().client(&database);
    assert_eq!(session(&mut one), session(&mut other));
    one.batch_execute("SET statement_timeout = '77s'").unwrap();
    assert_eq!(setting(&mut other, "statement_timeout"), "77s");
    assert_eq!(setting(&mut database.client(), "statement_timeout"), "0");
}

#[test]
fn a_lock_of_the_session_outlives_its_client() {
    let database = fresh();
    let mut one = pooler().client(&database);
    one.batch_execute("SELECT pg_advisory_lock(42)").unwrap();
    one.close().unwrap();
    let mut direct = database.client();
    assert!(!direct.query_one("SELECT pg_try_advisory_lock(42)", &[]).unwrap().get::<_, bool>(0));
}

/// What the labs rely on when they find nothing.
#[test]
fn what_is_left_behind_is_found() {
    for (sql, found) in [
        ("SELECT pg_advisory_lock(42)", "advisory lock 42"),
        ("PREPARE p AS SELECT 1", "prepared statement: PREPARE p AS SELECT 1"),
        ("DECLARE c CURSOR WITH HOLD FOR SELECT 1", "cursor c"),
        ("LISTEN news", "channel news"),
        ("CREATE TEMP TABLE t ()", "temporary tables"),
        ("SET lock_timeout = 7", "setting lock_timeout=7"),
        ("SET search_path = pg_catalog", "setting search_path=pg_catalog"),
    ] {
        let database = fresh();
        let mut client = pooler().client(&database);
        assert_eq!(pooler().left_behind(&database), Vec::<String>::new(), "before {sql}");
        client.batch_execute(sql).unwrap();
        assert_eq!(pooler().left_behind(&database), [found], "after {sql}");
    }
    let database = fresh();
    let mut client = pooler().client(&database);
    client.batch_execute("BEGIN; SELECT 1").unwrap();
    let left = pooler().left_behind_after(Duration::ZERO, &database);
    assert_eq!(left, ["open transaction: BEGIN; SELECT 1"]);
}
