//! The clock of the machine that the program runs on is wrong.

use crate::support::cli::Doctor;
use crate::support::shim::Shim;
use crate::support::shop::{Shop, on_both};
use serde_json::Value;

/// Puts itself between a program and the clock.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long ahead(void) { const char *by = getenv("CLOCK_AHEAD"); return by ? atol(by) : 0; }

int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, at);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += ahead();
    return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"#;

fn instant(document: &Value) -> i64 {
    let seconds = document["store_time"].as_str().expect("a store time");
    let sql = format!("SELECT unixepoch('{seconds}')");
    let clock = rusqlite::Connection::open_in_memory().expect("SQLite");
    clock.query_row(&sql, [], |row| row.get(0)).expect("an instant")
}

#[test]
fn the_local_clock_is_an_hour_off_the_database_and_the_verdict_is_the_same() {
    let shim = Shim::of(SHIM);
    let library = shim.library().display().to_string();
    let skewed = |by: i64| Doctor::new().env("LD_PRELOAD", &library).env("CLOCK_AHEAD", by.to_string());
    // A file has no clock but that of whoever opens it: so this shows that the program does see the wrong time.
    let file = Shop::empty_on_sqlite();
    let seen = |by: i64| instant(&skewed(by).run(&["stale", "--json", "--db", &file.address()]).exits(0).json());
    let (behind, ahead) = (seen(-3600), seen(3600));
    assert!((7_190..7_260).contains(&(ahead - behind)), "{behind} and {ahead}: the shim does nothing");

    let shop = Shop::empty_on_postgres();
    // Dead for ten minutes; alive, by a lease and by a heartbeat; and one whose heartbeat makes no sense.
    shop.sql(
        "INSERT INTO jobs (id, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at) VALUES
         (1, 'RUNNING', 'web1:1', 'a', {ago 900}, {ago 660}, {ago 600}),
         (2, 'RUNNING', 'web1:2', 'b', {ago 900}, {ago 5}, {ago -55}),
         (3, 'RUNNING', 'web1:3', 'c', {ago 900}, {ago 5}, NULL),
         (4, 'RUNNING', 'web1:4', 'd', {ago 900}, {ago -3600}, NULL)",
    );
    let (url, mut said) = (shop.address(), Vec::new());
    for by in [0, -3600, 3600] {
        let document = skewed(by).run(&["stale", "--json", "--db", &url]).exits(0).json();
        let ids = |list: &str| -> Vec<String> {
            document[list]
                .as_array()
                .expect("a list")
                .iter()
                .map(|job| format!("{} {}", job["id"], job["verdict"]))
                .collect()
        };
        let silence = document["jobs"][0]["silence_seconds"].as_f64().expect("a silence");
        assert!((659.0..720.0).contains(&silence), "{by}: silent for {silence} s");
        said.push((ids("jobs"), ids("unknown")));
    }
    assert_eq!(said[0].0, ["\"1\" \"stuck\""]);
    assert_eq!(said[0].1, ["\"4\" \"unknown\""]);
    assert!(said.iter().all(|each| *each == said[0]), "{said:#?}");
    for by in [-3600, 3600] {
        skewed(by).run(&["reclaim", "--apply", "--db", &url]).exits(0);
        assert_eq!(shop.states(), ["1 QUEUED 1", "2 RUNNING 0", "3 RUNNING 0", "4 RUNNING 0"], "{by}");
    }
    // What was written, was written by the database's clock too.
    assert_eq!(shop.rows("SELECT abs(extract(epoch FROM run_at - now())) < 60 FROM jobs WHERE id = 1"), ["t"]);
}

/// In the hour that a zone repeats, a start that was written before the claim reads as one after it, or the other way round.
#[test]
fn a_start_in_the_hour_that_a_zone_repeats() {
    const MAPPING: &str = r#"[mapping.m]
time = { default = "text YYYY-MM-DD HH:MM:SS Europe/Berlin", beat = "epoch s" }
states = { waiting = ["new"], in_flight = ["working"] }
[mapping.m.claim]
table = "q"
key = "id"
state = "status"
claimed_at = "started"
liveness = [{ by = "owner", silent_after = "2m" }]
[mapping.m.owner]
id = "worker"
table = "workers"
key = "name"
match = { name = "worker" }
heartbeat = "beat"
started = "up_at"
[mapping.m.action]
requeue = { to = "new", clear = ["worker"] }
"#;
    let doctor = Doctor::new();
    std::fs::write(doctor.path("m.toml"), MAPPING).expect("a file");
    doctor.sql_in(
        "q.db",
        "CREATE TABLE workers (name text primary key, beat integer, up_at text);
         CREATE TABLE q (id integer primary key, status text, worker text, started text);
         INSERT INTO workers VALUES ('first', unixepoch(), '2025-10-26 02:50:00'), ('after', unixepoch(), '2025-10-26 03:10:00');
         INSERT INTO q VALUES (1, 'working', 'first', '2025-10-26 02:20:00'), (2, 'working', 'after', '2025-10-26 02:20:00')",
    );
    let stale = doctor.run(&["stale", "--config", "m.toml", "--preset", "m", "--db", "q.db", "-o", "name"]).exits(0);
    assert_eq!(
        stale.stdout, "2\n",
        "the first started at 02:50 of the first pass, perhaps, and claimed at 02:20 of the second"
    );
}

/// A worker that has just claimed a job has not sent a heartbeat yet, and the row has that of the worker before it.
#[test]
fn a_claim_that_is_newer_than_its_heartbeat_counts_as_a_sign_of_life() {
    on_both(|shop| {
        let row = |id: u32, claimed: u32, beat: u32, lease: &str| {
            shop.sql(&format!(
                "INSERT INTO jobs (id, status, owner_id, claimed_at, heartbeat_at, lease_expires_at)
                VALUES ({id}, 'RUNNING', 'web1:{id}', {{ago {claimed}}}, {{ago {beat}}}, {lease})"
            ));
        };
        row(1, 5, 9000, "NULL");
        row(2, 5, 9000, "{ago 8000}");
        row(3, 3000, 9000, "NULL");
        row(4, 9000, 9000, "NULL");
        row(5, 9000, 3000, "NULL");
        let found = shop.run(&["stale", "--older", "1h", "--json"]).exits(0).json();
        assert_eq!(found["jobs"].as_array().unwrap().len(), 1, "{found:#}");
        assert_eq!(found["jobs"][0]["id"], "4", "{found:#}");
        let found = shop.run(&["stale", "--older", "5m", "--json"]).exits(0).json();
        let silent = |id: &str| {
            let mut jobs = found["jobs"].as_array().unwrap().iter();
            jobs.find(|job| job["id"] == id).map(|job| job["silence_seconds"].as_f64().unwrap())
        };
        assert_eq!((silent("1"), silent("2")), (None, None), "{found:#}");
        assert!((3000.0..8000.0).contains(&silent("3").unwrap()), "{found:#}");
        assert!((3000.0..8000.0).contains(&silent("5").unwrap()), "{found:#}");
        shop.run(&["reclaim", "--older", "5m", "--apply"]).exits(0);
        assert_eq!(shop.rows("SELECT id FROM jobs WHERE status = 'RUNNING' ORDER BY id"), ["1", "2"]);
    });
}
