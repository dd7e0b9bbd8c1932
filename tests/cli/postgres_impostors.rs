//! A server that speaks Postgres' protocol and is something else: it is listed, and nothing is written there.

use crate::support::cli::Doctor;
use crate::support::postgres::fresh;

/// The mutant that writes wherever it can connect fails here.
#[test]
fn what_is_not_postgres_is_only_listed() {
    let (doctor, database) = (Doctor::new(), fresh());
    let mut client = database.client();
    let run = |words: &[&str], code: i32| doctor.run(&[words, &["--db", &database.url()]].concat()).exits(code);
    run(&["init"], 0);
    let dead = "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at)
        VALUES (1, 'mail', 'Send', 'RUNNING', 'web1:1', now() - interval '2h', now() - interval '1h')";
    client.batch_execute(dead).unwrap();
    let answers = |client: &mut postgres::Client, version: &str| {
        let sql = "CREATE OR REPLACE FUNCTION pg_catalog.version() RETURNS text LANGUAGE sql STABLE AS $$ SELECT ";
        client.batch_execute(&format!("{sql}'{version}' $$")).unwrap();
    };
    answers(&mut client, "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu)");
    let listed = run(&["stale", "-o", "name"], 0);
    assert_eq!(listed.stdout, "1\n");
    listed.says("CockroachDB answered, which is not Postgres; --apply is refused");
    for command in [&["reclaim", "--apply"][..], &["sweep", "--apply"], &["reclaim", "--dry-run=server"]] {
        run(command, 4).says("CockroachDB answered, which is not Postgres: we have no proof");
    }
    let checked = run(&["check"], 78).stdout;
    assert!(checked.contains("CockroachDB answered, which is not Postgres: jobdoctor lists it"), "{checked}");
    answers(&mut client, "PostgreSQL 12.4 on x86_64-pc-linux-gnu");
    run(&["check"], 0).shows("PostgreSQL 12.4 answered, and jobdoctor is tested on Postgres 13 to 18");
    run(&["reclaim", "--apply"], 0);
    let state: String = client.query_one("SELECT status FROM jobs", &[]).unwrap().get(0);
    assert_eq!(state, "QUEUED");
}
