//! Graphile Worker's tables have row-level security and no policy: a role that does not own them sees nothing, and no error.
//! "Could not look" must not read as "nothing found".

use super::tables::tables;
use crate::support::cli::{Doctor, fails};

#[test]
fn rows_that_are_hidden_are_not_taken_for_none() {
    let database = tables("graphile-worker", "0.16").made();
    let role = format!("app_{}", database.name());
    let mut client = database.client();
    client
        .batch_execute(&format!(
            "INSERT INTO graphile_worker._private_tasks (identifier) VALUES ('mail');
             INSERT INTO graphile_worker._private_jobs (task_id, locked_at, locked_by, attempts)
               VALUES (1, now() - interval '5 hours', 'pool-dead', 1);
             CREATE ROLE {role} LOGIN;
             GRANT USAGE ON SCHEMA graphile_worker TO {role};
             GRANT ALL ON ALL TABLES IN SCHEMA graphile_worker TO {role}"
        ))
        .unwrap();
    let url = database.url().replace("user=doctor", &format!("user={role}"));
    let doctor = Doctor::new();
    for command in [&["stale"][..], &["reclaim"], &["reclaim", "--apply"], &["owners"], &["sweep"]] {
        let said = fails(&doctor, &[command, &["--db", &url]].concat(), 77).stderr;
        assert!(said.contains("row-level security") && said.contains("BYPASSRLS"), "{command:?}: {said}");
    }
    let checked = doctor.run(&["check", "--db", &url]);
    assert_eq!(checked.code, 77, "{}", checked.whole());
    assert!(checked.whole().contains("row-level security hides rows"), "{}", checked.whole());
    // Policies that show all rows change nothing, so nobody is sent to make them.
    for table in ["jobs", "tasks", "job_queues"] {
        let policy = format!("CREATE POLICY p ON graphile_worker._private_{table} FOR ALL TO {role} USING (true)");
        client.batch_execute(&policy).unwrap();
    }
    let said = fails(&doctor, &["stale", "--db", &url], 77).stderr;
    assert!(said.contains("policies do not help"), "{said}");
    client.batch_execute(&format!("ALTER ROLE {role} BYPASSRLS")).unwrap();
    assert_eq!(doctor.run(&["stale", "--json", "--db", &url]).exits(0).json()["summary"]["stuck"], 1);
    client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
}
