//! The shared scenarios: a worker of a real library is killed, or only stopped, while it holds jobs.

use super::library::{Library, NO_COUNTER};
use super::looks::{A_WHILE, id, ids, sessions, sorted, until_listening, until_stuck, wait_until};
use super::transcript::Transcript;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Worker A is killed while it holds four jobs, one of them in its last attempt; worker B, alive, holds one. Exactly
/// the four are found and reclaimed: three run again in worker C, the last one has failed. B does not notice.
pub(super) fn killed(library: &Library) {
    let Some(app) = library.application() else { return };
    let mut told = Transcript::new(&format!("{}: a worker is killed", library.name));
    let mut session = app.session();
    let sleep = ["3", "--queue", "a", "--seconds", "600", "--seconds-again", "0.5"];
    let again = library.enqueue(&app, &sleep, &[]);
    let last = &["1", "--queue", "a", "--seconds", "600"];
    let last = library.enqueue(&app, last, library.last_attempt.unwrap_or_default());
    let all = sorted([again.clone(), last.clone()].concat());
    told.say(&format!(
        "enqueued {again:?} in a: endless in their first run, short in a later one; {last:?}: the one that fails"
    ));
    let mut a = app.work("A", &[&["--queue", "a", "--concurrency", "4"], library.first].concat());
    assert_eq!(a.wait_for("started", 4, A_WHILE), all);
    told.say(&format!("worker A (process {}) has started {all:?}", a.id()));

    let long = library.enqueue(&app, &["1", "--queue", "b", "--seconds", "20"], &[]);
    let mut b = app.work("B", &[&["--queue", "b"], library.first].concat());
    assert_eq!(b.wait_for("started", 1, A_WHILE), long);
    told.say(&format!("worker B (process {}) has started {long:?} in b, which takes 20 s", b.id()));
    let long = &long[0];

    let owners: Vec<Option<String>> = all.iter().map(|id| library.owner_of(&mut session, id)).collect();
    for owner in owners.iter().flatten() {
        assert!((library.names)(owner, a.id()), "{owner} is process {}", a.id());
    }
    a.kill();
    told.say("SIGKILL for A");
    library.make_old(&mut session, &all);

    let stale = [&["stale"], library.options].concat();
    let found = until_stuck(&app, &stale, 4);
    assert_eq!(ids(&found["jobs"]), all, "exactly the jobs of A: {found}");
    assert_eq!(found["summary"]["in_flight"], 5, "{found}");
    assert_eq!(found["summary"]["unknown"], 0, "{found}");
    assert_eq!(found["target"]["preset"], library.preset);
    for (name, owner) in all.iter().zip(&owners) {
        let job = one(&found["jobs"], name);
        assert_eq!(job["owner"].as_str(), owner.as_deref(), "{job}");
        assert_eq!(job["reasons"][0]["rule"], library.rule, "{job}");
        assert!(job["silence_seconds"].as_f64().unwrap_or_default() >= library.silence, "{job}");
    }
    let mut before = again.iter().map(|name| &one(&found["jobs"], name)["attempts"]);
    assert!(before.all(|attempts| attempts.as_i64().unwrap_or(NO_COUNTER.0) == library.attempts.0), "{found}");
    told.say("jobdoctor recognises the library, and sees the jobs of A stuck and no others");
    told.quote(&app.told(&stale));

    let untouched = library.row_of(&mut session, long);
    let rows: Vec<String> = all.iter().map(|id| library.row_of(&mut session, id)).collect();
    told.quote(&app.told(&[&["reclaim"], library.options].concat()));
    for (id, row) in all.iter().zip(&rows).chain([(long, &untouched)]) {
        assert_eq!(&library.row_of(&mut session, id), row, "the dry run changed nothing");
    }
    let mut early = library.patient.as_ref().map(|patient| {
        let others = if patient.is_seen { sessions(&mut app.client()) } else { Vec::new() };
        let arguments = ["--queue", "a", "--concurrency", "4"];
        let mut c = app.work("C", &[&arguments, patient.arguments, library.again].concat());
        c.wait_for("ready", 1, A_WHILE);
        if patient.is_seen {
            until_listening(&mut app.client(), 1, &others);
        }
        // Its first looks at the queue are over, and whatever else is said at the start is known.
        std::thread::sleep(Duration::from_secs(1));
        c
    });

    if library.last_attempt.is_none() {
        let done = ["reclaim", "--apply", "--to", "fail", "--id", last[0].as_str()];
        let done = app.document(&[&done, library.options].concat());
        assert_eq!(done["summary"]["outcomes"]["moved"], 1, "{done}");
    }
    let done = app.document(&[&["reclaim", "--apply"], library.options].concat());
    let reclaimed = Instant::now();
    assert_eq!(done["applied"], true);
    let expected = if library.last_attempt.is_some() { &all } else { &again };
    assert_eq!(&ids(&done["steps"]), expected, "{done}");
    assert_eq!(done["summary"]["outcomes"]["moved"], expected.len(), "{done}");
    for name in &again {
        let step = one(&done["steps"], name);
        assert_eq!(step["action"], "requeue", "{step}");
        assert_eq!(step["attempts_after"].as_i64().unwrap_or(NO_COUNTER.1), library.attempts.1, "{step}");
    }
    if library.last_attempt.is_some() {
        assert_eq!(one(&done["steps"], &last[0])["action"], "fail", "{done}");
    }
    assert_eq!(library.row_of(&mut session, long), untouched, "the job of the living worker is as it was");
    told.say(&format!("jobdoctor reclaim --apply: {} moved", expected.len()));
    told.quote(&serde_json::to_string_pretty(&done["steps"][0]).expect("a step"));
    if early.is_none() {
        for id in &again {
            assert_eq!(library.state_of(&mut session, id), library.requeued, "job {id} waits again");
        }
        told.say(&format!("{again:?}: {}", library.requeued));
    }
    assert_eq!(library.state_of(&mut session, &last[0]), library.failed, "the one in its last attempt has failed");
    told.say(&format!("{last:?}: {}", library.failed));

    let woken = early.is_some();
    let mut c = early
        .take()
        .unwrap_or_else(|| app.work("C", &[&["--queue", "a", "--concurrency", "4"], library.again].concat()));
    assert_eq!(c.wait_for("started", 3, A_WHILE), again, "and nothing else");
    if woken {
        let seconds = reclaimed.elapsed().as_secs_f64();
        assert!(seconds < 5.0, "C was woken, not by its own poll");
        told.say(&format!("C was woken within {seconds:.1} s"));
    }
    assert_eq!(c.wait_for("finished", 3, A_WHILE), again);
    told.say(&format!("worker C has finished {again:?}"));
    assert_eq!(library.row_of(&mut session, long), untouched, "the job of the living worker is as it was");
    assert_eq!(b.wait_for("finished", 1, A_WHILE * 2), std::slice::from_ref(long));
    told.say(&format!("B has finished {long:?}, undisturbed"));
    let expected = again.iter().map(|id| (id, library.finished.0)).chain([(long, library.finished.1)]);
    for (id, state) in expected {
        let mut is_so = || library.state_of(&mut session, id) == state;
        wait_until(&mut is_so, || format!("job {id}: {state}; is {}", library.state_of(&mut app.session(), id)));
    }
    assert_eq!(library.state_of(&mut session, &last[0]), library.failed, "the failed one was not run again");
    assert_eq!(app.document(&stale)["summary"]["in_flight"], 0);
    told.say(&format!("in the end: {:?}", library.finished));
    library.ran();
}

