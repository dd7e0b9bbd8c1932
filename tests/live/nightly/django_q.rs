//! django-q2 with its ORM broker, from PyPI. The shared story does not fit: a message cannot be failed, and nothing in it but its lock
//! tells when it was claimed.

use crate::live::application::Application;
use crate::live::environment::{Runtime, mark};
use crate::live::looks::{A_WHILE, id, ids, until_stuck, wait_until};
use crate::live::transcript::Transcript;
use jobdoctor::model::Engine;
use std::time::Duration;

/// How much longer than B's the claims of A have lasted.
const APART: Duration = Duration::from_secs(20);
/// `retry` is a day in this application. B's claim is younger than the threshold, A's are older.
const OPTIONS: [&str; 4] = ["--older", "12s", "--option", "retry=86400"];

#[test]
fn jobs_of_a_killed_cluster_run_again() {
    killed(
        Engine::Sqlite,
        "SELECT json_array(id, key, payload, lock) FROM django_q_ormq WHERE id = $1",
        "SELECT iif(lock > datetime('now', '+23 hours'), 'locked until tomorrow', iif(lock > strftime('%Y-%m-%d %H:%M:%f', 'now'), 'locked', 'free')) \
         FROM django_q_ormq WHERE id = $1",
    );
}

#[test]
fn jobs_of_a_killed_cluster_run_again_on_postgres() {
    killed(
        Engine::Postgres,
        "SELECT j.xmin || ' ' || j::text FROM django_q_ormq AS j WHERE id = $1::text::int",
        "SELECT CASE WHEN lock > now() + interval '23 hours' THEN 'locked until tomorrow' WHEN lock > now() THEN 'locked' ELSE 'free' END \
         FROM django_q_ormq WHERE id = $1::text::int",
    );
}

/// Cluster A is killed while it runs two tasks; cluster B, alive, runs one. A's messages would be locked until tomorrow. Exactly these
/// two are requeued, and run again in cluster C. B does not notice.
fn killed(engine: Engine, row: &str, state: &str) {
    let Some(app) = Application::on(engine, "django-q/app.py", Runtime::Python(3, 12)) else { return };
    let name = format!("django-q on {engine}");
    let mut told = Transcript::new(&format!("{name}: a cluster is killed"));
    let mut session = app.session();
    let mut of = |sql: &str, id: &str| session.text(sql, id).flatten().unwrap_or_else(|| "gone".to_owned());

    let lost = app.enqueue(&["2", "--queue", "a", "--seconds", "600", "--seconds-again", "0.5"]);
    let mut a = app.work("A", &["--queue", "a", "--concurrency", "2"]);
    assert_eq!(a.wait_for("started", 2, A_WHILE), lost);
    told.say(&format!("cluster A has started {lost:?}"));
    std::thread::sleep(APART);
    let long = app.enqueue(&["1", "--queue", "b", "--seconds", "25"]);
    let mut b = app.work("B", &["--queue", "b"]);
    assert_eq!(b.wait_for("started", 1, A_WHILE), long);
    told.say(&format!("cluster B has started {long:?}, which takes 25 s"));
    a.kill();
    told.say("SIGKILL for A");

    let found = until_stuck(&app, &[&["stale"][..], &OPTIONS].concat(), 2);
    assert_eq!(ids(&found["jobs"]), lost, "{found}");
    assert_eq!(found["summary"]["in_flight"], 3, "{found}");
    assert_eq!(found["target"]["preset"], "django-q");
    told.quote(&app.told(&[&["stale"][..], &OPTIONS].concat()));
    // Without a word about `retry`, claims of a day lie in the future: nobody guesses.
    let unknown = app.document(&["stale", "--older", "1s"]);
    assert_eq!((&unknown["summary"]["stuck"], &unknown["summary"]["unknown"]), (&0.into(), &3.into()), "{unknown}");

    let before = of(row, &long[0]);
    assert_eq!(of(state, &lost[0]), "locked until tomorrow");
    let done = app.document(&[&["reclaim", "--apply"][..], &OPTIONS].concat());
    assert_eq!(done["summary"]["outcomes"]["moved"], 2, "{done}");
    let steps = done["steps"].as_array().expect("steps");
    assert!(steps.iter().all(|step| step["action"] == "requeue" && lost.contains(&id(step))), "{done}");
    assert_eq!(lost.iter().map(|id| of(state, id)).collect::<Vec<_>>(), ["free", "free"]);
    assert_eq!(of(row, &long[0]), before, "the message of the living cluster is as it was");
    told.say("jobdoctor reclaim --apply: 2 moved, free");

    let mut c = app.work("C", &["--queue", "a", "--concurrency", "2"]);
    assert_eq!(c.wait_for("started", 2, A_WHILE), lost);
    assert_eq!(of(row, &long[0]), before, "the message of the living cluster is as it was");
    assert_eq!(c.wait_for("finished", 2, A_WHILE), lost);
    told.say(&format!("cluster C has finished {lost:?}"));
    assert_eq!(b.wait_for("finished", 1, A_WHILE * 2), long);
    told.say(&format!("B has finished {long:?}, undisturbed"));
    wait_until(&mut || lost.iter().chain(&long).all(|id| of(state, id) == "gone"), || {
        "the messages are deleted".to_owned()
    });
    told.say("all messages are gone");
    mark(&format!("ran: {name}"));
}
