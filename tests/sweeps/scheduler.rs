//! A scheduler with persisted job states acted out, with the config file that the pages show: its reconciler times out what
//! was dispatched or has run for too long, its replayer puts what waits for too long through the dispatcher once more.

use crate::support::shop::Shop;
use std::collections::BTreeMap;
use std::fs;

/// Each job with the rows it begins and must end with: state, seconds since its last change, seconds since its approval and
/// until its deadline, then the state after one sweep.
const JOBS: &[(&str, &str, &str, &str, &str, &str)] = &[
    // id, state, updated, approved, deadline, ends as
    ("waits", "PENDING", "{ago 30}", "NULL", "NULL", "PENDING 30"),
    ("forgotten", "PENDING", "{ago 130}", "NULL", "{ago -600}", "PENDING now"),
    ("too late to begin", "PENDING", "{ago 130}", "NULL", "{ago 60}", "TIMEOUT now"),
    ("asks", "APPROVAL_REQUIRED", "{ago 90000}", "NULL", "NULL", "APPROVAL_REQUIRED 90000"),
    ("just approved", "APPROVAL_REQUIRED", "{ago 90000}", "{ago 60}", "NULL", "APPROVAL_REQUIRED 90000"),
    ("approved and stuck", "APPROVAL_REQUIRED", "{ago 90000}", "{ago 130}", "NULL", "PENDING now"),
    // Nobody has approved it, and nobody need any more; one that is late is not handed on either.
    ("asks too late", "APPROVAL_REQUIRED", "{ago 90000}", "NULL", "{ago 60}", "TIMEOUT now"),
    ("approved too late", "APPROVAL_REQUIRED", "{ago 90000}", "{ago 130}", "{ago 60}", "TIMEOUT now"),
    ("chosen too late", "SCHEDULED", "{ago 400}", "NULL", "{ago 60}", "TIMEOUT now"),
    ("chosen", "SCHEDULED", "{ago 60}", "NULL", "NULL", "SCHEDULED 60"),
    // The reconciler would time it out after 300 s; the replayer comes first, at 120 s, and so does the sweep.
    ("chosen and stuck", "SCHEDULED", "{ago 400}", "NULL", "NULL", "PENDING now"),
    ("on its way", "DISPATCHED", "{ago 280}", "NULL", "NULL", "DISPATCHED 280"),
    ("lost on its way", "DISPATCHED", "{ago 320}", "NULL", "NULL", "TIMEOUT now"),
    ("works", "RUNNING", "{ago 880}", "NULL", "{ago -60}", "RUNNING 880"),
    ("works for ever", "RUNNING", "{ago 920}", "NULL", "NULL", "TIMEOUT now"),
    ("works past its deadline", "RUNNING", "{ago 20}", "NULL", "{ago 5}", "TIMEOUT now"),
    ("ended", "SUCCEEDED", "{ago 90000}", "NULL", "{ago 5}", "SUCCEEDED 90000"),
    ("cancelled", "CANCELLED", "{ago 90000}", "NULL", "{ago 5}", "CANCELLED 90000"),
];

pub fn scheduler(shop: Shop) -> Shop {
    shop.sql(
        "CREATE TABLE scheduled_jobs (id TEXT PRIMARY KEY, state TEXT NOT NULL, topic TEXT NOT NULL, worker TEXT,
         updated_at {time}, approved_at {time}, deadline_at {time}, reason TEXT)",
    );
    for (id, state, updated, approved, deadline, _) in JOBS {
        let worker = if ["DISPATCHED", "RUNNING"].contains(state) { "'w1'" } else { "NULL" };
        shop.sql(&format!(
            "INSERT INTO scheduled_jobs VALUES ('{id}', '{state}', 'mail', {worker}, {updated}, {approved}, {deadline}, NULL)"
        ));
    }
    fs::copy("fixtures/scheduler/config.toml", shop.doctor.path("config.toml")).unwrap();
    shop
}

pub fn changed(shop: &Shop, there: &str, here: &str) {
    let config = fs::read_to_string("fixtures/scheduler/config.toml").unwrap();
    assert!(config.contains(there), "{there}");
    fs::write(shop.doctor.path("config.toml"), config.replace(there, here)).unwrap();
}

/// Has those that wait and are not late by a deadline woken.
pub fn with_wake_ups(shop: Shop) -> Shop {
    changed(&shop, "after = \"2m\"\naction  = \"requeue\"", "after = \"2m\"\naction  = \"wake\"");
    shop
}

pub fn on_both(test: impl Fn(&Shop)) {
    test(&scheduler(Shop::on_sqlite()));
    test(&scheduler(Shop::on_postgres()));
}

pub const SWEEP: [&str; 5] = ["sweep", "--config", "config.toml", "--target", "scheduler"];

pub fn sweep<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SWEEP as &[&str], more].concat()
}

