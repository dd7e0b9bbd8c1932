//! Requeues that a unique key refuses: every such job of every scene is named by the plan with its twin, by the server's dry run as the
//! apply ends, and is failed instead where that is asked for and the twin is there.

use super::database::{Database, Databases};
use super::play::{catalog, set_up};
use super::scene::Scene;
use super::{Stage, stages};
use crate::support::doctor::{Unrecorded, limits, unguarded};
use jobdoctor::model::{Action, Batch, Outcome, RowError, parse_duration};
use jobdoctor::ops::{self, ApplyOptions, Mode, Selection, Session, Snapshot};
use jobdoctor::policy::{Draft, Policy, draft, judge};
use jobdoctor::preset::Place;
use jobdoctor::store::{Detail, Store, Wanted, open};
use serde_json::Value;

#[test]
fn a_requeue_that_a_unique_key_refuses_is_foreseen_and_becomes_a_fail_where_that_is_asked_for() {
    let (mut databases, mut tried) = (Databases::default(), 0);
    for (stage, scene, id, constraint) in &refused(&stages()) {
        for fails_refused in [false, true] {
            let ends = [Mode::Plan, Mode::ServerDryRun, Mode::Apply].map(|mode| {
                let mut database = databases.with(stage);
                set_up(&mut *database, scene);
                let (step, rest) = played(&*database, stage, scene, fails_refused, mode, id);
                assert_eq!(
                    step["error"]["constraint"],
                    constraint.as_str(),
                    "{stage}, {}, {mode:?}: {step}",
                    scene.name
                );
                let (action, outcome) = match (mode, fails_refused) {
                    (Mode::Plan, _) => ("requeue", Value::Null),
                    (_, false) => ("requeue", "refused".into()),
                    (_, true) => ("fail", "moved".into()),
                };
                assert_eq!(
                    (&step["action"], &step["outcome"]),
                    (&action.into(), &outcome),
                    "{stage}, {mode:?}: {step}"
                );
                (step, rest)
            });
            let said = ends[0].1["warnings"].to_string();
            assert!(said.contains(constraint) && said.contains(&format!("{id} (job ")), "{said}");
            assert_eq!(ends[1].1["summary"]["outcomes"], ends[2].1["summary"]["outcomes"]);
            tried += 1;
        }
    }
    assert!(tried >= 20, "only {tried}");
}

/// The row that holds the key is gone before the fail: the job is left for the next requeue.
#[test]
fn a_job_whose_twin_has_vanished_is_not_failed() {
    let (mut databases, mut tried) = (Databases::default(), 0);
    for (stage, scene, id, constraint) in &refused(&stages()) {
        for is_there in [true, false] {
            let mut database = databases.with(stage);
            set_up(&mut *database, scene);
            let store = open(&database.address());
            let (place, limits) = (place(scene), limits());
            let mut snapshot = snapshot(&*store, stage, &place, &limits);
            let fail = Policy { to: Some(Action::Fail), ..policy(scene, true) };
            let (now, spec, mut steps) = (snapshot.now(), snapshot.jobs.clone(), Vec::new());
            let mut each =
                |claim: jobdoctor::model::Claim| match draft(&spec, &claim, &judge(&spec, &claim, &fail, now), &fail) {
                    Draft::Step(step) if step.key.to_string() == *id => steps.push(*step),
                    _ => {}
                };
            snapshot.reader.scan(&spec, &Wanted::All, Detail::ForAction, &mut each).unwrap();
            drop(snapshot);
            if !is_there {
                let twins: Vec<&String> = scene.expected.keys().filter(|other| *other != id).collect();
                remove(&mut *database, &spec, &twins);
            }
            let instead = [RowError { sqlstate: None, constraint: Some(constraint.clone()), message: "no".to_owned() }];
            let batch = Batch { action: Action::Fail, steps: &steps, reason: "a test", waits: &[], instead: &instead };
            let report = store.writer(&limits).unwrap().apply(&spec, &batch, &mut Unrecorded);
            let expected = if is_there { Outcome::Moved } else { Outcome::Refused };
            assert_eq!(report.results[0].outcome, expected, "{stage}, {}: {report:?}", scene.name);
            let error = report.results[0].error.as_ref().unwrap();
            assert_eq!(error.constraint.as_ref(), Some(constraint));
            let said = if is_there { "no" } else { "no; not failed instead: no job that holds its key was seen" };
            assert_eq!(error.message, said);
            tried += 1;
        }
    }
    assert!(tried >= 20, "only {tried}");
}

