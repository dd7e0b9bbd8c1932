//! A role that has nothing but a connection, and then what `check` asks for: that is enough to look and to move.

use super::tables::{Tables, by_age, shop};
use crate::support::cli::Doctor;
use crate::support::dice::one_in;
use crate::support::postgres::TestDatabase;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Its triggers write to a table of their own, which nothing tells; `check` warns, and docs/rights.md has the GRANTs.
const WITH_TRIGGERS: &str = "procrastinate";
/// Nothing is ever moved there.
const ADVICE_ONLY: &str = "que";

#[test]
fn what_check_asks_for_is_enough() {
    let (newest, _) = by_age();
    let newest = newest.into_iter().filter(|tables| ![WITH_TRIGGERS, ADVICE_ONLY].contains(&tables.queue.as_str()));
    for tables in &one_in(3, newest.collect()) {
        let database = tables.made();
        orphan(tables, &database).unwrap();
        let (role, mut client) = (format!("role_{}", database.name()), database.client());
        let schemas = "SELECT string_agg(quote_ident(nspname), ', ') FROM pg_namespace \
                       WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'";
        let schemas: String = client.query_one(schemas, &[]).unwrap().get(0);
        // A hint to a refusal of the server's has its words, which name no schema.
        client.batch_execute(&format!("SET search_path = {schemas}")).unwrap();
        client.batch_execute(&format!("CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schemas} TO {role}")).unwrap();
        let url = database.url().replace("user=doctor", &format!("user={role}"));
        let doctor = Doctor::new();
        let mut given = Vec::new();
        // Row-level security and questions about versions come first, and hide the rest.
        let (options, act) = (words(tables, &["option"]), words(tables, &["older", "to", "option"]));
        let check = |more: &[&str]| doctor.run(&[&["check", "--db", &url], more, &of(&options)].concat());
        for _ in 0..3 {
            let checked = check(&["--json"]);
            if checked.code == 0 {
                assert!(!checked.stdout.contains("superuser"), "{}", checked.stdout);
                let by_superuser = doctor.run(&[&["check", "--db", &database.url()], &of(&options)[..]].concat());
                by_superuser.exits(0).shows("this role is a superuser");
                break;
            }
            assert_eq!(checked.code, 77, "{}: {}", tables.queue, checked.whole());
            let error: Value = serde_json::from_str(&checked.stderr).unwrap();
            for hint in error["hints"].as_array().unwrap().iter().map(|hint| hint.as_str().unwrap()) {
                if hint.starts_with("GRANT ") || hint.starts_with("ALTER ROLE ") {
                    client.batch_execute(hint).unwrap_or_else(|error| panic!("{}: {error:?} in {hint}", tables.queue));
                    given.push(hint.to_owned());
                }
            }
        }
        let place = format!("{} {} after {given:#?}", tables.queue, tables.version);
        let checked = check(&[]);
        assert_eq!(checked.code, 0, "{place}: {}", checked.whole());
        let applied = doctor.run(&[&["reclaim", "--apply", "--json", "--db", &url], &of(&act)[..]].concat());
        assert_eq!(applied.code, 0, "{place}: {}", applied.whole());
        let summary = &applied.json()["summary"];
        assert!(summary["planned"].as_u64() > Some(0), "{place}: {summary}");
        assert_eq!(summary["outcomes"]["moved"], summary["planned"], "{place}");
        client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
    }
}

/// A table that only says what waits stops nothing where it is locked or the role may not read it. What waits there is unknown.
#[test]
fn a_table_beside_the_claims_may_be_out_of_reach() {
    let job = |id: u8| format!("({id}, 'mail', 'J', 0, now() - interval '2 h', now() - interval '2 h')");
    let shop = shop(
        "solid-queue",
        "1.5.0",
        &format!(
            "INSERT INTO solid_queue_jobs (id, queue_name, class_name, priority, created_at, updated_at) VALUES {}, {}, {};
             INSERT INTO solid_queue_ready_executions (job_id, queue_name, priority, created_at)
               VALUES (3, 'mail', 0, now() - interval '2 h');
             INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at) VALUES (1, 7, now() - interval '2 h');
             INSERT INTO solid_queue_scheduled_executions (job_id, queue_name, priority, scheduled_at, created_at)
               VALUES (2, 'mail', 0, now() - interval '1 h', now() - interval '2 h');
             INSERT INTO solid_queue_processes (kind, name, pid, last_heartbeat_at, created_at)
               VALUES ('Dispatcher', 'd', 7, now() AT TIME ZONE 'utc', now())",
            job(1),
            job(2),
            job(3)
        ),
    );
    let role = format!("role_{}", shop.server().name());
    let tables = ["jobs", "ready_executions", "claimed_executions", "failed_executions", "processes"];
    let tables = tables.map(|table| format!("solid_queue_{table}")).join(", ");
    shop.sql(&format!(
        "CREATE ROLE {role} LOGIN; GRANT ALL ON {tables} TO {role}; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}"
    ));
    let url = shop.url.replace("user=doctor", &format!("user={role}"));
    let run = |command: &[&str]| shop.doctor.run(&[command, &["--db", &url]].concat());
    // Where it cannot be read what is paused, no queue is said to stand still.
    run(&["health"]).exits(3).shows("not all is known");
    run(&["status", "--exit-code"]).exits(1);
    run(&["show", "2"]).exits(77).says("permission denied for table solid_queue_scheduled_executions");
    run(&["check"]).exits(0).shows("what table solid_queue_scheduled_executions tells is unknown");
    run(&["reclaim", "--apply", "--fast"]).exits(0);
    let mut other = shop.server().client();
    other.batch_execute("BEGIN; LOCK TABLE solid_queue_scheduled_executions IN ACCESS EXCLUSIVE MODE").unwrap();
    shop.run(&["stale"])
        .exits(0)
        .says("0 jobs stuck, of 0 in flight; 2 jobs due, the oldest for 2h")
        .says("not all is known");
    shop.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

/// The flags of these names that an operator of that queue needs, as the scene of a plain orphan says them.
pub fn words(tables: &Tables, flags: &[&str]) -> Vec<String> {
    let scene = plain_orphan(tables);
    let header = |line: &str| {
        let (key, value) = line.strip_prefix("-- ")?.split_once(": ")?;
        flags.contains(&key).then(|| [format!("--{key}"), value.to_owned()])
    };
    scene.lines().filter_map(header).flatten().collect()
}

pub fn of(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn plain_orphan(tables: &Tables) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas").join(&tables.queue);
    let scenes = ["scenes", "sqlite/scenes"].map(|scenes| folder.join(scenes).join("plain-orphan.sql"));
    scenes.iter().find_map(|scene| fs::read_to_string(scene).ok()).unwrap()
}

/// The setup of the scene of a plain orphan, which not every version of the tables takes.
pub fn orphan(tables: &Tables, database: &TestDatabase) -> Result<(), postgres::Error> {
    let scene = plain_orphan(tables);
    let sections = ["\n-- then: ", "\n-- another session:", "\n-- before applying:"];
    let end = sections.iter().filter_map(|section| scene.find(section)).min().unwrap_or(scene.len());
    let mut client = database.client();
    client.batch_execute("SET TimeZone = 'UTC'")?;
    client.batch_execute(&scene[..end])
}
