//! Asks the preset's liveness sources in their order: the first that has a value decides whether the owner is dead.

use super::{Evaluation, evaluate, unfit};
use crate::model::{Clocks, FUTURE_TOLERANCE, LockSign, OwnerRow, Reading, Sign, Timestamp, is_threshold};
use crate::policy::finding::{Finding, Limit};
use crate::policy::thresholds::{Allowed, is_late, own_word};
use crate::policy::verdict::{Check, CheckResult, Judgement, Rule, Value, Verdict};
use crate::preset::{Absence, Free, LEASE_AHEAD, Liveness, SilentAfter, silence_allowed};
use std::fmt::Display;
use std::time::Duration;

/// What one rule or liveness source makes of a claim.
pub(super) enum Opinion {
    Dead(Rule, Finding),
    /// The rule fires, but the owner shows life: that is trouble.
    Contradicted(Rule, Finding),
    Alive(Finding),
    Silent(Finding),
    Unknown(Finding),
    /// A better source has judged.
    NotAsked,
}

impl Opinion {
    pub(super) fn of(fires: bool, rule: Rule, finding: Finding) -> Opinion {
        if fires { Opinion::Dead(rule, finding) } else { Opinion::Alive(finding) }
    }
}

impl Evaluation<'_> {
    pub(super) fn liveness(&mut self) {
        if self.judged_by_change() {
            return;
        }
        if let Some(claimed_at) = &self.jobs.claim.claimed_at {
            self.must_be_plausible(claimed_at, &self.claim.claimed_at, Some(FUTURE_TOLERANCE));
        }
        let (jobs, claim) = (self.jobs, self.claim);
        // Checked even if it is no liveness source: it counts as a sign of life.
        if let (Some(row), OwnerRow::Present { heartbeat, .. }) = (&jobs.owner.row, &claim.owner_row)
            && let Some(column) = &row.heartbeat
        {
            self.must_be_plausible(column, heartbeat, Some(FUTURE_TOLERANCE));
        }
        for (n, (source, sign)) in self.signs().enumerate() {
            let heartbeat = jobs.owner.row.as_ref().and_then(|row| row.heartbeat.as_ref());
            let column = source.column().or(heartbeat.filter(|_| matches!(source, Liveness::Owner { .. })));
            let ahead = if matches!(source, Liveness::Lease { .. }) { LEASE_AHEAD } else { FUTURE_TOLERANCE };
            let implausible = column.and_then(|column| self.must_be_plausible(column, &sign.at, Some(ahead)));
            let name = source.name();
            let place: &dyn Display = column.map_or(&name, |time| &time.column);
            let value = match sign.lock {
                LockSign::Absent => Value::Time(sign.at.clone()),
                lock => Value::Lock(lock),
            };
            if matches!(source, Liveness::Age { .. }) {
                self.better_than_age(silence_allowed(source, self.older_span(), sign.silent_after));
            }
            let opinion = self.opinion_of(n, source, sign);
            match &opinion {
                Opinion::Dead(..) => self.judgement.allowed = self.allowed(source, sign),
                Opinion::Alive(_) => self.judgement.late = self.is_late(source, sign),
                Opinion::Contradicted(..) | Opinion::Silent(_) | Opinion::Unknown(_) | Opinion::NotAsked => {}
            }
            if !matches!(opinion, Opinion::Silent(_) | Opinion::NotAsked) {
                self.judgement.liveness = Some(name);
            }
            // An implausible value makes the verdict unknown, whichever source has judged.
            self.note(name, place, value, opinion, implausible);
        }
        self.better_than_age(self.older_span());
        // A limit for its state can judge it too.
        let has_limit = self.policy.too_long.limit(claim).is_some() && claim.claimed_at.at().is_some();
        if self.judgement.liveness.is_none() && !has_limit {
            self.lack(match (jobs.liveness.len(), jobs.advice_only()) {
                (0, Some(why)) => Finding::Preset(why.to_owned()),
                (0, None) => Finding::NoLiveness(jobs.missing_liveness()),
                _ => Finding::NothingIn(jobs.liveness.iter().map(|source| source.name().to_owned()).collect()),
            });
        }
    }

    /// Hears the `n`th source, unless a better one has judged, and what speaks against it.
    fn opinion_of(&self, n: usize, source: &Liveness, sign: &Sign) -> Opinion {
        let (jobs, claim) = (self.jobs, self.claim);
        let opinion = match (self.judgement.liveness, self.reasons.last()) {
            (None, _) => self.opinion(source, sign),
            // Of a preset that a mapping bends: it contradicts a death that the mapping concludes.
            (Some(_), Some(reason)) if n >= jobs.liveness.len() - jobs.kept => match self.opinion(source, sign) {
                Opinion::Alive(other) | Opinion::Unknown(other) => Opinion::Unknown(but(reason.finding.clone(), other)),
                _ => Opinion::NotAsked,
            },
            (Some(_), _) => Opinion::NotAsked,
        };
        match (opinion, &jobs.claim.veto) {
            (Opinion::Dead(Rule::ClaimAge, old), Some(veto)) if claim.vetoed => {
                Opinion::Contradicted(Rule::ClaimAge, but(old, Finding::Preset(veto.says.clone())))
            }
            (opinion, _) => opinion,
        }
    }

    /// How long that source may be silent; `None` for leases and locks, and without a threshold.
    pub(super) fn allowed(&self, source: &Liveness, sign: &Sign) -> Option<Allowed> {
        let span = silence_allowed(source, self.older.map(|older| older.span), sign.silent_after)?;
        Some(Allowed { span, set_by: self.older.map_or_else(|| own_word(source), |older| older.set_by) })
    }

    /// True if that source still says alive, but not for much longer.
    fn is_late(&self, source: &Liveness, sign: &Sign) -> bool {
        let Some(seen) = self.last_seen_at else { return false };
        let allowance = match source {
            // Who renews a lease without a heartbeat does not say how long the lease is.
            Liveness::Lease { plus: None, .. } if self.claim.heartbeat.at().is_none() => None,
            Liveness::Lease { .. } => sign.at.at().map(|end| end.since(seen)),
            _ => self.allowed(source, sign).map(|allowed| allowed.span),
        };
        allowance.is_some_and(|allowance| is_late(self.now.since(seen), allowance))
    }

    pub(super) fn opinion(&self, source: &Liveness, sign: &Sign) -> Opinion {
        let allowed = self.allowed(source, sign);
        if let (None, Some(span), Reading::At(_)) = (self.older, sign.silent_after, &sign.at)
            && !is_threshold(span)
        {
            return Opinion::Unknown(Finding::OddThreshold(span));
        }
        match (source, &sign.at) {
            (Liveness::Owner { .. }, at) => self.owner_opinion(at, allowed),
            (Liveness::Lock { free, silent_after, .. }, _) => {
                self.lock_opinion(sign.lock, *free, silent_after.as_ref())
            }
            (_, Reading::Unfit { raw, why }) => Opinion::Unknown(unfit(source.column(), raw, why)),
            (_, Reading::Absent) => Opinion::Silent(Finding::Nothing),
            (Liveness::Heartbeat { .. } | Liveness::Age { .. }, _) if allowed.is_none() && by_row(source) => {
                Opinion::Silent(Finding::NoThresholdOnRow)
            }
            (Liveness::Lease { .. }, Reading::At(end)) => self.lease_opinion(*end),
            (Liveness::Heartbeat { .. }, Reading::At(_)) => {
                self.silence_opinion(Rule::HeartbeatSilent, self.last_seen_at, allowed, Finding::Silent, Finding::Seen)
            }
            (Liveness::Age { .. }, Reading::At(at)) => {
                let sign = Timestamp::newest(self.last_seen_at, Some(*at));
                self.silence_opinion(Rule::ClaimAge, sign, allowed, Finding::Old, Finding::Young)
            }
        }
    }

    fn lease_opinion(&self, end: Timestamp) -> Opinion {
        if !self.now.is_after(end, Clocks::One) {
            return Opinion::Alive(Finding::LeaseRuns(end.since(self.now)));
        }
        let over = self.now.since(end);
        if self.last_seen_at.is_some_and(|sign| sign.is_after(end, Clocks::One)) {
            // A lease that the owner has outlived proves nothing. Never touch a fresh heartbeat.
            return Opinion::Silent(Finding::LeaseOutlived(over));
        }
        // Its holder was silent for at least that long, even if no sign of life is recorded.
        let proven =
            self.last_seen_at.or(Some(end).filter(|end| self.older_span().is_none_or(|span| self.is_over(*end, span))));
        self.unless_younger(Rule::LeaseExpired, Finding::LeaseEnded(over), proven)
    }

    fn owner_opinion(&self, at: &Reading, allowed: Option<Allowed>) -> Opinion {
        let Some(row) = &self.jobs.owner.row else { return Opinion::Silent(Finding::Nothing) };
        let absence = |absence: Absence, rule: Rule, what: Finding, sign: Option<Timestamp>| match (absence, allowed) {
            (Absence::Dead, Some(allowed)) => self.after_silence(rule, what, sign, allowed),
            (Absence::Dead, None) => Opinion::Unknown(Finding::NoThreshold),
            (Absence::Next, _) => Opinion::Silent(what),
            (Absence::Unknown, _) => Opinion::Unknown(what),
        };
        match (&self.claim.owner_row, at) {
            (OwnerRow::Missing { seen }, _) => {
                let owner = self.claim.owner.as_ref().map_or_else(String::new, |owner| owner.id.clone());
                let sign = Timestamp::newest(self.last_seen_at, seen.at());
                absence(row.missing, Rule::OwnerMissing, Finding::OwnerMissing(owner), sign)
            }
            (OwnerRow::Unset | OwnerRow::NotAsked, _) => {
                absence(row.unset, Rule::OwnerUnset, Finding::OwnerUnset, self.last_seen_at)
            }
            (OwnerRow::Present { .. }, Reading::Unfit { raw, why }) => {
                Opinion::Unknown(unfit(row.heartbeat.as_ref(), raw, why))
            }
            (OwnerRow::Present { .. }, Reading::Absent) => Opinion::Silent(Finding::OwnerWithoutHeartbeat),
            (OwnerRow::Present { .. }, Reading::At(beat)) => {
                let silent = Finding::OwnerSilent;
                if let (Some(allowed), Some(claimed)) = (allowed, self.claim.claimed_at.at())
                    && self.last_seen_at == Some(claimed)
                    && !self.is_over(claimed, allowed.span)
                    && claimed.is_after(beat.plus(allowed.span), Clocks::Two)
                {
                    // Of two clocks one is wrong, or the owner is.
                    return Opinion::Unknown(Finding::ClaimedInSilence(claimed.since(*beat), self.limit(allowed)));
                }
                self.silence_opinion(Rule::OwnerSilent, self.last_seen_at, allowed, silent, Finding::Seen)
            }
        }
    }

    fn lock_opinion(&self, lock: LockSign, free: Free, silent_after: Option<&SilentAfter>) -> Opinion {
        let finding = Finding::Lock(lock);
        let is_recent = match (silent_after, self.last_seen_at) {
            (Some(SilentAfter::Span(span)), Some(seen)) => !self.is_over(seen, *span),
            (silent_after, _) => silent_after.is_some(),
        };
        match (lock, free) {
            (LockSign::Free, Free::Dead) if is_recent => Opinion::Silent(finding),
            (LockSign::Held, _) => Opinion::Alive(finding),
            (LockSign::Free, Free::Dead) => self.unless_younger(Rule::LockFree, finding, self.last_seen_at),
            (LockSign::Free, Free::Next) | (LockSign::Absent, _) => Opinion::Silent(finding),
            (LockSign::OutOfSight, _) => Opinion::Unknown(finding),
        }
    }

    /// A claim made after the last heartbeat is a sign of life too, so the silence counts from the later of the two.
    fn silence_opinion(
        &self,
        rule: Rule,
        sign: Option<Timestamp>,
        allowed: Option<Allowed>,
        dead: fn(Duration, Limit) -> Finding,
        alive: fn(Duration, Limit) -> Finding,
    ) -> Opinion {
        let (Some(sign), Some(allowed)) = (sign, allowed) else { return Opinion::Unknown(Finding::NoThreshold) };
        let (silence, limit) = (self.now.since(sign), self.limit(allowed));
        match self.is_over(sign, allowed.span) {
            true => Opinion::Dead(rule, dead(silence, limit)),
            false => Opinion::Alive(alive(silence, limit)),
        }
    }

    /// Dead, unless the operator asked for a longer silence than this claim's.
    pub(super) fn unless_younger(&self, rule: Rule, death: Finding, sign: Option<Timestamp>) -> Opinion {
        match self.older {
            None => Opinion::Dead(rule, death),
            Some(older) => self.after_silence(rule, death, sign, older),
        }
    }

    /// Dead, once the newest sign of life is older than allowed.
    fn after_silence(&self, rule: Rule, death: Finding, sign: Option<Timestamp>, allowed: Allowed) -> Opinion {
        match sign {
            Some(sign) if self.is_over(sign, allowed.span) => Opinion::Dead(rule, death),
            Some(sign) => Opinion::Alive(but(death, Finding::SilentOnly(self.now.since(sign), self.limit(allowed)))),
            None => Opinion::Unknown(but(death, Finding::SilenceUnknown)),
        }
    }

    /// The sign of life on the claim's own row: a running lease, a fresh heartbeat, or a lock that a session holds.
    pub(super) fn sign_of_life(&self) -> Option<Finding> {
        if self.holds_lock() {
            return Some(Finding::Lock(LockSign::Held));
        }
        self.signs().find_map(|(source, sign)| match (source, sign.at.at()?) {
            (Liveness::Lease { .. }, end) if !self.now.is_after(end, Clocks::One) => {
                Some(Finding::LeaseRuns(end.since(self.now)))
            }
            (Liveness::Heartbeat { .. }, beat) => {
                let allowed = self.allowed(source, sign)?;
                let fresh = !self.is_over(beat, allowed.span);
                fresh.then(|| Finding::HeartbeatFresh(self.now.since(beat), self.limit(allowed)))
            }
            _ => None,
        })
    }

    pub(super) fn owner_restarted(&mut self) {
        let Some(column) = self.jobs.owner.row.as_ref().and_then(|row| row.started.as_ref()) else { return };
        let OwnerRow::Present { started, .. } = &self.claim.owner_row else { return };
        if self.must_be_plausible(column, started, Some(FUTURE_TOLERANCE)).is_some() {
            return;
        }
        let rule = Rule::OwnerRestarted;
        let opinion = match started.at().zip(self.claim.claimed_at.at()) {
            None => Opinion::Silent(Finding::OwnerStartUnknown),
            Some((start, claimed)) if !start.is_after(claimed, Clocks::Two) => {
                Opinion::Alive(Finding::OwnerNotRestarted)
            }
            Some(_) => match self.sign_of_life() {
                None => Opinion::Dead(rule, Finding::OwnerRestarted),
                Some(life) => Opinion::Unknown(but(Finding::OwnerRestarted, life)),
            },
        };
        self.note(rule.name(), &column.column, Value::Time(started.clone()), opinion, None);
    }
}

