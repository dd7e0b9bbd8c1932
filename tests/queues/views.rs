//! A view under a preset's name.

use super::tables::shop;

/// What check says of the queue when its table is replaced by this, and whether an apply agrees.
fn checked(definition: &str, code: i32) -> String {
    let shop = shop(
        "delayed-job",
        "4.2.0",
        &format!(
            "INSERT INTO delayed_jobs (id, priority, attempts, handler, run_at, locked_at, locked_by, created_at, updated_at)
             VALUES (1, 0, 0, '--- {{}}', now(), now() - interval '5 hours', 'host:web1 pid:1', now(), now());
             ALTER TABLE delayed_jobs RENAME TO behind; CREATE {definition}"
        ),
    );
    let said = shop.run(&["check"]).exits(code).whole();
    shop.run(&["reclaim", "--apply", "--option", "time_zone=utc"]).exits(code);
    said
}

#[test]
fn a_view_that_cannot_be_updated_is_an_error() {
    for view in [
        "VIEW delayed_jobs AS SELECT DISTINCT * FROM behind",
        "VIEW delayed_jobs AS SELECT b.* FROM behind AS b JOIN (SELECT 1 AS one) AS o ON true",
        "MATERIALIZED VIEW delayed_jobs AS SELECT * FROM behind",
    ] {
        let said = checked(view, 78);
        assert!(said.contains("delayed_jobs is not a table whose rows can be updated"), "{view}: {said}");
    }
}

#[test]
fn a_simple_view_is_as_good_as_its_table() {
    let said = checked("VIEW delayed_jobs AS SELECT * FROM behind", 0);
    // An index cannot be made on it.
    assert!(!said.contains("can be updated") && !said.contains("CREATE INDEX"), "{said}");
}

/// Rows of another server, whose locks and commits nobody here can vouch for.
#[test]
fn a_foreign_table_is_only_listed() {
    let shop = shop("delayed-job", "4.2.0", "ALTER TABLE delayed_jobs RENAME TO behind");
    let (socket, name) = (shop.server().socket().display(), shop.server().name());
    shop.sql(&format!(
        "CREATE EXTENSION postgres_fdw;
         CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{socket}', dbname '{name}');
         CREATE USER MAPPING FOR doctor SERVER far OPTIONS (user 'doctor', password_required 'false');
         CREATE SCHEMA far; IMPORT FOREIGN SCHEMA public LIMIT TO (behind) FROM SERVER far INTO far;
         ALTER FOREIGN TABLE far.behind RENAME TO delayed_jobs; ALTER FOREIGN TABLE far.delayed_jobs SET SCHEMA public"
    ));
    let why = "is a foreign table: its rows lie on another server";
    shop.run(&["check"]).exits(78).says(why);
    shop.run(&["stale"]).exits(0);
    shop.run(&["reclaim", "--apply"]).exits(78).says(why);
}