/// What the option promises must be there.
#[test]
fn without_a_fail_nothing_is_failed_instead() {
    let (stages, mut databases) = (stages(), Databases::default());
    let stage = stages.iter().find(|stage| stage.queue == "quartz").unwrap();
    let scene = stage.scenes.iter().find(|scene| scene.name == "plain-orphan").unwrap();
    let mut database = databases.with(stage);
    set_up(&mut *database, scene);
    let store = open(&database.address());
    let (place, limits) = (place(scene), limits());
    let mut snapshot = snapshot(&*store, stage, &place, &limits);
    let planned = ops::plan(&mut snapshot, &Selection::default(), &policy(scene, true));
    assert!(planned.is_err_and(|error| error.to_string().contains("has no fail")));
}

fn remove(database: &mut dyn Database, spec: &jobdoctor::preset::Jobs, ids: &[&String]) {
    let table = &spec.queue.tables[&spec.claim.lock_table];
    let key = &spec.claim.key.last().unwrap().name;
    for id in ids {
        let id = id.rsplit('/').next().unwrap();
        let schema = if table.schema == "main" { "main" } else { &table.schema };
        database.run(&format!("DELETE FROM {schema}.\"{}\" WHERE {key} = '{id}'", table.name));
    }
}

/// The scenes with a requeue that a named unique key refuses, with the job and the key.
fn refused(stages: &[Stage]) -> Vec<(&Stage, &Scene, String, String)> {
    let of_scene = |scene: &Scene| {
        let said =
            |(id, said): (&String, &String)| Some((id.clone(), said.split_once(", requeue, refused ")?.1.to_owned()));
        scene.expected.iter().find_map(said)
    };
    let scenes = stages.iter().flat_map(|stage| stage.scenes.iter().map(move |scene| (stage, scene)));
    let of_claims = scenes.filter(|(_, scene)| scene.interrupted.is_none());
    of_claims.filter_map(|(stage, scene)| of_scene(scene).map(|(id, key)| (stage, scene, id, key))).collect()
}

pub(super) fn place(scene: &Scene) -> Place {
    Place { options: scene.options.iter().cloned().collect(), ..Place::default() }
}

pub(super) fn snapshot<'a>(
    store: &'a dyn Store,
    stage: &Stage,
    place: &'a Place,
    limits: &'a jobdoctor::store::Limits,
) -> Snapshot {
    let session = Session::of(store, catalog(&stage.queue), place, limits);
    session.snapshot().unwrap_or_else(|error| panic!("{stage}: {error}"))
}

pub(super) fn policy(scene: &Scene, fails_refused: bool) -> Policy {
    let older = scene.older.as_deref().map(|older| parse_duration(older).unwrap());
    Policy { older, fails_refused, ..Policy::default() }
}

/// The step of that job, and the whole document.
fn played(
    database: &dyn Database,
    stage: &Stage,
    scene: &Scene,
    fails_refused: bool,
    mode: Mode,
    id: &str,
) -> (Value, Value) {
    let store = open(&database.address());
    let (place, limits) = (place(scene), limits());
    let mut snapshot = snapshot(&*store, stage, &place, &limits);
    let plan = ops::plan(&mut snapshot, &Selection::default(), &policy(scene, fails_refused)).unwrap();
    let plan = plan.ready(snapshot);
    let order = ApplyOptions { schema: "jobdoctor.sweep/v1", mode, ..unguarded() };
    let document = serde_json::to_value(&ops::reclaim(&*store, &limits, plan, &order).unwrap().document).unwrap();
    let step = document["steps"].as_array().unwrap().iter().find(|step| step["id"] == id).unwrap().clone();
    (step, document)
}
