//! Requeues that a unique key refuses: every such job of every scene is named by the plan with its twin, by the server's dry run as the
//! apply ends, and is failed instead where that is asked for and the twin is there.

use super::database::{Database, Databases};
use super::play::{catalog, set_up};
use super::scene::Scene;
use super::{Stage, stages};
use crate::support::doctor::{limits, unguarded};
use jobdoctor::model::parse_duration;
use jobdoctor::ops::{self, ApplyOptions, Mode, Selection, Session, Snapshot};
use jobdoctor::policy::Policy;
use jobdoctor::preset::Place;
use jobdoctor::store::{Store, open};
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
                // pg-boss itself fails such a job.
                let (action, outcome) = match (mode, fails_refused || stage.queue == "pg-boss") {
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

/// The scenes with a requeue that a named unique key refuses, with the job and the key.
fn refused(stages: &[Stage]) -> Vec<(&Stage, &Scene, String, String)> {
    let of_scene = |scene: &Scene| {
        let said = |(id, said): (&String, &String)| {
            let key = said.split_once(", requeue, refused ").or_else(|| said.split_once(", fail, moved "))?.1;
            Some((id.clone(), key.to_owned()))
        };
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
