//! Procrastinate, from PyPI, with a worker that is killed while it holds jobs and others that are at work meanwhile.

use super::application::Application;
use super::environment::{Runtime, mark};
use super::looks::{A_WHILE, ids, rules, sorted, until_listening, until_stuck, wait_until};
use super::transcript::Transcript;
use postgres::Client;
use std::time::{Duration, Instant};

fn application() -> Option<Application> {
    Application::new("procrastinate/app.py", Runtime::Python(3, 10))
}

#[test]
fn jobs_of_a_killed_worker_run_again_and_those_of_a_live_one_are_left_alone() {
    let Some(app) = application() else { return };
    let mut told = Transcript::new("procrastinate: a worker is killed");
    let mut client = app.client();
    let mail = app.enqueue(&["sleeper", "3", "--seconds", "600", "--seconds-again", "0.5", "--queue", "mail"]);
    told.say(&format!("enqueued jobs {mail:?} in mail: endless in their first run, short in their second"));

    let mut a = app.work("A", &["--queues", "mail", "--concurrency", "3", "--heartbeat", "1", "--stalled", "600"]);
    assert_eq!(a.wait_for("started", 3, A_WHILE), mail);
    told.say(&format!("worker A (process {}) has started {mail:?}", a.id()));
    let quick = app.enqueue(&["quick", "1", "--queue", "mail"]);
    let slow = app.enqueue(&["sleeper", "1", "--seconds", "20", "--queue", "slow"]);
    told.say(&format!("enqueued job {quick:?} in mail and job {slow:?}, which takes 20 s, in slow"));
    a.kill();
    told.say("SIGKILL for A");

    let mut b = app.work("B", &["--queues", "slow", "--heartbeat", "1", "--stalled", "600"]);
    assert_eq!(b.wait_for("started", 1, A_WHILE), slow);
    told.say(&format!("worker B has started {slow:?}"));
    // It polls once a minute: whatever it takes up sooner, it was woken for.
    let polite = ["--queues", "mail", "--concurrency", "3", "--heartbeat", "1", "--stalled", "600", "--poll", "60"];
    let mut c = app.work("C", &polite);
    assert_eq!(c.wait_for("finished", 1, A_WHILE), quick);
    told.say(&format!("worker C has finished {quick:?} and now polls every 60 s"));
    let untouched = row(&mut client, &slow);
    told.say(&format!("the row of job {slow:?}: {untouched}"));
    until_listening(&mut client, 2, &[]);

    let found = until_stuck(&app, &["stale", "--older", "4s"], 3);
    assert_eq!(ids(&found["jobs"]), mail, "exactly the jobs of A");
    assert_eq!(found["summary"]["in_flight"], 4);
    assert_eq!(found["summary"]["unknown"], 0);
    assert_eq!(found["target"]["preset"], "procrastinate");
    assert!(rules(&found["jobs"]).iter().all(|rule| *rule == "owner_silent"), "{found}");
    told.say("jobdoctor sees the jobs of A stuck, and no others");
    told.quote(&app.told(&["stale", "--older", "4s"]));
    told.quote(&app.told(&["reclaim", "--older", "4s"]));

    let done = app.document(&["reclaim", "--older", "4s", "--apply"]);
    let reclaimed = Instant::now();
    assert_eq!(done["applied"], true);
    assert_eq!(ids(&done["steps"]), mail);
    assert_eq!(done["summary"]["outcomes"]["moved"], 3, "{done}");
    told.say("jobdoctor reclaim --older 4s --apply: 3 moved");
    let finished = c.wait_for("finished", 4, Duration::from_secs(15));
    told.say(&format!("C was woken and has finished {mail:?}, {:.1} s later", reclaimed.elapsed().as_secs_f64()));
    assert_eq!(finished, sorted([mail.clone(), quick].concat()));
    assert_eq!(row(&mut client, &slow), untouched, "the job of the live worker is as it was");
    told.say(&format!("the row of job {slow:?} is what it was"));

    assert_eq!(b.wait_for("finished", 1, Duration::from_secs(40)), slow);
    told.say(&format!("B has finished {slow:?}"));
    for (id, attempts) in mail.iter().map(|id| (id, 2)).chain(slow.iter().map(|id| (id, 1))) {
        wait_until(|| ended(&mut client, id) == ("succeeded".to_owned(), attempts), || format!("job {id} succeeded"));
    }
    told.say(&format!("in the table: {mail:?} succeeded with 2 attempts, {slow:?} with 1"));
    assert_eq!(app.document(&["stale", "--older", "4s"])["summary"]["in_flight"], 0);
    mark("ran: procrastinate");
}

