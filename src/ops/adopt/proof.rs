//! What a draft does, seen through it exactly as through a mapping of the config file.

use crate::history::RecordOptions;
use crate::model::{Action, Outcome};
use crate::ops::plan::plan;
use crate::ops::reclaim::reclaim;
use crate::ops::selection::Selection;
use crate::ops::session::Session;
use crate::ops::{ApplyOptions, Guard, Mode, OpsError, check, stale};
use crate::output::{Adopt, CheckFinding, Collector, Proof, Severity, WhySkipped};
use crate::policy::{Delay, Policy};
use crate::preset::{Catalog, Node, Place, Preset, SpecError};
use crate::store::{Limits, Store};

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
    let session = Session { preset: Some(&draft.name), ..Session::of(store, &catalog, &place, limits) };
    let mut snapshot = session.snapshot()?;
    let found =
        stale(&mut snapshot, &Selection::default(), &Policy::default(), Collector::first(1), &mut |_, _| false)?;
    let mut findings = check(&mut snapshot, &[], &[], false)?.document.findings;
    findings.retain(|finding| finding.severity != Severity::Ok);
    let actions: Vec<Action> = snapshot.jobs.actions.keys().copied().collect();
    // A reader's snapshot must not stay open while writing: on SQLite it could keep the writer out.
    drop(snapshot);
    if let Some(dry_run) = dry_run {
        if dry_run.read_only.is_none() {
            store.recover(dry_run.limits)?;
        }
        let job = found.jobs.items().first().map(|job| job.id.as_str());
        for action in actions {
            let (severity, detail) = match job {
                Some(job) => tried(&session, dry_run, action, job)?,
                None => (Severity::Warning, "the table has no stuck job to try it on".to_owned()),
            };
            let fix =
                (severity == Severity::Error).then(|| "settle what it sets back with action.requeue.clear".to_owned());
            let detail = format!("{} of {}: {detail}", action.name(), job.unwrap_or("no job"));
            findings.push(CheckFinding { id: "dry_run".to_owned(), severity, detail, fix, count_seconds: None });
        }
    }
    let summary = &found.summary;
    Ok(Proof {
        in_flight: summary.in_flight,
        alive: summary.in_flight.saturating_sub(summary.stuck + summary.unknown),
        stuck: summary.stuck,
        unknown: summary.unknown,
        findings,
    })
}

/// Tries an action on a stuck job in a transaction that is rolled back.
fn tried(
    session: &Session<'_>,
    dry_run: &DryRun<'_>,
    action: Action,
    job: &str,
) -> Result<(Severity, String), OpsError> {
    let mut snapshot = session.snapshot()?;
    let selection = Selection { ids: vec![job.to_owned()], ..Selection::default() };
    let plan = plan(&mut snapshot, &selection, &Policy { to: Some(action), ..Policy::default() })?;
    let (is_standby, plan) = (plan.is_of_standby(), plan.ready(snapshot));
    let order = ApplyOptions {
        schema: "jobdoctor.reclaim/v1",
        mode: Mode::ServerDryRun,
        guard: Guard { read_only: dry_run.read_only, is_standby, ..Guard::default() },
        run_id: "adopt".to_owned(),
        later: Delay::default(),
        fast: true,
        sweep_lock: None,
        record: RecordOptions { command: "reclaim", ..RecordOptions::default() },
        next: None,
    };
    let done = reclaim(session.store, dry_run.limits, plan, &order)?.document;
    if let Some(why) = done.head.refused {
        return Ok((Severity::Warning, why));
    }
    Ok(match done.steps.items.into_iter().next() {
        Some(step) if step.outcome == Some(Outcome::Moved) => {
            (Severity::Ok, format!("it would be {} and no longer in flight; rolled back", step.state_after))
        }
        Some(step) => {
            let outcome = step.outcome.unwrap_or(Outcome::NotTried).name();
            (Severity::Error, step.error.map_or_else(|| outcome.to_owned(), |error| error.message))
        }
        None => {
            let why = done.skipped.last().map(|skipped| WhySkipped::from(&skipped.skipped).detail);
            (Severity::Warning, why.unwrap_or_else(|| "it was not planned".to_owned()))
        }
    })
}
