//! An action leads where it says: what waits and what has ended is declared, asked of each row before a write, and of the row itself
//! after it.

use crate::support::cli::Ran;
use crate::support::shop::{Shop, on_both};
use std::fs;

/// A home-made table without a state column for jobdoctor: dead workers' jobs 1 and 2, one that waits, one that has ended.
const TASKS: &str = "CREATE TABLE tasks (id integer PRIMARY KEY, status text NOT NULL DEFAULT 'pending', locked_by text, locked_at {time},
    done_at {time}, made {time});
    INSERT INTO tasks VALUES (1, 'processing', 'w1', {ago 9000}, NULL, {ago 99}), (2, 'processing', 'w1', {ago 9000}, NULL, {ago 99}),
    (3, 'pending', NULL, NULL, NULL, {ago 99}), (4, 'done', NULL, NULL, {ago 60}, {ago 99})";

/// The mapping with its conditions and actions left open.
fn tasks(rest: &str) -> String {
    format!(
        "[mapping.m]\ntime = {{ default = {{ sqlite = 'epoch s', postgres = 'native' }} }}
         claim = {{ table = 'tasks', key = 'id', where = \"j.status = 'processing' AND j.locked_by IS NOT NULL\", claimed_at = 'locked_at',
                   liveness = [{{ by = 'age', silent_after = '1h' }}] }}\nowner.id = 'locked_by'\n{rest}\n"
    )
}

