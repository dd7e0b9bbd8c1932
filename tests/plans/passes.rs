//! A plan holds 5,000 steps, and an apply goes on in the same run: with one brake, one beginning, and each job tried once.

use crate::cli::scene::orphans;
use crate::support::cli::{Doctor, Ran};
use crate::support::labs::without_server;
use crate::support::shop::{Shop, on_both};
use serde_json::{Value, json};

const JOBS: u32 = 5_200;
const APPLY: [&str; 6] = ["--apply", "--fast", "--max-jobs", "5200", "-o", "json"];

#[test]
fn a_run_goes_on_to_what_a_plan_has_no_room_for() {
    on_both(|shop| {
        shop.in_flight(1, JOBS, "'web1:' || (n % 7)", 600);
        let dry = shop.run(&["reclaim", "-o", "json"]).exits(0).document("reclaim");
        let counts = |document: &Value| {
            let summary = &document["summary"];
            let listed = document["steps"].as_array().unwrap().len();
            (listed, summary["planned"].clone(), summary["beyond_limit"].clone())
        };
        assert_eq!(counts(&dry), (JOBS as usize, json!(JOBS), json!(0)));
        let digest = dry["digest"].as_str().unwrap();
        // The brake and the bound are about all of them.
        assert_eq!(dry["brake"]["override"], "--max-jobs 5200");
        let small = ["reclaim", "--expect", digest, "--apply", "--max-jobs", "5199", "-o", "json"];
        assert!(shop.run(&small).exits(4).json()["refused"].to_string().contains("5200"));
        let done = shop.run(&[&["reclaim", "--expect", digest], &APPLY[..]].concat()).exits(0).document("reclaim");
        assert_eq!(counts(&done), (JOBS as usize, json!(JOBS), json!(0)));
        assert_eq!(done["summary"]["outcomes"]["moved"], JOBS);
        assert_eq!(done["summary"]["by_action"][0]["moved"], JOBS);
        let states = "SELECT status, attempts, count(*) FROM jobs GROUP BY 1, 2";
        assert_eq!(shop.rows(states), [format!("QUEUED 1 {JOBS}")]);
        let run = done["run_id"].as_str().unwrap();
        let history = shop.run(&["history", run, "-o", "jsonl"]).exits(0).stdout;
        assert_eq!(history.lines().count(), JOBS as usize + 2);
        let undone = shop.run(&["undo", run, "--apply", "--fast", "-o", "json"]).exits(0).json();
        assert_eq!(undone["summary"]["outcomes"]["moved"], JOBS);
        assert_eq!(shop.rows(states), [format!("RUNNING 0 {JOBS}")]);
    });
}

/// Opening a SQLite file drops the locks that this process holds on it: a worker that ended then would delete the log which the
/// run goes on to write to.
#[test]
#[cfg(target_os = "linux")]
fn no_pass_is_planned_while_the_file_is_open_for_writing() {
    let doctor = orphans(JOBS);
    let file = doctor.path("queue.db");
    let mut running = doctor.start(&[&["reclaim", "--db", "queue.db"], &APPLY[..4], &["-o", "none"]].concat());
    let mut most = 0;
    while !running.has_ended() {
        most = most.max(running.times_open(&file));
    }
    assert_eq!(most, 1, "connections at once");
    let done = running.wait();
    assert_eq!(
        (done.code, doctor.rows("SELECT status, count(*) FROM jobs GROUP BY 1")),
        (0, vec![format!("QUEUED {JOBS}")])
    );
}

