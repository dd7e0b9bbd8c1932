//! A trigger may raise whatever it likes, for one row or for all.

use super::tables::tables;
use crate::support::cli::Doctor;
use crate::support::postgres::TestDatabase;

fn orphans(raises: &str, of: &str) -> TestDatabase {
    let database = tables("delayed-job", "4.2.0").made();
    database
        .client()
        .batch_execute(&format!(
            "INSERT INTO delayed_jobs (priority, attempts, handler, run_at, locked_at, locked_by, created_at, updated_at)
               SELECT 0, 0, '', now(), now() - interval '5 hours', 'host:web1 pid:7', now(), now()
               FROM generate_series(1, 20);
             CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {raises}; RETURN new; END $$;
             CREATE TRIGGER no BEFORE UPDATE ON delayed_jobs FOR EACH ROW WHEN ({of}) EXECUTE FUNCTION no()"
        ))
        .unwrap();
    database
}

#[test]
fn an_odd_error_of_one_row_does_not_hold_back_the_others() {
    for code in ["P0002", "UE001", "54000", "0A000", "55000"] {
        let database = orphans(&format!("RAISE EXCEPTION 'not this one' USING ERRCODE = '{code}'"), "old.id = 13");
        let document = Doctor::new()
            .run(&["reclaim", "--max-jobs", "1000", "--apply", "--json", "--db", &database.url()])
            .exits(3)
            .json();
        let outcomes = &document["summary"]["outcomes"];
        assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&19.into(), &1.into()), "{code}: {outcomes}");
        let steps = document["steps"].as_array().unwrap();
        let refused = steps.iter().find(|step| step["outcome"] == "refused").unwrap();
        assert_eq!((&refused["id"], &refused["error"]["sqlstate"]), (&"13".into(), &code.into()));
    }
}

/// Then it is not the rows, and nothing is written.
#[test]
fn the_same_odd_error_of_every_row_is_an_error() {
    let database = orphans("PERFORM nothing_of_that_name()", "true");
    let ran = Doctor::new().run(&["reclaim", "--max-jobs", "1000", "--apply", "--db", &database.url()]);
    assert_eq!(ran.code, 78, "{}", ran.whole());
    assert!(ran.stderr.contains("nothing_of_that_name"), "{}", ran.whole());
    let moved = "SELECT count(*) FROM delayed_jobs WHERE locked_at IS NULL";
    assert_eq!(database.client().query_one(moved, &[]).unwrap().get::<_, i64>(0), 0);
}

/// A queue whose jobs are only listed is asked for no right to write, and warned of no trigger.
#[test]
fn nothing_is_said_of_writes_where_nothing_is_ever_written() {
    let database = tables("que", "7").made();
    let checked = Doctor::new().run(&["check", "--json", "--db", &database.url()]).exits(0).json();
    let ids: Vec<&str> =
        checked["findings"].as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap()).collect();
    assert!(["triggers", "update_jobs", "lock_owners", "actions"].iter().all(|id| !ids.contains(id)), "{ids:?}");
    assert_eq!(checked["not_tried"], serde_json::json!([]));
}
