//! Plans: the steps that are due and the jobs that are skipped, as a value.

mod drafts;
mod gauge;
mod parts;
mod scope;
mod source;
mod steps;
mod thresholds_used;
mod warnings;

use super::OpsError;
use super::diagnosis::Diagnosed;
use super::interrupted;
use super::passes::{Bound, STEPS};
use super::progress::Progress;
use super::selection::Selection;
use super::session::Snapshot;
use super::spool::Spool;
use super::survey::{Survey, Surveyed};
use super::waiting as waiting_side;
use crate::model::{Action, Claim, Key, Step, Target, Timestamp};
use crate::output::{Filter, SavedPlan, StepJob, Undoes};
use crate::policy::{Digest, Draft, Gauge, Measured, Policy};
use crate::preset::Jobs;
use crate::store::{Detail, Holders, printed};
use drafts::Drafts;
use gauge::measured;
use scope::require_sound_scope;
pub(in crate::ops) use scope::require_writable;
pub use scope::{UnmatchedNames, unfit_for_target, unmatched_names};
pub use source::PlanSource;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
pub(in crate::ops) use steps::{Part, SkippedJobs, Tally};
pub(in crate::ops) use warnings::cascades;
use warnings::{final_actions, forecast, lost_before, run_time_warnings};

/// A plan: it can be printed, saved and executed. Nothing in it can write.
pub struct Plan {
    /// What it is about: claims, or jobs that were interrupted.
    pub(in crate::ops) jobs: Arc<Jobs>,
    /// The steps on these, and in a sweep those on jobs that waited too long or were interrupted, in the order in which they
    /// are carried out.
    pub(in crate::ops) parts: Vec<Part>,
    pub(in crate::ops) store_time: Timestamp,
    pub target: Target,
    pub(in crate::ops) filter: Filter,
    pub(in crate::ops) skipped: SkippedJobs,
    /// Claims in the whole queue.
    pub in_flight: u64,
    /// Jobs that were interrupted before the time that is asked for.
    pub(in crate::ops) older: Option<u64>,
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
    /// Why none of the interrupted jobs that were asked for is brought back, if so.
    pub refused_interrupted: Option<String>,
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

