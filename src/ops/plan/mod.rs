//! Plans: the steps that are due and the jobs that are skipped, as a value.

mod gauge;
mod scope;
mod source;
mod steps;
mod thresholds_used;
mod waiting;
mod warnings;

use super::OpsError;
use super::diagnosis::{Diagnosed, diagnosed};
use super::interrupted;
use super::passes::{Bound, STEPS};
use super::progress::Progress;
use super::scan::judged;
use super::selection::Selection;
use super::session::Snapshot;
use super::waiting::{self as waiting_side, StuckByQueue};
use crate::model::{Action, Claim, Key, Step, Target, Timestamp, WaitingSide};
use crate::output::{Filter, First, Job, SavedPlan, StepJob, Undoes, order};
use crate::policy::{Counted, Diagnoses, Digest, Draft, Gauge, Judgement, PlannedActions, Policy, draft};
use crate::preset::{QueueSpec, SpecError};
use crate::store::{Detail, Holders};
pub(in crate::ops) use gauge::Measured;
use gauge::measured;
pub(in crate::ops) use scope::is_writable;
pub use scope::{UnmatchedNames, unfit_for_target, unmatched_names};
use scope::{action_is_offered, claims_have_times, must_be_counted, scope_is_sound};
pub use source::PlanSource;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;
pub use steps::Spool;
pub(in crate::ops) use steps::{Part, SkippedJobs, Tally};
use thresholds_used::ThresholdsUsed;
pub use waiting::{plan_interrupted, plan_waiting};
pub(in crate::ops) use warnings::cascades;
use warnings::{final_actions, forecast, lost_before, run_time_warnings};

/// A plan: it can be printed, saved and executed. Nothing in it can write.
pub struct Plan {
    pub(in crate::ops) claims: Part,
    /// Steps on jobs that wait; only in a sweep.
    pub(in crate::ops) waiting: Vec<Part>,
    pub(in crate::ops) store_time: Timestamp,
    pub target: Target,
    pub(in crate::ops) filter: Filter,
    pub(in crate::ops) skipped: SkippedJobs,
    /// Claims in the whole queue.
    pub in_flight: u64,
    /// Jobs that were interrupted before the time that is asked for.
    pub(in crate::ops) older: Option<u64>,
    /// Jobs that are due and have no step in it, beyond `--limit` or the steps that a plan holds.
    pub(in crate::ops) beyond_limit: u64,
    /// How many claims of those an apply goes on to in later passes, and how many jobs that wait.
    pub(in crate::ops) later: u64,
    pub(in crate::ops) later_waiting: u64,
    /// The steps of the whole run: what a later pass finds besides belongs to another one.
    pub(in crate::ops) run: Digest,
    /// The steps of later passes, for a list that is whole.
    pub(in crate::ops) spool: Option<Spool>,
    /// Ids that were named and name no job.
    pub not_found: Vec<String>,
    /// Of the whole run, as the steps by action.
    pub(in crate::ops) digest: String,
    pub(in crate::ops) by_action: BTreeMap<Action, u64>,
    pub(in crate::ops) by_age: u64,
    pub(in crate::ops) warnings: Vec<String>,
    pub(in crate::ops) diagnosed: Diagnosed,
    pub(in crate::ops) policy: Policy,
    pub(in crate::ops) measured: Measured,
    pub(in crate::ops) progress: Rc<dyn Progress>,
    /// How long before its snapshot another one saw the same steps.
    pub(in crate::ops) confirmed_after: Option<Duration>,
    /// True if every action in it can be undone.
    pub(in crate::ops) undoable: bool,
    pub(in crate::ops) undoes: Option<Undoes>,
    /// Hosts that a restart sweep takes for dead, of which some owner still shows life.
    pub living_hosts: BTreeSet<String>,
}

/// A plan whose snapshot has ended. Only such a plan is executed: an open reader could keep a writer out on SQLite.
pub struct ReadyPlan(Plan);

