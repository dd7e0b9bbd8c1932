//! Quartz with its clustered JDBC job store, from Debian. The shared story does not fit: a trigger is the claim, and nothing is failed.

use crate::live::application::Application;
use crate::live::environment::{Runtime, mark};
use crate::live::looks::{A_WHILE, ids, rules, until_stuck, wait_until};
use crate::live::transcript::Transcript;
use postgres::Client;
use serde_json::Value;

const RUNTIME: Runtime = Runtime::Java(&["quartz2", "postgresql", "slf4j-api", "slf4j-simple"]);
/// Two check-ins of a second, and Quartz's 7.5 s.
const PATIENCE: f64 = 9.5;
/// A node acquires a trigger half a minute before it is due.
const SOON: &str = "soon:plain:28:0";

const STALE: [&str; 1] = ["stale"];
const APPLY: [&str; 2] = ["reclaim", "--apply"];

/// Node A of scheduler a is killed: it has acquired one trigger, and runs four jobs. Node B of scheduler b, alive, runs one. What A
/// held is found, and freed where Quartz alone is not needed for it; a new node of scheduler a runs it and does the rest.
#[test]
fn triggers_of_a_killed_node_fire_again() {
    let Some(app) = Application::new("quartz/app.java", RUNTIME) else { return };
    let mut told = Transcript::new("quartz: a node is killed");
    let mut client = app.client();
    assert_eq!(app.enqueue(&["--queue", "b", "long:alone:0:3600"]), ["long"]);
    let mut b = app.work("B", &["--queue", "b", "--seconds", "60"]);
    assert_eq!(b.wait_for("started", 1, A_WHILE), ["long"]);
    told.say("node B of scheduler b runs a job that takes a minute");
    let triggers = [
        "ran:alone:0:3600",
        "twin:alone:1:0",
        "precious:precious:0:3600",
        "once:single:0:0",
        "next:single:1:0",
        "many:plain:0:3600",
    ];
    assert_eq!(app.enqueue(&[&["--queue", "a", SOON][..], &triggers].concat()).len(), 7);
    let mut a = app.work("A", &["--queue", "a", "--seconds", "600"]);
    assert_eq!(a.wait_for("started", 4, A_WHILE), ["many", "once", "precious", "ran"]);
    until(&mut client, "a", "soon", "ACQUIRED");
    for (trigger, state) in [("many", "WAITING"), ("once", "COMPLETE"), ("next", "BLOCKED"), ("ran", "BLOCKED")] {
        assert_eq!(state_of(&mut client, "a", trigger), state, "{trigger}");
    }
    told.say("node A of scheduler a runs four jobs, and has acquired a trigger that is not due yet");
    let alive = app.document(&STALE);
    assert_eq!((&alive["summary"]["stuck"], &alive["summary"]["in_flight"]), (&0.into(), &6.into()), "{alive}");
    let node: String = client
        .query_one("SELECT instance_name FROM qrtz_scheduler_state WHERE sched_name = 'a'", &[])
        .expect("node A")
        .get(0);
    a.kill();
    told.say("SIGKILL for A");

    let found = until_stuck(&app, &STALE, 5);
    assert_eq!(ids(&found["jobs"]), ["next", "precious", "ran", "soon", "twin"], "{found}");
    assert_eq!((&found["summary"]["in_flight"], &found["summary"]["unknown"]), (&6.into(), &0.into()), "{found}");
    assert_eq!(found["target"]["preset"], "quartz");
    assert_eq!(rules(&found["jobs"]), ["owner_silent"; 5], "{found}");
    for job in found["jobs"].as_array().expect("jobs") {
        assert_eq!((&job["queue"], &job["owner"]), (&"a".into(), &Value::from(node.as_str())), "{job}");
        assert!(job["silence_seconds"].as_f64().is_some_and(|seconds| seconds >= PATIENCE), "{job}");
    }
    told.quote(&app.told(&STALE));

    let held = rows(&mut client, "b");
    let before = rows(&mut client, "a");
    told.quote(&app.told(&["reclaim"]));
    assert_eq!(rows(&mut client, "a"), before, "the dry run changed nothing");
    let done = app.document(&APPLY);
    assert_eq!(ids(&done["steps"]), ["ran", "soon", "twin"], "{done}");
    assert_eq!(done["summary"]["outcomes"]["moved"], 3, "{done}");
    assert_eq!(ids(&done["skipped"]), ["next", "precious"], "{done}");
    for trigger in ["ran", "soon", "twin"] {
        assert_eq!(state_of(&mut client, "a", trigger), "WAITING", "{trigger}");
    }
    // The two that are skipped, and a run that may overlap with others: it holds no trigger.
    assert_eq!(fired(&mut client, "a"), ["many", "once", "precious"]);
    assert_eq!(rows(&mut client, "b"), held, "what the living node holds is as it was");
    told.say("jobdoctor reclaim --apply: 3 moved; a job that asks for recovery and one whose trigger is complete are left to Quartz");

    let mut c = app.work("C", &["--queue", "a", "--seconds", "0.5"]);
    let again = ["next", "precious", "soon", "twin"];
    assert_eq!(c.wait_for("started", 4, A_WHILE * 2), again);
    assert_eq!(c.wait_for("finished", 4, A_WHILE), again);
    told.say(&format!("node C of scheduler a has finished {again:?}"));
    for trigger in ["next", "once", "soon", "twin"] {
        until(&mut client, "a", trigger, "gone");
    }
    until(&mut client, "a", "precious", "WAITING");
    assert_eq!(c.wait_for("started", 4, A_WHILE), again, "the runs that were lost are not repeated");
    assert_eq!(rows(&mut client, "b"), held, "what the living node holds is as it was");
    assert_eq!(b.wait_for("finished", 1, A_WHILE * 3), ["long"]);
    until(&mut client, "b", "long", "WAITING");
    told.say("B has finished, undisturbed");
    assert_eq!(app.document(&STALE)["summary"]["in_flight"], 0);
    mark("ran: quartz");
}

