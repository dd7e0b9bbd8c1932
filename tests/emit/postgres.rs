//! Scripts for psql.

use crate::support::cli::{Doctor, until};
use crate::support::postgres::{TestDatabase, fresh};
use crate::support::shells::{psql, psql_as};
use crate::support::shop::states;

const SOME: &str = "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at, attempts)
    SELECT n, 'mail', 'SendInvoice', 'RUNNING', 'web1:' || n, now() - interval '2h', now() - interval '1h',
        CASE WHEN n = 3 THEN 4 ELSE 0 END
    FROM generate_series(1, 3) AS n";

pub(super) fn queue() -> (Doctor, TestDatabase, String) {
    let (doctor, database) = (Doctor::new(), fresh());
    let url = database.url();
    doctor.run(&["init", "--db", &url]).exits(0);
    database.client().batch_execute(SOME).unwrap();
    (doctor, database, url)
}

fn script(doctor: &Doctor, url: &str) -> String {
    doctor.run(&["reclaim", "--db", url, "--emit-sql"]).exits(0).stdout
}

fn rows(database: &TestDatabase, sql: &str) -> Vec<String> {
    database.client().query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

/// That every column is as an apply leaves it is shown for every queue in `scenes::by_hand`.
#[test]
fn a_script_counts_what_it_moves_and_moves_nothing_twice() {
    let (doctor, by_hand, url) = queue();
    let ran = doctor.run(&["reclaim", "--db", &url, "--emit-sql"]).exits(0);
    ran.says("a script of 2 batches for 3 jobs; nothing was written");
    assert_eq!(states(&mut by_hand.client()), ["1 RUNNING 0", "2 RUNNING 0", "3 RUNNING 4"]);
    let done = psql(&by_hand, &ran.stdout).exits(0);
    assert_eq!(done.stderr, "");
    let counted: Vec<&str> = done.stdout.lines().filter(|line| line.contains(" of ")).collect();
    assert_eq!(counted, [" 1 of 2 |       2 |     2 |       0", " 2 of 2 |       1 |     1 |       0"]);
    assert_eq!(states(&mut by_hand.client()), ["1 QUEUED 1", "2 QUEUED 1", "3 FAILED 5"]);
    // A ticket that is worked off twice.
    psql(&by_hand, &ran.stdout).exits(0).shows(" 1 of 2 |       2 |     0 |       2");
    assert_eq!(states(&mut by_hand.client()), ["1 QUEUED 1", "2 QUEUED 1", "3 FAILED 5"]);
}

#[test]
fn what_changed_meanwhile_is_left_alone_and_not_counted() {
    for meanwhile in [
        "UPDATE jobs SET heartbeat_at = now() WHERE id = 1",
        "UPDATE jobs SET status = 'SUCCEEDED' WHERE id = 1",
        "DELETE FROM jobs WHERE id = 1",
        "UPDATE jobs SET lease_token = 'new' WHERE id = 1",
    ] {
        let (doctor, database, url) = queue();
        let script = script(&doctor, &url);
        database.client().batch_execute(meanwhile).unwrap();
        let before = rows(&database, "SELECT j::text FROM jobs AS j WHERE id = 1");
        let done = psql(&database, &script).exits(0);
        assert!(done.stdout.contains(" 1 of 2 |       2 |     1 |       1"), "{meanwhile}: {}", done.stdout);
        assert_eq!(rows(&database, "SELECT j::text FROM jobs AS j WHERE id = 1"), before, "{meanwhile}");
    }
}

#[test]
fn a_locked_row_is_not_waited_for() {
    let (doctor, database, url) = queue();
    let script = script(&doctor, &url);
    let mut holder = database.client();
    let mut held = holder.transaction().unwrap();
    held.batch_execute("SELECT * FROM jobs WHERE id = 1 FOR UPDATE").unwrap();
    psql(&database, &script).exits(0).shows(" 1 of 2 |       2 |     1 |       1");
    assert_eq!(states(&mut database.client()), ["1 RUNNING 0", "2 QUEUED 1", "3 FAILED 5"]);
}

/// A row that another session changes while the script waits for nothing: its new values count, not those of the snapshot.
#[test]
fn what_is_verified_is_what_is_locked() {
    let (doctor, database, url) = queue();
    let script = script(&doctor, &url);
    // Between the snapshot of the verifying statement and the lock there is no moment to step in; so the lock of the whole
    // table makes one, and by then the heartbeat has come.
    let mut holder = database.client();
    let mut held = holder.transaction().unwrap();
    held.batch_execute("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE; UPDATE jobs SET heartbeat_at = now() WHERE id = 1")
        .unwrap();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| psql(&database, &script));
        let waits = "SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database \
                     WHERE d.datname = current_database() AND NOT granted";
        until("the script waits", || database.client().query_one(waits, &[]).unwrap().get::<_, i64>(0) > 0);
        held.commit().unwrap();
        running.join().unwrap().exits(0).shows(" 1 of 2 |       2 |     1 |       1");
    });
    assert_eq!(states(&mut database.client()), ["1 RUNNING 0", "2 QUEUED 1", "3 FAILED 5"]);
}

