//! Jobs that are due: which queues stand still, and which of them only seem to.

use crate::support::cli::Ran;
use crate::support::shop::{Shop, on_both};
use serde_json::Value;

/// So many jobs of a queue that wait since so many seconds.
fn waiting(shop: &Shop, queue: &str, jobs: usize, since: i64) {
    let one = format!("('{queue}', 'K', 'QUEUED', {{ago {since}}}, {{ago {since}}})");
    let rows = vec![one; jobs].join(", ");
    shop.sql(&format!("INSERT INTO jobs (queue, kind, status, run_at, created_at) VALUES {rows}"));
}

/// A claim of a queue, made so many seconds ago, whose lease runs for so many more.
fn claimed(shop: &Shop, queue: &str, since: i64, lease: i64) {
    shop.sql(&format!(
        "INSERT INTO jobs (queue, kind, status, owner_id, claimed_at, lease_expires_at)
         VALUES ('{queue}', 'K', 'RUNNING', 'web1:1', {{ago {since}}}, {{ago {}}})",
        -lease
    ));
}

/// What is said of due jobs: kind, queue and jobs of each diagnosis about them.
fn said(ran: Ran) -> Vec<String> {
    let document = ran.exits(0).json();
    let of_due = |one: &&Value| !one["why"].is_null();
    let text = |one: &Value| format!("{} {} {}", one["why"], one["queue"], one["jobs"]).replace('"', "");
    document["diagnoses"].as_array().unwrap().iter().filter(of_due).map(text).collect()
}

