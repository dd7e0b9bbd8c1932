//! Graphile Worker's tables have row-level security and no policy: a role that does not own them sees nothing, and no error.
//! "Could not look" must not read as "nothing found".

use super::tables::shop;
use crate::support::cli::fails;

#[test]
fn rows_that_are_hidden_are_not_taken_for_none() {
    let shop = shop(
        "graphile-worker",
        "0.16",
        "INSERT INTO graphile_worker._private_tasks (identifier) VALUES ('mail');
         INSERT INTO graphile_worker._private_jobs (task_id, locked_at, locked_by, attempts)
           VALUES (1, now() - interval '5 hours', 'pool-dead', 1)",
    );
    let role = format!("app_{}", shop.server().name());
    shop.sql(&format!(
        "CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA graphile_worker TO {role};
         GRANT ALL ON ALL TABLES IN SCHEMA graphile_worker TO {role}"
    ));
    let url = shop.url.replace("user=doctor", &format!("user={role}"));
    for command in [&["stale"][..], &["reclaim"], &["reclaim", "--apply"], &["owners"], &["sweep"]] {
        let said = fails(&shop.doctor, &[command, &["--db", &url]].concat(), 77).stderr;
        assert!(said.contains("row-level security") && said.contains("BYPASSRLS"), "{command:?}: {said}");
    }
    let checked = shop.doctor.run(&["check", "--db", &url]).exits(77);
    assert!(checked.whole().contains("row-level security hides rows"), "{}", checked.whole());
    // Policies that show all rows change nothing, so nobody is sent to make them.
    for table in ["jobs", "tasks", "job_queues"] {
        shop.sql(&format!("CREATE POLICY p ON graphile_worker._private_{table} FOR ALL TO {role} USING (true)"));
    }
    let said = fails(&shop.doctor, &["stale", "--db", &url], 77).stderr;
    assert!(said.contains("policies do not help"), "{said}");
    shop.sql(&format!("ALTER ROLE {role} BYPASSRLS"));
    assert_eq!(shop.doctor.run(&["stale", "--json", "--db", &url]).exits(0).json()["summary"]["stuck"], 1);
    shop.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}