impl ReadyPlan {
    pub(in crate::ops) fn into_plan(self) -> Plan {
        self.0
    }
}

impl std::ops::Deref for ReadyPlan {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.0
    }
}

impl std::ops::DerefMut for ReadyPlan {
    fn deref_mut(&mut self) -> &mut Plan {
        &mut self.0
    }
}

impl Plan {
    /// Ends the snapshot that the plan was made in.
    pub fn ready(self, snapshot: Snapshot) -> ReadyPlan {
        drop(snapshot);
        ReadyPlan(self)
    }

    pub fn len(&self) -> usize {
        self.parts().map(|part| part.steps.len()).sum()
    }

    /// How many steps are spooled.
    fn spooled(&self) -> usize {
        self.spool.as_ref().map_or(0, Spool::drafted)
    }

    pub(in crate::ops) fn len_of_waiting(&self) -> u64 {
        self.waiting.iter().map(|part| part.steps.len() as u64).sum()
    }

    /// All steps of an apply, those of later passes included.
    pub(in crate::ops) fn total(&self) -> u64 {
        self.len() as u64 + self.later + self.later_waiting
    }

    /// Its parts, in the order in which they are carried out.
    pub(in crate::ops) fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.claims).chain(&self.waiting)
    }

    pub(in crate::ops) fn take_jobs(&mut self) -> Vec<StepJob> {
        let parts = std::iter::once(&mut self.claims).chain(&mut self.waiting);
        parts.flat_map(|part| std::mem::take(&mut part.steps)).map(|(_, job)| job).collect()
    }

    /// Counts steps of the run.
    pub(in crate::ops) fn count(&mut self, tally: Tally) {
        let Tally { digest, by_action, by_age, .. } = tally.finish();
        self.by_age += by_age;
        self.run.append(digest);
        self.digest = self.run.hex(&self.claims.spec.mapping);
        by_action.into_iter().for_each(|(action, steps)| *self.by_action.entry(action).or_default() += steps);
    }

    /// Leaves what it has no room for to another run.
    pub fn alone(&mut self) {
        (self.later, self.later_waiting, self.spool) = (0, 0, None);
        (self.run, self.by_action, self.by_age) = (Digest::default(), BTreeMap::new(), 0);
        self.count(Tally::of(self.parts().flat_map(|part| &part.steps)));
    }

    /// The beginning of the digest, which is what people copy.
    pub fn short_digest(&self) -> &str {
        self.digest.get(..Digest::SHORT).unwrap_or(&self.digest)
    }

    /// True if the database is a standby, where nothing can be applied.
    pub fn is_of_standby(&self) -> bool {
        self.target.standby.is_some()
    }

    pub fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    pub fn has_skipped(&self) -> bool {
        self.skipped.len() > 0
    }

    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }
}

/// The claims that a later pass asks a server for at first: some were tried before.
const ASKED_FOR: u64 = STEPS as u64 / 4 * 5;