/// The longest silent have the highest ids, so that jobs up to 200 come in the second pass.
#[test]
fn what_changes_beyond_the_first_pass_is_another_plan() {
    let (doctor, apply) = (orphans(JOBS), ["--apply", "--fast", "--max-jobs", "5300", "-o", "json"]);
    doctor.sql(
        "INSERT INTO jobs (id, queue, kind, status, run_at) SELECT id + 50000, 'q', 'k', 'QUEUED', unixepoch() - 9000 FROM jobs LIMIT 9",
    );
    let config = "[target.shop]\ndb = 'queue.db'\n[[target.shop.too_long]]\nstate = 'QUEUED'\nsince = 'run_at'\nafter = '10m'\n\
        action = 'fail'\n";
    std::fs::write(doctor.path("config.toml"), config).unwrap();
    let on = ["sweep", "--config", "config.toml", "--target", "shop"];
    let lists_all = |ran: Ran, outcome: &str| {
        let ended = ran.stdout.matches(outcome).count();
        assert_eq!(ended, JOBS as usize + 9, "{outcome}: {}", ran.stderr);
    };
    let digest = || {
        let dry = doctor.run(&[&on[..], &["--expect", "00000000", "--apply", "-o", "json"]].concat()).exits(4).json();
        dry["digest"].as_str().unwrap().to_owned()
    };
    let first = digest();
    doctor.sql("CREATE TABLE was AS SELECT * FROM jobs");
    for change in [
        "UPDATE jobs SET owner_id = 'web9:1' WHERE id = 3",
        "UPDATE jobs SET attempts = 2 WHERE id = 3",
        "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at)
            VALUES (60000, 'q', 'k', 'RUNNING', 'web1:1', unixepoch() - 3000, unixepoch() - 3000)",
        "DELETE FROM jobs WHERE id = (SELECT max(id) FROM jobs)",
        "UPDATE jobs SET run_at = run_at - 1 WHERE id > 50000",
    ] {
        doctor.sql(change);
        let refused = doctor.run(&[&on[..], &["--expect", &first], &apply].concat()).exits(4).json();
        assert!(
            refused["refused"].to_string().contains("no longer the expected one"),
            "{change}: {}",
            refused["refused"]
        );
        assert_eq!(
            doctor
                .rows("SELECT count(*) FROM jobs WHERE attempts > 2 OR status IN ('QUEUED', 'FAILED') AND id <= 50000"),
            ["0"]
        );
        doctor.sql("DELETE FROM jobs; INSERT INTO jobs SELECT * FROM was");
    }
    assert_eq!(digest(), first);
    let small = ["--apply", "--fast", "--expect", &first, "--max-jobs", "5208", "-o", "json"];
    doctor.run(&[&on[..], &small].concat()).exits(4);
    for (format, outcome) in [("csv", ",moved,"), ("jsonl", "\"outcome\":\"moved\""), ("name", "\n")] {
        let whole = [
            "--apply",
            "--fast",
            "--expect",
            &first,
            "--max-jobs",
            "5209",
            "-o",
            format,
            "--report-file",
            "report.json",
        ];
        lists_all(doctor.run(&[&on[..], &whole].concat()).exits(0), outcome);
        let report: Value = serde_json::from_slice(&std::fs::read(doctor.path("report.json")).unwrap()).unwrap();
        assert_eq!(report["steps"].as_array().unwrap().len(), JOBS as usize + 9);
        doctor.sql("DELETE FROM jobs; INSERT INTO jobs SELECT * FROM was");
    }
    for (format, outcome) in [("csv", "RUNNING"), ("name", "\n"), ("json", "\"outcome\":null")] {
        let dry = doctor.run(&["sweep", "--config", "config.toml", "--target", "shop", "-o", format]).exits(0);
        assert!(dry.stdout.matches(outcome).count() >= JOBS as usize, "{format}");
    }
}

/// A revert beyond the first pass: what was changed since then is another plan.
#[test]
fn an_undo_is_one_plan_too() {
    let doctor = orphans(JOBS);
    let done = doctor.run(&[&["reclaim", "--db", "queue.db"], &APPLY[..]].concat()).exits(0).json();
    let run = done["run_id"].as_str().unwrap();
    let dry = doctor.on_queue(&["undo", run, "-o", "json"]).exits(0).json();
    assert_eq!((&dry["summary"]["planned"], dry["steps"].as_array().unwrap().len()), (&json!(JOBS), JOBS as usize));
    let table = doctor.on_queue(&["undo", run]).exits(0);
    table.says("5,200 jobs to revert").says("200 more jobs not listed here; -o jsonl lists all");
    let digest = dry["digest"].as_str().unwrap();
    let undo = |max: &str| {
        doctor.on_queue(&["undo", run, "--apply", "--fast", "--expect", digest, "--max-jobs", max, "-o", "json"])
    };
    undo("5199").exits(4);
    doctor.sql("UPDATE jobs SET attempts = 3 WHERE id = 7");
    undo("5200").exits(4);
    doctor.sql("UPDATE jobs SET attempts = 1 WHERE id = 7");
    // Changed once the undo has begun: skipped.
    doctor.sql("CREATE TRIGGER worker AFTER UPDATE ON jobs WHEN new.id = 2000 BEGIN UPDATE jobs SET attempts = 4 WHERE id = 7; END");
    let undone = undo("5200").exits(3).json();
    let summary = &undone["summary"];
    assert_eq!((&summary["outcomes"]["moved"], &summary["skipped"]), (&json!(JOBS - 1), &json!(1)), "{summary}");
    assert_eq!(undone["steps"].as_array().unwrap().len(), JOBS as usize - 1);
}

