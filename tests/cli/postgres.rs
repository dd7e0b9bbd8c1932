//! The same contracts where the database is a server.

use crate::support::cli::{Doctor, fails, is_valid, until};
use crate::support::postgres::{TestDatabase, fresh};
use crate::support::proxy::{Cut, Proxy};
use insta::assert_snapshot;

const SOME: &str = "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at, attempts)
    SELECT n, 'mail', 'SendInvoice', 'RUNNING', 'web1:' || n, now() - interval '2h 15m 30s',
        now() - interval '2h 10m 30s', 0
    FROM generate_series(1, 3) AS n";

fn queue() -> (Doctor, TestDatabase, String) {
    let (doctor, database) = (Doctor::new(), fresh());
    let url = database.url();
    doctor.run(&["init", "--db", &url]).exits(0);
    database.client().batch_execute(SOME).unwrap();
    (doctor, database, url)
}

fn states(database: &TestDatabase) -> Vec<String> {
    let rows =
        database.client().query("SELECT id || ' ' || status || ' ' || attempts FROM jobs ORDER BY id", &[]).unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[test]
fn stale_and_reclaim() {
    let (doctor, database, url) = queue();
    let found = doctor.run(&["stale", "--db", &url, "--json"]).exits(0).json();
    is_valid("stale", &found);
    assert_eq!(found["summary"]["stuck"], 3);
    let listed = doctor.run(&["stale", "--db", &url]).exits(0).stdout;
    let (diagnosis, table) = listed.split_once("\n\n").unwrap();
    assert!(
        diagnosis.starts_with("host web1 vanished 2h ") && diagnosis.ends_with(": 3 jobs of kind SendInvoice"),
        "{diagnosis}"
    );
    assert_snapshot!(table, @r"
ID  OWNER   SILENT  WHY
1   web1:1  2h 15m  lease ran out
2   web1:2  2h 15m  lease ran out
3   web1:3  2h 15m  lease ran out
");
    let applied = doctor.run(&["reclaim", "--db", &url, "--apply", "--json"]).exits(0).json();
    is_valid("reclaim", &applied);
    assert_eq!(states(&database), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1"]);
    is_valid("check", &doctor.run(&["check", "--db", &url, "--json"]).exits(0).json());
}

#[test]
fn an_internal_error() {
    let (doctor, database, url) = queue();
    let refuse = "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'out of order' USING ERRCODE = 'XX000'; END $$;
        CREATE TRIGGER no BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION no()";
    database.client().batch_execute(refuse).unwrap();
    let ran = fails(&doctor, &["reclaim", "--db", &url, "--apply"], 70);
    assert_snapshot!(ran.stderr, @"error: out of order (XX000)");
    assert_eq!(states(&database), ["1 RUNNING 0", "2 RUNNING 0", "3 RUNNING 0"]);
}

#[test]
fn refused_and_locked() {
    let (doctor, database, url) = queue();
    let mut holder = database.client();
    holder.batch_execute("CREATE UNIQUE INDEX one ON jobs (kind) WHERE status = 'QUEUED'").unwrap();
    let mut held = holder.transaction().unwrap();
    held.batch_execute("SELECT * FROM jobs WHERE id = 1 FOR UPDATE").unwrap();
    let applied = doctor.run(&["reclaim", "--db", &url, "--apply", "--json"]).exits(3).json();
    let outcomes = &applied["summary"]["outcomes"];
    assert_eq!((&outcomes["moved"], &outcomes["refused"], &outcomes["locked"]), (&1.into(), &1.into(), &1.into()));
    let refused = applied["steps"].as_array().unwrap().iter().find(|step| step["outcome"] == "refused").unwrap();
    assert_eq!((&refused["error"]["sqlstate"], &refused["error"]["constraint"]), (&"23505".into(), &"one".into()));
}

#[test]
fn no_rights() {
    let (doctor, database, url) = queue();
    let role = url.split("dbname=").nth(1).unwrap().to_owned() + "_reader";
    database.client().batch_execute(&format!("CREATE ROLE {role} LOGIN; GRANT SELECT ON jobs TO {role}")).unwrap();
    let url = url.replace("user=doctor", &format!("user={role}"));
    doctor.run(&["stale", "--db", &url]).exits(0);
    let ran = fails(&doctor, &["reclaim", "--db", &url, "--apply"], 77);
    assert!(ran.stderr.contains("permission denied"), "{ran:#?}");
    assert!(ran.stderr.contains("jobdoctor check"), "{ran:#?}");
    let ran = fails(&doctor, &["check", "--db", &url], 77);
    assert!(ran.stderr.contains("GRANT UPDATE"), "{ran:#?}");
    database.client().batch_execute(&format!("REVOKE SELECT ON jobs FROM {role}")).unwrap();
    fails(&doctor, &["stale", "--db", &url], 77);
    database.client().batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
}

#[test]
fn a_table_that_is_locked() {
    let (doctor, database, url) = queue();
    let mut holder = database.client();
    let mut held = holder.transaction().unwrap();
    held.batch_execute("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE").unwrap();
    fails(&doctor, &["stale", "--db", &url, "--timeout", "1s"], 75);
    fails(&doctor, &["reclaim", "--db", &url, "--apply", "--timeout", "1s"], 75);
}

/// A pooler that loses the server during a COMMIT says so before it hangs up. That is no answer of the server's, which has
/// committed; so the server is asked.
#[test]
fn a_poolers_last_words_are_no_answer_to_a_commit() {
    let (doctor, database, _) = queue();
    let proxy = Proxy::before(database.socket(), Cut::WithLastWords, true);
    let url = database.url_through(&proxy.socket());
    let document = doctor.run(&["reclaim", "--db", &url, "--apply", "--json"]).exits(0).json();
    assert_eq!(document["summary"]["outcomes"]["moved"], 3);
    assert!(proxy.has_cut());
    assert_eq!(states(&database), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1"]);
}

#[test]
fn a_database_in_which_nothing_may_be_written() {
    let (doctor, database, url) = queue();
    let name = url.split("dbname=").nth(1).unwrap();
    let sql = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
    database.client().batch_execute(&sql).unwrap();
    doctor.run(&["stale", "--db", &url]).exits(0);
    let ran = fails(&doctor, &["check", "--db", &url], 78);
    assert!(ran.stderr.contains("default_transaction_read_only"), "{ran:#?}");
    fails(&doctor, &["reclaim", "--db", &url, "--apply"], 77);
}

/// The query that takes too long is ended on the server too, and said to be what it is.
#[test]
fn a_look_that_takes_too_long() {
    let (doctor, database, url) = queue();
    let slow = "CREATE VIEW slow AS SELECT * FROM jobs WHERE pg_sleep(300)::text IS NOT NULL";
    database.client().batch_execute(slow).unwrap();
    let begun = std::time::Instant::now();
    fails(&doctor, &["stale", "--db", &url, "--table", "slow", "--preset", "lease", "--timeout", "1s"], 75);
    // Once for people and once for programs; the view takes minutes.
    assert!(begun.elapsed() < std::time::Duration::from_secs(120), "{:?}", begun.elapsed());
    let left = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'jobdoctor/%' AND state = 'active' \
                AND datname = current_database()";
    let mut client = database.client();
    until("the server has ended it too", || client.query_one(left, &[]).unwrap().get::<_, i64>(0) == 0);
}

/// A key that no index proves and that no two rows share: `check` says what it costs, and asks for no more than the batch.
#[test]
fn a_partitioned_table_has_no_key_of_its_own() {
    let (doctor, database, url) = queue();
    let partitioned = "ALTER TABLE jobs RENAME TO old;
        CREATE TABLE jobs (LIKE old, PRIMARY KEY (id, status)) PARTITION BY LIST (status);
        CREATE TABLE jobs_rest PARTITION OF jobs DEFAULT; INSERT INTO jobs SELECT * FROM old; DROP TABLE old";
    database.client().batch_execute(partitioned).unwrap();
    let checked = doctor.run(&["check", "--db", &url, "--json"]).exits(0).json();
    let key = checked["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == "key").unwrap();
    assert_eq!(key["severity"], "warning", "{key}");
    let shared =
        "INSERT INTO jobs SELECT (jsonb_populate_record(j, '{\"status\": \"FAILED\"}')).* FROM jobs AS j WHERE id = 1";
    database.client().batch_execute(shared).unwrap();
    // The other claims can be moved.
    let checked = doctor.run(&["check", "--db", &url, "--json"]).exits(0).stdout;
    assert!(checked.contains("2 rows share one with another row: each action asks"), "{checked}");
    let done = doctor.run(&["reclaim", "--db", &url, "--apply", "--json"]).exits(3).json();
    let outcomes = &done["summary"]["outcomes"];
    assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&2.into(), &1.into()), "{done}");
    let checked = doctor.run(&["check", "--db", &url, "--json"]).exits(78).stdout;
    assert!(checked.contains("all claims that were tried share one with another row: 2 rows"), "{checked}");
}

/// The column's collation takes `a` and `A` for one key, its unique index does not.
#[test]
fn an_index_that_tells_more_keys_apart_than_the_column() {
    let (doctor, database, url) = queue();
    let keys = "CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        ALTER TABLE jobs DROP CONSTRAINT jobs_pkey; ALTER TABLE jobs ALTER id DROP IDENTITY IF EXISTS;
        ALTER TABLE jobs ALTER id TYPE text COLLATE blind USING CASE id WHEN 1 THEN 'a' WHEN 2 THEN 'A' ELSE 'b' END;
        CREATE UNIQUE INDEX keys ON jobs (id COLLATE \"C\")";
    database.client().batch_execute(keys).unwrap();
    let done = doctor.run(&["reclaim", "--db", &url, "--apply", "--json"]).exits(3).json();
    let outcomes = &done["summary"]["outcomes"];
    assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&1.into(), &2.into()), "{done}");
}