    /// A plan of that snapshot without steps.
    pub(in crate::ops) fn empty(
        snapshot: &mut Snapshot,
        selection: &Selection,
        policy: &Policy,
    ) -> Result<Plan, OpsError> {
        Ok(Plan {
            jobs: snapshot.jobs.clone(),
            parts: Vec::new(),
            store_time: snapshot.now(),
            target: snapshot.identified()?,
            filter: selection.filter(policy),
            skipped: SkippedJobs::default(),
            in_flight: 0,
            older: None,
            run: Digest::default(),
            spool: snapshot.spool.take(),
            not_found: Vec::new(),
            digest: String::new(),
            by_action: BTreeMap::new(),
            by_age: 0,
            warnings: Vec::new(),
            diagnosed: Diagnosed::default(),
            policy: policy.clone(),
            measured: Measured::default(),
            progress: snapshot.progress.clone(),
            confirmed_after: None,
            undoable: true,
            undoes: None,
            refused_interrupted: None,
            living_hosts: BTreeSet::new(),
        })
    }

    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.steps.len()).sum()
    }

    fn spooled(&self) -> usize {
        self.spool.as_ref().map_or(0, Spool::drafted)
    }

    /// All steps of an apply, those of later passes included.
    pub(in crate::ops) fn total(&self) -> u64 {
        self.parts.iter().map(Part::total).sum()
    }

    /// Those on the jobs that it is about: the brake asks for them.
    pub(in crate::ops) fn own_steps(&self) -> u64 {
        self.parts.first().map_or(0, Part::total)
    }

    /// Jobs that are due and have no step in it, beyond `--limit` or the steps that a plan holds.
    pub(in crate::ops) fn beyond_limit(&self) -> u64 {
        self.parts.iter().map(|part| part.beyond).sum()
    }

    pub(in crate::ops) fn steps(&self) -> impl Iterator<Item = &(Step, StepJob)> {
        self.parts.iter().flat_map(|part| &part.steps)
    }

    /// The statements of each of its actions, with the names of their parameters; none of an undo, which restores rows.
    pub fn statements(&self) -> impl Iterator<Item = (Action, Vec<String>)> {
        self.parts.iter().filter(|_| self.undoes.is_none()).flat_map(|part| {
            let actions: BTreeSet<Action> = part.steps.iter().map(|(step, _)| step.action).collect();
            actions.into_iter().map(|action| (action, printed(&part.jobs, action)))
        })
    }

    pub(in crate::ops) fn take_jobs(&mut self) -> Vec<StepJob> {
        let steps = self.parts.iter_mut().flat_map(|part| std::mem::take(&mut part.steps));
        steps.map(|(_, job)| job).collect()
    }

    /// Counts steps of the run.
    pub(in crate::ops) fn count(&mut self, tally: Tally) {
        let Tally { digest, by_action, by_age, .. } = tally.finish();
        self.by_age += by_age;
        self.run.append(digest);
        self.digest = self.run.hex(&self.jobs.queue.mapping);
        by_action.into_iter().for_each(|(action, steps)| *self.by_action.entry(action).or_default() += steps);
    }

    /// Leaves what it has no room for to another run.
    pub fn alone(&mut self) {
        self.parts.iter_mut().for_each(|part| part.later = 0);
        (self.spool, self.run, self.by_action, self.by_age) = (None, Digest::default(), BTreeMap::new(), 0);
        self.count(Tally::of(self.steps()));
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

/// Drafts what to do about the selected jobs. The dry run and the apply use the same plan.
pub fn plan(snapshot: &mut Snapshot, selection: &Selection, policy: &Policy) -> Result<Plan, OpsError> {
    require_sound_scope(snapshot, policy)?;
    let jobs = snapshot.jobs.clone();
    selection.check(&jobs, policy)?;
    let mut plan = Plan::empty(snapshot, selection, policy)?;
    if selection.is_by_name() {
        let most = usize::try_from(selection.most()).unwrap_or(usize::MAX);
        let mut drafts = Drafts::on(&jobs, most, selection, policy);
        let found = snapshot.find(&jobs, &selection.ids)?;
        plan.not_found = selection.without_job(&found);
        let found = found.into_iter().map(|found| (found.claim, found.in_flight)).collect();
        named(snapshot, &mut drafts, found, &|_, draft| draft);
        plan.take(snapshot, drafts, None)?;
        plan.in_flight = snapshot.reader.in_flight(&jobs)?;
        return Ok(plan);
    }
    plan.add_claims(snapshot, selection)?;
    parts::add_others(&mut plan, snapshot, selection)?;
    Ok(plan)
}

/// Drafts the jobs of a saved plan again. Steps that are equal to the saved ones stay; the rest is skipped, or not
/// found.
fn plan_again(snapshot: &mut Snapshot, saved: &SavedPlan, bound: &Bound, policy: &Policy) -> Result<Plan, OpsError> {
    let jobs = snapshot.jobs.clone();
    require_sound_scope(snapshot, policy)?;
    let ids = saved.steps.iter().map(|step| step.id.clone()).collect();
    let selection = Selection { ids, from_list: true, bound: bound.clone(), ..Selection::default() };
    selection.check(&jobs, policy)?;
    let mut plan = Plan::empty(snapshot, &selection, policy)?;
    let mut drafts = Drafts::on(&jobs, usize::MAX, &selection, policy);
    let keys: Vec<Key> = saved.steps.iter().map(|step| step.key.clone()).collect();
    let found = snapshot.find_keys(&jobs, &keys)?;
    let known: BTreeSet<String> = found.iter().map(|(claim, _)| claim.key.exact()).collect();
    plan.not_found = keys.iter().filter(|key| !known.contains(&key.exact())).map(Key::to_string).collect();
    let then = saved.steps.iter().map(|step| (step.key.exact(), step)).collect();
    named(snapshot, &mut drafts, found, &|key, draft| source::compared(&then, key, draft));
    plan.take(snapshot, drafts, None)?;
    plan.in_flight = snapshot.reader.in_flight(&jobs)?;
    Ok(plan)
}

/// The claims that a later pass asks a server for at first: some were tried before.
const ASKED_FOR: u64 = STEPS as u64 / 4 * 5;

impl Plan {
    /// Adds the steps on the jobs that it is about, from a pass over all of them.
    fn add_claims(&mut self, snapshot: &mut Snapshot, selection: &Selection) -> Result<(), OpsError> {
        let (jobs, policy) = (self.jobs.clone(), self.policy.clone());
        let most = usize::try_from(selection.most()).unwrap_or(usize::MAX).min(STEPS);
        let is_first = selection.bound.passes == 0;
        // Where all are done in the end, a later pass need not find the longest silent first.
        let is_any = !is_first && selection.limit.is_none() && selection.bound.in_any_order;
        let mut asked_for = is_any.then_some(ASKED_FOR);
        let with_waiting = selection.with_due && waiting_side::is_asked_for(selection);
        let mut gauge = Gauge::default();
        let (drafts, mut seen) = loop {
            let mut drafts = Drafts::on(&jobs, most, selection, &policy);
            drafts.spool = self.spool.take().filter(|_| is_first);
            let mut room = most.max(1);
            let survey = Survey {
                detail: Detail::ForAction,
                with_waiting,
                most: asked_for,
                ..Survey::of(&jobs, selection, &policy)
            };
            let seen = survey.run(snapshot, &mut |surveyed| {
                // The brake is asked once in a run.
                if is_first {
                    gauge.note(surveyed.claim, &surveyed.judgement, &policy);
                }
                let is_step = drafts.add(surveyed);
                room -= usize::from(is_step && is_any);
                if room == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            match &mut asked_for {
                // Most of them were tried before, or are skipped: a pass for each of the few between would take for ever.
                Some(claims) if *claims == seen.claims() && room > most / 2 => *claims *= 8,
                _ => break (drafts, seen),
            }
        };
        let waiting = seen.waiting(snapshot);
        let diagnosed = match policy.restart {
            // The operator of a restart sweep says who is dead.
            None if is_first => seen.causes(snapshot)?,
            _ => Diagnosed::default(),
        };
        let holders = seen.holders.unwrap_or_default();
        self.take(snapshot, drafts, Some((gauge, &holders)))?;
        if is_first {
            self.diagnosed = match waiting {
                Some((_, flows)) => diagnosed.with_flows(flows, snapshot.now()),
                None => diagnosed,
            };
            (self.in_flight, self.older) = (holders.claims(), interrupted::older(snapshot, &jobs, &holders)?);
        }
        Ok(())
    }

    /// Takes in the drafts about the jobs that it is about: sorts them, measures for the brake and collects the warnings.
    fn take(
        &mut self,
        snapshot: &mut Snapshot,
        mut drafts: Drafts,
        counted: Option<(Gauge, &Holders)>,
    ) -> Result<(), OpsError> {
        drafts.end()?;
        let Drafts { jobs, selection, steps, skipped, tally, mut spool, thresholds_used, troubled, .. } = drafts;
        let (steps, beyond) = steps.finish();
        let all = match selection.bound.left(0) {
            None => steps.len() as u64 + beyond,
            // Those that are left recovered meanwhile, unless this pass has steps.
            Some(_) if steps.is_empty() => 0,
            Some(left) => left,
        };
        let later = all.min(selection.most()).saturating_sub(steps.len() as u64);
        spool.iter_mut().for_each(|spool| spool.limit(0, later));
        let mut part = Part { jobs: jobs.clone(), policy: self.policy.clone(), steps, later, beyond };
        let tally = tally.unwrap_or_default().finish();
        let final_actions = final_actions(&jobs, tally.by_action.keys());
        // What the brake asks and people read is asked and said once in a run.
        if selection.bound.passes == 0 {
            let policy = &self.policy;
            let forecast = forecast(snapshot, policy, &mut part)?;
            self.measured = measured(snapshot, &part, counted, &thresholds_used)?;
            self.warnings.extend(jobs.queue.ignored.values().cloned());
            if !part.steps.is_empty() {
                self.warnings.extend(warnings::warnings(&jobs, policy, &thresholds_used, troubled));
            }
            self.warnings.extend(run_time_warnings(snapshot, policy, &thresholds_used));
            self.warnings.extend(lost_before(&part.steps, policy));
            self.warnings.extend(forecast);
            self.warnings.extend(final_actions.iter().cloned());
            self.warnings.extend(cascades(snapshot, &jobs, tally.by_action.keys(), false)?);
        }
        self.parts.push(part);
        self.undoable = final_actions.is_empty();
        (self.skipped, self.spool, self.living_hosts) = (skipped, spool, drafts.living_hosts);
        self.count(tally);
        Ok(())
    }
}

/// Drafts named jobs that were found. `last_word` may still skip a step.
fn named(
    snapshot: &Snapshot,
    drafts: &mut Drafts,
    found: Vec<(Claim, bool)>,
    last_word: &dyn Fn(&Key, Draft) -> Draft,
) {
    let (selection, policy) = (drafts.selection, drafts.policy);
    for (claim, in_flight) in found.iter().filter(|(claim, _)| selection.admits(claim)) {
        let (judgement, draft) = snapshot.drafted(&drafts.jobs, claim, *in_flight, policy);
        let draft = Some(last_word(&claim.key, draft));
        drafts.add(Surveyed { claim, judgement, draft, group: None, is_selected: true });
    }
}
