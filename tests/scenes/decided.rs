//! What a rule, the operator or a unique key ended is interrupted in no preset, whatever its attempts; what a death failed may be.

use super::database::nothing_is_wrong;
use super::play::{catalog, set_up};
use super::refused::{place, policy, snapshot};
use super::{Stage, by_age};
use crate::support::dice::one_in;
use crate::support::doctor::{limits, unguarded};
use jobdoctor::model::Action;
use jobdoctor::ops::{self, ApplyOptions, Selection, Session};
use jobdoctor::policy::{Policy, Rule};
use jobdoctor::preset::Place;
use jobdoctor::store::{Detail, Store, Wanted, open};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use strum::IntoEnumIterator;

/// What ends the jobs of a scene.
type Decision = (&'static str, &'static str, fn(&mut Policy));

const DECISIONS: [Decision; 5] = [
    ("exhausted", "a death", |_| {}),
    ("exhausted", "--to fail", |policy| policy.to = Some(Action::Fail)),
    ("exhausted", "--to cancel", |policy| policy.to = Some(Action::Cancel)),
    ("exhausted", "a rule", |policy| policy.actions = Rule::iter().map(|rule| (rule, Action::Fail)).collect()),
    ("unique-twin-waiting", "a unique key", |policy| policy.fails_refused = true),
];

#[test]
fn what_is_ended_by_decision_is_interrupted_in_no_preset() {
    let ended = Mutex::new(BTreeMap::<(String, &str), (u64, u64)>::new());
    let (newest, older) = by_age();
    let stages: Vec<Stage> = newest.into_iter().chain(one_in(6, older)).collect();
    nothing_is_wrong(&stages, |databases, stage| {
        let mut wrong = Vec::new();
        for (name, decision, decide) in DECISIONS {
            for scene in stage.scenes.iter().filter(|scene| scene.name == name) {
                let mut database = databases.with(stage);
                set_up(&mut *database, scene);
                let store = open(&database.address());
                let (place, limits) = (place(scene), limits());
                let mut look = snapshot(&*store, stage, &place, &limits);
                if !look.views.tells_interrupted {
                    return wrong;
                }
                let mut policy = policy(scene, false);
                decide(&mut policy);
                let before = interrupted(&*store, stage, &place);
                let Ok(plan) = ops::plan(&mut look, &Selection::default(), &policy) else { continue };
                let order = ApplyOptions { schema: "jobdoctor.sweep/v1", ..unguarded() };
                let done = ops::reclaim(&*store, &limits, plan.ready(look), &order).unwrap().document;
                let document = serde_json::to_value(&done).unwrap();
                let moved = document["steps"].as_array().unwrap().iter().filter(|step| step["outcome"] == "moved");
                let ids = moved.filter(|step| {
                    step["action"] != "requeue" && (decision != "a unique key" || !step["error"].is_null())
                });
                let ids: BTreeSet<String> = ids.map(|step| step["id"].as_str().unwrap().to_owned()).collect();
                let mut listed: Vec<String> =
                    interrupted(&*store, stage, &place).difference(&before).cloned().collect();
                if decision == "a unique key" {
                    listed.retain(|id| ids.contains(id));
                }
                let mut ended = ended.lock().unwrap();
                let counts = ended.entry((stage.queue.clone(), decision)).or_default();
                *counts = (counts.0 + ids.len() as u64, counts.1 + listed.len() as u64);
                // It has no room to tell, and says so.
                let cannot_tell = stage.queue == "n8n";
                if decision != "a death" && !cannot_tell && !listed.is_empty() {
                    wrong.push(format!("{stage}, {}: ended by {decision}, and interrupted: {listed:?}", scene.name));
                }
            }
        }
        wrong
    });
    let ended = ended.into_inner().unwrap();
    let count = |queue: &str, decision| ended.get(&(queue.to_owned(), decision)).copied().unwrap_or_default();
    for queue in ["chancy", "good-job", "laravel", "oban", "pg-boss", "river", "solid-queue"] {
        for decision in ["--to fail", "a rule"] {
            assert!(count(queue, decision).0 > 0, "{queue}: nothing is ended by {decision}");
        }
    }
    let keys = ["oban", "pg-boss", "river"].map(|queue| count(queue, "a unique key").0);
    assert!(keys.iter().sum::<u64>() > 0, "no fail in the place of a requeue");
    assert!(count("procrastinate", "--to cancel").0 > 0);
    assert!(count("oban", "a death").1 > 0, "a loss is no longer told");
}

fn interrupted(store: &dyn Store, stage: &Stage, place: &Place) -> BTreeSet<String> {
    let limits = limits();
    let session = Session::of(store, catalog(&stage.queue), place, &limits);
    let mut look = session.snapshot_of_interrupted().unwrap_or_else(|error| panic!("{stage}: {error}"));
    let (spec, mut keys) = (look.jobs.clone(), BTreeSet::new());
    let mut each = |claim: jobdoctor::model::Claim| _ = keys.insert(claim.key.to_string());
    look.reader.scan(&spec, &Wanted::All, Detail::ForAction, &mut each).unwrap();
    keys
}
