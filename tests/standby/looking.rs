//! What a look at a standby shows, as of when, and how it says so.

use super::{SOME, banner, lag, queue};
use crate::support::cli::{each, is_valid};
use serde_json::Value;
use std::time::Duration;

/// What is the same wherever and whenever one looks.
fn lasting(document: &Value) -> Vec<Value> {
    let mut jobs = document["jobs"].as_array().unwrap().clone();
    for job in &mut jobs {
        // Both carry the age of the moment.
        job["silence_seconds"].take();
        job["reasons"].as_array_mut().unwrap().iter_mut().for_each(|reason| {
            reason["detail"].take();
        });
    }
    jobs
}

#[test]
fn it_lists_what_the_primary_lists() {
    let (pair, doctor, database) = queue(SOME);
    let (primary, standby) = (database.url(&[pair.primary()]), database.url(&[pair.standby()]));
    let there = doctor.run(&["stale", "--db", &primary, "--json"]).exits(0);
    let here = doctor.run(&["stale", "--db", &standby, "--json"]).exits(0);
    assert_eq!(each(&there.json(), "jobs", "id"), ["1", "2"]);
    assert_eq!(lasting(&here.json()), lasting(&there.json()));
    banner(&doctor.run(&["stale", "--db", &standby]).exits(0));
    // Where somebody asked for silence, the document still tells.
    assert_eq!(doctor.run(&["stale", "--db", &standby, "-q"]).exits(0).stderr, "");
}

#[test]
fn it_is_told_wherever_one_looks() {
    let (pair, doctor, database) = queue(SOME);
    let (primary, standby) = (database.url(&[pair.primary()]), database.url(&[pair.standby()]));
    for words in [&["stale"][..], &["owners"], &["show", "1"], &["reclaim"], &["sweep"]] {
        let here = doctor.run(&[words, &["--db", &standby, "--json"]].concat()).exits(0);
        is_valid(words[0], &here.json());
        banner(&here);
        assert!(lag(&here.json()).is_some_and(|lag| lag >= 0.0), "{words:?}");
        let there = doctor.run(&[words, &["--db", &primary, "--json"]].concat()).exits(0);
        assert_eq!(lag(&there.json()), None, "{words:?}");
        assert!(!there.stderr.contains("standby"), "{there:#?}");
    }
}

/// Claims with a heartbeat this many seconds old, and no lease.
const BEATS: &str = "INSERT INTO jobs (id, status, owner_id, claimed_at, heartbeat_at, attempts) VALUES
    (1, 'RUNNING', 'dead', now() - interval '1h', now() - interval '1h', 0),
    (2, 'RUNNING', 'live', now() - interval '1h', now(), 0),
    (3, 'RUNNING', 'live', now() - interval '1h', now(), 0)";
const BEAT: &str = "UPDATE jobs SET heartbeat_at = now() WHERE owner_id = 'live'";

#[test]
fn while_it_does_not_replay_nobody_alive_is_called_stuck() {
    let (pair, doctor, database) = queue(BEATS);
    let (primary, standby) = (database.url(&[pair.primary()]), database.url(&[pair.standby()]));
    let mut worker = pair.client(&database);
    worker.batch_execute(BEAT).unwrap();
    pair.catch_up();
    let paused = pair.pause();
    while paused.elapsed() < Duration::from_secs(5) {
        worker.batch_execute(BEAT).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    worker.batch_execute(BEAT).unwrap();
    let pause = paused.elapsed().as_secs_f64();
    let here = doctor.run(&["stale", "--db", &standby, "--older", "3s", "--json"]).exits(0);
    assert_eq!(each(&here.json(), "jobs", "id"), ["1"], "{:#}", here.json());
    assert!(lag(&here.json()).is_some_and(|lag| (pause..pause + 30.0).contains(&lag)), "{pause}: {:#}", here.json());
    // The words may round.
    assert!(banner(&here) >= pause.floor(), "{pause}: {}", here.stderr);
    worker.batch_execute(BEAT).unwrap();
    let there = doctor.run(&["stale", "--db", &primary, "--older", "3s", "--json"]).exits(0);
    assert_eq!(each(&there.json(), "jobs", "id"), ["1"], "{:#}", there.json());
    // And the plan, which would be worse.
    let plan = doctor.run(&["reclaim", "--db", &standby, "--older", "3s", "--json"]).exits(0).json();
    assert_eq!(plan["steps"].as_array().unwrap().len(), 1, "{plan:#}");
}

/// Where all workers have died, nothing is written any more: the newest thing that was replayed is old, and nothing is
/// missing. That is no lag, and must not make the dead look alive.
#[test]
fn a_quiet_primary_is_no_lag() {
    let (pair, doctor, database) = queue(BEATS);
    let (primary, standby) = (database.url(&[pair.primary()]), database.url(&[pair.standby()]));
    std::thread::sleep(Duration::from_secs(4));
    let there = doctor.run(&["stale", "--db", &primary, "--older", "3s", "--json"]).exits(0).json();
    assert_eq!(each(&there, "jobs", "id"), ["1", "2", "3"], "{there:#}");
    let here = doctor.run(&["stale", "--db", &standby, "--older", "3s", "--json"]).exits(0).json();
    assert_eq!(each(&here, "jobs", "id"), ["1", "2", "3"], "{here:#}");
    assert!(lag(&here).is_some_and(|lag| lag < 3.0), "{here:#}");
}

/// Locks are held on the primary and not replayed: a snapshot that does not see one has seen nothing.
#[test]
fn where_locks_are_out_of_sight_the_jobs_are_unknown() {
    const MAPPING: &str = "[mapping.locked]
states = { waiting = ['QUEUED'], in_flight = ['RUNNING'] }
[mapping.locked.claim]
table = 'jobs'
key = 'id'
state = 'status'
liveness = [{ by = 'lock', held = \"j.id IN (SELECT l.objid FROM pg_locks AS l WHERE l.locktype = 'advisory')\", free = 'dead' }]
guard = 'pg_try_advisory_xact_lock(j.id)'
[mapping.locked.action.requeue]
to = 'QUEUED'
";
    let (pair, doctor, database) = queue(SOME);
    std::fs::write(doctor.path("config.toml"), MAPPING).unwrap();
    let mut worker = pair.client(&database);
    worker.batch_execute("SELECT pg_advisory_lock(3)").unwrap();
    let look = |socket| {
        let url = database.url(&[socket]);
        let document = doctor.run(&["stale", "--db", &url, "--config", "config.toml", "--preset", "locked", "--json"]);
        let document = document.exits(0).json();
        let verdicts = document["jobs"].as_array().unwrap().iter().chain(document["unknown"].as_array().unwrap());
        verdicts.map(|job| format!("{} {}", job["id"], job["verdict"]).replace('"', "")).collect::<Vec<_>>()
    };
    assert_eq!(look(pair.primary()), ["1 stuck", "2 stuck", "4 stuck"]);
    let mut here = look(pair.standby());
    here.sort();
    assert_eq!(here, ["1 unknown", "2 unknown", "3 unknown", "4 unknown"]);
}