#[test]
fn jobs_whose_worker_the_library_has_forgotten_run_again_too() {
    let Some(app) = application() else { return };
    let mut told = Transcript::new("procrastinate: a killed worker is pruned by the library");
    let mut client = app.client();
    let mail = app.enqueue(&["sleeper", "2", "--seconds", "600", "--seconds-again", "0.5", "--queue", "mail"]);
    let slow = app.enqueue(&["sleeper", "1", "--seconds", "20", "--queue", "slow"]);
    let mut b = app.work("B", &["--queues", "slow", "--heartbeat", "0.5", "--stalled", "600"]);
    assert_eq!(b.wait_for("started", 1, A_WHILE), slow);
    let mut a = app.work("A", &["--queues", "mail", "--concurrency", "2", "--heartbeat", "1", "--stalled", "600"]);
    assert_eq!(a.wait_for("started", 2, A_WHILE), mail);
    told.say(&format!("worker A has started {mail:?}, worker B {slow:?}"));
    let owner: i64 = client
        .query_one("SELECT DISTINCT worker_id FROM procrastinate_jobs WHERE queue_name = 'mail'", &[])
        .expect("the worker")
        .get(0);
    a.kill();
    told.say(&format!("SIGKILL for A, whose row in procrastinate_workers is {owner}"));
    let silent = "SELECT now() - last_heartbeat > interval '2.3 s' FROM procrastinate_workers WHERE id = $1";
    wait_until(|| client.query_one(silent, &[&owner]).expect("A's row").get(0), || "A is silent".to_owned());

    let impatient = ["--queues", "mail", "--concurrency", "2", "--heartbeat", "0.5", "--stalled", "2", "--poll", "60"];
    let mut c = app.work("C", &impatient);
    let gone = "SELECT count(*) = 0 FROM procrastinate_workers WHERE id = $1";
    wait_until(|| client.query_one(gone, &[&owner]).expect("A's row").get(0), || "A's row is gone".to_owned());
    told.say("worker C has started and deleted the row of A; its jobs name no worker any more");
    let untouched = row(&mut client, &slow);

    let found = until_stuck(&app, &["stale", "--older", "5s"], 2);
    assert_eq!(ids(&found["jobs"]), mail);
    assert_eq!(found["summary"]["unknown"], 0);
    assert!(rules(&found["jobs"]).iter().all(|rule| *rule == "owner_unset"), "{found}");
    told.say("jobdoctor sees them stuck: the library itself allows 30 s");
    told.quote(&app.told(&["stale", "--older", "5s"]));
    until_listening(&mut client, 2, &[]);

    let done = app.document(&["reclaim", "--older", "5s", "--apply"]);
    assert_eq!(ids(&done["steps"]), mail);
    assert_eq!(done["summary"]["outcomes"]["moved"], 2, "{done}");
    told.say("jobdoctor reclaim --apply: 2 moved");
    assert_eq!(c.wait_for("finished", 2, Duration::from_secs(15)), mail);
    told.say(&format!("C was woken and has finished {mail:?}"));
    assert_eq!(row(&mut client, &slow), untouched, "the job of the live worker is as it was");
    assert_eq!(b.wait_for("finished", 1, Duration::from_secs(40)), slow);
    for (id, attempts) in mail.iter().map(|id| (id, 2)).chain(slow.iter().map(|id| (id, 1))) {
        wait_until(|| ended(&mut client, id) == ("succeeded".to_owned(), attempts), || format!("job {id} succeeded"));
    }
    told.say(&format!("in the table: {mail:?} succeeded with 2 attempts, {slow:?}, which B finished, with 1"));
    mark("ran: procrastinate");
}

/// The whole row of a job, and which transaction wrote it last.
fn row(client: &mut Client, id: &[String]) -> String {
    let sql = "SELECT 'xmin ' || xmin::text || ', ' || status || ', worker ' || worker_id || ', attempts ' || attempts \
               || ', md5 of all ' || md5(j::text) FROM procrastinate_jobs AS j WHERE id::text = $1";
    client.query_one(sql, &[&id.first()]).expect("the job's row").get(0)
}

fn ended(client: &mut Client, id: &str) -> (String, i32) {
    let sql = "SELECT status::text, attempts FROM procrastinate_jobs WHERE id::text = $1";
    let row = client.query_one(sql, &[&id]).expect("the job's row");
    (row.get(0), row.get(1))
}

/// Given back for later, the job is skipped by a worker that has nothing else to do, and runs when its time comes.
#[test]
fn a_job_that_is_given_back_for_later_runs_then() {
    let Some(app) = application() else { return };
    let mut told = Transcript::new("procrastinate: a job is given back for later");
    let job = app.enqueue(&["sleeper", "1", "--seconds", "600", "--seconds-again", "0.5", "--queue", "mail"]);
    let worker = ["--queues", "mail", "--concurrency", "3", "--heartbeat", "1", "--stalled", "600"];
    let begun = Instant::now();
    let mut a = app.work("A", &worker);
    assert_eq!(a.wait_for("started", 1, A_WHILE), job);
    // Worker C may take as long to start, and longer.
    let delay = Duration::from_secs(10 + begun.elapsed().as_secs() * 2);
    a.kill();
    told.say(&format!("SIGKILL for worker A, which has started {job:?}"));
    until_stuck(&app, &["stale", "--older", "4s"], 1);
    let done = app.document(&["reclaim", "--older", "4s", "--apply", "--delay", &format!("{}s", delay.as_secs())]);
    let reclaimed = Instant::now();
    assert_eq!(done["summary"]["outcomes"]["moved"], 1, "{done}");
    let mut c = app.work("C", &worker);
    let quick = app.enqueue(&["quick", "1", "--queue", "mail"]);
    assert_eq!(c.wait_for("finished", 1, A_WHILE), quick);
    assert!(reclaimed.elapsed() < delay, "worker C takes too long to start: it has to look before the time comes");
    told.say("worker C has finished another job of the queue meanwhile");
    assert_eq!(c.wait_for("finished", 2, delay + A_WHILE * 2), sorted([job.clone(), quick].concat()));
    let waited = reclaimed.elapsed();
    told.say(&format!("and {job:?} after {:.1} s", waited.as_secs_f64()));
    assert!(waited >= delay, "after {waited:?} already");
    mark("ran: procrastinate");
}