/// Worker A is only stopped, for longer than anybody would wait. Its job is reclaimed and runs again in worker C; then
/// A goes on, and what the library makes of that is what the preset says.
pub(super) fn stopped(library: &Library) {
    let Some(app) = library.application() else { return };
    let mut told = Transcript::new(&format!("{}: a worker is stopped and goes on later", library.name));
    let mut session = app.session();
    let job = library.enqueue(&app, &["1", "--queue", "a", "--seconds", "3", "--seconds-again", "8"], &[]);
    let mut a = app.work("A", &[&["--queue", "a"], library.first].concat());
    assert_eq!(a.wait_for("started", 1, A_WHILE), job);
    // Some take a job before they are up, and give up when that takes them long.
    a.wait_for("ready", 1, A_WHILE);
    a.stop();
    told.say(&format!("SIGSTOP for worker A, which has started {job:?}"));
    library.make_old(&mut session, &job);
    until_stuck(&app, &[&["stale"], library.options].concat(), 1);
    let done = app.document(&[&["reclaim", "--apply"], library.options].concat());
    assert_eq!(done["summary"]["outcomes"]["moved"], 1, "{done}");
    let id = &job[0];
    assert_eq!(library.state_of(&mut session, id), library.requeued);
    told.say(&format!("jobdoctor reclaim --apply: 1 moved; {}", library.requeued));

    let mut c = app.work("C", &[&["--queue", "a"], library.again].concat());
    assert_eq!(c.wait_for("started", 1, A_WHILE), job);
    told.say(&format!("worker C has started {job:?}: {}", library.state_of(&mut session, id)));
    a.go_on();
    told.say("SIGCONT for A");
    if library.late.finishes {
        assert_eq!(a.wait_for("finished", 1, A_WHILE), job);
        told.say("A has finished the job too");
    }
    // Its last word to the database comes a moment after its last word to us.
    std::thread::sleep(Duration::from_secs(1));
    let then = library.state_of(&mut session, id);
    told.say(&format!("while C still works: {then}"));
    assert_eq!(then, library.late.then);
    assert_eq!(c.wait_for("finished", 1, A_WHILE), job);
    std::thread::sleep(Duration::from_secs(1));
    let then = library.state_of(&mut session, id);
    told.say(&format!("C has finished it: {then}"));
    assert_eq!(then, library.late.in_the_end);
    library.ran();
}

fn one<'a>(jobs: &'a Value, name: &str) -> &'a Value {
    let mut jobs = jobs.as_array().expect("a list of jobs").iter();
    jobs.find(|job| id(job) == name).unwrap_or_else(|| panic!("job {name} is in the list"))
}
