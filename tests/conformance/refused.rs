//! One bad row never holds back the others, and what the database refuses is reported with its reason.

use super::scan::listed;
use crate::support::doctor::{apply, built_in, outcomes, planned};
use crate::support::edit::Value::{Ago, Int, Text};
use crate::support::edit::insert;
use crate::support::labs::{SqlLab, for_each_sql_store};
use crate::support::tables::JOBS;
use jobdoctor::model::{Action, End, Outcome, Step};
use jobdoctor::preset::Jobs;

const KINDS: [&str; 3] = ["a", "b", "c"];

fn set_up(lab: &dyn SqlLab, obstacle: &str) {
    lab.create(&[JOBS]);
    for id in 1..=3_i64 {
        lab.edit(&[dead(id, KINDS[usize::try_from(id - 1).unwrap()])]);
    }
    lab.run(obstacle);
}

fn dead(id: i64, kind: &'static str) -> crate::support::edit::Edit {
    insert(
        "jobs",
        &[
            ("id", Int(id)),
            ("kind", Text(kind)),
            ("status", Text("RUNNING")),
            ("heartbeat_at", Ago(9000)),
            ("attempts", Int(id)),
        ],
    )
}

fn judged(lab: &dyn SqlLab) -> (Jobs, Vec<Step>) {
    let (_, spec, steps) = planned(lab, &built_in("lease"));
    (spec, steps)
}

/// Applies to all three; the second must be refused, the others moved, and the second row stay as it was.
fn second_is_refused(lab: &dyn SqlLab) -> End {
    let (spec, steps) = judged(lab);
    let before = lab.row(&JOBS, 2);
    let report = apply(&*lab.store(), &spec, &steps);
    assert_eq!(outcomes(&report), [Outcome::Moved, Outcome::Refused, Outcome::Moved], "{}: {report:?}", lab.name());
    assert_eq!(lab.row(&JOBS, 2), before, "{}", lab.name());
    for id in [1, 3] {
        assert!(lab.row(&JOBS, id).contains(&"status=QUEUED".to_owned()), "{}: {id}", lab.name());
        assert!(lab.row(&JOBS, id).contains(&format!("attempts={}", id + 1)), "{}: counted once", lab.name());
    }
    assert!(report.results[0].error.is_none() && report.results[2].error.is_none());
    report.results[1].clone()
}

fn sqlstate(result: &End) -> Option<&str> {
    result.error.as_ref()?.sqlstate.as_deref()
}

#[test]
fn a_unique_key() {
    for_each_sql_store(|lab| {
        set_up(lab, "CREATE UNIQUE INDEX one_waiting ON jobs (kind) WHERE status = 'QUEUED'");
        lab.run("INSERT INTO jobs (id, kind, status) VALUES (50, 'b', 'QUEUED')");
        let refused = second_is_refused(lab);
        assert_eq!(sqlstate(&refused), Some(lab.pick("SQLITE_CONSTRAINT_UNIQUE", "23505")));
        let constraint = refused.error.and_then(|error| error.constraint).unwrap_or_default();
        assert!(constraint.contains(lab.pick("kind", "one_waiting")), "{}: {constraint}", lab.name());
    });
}

/// The two get into each other's way only when both are moved: one must be.
#[test]
fn a_unique_key_that_two_of_the_batch_share() {
    for_each_sql_store(|lab| {
        set_up(lab, "CREATE UNIQUE INDEX one_waiting ON jobs (kind) WHERE status = 'QUEUED'");
        lab.run("UPDATE jobs SET kind = 'a'");
        let (spec, steps) = judged(lab);
        let mut ends = outcomes(&apply(&*lab.store(), &spec, &steps));
        ends.sort();
        assert_eq!(ends, [Outcome::Moved, Outcome::Refused, Outcome::Refused], "{}", lab.name());
    });
}

#[test]
fn a_check() {
    for_each_sql_store(|lab| {
        // SQLite adds no constraint to a table that is there.
        set_up(lab, "");
        let checked = "CREATE TABLE other (id int CONSTRAINT small CHECK (id <> 3))";
        lab.run(checked);
        lab.run(lab.pick(
            "CREATE TRIGGER t BEFORE UPDATE ON jobs WHEN NEW.id = 2 BEGIN INSERT INTO other VALUES (NEW.attempts); END",
            "ALTER TABLE jobs ADD CONSTRAINT small CHECK (id <> 2 OR attempts < 3)",
        ));
        let refused = second_is_refused(lab);
        assert_eq!(sqlstate(&refused), Some(lab.pick("SQLITE_CONSTRAINT_CHECK", "23514")));
        assert_eq!(refused.error.and_then(|error| error.constraint).as_deref(), Some("small"), "{}", lab.name());
    });
}

fn trigger(when: &str, body: &str) -> String {
    format!(
        "CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$; \
         CREATE TRIGGER t {when} UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION t();"
    )
}

#[test]
fn a_trigger_that_objects() {
    for_each_sql_store(|lab| {
        set_up(lab, "");
        let postgres = trigger("BEFORE", "IF NEW.id = 2 THEN RAISE 'not this one'; END IF; RETURN NEW;");
        lab.run(lab.pick(
            "CREATE TRIGGER t BEFORE UPDATE ON jobs WHEN NEW.id = 2 BEGIN SELECT RAISE(ABORT, 'not this one'); END",
            &postgres,
        ));
        let refused = second_is_refused(lab);
        assert_eq!(refused.error.map(|error| error.message).as_deref(), Some("not this one"), "{}", lab.name());
    });
}

