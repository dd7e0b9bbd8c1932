//! What a draft does, seen through it exactly as through a mapping of the config file.

use crate::history::{Keep, RecordOptions};
use crate::model::{Action, Actor, Outcome};
use crate::ops::plan::plan;
use crate::ops::reclaim::reclaim;
use crate::ops::selection::Selection;
use crate::ops::session::Session;
use crate::ops::{ApplyOptions, Guard, Mode, OpsError, check, stale};
use crate::output::{Adopt, Collector, Job, Proof, Severity, SkippedJob, Tried, WhySkipped};
use crate::policy::{Delay, Policy};
use crate::preset::{Catalog, Node, Place, Preset, SpecError};
use crate::store::{Limits, Store};

const SHOWN: usize = 5;
/// What messages call the draft.
const DOCUMENT: &str = "draft";

/// How each action is tried on one real row.
pub struct DryRun<'a> {
    pub limits: &'a Limits,
    /// Why nothing may be written there, not even to be rolled back: the target that is read-only.
    pub read_only: Option<&'a str>,
}

/// Looks at the queue through a complete draft: what `check` says of it, what is in flight and alive, and with a dry
/// run what each action would do to one row.
pub fn prove(
    store: &dyn Store,
    limits: &Limits,
    draft: &Adopt,
    dry_run: Option<&DryRun<'_>>,
) -> Result<Proof, OpsError> {
    let node = Node::parse(DOCUMENT, &draft.toml)?;
    let mapping = node.get("mapping").and_then(|mappings| mappings.get(&draft.name)).cloned();
    let mapping = mapping.ok_or_else(|| SpecError::whole(DOCUMENT, "holds no mapping"))?;
    let mut catalog = Catalog::default();
    catalog.add(Preset::of(DOCUMENT, &draft.name, mapping)?)?;
    let place = Place::default();
    let session =
        |limits| Session { store, catalog: &catalog, preset: Some(&draft.name), place: &place, limits, target: None };
    let mut snapshot = session(limits).snapshot()?;
    let policy = Policy::default();
    let found = stale(&mut snapshot, &Selection::default(), &policy, Collector::first(SHOWN), &mut |_| false)?;
    let jobs = found.jobs.items().to_vec();
    let checked = check(&mut snapshot, &[], &[], false)?;
    let actions: Vec<Action> = snapshot.spec.actions.keys().copied().collect();
    // A reader's snapshot must not stay open while writing: on SQLite it could keep the writer out.
    drop(snapshot);
    let mut tried = Vec::new();
    if let Some(dry_run) = dry_run {
        if dry_run.read_only.is_none() {
            store.recover(dry_run.limits)?;
        }
        for action in actions {
            tried.push(tried_on_one(&session(limits), dry_run, action, jobs.first())?);
        }
    }
    let summary = &found.summary;
    Ok(Proof {
        fit: checked.is_fit,
        in_flight: summary.in_flight,
        alive: summary.in_flight.saturating_sub(summary.stuck + summary.unknown),
        stuck: summary.stuck,
        unknown: summary.unknown,
        jobs,
        findings: checked.document.findings.into_iter().filter(|finding| finding.severity != Severity::Ok).collect(),
        tried,
    })
}

/// Tries an action on a stuck job in a transaction that is rolled back.
fn tried_on_one(
    session: &Session<'_>,
    dry_run: &DryRun<'_>,
    action: Action,
    job: Option<&Job>,
) -> Result<Tried, OpsError> {
    let name = action.name().to_owned();
    let Some(job) = job else {
        let detail = "the table has no stuck job to try it on".to_owned();
        return Ok(Tried { action: name, id: None, ok: None, detail });
    };
    let mut snapshot = session.snapshot()?;
    let selection = Selection { ids: vec![job.id.clone()], ..Selection::default() };
    let policy = Policy { to: Some(action), ..Policy::default() };
    let plan = plan(&mut snapshot, &selection, &policy)?;
    let (is_standby, plan) = (plan.is_of_standby(), plan.ready(snapshot));
    let order = ApplyOptions {
        schema: "jobdoctor.reclaim/v1",
        mode: Mode::ServerDryRun,
        guard: Guard { read_only: dry_run.read_only, is_standby, ..Guard::default() },
        run_id: "adopt".to_owned(),
        later: Delay::default(),
        fast: true,
        sweep_lock: None,
        record: RecordOptions {
            command: "reclaim",
            actor: Actor::default(),
            host: None,
            reason: None,
            keep: Keep::Off,
            directory: None,
        },
        next: None,
    };
    let done = reclaim(session.store, dry_run.limits, plan, &order)?;
    let mut tried = Tried { action: name, id: Some(job.id.clone()), ok: None, detail: "it was not planned".to_owned() };
    if let Some(why) = &done.document.head.refused {
        tried.detail.clone_from(why);
        return Ok(tried);
    }
    for step in &done.document.steps {
        tried.ok = step.outcome.map(|outcome| outcome == Outcome::Moved);
        tried.detail = match (step.outcome, &step.error) {
            (Some(Outcome::Moved), _) => {
                format!("it would be {} and no longer in flight; rolled back", step.state_after)
            }
            (_, Some(error)) => error.message.clone(),
            (Some(outcome), None) => outcome.name().to_owned(),
            (None, None) => "not tried".to_owned(),
        };
    }
    if let Some(SkippedJob { skipped, .. }) = done.document.skipped.last() {
        tried.detail = WhySkipped::from(skipped).detail;
    }
    Ok(tried)
}