/// By id: the state, and how old its last change is; `now` for one that was just made.
pub fn ages(shop: &Shop) -> BTreeMap<String, String> {
    let age = match shop.is_postgres() {
        true => "extract(epoch FROM now() - updated_at)::bigint",
        false => "unixepoch() - updated_at",
    };
    let rows = shop.rows(&format!("SELECT id || '|' || state || '|' || ({age}) FROM scheduled_jobs"));
    rows.iter()
        .map(|row| {
            let mut parts = row.split('|');
            let (id, state) = (parts.next().unwrap(), parts.next().unwrap());
            let age: u32 = parts.next().unwrap().parse().unwrap();
            (id.to_owned(), format!("{state} {age}"))
        })
        .collect()
}

/// Ages are a little higher than they were: a sweep takes a moment.
fn is_about(said: &str, expected: &str) -> bool {
    let ((state, age), (wanted, since)) = (said.split_once(' ').unwrap(), expected.split_once(' ').unwrap());
    let (age, since): (u32, u32) = (age.parse().unwrap(), if since == "now" { 0 } else { since.parse().unwrap() });
    state == wanted && (since..since + 20).contains(&age)
}

#[test]
fn every_job_ends_where_it_should() {
    on_both(|shop| {
        let document = shop.run(&sweep(&["--apply", "--json"])).exits(0).document("sweep");
        assert_eq!(document["summary"]["outcomes"]["moved"], 10);
        ended_as_they_should(shop);
        // The reason stands on each, as the scheduler writes one.
        let with_reason = shop.rows("SELECT count(*) FROM scheduled_jobs WHERE reason LIKE '%jobdoctor%'");
        assert_eq!(with_reason, ["10"]);
        // And once more there is nothing to do.
        shop.run(&sweep(&["--apply"])).exits(0).is_silent();
    });
}

#[test]
fn a_dry_run_says_why_and_writes_nothing() {
    on_both(|shop| {
        let before = shop.rows("SELECT * FROM scheduled_jobs ORDER BY id");
        let document = shop.run(&sweep(&["--json"])).exits(0).json();
        assert_eq!(shop.rows("SELECT * FROM scheduled_jobs ORDER BY id"), before);
        assert_eq!(document["summary"]["planned"], 10);
        let steps: BTreeMap<&str, &serde_json::Value> =
            document["steps"].as_array().unwrap().iter().map(|step| (step["id"].as_str().unwrap(), step)).collect();
        let stuck = steps["approved and stuck"];
        assert_eq!((&stuck["action"], &stuck["state_after"]), (&"requeue".into(), &"PENDING".into()));
        assert_eq!(stuck["reasons"][0]["rule"], "too_long");
        let detail = stuck["reasons"][0]["detail"].as_str().unwrap();
        assert!(detail.starts_with("waits in APPROVAL_REQUIRED, 2m"), "{detail}");
        assert!(detail.ends_with("past approved_at, allowed 2m (too_long 8 of target scheduler)"), "{detail}");
        let late = steps["too late to begin"];
        assert_eq!((&late["action"], &late["state_after"]), (&"time_out".into(), &"TIMEOUT".into()));
        assert_eq!(steps["works past its deadline"]["reasons"][0]["rule"], "deadline_passed");
        // The same plan has the same digest, and one that has moved on is refused.
        let digest = document["digest"].as_str().unwrap();
        shop.sql("UPDATE scheduled_jobs SET state = 'PENDING' WHERE id = 'chosen and stuck'");
        shop.run(&sweep(&["--apply", "--expect", digest])).exits(4).says("no longer the expected one");
    });
}

/// Claims and jobs that wait, moves of the same name that write different columns, and wake-ups: all in one run.
#[test]
fn what_was_done_can_be_taken_back() {
    on_both(|shop| {
        let config = fs::read_to_string(shop.doctor.path("config.toml")).unwrap();
        let requeue = "[mapping.scheduler.waiting.action.requeue]\n";
        let config = config.replace(requeue, &format!("{requeue}clear = [\"approved_at\"]\n"));
        let config = config.replace(
            "[mapping.scheduler.action.time_out]\n",
            "[mapping.scheduler.action.time_out]\nclear = [\"worker\"]\n",
        );
        fs::write(shop.doctor.path("config.toml"), config).unwrap();
        let before = shop.rows("SELECT * FROM scheduled_jobs ORDER BY id");
        let document = shop.run(&sweep(&["--apply", "--json"])).exits(0).json();
        assert_eq!((&document["undoable"], &document["summary"]["outcomes"]["moved"]), (&true.into(), &10.into()));
        let undo = ["undo", document["run_id"].as_str().unwrap(), "--config", "config.toml", "--target", "scheduler"];
        shop.run(&[&undo as &[&str], &["--apply"]].concat()).exits(0);
        assert_eq!(shop.rows("SELECT * FROM scheduled_jobs ORDER BY id"), before);
    });
}

fn ended_as_they_should(shop: &Shop) {
    let ended = ages(shop);
    for (id, .., expected) in JOBS {
        assert!(is_about(&ended[*id], expected), "{id} is {}, not {expected}", ended[*id]);
    }
}