#[test]
fn a_limit_is_for_all_passes() {
    let doctor = orphans(JOBS);
    let limited = [&["reclaim", "--db", "queue.db", "--limit", "5100"], &APPLY[..]].concat();
    let dry = doctor.on_queue(&["reclaim", "--limit", "5100", "-o", "json"]).exits(0).json();
    let done = doctor.run(&limited).exits(0).json();
    assert_eq!((&done["summary"]["planned"], &done["summary"]["outcomes"]["moved"]), (&json!(5_100), &json!(5_100)));
    for document in [&dry, &done] {
        let listed = document["steps"].as_array().unwrap().len();
        assert_eq!((listed, &document["summary"]["beyond_limit"]), (5_100, &json!(100)));
    }
    assert_eq!(dry["digest"], done["digest"]);
    let named = ["reclaim", "--id", "1", "--id", "2", "--limit", "1", "--max-jobs", "1", "--apply", "--json"];
    assert_eq!(doctor.on_queue(&named).exits(0).json()["summary"]["outcomes"]["moved"], 1);
    assert_eq!(doctor.rows("SELECT count(*) FROM jobs WHERE status = 'RUNNING'"), ["99"]);
}

/// The third pass has room for all that is left, the second must choose; the higher its id, the longer a job is silent.
#[test]
fn jobs_that_run_later_keep_their_order_in_all_passes() {
    let doctor = orphans(10_200);
    let spread = ["reclaim", "--apply", "--fast", "--max-jobs", "10200", "--jitter", "1h"];
    doctor.on_queue(&spread).exits(0);
    let last = "SELECT count(*), max(id) <= 200 FROM (SELECT id FROM jobs WHERE status = 'QUEUED' ORDER BY run_at DESC LIMIT 150)";
    assert_eq!(doctor.rows(last), ["150 1"]);
}

/// Once job 2000 goes back, workers of the same name claim others: one that waited, and one that was requeued,
/// by the very owner that it had.
const WORKERS: &str = "CREATE TRIGGER workers AFTER UPDATE ON jobs WHEN new.id = 2000 AND new.status = 'QUEUED' BEGIN
    INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at) VALUES (99999, 'q', 'k', 'RUNNING', 'web1:3', $AT);
    UPDATE jobs SET status = 'RUNNING', owner_id = 'web1:5', claimed_at = $AT, lease_expires_at = NULL WHERE id = 600; END";
const THEIRS: &str = "SELECT id, status, owner_id FROM jobs WHERE id IN (600, 99999) ORDER BY id";

#[test]
fn claims_made_since_a_restart_sweep_began_are_later() {
    let doctor = orphans(JOBS);
    doctor.sql(&WORKERS.replace("$AT", "unixepoch()"));
    let sweep = [&["sweep", "--restart", "--host", "web1", "--db", "queue.db"], &APPLY[..]].concat();
    let done = doctor.run(&sweep).exits(0).json();
    assert_eq!(done["summary"]["outcomes"]["moved"], JOBS);
    assert_eq!(doctor.rows(THEIRS), ["600 RUNNING web1:5", "99999 RUNNING web1:3"]);
}

/// A claim whose deadline is over as it is made: the next run may act on it, this one does not.
#[test]
fn claims_made_since_a_run_began_are_later() {
    let doctor = orphans(JOBS);
    doctor.sql(
        "CREATE TRIGGER worker AFTER UPDATE ON jobs WHEN new.id = 2000 AND new.status = 'QUEUED' BEGIN
            INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, deadline_at)
            VALUES (99999, 'q', 'k', 'RUNNING', 'web1:3', unixepoch() + 2, unixepoch() - 9000);
            UPDATE jobs SET status = 'SUCCEEDED' WHERE id = 100; UPDATE jobs SET attempts = 3 WHERE id = 99; END",
    );
    let late = ["reclaim", "--rule", "deadline_passed"];
    let done = doctor.on_queue(&[&late, &APPLY[..]].concat()).exits(0).json();
    assert_eq!(
        done["summary"]["outcomes"]["moved"],
        JOBS - 2,
        "one has finished and one has changed: room for another"
    );
    assert_eq!(doctor.rows("SELECT id FROM jobs WHERE status = 'RUNNING' ORDER BY id"), ["99", "99999"]);
    assert_eq!(doctor.on_queue(&[&late[..], &["--json"]].concat()).exits(0).json()["summary"]["planned"], 2);
}

