//! The doctor's own moves in short form: look, judge, draft, apply.

use super::labs::Lab;
use jobdoctor::history::RecordOptions;
use jobdoctor::model::{
    Action, Actor, Batch, BatchReport, Claim, End, EvidenceRow, Outcome, RunHead, Step, Target, Timestamp, Write,
};
use jobdoctor::ops::{ApplyOptions, Guard, Mode, cutoffs as cutoffs_of};
use jobdoctor::policy::{Delay, Draft, Override, Policy, Verdict, draft, judge};
use jobdoctor::preset::{Catalog, Expr, Jobs, Place, Preset, ResolveError, SpecError, resolve};
use jobdoctor::store::{Detail, Interrupt, Limits, Reader, Recorder, Store, StoreError, Wanted};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

pub const REASON: &str = "the test says so";

/// Keeps no record.
pub struct Unrecorded;

impl Recorder for Unrecorded {
    fn head(&self) -> Option<&RunHead> {
        None
    }

    fn intent(&mut self, _at: Timestamp, _steps: &[Step<End>]) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Limits that a test will not meet, but for the wait for a lock on the whole database, which is short.
pub fn limits() -> Limits {
    limits_waiting(Duration::from_millis(50))
}

pub fn limits_waiting(lock: Duration) -> Limits {
    Limits {
        deadline: Instant::now() + Duration::from_secs(600),
        connect: Duration::from_secs(60),
        lock,
        application_name: "jobdoctor conformance".to_owned(),
        for_writing: false,
        inspects: false,
        interrupt: Interrupt::default(),
    }
}

pub fn look(store: &dyn Store) -> Box<dyn Reader> {
    store.reader(&limits(), &[]).unwrap_or_else(|error| panic!("{}: {error}", store.label()))
}

/// The built-in presets: to read them all takes its time.
pub static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::built_in);

pub fn built_in(name: &str) -> Preset {
    CATALOG.find(name).unwrap().clone()
}

pub fn mapping(toml: &str) -> Preset {
    Preset::parse("the test's mapping", "mapping", toml).unwrap_or_else(|error| panic!("{error}"))
}

pub fn try_resolve(store: &dyn Store, preset: &Preset, place: &Place) -> Result<Jobs, SpecError> {
    let mut reader = look(store);
    let mut names = preset.table_names(store.engine(), &place.options);
    names.extend(place.table.clone());
    let live = reader.live_schema(&names).unwrap();
    match resolve(preset, &live, place, &[], &mut |sql| reader.ask(sql)) {
        Ok(views) => Ok(Jobs::clone(&views.claims)),
        Err(ResolveError::Spec(error)) => Err(error),
        Err(ResolveError::Ask(error)) => panic!("{error}"),
    }
}

pub fn fit(store: &dyn Store, preset: &Preset) -> Jobs {
    try_resolve(store, preset, &Place::default()).unwrap_or_else(|error| panic!("{error}"))
}

pub fn cutoffs(reader: &dyn Reader, policy: &Policy) -> Wanted {
    Wanted::Suspects(cutoffs_of(reader.now(), policy))
}

pub fn scan(store: &dyn Store, spec: &Jobs, wanted: &Wanted) -> Vec<Claim> {
    let mut claims = Vec::new();
    look(store)
        .scan(spec, wanted, Detail::ForAction, &mut |claim| claims.push(claim))
        .unwrap_or_else(|error| panic!("{error}"));
    claims
}

/// A lab's store, and the preset as it fits its tables.
pub fn fitted(lab: &(impl Lab + ?Sized), preset: &Preset) -> (Box<dyn Store>, Jobs) {
    let store = lab.store();
    let spec = fit(&*store, preset);
    (store, spec)
}

/// And the steps that a plain policy leads to.
pub fn planned(lab: &(impl Lab + ?Sized), preset: &Preset) -> (Box<dyn Store>, Jobs, Vec<Step>) {
    let (store, spec) = fitted(lab, preset);
    let steps = steps(&*store, &spec, &Policy::default());
    (store, spec, steps)
}

/// What came of one claim in flight, in words that are the same in every store; sorted by id.
pub fn verdicts(store: &dyn Store, spec: &Jobs, policy: &Policy) -> Vec<String> {
    let mut reader = look(store);
    let (now, wanted) = (reader.now(), cutoffs(&*reader, policy));
    let mut lines = Vec::new();
    let mut each = |claim: Claim| {
        let judgement = judge(spec, &claim, policy, now);
        if judgement.verdict == Verdict::Healthy {
            return;
        }
        let said = match &judgement.verdict {
            Verdict::Stuck(reasons) => {
                let rules: Vec<&str> = reasons.iter().map(|reason| reason.rule.name()).collect();
                format!("stuck by {}", rules.join(", "))
            }
            _ => "unknown".to_owned(),
        };
        let what = match draft(spec, &claim, &judgement, policy) {
            Draft::Step(step) => format!("{} to {}, attempts {:?}", step.action, step.state_after, step.attempts_after),
            Draft::Skipped(held) => format!("skipped: {:?}", held.reason),
        };
        let owner = claim.owner.as_ref().map(|owner| (owner.name.as_str(), owner.host.as_deref()));
        lines.push(format!(
            "{} {} {:?} {owner:?} {:?}: {said}; {what}",
            claim.key, claim.state, claim.queue, judgement.liveness
        ));
    };
    reader.scan(spec, &wanted, Detail::ForAction, &mut each).unwrap_or_else(|error| panic!("{error}"));
    lines.sort();
    lines
}

