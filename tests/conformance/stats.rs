//! Counts by queue and state, and runs that have ended well: the same on every store.

use crate::support::doctor::{built_in, fitted, look, mapping};
use crate::support::edit::Value::{Ago, Int, Null, Text};
use crate::support::edit::{Edit, Value, insert};
use crate::support::labs::{Lab, as_in_memory, for_each_store};
use crate::support::tables::{JOBS, ORDERS, ORDERS_MAPPING, PINGS};
use jobdoctor::preset::{Finished, Jobs, Runs};
use jobdoctor::store::{Reader, Store, WantedRuns};
use std::time::Duration;

fn job(id: i64, queue: Value, kind: Value, status: &'static str, claimed: Value, finished: Value) -> Edit {
    insert(
        "jobs",
        &[
            ("id", Int(id)),
            ("queue", queue),
            ("kind", kind),
            ("status", Text(status)),
            ("claimed_at", claimed),
            ("finished_at", finished),
        ],
    )
}

fn some(lab: &dyn Lab) -> (Box<dyn Store>, Jobs) {
    lab.create(&[JOBS]);
    lab.edit(&[
        job(1, Text("mail"), Text("A"), "SUCCEEDED", Ago(700), Ago(600)),
        job(2, Text("mail"), Text("B"), "SUCCEEDED", Ago(5000), Ago(4000)),
        job(3, Text("MAIL"), Null, "SUCCEEDED", Ago(90), Ago(60)),
        job(4, Null, Text("A"), "SUCCEEDED", Null, Ago(500)),
        job(5, Text("mail"), Text("A"), "SUCCEEDED", Ago(700), Null),
        job(6, Text("mail"), Text("A"), "FAILED", Ago(700), Ago(600)),
        job(7, Text("mail"), Text("A"), "RUNNING", Ago(700), Null),
        job(8, Text(""), Text("A"), "QUEUED", Null, Null),
        job(9, Null, Null, "ODD", Null, Null),
    ]);
    fitted(lab, &built_in("lease"))
}

fn tallies(reader: &mut dyn Reader, spec: &Jobs, by_kind: bool) -> Vec<String> {
    let tallies = reader.count_by_state(spec, by_kind).unwrap();
    let line = |tally: &jobdoctor::store::RowCount| {
        format!("{:?} {:?} {} {}", tally.queue, tally.kind, tally.state, tally.rows)
    };
    let mut lines: Vec<String> = tallies.iter().map(line).collect();
    lines.sort();
    lines
}

fn kept(spec: &Jobs) -> &Runs {
    match &spec.finished {
        Finished::Kept(runs) => runs,
        Finished::Untold(why) => panic!("{why}"),
    }
}

fn runs(reader: &mut dyn Reader, spec: &Jobs, wanted: WantedRuns) -> Vec<String> {
    let now = reader.now();
    let mut lines = Vec::new();
    // The tables were filled a moment ago.
    let ago = |at: &jobdoctor::model::Reading| at.at().map(|at| (now.since(at).as_secs_f64() / 30.0).floor() * 30.0);
    reader
        .finished(spec, kept(spec), &wanted, &mut |run| {
            lines.push(format!("{:?} {:?} {:?} {:?}", run.queue, run.kind, ago(&run.started), ago(&run.ended)));
        })
        .unwrap();
    lines.sort();
    lines
}

#[test]
fn rows_are_counted_by_queue_and_state() {
    let said = |lab: &dyn Lab| {
        let (store, spec) = some(lab);
        let mut reader = look(&*store);
        (tallies(&mut *reader, &spec, false), tallies(&mut *reader, &spec, true))
    };
    as_in_memory(said);
    let (tallies, by_kind) = said(&crate::support::labs::MemoryLab::new());
    assert!(tallies.contains(&"Some(\"mail\") None SUCCEEDED 3".to_owned()), "{tallies:#?}");
    assert!(tallies.contains(&"Some(\"MAIL\") None SUCCEEDED 1".to_owned()), "case counts: {tallies:#?}");
    assert!(tallies.contains(&"None None ODD 1".to_owned()), "{tallies:#?}");
    assert!(by_kind.contains(&"Some(\"mail\") Some(\"A\") SUCCEEDED 2".to_owned()), "{by_kind:#?}");
}