#[test]
fn a_queue_stands_still_only_if_nobody_takes_its_jobs() {
    type Case = (&'static str, fn(&Shop), &'static [&'static str]);
    let cases: [Case; 9] = [
        ("idle", |_| {}, &[]),
        ("nobody takes them", |shop| waiting(shop, "mail", 7, 10_800), &["stands_still mail 7"]),
        ("fresh", |shop| waiting(shop, "mail", 7, 30), &[]),
        ("scheduled ahead", |shop| waiting(shop, "mail", 7, -3600), &[]),
        (
            "a slow single worker",
            |shop| {
                waiting(shop, "mail", 7, 10_800);
                claimed(shop, "mail", 7200, 60);
            },
            &["busy mail 7"],
        ),
        (
            "jobs are taken one by one",
            |shop| {
                waiting(shop, "mail", 7, 10_800);
                claimed(shop, "mail", 20, 60);
            },
            &[],
        ),
        (
            "the worker is dead",
            |shop| {
                waiting(shop, "mail", 7, 10_800);
                claimed(shop, "mail", 7200, -3600);
            },
            &["all_stuck mail 7"],
        ),
        (
            "another queue has workers",
            |shop| {
                waiting(shop, "mail", 7, 10_800);
                claimed(shop, "media", 20, 60);
            },
            &["stands_still mail 7"],
        ),
        (
            "one job has an absurd time, and one claim a time ahead",
            |shop| {
                waiting(shop, "mail", 7, 10_800);
                waiting(shop, "late", 7, 20);
                shop.sql(
                    "INSERT INTO jobs (queue, kind, status, run_at) VALUES ('late', 'K', 'QUEUED', {ago 1700000000})",
                );
                claimed(shop, "mail", -864_000, -3600);
            },
            &["busy mail 7"],
        ),
    ];
    on_both(|shop| {
        for (name, fill, expected) in &cases {
            shop.sql("DELETE FROM jobs");
            fill(shop);
            assert_eq!(said(shop.run(&["stale", "--json"])), *expected, "{name}");
        }
    });
}

/// Workers that run at night only: the operator says how long jobs may wait.
#[test]
fn a_target_may_let_jobs_wait_for_longer() {
    on_both(|shop| {
        waiting(shop, "reports", 7, 10_800);
        for (oldest_due, still, end) in [("4h", false, 0), ("2h", true, 1)] {
            let config = format!("[target.t]\ndb = \"{}\"\noldest_due = \"{oldest_due}\"\n", shop.url);
            std::fs::write(shop.doctor.path("c.toml"), config).unwrap();
            let run = |command: &[&str]| shop.doctor.run(&[command, &["--config", "c.toml", "--target", "t"]].concat());
            assert_eq!(!said(run(&["stale", "--json"])).is_empty(), still, "{oldest_due}");
            run(&["health"]).exits(end);
            run(&["status", "--exit-code"]).exits(end);
        }
        // A claim of that day shows that workers were meant to be there.
        claimed(shop, "reports", 40_000, -30_000);
        let config = format!("[target.t]\ndb = \"{}\"\noldest_due = \"2h\"\n", shop.url);
        std::fs::write(shop.doctor.path("c.toml"), config).unwrap();
        shop.doctor.run(&["health", "--config", "c.toml", "--target", "t"]).exits(2);
    });
}

/// Nothing that could not be read passes for nothing.
#[test]
fn a_waiting_side_that_cannot_be_read_is_unknown() {
    let shop = Shop::empty_on_sqlite();
    let mapping = "[mapping.m]\nstates = { waiting = ['QUEUED'], in_flight = ['RUNNING'] }
[mapping.m.claim]\ntable = 'jobs'\nkey = 'id'\nstate = 'status'\nqueue = 'queue'\nliveness = [{ by = 'age', column = 'claimed_at', silent_after = '1h' }]
[mapping.m.time]\ndefault = 'epoch s'
[mapping.m.waiting]\ndue = 'run_at'\nwhere = 'no_such_function(j.id) > 0'\n";
    std::fs::write(shop.doctor.path("c.toml"), mapping).unwrap();
    claimed(&shop, "mail", 7200, 60);
    let run = |arguments: &[&str]| shop.run(&[arguments, &["--config", "c.toml", "--preset", "m"]].concat());
    // The claims are read all the same.
    run(&["stale"]).exits(0).says("1 job stuck, of 1 in flight; due jobs unknown: no such function");
    run(&["status"]).exits(0).shows("UNKNOWN: no such function");
    shop.sql("DELETE FROM jobs");
    run(&["status", "--exit-code"]).exits(1);
    run(&["health"]).exits(3);
    run(&["check"]).shows("a part of the waiting side cannot be read");
}

/// Neither jobs that were not read nor times that cannot be read pass for young jobs.
#[test]
fn jobs_that_are_left_out_are_unknown() {
    on_both(|shop| {
        waiting(shop, "mail", 10_001, 10);
        waiting(shop, "slow", 1, 10_800);
        shop.run(&["status", "--exit-code"]).exits(1).shows("10,000+ jobs due");
        shop.run(&["health", "--queue", "slow"]).exits(3).shows("due jobs unknown");
        shop.run(&["health", "--queue", "mail"]).exits(3).shows("10,000+ jobs due");
        let ran = shop.run(&["stale", "--queue", "slow", "--exit-code"]).exits(0);
        assert!(!ran.stderr.contains("matches no"), "{}", ran.whole());
    });
    for (value, found) in
        [("'2026-01-01'", "2 jobs due"), ("1700000000.5", "2 jobs due"), ("253402300799", "1 job due")]
    {
        let shop = Shop::empty_on_sqlite();
        waiting(&shop, "mail", 1, 10);
        shop.sql(&format!("INSERT INTO jobs (queue, kind, status, run_at) VALUES ('late', 'K', 'QUEUED', {value})"));
        let is_due = found.starts_with('2');
        shop.run(&["status", "--exit-code"]).exits(i32::from(is_due)).shows(found);
        shop.run(&["health"]).exits(if is_due { 3 } else { 0 });
        shop.run(&["show", "2"]).exits(0).shows("the time before which it is not due");
    }
}

#[test]
fn the_situation_fits_a_screen() {
    on_both(|shop| {
        for n in 0..30 {
            waiting(shop, &format!("{n:02}-{}", "long".repeat(20)), 2, 10_800 + n);
            claimed(shop, &format!("{n:02}-{}", "long".repeat(20)), 7200 + n * 100, -3600);
        }
        let with = |arguments: &[&str], name: &str, value: &str| {
            Ran::of(shop.doctor.command(arguments).env(name, value).output().unwrap())
        };
        let ran = with(&shop.with_db(&["status"]), "COLUMNS", "80");
        let lines = ran.stdout.lines().count() + ran.stderr.lines().count();
        assert!(lines <= 22 && ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.whole());
        assert!(ran.stdout.contains("30 queues stand still"), "{}", ran.whole());
        assert_eq!(shop.run(&["status", "-o", "name"]).exits(0).stdout, "stands_still\nvanished\n");
        shop.run(&["status", "--watch", "2s"]).exits(2).says("a script can run `jobdoctor status -o json` in a loop");
        // The name alone is the situation where it names a database.
        let alone = shop.doctor.run(&["--db", &shop.url]).exits(0);
        assert_eq!(alone.stdout.lines().next(), shop.run(&["status"]).stdout.lines().next());
        let elsewhere = with(&[], "DATABASE_URL", "postgres://nobody@localhost/x");
        assert!(elsewhere.exits(2).stderr.contains("`jobdoctor status` shows its situation"));
    });
}