/// A table without a claim time: what the first snapshot planned is all that the run acts on.
#[test]
fn where_no_claim_time_is_kept_the_first_snapshot_decides() {
    let doctor = Doctor::new();
    doctor.sql(
        &format!(
            "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, owner_id TEXT, tries INTEGER DEFAULT 0, claimed_at, lease_expires_at,
               queue, kind);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {JOBS})
             INSERT INTO jobs (id, status, owner_id) SELECT i, 'RUNNING', 'web1:' || (i % 7) FROM n;
             {}",
            WORKERS.replace("$AT", "NULL")
        ),
    );
    let mapping = "[mapping.m]\nstates = { waiting = ['QUEUED'], in_flight = ['RUNNING'], failed = ['FAILED'] }
claim = { table = 'jobs', key = 'id', state = 'status' }\nowner = { id = 'owner_id' }
action = { requeue = { to = 'QUEUED', clear = ['owner_id'] }, fail = { to = 'FAILED' } }";
    std::fs::write(doctor.path("config.toml"), mapping).unwrap();
    let of = ["--db", "queue.db", "--config", "config.toml", "--preset", "m"];
    let done = doctor.run(&[&["sweep", "--restart", "--all-owners"], &of[..], &APPLY].concat()).exits(0).json();
    assert_eq!(done["summary"]["outcomes"]["moved"], JOBS);
    assert_eq!(doctor.rows(THEIRS), ["600 RUNNING web1:5", "99999 RUNNING web1:3"]);
}

#[test]
fn what_is_refused_is_tried_once_and_what_is_left_is_counted() {
    let doctor = orphans(JOBS);
    let refuse = "CREATE TRIGGER no BEFORE UPDATE ON jobs WHEN old.id % 2000 = 0 OR old.id = 100 BEGIN SELECT raise(ABORT, 'no'); END";
    doctor.sql(refuse);
    let apply = [&["reclaim", "--db", "queue.db"], &APPLY[..]].concat();
    let done = doctor.run(&apply).exits(3).json();
    let outcomes = &done["summary"]["outcomes"];
    assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&json!(JOBS - 3), &json!(3)));
    let refused = done["steps"].as_array().unwrap().iter().filter(|step| step["outcome"] == "refused").count();
    assert_eq!((refused, done["steps"].as_array().unwrap().len()), (3, JOBS as usize), "all passes are listed");
    doctor.sql("DROP TRIGGER no");
    let slow = ["reclaim", "--db", "queue.db", "--apply", "--max-jobs", "9", "--json"];
    doctor.run(&slow).exits(0);

    const ALL: u32 = 10_500;
    let doctor = orphans(ALL);
    doctor.sql(
        "CREATE TRIGGER slow AFTER UPDATE ON jobs BEGIN SELECT count(*) FROM
            (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n); END",
    );
    let slow = ["reclaim", "--db", "queue.db", "--apply", "--max-jobs", "10500", "--timeout", "8s", "-o", "json"];
    let document = doctor.run(&slow).exits(3).json();
    let outcomes = &document["summary"]["outcomes"];
    let [moved, not_tried] = ["moved", "not_tried"].map(|name| outcomes[name].as_u64().unwrap());
    assert!(moved > 0 && moved + not_tried == u64::from(ALL), "{outcomes}");
    let listed =
        |outcome: &str| document["steps"].as_array().unwrap().iter().filter(|step| step["outcome"] == outcome).count();
    assert_eq!(["moved", "not_tried"].map(|outcome| listed(outcome) as u64), [moved, not_tried]);
    assert_eq!(document["summary"]["planned"], ALL);
}