pub fn steps(store: &dyn Store, spec: &Jobs, policy: &Policy) -> Vec<Step> {
    steps_seen(&mut *look(store), spec, policy)
}

/// The same of a snapshot that has begun.
pub fn steps_seen(reader: &mut dyn Reader, spec: &Jobs, policy: &Policy) -> Vec<Step> {
    let (now, wanted) = (reader.now(), cutoffs(reader, policy));
    let mut steps = Vec::new();
    let mut each = |claim: Claim| {
        if let Draft::Step(step) = draft(spec, &claim, &judge(spec, &claim, policy, now), policy) {
            steps.push(*step);
        }
    };
    reader.scan(spec, &wanted, Detail::ForAction, &mut each).unwrap_or_else(|error| panic!("{error}"));
    steps.sort_by_key(|step| (step.key.to_string().len(), step.key.to_string()));
    steps
}

pub fn apply(store: &dyn Store, spec: &Jobs, steps: &[Step]) -> BatchReport<StoreError> {
    apply_within(store, spec, steps, &limits())
}

/// The same where each job may run again so much later than now.
pub fn apply_later(store: &dyn Store, spec: &Jobs, steps: &[Step], waits: &[Duration]) -> BatchReport<StoreError> {
    apply_batch(store, spec, steps, waits, &limits())
}

pub fn apply_within(store: &dyn Store, spec: &Jobs, steps: &[Step], limits: &Limits) -> BatchReport<StoreError> {
    apply_batch(store, spec, steps, &[], limits)
}

fn apply_batch(
    store: &dyn Store,
    spec: &Jobs,
    steps: &[Step],
    waits: &[Duration],
    limits: &Limits,
) -> BatchReport<StoreError> {
    let first = steps.first().expect("something to apply");
    let mut writer = store.writer(limits).unwrap_or_else(|error| panic!("{error}"));
    let batch = Batch { action: first.action, steps, reason: REASON, waits };
    let report = writer.apply(spec, &batch, &mut Unrecorded);
    assert_eq!(report.results.len(), steps.len(), "one result for each step, always");
    report
}

/// The outcomes of a batch that nothing stopped.
pub fn outcomes(report: &BatchReport<StoreError>) -> Vec<Outcome> {
    if let Some(error) = &report.stop {
        panic!("stopped: {error}");
    }
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    report.results.iter().map(|result| result.outcome).collect()
}

pub fn to(action: Action) -> Policy {
    Policy { to: Some(action), ..Policy::default() }
}

/// How a plan is applied that no guard holds up.
pub fn unguarded<'a>() -> ApplyOptions<'a> {
    ApplyOptions {
        schema: "jobdoctor.reclaim/v1",
        mode: Mode::Apply,
        guard: Guard { overridden: Some(Override::Target), ..Guard::default() },
        run_id: "RUN".to_owned(),
        later: Delay::default(),
        fast: false,
        sweep_lock: None,
        next: None,
        record: RecordOptions::default(),
    }
}

/// The head of a run that a recorder says it records.
pub fn a_run() -> RunHead {
    RunHead {
        run_id: "20261121181057-a1b2c3".to_owned(),
        store_time: Timestamp::from_micros(1).unwrap(),
        command: "reclaim".to_owned(),
        version: "0".to_owned(),
        actor: Actor::default(),
        host: None,
        reason: None,
        external_id: None,
        undoes: None,
        target: Target::default(),
        place: jobdoctor::model::Place::default(),
        columns: Vec::new(),
        digest: None,
        causes: Vec::new(),
        planned: None,
    }
}

/// The steps of a doctor that does not look at the owners' rows: a mutant.
pub fn forget_evidence(steps: &mut [Step]) {
    for step in steps {
        if let Write::Act { evidence_row, .. } = &mut step.stage {
            *evidence_row = EvidenceRow::None;
        }
    }
}

/// The column that a part of a precondition is; of an expression none.
pub fn column_of(part: &Expr) -> &str {
    match part {
        Expr::Column(column) => &column.name,
        Expr::Sql(_) => "",
    }
}

/// The queue of a doctor that does not compare that column: a mutant.
pub fn do_not_compare(spec: &mut Jobs, column: &str) {
    let before = spec.claim.precondition.len();
    spec.claim.precondition.retain(|part| column_of(part) != column);
    assert_eq!(spec.claim.precondition.len() + 1, before, "{column} is in the precondition once");
}
