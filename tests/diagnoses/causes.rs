//! Causes that name a job, a host, a clock, a zone.

use super::fleet::{At, at, diagnoses, put};
use crate::support::cli::Doctor;
use crate::support::shop::{Shop, on_both};
use serde_json::json;

/// The jobs that are lost again and again are named, not their hosts, and the proposed budget fails them alone.
#[test]
fn jobs_that_were_lost_again_and_again() {
    on_both(|queue| {
        let dead = |n: i64| at("web", if n < 2 { "Export" } else { "A" }, "web1:1", 11_130 + n, 7830);
        put(queue, &(0..5).map(dead).chain([at("web", "A", "alive:1", 30, 2)]).collect::<Vec<_>>());
        queue.sql("UPDATE jobs SET stalls = 3 WHERE id = 1");
        let said = diagnoses(queue, &[]);
        assert!(
            said.contains("job 1 was lost 3 times before, and again: kind Export; --max-stalls 3 fails it"),
            "{said}"
        );
        assert!(said.starts_with("host web1 vanished") && said.contains(": 4 jobs"), "{said}");
        queue.sql("UPDATE jobs SET stalls = id WHERE id <= 2");
        queue.sql("UPDATE jobs SET stalls = 4 WHERE id = 1");
        let said = diagnoses(queue, &[]);
        let named =
            "2 jobs were lost again and again: 1 (4 times), 2 (2 times); kind Export; --max-stalls 2 fails them";
        assert!(said.contains(named), "{said}");
        let plan = queue.json(&["reclaim", "--max-stalls", "2"], 0);
        let fails: Vec<&str> = plan["steps"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|step| step["action"] == "fail")
            .map(|step| step["id"].as_str().unwrap())
            .collect();
        assert_eq!(fails, ["1", "2"], "{plan:#}");
        let of = plan["diagnoses"].as_array().unwrap().iter().find(|one| one["diagnosis"] == "lost_again").unwrap();
        assert_eq!((&of["ids"], &of["would"]["fail"]), (&json!(["1", "2"]), &2.into()));
        let warned = queue.run(&["reclaim"]).exits(0).stderr;
        assert!(warned.contains("warning: lost before: 1 (4 times), 2 (2 times); --max-stalls 2 fails"), "{warned}");
        // Once is a deploy, and too many have something else in common.
        queue.sql("UPDATE jobs SET stalls = 1");
        assert!(!diagnoses(queue, &[]).contains("again"));
        put(queue, &(0..20).map(dead).collect::<Vec<_>>());
        queue.sql("UPDATE jobs SET stalls = 2");
        let said = diagnoses(queue, &[]);
        assert!(said.starts_with("host web1 vanished") && said.lines().count() == 1, "{said}");
    });
}

#[test]
fn a_kind_that_hangs_on_one_host() {
    on_both(|queue| {
        let hung = |n: i64| At { deadline: Some(760), ..at("media", "Resize", &format!("gpu-7:{n}"), 1330, 3) };
        put(queue, &(0..4).map(hung).collect::<Vec<_>>());
        let said = diagnoses(queue, &[]);
        assert!(said.starts_with("kind Resize hangs on host gpu-7 (4 owners): 4 jobs"), "{said}");
        put(queue, &[At { deadline: Some(760), ..at("media", "Resize", "gpu-8:1", 1330, 3) }]);
        assert!(diagnoses(queue, &[]).starts_with("kind Resize hangs on 2 living hosts: 5 jobs"));
    });
}

/// One clock a line, however many jobs it keeps from being judged.
#[test]
fn clocks_and_what_is_missing() {
    on_both(|queue| {
        put(queue, &(0..3).map(|_| at("web", "A", "web1:1", 100, -330)).collect::<Vec<_>>());
        put(queue, &[at("web", "A", "web2:1", 100, -630), at("web", "A", "web3:1", 30, 2)]);
        let said = diagnoses(queue, &[]);
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines[0].starts_with("the clock of host web1 is ahead of the database's by up to 5m ")
                && lines[0].ends_with(": 3 jobs cannot be judged"),
            "{said}"
        );
        assert!(lines[1].starts_with("the clock of host web2 is ahead") && lines.len() == 2, "{said}");
        let document = queue.json(&["stale"], 0);
        assert_eq!((&document["summary"]["diagnoses"], &document["summary"]["unknown"]), (&2.into(), &4.into()));
        assert_eq!(document["diagnoses"][0]["would"]["skip"], 3);
        // A text is no time; whose it is does not matter.
        if !queue.is_postgres() {
            queue.sql("UPDATE jobs SET heartbeat_at = 'soon' WHERE id < 4");
            let said = diagnoses(queue, &[]);
            assert!(said.contains("3 jobs cannot be judged: heartbeat_at `soon` is text, not an integer"), "{said}");
        }
    });
}

