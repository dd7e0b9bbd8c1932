//! The one loop over the jobs of a view: it reads them, judges each, drafts what would be done to it, counts the causes,
//! and hands it over.

use super::OpsError;
use super::diagnosis::{Diagnosed, diagnosed};
use super::progress::{UnderWay, Work};
use super::scan::with_losses;
use super::selection::Selection;
use super::session::Snapshot;
use super::thresholds::cutoffs;
use super::waiting::{self, StuckByQueue};
use crate::model::{Claim, WaitingSide};
use crate::output;
use crate::policy::{Diagnoses, Draft, Flows, Group, Judgement, PlannedActions, Policy, Verdict, draft, judge};
use crate::preset::{Jobs, What};
use crate::store::{Detail, Holders, Scan, Wanted};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What is asked of the jobs of a view.
pub(super) struct Survey<'a> {
    pub(super) jobs: &'a Arc<Jobs>,
    pub(super) selection: &'a Selection,
    pub(super) policy: &'a Policy,
    pub(super) detail: Detail,
    /// True if all are handed over, healthy ones too, only judged: nothing is drafted, and no cause counted.
    pub(super) with_healthy: bool,
    /// True if the waiting side is read with them.
    pub(super) with_waiting: bool,
    /// The most jobs that a server is asked for.
    pub(super) most: Option<u64>,
}

/// A job that was judged.
pub(super) struct Surveyed<'a> {
    pub(super) claim: &'a Claim,
    pub(super) judgement: Judgement,
    /// What would be done to it; `None` for one that is not selected, or only judged.
    pub(super) draft: Option<Draft>,
    /// By which its cause is found.
    pub(super) group: Option<Group>,
    pub(super) is_selected: bool,
}

/// What a survey came to, besides the jobs that it handed over.
pub(super) struct Seen<'a> {
    asked: Survey<'a>,
    /// Ids that name no job.
    pub(super) not_found: Vec<String>,
    /// Who holds what; `None` if only named jobs were read.
    pub(super) holders: Option<Holders>,
    causes: Option<Diagnoses<'a>>,
    side: WaitingSide,
    stuck: StuckByQueue,
}

impl<'a> Survey<'a> {
    /// Of the jobs that are stuck or unknown, as a list of them needs it.
    pub(super) fn of(jobs: &'a Arc<Jobs>, selection: &'a Selection, policy: &'a Policy) -> Survey<'a> {
        // An earlier snapshot is compared with the exact values.
        let detail = if policy.earlier.is_some() { Detail::ForAction } else { Detail::ForListing };
        Survey { jobs, selection, policy, detail, with_healthy: false, with_waiting: false, most: None }
    }

    /// Reads the view and hands over its jobs, selected or not; of named jobs, those that are part of it. `each` may break
    /// off.
    pub(super) fn run(
        self,
        snapshot: &mut Snapshot,
        each: &mut dyn FnMut(Surveyed<'_>) -> ControlFlow<()>,
    ) -> Result<Seen<'a>, OpsError> {
        let Survey { jobs, selection, policy, .. } = self;
        let (now, progress) = (snapshot.now(), snapshot.progress.clone());
        let under_way = UnderWay::begin(&*progress, Work::Reading);
        let (mut causes, mut stuck, mut side) = (Diagnoses::new(jobs), StuckByQueue::new(), WaitingSide::default());
        // Named jobs alone tell nothing about their owners' other jobs.
        let counts = !(self.with_healthy || jobs.waited() || selection.is_by_name());
        let mut consider = |claim: &Claim| {
            under_way.one();
            let judgement = judge(jobs, claim, policy, now);
            if judgement.verdict == Verdict::Healthy && !self.with_healthy {
                return ControlFlow::Continue(());
            }
            let is_selected = selection.admits(claim);
            waiting::count(&mut stuck, claim, &judgement);
            let draft = (is_selected && !self.with_healthy).then(|| draft(jobs, claim, &judgement, policy));
            let mut group = None;
            if counts {
                let action = draft.as_ref().and_then(Draft::step).map(|step| step.action);
                let would = if is_selected { PlannedActions::of(action) } else { PlannedActions::default() };
                group = causes.add(claim, &judgement, is_selected, would);
            }
            each(Surveyed { claim, judgement, draft, group, is_selected })
        };
        let (mut not_found, mut holders) = (Vec::new(), None);
        if selection.is_by_name() {
            let found = snapshot.find(jobs, &selection.ids)?;
            let _ = found.iter().filter(|found| found.in_flight).try_for_each(|found| consider(&found.claim));
            not_found = selection.without_job(&found);
        } else {
            let wanted = match (&jobs.what, policy.interrupted) {
                (What::Waited, _) => Wanted::Before(now.minus(policy.too_long.shortest())),
                (_, Some(since)) => Wanted::Since(now.minus(since)),
                _ if self.with_healthy || policy.needs_every_claim() => Wanted::All,
                _ => Wanted::Suspects(cutoffs(now, policy)),
            };
            let Snapshot { reader, views, losses, .. } = snapshot;
            let told = views.waiting.as_deref().ok().filter(|_| self.with_waiting).map(|told| (told, &mut side));
            let mut one = |claim| consider(&with_losses(jobs, losses.as_ref(), claim));
            let scan = Scan { most: self.most, waiting: told, ..Scan::of(jobs, wanted, self.detail) };
            holders = Some(reader.scan_until(scan, &mut one)?);
        }
        Ok(Seen { asked: self, not_found, holders, causes: Some(causes), side, stuck })
    }
}

impl Seen<'_> {
    /// Claims in the view, as far as they were read.
    pub(super) fn claims(&self) -> u64 {
        self.holders.as_ref().map_or(0, Holders::claims)
    }

    /// What of the waiting side could not be read.
    pub(super) fn unread(&self) -> &[String] {
        &self.side.unread
    }

    /// The waiting side of the selected queues, if it was asked for, and what of it could not be read.
    pub(super) fn waiting(&mut self, snapshot: &Snapshot) -> Option<(output::Waiting, Flows)> {
        let Survey { selection, policy, .. } = self.asked;
        let side = std::mem::take(&mut self.side);
        self.asked.with_waiting.then(|| waiting::concluded(snapshot, side, &self.stuck, selection, policy))
    }

    /// The causes of what was handed over.
    pub(super) fn causes(&mut self, snapshot: &mut Snapshot) -> Result<Diagnosed, OpsError> {
        let counted = self.causes.take().zip(self.holders.as_ref());
        counted
            .map_or(Ok(Diagnosed::default()), |(causes, holders)| diagnosed(snapshot, self.asked.jobs, causes, holders))
    }
}