/// A death, and what speaks against it.
pub(super) fn but(death: Finding, life: Finding) -> Finding {
    Finding::But(Box::new(death), Box::new(life))
}

/// True if the threshold is a column of the row.
fn by_row(source: &Liveness) -> bool {
    matches!(source.silent_after(), Some(SilentAfter::Column(_)))
}

/// The judgement of a claim whose times are read as UTC. Where the zone of one is not known, what is healthy by that
/// reading stays so, and a claim is stuck only if it is in every zone, whatever rule says it.
pub(super) fn tested(evaluation: Evaluation<'_>) -> Judgement {
    let Evaluation { jobs, claim, policy, now, keeps_all, .. } = evaluation;
    let mut judgement = evaluate(evaluation);
    // No death is inferred from the time of an interrupted job.
    let Some((time, said)) = jobs.zone().filter(|_| !jobs.are_interrupted()) else { return judgement };
    let (mut result, mut finding) = (CheckResult::Clear, Finding::Preset(said.caution().to_owned()));
    if let (Some(time), false) = (jobs.unknown_zone(), matches!(judgement.verdict, Verdict::Healthy)) {
        let latest = jobs.at_the_latest(claim, now);
        let surely = evaluate(Evaluation::new(jobs, &latest, policy, now));
        match (&judgement.verdict, &surely.verdict) {
            (Verdict::Unknown(lacking), Verdict::Stuck(_)) if Finding::are_of_zone(lacking) => {
                judgement = Judgement { checks: judgement.checks, ..surely };
            }
            (Verdict::Stuck(reasons), Verdict::Healthy | Verdict::Unknown(_)) => {
                let death = reasons.first().map_or(Finding::Nothing, |death| death.finding.clone());
                finding = Finding::IfUtc(Box::new(death), time.column.name.clone());
                result = CheckResult::Unusable;
                judgement.verdict = Verdict::Unknown(vec![finding.clone()]);
            }
            _ => {}
        }
    }
    if keeps_all || result == CheckResult::Unusable {
        let (column, value) = (time.column.to_string(), Value::Name("utc".to_owned()));
        judgement.checks.push(Check { rule: "time_zone", column, value, result, finding });
    }
    judgement
}