#[test]
fn jobs_that_wait_come_in_later_passes_too() {
    let doctor = orphans(30);
    let queued = "WITH RECURSIVE n(i) AS (SELECT 101 UNION ALL SELECT i + 1 FROM n WHERE i <= 5100) INSERT INTO jobs (id, queue, kind, \
        status, run_at) SELECT i, 'q', 'k', 'QUEUED', unixepoch() - 9000 FROM n;
        INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at)
        SELECT id + 50000, 'q', 'k', 'RUNNING', 'web2:1', unixepoch(), unixepoch() + 600 FROM jobs WHERE id BETWEEN 101 AND 200";
    doctor.sql(queued);
    let config = "[target.shop]\ndb = 'queue.db'\n[[target.shop.too_long]]\nstate = 'QUEUED'\nsince = 'run_at'\nafter = '10m'\n\
        action = 'fail'\n";
    std::fs::write(doctor.path("config.toml"), config).unwrap();
    let sweep = ["sweep", "--config", "config.toml", "--target", "shop", "--apply", "--fast", "-o", "json"];
    let summary = doctor.run(&sweep).exits(0).json()["summary"].clone();
    assert_eq!((&summary["planned"], &summary["waiting"]), (&json!(5_031), &json!(5_001)), "{summary:#}");
    assert_eq!(summary["outcomes"]["moved"], 5_031);
    let states = "SELECT status, count(*) FROM jobs WHERE id > 100 GROUP BY 1 ORDER BY 1";
    assert_eq!(doctor.rows(states), ["FAILED 5001", "RUNNING 100"]);
}

/// Most of them may not go where they are told to go; a thousand would break a unique key.
#[test]
fn ten_thousand_unreclaimable_rows_are_sorted_before_one_reclaimable_row() {
    on_both(|shop| {
        shop.sql(
            "CREATE UNIQUE INDEX one_waiting_twin ON jobs (kind) WHERE status = 'QUEUED' AND kind = 'Twin';
             INSERT INTO jobs (id, queue, kind) VALUES (20000, 'mail', 'Twin')",
        );
        shop.in_flight(1, 10_000, "'web1:7'", 40_000);
        shop.sql(
            "UPDATE jobs SET attempts = 4 WHERE id <= 9000;
             UPDATE jobs SET kind = 'Twin' WHERE id BETWEEN 9001 AND 10000",
        );
        shop.in_flight(10_001, 10_001, "'web1:7'", 30_000);
        let asked = ["reclaim", "--to", "requeue", "--max-jobs", "20000", "--apply", "--json"];
        let document = shop.run(&asked).exits(3).json();
        let (summary, outcomes) = (&document["summary"], &document["summary"]["outcomes"]);
        assert_eq!((&summary["skipped"], &outcomes["refused"]), (&9_000.into(), &1_000.into()), "{summary}");
        assert_eq!(outcomes["moved"], 1, "{summary}");
        let moved = |step: &&Value| step["outcome"] == "moved";
        let steps = document["steps"].as_array().expect("the steps");
        assert_eq!(steps.iter().find(moved).expect("one")["id"], "10001");
        assert_eq!(shop.rows("SELECT id FROM jobs WHERE status = 'QUEUED' ORDER BY id"), ["10001", "20000"]);
    });
}

/// A later pass asks the server for some claims, and for more where most of these were tried: a pass for each 50 between them
/// would be one of 36.
#[test]
fn claims_behind_many_that_stay_are_reached_in_few_passes() {
    if without_server() {
        return;
    }
    for stay in [6_200, 6_500] {
        let shop = Shop::empty_on_postgres();
        shop.in_flight(1, 8_000, "'web1:7'", 600);
        let mut other = shop.client();
        let mut locks = other.transaction().unwrap();
        locks.execute(&format!("SELECT id FROM jobs WHERE id <= {stay} FOR UPDATE"), &[]).unwrap();
        let done = shop.run(&["reclaim", "--apply", "--max-jobs", "8000", "--json"]).exits(3).json();
        let outcomes = &done["summary"]["outcomes"];
        assert_eq!((&outcomes["moved"], &outcomes["locked"]), (&json!(8_000 - stay), &json!(stay)));
        // Each snapshot ends with a rollback.
        let snapshots = "SELECT xact_rollback < 20 FROM pg_stat_database WHERE datname = current_database()";
        let row = shop.client().query_one(snapshots, &[]).unwrap();
        assert!(row.get::<_, bool>(0), "{stay}");
    }
}