#[test]
fn a_statement_that_touches_too_few_takes_its_batch_back() {
    let swallow = "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.id = 2 THEN RETURN NULL; END IF; RETURN NEW; END $$;";
    let revert = "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.id = 2 THEN NEW.status = 'RUNNING'; END IF; RETURN NEW; END $$;";
    for function in [swallow, revert] {
        let (doctor, database, url) = queue();
        let trigger = "CREATE TRIGGER no BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION no()";
        database.client().batch_execute(&format!("{function} {trigger}")).unwrap();
        let done = psql(&database, &script(&doctor, &url)).exits(3);
        done.says("ERROR:");
        assert!(done.stderr.contains("touched 1 rows instead of 2") || done.stderr.contains("1 are still in flight"));
        assert_eq!(states(&mut database.client()), ["1 RUNNING 0", "2 RUNNING 0", "3 RUNNING 4"]);
    }
}

/// The second of two statements fails: the first has not been, and nothing after it is.
#[test]
fn an_error_in_the_middle_leaves_nothing_half_done() {
    let (doctor, database) = (Doctor::new(), fresh());
    database.client().batch_execute(include_str!("../../fixtures/schemas/solid-queue/1.5.0.sql")).unwrap();
    let some = "INSERT INTO solid_queue_jobs (id, queue_name, class_name, priority, created_at, updated_at)
            SELECT n, 'mail', 'Send', 0, now(), now() FROM generate_series(1, 2) AS n;
        INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at)
            SELECT n, 77, now() AT TIME ZONE 'UTC' - interval '70 min' FROM generate_series(1, 2) AS n;
        CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN IF NEW.job_id = 2 THEN RAISE EXCEPTION 'out of order'; END IF; RETURN NEW; END $$;
        CREATE TRIGGER no BEFORE INSERT ON solid_queue_ready_executions FOR EACH ROW EXECUTE FUNCTION no()";
    database.client().batch_execute(some).unwrap();
    psql(&database, &script(&doctor, &database.url())).exits(3).says("out of order");
    let left = |table: &str| rows(&database, &format!("SELECT count(*)::text FROM solid_queue_{table}_executions"));
    assert_eq!((left("claimed"), left("ready")), (vec!["2".to_owned()], vec!["0".to_owned()]));
    // Without what is in the way the same script does it.
    database.client().batch_execute("DROP TRIGGER no ON solid_queue_ready_executions").unwrap();
    psql(&database, &script(&doctor, &database.url())).exits(0);
    assert_eq!((left("claimed"), left("ready")), (vec!["0".to_owned()], vec!["2".to_owned()]));
}

/// Its time is that of the run, not of the making.
#[test]
fn now_is_the_time_of_the_run() {
    let (doctor, database, url) = queue();
    let script = script(&doctor, &url);
    let begun = rows(&database, "SELECT clock_timestamp()::text");
    psql(&database, &script).exits(0);
    let sql = format!(
        "SELECT id::text FROM jobs WHERE coalesce(finished_at, run_at) BETWEEN '{}' AND clock_timestamp() ORDER BY id",
        begun[0]
    );
    assert_eq!(rows(&database, &sql), ["1", "2", "3"]);
}

#[test]
fn whoever_runs_it_needs_the_rights_that_apply_needs() {
    let (doctor, database, url) = queue();
    let role = format!("{}_ticket", database.name());
    let grants = format!("CREATE ROLE {role} LOGIN; GRANT SELECT ON jobs TO {role}");
    database.client().batch_execute(&grants).unwrap();
    let script = script(&doctor, &url);
    psql_as(&database, &role, &script).exits(3).says("permission denied for table jobs");
    database.client().batch_execute(&format!("GRANT UPDATE ON jobs TO {role}")).unwrap();
    psql_as(&database, &role, &script).exits(0);
    assert_eq!(states(&mut database.client()), ["1 QUEUED 1", "2 QUEUED 1", "3 FAILED 5"]);
    database.client().batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
}

#[test]
fn no_secret_is_in_it() {
    let (doctor, _database, url) = queue();
    let ran = doctor.run(&["reclaim", "--db", &format!("{url} password=c4n4ry"), "--emit-sql", "-v"]).exits(0);
    assert!(!ran.stdout.contains("c4n4ry") && !ran.stderr.contains("c4n4ry"), "{ran:#?}");
    ran.shows("-- database: ");
}