#[test]
fn a_trigger_that_drops_the_row_without_a_word() {
    for_each_sql_store(|lab| {
        set_up(lab, "");
        let postgres = trigger("BEFORE", "IF NEW.id = 2 THEN RETURN NULL; END IF; RETURN NEW;");
        lab.run(
            lab.pick(
                "CREATE TRIGGER t BEFORE UPDATE ON jobs WHEN NEW.id = 2 BEGIN SELECT RAISE(IGNORE); END",
                &postgres,
            ),
        );
        second_is_refused(lab);
    });
}

#[test]
fn a_trigger_that_changes_the_state_back() {
    for_each_sql_store(|lab| {
        set_up(lab, "");
        let postgres = trigger(
            "AFTER",
            "IF NEW.id = 2 AND NEW.status = 'QUEUED' THEN UPDATE jobs SET status = 'RUNNING' WHERE id = 2; END IF; \
             RETURN NULL;",
        );
        lab.run(lab.pick(
            "CREATE TRIGGER t AFTER UPDATE ON jobs WHEN NEW.id = 2 AND NEW.status = 'QUEUED' BEGIN \
             UPDATE jobs SET status = 'RUNNING' WHERE id = 2; END",
            &postgres,
        ));
        second_is_refused(lab);
    });
}

/// A constraint that is only looked at when the transaction commits would otherwise take the whole batch with it.
#[test]
fn a_deferred_constraint() {
    for_each_sql_store(|lab| {
        set_up(lab, "");
        let postgres = format!(
            "{} DROP TRIGGER t ON jobs; CREATE CONSTRAINT TRIGGER t AFTER UPDATE ON jobs DEFERRABLE INITIALLY DEFERRED \
             FOR EACH ROW EXECUTE FUNCTION t();",
            trigger("AFTER", "IF NEW.id = 2 THEN RAISE 'not this one'; END IF; RETURN NULL;")
        );
        if lab.engine() == jobdoctor::model::Engine::Postgres {
            lab.run(&postgres);
            second_is_refused(lab);
        }
    });
}

/// The trigger takes the whole transaction back: the batch is begun again without that row, and the others are moved.
#[test]
fn a_trigger_that_rolls_back() {
    for_each_sql_store(|lab| {
        if lab.engine() != jobdoctor::model::Engine::Sqlite {
            return;
        }
        set_up(
            lab,
            "CREATE TRIGGER t BEFORE UPDATE ON jobs WHEN NEW.id = 2 BEGIN SELECT RAISE(ROLLBACK, 'all of it'); END",
        );
        second_is_refused(lab);
    });
}

#[test]
fn a_counter_that_would_overflow_its_column() {
    for_each_sql_store(|lab| {
        if lab.engine() != jobdoctor::model::Engine::Postgres {
            return;
        }
        set_up(lab, "ALTER TABLE jobs ALTER attempts TYPE integer; UPDATE jobs SET attempts = 2147483647 WHERE id = 2");
        assert_eq!(sqlstate(&second_is_refused(lab)), Some("22003"));
    });
}

#[test]
fn many_bad_rows_among_few_good_ones() {
    for_each_sql_store(|lab| {
        lab.create(&[JOBS]);
        for bad in [1_i64, 5, 199] {
            lab.run("DELETE FROM jobs");
            let edits: Vec<_> = (1..=200).map(|id| dead(id, "k")).collect();
            lab.edit(&edits);
            lab.run("DROP TABLE IF EXISTS forbidden; CREATE TABLE forbidden (id bigint)");
            lab.run(&(1..=bad).map(|id| format!("INSERT INTO forbidden VALUES ({id});")).collect::<String>());
            let postgres = format!(
                "DROP TRIGGER IF EXISTS t ON jobs; DROP FUNCTION IF EXISTS t; {}",
                trigger(
                    "BEFORE",
                    "IF NEW.id IN (SELECT id FROM forbidden) THEN RAISE 'not this one'; END IF; RETURN NEW;"
                )
            );
            lab.run(lab.pick(
                "DROP TRIGGER IF EXISTS t; CREATE TRIGGER t BEFORE UPDATE ON jobs \
                 WHEN NEW.id IN (SELECT id FROM forbidden) BEGIN SELECT RAISE(ABORT, 'not this one'); END",
                &postgres,
            ));
            let (spec, steps) = judged(lab);
            let ends = outcomes(&apply(&*lab.store(), &spec, &steps));
            let refused = ends.iter().filter(|end| **end == Outcome::Refused).count();
            let moved = ends.iter().filter(|end| **end == Outcome::Moved).count();
            assert_eq!((refused as i64, moved as i64), (bad, 200 - bad), "{}", lab.name());
            assert_eq!(listed(lab, &built_in("lease"))[0].len() as i64, bad, "{}", lab.name());
        }
    });
}

/// What the preset refuses is not tried, whoever asks.
#[test]
fn an_action_that_the_preset_does_not_have() {
    crate::support::labs::for_each_store(|lab| {
        lab.create(&[JOBS]);
        lab.edit(&[dead(1, "k")]);
        let (store, mut spec, steps) = planned(lab, &built_in("lease"));
        spec.actions.get_mut(&Action::Requeue).unwrap().refused = Some("never".to_owned());
        let report = apply(&*store, &spec, &steps);
        assert_eq!(report.results[0].outcome, Outcome::NotTried, "{}", lab.name());
        assert!(report.stop.is_some(), "{}", lab.name());
    });
}
