//! `--delay` and `--jitter` through the program, on both engines.

use crate::cli::scene::{incident, orphans};
use crate::support::cli::{Doctor, is_valid};
use crate::support::postgres::{TestDatabase, fresh};

/// When the requeued jobs may run, in seconds from an instant, in the order of the plan: longest silent first.
fn seconds_from(doctor: &Doctor, instant: i64) -> Vec<i64> {
    let query = format!("SELECT run_at - {instant} FROM jobs WHERE status = 'QUEUED' AND run_at > 0 ORDER BY id DESC");
    doctor.rows("queue.db", &query).iter().map(|row| row.parse().unwrap()).collect()
}

fn clock(doctor: &Doctor) -> i64 {
    doctor.rows("queue.db", "SELECT unixepoch()")[0].parse().unwrap()
}

fn distinct(seconds: &[i64]) -> usize {
    seconds.iter().collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn at_once_unless_asked() {
    let doctor = orphans(3);
    let before = clock(&doctor);
    let document =
        doctor.run(&["reclaim", "--db", "queue.db", "--max-jobs", "9999", "--apply", "--json"]).exits(0).json();
    let took = clock(&doctor) - before;
    assert!(seconds_from(&doctor, before).iter().all(|at| (0..=took).contains(at)));
    assert!(document["delay_seconds"].is_null() && document["jitter_seconds"].is_null());
}

#[test]
fn a_delay_alone_is_one_instant() {
    let doctor = orphans(20);
    let before = clock(&doctor);
    let ran = doctor
        .run(&["reclaim", "--db", "queue.db", "--max-jobs", "9999", "--apply", "--json", "--delay", "1h"])
        .exits(0);
    let took = clock(&doctor) - before;
    let at = seconds_from(&doctor, before);
    assert_eq!((at.len(), distinct(&at)), (20, 1), "one batch");
    assert!((3600..=3600 + took).contains(&at[0]), "{at:?}");
    let document = ran.json();
    is_valid("reclaim", &document);
    assert_eq!((&document["delay_seconds"], &document["jitter_seconds"]), (&3600.0.into(), &serde_json::Value::Null));
}

/// Every part of the window gets its share, in the order of the plan, however many batches the run takes.
#[test]
fn the_whole_run_is_spread_over_one_window() {
    let doctor = orphans(1234);
    let before = clock(&doctor);
    let arguments =
        ["sweep", "--db", "queue.db", "--max-jobs", "9999", "--apply", "--json", "--delay", "30s", "--jitter", "1000s"];
    let document = doctor.run(&arguments).exits(0).json();
    let took = clock(&doctor) - before;
    is_valid("sweep", &document);
    assert_eq!(document["summary"]["outcomes"]["moved"], 1234);
    assert_eq!(document["jitter_seconds"], 1000.0);
    let at = seconds_from(&doctor, before);
    assert_eq!(at.len(), 1234);
    assert!(at.iter().all(|at| (30..=1030 + took).contains(at)), "{:?} {:?}", at.iter().min(), at.iter().max());
    assert!(distinct(&at) >= 100, "{} instants", distinct(&at));
    for quarter in 0..4 {
        let part = 30 + quarter * 250..30 + (quarter + 1) * 250;
        let share = at.iter().filter(|at| part.contains(*at)).count();
        assert!((280..=340).contains(&share), "{share} jobs in part {quarter}");
    }
    // A second of the machine's own time may lie between two batches.
    assert!(at.windows(2).all(|pair| pair[0] <= pair[1] + took), "the longest silent first");
    assert_eq!(doctor.rows("queue.db", "SELECT attempts, stalls, count(*) FROM jobs GROUP BY 1, 2"), ["1 1 1234"]);
}

#[test]
fn each_of_a_few_jobs_has_its_own_instant() {
    let doctor = orphans(40);
    let before = clock(&doctor);
    doctor.run(&["reclaim", "--db", "queue.db", "--max-jobs", "9999", "--apply", "--jitter", "2h"]).exits(0);
    let took = clock(&doctor) - before;
    let at = seconds_from(&doctor, before);
    // The column holds whole seconds: the end of one part and the beginning of the next may share one, and a second that the
    // clock had begun counts as well.
    assert!(distinct(&at) >= 38, "{at:?}");
    assert!(
        at.iter().enumerate().all(|(n, at)| {
            let begin = i64::try_from(n).unwrap() * 180;
            (begin..=begin + 180 + took).contains(at)
        }),
        "took {took}: {at:?}"
    );
}

/// Twice the same command is not twice the same instants: two hosts that sweep at once must not agree.
#[test]
fn nobody_can_foresee_the_instants() {
    let run = || {
        let doctor = orphans(30);
        let before = clock(&doctor);
        doctor.run(&["reclaim", "--db", "queue.db", "--max-jobs", "9999", "--apply", "--jitter", "7d"]).exits(0);
        seconds_from(&doctor, before)
    };
    let (first, second) = (run(), run());
    let apart = first.iter().zip(&second).filter(|(a, b)| (*a - *b).abs() > 60).count();
    assert!(apart > 20, "{first:?}\n{second:?}");
}

/// Only what goes back waits: the one that fails and the one that is cancelled are done with now.
#[test]
fn other_actions_do_not_wait() {
    let doctor = incident();
    let before = clock(&doctor);
    doctor.run(&["reclaim", "--db", "queue.db", "--max-jobs", "9999", "--apply", "--delay", "1h"]).exits(0);
    let ended = doctor.rows(
        "queue.db",
        &format!("SELECT id, status, run_at IS NULL, finished_at - {before} < 60 FROM jobs WHERE id IN (2, 4)"),
    );
    assert_eq!(ended, ["2 FAILED 1 1", "4 CANCELLED 1 1"]);
    assert_eq!(seconds_from(&doctor, before).len(), 3);
}

#[test]
fn a_dry_run_says_when_and_the_next_command_repeats_it() {
    let doctor = orphans(2);
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--delay", "30s", "--jitter=2m"]).exits(0);
    assert!(ran.stderr.contains("requeued jobs may run 30s later, spread over 2m"), "{}", ran.stderr);
    assert!(ran.stderr.contains("jobdoctor reclaim --db queue.db --delay 30s --jitter=2m --expect "), "{}", ran.stderr);
    assert_eq!(doctor.rows("queue.db", "SELECT DISTINCT status FROM jobs"), ["RUNNING"]);
    let lines = doctor.run(&["reclaim", "--db", "queue.db", "--delay", "30s", "-o", "jsonl"]).exits(0).stdout;
    let head: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&head["delay_seconds"], &head["jitter_seconds"]), (&30.0.into(), &serde_json::Value::Null));
}

