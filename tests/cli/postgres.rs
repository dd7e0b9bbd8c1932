//! The same contracts where the database is a server.

use crate::support::cli::{Ran, fails, until};
use crate::support::proxy::{Cut, Proxy};
use crate::support::shop::Shop;
use insta::assert_snapshot;

fn queue() -> Shop {
    let shop = Shop::empty_on_postgres();
    shop.sql(
        "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at, attempts)
         SELECT n, 'mail', 'SendInvoice', 'RUNNING', 'web1:' || n, {ago 8130}, {ago 7830}, 0 FROM generate_series(1, 3) AS n",
    );
    shop
}

#[track_caller]
fn refused(shop: &Shop, words: &[&str], code: i32) -> Ran {
    fails(&shop.doctor, &shop.with_db(words), code)
}

#[test]
fn an_internal_error() {
    let shop = queue();
    let refuse = "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'out of order' USING ERRCODE = 'XX000'; END $$;
        CREATE TRIGGER no BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION no()";
    shop.sql(refuse);
    let ran = refused(&shop, &["reclaim", "--apply"], 70);
    assert_snapshot!(ran.stderr, @"error: out of order (XX000)");
    assert_eq!(shop.states(), ["1 RUNNING 0", "2 RUNNING 0", "3 RUNNING 0"]);
}

#[test]
fn no_rights() {
    let shop = queue();
    let role = format!("{}_reader", shop.server().name());
    shop.client().batch_execute(&format!("CREATE ROLE {role} LOGIN; GRANT SELECT ON jobs TO {role}")).unwrap();
    let url = shop.url.replace("user=doctor", &format!("user={role}"));
    let doctor = &shop.doctor;
    doctor.run(&["stale", "--db", &url]).exits(0);
    fails(doctor, &["reclaim", "--db", &url, "--apply"], 77).says("permission denied").says("jobdoctor check");
    fails(doctor, &["check", "--db", &url], 77).says("GRANT UPDATE");
    shop.sql(&format!("REVOKE SELECT ON jobs FROM {role}"));
    assert!(fails(doctor, &["stale", "--db", &url], 77).stderr.contains("GRANT SELECT"));
    shop.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn a_table_that_is_locked() {
    let shop = queue();
    let mut holder = shop.client();
    let mut held = holder.transaction().unwrap();
    held.batch_execute("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE").unwrap();
    refused(&shop, &["stale", "--timeout", "1s"], 75);
    refused(&shop, &["reclaim", "--apply", "--timeout", "1s"], 75);
}

/// A pooler that loses the server during a COMMIT says so before it hangs up. That is no answer of the server's, which has
/// committed; so the server is asked.
#[test]
fn a_poolers_last_words_are_no_answer_to_a_commit() {
    let shop = queue();
    let proxy = Proxy::before(shop.server().socket(), Cut::WithLastWords, true);
    let url = shop.server().url_through(&proxy.socket());
    let document = shop.doctor.run(&["reclaim", "--db", &url, "--apply", "--json"]).exits(0).json();
    assert_eq!(document["summary"]["outcomes"]["moved"], 3);
    assert!(proxy.has_cut());
    assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1"]);
}

#[test]
fn a_database_in_which_nothing_may_be_written() {
    let shop = queue();
    shop.sql(&format!("ALTER DATABASE {} SET default_transaction_read_only = on", shop.server().name()));
    shop.run(&["stale"]).exits(0);
    refused(&shop, &["check"], 78).says("default_transaction_read_only");
    refused(&shop, &["reclaim", "--apply"], 77);
}

#[test]
fn a_look_that_takes_too_long() {
    let shop = queue();
    let slow = "CREATE VIEW slow AS SELECT * FROM jobs WHERE pg_sleep(300)::text IS NOT NULL";
    shop.sql(slow);
    let begun = std::time::Instant::now();
    refused(&shop, &["stale", "--table", "slow", "--preset", "lease", "--timeout", "1s"], 75);
    // Once for people and once for programs; the view takes minutes.
    assert!(begun.elapsed() < std::time::Duration::from_secs(120), "{:?}", begun.elapsed());
    let left = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'jobdoctor/%' AND state = 'active' \
                AND datname = current_database()";
    let mut client = shop.client();
    until("the server has ended it too", || client.query_one(left, &[]).unwrap().get::<_, i64>(0) == 0);
}

/// A key that no index proves and that no two rows share: `check` says what it costs, and asks for no more than the batch.
#[test]
fn a_partitioned_table_has_no_key_of_its_own() {
    let shop = queue();
    let partitioned = "ALTER TABLE jobs RENAME TO old;
        CREATE TABLE jobs (LIKE old, PRIMARY KEY (id, status)) PARTITION BY LIST (status);
        CREATE TABLE jobs_rest PARTITION OF jobs DEFAULT; INSERT INTO jobs SELECT * FROM old; DROP TABLE old";
    shop.sql(partitioned);
    let checked = shop.run(&["check", "--json"]).exits(0).json();
    let key = checked["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == "key").unwrap();
    assert_eq!(key["severity"], "warning", "{key}");
    let shared =
        "INSERT INTO jobs SELECT (jsonb_populate_record(j, '{\"status\": \"FAILED\"}')).* FROM jobs AS j WHERE id = 1";
    shop.sql(shared);
    // The other claims can be moved.
    let checked = shop.run(&["check", "--json"]).exits(0).stdout;
    assert!(checked.contains("2 rows share one with another row: each action asks"), "{checked}");
    let done = shop.run(&["reclaim", "--apply", "--json"]).exits(3).json();
    let outcomes = &done["summary"]["outcomes"];
    assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&2.into(), &1.into()), "{done}");
    let checked = shop.run(&["check", "--json"]).exits(78).stdout;
    assert!(checked.contains("all claims that were tried share one with another row: 2 rows"), "{checked}");
}
