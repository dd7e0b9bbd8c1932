//! Who holds the rows that a run finds locked, and who has held locks for long.

use super::fleet::{at, put};
use crate::support::postgres::Cluster;
use crate::support::shop::Shop;
use serde_json::{Value, json};

fn stuck(queue: &Shop) {
    put(queue, &(0..9).map(|n| at("mail", "A", "web1:1", 11_130, 7830 + n)).collect::<Vec<_>>());
}

/// Who holds the locks that a run meets.
fn holders(queue: &Shop) -> Vec<Value> {
    let done = queue.run(&["reclaim", "--apply", "--max-jobs", "99", "--json"]).exits(3).json();
    done["summary"]["locked_by"].as_array().unwrap().clone()
}

fn ids(holder: &Value) -> Vec<&str> {
    let mut ids: Vec<&str> = holder["jobs"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    ids.sort_unstable();
    ids
}

/// One that is idle, several at once (a multixact), a prepared one, and one whose savepoint is released.
#[test]
fn each_holder_is_named() {
    let cluster = Cluster::start(5432, &["max_prepared_transactions=4"], |_| {});
    let queue = Shop::on(cluster.fresh());
    queue.run(&["init"]).exits(0);
    stuck(&queue);
    let (mut puma, mut sidekiq) = (queue.client(), queue.client());
    puma.batch_execute("SET application_name = 'puma'").unwrap();
    puma.batch_execute("BEGIN; SELECT FROM jobs WHERE id IN (1, 2) FOR SHARE").unwrap();
    sidekiq.batch_execute("SET application_name = 'sidekiq'; BEGIN; SELECT FROM jobs WHERE id = 2 FOR SHARE").unwrap();
    queue.sql("BEGIN; SELECT FROM jobs WHERE id = 3 FOR UPDATE; PREPARE TRANSACTION 'two-phase'");
    let found = holders(&queue);
    let [first, second, prepared] = found.as_slice() else { panic!("{found:#?}") };
    let (first, second) = if first["application"] == "puma" { (first, second) } else { (second, first) };
    assert_eq!((ids(first), ids(second), ids(prepared)), (vec!["1", "2"], vec!["2"], vec!["3"]), "{found:#?}");
    assert_eq!((&first["application"], &first["state"]), (&json!("puma"), &json!("idle in transaction")));
    assert_eq!((&second["application"], &prepared["prepared"]), (&json!("sidekiq"), &json!("two-phase")));
    assert!(prepared["pid"].is_null() && first["since_seconds"].as_f64().unwrap() < 60.0, "{found:#?}");
    puma.batch_execute("ROLLBACK").unwrap();
    sidekiq.batch_execute("ROLLBACK").unwrap();
    queue.sql("ROLLBACK PREPARED 'two-phase'");
    stuck(&queue);
    puma.batch_execute("BEGIN; SAVEPOINT a; SELECT FROM jobs WHERE id = 12 FOR UPDATE; RELEASE a").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let found = holders(&queue);
    assert_eq!((found.len(), &found[0]["certain"], &found[0]["application"]), (1, &json!(false), &json!("puma")));
    puma.batch_execute("ROLLBACK").unwrap();
}

/// The owner's row is evidence, and its lock keeps its jobs too.
#[test]
fn the_holder_of_an_owners_row() {
    let queue = Shop::on_postgres();
    queue.sql("CREATE TABLE workers (name text PRIMARY KEY, beat timestamptz);
        CREATE TABLE q (id int PRIMARY KEY, status text, worker text, tries int DEFAULT 0);
        INSERT INTO workers VALUES ('w1', now() - interval '1 h'); INSERT INTO q VALUES (1, 'on', 'w1'), (2, 'on', 'w1')");
    let mapping = "[mapping.m]\nattempts = { column = 'tries', counted = 'at reclaim', exhausted = 'leave' }
states = { waiting = ['new'], in_flight = ['on'] }\n[mapping.m.time]\ndefault = 'native'\n[mapping.m.claim]\ntable = 'q'\nkey = 'id'\nstate = 'status'
liveness = [{ by = 'owner', silent_after = '5m' }]\n[mapping.m.owner]\nid = 'worker'\ntable = 'workers'\nmatch = { name = 'worker' }
heartbeat = 'beat'\nmissing = 'dead'\n[mapping.m.action]\nrequeue = { to = 'new' }\n";
    std::fs::write(queue.doctor.path("c.toml"), mapping).unwrap();
    let mut client = queue.client();
    client.batch_execute("SET application_name = 'boot'; BEGIN; SELECT FROM workers FOR UPDATE").unwrap();
    let done = ["reclaim", "--apply", "--json", "--config", "c.toml", "--preset", "m"];
    let done = queue.run(&done).exits(3).json();
    let found = &done["summary"]["locked_by"];
    assert_eq!((&found[0]["application"], ids(&found[0])), (&json!("boot"), vec!["1", "2"]), "{found:#}");
}

/// What a session executes stands on the screen only if it is asked for, and never what this role may not see.
#[test]
fn what_is_executed_is_said_on_demand() {
    let queue = Shop::empty_on_postgres();
    stuck(&queue);
    let mut client = queue.client();
    let canary = "BEGIN; SELECT 'c4n4ry' FROM jobs WHERE id = 1 FOR UPDATE";
    client.batch_execute(canary).unwrap();
    let quiet = queue.run(&["reclaim", "--id", "1", "--apply"]).exits(3);
    assert!(quiet.stderr.contains("locked: 1 by pid ") && !quiet.whole().contains("c4n4ry"), "{}", quiet.whole());
    let document = queue.run(&["reclaim", "--id", "1", "--apply", "--json"]).exits(3).stdout;
    assert!(!document.contains("c4n4ry"), "{document}");
    assert!(queue.run(&["reclaim", "--id", "1", "--apply", "-v"]).exits(3).stderr.contains("c4n4ry"));
    let role = format!("role_{}", queue.server().name());
    queue.sql(&format!("CREATE ROLE {role} LOGIN; GRANT SELECT, UPDATE ON jobs TO {role}"));
    let url = queue.url.replace("user=doctor", &format!("user={role}"));
    let ran = queue.doctor.run(&["reclaim", "--db", &url, "--id", "1", "--apply", "-v"]).exits(3);
    assert!(ran.stderr.contains("in a state that this role may not see); pg_read_all_stats shows"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("c4n4ry"), "{}", ran.stderr);
}

/// The server's clock is put on, so that a transaction of a moment ago has lasted for eleven minutes.
#[test]
fn a_transaction_that_holds_locks_for_long() {
    let queue = Shop::empty_on_postgres();
    let mut client = queue.client();
    client.batch_execute("SET application_name = 'report'; BEGIN; LOCK TABLE jobs IN ROW SHARE MODE").unwrap();
    let mut dump = queue.client();
    dump.batch_execute("BEGIN; SELECT FROM jobs").unwrap();
    let none = |document: &Value| document["causes"].as_array().unwrap().is_empty();
    assert!(none(&queue.json(&["status"], 0)), "a moment is not long");
    queue.sql(
        "SET allow_system_table_mods = on; CREATE OR REPLACE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz
        LANGUAGE sql VOLATILE AS $$ SELECT pg_catalog.now() + interval '11 minutes' $$",
    );
    let status = queue.json(&["status"], 0);
    let [cause] = status["causes"].as_array().unwrap().as_slice() else { panic!("{status:#}") };
    let text = cause["text"].as_str().unwrap();
    assert!(
        text.contains("(report, idle in transaction for 11m") && text.ends_with(" holds locks on the queue's tables"),
        "{text}"
    );
    assert_eq!(cause["diagnosis"], "locks");
    queue.run(&["status", "--exit-code"]).exits(1);
    let check = queue.json(&["check"], 0);
    let found = check["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == "long_transaction");
    assert!(found.unwrap()["detail"].as_str().unwrap().contains("report"), "{check:#}");
    // Without the right to see since when, that is what is said.
    let role = format!("role_{}", queue.server().name());
    queue.sql(&format!("CREATE ROLE {role} LOGIN; GRANT SELECT ON jobs TO {role}"));
    let url = queue.url.replace("user=doctor", &format!("user={role}"));
    let status = queue.doctor.run(&["status", "--db", &url, "--json"]).exits(0).json();
    let warning = status["warnings"][0].as_str().unwrap();
    assert!(warning.contains("1 session holds locks") && warning.contains("pg_read_all_stats"), "{status:#}");
    assert!(none(&status), "{status:#}");
    let check = queue.doctor.run(&["check", "--db", &url]).whole();
    assert!(
        check.contains("sessions: 1 session holds locks") && check.contains("GRANT pg_read_all_stats TO"),
        "{check}"
    );
}
