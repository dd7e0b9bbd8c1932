//! Hostile rows: every type in every column, with whatever a terminal would act on. Each is judged, planned for and shown in
//! every format; nothing panics, JSON is JSON, what people see is inert, and no live claim is among the steps.

use super::TRIED;
use super::inputs::eyes::must_be_harmless;
use super::values::{megabyte, value};
use crate::support::cli::Doctor;
use crate::support::dice::{Dice, fresh_seed};
use crate::support::doctor::{CATALOG, limits, unguarded};
use crate::support::figures;
use jobdoctor::ops::{self, ApplyOptions, Mode, Selection, Session};
use jobdoctor::output::format::json;
use jobdoctor::output::{Collector, Document};
use jobdoctor::policy::Policy;
use jobdoctor::preset::Place;
use jobdoctor::store::{Address, open};
use serde_json::Value;
use std::path::Path;

/// No column has a type, so that each holds what it is given.
const JOBS: &str = "CREATE TABLE jobs (id PRIMARY KEY, queue, kind, status, run_at, owner_id, lease_token, claimed_at,
    heartbeat_at, lease_expires_at, attempts, max_attempts, stalls, max_runtime_seconds, deadline_at, cancel_requested_at,
    error_code, error_detail, finished_at);";

/// The columns of a time, as they would be if nothing were wrong: most rows have a few bad values among good ones.
const GOOD: &str = "'' 'mail' 'SendInvoice' 'RUNNING' NULL 'web1:7' 'token' unixepoch()-8000 unixepoch()-7900 unixepoch()-7800 1 5 0 \
    NULL NULL NULL NULL NULL NULL";
const STATUS: usize = 3;
const LEASE: usize = 9;

const ROWS: usize = 400;

fn row(n: usize, dice: &mut Dice) -> String {
    let mut values: Vec<String> = GOOD.split(' ').map(str::to_owned).collect();
    let bad = 1 + dice.below(6);
    for _ in 0..bad {
        let column = 1 + dice.below(values.len() - 1);
        // Most stay in flight: of the others there is little to say.
        if column != STATUS || dice.once_in(3) {
            values[column] = value(dice);
        }
    }
    if dice.once_in(5) {
        values[LEASE] = "unixepoch() + 3600".to_owned();
    }
    if n == 0 && dice.once_in(4) {
        values[1 + dice.below(2)] = megabyte();
    }
    // An id is anything too, but no two are the same.
    values[0] = match dice.below(4) {
        0 => n.to_string(),
        1 => format!("{n}.5"),
        2 => format!("CAST({} || {} AS BLOB)", value(dice).replace("NULL", "''"), blob_of(n)),
        _ => format!("{} || '#{n}'", value(dice).replace("NULL", "''")),
    };
    format!("({})", values.join(", "))
}

fn blob_of(n: usize) -> String {
    format!("x'ff00{n:08x}'")
}

fn fill(path: &Path, dice: &mut Dice) {
    let rows: Vec<String> = (0..ROWS).map(|n| row(n, dice)).collect();
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.pragma_update(None, "synchronous", "off").unwrap();
    let sql = format!("{JOBS} INSERT INTO jobs VALUES {};", rows.join(",\n"));
    connection.execute_batch(&sql).unwrap_or_else(|error| panic!("{error}"));
}

pub fn try_rows(count: usize) {
    let files = count.div_ceil(ROWS);
    let first = fresh_seed();
    for n in 0..files as u64 {
        let seed = first.wrapping_add(n);
        let ended = std::panic::catch_unwind(|| try_file(&mut Dice::of(seed)));
        assert!(ended.is_ok(), "the rows of seed {seed}");
    }
    figures::add((files * ROWS) as u64, TRIED);
}

fn try_file(dice: &mut Dice) {
    let doctor = Doctor::new();
    let path = doctor.path("queue.db");
    fill(&path, dice);
    through_the_library(&path);
    through_the_program(&doctor, dice);
}

/// The document as a script gets it, whole and line by line.
fn told<D: Document>(document: &D) -> Value {
    let mut out = Vec::new();
    json(document, &mut out).unwrap();
    let mut lines = Vec::new();
    document.lines(&mut lines).unwrap();
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line: Value = serde_json::from_slice(line).unwrap();
        assert!(line["type"].is_string(), "{line}");
    }
    serde_json::from_slice(&out).unwrap()
}