/// A plan is the same plan, whenever its jobs run.
#[test]
fn the_digest_knows_no_delay() {
    let doctor = orphans(5);
    let digest = |more: &[&str]| {
        let ran = doctor.run(&[&["reclaim", "--db", "queue.db", "--json"], more].concat()).exits(0);
        ran.json()["digest"].as_str().unwrap().to_owned()
    };
    assert_eq!(digest(&[]), digest(&["--delay", "1h", "--jitter", "1h"]));
}

fn postgres(n: u32) -> (Doctor, TestDatabase, String) {
    let (doctor, database) = (Doctor::new(), fresh());
    let url = database.url();
    doctor.run(&["init", "--db", &url]).exits(0);
    let insert = format!(
        "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at)
         SELECT n, 'mail', 'k' || n, 'RUNNING', 'web1:' || n, now() - interval '3h' - n * interval '1 s',
             now() - interval '2h' FROM generate_series(1, {n}) AS n"
    );
    database.client().batch_execute(&insert).unwrap();
    (doctor, database, url)
}

/// Seconds until the requeued jobs may run, longest silent first.
fn waits(database: &TestDatabase) -> Vec<f64> {
    let query = "SELECT extract(epoch FROM run_at - now())::float8 FROM jobs WHERE status = 'QUEUED' ORDER BY id DESC";
    database.client().query(query, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

#[test]
fn on_postgres_to_the_microsecond() {
    let (doctor, database, url) = postgres(700);
    let arguments =
        ["reclaim", "--db", &url, "--max-jobs", "9999", "--apply", "--json", "--delay", "10m", "--jitter", "1h"];
    let document = doctor.run(&arguments).exits(0).json();
    is_valid("reclaim", &document);
    assert_eq!(document["summary"]["outcomes"]["moved"], 700);
    let waits = waits(&database);
    assert_eq!(waits.len(), 700);
    // The machine may have taken a while since; later than the window there is nothing.
    assert!(waits.iter().all(|wait| (600.0 - 60.0..=4200.0).contains(wait)), "{waits:?}");
    let instants: std::collections::BTreeSet<String> = waits.iter().map(|wait| format!("{wait:.6}")).collect();
    assert!((100..=700).contains(&instants.len()), "fifty slices a batch: {}", instants.len());
    let back = waits.windows(2).enumerate().find(|(_, pair)| pair[0] > pair[1] + 60.0);
    assert_eq!(back, None, "the longest silent first");
    let quarters = [0, 1, 2, 3].map(|part| {
        let begin = 600.0 + 900.0 * f64::from(part) - 30.0;
        waits.iter().filter(|wait| (begin..begin + 900.0).contains(*wait)).count()
    });
    assert!(quarters.iter().all(|share| (140..=210).contains(share)), "{quarters:?}");
}

/// One row of 500 is in the way: 499 go back, still spread, and the one is named.
#[test]
fn one_bad_row_among_500_on_postgres() {
    let (doctor, database, url) = postgres(500);
    let obstacle = "CREATE UNIQUE INDEX one ON jobs (kind) WHERE status = 'QUEUED';
        INSERT INTO jobs (id, queue, kind, status) VALUES (1000, 'mail', 'k250', 'QUEUED');
        UPDATE jobs SET run_at = now() - interval '1 h', claimed_at = now() - interval '9 h' WHERE id = 1000";
    database.client().batch_execute(obstacle).unwrap();
    let document = doctor
        .run(&["reclaim", "--db", &url, "--max-jobs", "9999", "--apply", "--json", "--jitter", "1h"])
        .exits(3)
        .json();
    let outcomes = &document["summary"]["outcomes"];
    assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&499.into(), &1.into()));
    let refused = document["steps"].as_array().unwrap().iter().find(|step| step["outcome"] == "refused").unwrap();
    assert_eq!((&refused["id"], &refused["error"]["constraint"]), (&"250".into(), &"one".into()));
    let waits = &waits(&database)[1..];
    let instants: std::collections::BTreeSet<String> = waits.iter().map(|wait| format!("{wait:.6}")).collect();
    assert!(waits.len() == 499 && instants.len() >= 50, "{}", instants.len());
    assert!(waits.windows(2).all(|pair| pair[0] <= pair[1]), "in pieces as in one go, each row keeps its own instant");
    let attempts = database.client().query_one("SELECT count(*) FROM jobs WHERE attempts = 1", &[]).unwrap();
    assert_eq!(attempts.get::<_, i64>(0), 499);
}

#[test]
fn one_bad_row_among_500_on_sqlite() {
    let doctor = orphans(500);
    doctor.sql(
        "queue.db",
        "UPDATE jobs SET kind = 'k' || id; CREATE UNIQUE INDEX one ON jobs (kind) WHERE status = 'QUEUED';
         INSERT INTO jobs (id, kind, status) VALUES (1000, 'k250', 'QUEUED')",
    );
    let before = clock(&doctor);
    let document = doctor
        .run(&["reclaim", "--db", "queue.db", "--max-jobs", "9999", "--apply", "--json", "--jitter", "1h"])
        .exits(3)
        .json();
    let outcomes = &document["summary"]["outcomes"];
    assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&499.into(), &1.into()));
    let query = format!("SELECT run_at - {before} FROM jobs WHERE status = 'QUEUED' AND id < 1000 ORDER BY id DESC");
    let at: Vec<i64> = doctor.rows("queue.db", &query).iter().map(|row| row.parse().unwrap()).collect();
    assert!(at.len() == 499 && distinct(&at) >= 50, "{at:?}");
    assert!(at.is_sorted() && at[0] >= 0 && *at.last().unwrap() <= 3600 + 60);
}
