//! Judges by evidence from outside the database: the live-owner list, earlier snapshots, and the operator of a restart
//! sweep, who says which owners are dead, whatever the rows show.

use super::Evaluation;
use super::liveness::{Opinion, but};
use crate::model::{Clocks, FUTURE_TOLERANCE, LockSign, Reading, Sign, Timestamp};
use crate::policy::finding::Finding;
use crate::policy::live_owners::{Living, Standing};
use crate::policy::scope::{Restart, RestartScope};
use crate::policy::unchanged::Unchanged;
use crate::policy::verdict::{Proves, Rule, Value};
use crate::preset::{EARLIEST_MICROS, Liveness, silence_allowed};
use std::time::Duration;

/// What judged, in documents: the live-owner list.
const LIVE_OWNER_LIST: &str = "live_owner_list";
/// What judged, in documents: whether a heartbeat has changed between snapshots.
const CHANGE: &str = "change";
/// What judged, in documents: whether the columns that show progress have changed between snapshots.
const PROGRESS: &str = "progress";

impl Evaluation<'_> {
    /// Asked first: an owner that is not on the list is dead, unless the claim's own row shows life.
    pub(super) fn live_owners(&mut self) {
        let Some(living) = &self.policy.living else { return };
        let standing = living.says(self.claim, self.now, Clocks::Two);
        let finding = Finding::List(self.owner_name(), standing.clone());
        let opinion = match standing {
            Standing::Missing | Standing::Resembles(_) if self.holds_lock() => {
                Opinion::Alive(but(finding, Finding::Lock(LockSign::Held)))
            }
            Standing::Missing | Standing::Resembles(_) => {
                self.unless_younger(Rule::LiveOwnerList, finding, self.last_seen_at)
            }
            Standing::NoOwner | Standing::NoClaimTime => Opinion::Silent(finding),
            Standing::Listed | Standing::ClaimedLater | Standing::BeatLater => Opinion::Alive(finding),
        };
        let opinion = match (opinion, self.sign_of_life()) {
            (Opinion::Dead(_, finding), _) if matches!(standing, Standing::Resembles(_)) => Opinion::Unknown(finding),
            (Opinion::Dead(_, finding), Some(life)) => Opinion::Unknown(but(finding, life)),
            (Opinion::Unknown(finding), _) => Opinion::Silent(finding),
            (opinion, _) => opinion,
        };
        if matches!(opinion, Opinion::Dead(..)) {
            self.judgement.liveness = Some(LIVE_OWNER_LIST);
        }
        self.note(Rule::LiveOwnerList.name(), &"owner", Value::Name(self.owner_name()), opinion, None);
    }

    /// A restart sweep of all owners that are not on the list: only the list counts.
    pub(super) fn restart_by_live_owners(&mut self, living: &Living, restart: &Restart) {
        let standing = living.says(self.claim, self.now, Clocks::One);
        let finding = Finding::List(self.owner_name(), standing.clone());
        if !matches!(standing, Standing::Listed | Standing::Missing) {
            self.lack(finding.clone());
        }
        let missing = standing == Standing::Missing && self.precedes_sweep(restart);
        let (dead, finding) = if missing { self.started_before(restart, finding) } else { (false, finding) };
        self.must_hold_no_lock(dead);
        self.ask(Rule::LiveOwnerList, &"owner", Value::Name(self.owner_name()), dead, finding);
    }

    /// Judges a heartbeat whose clock cannot be right by whether it changes. True if that has judged.
    pub(super) fn judged_by_change(&mut self) -> bool {
        let (None, Some(unchanged)) = (self.judgement.liveness, self.unchanged()) else { return false };
        let Some(allowed) = self.clock_is_wrong() else { return false };
        let dead = unchanged.still >= allowed;
        let finding = match (dead, unchanged.moved) {
            (true, _) => Finding::Unchanged(unchanged.still, Some(allowed)),
            (false, true) if unchanged.still.is_zero() => Finding::ChangedSince(unchanged.snapshot_age),
            (false, true) => Finding::ChangedAgo(unchanged.still),
            (false, false) => {
                let so_far = Opinion::Silent(Finding::Unchanged(unchanged.still, None));
                self.note(Rule::Unchanged.name(), &"all signs of life", Value::Time(Reading::Absent), so_far, None);
                return false;
            }
        };
        self.judgement.liveness = Some(CHANGE);
        self.ask(Rule::Unchanged, &"all signs of life", Value::Span(unchanged.still), dead, finding);
        true
    }

    /// Judges by the live-owner list, then by progress, before the age of the claim, which is the worst evidence there
    /// is.
    pub(super) fn better_than_age(&mut self, allowed: Option<Duration>) {
        if self.judgement.liveness.is_some() {
            return;
        }
        let living = self.policy.living.as_ref().zip(self.claim.owner.as_ref());
        if living.is_some_and(|(living, owner)| living.live_owners.lists(owner)) {
            self.judgement.liveness = Some(LIVE_OWNER_LIST);
            return;
        }
        let Some(unchanged) = self.unchanged() else { return };
        let (Some(still), Some(allowed)) = (unchanged.progress, allowed) else { return };
        let dead = still >= allowed;
        let finding = match still.is_zero() {
            true => Finding::ProgressSince(unchanged.snapshot_age),
            false => Finding::NoProgress(still, allowed),
        };
        self.judgement.liveness = Some(PROGRESS);
        self.ask(Rule::Unchanged, &self.progress_columns(), Value::Span(still), dead, finding);
    }

    /// Asks for progress of a job whose owner is alive.
    pub(super) fn no_progress(&mut self) {
        let Some(still) = self.unchanged().and_then(|unchanged| unchanged.progress) else { return };
        // Age shows no life, and progress has been asked already.
        let owner_lives = self.judgement.liveness.is_some_and(|by| by != "age" && by != PROGRESS)
            && self.reasons.iter().all(|reason| reason.proves == Proves::Trouble);
        let Some(allowed) = self.first_threshold().filter(|_| owner_lives) else { return };
        let finding = Finding::NoProgress(still, allowed);
        self.ask(Rule::NoProgress, &self.progress_columns(), Value::Span(still), still >= allowed, finding);
    }

    fn unchanged(&self) -> Option<Unchanged> {
        self.policy.earlier.as_ref()?.unchanged(self.claim, self.now)
    }

    /// The heartbeat's threshold, if the heartbeat or the claim time cannot be right by the database's clock, and
    /// nothing else forbids to judge by change.
    fn clock_is_wrong(&self) -> Option<Duration> {
        let mut allowed = None;
        let mut wrong = self.is_off(&self.claim.claimed_at);
        for (source, sign) in self.signs() {
            match (source, &sign.at) {
                // A value that does not fit its declaration is no matter of clocks.
                (_, Reading::Unfit { .. }) => return None,
                (Liveness::Lease { .. }, Reading::At(end))
                    if !self.now.is_after(*end, Clocks::One) || self.is_off(&sign.at) =>
                {
                    return None;
                }
                (Liveness::Lock { .. }, _) if matches!(sign.lock, LockSign::Held | LockSign::OutOfSight) => {
                    return None;
                }
                (Liveness::Heartbeat { .. } | Liveness::Owner { .. }, Reading::At(at)) => {
                    let is_off = self.is_off(&sign.at);
                    let span = silence_allowed(source, self.older_span(), sign.silent_after);
                    if !is_off && span.is_some_and(|span| !self.is_over(*at, span)) {
                        // A fresh heartbeat is a sign of life, whatever else is wrong.
                        return None;
                    }
                    wrong |= is_off;
                    allowed = allowed.or(span);
                }
                (Liveness::Age { .. }, at) => wrong |= self.is_off(at),
                _ => {}
            }
        }
        let unfit = matches!(self.claim.claimed_at, Reading::Unfit { .. });
        allowed.filter(|_| wrong && !unfit)
    }

    /// Too early or too late to be true.
    fn is_off(&self, reading: &Reading) -> bool {
        let off =
            |at: Timestamp| at.micros() < EARLIEST_MICROS || at.is_after(self.now.plus(FUTURE_TOLERANCE), Clocks::One);
        reading.at().is_some_and(off)
    }

    fn first_threshold(&self) -> Option<Duration> {
        let own = |(source, sign): (&Liveness, &Sign)| silence_allowed(source, None, sign.silent_after);
        self.older_span().or_else(|| self.signs().find_map(own))
    }

    pub(super) fn holds_lock(&self) -> bool {
        self.claim.signs.iter().any(|sign| sign.lock == LockSign::Held)
    }

    pub(super) fn owner_name(&self) -> String {
        self.claim.owner.as_ref().map_or_else(|| "(no owner)".to_owned(), |owner| owner.name.clone())
    }

    fn progress_columns(&self) -> String {
        let named = self.jobs.claim.progress.iter().map(|expr| match expr {
            crate::preset::Expr::Column(column) => column.to_string(),
            crate::preset::Expr::Sql(_) => "(expression)".to_owned(),
        });
        named.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn restart(&mut self) {
        let Some(restart) = &self.policy.restart else { return };
        if let RestartScope::NotListed(living) = &restart.scope {
            return self.restart_by_live_owners(living, restart);
        }
        let owner = self.owner_name();
        let (dead, finding) = if !restart.scope.covers_owner(self.claim.owner.as_ref()) {
            (false, Finding::OutOfScope)
        } else if !self.precedes_sweep(restart) {
            (false, Finding::NotBeforeSweep)
        } else {
            self.started_before(restart, Finding::DeclaredDead(owner.clone()))
        };
        self.must_hold_no_lock(dead);
        let owner_lives = || {
            self.signs().any(|(source, sign)| {
                matches!(source, Liveness::Owner { .. }) && matches!(self.opinion(source, sign), Opinion::Alive(_))
            })
        };
        self.judgement.is_declared_dead = dead && (self.sign_of_life().is_some() || owner_lives());
        let opinion = match self.beat_after(restart.began).filter(|_| dead) {
            Some(ago) => Opinion::Contradicted(Rule::Restart, but(finding, Finding::BeatAfterSweep(ago))),
            None => Opinion::of(dead, Rule::Restart, finding),
        };
        self.note(Rule::Restart.name(), &"owner", Value::Name(owner), opinion, None);
    }

    /// True if the claim was certainly made before the sweep began; any doubt makes the verdict unknown. Clocks count
    /// as equal: the sweep at a host's boot must recover the job of a worker that crashed seconds after its claim.
    pub(super) fn precedes_sweep(&mut self, restart: &Restart) -> bool {
        let why = match (&self.jobs.claim.claimed_at, self.claim.claimed_at.at()) {
            (Some(column), at) => {
                if self.must_be_plausible(column, &self.claim.claimed_at, Some(FUTURE_TOLERANCE)).is_some() {
                    return false;
                }
                match at {
                    Some(at) if restart.began.is_after(at, Clocks::One) => return true,
                    Some(_) => Finding::ClaimedAfterSweep,
                    None => Finding::ClaimTimeUnknown,
                }
            }
            (None, _) if restart.first.as_ref().is_none_or(|first| first.has(self.claim)) => return true,
            (None, _) => Finding::NotAmongFirst,
        };
        self.lack(why);
        false
    }

    /// How long ago the claim's own heartbeat was, if that is later than a sweep's beginning: its worker runs.
    fn beat_after(&self, began: Timestamp) -> Option<Duration> {
        let beats = self.signs().filter(|(source, _)| matches!(source, Liveness::Heartbeat { .. }));
        // One further ahead than clocks differ says nothing.
        let latest = self.now.plus(FUTURE_TOLERANCE);
        let is_later = |at: &Timestamp| at.is_after(began, Clocks::One) && !at.is_after(latest, Clocks::One);
        let mut later = beats.filter_map(|(_, sign)| sign.at.at()).filter(is_later);
        later.next().map(|at| self.now.since(at))
    }

    /// Whether a claim that is dead by `death` was made before the instant that the operator named, if any.
    pub(super) fn started_before(&mut self, restart: &Restart, death: Finding) -> (bool, Finding) {
        match (restart.before, self.claim.claimed_at.at()) {
            (None, _) => (true, death),
            (Some(before), Some(at)) if before.is_after(at, Clocks::One) => {
                (true, Finding::ClaimedBefore(Box::new(death), at, before))
            }
            (Some(before), at) => (false, Finding::ClaimedLater(at, before)),
        }
    }

    /// A session that holds a lock at this moment cannot be declared dead.
    pub(super) fn must_hold_no_lock(&mut self, dead: bool) {
        if dead && self.holds_lock() {
            self.lack(Finding::LockHeldInSweep);
        }
    }
}
