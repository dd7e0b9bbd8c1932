//! Scenes once more, with the plan's script run through psql in the place of `--apply`: it leaves the same rows, and wakes the
//! same workers. On one version of each queue: from one to the next, scripts differ in nothing but what
//! [`super::every_scene_ends_as_it_says`] sees of the actions. Times of the write are told as distances from now, so that they may differ.

use super::database::{Database, Databases, nothing_is_wrong};
use super::play::{catalog, notifications, set_up};
use super::scene::Scene;
use super::times::without_moments;
use super::{Stage, newest};
use crate::support::dice::one_in;
use crate::support::doctor::{limits, unguarded};
use jobdoctor::history::RecordOptions;
use jobdoctor::model::{Action, Engine, parse_duration};
use jobdoctor::ops::{self, ApplyOptions, ReadyPlan, Selection, Session};
use jobdoctor::policy::Policy;
use jobdoctor::preset::Place;
use jobdoctor::store::{Store, open};
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_script_leaves_what_apply_leaves() {
    let stages = newest();
    is_the_same_by_hand(one_in(12, stages.iter().flat_map(scenes).collect()));
}

/// What can be done by hand: what is refused is no plan.
pub(super) fn scenes(stage: &Stage) -> impl Iterator<Item = (&Stage, &Scene)> {
    stage
        .scenes
        .iter()
        .filter(|scene| stage.engine == Engine::Postgres && !scene.expected.contains_key("refusal"))
        .map(move |scene| (stage, scene))
}

fn is_the_same_by_hand(scenes: Vec<(&Stage, &Scene)>) {
    let moved = AtomicUsize::new(0);
    nothing_is_wrong(&scenes, |databases, (stage, scene)| {
        let compared = compared(databases, stage, scene);
        moved.fetch_add(usize::from(compared.as_ref().is_ok_and(|changes| *changes > 0)), Ordering::SeqCst);
        compared.err().map(|why| format!("{stage}, scene {}: {why}", scene.name))
    });
    let moved = moved.into_inner();
    assert!(moved * 2 >= scenes.len(), "only {moved} of {} scenes in which anything was moved", scenes.len());
}

/// How many lines of changes there are, the same both ways.
fn compared(databases: &mut Databases, stage: &Stage, scene: &Scene) -> Result<usize, String> {
    let mut refused = 0;
    let applied = played(databases, stage, scene, |_, store, plan, order| {
        let done = ops::reclaim(store, &limits(), plan, order).map_err(|error| error.to_string())?;
        let document = serde_json::to_value(&done.document).unwrap();
        let outcomes = &document["summary"]["outcomes"];
        refused = ["refused", "locked"].iter().filter_map(|outcome| outcomes[outcome].as_u64()).sum();
        Ok(())
    })?;
    let (by_hand, failed) = played_by_hand(databases, stage, scene, |script| script)?;
    match failed {
        // A script cannot try rows apart: it takes the batch back.
        Some(_) if refused > 0 && by_hand.len() <= applied.len() => Ok(0),
        Some(said) => Err(format!("the shell failed: {said}")),
        None if by_hand == applied => Ok(applied.len()),
        None => Err(format!("applied:\n{}\nby hand:\n{}\n", applied.join("\n"), by_hand.join("\n"))),
    }
}

/// What the plan's script changes once `edit` has been at it, and what the shell said where it failed.
pub(super) fn played_by_hand(
    databases: &mut Databases,
    stage: &Stage,
    scene: &Scene,
    edit: impl FnOnce(String) -> String,
) -> Result<(Vec<String>, Option<String>), String> {
    let mut failed = None;
    let by_hand = played(databases, stage, scene, |database, _, plan, order| {
        let emitted = ops::emit(&limits(), &plan, order).map_err(|error| error.to_string())?;
        let ran = database.shell(&edit(emitted.parts.concat()));
        failed = (ran.code != 0).then_some(ran.stderr);
        Ok(())
    })?;
    Ok((by_hand, failed))
}

/// Plays a scene up to the plan, has something done with it, and tells what changed.
fn played(
    databases: &mut Databases,
    stage: &Stage,
    scene: &Scene,
    act: impl FnOnce(&dyn Database, &dyn Store, ReadyPlan, &ApplyOptions<'_>) -> Result<(), String>,
) -> Result<Vec<String>, String> {
    let mut database = databases.with(stage);
    let before = set_up(&mut *database, scene);
    let store = open(&database.address());
    let (place, limits) = (Place { options: scene.options.iter().cloned().collect(), ..Place::default() }, limits());
    let catalog = catalog(&stage.queue);
    let looking = Session {
        store: &*store,
        catalog,
        preset: None,
        place: &place,
        limits: &limits,
        target: None,
        waits: Vec::new(),
    };
    let policy = Policy {
        older: scene.older.as_deref().map(|older| parse_duration(older).unwrap()),
        to: scene.to.as_deref().map(|to| Action::ALL.into_iter().find(|known| known.name() == to).unwrap()),
        ..Policy::default()
    };
    let (policy, look) = match scene.interrupted.as_deref() {
        Some(within) => (policy.on_interrupted(parse_duration(within).unwrap()), looking.snapshot_of_interrupted()),
        None => (policy, looking.snapshot()),
    };
    let mut look = look.map_err(|error| error.to_string())?;
    let plan = ops::plan(&mut look, &Selection::default(), &policy).map_err(|error| error.to_string())?;
    let plan = plan.ready(look);
    database.run(&scene.meanwhile);
    let order = ApplyOptions {
        record: RecordOptions { reason: scene.reason.clone(), ..RecordOptions::default() },
        ..unguarded()
    };
    act(&*database, &*store, plan, &order)?;
    let after = database.rows();
    let mut lines = before.changes(&after, &scene.text);
    lines.extend(notifications(&mut *database, scene, &after));
    Ok(lines.iter().map(|line| without_moments(line)).collect())
}
