//! A row that only a living worker renews: fresh, it keeps what age alone would condemn; else it changes nothing.

use super::queue::{ids, reason};
use crate::support::cli::until;
use crate::support::shop::{Shop, on_both};
use std::fs;

/// Jobs 1 to 3, claimed long ago: the worker of the first beats, that of the second is silent, the third has no row.
fn beats(queue: &Shop) {
    queue.sql(
        "CREATE TABLE tasks (id integer PRIMARY KEY, status text, worker text, started {time});
         CREATE TABLE beats (worker text PRIMARY KEY, seen {time});
         INSERT INTO tasks VALUES (1, 'run', 'w1', {ago 9000}), (2, 'run', 'w2', {ago 9000}), (3, 'run', 'w3', {ago 9000});
         INSERT INTO beats VALUES ('w1', {ago 5}), ('w2', {ago 600})",
    );
    let now =
        if queue.is_postgres() { "b.seen > pg_catalog.now() - interval '1 min'" } else { "b.seen > unixepoch() - 60" };
    let mapping = format!(
        "[mapping.m]\ntime = {{ default = {{ sqlite = 'epoch s', postgres = 'native' }} }}\ntables = {{ beats = 'beats' }}
         states = {{ waiting = ['new'], in_flight = ['run'] }}\nowner.id = 'worker'
         claim = {{ table = 'tasks', key = 'id', state = 'status', claimed_at = 'started', liveness = [{{ by = 'age', silent_after = '1h' }}],
                   veto = {{ fresh = \"EXISTS (SELECT 1 FROM {{beats}} AS b WHERE b.worker = j.worker AND {now})\", says = 'its worker beats' }} }}
         action.requeue = {{ to = 'new', clear = ['worker', 'started'] }}"
    );
    fs::write(queue.doctor.path("m.toml"), mapping).unwrap();
}

const M: [&str; 5] = ["--config", "m.toml", "--preset", "m", "--json"];

#[test]
fn a_fresh_row_makes_age_trouble() {
    on_both(|queue| {
        beats(queue);
        let stale = queue.run(&[&["stale"][..], &M].concat()).exits(0).json();
        assert_eq!(stale["summary"]["stuck"], 3, "{stale:#}");
        let plan = queue.run(&[&["reclaim"][..], &M].concat()).exits(0).json();
        assert_eq!(ids(&plan, "skipped", reason), ["1 owner_alive"], "{plan:#}");
        assert_eq!(plan["steps"].as_array().unwrap().len(), 2);
        // The operator may act on trouble.
        let all = queue.run(&[&["reclaim", "--rule", "claim_age"][..], &M].concat()).exits(0).json();
        assert_eq!(all["steps"].as_array().unwrap().len(), 3, "{all:#}");
        // A beat between the plan and the write.
        let file = queue.doctor.path("plan.json").display().to_string();
        queue.run(&[&["reclaim", "--save-plan", &file][..], &M].concat()).exits(0);
        queue.sql("UPDATE beats SET seen = {ago 0} WHERE worker = 'w2'");
        let applied =
            queue.run(&["reclaim", "--plan", &file, "--config", "m.toml", "--apply", "--json"]).exits(3).json();
        assert_eq!(applied["summary"]["outcomes"]["moved"], 1, "{applied:#}");
    });
}

/// A beat that has not been committed cannot be seen, and its job is left alone.
#[test]
fn a_writer_that_has_not_committed_counts() {
    let queue = Shop::on_postgres();
    beats(&queue);
    let mut client = queue.client();
    let mut beat = client.transaction().unwrap();
    beat.execute("INSERT INTO beats VALUES ('w3', now())", &[]).unwrap();
    let applied = queue.run(&[&["reclaim", "--apply"][..], &M].concat()).exits(3).json();
    assert_eq!(applied["summary"]["outcomes"]["locked"], 2, "{applied:#}");
    beat.rollback().unwrap();
    let applied = queue.run(&[&["reclaim", "--apply"][..], &M].concat()).exits(0).json();
    assert_eq!(applied["summary"]["outcomes"]["moved"], 2, "{applied:#}");
}

/// A beat that is committed while the write waits: the row is asked again once the job is locked.
#[test]
fn a_beat_after_the_plan_is_heard() {
    let queue = Shop::on_postgres();
    beats(&queue);
    let (mut holder, mut watcher) = (queue.client(), queue.client());
    holder.batch_execute("BEGIN; LOCK TABLE tasks IN EXCLUSIVE MODE").unwrap();
    let applying = queue.doctor.start(&queue.with_db(&[&["reclaim", "--apply"][..], &M].concat()));
    until("the write waits for the table", || {
        let waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        watcher.query_opt(waits, &[]).unwrap().is_some()
    });
    holder.batch_execute("UPDATE beats SET seen = now() WHERE worker = 'w2'; COMMIT").unwrap();
    let outcomes = applying.wait().exits(0).json()["summary"]["outcomes"].clone();
    assert_eq!((&outcomes["moved"], &outcomes["changed"]), (&1.into(), &1.into()), "{outcomes}");
}

/// Without the right to read it, the age decides, and the plan and `check` say so.
#[test]
fn what_cannot_be_read_speaks_for_nobody() {
    let queue = Shop::on_postgres();
    beats(&queue);
    let role = format!("role_{}", queue.server().name());
    queue.sql(&format!("CREATE ROLE {role} LOGIN; GRANT ALL ON tasks TO {role}"));
    let db = queue.url.replace("user=doctor", &format!("user={role}"));
    let run =
        |words: &[&str]| queue.doctor.run(&[words, &["--db", &db, "--config", "m.toml", "--preset", "m"]].concat());
    let plan = run(&["reclaim"]).exits(0);
    assert!(plan.whole().contains("this role cannot read whether its worker beats"), "{plan:#?}");
    let checked = run(&["check"]).exits(0);
    assert!(checked.stdout.contains("GRANT SELECT ON"), "{checked:#?}");
}
