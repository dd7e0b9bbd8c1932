//! What is there and would be looked for elsewhere: options behind unknown claims, sessions that hold locks, jobs that wait for long.

use super::tables::tables;
use crate::support::cli::Doctor;

#[test]
fn the_option_behind_an_unknown_claim_is_named_wherever_the_claim_is() {
    let database = tables("django-q", "1.11.1").made();
    let far = "INSERT INTO django_q_ormq (id, key, lock, payload) VALUES (1, 'shop', now() + interval '68 years', 'x')";
    database.client().batch_execute(far).unwrap();
    let (doctor, url) = (Doctor::new(), database.url());
    let said = "--option retry=";
    for command in [&["stale", "--older", "1h"][..], &["reclaim", "--older", "1h"], &["show", "1", "--older", "1h"]] {
        let ran = doctor.run(&[command, &["--json", "--db", &url]].concat()).exits(0);
        let document = ran.json();
        let told = [&document["warnings"], &document["jobs"][0]["extra"]].map(ToString::to_string).concat();
        assert_eq!(told.matches(said).count(), 1, "{command:?}: {}", ran.whole());
    }
}

#[test]
fn executions_that_wait_for_long_are_counted_and_counting_needs_no_threshold() {
    let database = tables("n8n", "2.41").made();
    let waiting = "SET session_replication_role = replica; INSERT INTO execution_entity (id, finished, mode, status, \"workflowId\", \"createdAt\")
        VALUES (1, false, 'webhook', 'new', 'w', now() - interval '170 days'), (2, false, 'webhook', 'new', 'w', now())";
    database.client().batch_execute(waiting).unwrap();
    let (doctor, url) = (Doctor::new(), database.url());
    let checked = doctor.run(&["check", "--db", &url, "--json"]).stdout;
    assert!(
        checked.contains("executions that have waited for more than a day to be started or resumed: 1"),
        "{checked}"
    );
    let counted = doctor.run(&["stats", "--db", &url, "--json"]).exits(0).json();
    assert_eq!(counted["summary"]["waiting"], 2, "{counted}");
}

#[test]
fn the_session_that_holds_a_lock_is_named() {
    let database = tables("good-job", "4.19").made();
    let mut pooler = database.client();
    let held = "INSERT INTO good_jobs (id, queue_name, job_class, locked_by_id, locked_at, performed_at, created_at, updated_at)
          VALUES ('00000000-0000-4000-8000-000000000001', 'mail', 'Send', '00000000-0000-4000-8000-000000000009', now(), now(), now(), now());
        SET application_name = 'pooler of shop';
        SELECT pg_advisory_lock(('x' || substr(md5('good_jobs-00000000-0000-4000-8000-000000000001'), 1, 16))::bit(64)::bigint)";
    pooler.batch_execute(held).unwrap();
    let pid: i32 = pooler.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
    let shown = Doctor::new()
        .run(&["show", "00000000-0000-4000-8000-000000000001", "--db", &database.url(), "--json"])
        .exits(0);
    let held_by = shown.json()["jobs"][0]["extra"].to_string();
    assert!(held_by.contains(&format!("backend {pid} (pooler of shop), connected since 20")), "{}", shown.whole());
}

#[test]
fn quartz_tables_may_have_another_prefix() {
    let database = tables("quartz", "2.3.2").made();
    let renamed = "DO $$ DECLARE t record; BEGIN FOR t IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'qrtz%'
        LOOP EXECUTE format('ALTER TABLE %I RENAME TO %I', t.relname, 'app_' || t.relname); END LOOP; END $$";
    database.client().batch_execute(renamed).unwrap();
    let (doctor, url) = (Doctor::new(), database.url());
    let options = ["--preset", "quartz", "--option", "table_prefix=app_qrtz_"];
    doctor.run(&[&["check", "--db", &url][..], &options].concat()).exits(0);
}

#[test]
fn a_reason_that_the_database_cannot_hold_is_refused_once() {
    let database = tables("procrastinate", "3.10").made();
    let name = format!("latin_{}", std::process::id());
    database
        .client()
        .batch_execute(&format!("CREATE DATABASE {name} ENCODING LATIN1 LOCALE 'C' TEMPLATE template0"))
        .unwrap();
    let url = database.url();
    let (before, _) = url.split_once("dbname=").unwrap();
    let url = format!("{before}dbname={name}");
    let doctor = Doctor::new();
    doctor.run(&["init", "--db", &url]).exits(0);
    let ran = doctor.run(&["reclaim", "--apply", "--db", &url, "--reason", "INC \u{2192} web1"]).exits(2);
    assert!(ran.stderr.contains("--reason cannot be written to this database"), "{}", ran.whole());
    doctor.run(&["reclaim", "--apply", "--db", &url, "--reason", "INC web1"]).exits(0);
    database.client().batch_execute(&format!("DROP DATABASE {name}")).unwrap();
}