fn through_the_library(path: &Path) {
    let (store, limits, place) = (open(&Address::file(path)), limits(), Place::default());
    let session = Session { preset: Some("lease"), ..Session::of(&*store, &CATALOG, &place, &limits) };
    let policy = Policy::default();
    let mut look = session.snapshot().unwrap();
    let stale = told(
        &ops::stale(&mut look, &Selection::default(), &policy, Collector::first(usize::MAX), &mut |_, _| false)
            .unwrap(),
    );
    told(&ops::owners(&mut look, &Selection::default(), &policy, |_| true).unwrap());
    let stats = ops::stats(&mut look, &Selection::default(), &policy).unwrap();
    serde_json::to_string(&stats).unwrap();
    let ids: Vec<String> = stale["unknown"].as_array().unwrap().iter().take(20).map(|job| id(job).to_owned()).collect();
    serde_json::to_string(&ops::show(&mut look, &ids, &policy, None, None).unwrap()).unwrap();
    let plan = ops::plan(&mut look, &Selection::default(), &policy).unwrap();
    serde_json::to_string(&plan.to_save()).unwrap();
    let plan = plan.ready(look);
    let order = ApplyOptions { mode: Mode::Plan, guard: Default::default(), ..unguarded() };
    let dry = told(&ops::reclaim(&*store, &limits, plan, &order).unwrap().document);

    let summary = &stale["summary"];
    let found = stale["jobs"].as_array().unwrap().len() + stale["unknown"].as_array().unwrap().len();
    assert_eq!(found as u64, summary["stuck"].as_u64().unwrap() + summary["unknown"].as_u64().unwrap());
    let connection = rusqlite::Connection::open(path).unwrap();
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap().unsigned_abs();
    assert_eq!(summary["in_flight"], count("SELECT count(*) FROM jobs WHERE status IN ('CLAIMED', 'RUNNING')"));
    let steps = dry["steps"].as_array().unwrap();
    // Those that nothing is wrong with but their owner's silence.
    let dead = "SELECT count(*) FROM jobs WHERE status IN ('CLAIMED', 'RUNNING')
        AND typeof(lease_expires_at) = 'integer' AND lease_expires_at BETWEEN 1000000000 AND unixepoch() - 60
        AND typeof(heartbeat_at) = 'integer' AND heartbeat_at BETWEEN 1000000000 AND unixepoch() - 60
        AND typeof(claimed_at) = 'integer' AND claimed_at BETWEEN 1000000000 AND unixepoch() - 60";
    assert!(found as u64 >= count(dead), "{summary}");
    assert!(!steps.is_empty());
    for step in steps {
        let lease = step["lease_expires_at"].as_str();
        assert!(lease.is_none_or(|lease| lease < dry["store_time"].as_str().unwrap()), "a live claim: {step}");
        if let (Some(before), Some(after)) = (step["attempts"].as_i64(), step["attempts_after"].as_i64()) {
            assert!(after == before || Some(after) == before.checked_add(1), "{step}");
        }
        if let (Some(after), Some(max)) = (step["attempts_after"].as_i64(), step["max_attempts"].as_i64()) {
            assert!(after < max || step["state_after"] != "QUEUED", "no attempt is left: {step}");
        }
    }
}

fn id(job: &Value) -> &str {
    job["id"].as_str().unwrap()
}

/// Every format, each time another few of them.
fn through_the_program(doctor: &Doctor, dice: &mut Dice) {
    const FOR_PEOPLE: [&[&str]; 6] = [
        &["stale", "--limit", "1000", "-o", "wide"],
        &["stale", "--limit", "1000"],
        &["reclaim", "-v"],
        &["owners"],
        &["stats"],
        &["sweep", "--restart", "--all-owners"],
    ];
    const FOR_MACHINES: [&[&str]; 6] = [
        &["stale", "-o", "json"],
        &["stale", "-o", "jsonl"],
        &["reclaim", "-o", "jsonl"],
        &["stale", "-o", "csv"],
        &["reclaim", "-o", "csv"],
        &["stale", "-o", "prometheus"],
    ];
    let queue = ["--db", "queue.db", "--preset", "lease"];
    let arguments = *dice.pick(&FOR_PEOPLE);
    let ran = doctor.run(&[arguments, &queue].concat()).exits(0);
    must_be_harmless(&format!("{arguments:?}"), &ran.stdout);
    must_be_harmless(&format!("{arguments:?}"), &ran.stderr);
    assert!(!ran.stdout.lines().any(|line| line.starts_with("FAKE")), "{ran:#?}");

    let arguments = *dice.pick(&FOR_MACHINES);
    let ran = doctor.run(&[arguments, &queue].concat());
    must_be_harmless(&format!("{arguments:?}"), &ran.stderr);
    match arguments[2] {
        "json" => drop(ran.exits(0).json()),
        "jsonl" => {
            for line in ran.exits(0).stdout.lines() {
                serde_json::from_str::<Value>(line).unwrap();
            }
        }
        "csv" => {
            let ran = ran.exits(0);
            let mut reader = ::csv::Reader::from_reader(ran.stdout.as_bytes());
            let columns = reader.headers().unwrap().len();
            assert!(reader.records().all(|record| record.unwrap().len() == columns));
        }
        // Not every command has every format.
        _ => assert!([0, 2].contains(&ran.code), "{ran:#?}"),
    }
}

#[test]
fn thousands_of_them() {
    try_rows(4_000);
}
