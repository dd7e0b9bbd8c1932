//! What is there and would be looked for elsewhere: options behind unknown claims, sessions that hold locks, jobs that wait for long.

use super::tables::shop;
use crate::support::shop::Shop;

#[test]
fn the_option_behind_an_unknown_claim_is_named_wherever_the_claim_is() {
    let far = "INSERT INTO django_q_ormq (id, key, lock, payload) VALUES (1, 'shop', now() + interval '68 years', 'x')";
    let shop = shop("django-q", "1.11.1", far);
    for command in [&["stale"][..], &["reclaim"], &["show", "1"]] {
        let document = shop.run(&[command, &["--older", "1h", "--json"]].concat()).exits(0).json();
        let told = [&document["warnings"], &document["jobs"][0]["extra"]].map(ToString::to_string).concat();
        assert_eq!(told.matches("--option retry=").count(), 1, "{command:?}: {document:#}");
    }
}

#[test]
fn executions_that_wait_for_long_are_counted_and_counting_needs_no_threshold() {
    let waiting = "SET session_replication_role = replica; INSERT INTO execution_entity (id, finished, mode, status, \"workflowId\", \"createdAt\")
        VALUES (1, false, 'webhook', 'new', 'w', now() - interval '170 days'), (2, false, 'webhook', 'new', 'w', now())";
    let shop = shop("n8n", "2.41", waiting);
    let said = shop.run(&["check", "--json"]).stdout;
    assert!(said.contains("executions that have waited for more than a day to be started or resumed: 1"), "{said}");
    let counted = shop.run(&["stats", "--json"]).exits(0).json();
    assert_eq!(counted["summary"]["waiting"], 2, "{counted}");
}

#[test]
fn the_session_that_holds_a_lock_is_named() {
    let job = "00000000-0000-4000-8000-000000000001";
    let shop = shop(
        "good-job",
        "4.19",
        &format!(
            "INSERT INTO good_jobs (id, queue_name, job_class, locked_by_id, locked_at, performed_at, created_at, updated_at)
             VALUES ('{job}', 'mail', 'Send', '00000000-0000-4000-8000-000000000009', now(), now(), now(), now())"
        ),
    );
    let mut pooler = shop.client();
    let held = format!(
        "SET application_name = 'pooler of shop'; SELECT pg_advisory_lock(('x' || substr(md5('good_jobs-{job}'), 1, 16))::bit(64)::bigint)"
    );
    pooler.batch_execute(&held).unwrap();
    let pid: i32 = pooler.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
    let shown = shop.run(&["show", job, "--json"]).exits(0).json();
    let held_by = shown["jobs"][0]["extra"].to_string();
    assert!(held_by.contains(&format!("backend {pid} (pooler of shop), connected since 20")), "{shown:#}");
}

#[test]
fn a_reason_that_the_database_cannot_hold_is_refused_once() {
    let shop = Shop::on_postgres();
    let name = format!("latin_{}", std::process::id());
    shop.sql(&format!("CREATE DATABASE {name} ENCODING LATIN1 LOCALE 'C' TEMPLATE template0"));
    let url = format!("{}dbname={name}", shop.url.split_once("dbname=").unwrap().0);
    let run = |arguments: &[&str], code| shop.doctor.run(&[arguments, &["--db", &url]].concat()).exits(code);
    run(&["init"], 0);
    let ran = run(&["reclaim", "--apply", "--reason", "INC \u{2192} web1"], 2);
    ran.says("--reason cannot be written to this database");
    run(&["reclaim", "--apply", "--reason", "INC web1"], 0);
    shop.sql(&format!("DROP DATABASE {name}"));
}