/// Drafts what to do about the selected claims. The dry run and the apply use the same plan.
pub fn plan(snapshot: &mut Snapshot, selection: &Selection, policy: &Policy) -> Result<Plan, OpsError> {
    if let Some(restart) = &policy.restart {
        scope_is_sound(snapshot, &restart.scope)?;
        claims_have_times(&snapshot.spec, restart)?;
    }
    action_is_offered(&snapshot.spec, policy)?;
    must_be_counted(snapshot, policy.max_stalls)?;
    let most = usize::try_from(selection.most_claims()).unwrap_or(usize::MAX);
    let most = if selection.is_by_name() { most } else { most.min(STEPS) };
    if selection.is_by_name() {
        let mut drafts = Drafts::on(&snapshot.spec, most, selection);
        selection.check(&snapshot.spec, policy)?;
        let found = snapshot.find(&selection.ids)?;
        let not_found = selection.without_job(&found);
        let found = found.into_iter().map(|found| (found.claim, found.in_flight)).collect();
        named(snapshot, selection, policy, &mut drafts, found, &|_, draft| draft);
        let plan = finish(snapshot, selection, policy, drafts, None, not_found)?;
        return Ok(Plan { in_flight: snapshot.reader.in_flight(&snapshot.spec)?, ..plan });
    }
    let mut gauge = Gauge::default();
    let spec = snapshot.spec.clone();
    let mut found = Diagnoses::new(&spec);
    let is_first = selection.bound.passes == 0;
    // Where all are done in the end, a later pass need not find the longest silent first.
    let is_any = !is_first && selection.limit.is_none() && selection.bound.in_any_order;
    let mut asked_for = is_any.then_some(ASKED_FOR);
    let with_due = selection.with_due && waiting_side::is_asked_for(selection);
    let (mut side, mut stuck) = (WaitingSide::default(), StuckByQueue::new());
    let (drafts, holders) = loop {
        let mut drafts = Drafts::on(&spec, most, selection);
        drafts.spool = snapshot.spool.take().filter(|_| is_first);
        let mut room = most.max(1);
        let mut each = |spec: &QueueSpec, claim: &Claim, judgement: Judgement, is_admitted: bool| {
            waiting_side::count(&mut stuck, claim, &judgement);
            // Of a later pass nothing is counted but what it does.
            let place = order(judgement.last_seen_at);
            if !is_first && !drafts.steps.wants(place) {
                return ControlFlow::Continue(());
            }
            let draft = is_admitted.then(|| draft(spec, claim, &judgement, policy));
            let action = draft.as_ref().and_then(Draft::step).map(|step| step.action);
            let would = if is_admitted { PlannedActions::of(action) } else { PlannedActions::default() };
            let counted = found.add(claim, &judgement, is_admitted, would);
            let is_step = draft.is_some_and(|draft| drafts.add(spec, claim, (&judgement, counted), policy, draft));
            if is_first {
                gauge.note(claim, &judgement, policy);
            }
            room -= usize::from(is_step && is_any);
            if room == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let scanned = judged(
            snapshot,
            selection,
            policy,
            Detail::ForAction,
            asked_for,
            with_due.then_some(&mut side),
            &mut each,
        )?;
        let holders = scanned.holders.unwrap_or_default();
        match &mut asked_for {
            // Most of them were tried before, or are skipped: a pass for each of the few between would take for ever.
            Some(claims) if *claims == holders.claims() && room > most / 2 => *claims *= 8,
            _ => break (drafts, holders),
        }
    };
    let plan = finish(snapshot, selection, policy, drafts, Some((gauge, &holders)), Vec::new())?;
    if !is_first {
        return Ok(plan);
    }
    // A restart sweep is told who is dead.
    let mut diagnosed = match policy.restart {
        None => diagnosed(snapshot, found, &holders)?,
        Some(_) => Diagnosed::default(),
    };
    if with_due {
        let (_, flows) = waiting_side::concluded(snapshot, side, &stuck, selection, policy);
        diagnosed.put_first(flows, snapshot.now());
    }
    let older = interrupted::older(snapshot, &holders)?;
    Ok(Plan { in_flight: holders.claims(), older, diagnosed, ..plan })
}

/// Drafts the jobs of a saved plan again. Steps that are equal to the saved ones stay; the rest is skipped, or not
/// found. `name` is what to call the file.
pub fn plan_again(
    snapshot: &mut Snapshot,
    name: &str,
    saved: &SavedPlan,
    bound: &Bound,
    policy: &Policy,
) -> Result<Plan, OpsError> {
    source::fits(name, saved, &snapshot.identified()?, &snapshot.spec.mapping)?;
    action_is_offered(&snapshot.spec, policy)?;
    must_be_counted(snapshot, policy.max_stalls)?;
    let ids = saved.steps.iter().map(|step| step.id.clone()).collect();
    let selection = Selection { ids, from_list: true, bound: bound.clone(), ..Selection::default() };
    selection.check(&snapshot.spec, policy)?;
    let mut drafts = Drafts::on(&snapshot.spec, usize::MAX, &selection);
    let keys: Vec<Key> = saved.steps.iter().map(|step| step.key.clone()).collect();
    let found = snapshot.find_keys(&keys)?;
    let known: BTreeSet<String> = found.iter().map(|(claim, _)| claim.key.exact()).collect();
    let not_found = keys.iter().filter(|key| !known.contains(&key.exact())).map(Key::to_string).collect();
    let then = saved.steps.iter().map(|step| (step.key.exact(), step)).collect();
    named(snapshot, &selection, policy, &mut drafts, found, &|key, draft| source::compared(&then, key, draft));
    let plan = finish(snapshot, &selection, policy, drafts, None, not_found)?;
    Ok(Plan { in_flight: snapshot.reader.in_flight(&snapshot.spec)?, ..plan })
}

/// Sorts the drafts, measures for the brake and collects the warnings. What is in flight in all is still to be counted.
fn finish(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    mut drafts: Drafts,
    counted: Option<(Gauge, &Holders)>,
    not_found: Vec<String>,
) -> Result<Plan, OpsError> {
    drafts.end()?;
    let Drafts { spec, steps, skipped, tally, mut spool, thresholds_used, troubled, living_hosts, .. } = drafts;
    let (steps, beyond_limit) = steps.finish();
    let all = match selection.bound.left {
        None => steps.len() as u64 + beyond_limit,
        // Those that are left recovered meanwhile, unless this pass has steps.
        Some(_) if steps.is_empty() => 0,
        Some((left, _)) => left,
    };
    let later = all.min(selection.most_claims()).saturating_sub(steps.len() as u64);
    spool.iter_mut().for_each(|spool| spool.limit(0, later));
    let mut part = Part { spec, steps };
    let tally = tally.unwrap_or_default().finish();
    let lost_before = lost_before(&part.steps, policy);
    let final_actions = final_actions(&snapshot.spec, tally.by_action.keys());
    let mut measured = Measured::default();
    let mut warnings: Vec<String> = Vec::new();
    // What the brake asks and people read is asked and said once in a run.
    if selection.bound.passes == 0 {
        let forecast = forecast(snapshot, policy, &mut part)?;
        measured = self::measured(snapshot, policy, counted, part.steps.len() as u64 + later, &thresholds_used)?;
        warnings.extend(snapshot.spec.ignored.values().cloned());
        if !part.steps.is_empty() {
            warnings.extend(self::warnings::warnings(&snapshot.spec, policy, &thresholds_used, troubled));
        }
        warnings.extend(run_time_warnings(snapshot, policy, &thresholds_used));
        warnings.extend(lost_before);
        warnings.extend(forecast);
        warnings.extend(final_actions.iter().cloned());
        warnings.extend(cascades(snapshot, tally.by_action.keys(), false)?);
    }
    let mut plan = Plan {
        claims: part,
        waiting: Vec::new(),
        store_time: snapshot.now(),
        target: snapshot.identified()?,
        filter: selection.filter(policy),
        skipped,
        in_flight: 0,
        older: None,
        beyond_limit,
        later,
        later_waiting: 0,
        run: Digest::default(),
        spool,
        not_found,
        digest: String::new(),
        by_action: BTreeMap::new(),
        by_age: 0,
        warnings,
        diagnosed: Diagnosed::default(),
        policy: policy.clone(),
        measured,
        progress: snapshot.progress.clone(),
        confirmed_after: None,
        undoable: final_actions.is_empty(),
        undoes: None,
        living_hosts,
    };
    plan.count(tally);
    Ok(plan)
}

/// Drafts named jobs that were found. `last_word` may still skip a step.
fn named(
    snapshot: &Snapshot,
    selection: &Selection,
    policy: &Policy,
    drafts: &mut Drafts,
    found: Vec<(Claim, bool)>,
    last_word: &dyn Fn(&Key, Draft) -> Draft,
) {
    for (claim, in_flight) in found.iter().filter(|(claim, _)| selection.admits(claim)) {
        let (judgement, draft) = snapshot.drafted(claim, *in_flight, policy);
        let counted = Counted::Alone;
        drafts.add(&snapshot.spec, claim, (&judgement, counted), policy, last_word(&claim.key, draft));
    }
}

struct Drafts<'a> {
    spec: QueueSpec,
    steps: First<(Step, StepJob)>,
    skipped: SkippedJobs,
    /// Which jobs may have a step.
    bound: &'a Bound,
    /// The steps of the whole run; `None` in a later pass of it.
    tally: Option<Tally>,
    /// Takes the steps for which there is no room.
    spool: Option<Spool>,
    thresholds_used: ThresholdsUsed,
    /// True if a step rests on trouble alone.
    troubled: bool,
    living_hosts: BTreeSet<String>,
    /// The first step that would leave its job elsewhere than it says.
    astray: Option<SpecError>,
}