const REQUEUE: &str = "waiting.is = \"j.status = 'pending' AND j.locked_by IS NULL\"
    action.requeue = { to = 'waiting', clear = ['locked_by', 'locked_at'], set = { status = \"'pending'\" } }";
const FAIL: &str =
    "action.fail = { to = 'failed', clear = 'locked_by', stamp = 'done_at', set = { status = \"'failed'\" } }";

fn run(shop: &Shop, mapping: &str, words: &[&str]) -> Ran {
    fs::write(shop.doctor.path("m.toml"), mapping).unwrap();
    shop.run(&[words, &["--config", "m.toml", "--preset", "m"]].concat())
}

const ROWS: &str = "SELECT id, status, locked_by FROM tasks ORDER BY id";

/// Each condition in flight by each one that waits by each requeue, over a state and a lock: a small model of the row says which of
/// them lead where they say, and the others write nothing.
#[test]
fn every_requeue_leads_out_of_flight_and_into_what_waits() {
    let all = |of: [&'static str; 2], set: usize| {
        (0..2).filter(|bit| set >> bit & 1 == 1).map(|bit| of[bit]).collect::<Vec<_>>()
    };
    on_both(|shop| {
        shop.sql(TASKS);
        let before = shop.rows(ROWS);
        for (flight, waits, writes) in (0..27).map(|case| (case / 9 + 1, case / 3 % 3 + 1, case % 3 + 1)) {
            let flies = all(["j.status = 'processing'", "j.locked_by IS NOT NULL"], flight).join(" AND ");
            let is = all(["j.status = 'pending'", "j.locked_by IS NULL"], waits).join(" AND ");
            let sets =
                all(["set = { status = \"'pending'\" }", "clear = ['locked_by', 'locked_at']"], writes).join(", ");
            let mapping = tasks(&format!("waiting.is = \"{is}\"\naction.requeue = {{ to = 'waiting', {sets} }}"))
                .replace("j.status = 'processing' AND j.locked_by IS NOT NULL", &flies);
            // A row leaves flight where the write undoes one of its terms, and waits where it does all that this asks.
            let leads = flight & writes != 0 && waits & writes == waits;
            run(shop, &mapping, &["check"]).exits(if leads { 0 } else { 78 });
            run(shop, &mapping, &["reclaim", "--apply"]).exits(if leads { 0 } else { 78 });
            assert_eq!(shop.rows(ROWS) != before, leads, "{mapping}");
            shop.sql("UPDATE tasks SET status = 'processing', locked_by = 'w1', locked_at = {ago 9000} WHERE id < 3");
        }
    });
}

/// The first forgets the state, the second clears no lock, the third fails into the queue, the fourth is no end by its own word.
#[test]
fn an_action_that_leads_nowhere_is_refused_by_plan_and_check() {
    let wrong = [
        (REQUEUE.replace(", set = { status = \"'pending'\" }", ""), &["reclaim"][..], "not waiting (`waiting.is`)"),
        (
            "waiting.is = 'j.done_at IS NULL'\naction.requeue = { to = 'waiting', clear = 'locked_at' }".to_owned(),
            &["reclaim"],
            "still in flight (`claim.where`)",
        ),
        (
            format!("{REQUEUE}\n{}", FAIL.replace("'failed'\"", "'pending'\"")),
            &["reclaim", "--to", "fail"],
            "waiting (`waiting.is`)",
        ),
        (
            format!("{REQUEUE}\n{FAIL}\nended.where = \"j.status = 'done'\""),
            &["reclaim", "--to", "fail"],
            "outside `ended.where`",
        ),
    ];
    on_both(|shop| {
        shop.sql(TASKS);
        let before = shop.rows(ROWS);
        for (rest, words, why) in &wrong {
            run(shop, &tasks(rest), words).exits(78).says("would leave job 1 where").says(why);
            run(shop, &tasks(rest), &[words, &["--apply"][..]].concat()).exits(78).says(why);
            assert_eq!(shop.rows(ROWS), before);
            run(shop, &tasks(rest), &["check"]).exits(78).says("would leave a job where");
        }
        let right = tasks(&format!("{REQUEUE}\n{FAIL}\nended.where = \"j.status IN ('done', 'failed')\""));
        run(shop, &right, &["check"]).exits(0);
        // Without a row in flight, rows are made up of what the conditions name.
        shop.sql("DELETE FROM tasks WHERE locked_by IS NOT NULL");
        // More columns than SQLite joins tables.
        (0..70).for_each(|n| shop.sql(&format!("ALTER TABLE tasks ADD COLUMN more{n} text")));
        run(shop, &right, &["check"]).exits(0);
        for (rest, _, _) in &wrong {
            run(shop, &tasks(rest), &["check"]).exits(78).says("would leave a job where");
        }
    });
}

/// What no statement told before: a trigger puts the row elsewhere, or takes it away.
#[test]
fn the_row_is_asked_after_the_write() {
    on_both(|shop| {
        shop.sql(TASKS);
        let right = tasks(&format!("{REQUEUE}\n{FAIL}"));
        let triggers = if shop.is_postgres() {
            ["UPDATE tasks SET status = 'lost' WHERE id = new.id", "DELETE FROM tasks WHERE id = new.id"].map(|does| {
                format!(
                    "CREATE OR REPLACE FUNCTION astray() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {does}; RETURN NULL; END $$;
                     DROP TRIGGER IF EXISTS astray ON tasks;
                     CREATE TRIGGER astray AFTER UPDATE ON tasks FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION astray()"
                )
            })
        } else {
            ["UPDATE tasks SET status = 'lost' WHERE id = new.id", "DELETE FROM tasks WHERE id = new.id"].map(|does| {
                format!(
                    "DROP TRIGGER IF EXISTS astray;
                     CREATE TRIGGER astray AFTER UPDATE OF locked_by ON tasks BEGIN {does}; END"
                )
            })
        };
        let before = shop.rows(ROWS);
        for trigger in &triggers {
            shop.sql(trigger);
            let ran = run(shop, &right, &["reclaim", "--apply", "--json"]).exits(3);
            let document = ran.json();
            assert_eq!(document["summary"]["outcomes"]["refused"], 2, "{document:#}");
            assert_eq!(shop.rows(ROWS), before, "rolled back");
        }
    });
}

/// A requeue without `waiting.is` is refused by its key, and nothing is due without it.
#[test]
fn what_waits_is_declared() {
    on_both(|shop| {
        shop.sql(TASKS);
        let bare = tasks("action.requeue = { to = 'waiting', clear = ['locked_by', 'locked_at'] }");
        run(shop, &bare, &["stale"]).exits(78).says("`action.requeue`").says("needs `is` in [waiting]");
        let due = "waiting.since = 'made'\n";
        let status = run(shop, &tasks(&format!("{due}{FAIL}")), &["status"]).exits(0);
        assert!(
            !status.stdout.contains("jobs due") && status.whole().contains("needs `is` in [waiting]"),
            "{status:#?}"
        );
        // What is in flight does not wait, and what has ended neither.
        let wide = tasks(&format!("waiting = {{ is = 'j.done_at IS NULL', since = 'made' }}\n{FAIL}"));
        let status = run(shop, &wide, &["status", "--json"]).exits(0);
        assert_eq!(status.json()["summary"]["waiting"]["due"], 1, "{status:#?}");
    });
}

/// Rows that are neither in flight nor waiting nor ended are counted.
#[test]
fn rows_that_meet_no_condition_are_not_understood() {
    on_both(|shop| {
        shop.sql(TASKS);
        shop.sql("INSERT INTO tasks VALUES (5, 'held', NULL, NULL, NULL, {ago 99})");
        let declared = tasks(&format!("{REQUEUE}\n{FAIL}\nended.where = \"j.status IN ('done', 'failed')\""));
        let said = "1 row of ";
        run(shop, &declared, &["check"]).exits(78).says(said).says("neither in flight nor waiting nor ended");
        let health = run(shop, &declared, &["health", "--json"]);
        assert_ne!(health.json()["state"], "ok", "{health:#?}");
        shop.sql("DELETE FROM tasks WHERE id IN (1, 2)");
        assert_eq!(run(shop, &declared, &["health", "--json"]).json()["state"], "unknown");
        shop.sql("DELETE FROM tasks WHERE id = 5");
        run(shop, &declared, &["check"]).exits(0);
        assert_eq!(run(shop, &declared, &["health", "--json"]).json()["state"], "ok");
    });
}

/// A state that the preset does not know may be one in which a worker holds jobs: said by every look, until the operator says that
/// it is none.
#[test]
fn a_state_that_nobody_declared_is_a_warning_until_it_is_ignored() {
    on_both(|shop| {
        shop.in_flight(1, 1, "'web1:1'", 1);
        shop.sql("UPDATE jobs SET lease_expires_at = {ago -300} WHERE id = 1");
        let free = "PRAGMA ignore_check_constraints = ON";
        let free = shop.pick(free, "ALTER TABLE jobs DROP CONSTRAINT jobs_status_check");
        let parked = "INSERT INTO jobs (id, queue, kind, status) VALUES (2, 'mail', 'Send', 'PARKED'), (3, 'mail', 'Send', 'PARKED')";
        shop.sql(&format!("{free}; {parked}"));
        let state = |more: &[&str]| {
            shop.run(&[&["health", "--json", "--preset", "lease"], more].concat()).json()["state"].clone()
        };
        let status = |more: &[&str]| shop.run(&[&["status", "--preset", "lease"], more].concat()).exits(0);
        let ignored = ["--option", "ignored_states=PARKED"];
        assert_eq!((state(&[]), state(&ignored)), ("warning".into(), "ok".into()));
        let said = status(&[]);
        assert!(said.stdout.contains("PARKED") && said.whole().contains("ignored_states=PARKED"), "{said:#?}");
        assert!(!status(&ignored).stdout.contains("PARKED"));
        shop.run(&["check", "--preset", "lease"]).exits(0).shows("PARKED");
        // Nothing else is in flight: these may be.
        shop.sql("DELETE FROM jobs WHERE id = 1");
        assert_eq!((state(&[]), state(&ignored)), ("unknown".into(), "ok".into()));
    });
}
