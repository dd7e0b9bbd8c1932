mod external;
mod life;
mod restart;
mod trouble;

use super::rules::Policy;
use super::thresholds::{Allowed, own_word};
use super::verdict::{Check, CheckResult, Judgement, Reason, Rule, Verdict};
use crate::model::{Cell, Claim, Clocks, FUTURE_TOLERANCE, LockSign, OwnerRow, Reading, Sign, Timestamp, age};
use crate::preset::{
    Absence, EARLIEST_MICROS, Free, LEASE_AHEAD, Liveness, QueueSpec, SilentAfter, TimeColumn, silence_allowed,
};
use std::time::Duration;

/// Judges one claim. Pure and total: the same claim, policy and `now` always give the same verdict.
///
/// The first liveness source that has a value decides; a value that does not fit or is implausible makes the verdict
/// unknown, whichever source it belongs to; rules about trouble are asked beside it. A running lease or a fresh heartbeat on
/// the claim's own row outranks a live-owner list and an owner's restart: beside one of these the verdict is unknown.
pub fn judge(spec: &QueueSpec, claim: &Claim, policy: &Policy, now: Timestamp) -> Judgement {
    let mut evaluation = Evaluation::new(spec, claim, policy, now);
    if claim.key.0.iter().any(Cell::is_null) {
        evaluation.lack("its key is NULL, so it cannot be told from others".to_owned());
    }
    if spec.waits {
        evaluation.waiting();
    } else if policy.restart.is_some() {
        evaluation.restart();
    } else {
        evaluation.live_owners();
        evaluation.liveness();
        evaluation.owner_restarted();
        evaluation.trouble();
        evaluation.too_long();
        evaluation.no_progress();
    }
    evaluation.judgement()
}

struct Evaluation<'a> {
    spec: &'a QueueSpec,
    claim: &'a Claim,
    policy: &'a Policy,
    now: Timestamp,
    last_seen_at: Option<Timestamp>,
    /// What the operator allows to claims of this queue and kind.
    older: Option<Allowed>,
    liveness: Option<&'static str>,
    allowed: Option<Allowed>,
    overrun: Option<Allowed>,
    reasons: Vec<Reason>,
    lacking: Vec<String>,
    checks: Vec<Check>,
}

/// What one liveness source makes of a claim.
enum Opinion {
    Dead(Rule, String),
    Alive(String),
    /// Nothing to judge by.
    Silent(String),
    /// Nobody can tell.
    Lost(String),
}