/// A trigger that is acquired has lost its fired row. No node frees it, neither one that starts nor one that cleans up after the
/// dead. Once it is, a node that was there all the time fires it, and what that node holds itself is left alone.
#[test]
fn a_trigger_without_a_fired_row_fires_in_a_node_that_lives() {
    let Some(app) = Application::new("quartz/app.java", RUNTIME) else { return };
    let mut told = Transcript::new("quartz: a trigger without a fired row");
    let mut client = app.client();
    app.enqueue(&["--queue", "a", SOON]);
    let a = app.work("A", &["--queue", "a"]);
    until(&mut client, "a", "soon", "ACQUIRED");
    a.kill();
    assert_eq!(client.execute("DELETE FROM qrtz_fired_triggers", &[]).expect("delete it"), 1);
    told.say("SIGKILL for node A, which has acquired a trigger; its fired row is deleted");

    app.enqueue(&["--queue", "a", "ran:alone:0:3600"]);
    let mut b = app.work("B", &["--queue", "a", "--seconds", "600"]);
    assert_eq!(b.wait_for("started", 1, A_WHILE), ["ran"]);
    let mut nodes = || client.query("SELECT FROM qrtz_scheduler_state", &[]).expect("the nodes").len();
    wait_until(&mut || nodes() == 1, || "B has cleaned up after A".to_owned());
    assert_eq!(state_of(&mut client, "a", "soon"), "ACQUIRED");
    told.say("node B of the same scheduler runs a job, and has cleaned up after A: the trigger is still acquired");
    let early = app.document(&STALE);
    assert_eq!((&early["summary"]["stuck"], &early["summary"]["in_flight"]), (&0.into(), &2.into()), "{early}");
    let age = "UPDATE qrtz_triggers SET next_fire_time = next_fire_time - 120000 WHERE trigger_name = 'soon'";
    assert_eq!(client.execute(age, &[]).expect("make it late"), 1);

    let found = until_stuck(&app, &STALE, 1);
    assert_eq!(ids(&found["jobs"]), ["soon"], "{found}");
    assert_eq!(rules(&found["jobs"]), ["lease_expired"], "{found}");
    told.quote(&app.told(&STALE));
    let held = rows_of(&mut client, "a", "ran");
    let done = app.document(&APPLY);
    assert_eq!(ids(&done["steps"]), ["soon"], "{done}");
    assert_eq!(done["summary"]["outcomes"]["moved"], 1, "{done}");
    assert_eq!(rows_of(&mut client, "a", "ran"), held, "what the living node holds is as it was");
    told.say("jobdoctor reclaim --apply: 1 moved");
    // It looks for triggers that are so late once a minute.
    assert_eq!(b.wait_for("started", 2, A_WHILE * 5), ["ran", "soon"]);
    told.say("B has fired it");
    mark("ran: quartz, a trigger without a fired row");
}

