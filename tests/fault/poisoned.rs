//! Rows that the database refuses, among 500 that it does not (F15): the others are moved, the refused are named, and once
//! nothing is in the way any more the next run moves them too.

use crate::support::figures;
use crate::support::shop::{Shop, on_both};
use serde_json::Value;

const JOBS: u32 = 500;

/// Refuses the first so many jobs.
fn refuse(shop: &Shop, jobs: u32) {
    shop.sql(&if shop.is_postgres() {
        format!(
            "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$;
             CREATE TRIGGER no BEFORE UPDATE ON jobs FOR EACH ROW WHEN (OLD.id <= {jobs}) EXECUTE FUNCTION no()"
        )
    } else {
        format!(
            "CREATE TRIGGER no BEFORE UPDATE ON jobs WHEN OLD.id <= {jobs} BEGIN SELECT RAISE(ABORT, 'not this one'); END"
        )
    });
}

fn allow(shop: &Shop) {
    shop.sql(if shop.is_postgres() { "DROP FUNCTION no CASCADE" } else { "DROP TRIGGER no" });
}

/// The ids of those that ended like that.
fn ended(document: &Value, outcome: &str) -> Vec<u32> {
    let steps = document["steps"].as_array().expect("the steps").iter().filter(|step| step["outcome"] == outcome);
    let mut ids: Vec<u32> = steps.map(|step| step["id"].as_str().expect("an id").parse().expect("a number")).collect();
    ids.sort_unstable();
    ids
}

const GROUPS: &str = "SELECT status, attempts, owner_id IS NULL, count(*) FROM jobs GROUP BY 1, 2, 3 ORDER BY 1";

#[test]
fn one_five_and_all_but_one_of_500() {
    on_both(|shop| {
        shop.run(&["init", "--ledger"]).exits(0);
        for bad in [1, 5, JOBS - 1] {
            shop.sql("DELETE FROM jobs; DELETE FROM jobdoctor_ledger");
            shop.in_flight(1, JOBS, "'web1:' || n", 900);
            refuse(shop, bad);
            let document = shop.run(&["reclaim", "--apply", "--max-jobs", "1000", "--json"]).exits(3).json();
            assert_eq!(ended(&document, "refused"), Vec::from_iter(1..=bad));
            assert_eq!(ended(&document, "moved"), Vec::from_iter(bad + 1..=JOBS));
            let steps = document["steps"].as_array().unwrap();
            assert!(steps.iter().all(|step| step["error"].is_null() == (step["outcome"] == "moved")));
            let yes = if shop.is_postgres() { "t" } else { "1" };
            let no = if shop.is_postgres() { "f" } else { "0" };
            assert_eq!(shop.rows(GROUPS), [format!("QUEUED 1 {yes} {}", JOBS - bad), format!("RUNNING 0 {no} {bad}")]);
            // What the ledger tells is what was moved.
            let told = shop.rows("SELECT count(*), count(DISTINCT id) FROM jobdoctor_ledger");
            assert_eq!(told, [format!("{0} {0}", JOBS - bad)]);
            allow(shop);
            shop.run(&["reclaim", "--apply", "--max-jobs", "1000"]).exits(0);
            assert_eq!(shop.rows(GROUPS), [format!("QUEUED 1 {yes} {JOBS}")]);
            assert_eq!(shop.rows("SELECT count(*), count(DISTINCT id) FROM jobdoctor_ledger"), ["500 500"]);
            figures::add(1, "faults survived");
        }
    });
}

/// A row of another table refers to one of them as it is.
#[test]
fn a_foreign_key() {
    on_both(|shop| {
        shop.in_flight(1, 10, "'web1:' || n", 900);
        shop.sql(
            "CREATE UNIQUE INDEX as_it_is ON jobs (id, status);
             CREATE TABLE notes (job integer, status text, FOREIGN KEY (job, status) REFERENCES jobs (id, status));
             INSERT INTO notes VALUES (7, 'RUNNING')",
        );
        let document = shop.run(&["reclaim", "--apply", "--json"]).exits(3).json();
        assert_eq!(ended(&document, "refused"), [7]);
        let steps = document["steps"].as_array().unwrap();
        let error = &steps.iter().find(|step| step["id"] == "7").unwrap()["error"];
        let code = if shop.is_postgres() { "23503" } else { "SQLITE_CONSTRAINT_FOREIGNKEY" };
        assert_eq!(error["sqlstate"], code);
        assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED' AND attempts = 1"), ["9"]);
        shop.sql("DELETE FROM notes");
        shop.run(&["reclaim", "--apply"]).exits(0);
        assert_eq!(shop.rows("SELECT DISTINCT status, attempts FROM jobs"), ["QUEUED 1"]);
        figures::add(1, "faults survived");
    });
}

/// Each takes the whole transaction back: what was left out before stays out when it begins again.
#[test]
fn two_that_end_the_transaction() {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, 10, "'web1:' || n", 900);
    shop.sql("CREATE TRIGGER no BEFORE UPDATE ON jobs WHEN old.id IN (3, 7) BEGIN SELECT RAISE(ROLLBACK, 'no'); END");
    let document = shop.run(&["reclaim", "--apply", "--timeout", "20s", "--json"]).exits(3).json();
    assert_eq!(ended(&document, "refused"), [3, 7]);
    assert_eq!(ended(&document, "moved"), [1, 2, 4, 5, 6, 8, 9, 10]);
}
