//! What an action needs is what its judgement needs: every scene once more without the rows of a table that an action names beside the
//! job's own, its owners called dead by a restart sweep and by a list. Whatever the plan promises then is moved, or the database itself
//! refuses it with a code of its own.

use super::database::{Databases, nothing_is_wrong};
use super::play::{catalog, set_up};
use super::scene::Scene;
use super::{Stage, newest};
use crate::support::dice::one_in;
use crate::support::doctor::{limits, unguarded};
use jobdoctor::model::{Action, Engine, Timestamp};
use jobdoctor::ops::{self, ApplyOptions, Selection, Session};
use jobdoctor::policy::{LiveOwners, Living, Policy, Restart, RestartScope};
use jobdoctor::preset::ident::{qualified, quoted};
use jobdoctor::preset::{Catalog, Jobs, Place, StepSpec};
use jobdoctor::store::{Store, open};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn an_action_needs_no_row_that_its_judgement_does_without() {
    let (stages, moved) = (newest(), AtomicUsize::new(0));
    nothing_is_wrong(&one_in(12, alone(&stages)), |databases, (stage, scene)| {
        let mut said = Vec::new();
        moved.fetch_add(played(databases, stage, scene, catalog(&stage.queue), &mut said), Ordering::SeqCst);
        said
    });
    assert!(moved.into_inner() > 0, "no job was moved without some row");
}

/// The scenes that can be played without a row.
fn alone(stages: &[Stage]) -> Vec<(&Stage, &Scene)> {
    // A session that stays open would hold up the DELETE.
    let is_alone = |scene: &&Scene| scene.others.is_empty() && !scene.expected.contains_key("refusal");
    stages.iter().flat_map(|stage| stage.scenes.iter().filter(is_alone).map(move |scene| (stage, scene))).collect()
}

#[test]
fn a_delete_that_joins_the_row_of_a_missing_node_is_noticed() {
    let (mut databases, mut wrong) = (Databases::default(), Vec::new());
    let text = std::fs::read_to_string("src/preset/presets/quartz.toml").unwrap();
    let joins = text.replace("({sql.alone} OR {sql.silent})", "{sql.silent}");
    assert_ne!(text, joins);
    let joins = super::play::catalog_of("quartz", &joins);
    let stages = newest();
    let is_noticed = alone(&stages).into_iter().filter(|(stage, _)| stage.queue == "quartz").any(|(stage, scene)| {
        played(&mut databases, stage, scene, &joins, &mut wrong);
        !wrong.is_empty()
    });
    assert!(is_noticed);
}

/// Plays a scene once for each table and each way to call owners dead; the number of jobs that were moved.
fn played(
    databases: &mut Databases,
    stage: &Stage,
    scene: &Scene,
    catalog: &Catalog,
    wrong: &mut Vec<String>,
) -> usize {
    let (mut moved, mut tables) = (0, None::<Vec<Option<String>>>);
    for nth in 0.. {
        if tables.as_ref().is_some_and(|tables| tables.len() <= nth / 2) {
            break;
        }
        let mut database = databases.with(stage);
        set_up(&mut *database, scene);
        let store = open(&database.address());
        let place = Place { options: scene.options.iter().cloned().collect(), ..Place::default() };
        let limits = limits();
        let session = Session::of(&*store, catalog, &place, &limits);
        let mut snapshot = session.snapshot().unwrap_or_else(|error| panic!("{stage}, {}: {error}", scene.name));
        let names = tables.get_or_insert_with(|| named(&snapshot.jobs));
        let Some(table) = names.get(nth / 2) else { break };
        drop(snapshot.reader);
        let delete = table.as_ref().map(|table| format!("DELETE FROM {table};")).unwrap_or_default();
        database.run(&match stage.engine {
            Engine::Postgres => {
                format!("SET session_replication_role = replica; {delete} RESET session_replication_role")
            }
            Engine::Sqlite => format!("PRAGMA foreign_keys = off; {delete}"),
        });
        snapshot = session.snapshot().unwrap_or_else(|error| panic!("{stage}, {}: {error}", scene.name));
        let policy = policy(scene, snapshot.now(), nth % 2 == 0);
        let plan = ops::plan(&mut snapshot, &Selection::default(), &policy).unwrap();
        let plan = plan.ready(snapshot);
        let order = ApplyOptions { schema: "jobdoctor.sweep/v1", ..unguarded() };
        let done = ops::reclaim(&*store as &dyn Store, &limits, plan, &order).unwrap();
        let document = serde_json::to_value(&done.document).unwrap();
        for step in document["steps"].as_array().into_iter().flatten() {
            match (step["outcome"].as_str(), step["error"]["sqlstate"].as_str()) {
                (Some("moved"), _) => moved += 1,
                // By a unique key.
                (Some("refused"), Some(_)) => {}
                _ => wrong.push(format!("{stage}, scene {}, without {table:?}: {step}", scene.name)),
            }
        }
    }
    moved
}

/// The tables that the actions' own statements name, but for the job's; and none, for rows that contradict the sweep.
fn named(spec: &Jobs) -> Vec<Option<String>> {
    let steps = spec.actions.values().flat_map(|action| &action.steps);
    let sql = steps.filter_map(|step| if let StepSpec::Sql { sql, .. } = step { Some(sql) } else { None });
    let logical: BTreeSet<&str> = sql.flat_map(|sql| sql.touches()).map(|(_, table)| table).collect();
    let tables = logical.into_iter().filter(|table| *table != spec.claim.lock_table);
    let physical = |table: &str| {
        let table = spec.queue.tables.get(table).unwrap();
        if spec.queue.engine == Engine::Sqlite { quoted(&table.name) } else { qualified(&table.schema, &table.name) }
    };
    let tables: Vec<String> = tables.map(physical).collect();
    let none = (!tables.is_empty()).then_some(None);
    tables.into_iter().map(Some).chain(none).collect()
}

/// All owners are dead, by a restart sweep or by a list on which none of them is.
fn policy(scene: &Scene, now: Timestamp, by_restart: bool) -> Policy {
    let to = scene.to.as_deref().map(|to| Action::ALL.into_iter().find(|known| known.name() == to).unwrap());
    let living = || {
        let live_owners = Arc::new(LiveOwners::parse("of-another-queue").unwrap());
        Living { live_owners, made_at: now }
    };
    let scope = if by_restart { RestartScope::AllOwners } else { RestartScope::NotListed(living()) };
    Policy { to, restart: Some(Restart { scope, before: None, began: now, first: None }), ..Policy::default() }
}
