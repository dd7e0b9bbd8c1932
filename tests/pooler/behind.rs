//! Every command does through the pooler what it does without, and leaves the sessions as it found them.

use crate::support::cli::{Doctor, is_valid, until};
use crate::support::pgbouncer::{Pooler, pooler};
use crate::support::postgres::{TestDatabase, fresh};
use crate::support::shop::states;
use rustix::process::Signal;

/// Three dead claims; more than a batch would change nothing here.
const SOME: &str = "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at, attempts)
    SELECT n, 'mail', 'SendInvoice', 'RUNNING', 'web1:' || n, now() - interval '2h', now() - interval '1h', 0
    FROM generate_series(1, 3) AS n";

#[track_caller]
fn nothing_is_left(database: &TestDatabase, after: &[&str]) {
    assert_eq!(pooler().left_behind(database), Vec::<String>::new(), "after {after:?}");
}

/// Nor costs the pool a session, as a client does that goes away within a transaction.
#[test]
fn no_command_leaves_anything_behind() {
    let (doctor, database) = (Doctor::new(), fresh());
    let db = database.url_through(pooler().socket());
    doctor.run(&["init", "--db", &db]).exits(0);
    nothing_is_left(&database, &["init"]);
    let mut client = pooler().client(&database);
    let mut session = || -> i32 { client.query_typed("SELECT pg_backend_pid()", &[]).unwrap()[0].get(0) };
    let mut direct = database.client();
    for (words, after) in [
        (&["stale"][..], "RUNNING 0"),
        (&["show", "1"], "RUNNING 0"),
        (&["owners"], "RUNNING 0"),
        (&["check"], "RUNNING 0"),
        (&["reclaim"], "RUNNING 0"),
        (&["reclaim", "--apply"], "QUEUED 1"),
        (&["sweep", "--apply"], "QUEUED 1"),
        (&["sweep", "--restart", "--host", "web1", "--apply"], "QUEUED 1"),
    ] {
        direct.batch_execute(&format!("TRUNCATE jobs; {SOME}")).unwrap();
        let lent = session();
        let arguments = [words, &["--db", &db, "--json"]].concat();
        is_valid(words[0], &doctor.run(&arguments).exits(0).json());
        assert_eq!(session(), lent, "{words:?}");
        assert_eq!(states(&mut direct), [1, 2, 3].map(|id| format!("{id} {after}")), "{words:?}");
        nothing_is_left(&database, words);
    }
}

/// The wish to cancel takes a connection of its own. PgBouncer 1.18 ends itself, and with it everybody's connections,
/// where such a connection is hung up before it has been answered, as libpq never does.
#[test]
fn an_interrupt_ends_the_query_and_not_the_pooler() {
    let (doctor, database) = (Doctor::new(), fresh());
    let pooler = Pooler::new("*", &[]);
    let db = database.url_through(pooler.socket());
    doctor.run(&["init", "--db", &db]).exits(0);
    let mut holder = database.client();
    holder.batch_execute("BEGIN; LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE").unwrap();
    let mut watcher = database.client();
    let mut waiting = || -> bool {
        let sql = "SELECT EXISTS (SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock')";
        watcher.query_one(sql, &[]).unwrap().get(0)
    };
    let running = doctor.start(&["stale", "--db", &db]);
    until("it waits for the table", &mut waiting);
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!((ran.signal, ran.stdout.as_str()), (Some(2), ""), "{ran:#?}");
    until("nobody waits any more", || !waiting());
    holder.batch_execute("ROLLBACK").unwrap();
    doctor.run(&["stale", "--db", &db]).exits(0);
    assert_eq!(pooler.left_behind(&database), Vec::<String>::new());
}
