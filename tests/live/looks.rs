//! Waiting for what will soon be so, and reading what jobdoctor's documents say.

use super::application::Application;
use postgres::Client;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Long enough for whatever should happen at once, on a machine that is busy.
pub(super) const A_WHILE: Duration = Duration::from_secs(20);

const LOOKS: Duration = Duration::from_millis(200);

/// Looks until that many are stuck, as somebody would who has just been told that a worker died.
pub(super) fn until_stuck(app: &Application, arguments: &[&str], count: usize) -> Value {
    let until = Instant::now() + A_WHILE;
    loop {
        let document = app.document(arguments);
        if document["summary"]["stuck"] == count {
            return document;
        }
        assert!(Instant::now() < until, "{count} jobs should be stuck by now: {document}");
        std::thread::sleep(LOOKS);
    }
}

pub(super) fn wait_until(mut is_so: impl FnMut() -> bool, what: impl Fn() -> String) {
    let until = Instant::now() + A_WHILE;
    while !is_so() {
        assert!(Instant::now() < until, "not within {A_WHILE:?}: {}", what());
        std::thread::sleep(LOOKS);
    }
}

pub(super) fn sessions(client: &mut Client) -> Vec<i32> {
    let rows = client.query("SELECT pid FROM pg_stat_activity WHERE datname = current_database()", &[]);
    rows.expect("the sessions").iter().map(|row| row.get(0)).collect()
}

/// Workers do not say when they begin to listen, and a wake-up that nobody hears is lost.
pub(super) fn until_listening(client: &mut Client, workers: i64, but: &[i32]) {
    let listen = "SELECT count(*) >= $1 FROM pg_stat_activity \
                  WHERE datname = current_database() AND query ILIKE 'LISTEN%' AND pid <> ALL ($2)";
    let mut listens = || client.query_one(listen, &[&workers, &but]).expect("the sessions").get(0);
    wait_until(&mut listens, || format!("{workers} sessions listen"));
}

/// The ids of a list of jobs, sorted, as the library itself spells them: where its key has two parts, the last one.
pub(super) fn ids(jobs: &Value) -> Vec<String> {
    let jobs = jobs.as_array().expect("a list of jobs");
    sorted(jobs.iter().map(id).collect())
}

pub(super) fn id(job: &Value) -> String {
    let id = job["id"].as_str().expect("an id");
    id.rsplit('/').next().unwrap_or(id).to_owned()
}

pub(super) fn rules(jobs: &Value) -> Vec<&str> {
    let jobs = jobs.as_array().expect("a list of jobs");
    jobs.iter().filter_map(|job| job["reasons"][0]["rule"].as_str()).collect()
}

pub(super) fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}