/// Node A is only stopped. Its trigger is freed and fires in node C; then A goes on, ends its run, and frees what C holds.
#[test]
fn a_node_that_comes_back_frees_the_trigger_of_the_next() {
    let Some(app) = Application::new("quartz/app.java", RUNTIME) else { return };
    let mut told = Transcript::new("quartz: a node is stopped and goes on later");
    let mut client = app.client();
    app.enqueue(&["--queue", "a", "ran:alone:0:20"]);
    let mut a = app.work("A", &["--queue", "a", "--seconds", "3"]);
    assert_eq!(a.wait_for("started", 1, A_WHILE), ["ran"]);
    a.stop();
    told.say("SIGSTOP for node A, which runs a job");
    until_stuck(&app, &STALE, 1);
    let done = app.document(&APPLY);
    assert_eq!(done["summary"]["outcomes"]["moved"], 1, "{done}");
    assert_eq!((state_of(&mut client, "a", "ran"), fired(&mut client, "a")), ("WAITING".to_owned(), vec![]));
    told.say("jobdoctor reclaim --apply: 1 moved");

    let mut c = app.work("C", &["--queue", "a", "--seconds", "20"]);
    assert_eq!(c.wait_for("started", 1, A_WHILE * 2), ["ran"]);
    assert_eq!(state_of(&mut client, "a", "ran"), "BLOCKED");
    told.say("node C runs the job, as its schedule says");
    a.go_on();
    told.say("SIGCONT for A");
    assert_eq!(a.wait_for("finished", 1, A_WHILE), ["ran"]);
    wait_until(
        || fired(&mut client, "a") == ["ran", "ran"],
        || "the trigger is taken again while C runs its job".to_owned(),
    );
    told.say("A has ended its run: the trigger is taken again, while C still runs the job");
    assert_eq!(c.wait_for("finished", 1, A_WHILE), ["ran"]);
    mark("ran: quartz, a node that comes back");
}

fn until(client: &mut Client, scheduler: &str, trigger: &str, state: &str) {
    wait_until(|| state_of(client, scheduler, trigger) == state, || format!("{scheduler}/{trigger}: {state}"));
}

fn state_of(client: &mut Client, scheduler: &str, trigger: &str) -> String {
    let state = "SELECT trigger_state FROM qrtz_triggers WHERE sched_name = $1 AND trigger_name = $2";
    let row = client.query_opt(state, &[&scheduler, &trigger]).expect("the trigger");
    row.map_or_else(|| "gone".to_owned(), |row| row.get(0))
}

fn fired(client: &mut Client, scheduler: &str) -> Vec<String> {
    let names = "SELECT trigger_name FROM qrtz_fired_triggers WHERE sched_name = $1 ORDER BY trigger_name";
    client.query(names, &[&scheduler]).expect("the fired rows").iter().map(|row| row.get(0)).collect()
}

fn rows(client: &mut Client, scheduler: &str) -> Vec<String> {
    rows_of(client, scheduler, "%")
}

fn rows_of(client: &mut Client, scheduler: &str, trigger: &str) -> Vec<String> {
    let rows = "SELECT t.xmin || ' ' || t::text FROM qrtz_triggers AS t WHERE sched_name = $1 AND trigger_name LIKE $2 \
                UNION ALL SELECT e.xmin || ' ' || e::text FROM qrtz_fired_triggers AS e \
                WHERE sched_name = $1 AND trigger_name LIKE $2 ORDER BY 1";
    client.query(rows, &[&scheduler, &trigger]).expect("the rows").iter().map(|row| row.get(0)).collect()
}