impl Drafts<'_> {
    /// Drafts for that queue, none yet, of which the first `most` steps are kept.
    fn on<'a>(spec: &QueueSpec, most: usize, selection: &'a Selection) -> Drafts<'a> {
        let bound = &selection.bound;
        Drafts {
            spec: spec.clone(),
            steps: First::of(most),
            skipped: SkippedJobs::default(),
            bound,
            tally: bound.only.is_none().then(|| Tally::limited(selection.limit)),
            spool: None,
            thresholds_used: ThresholdsUsed::default(),
            troubled: false,
            living_hosts: BTreeSet::new(),
            astray: None,
        }
    }

    /// Takes in a draft; true for a step that may be among those of the plan.
    fn add(
        &mut self,
        spec: &QueueSpec,
        claim: &Claim,
        (judgement, counted): (&Judgement, Counted),
        policy: &Policy,
        draft: Draft,
    ) -> bool {
        let place = order(judgement.last_seen_at);
        let job = |step: Option<&Step>| Job { counted, ..Job::of(spec, claim, policy, judgement, step) };
        match draft {
            Draft::Skipped(_) if self.bound.confirmed.contains(&claim.key.exact()) => {}
            Draft::Skipped(why) => self.skipped.add(place, why, || job(None)),
            Draft::Step(step) if self.bound.admits(spec, claim, &step) => {
                if let Some(action) = spec.actions.get(&step.action).filter(|_| claim.astray.contains(&step.action)) {
                    self.astray.get_or_insert_with(|| action.at.error(action.astray(Some(&step.id))));
                }
                self.tally.iter_mut().for_each(|tally| tally.add(place, &step));
                self.thresholds_used.add(claim, judgement);
                self.troubled |= !judgement.verdict.is_death();
                let host = claim.owner.as_ref().and_then(|owner| owner.host.as_ref());
                self.living_hosts.extend(host.filter(|_| judgement.is_declared_dead).cloned());
                let job = |step: &Step| StepJob::of(step, job(Some(step)));
                if let Some(spool) = self.spool.as_mut().filter(|_| !self.steps.wants(place)) {
                    spool.draft(&step, job(&step));
                }
                let others = self.steps.displace(place, || {
                    let job = job(&step);
                    (*step, job)
                });
                self.spool(others);
                return true;
            }
            Draft::Step(_) => {}
        }
        false
    }

    /// Spools the steps for which there is no room, once all are drafted, unless one leads elsewhere than it says.
    fn end(&mut self) -> Result<(), SpecError> {
        let others = self.steps.shrink();
        self.spool(others);
        self.astray.take().map_or(Ok(()), Err)
    }

    fn spool(&mut self, others: Vec<(i64, Box<(Step, StepJob)>)>) {
        let Some(spool) = &mut self.spool else { return };
        for (_, other) in others {
            let (step, job) = *other;
            spool.draft(&step, job);
        }
    }
}