const LOCAL: &str = "[mapping.m]\nattempts = { counted = 'not in the table' }\nstates = { waiting = ['new'], in_flight = ['on'] }
[mapping.m.time]\ndefault = 'text YYYY-MM-DD HH:MM:SS'\n[mapping.m.claim]\ntable = 'work'\nkey = 'id'\nstate = 'status'\nclaimed_at = 'began'
liveness = [{ by = 'age', column = 'began', silent_after = '1h' }]\n[mapping.m.owner]\nid = 'worker'\n[mapping.m.action]\nrequeue = { to = 'new' }\n";

/// Times without a zone that nothing shows to be UTC.
#[test]
fn a_zone_that_nobody_names() {
    let doctor = Doctor::new();
    doctor.sql_in("work.db", "CREATE TABLE work (id INTEGER PRIMARY KEY, status TEXT, worker TEXT, began TEXT);
        INSERT INTO work (status, worker, began) SELECT 'on', 'w' || value, datetime('now', '-3 hours') FROM json_each('[1,2,3]')");
    std::fs::write(doctor.path("c.toml"), LOCAL).unwrap();
    let said = doctor.run(&["stale", "--db", "work.db", "--config", "c.toml", "--preset", "m"]).exits(0).stdout;
    assert!(
        said.starts_with("the zone of began is not known: 3 jobs cannot be judged until `time_zone` names its zone\n"),
        "{said}"
    );
}

/// What a run did about each cause: `diagnosis jobs done`.
fn done(queue: &Shop) -> Vec<String> {
    let done = queue.json(&["reclaim", "--apply", "--max-jobs", "99"], 0);
    let sum =
        |done: &serde_json::Value| done.as_object().map_or(0, |all| all.values().filter_map(|n| n.as_u64()).sum());
    let line = |one: &serde_json::Value| {
        format!("{} {} {}", one["diagnosis"].as_str().unwrap(), one["jobs"], sum(&one["done"]))
    };
    done["diagnoses"].as_array().unwrap().iter().map(line).collect()
}

/// A job is credited to the cause that says most of it, not to the largest that fits.
#[test]
fn each_job_has_the_cause_that_counted_it() {
    let two = || Shop::empty_on_sqlite();
    let dead = |owner: &str| at("q", "Mail", owner, 11_130, 7830);
    let queue = two();
    put(&queue, &[dead("web1:1"), dead("web1:1"), dead("web1:1"), at("q", "Mail", "web2:1", 30, 2)]);
    queue.sql("UPDATE jobs SET stalls = 3 WHERE id = 1");
    assert_eq!(done(&queue), ["vanished 2 2", "lost_again 1 1"]);
    let queue = two();
    let living = |owner: &'static str| {
        (0..6).map(move |_| at("q", "Mail", owner, 11_130, 7830)).chain([at("q", "Mail", owner, 30, 2)])
    };
    put(&queue, &living("web1:1").chain(living("web2:1")).collect::<Vec<_>>());
    put(&queue, &(0..4).map(|_| at("q", "Mail", "dead9:77", 11_130, 9000)).collect::<Vec<_>>());
    assert_eq!(done(&queue), ["hangs 12 12", "vanished 4 4"]);
    let queue = two();
    put(&queue, &(0..8).map(|n| dead(&format!("host{}:1", n % 4))).collect::<Vec<_>>());
    put(&queue, &(0..5).map(|_| At { owner: None, ..dead("") }).collect::<Vec<_>>());
    assert_eq!(done(&queue), ["all_silent 8 8", "no_owner 5 5"]);
}

/// A run counts what it did about each cause, in all of its passes.
#[test]
fn a_run_counts_by_cause() {
    let queue = Shop::empty_on_sqlite();
    let dead = |n: i64| at("web", "A", if n % 3 == 0 { "web1:1" } else { "web2:1" }, 11_130, 7830 + 90 * (n % 3));
    put(&queue, &(0..6_000).map(dead).chain([at("web", "A", "alive:1", 30, 2)]).collect::<Vec<_>>());
    queue.sql("UPDATE jobs SET attempts = 9, max_attempts = 5 WHERE id <= 3");
    let done = queue.json(&["reclaim", "--apply", "--fast", "--max-jobs", "6000"], 0);
    let by_host: Vec<_> = done["diagnoses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["host"].as_str().unwrap(),
                one["done"]["requeue"].as_u64().unwrap(),
                one["done"]["fail"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(by_host, [("web2", 3_998, 2), ("web1", 1_999, 1)], "{:#}", done["diagnoses"]);
}
