//! A trigger may raise whatever it likes, for one row or for all.

use super::tables::shop;
use crate::support::shop::Shop;

fn orphans(raises: &str, of: &str) -> Shop {
    shop(
        "delayed-job",
        "4.2.0",
        &format!(
            "INSERT INTO delayed_jobs (priority, attempts, handler, run_at, locked_at, locked_by, created_at, updated_at)
               SELECT 0, 0, '', now(), now() - interval '5 hours', 'host:web1 pid:7', now(), now()
               FROM generate_series(1, 20);
             CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {raises}; RETURN new; END $$;
             CREATE TRIGGER no BEFORE UPDATE ON delayed_jobs FOR EACH ROW WHEN ({of}) EXECUTE FUNCTION no()"
        ),
    )
}

#[test]
fn an_odd_error_of_one_row_does_not_hold_back_the_others() {
    for code in ["P0002", "UE001", "54000", "0A000", "55000"] {
        let shop = orphans(&format!("RAISE EXCEPTION 'not this one' USING ERRCODE = '{code}'"), "old.id = 13");
        let document = shop.run(&["reclaim", "--max-jobs", "1000", "--apply", "--json"]).exits(3).json();
        assert_eq!(document["summary"]["outcomes"]["moved"], 19, "{code}: {document}");
        let steps = document["steps"].as_array().unwrap();
        let refused = steps.iter().find(|step| step["outcome"] == "refused").unwrap();
        assert_eq!((&refused["id"], &refused["error"]["sqlstate"]), (&"13".into(), &code.into()));
    }
}

/// Then it is not the rows, and nothing is written.
#[test]
fn the_same_odd_error_of_every_row_is_an_error() {
    let shop = orphans("PERFORM nothing_of_that_name()", "true");
    shop.run(&["reclaim", "--max-jobs", "1000", "--apply"]).exits(78).says("nothing_of_that_name");
    assert_eq!(shop.rows("SELECT count(*) FROM delayed_jobs WHERE locked_at IS NULL"), ["0"]);
}

/// A queue whose jobs are only listed is asked for no right to write, and warned of no trigger.
#[test]
fn nothing_is_said_of_writes_where_nothing_is_ever_written() {
    let checked = shop("que", "7", "").run(&["check", "--json"]).exits(0).json();
    let ids: Vec<&str> =
        checked["findings"].as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap()).collect();
    assert!(["triggers", "update_jobs", "lock_owners", "actions"].iter().all(|id| !ids.contains(id)), "{ids:?}");
    assert_eq!(checked["not_tried"], serde_json::json!([]));
}