impl<'a> Evaluation<'a> {
    fn new(spec: &'a QueueSpec, claim: &'a Claim, policy: &'a Policy, now: Timestamp) -> Evaluation<'a> {
        let last_seen_at = Timestamp::newest(claim.heartbeat.at(), claim.claimed_at.at());
        Evaluation {
            spec,
            claim,
            policy,
            now,
            last_seen_at,
            older: policy.older_for(claim.queue.as_deref(), claim.kind.as_deref()),
            liveness: None,
            allowed: None,
            overrun: None,
            reasons: Vec::new(),
            lacking: Vec::new(),
            checks: Vec::new(),
        }
    }

    /// How long the operator allows a claim of this queue and kind to be silent.
    fn older_span(&self) -> Option<Duration> {
        self.older.as_ref().map(|older| older.span)
    }

    fn silence(&self) -> Option<Duration> {
        self.last_seen_at.map(|sign| self.now.since(sign))
    }

    /// True if an instant lies further back than `span`, beyond doubt.
    fn is_over(&self, at: Timestamp, span: Duration) -> bool {
        self.now.minus(span).is_after(at, Clocks::One)
    }

    fn judgement(self) -> Judgement {
        let silence = self.silence();
        let verdict = match (self.lacking.is_empty(), self.reasons.is_empty()) {
            (false, _) => Verdict::Unknown(self.lacking),
            (true, false) => Verdict::Stuck(self.reasons),
            (true, true) => Verdict::Healthy,
        };
        Judgement {
            verdict,
            last_seen_at: self.last_seen_at,
            silence,
            liveness: self.liveness,
            allowed: self.allowed,
            overrun: self.overrun,
            checks: self.checks,
        }
    }

    fn liveness(&mut self) {
        if self.judged_by_change() {
            return;
        }
        if let Some(claimed_at) = &self.spec.claim.claimed_at {
            self.must_be_plausible(claimed_at, &self.claim.claimed_at, Some(FUTURE_TOLERANCE));
        }
        let (spec, claim) = (self.spec, self.claim);
        // Even where it is no source: it counts as a sign of life.
        if let (Some(row), OwnerRow::Present { heartbeat, .. }) = (&spec.owner.row, &claim.owner_row)
            && let Some(column) = &row.heartbeat
        {
            self.must_be_plausible(column, heartbeat, Some(FUTURE_TOLERANCE));
        }
        for (source, sign) in spec.liveness.iter().zip(&claim.signs) {
            let heartbeat = spec.owner.row.as_ref().and_then(|row| row.heartbeat.as_ref());
            let column = source.column().or(heartbeat.filter(|_| matches!(source, Liveness::Owner { .. })));
            let ahead = if matches!(source, Liveness::Lease { .. }) { LEASE_AHEAD } else { FUTURE_TOLERANCE };
            let implausible = column.and_then(|column| self.must_be_plausible(column, &sign.at, Some(ahead)));
            let name = source.name();
            let place = column.map_or_else(|| name.to_owned(), |time| time.column.to_string());
            let value = match sign.lock {
                LockSign::Absent => shown(&sign.at),
                LockSign::Held => "held".to_owned(),
                LockSign::Free => "free".to_owned(),
                LockSign::OutOfSight => "out of sight".to_owned(),
            };
            if matches!(source, Liveness::Age { .. }) {
                self.better_than_age(silence_allowed(source, self.older_span(), sign.silent_after));
            }
            let (result, detail) = if self.liveness.is_some() {
                (CheckResult::NotAsked, "a better source has judged".to_owned())
            } else {
                match self.opinion(source, sign) {
                    Opinion::Dead(rule, detail) => {
                        self.liveness = Some(name);
                        self.allowed = self.allowed(source, sign);
                        self.reasons.push(Reason { rule, detail: detail.clone() });
                        (CheckResult::Fires, detail)
                    }
                    Opinion::Alive(detail) => {
                        self.liveness = Some(name);
                        (CheckResult::Clear, detail)
                    }
                    Opinion::Silent(detail) => (CheckResult::NoValue, detail),
                    Opinion::Lost(detail) => {
                        self.liveness = Some(name);
                        self.lack(detail.clone());
                        (CheckResult::Unusable, detail)
                    }
                }
            };
            // Whoever was asked, a value that cannot be right is what makes the verdict unknown.
            let (result, detail) = implausible.map_or((result, detail), |why| (CheckResult::Unusable, why));
            self.checks.push(Check { rule: name, column: place, value, result, detail });
        }
        self.better_than_age(self.older_span());
        // How long it may be in its state is something to judge by, too.
        let has_limit = self.policy.too_long.limit(claim).is_some() && claim.claimed_at.at().is_some();
        if self.liveness.is_none() && !has_limit {
            self.lack(match (spec.liveness.len(), spec.advice_only()) {
                (0, Some(why)) => why.to_owned(),
                (0, None) => {
                    "this queue shows no sign of life; only a restart sweep can tell, by who its owners are".to_owned()
                }
                _ => {
                    let names: Vec<&str> = spec.liveness.iter().map(Liveness::name).collect();
                    format!("no sign of life to judge by: nothing in {}", names.join(", "))
                }
            });
        }
    }

    /// How long that source may be silent; `None` where nobody has said, and for leases and locks.
    fn allowed(&self, source: &Liveness, sign: &Sign) -> Option<Allowed> {
        let span = silence_allowed(source, self.older.map(|older| older.span), sign.silent_after)?;
        Some(Allowed { span, set_by: self.older.map_or_else(|| own_word(source), |older| older.set_by) })
    }

    fn opinion(&self, source: &Liveness, sign: &Sign) -> Opinion {
        let allowed = self.allowed(source, sign);
        match (source, &sign.at) {
            (Liveness::Owner { .. }, at) => self.owner_opinion(at, allowed),
            (Liveness::Lock { free, .. }, _) => self.lock_opinion(sign.lock, *free),
            (_, Reading::Unfit { raw, why }) => Opinion::Lost(unfit(source.column(), raw, why)),
            (_, Reading::Absent) => Opinion::Silent("nothing there; the next source is asked".to_owned()),
            (Liveness::Heartbeat { .. } | Liveness::Age { .. }, _) if allowed.is_none() && by_row(source) => {
                Opinion::Silent("the row names no threshold for it; the next source is asked".to_owned())
            }
            (Liveness::Lease { .. }, Reading::At(end)) => self.lease_opinion(*end),
            (Liveness::Heartbeat { .. }, Reading::At(_)) => {
                self.silence_opinion(Rule::HeartbeatSilent, "heartbeat", allowed)
            }
            (Liveness::Age { .. }, Reading::At(at)) => self.age_opinion(*at, allowed),
        }
    }

    fn lease_opinion(&self, end: Timestamp) -> Opinion {
        if !self.now.is_after(end, Clocks::One) {
            return Opinion::Alive(format!("runs for another {}", age(end.since(self.now))));
        }
        let over = age(self.now.since(end));
        if self.last_seen_at.is_some_and(|sign| sign.is_after(end, Clocks::One)) {
            // A lease that the owner has outlived does not say anything about it. Never touch a fresh heartbeat.
            return Opinion::Silent(format!(
                "ran out {over} ago, but there is a later sign of life; the next source is asked"
            ));
        }
        // Whoever held it was silent for at least that long, even where no sign of life is recorded.
        let proven =
            self.last_seen_at.or(Some(end).filter(|end| self.older_span().is_none_or(|span| self.is_over(*end, span))));
        self.unless_younger(Rule::LeaseExpired, format!("lease ran out {over} ago"), proven)
    }

    fn owner_opinion(&self, at: &Reading, allowed: Option<Allowed>) -> Opinion {
        let Some(row) = &self.spec.owner.row else { return Opinion::Silent("there is no owners' table".to_owned()) };
        let absence = |absence: Absence, rule: Rule, what: String| match absence {
            Absence::Dead => self.unless_younger(rule, what, self.last_seen_at),
            Absence::Next => Opinion::Silent(format!("{what}; the next source is asked")),
            Absence::Unknown => Opinion::Lost(what),
        };
        match (&self.claim.owner_row, at) {
            (OwnerRow::Missing, _) => {
                let owner = self.claim.owner.as_ref().map_or("", |owner| owner.id.as_str());
                absence(row.missing, Rule::OwnerMissing, format!("the owner {owner} has no row"))
            }
            (OwnerRow::Unset | OwnerRow::NotAsked, _) => {
                absence(row.unset, Rule::OwnerUnset, "the claim names no owner".to_owned())
            }
            (OwnerRow::Present { .. }, Reading::Unfit { raw, why }) => {
                Opinion::Lost(unfit(row.heartbeat.as_ref(), raw, why))
            }
            (OwnerRow::Present { .. }, Reading::Absent) => {
                Opinion::Silent("the owner has no heartbeat; the next source is asked".to_owned())
            }
            (OwnerRow::Present { .. }, Reading::At(_)) => {
                self.silence_opinion(Rule::OwnerSilent, "heartbeat of the owner", allowed)
            }
        }
    }

    fn lock_opinion(&self, lock: LockSign, free: Free) -> Opinion {
        match (lock, free) {
            (LockSign::Held, _) => Opinion::Alive("a session holds its lock".to_owned()),
            (LockSign::Free, Free::Dead) => {
                self.unless_younger(Rule::LockFree, "no session holds its lock".to_owned(), self.last_seen_at)
            }
            (LockSign::Free, Free::Next) => {
                Opinion::Silent("no session holds its lock; the next source is asked".to_owned())
            }
            (LockSign::Absent, _) => {
                Opinion::Silent("the lock tells nothing of it; the next source is asked".to_owned())
            }
            (LockSign::OutOfSight, _) => {
                Opinion::Lost("a standby does not see the locks that are held on its primary".to_owned())
            }
        }
    }

    /// A claim made after the last heartbeat is a sign of life too, so the silence counts from the later of the two.
    fn silence_opinion(&self, rule: Rule, what: &str, allowed: Option<Allowed>) -> Opinion {
        let (Some(sign), Some(allowed)) = (self.last_seen_at, allowed) else {
            return Opinion::Lost("no threshold is known".to_owned());
        };
        let (silence, limit) = (self.now.since(sign), self.limit(allowed));
        if self.is_over(sign, allowed.span) {
            return Opinion::Dead(rule, format!("no {what} for {}, allowed {limit}", age(silence)));
        }
        Opinion::Alive(format!("last sign of life {} ago, allowed {limit}", age(silence)))
    }

    fn age_opinion(&self, at: Timestamp, allowed: Option<Allowed>) -> Opinion {
        let Some(allowed) = allowed else { return Opinion::Lost("no threshold is known".to_owned()) };
        let sign = Timestamp::newest(self.last_seen_at, Some(at)).unwrap_or(at);
        let (silence, limit) = (self.now.since(sign), self.limit(allowed));
        if self.is_over(sign, allowed.span) {
            let detail = format!("age only: claimed {} ago, allowed {limit}", age(silence));
            return Opinion::Dead(Rule::ClaimAge, detail);
        }
        Opinion::Alive(format!("claimed {} ago, allowed {limit}", age(silence)))
    }

    /// A threshold in words, with who said it where that is the config file.
    fn limit(&self, allowed: Allowed) -> String {
        format!("{}{}", age(allowed.span), self.policy.said_by(allowed.set_by, "older"))
    }

    /// Death by itself, unless the operator asked for a longer silence than this claim's.
    fn unless_younger(&self, rule: Rule, detail: String, sign: Option<Timestamp>) -> Opinion {
        match (self.older, sign) {
            (None, _) => Opinion::Dead(rule, detail),
            (Some(older), Some(sign)) if self.is_over(sign, older.span) => Opinion::Dead(rule, detail),
            (Some(older), Some(sign)) => {
                let (by, silence) = (self.policy.said_by(older.set_by, "older"), age(self.now.since(sign)));
                Opinion::Alive(format!("{detail}, but silent for {silence} only, not longer than asked{by}"))
            }
            (Some(_), None) => Opinion::Lost(format!("{detail}, but nothing tells for how long it has been silent")),
        }
    }

    fn ask(&mut self, rule: Rule, column: &str, value: String, fires: bool, detail: String) {
        if fires {
            self.reasons.push(Reason { rule, detail: detail.clone() });
        }
        let result = if fires { CheckResult::Fires } else { CheckResult::Clear };
        self.checks.push(Check { rule: rule.name(), column: column.to_owned(), value, result, detail });
    }

    /// Says what is wrong with a value that does not fit its declaration or cannot be right.
    fn must_be_plausible(&mut self, time: &TimeColumn, reading: &Reading, ahead: Option<Duration>) -> Option<String> {
        let name = &time.column.name;
        let why = match (reading, ahead) {
            (Reading::Unfit { raw, why }, _) => unfit(Some(time), raw, why),
            (Reading::At(at), _) if at.micros() < EARLIEST_MICROS => {
                format!("{name} is implausibly early, as if in another unit: {at}")
            }
            (Reading::At(at), Some(ahead)) if at.is_after(self.now.plus(ahead), Clocks::One) => {
                format!("{name} is {} ahead of the store's clock: {at}", age(at.since(self.now)))
            }
            _ => return None,
        };
        self.lack(why.clone());
        Some(why)
    }

    fn lack(&mut self, what: String) {
        if !self.lacking.contains(&what) {
            self.lacking.push(what);
        }
    }
}

/// What is wrong with a value that does not fit its declaration.
fn unfit(time: Option<&TimeColumn>, raw: &str, why: &str) -> String {
    let name = time.map_or("the value", |time| time.column.name.as_str());
    format!("{name} `{raw}` {why}")
}

/// Whether the threshold stands on the row.
fn by_row(source: &Liveness) -> bool {
    matches!(source.silent_after(), Some(SilentAfter::Column(_)))
}

fn shown(reading: &Reading) -> String {
    match reading {
        Reading::Absent => "-".to_owned(),
        Reading::At(at) => at.to_string(),
        Reading::Unfit { raw, .. } => raw.clone(),
    }
}