#[test]
fn runs_that_ended_well_within_a_window() {
    as_in_memory(|lab| {
        let (store, spec) = some(lab);
        let mut reader = look(&*store);
        let since = |seconds: u64| WantedRuns::Since(reader.now().minus(Duration::from_secs(seconds)));
        let windows = [since(100), since(1000), since(10_000)];
        let all: Vec<Vec<String>> =
            windows.into_iter().map(|window| known(runs(&mut *reader, &spec, window))).collect();
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [1, 3, 4], "{}: {all:#?}", lab.name());
        all
    });
}

/// An end that is not known may come or not: the contract leaves it open.
fn known(mut lines: Vec<String>) -> Vec<String> {
    lines.retain(|line| !line.ends_with("None"));
    lines
}

#[test]
fn the_newest_runs_and_the_look_goes_on() {
    as_in_memory(|lab| {
        let (store, spec) = some(lab);
        let mut reader = look(&*store);
        let newest = |n| WantedRuns::Newest(n, Duration::from_secs(20));
        let lists: Vec<Vec<String>> = [1, 2, 100].map(|n| runs(&mut *reader, &spec, newest(n))).to_vec();
        assert_eq!(lists.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 4], "{}: {lists:#?}", lab.name());
        assert!(lists[0][0].starts_with("Some(\"MAIL\") None"), "{lists:#?}");
        assert_eq!(reader.in_flight(&spec).unwrap(), 1);
        lists
    });
}

/// A short question that takes too long fails alone: what comes after it in the same snapshot does not.
#[test]
fn a_short_question_that_takes_too_long_is_given_up() {
    for_each_store(|lab| {
        let Some(sql) = lab.sql() else { return };
        lab.create(&[JOBS]);
        let numbers = sql.pick(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) SELECT i FROM n",
            "SELECT i FROM generate_series(1, 60000) AS i",
        );
        let (began, ended) = (sql.ago(700), sql.ago(600));
        sql.run(&format!(
            "INSERT INTO jobs (id, queue, status, claimed_at, finished_at)
            SELECT i, 'mail', 'SUCCEEDED', {began}, {ended} FROM ({numbers}) AS numbers"
        ));
        let (store, spec) = fitted(lab, &built_in("lease"));
        let mut reader = look(&*store);
        let wanted = WantedRuns::Newest(60_000, Duration::from_millis(1));
        let error = reader.finished(&spec, kept(&spec), &wanted, &mut |_| {}).unwrap_err();
        assert_eq!(error.kind, jobdoctor::store::StoreErrorKind::TimedOut, "{}: {error}", lab.name());
        assert_eq!(reader.in_flight(&spec).unwrap(), 0, "{}", lab.name());
        assert_eq!(reader.count_by_state(&spec, false).unwrap().len(), 1, "{}", lab.name());
        let mut n = 0;
        let all = WantedRuns::Since(reader.now().minus(Duration::from_secs(3600)));
        reader.finished(&spec, kept(&spec), &all, &mut |_| n += 1).unwrap();
        assert_eq!(n, 60_000, "{}", lab.name());
    });
}

#[test]
fn a_mapping_with_a_condition() {
    as_in_memory(|lab| {
        lab.create(&[ORDERS, PINGS]);
        let order = |id: i64, status: &'static str, paused: i64, started: Value| {
            insert(
                "order_queue",
                &[("id", Int(id)), ("status", Text(status)), ("paused", Int(paused)), ("started", started)],
            )
        };
        lab.edit(&[
            order(1, "shipped", 0, Ago(100)),
            order(2, "shipped", 1, Ago(200)),
            order(3, "dead", 1, Ago(300)),
            order(4, "working", 1, Ago(400)),
        ]);
        let toml = format!("{ORDERS_MAPPING}[finished]\nat = \"started\"\nwhere = \"j.paused = 1\"\n");
        let (store, spec) = fitted(lab, &mapping(&toml));
        let mut reader = look(&*store);
        let found = runs(&mut *reader, &spec, WantedRuns::Newest(10, Duration::from_secs(20)));
        assert_eq!(found.len(), 1, "{}: {found:#?}", lab.name());
        found
    });
}
