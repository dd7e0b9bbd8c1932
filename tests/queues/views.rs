//! A view under a preset's name.

use super::tables::tables;
use crate::support::cli::Doctor;

/// What check says of the queue when its table is replaced by this, and whether an apply agrees.
fn checked(definition: &str) -> (i32, String, i32) {
    let database = tables("delayed-job", "4.2.0").made();
    database
        .client()
        .batch_execute(&format!(
            "INSERT INTO delayed_jobs
               (id, priority, attempts, handler, run_at, locked_at, locked_by, created_at, updated_at) VALUES (1, 0, 0, '--- {{}}', now(), now() - interval '5 hours', 'host:web1 pid:1', now(), now());
             ALTER TABLE delayed_jobs RENAME TO behind; CREATE {definition}"
        ))
        .unwrap();
    let (doctor, url) = (Doctor::new(), database.url());
    let ran = doctor.run(&["check", "--db", &url]);
    let applied = doctor.run(&["reclaim", "--apply", "--db", &url]);
    (ran.code, ran.whole(), applied.code)
}

#[test]
fn a_view_that_cannot_be_updated_is_an_error() {
    let join = "SELECT b.* FROM behind AS b JOIN (SELECT 1 AS one) AS o ON true";
    for view in [
        "VIEW delayed_jobs AS SELECT DISTINCT * FROM behind".to_owned(),
        format!("VIEW delayed_jobs AS {join}"),
        "MATERIALIZED VIEW delayed_jobs AS SELECT * FROM behind".to_owned(),
    ] {
        let (code, said, applied) = checked(&view);
        assert_eq!((code, applied), (78, 78), "{view}: {said}");
        assert!(said.contains("delayed_jobs is not a table whose rows can be updated"), "{view}: {said}");
    }
}

#[test]
fn a_simple_view_is_as_good_as_its_table() {
    let (code, said, applied) = checked("VIEW delayed_jobs AS SELECT * FROM behind");
    assert_eq!((code, applied), (0, 0), "{said}");
    // An index cannot be made on it.
    assert!(!said.contains("can be updated") && !said.contains("CREATE INDEX"), "{said}");
}
