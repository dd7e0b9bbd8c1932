//! Asks the preset's liveness sources in their order: the first that has a value decides whether the owner is dead.

use super::{Evaluation, shown, unfit};
use crate::model::{Clocks, FUTURE_TOLERANCE, LockSign, OwnerRow, Reading, Sign, Timestamp, age, is_threshold};
use crate::policy::late::is_late;
use crate::policy::thresholds::{Allowed, own_word};
use crate::policy::verdict::{Check, CheckResult, Reason, Rule};
use crate::preset::{Absence, Free, LEASE_AHEAD, Liveness, SilentAfter, silence_allowed};

/// What an owner's restart after the claim means.
const RESTARTED: &str = "the owner started after the claim was made: it is another process under the same name";

/// What one liveness source makes of a claim.
pub(super) enum Opinion {
    Dead(Rule, String),
    Alive(String),
    /// Nothing to judge by.
    Silent(String),
    /// Cannot be judged.
    Unknown(String),
}

impl Evaluation<'_> {
    pub(super) fn liveness(&mut self) {
        if self.judged_by_change() {
            return;
        }
        if let Some(claimed_at) = &self.spec.claim.claimed_at {
            self.must_be_plausible(claimed_at, &self.claim.claimed_at, Some(FUTURE_TOLERANCE));
        }
        let (spec, claim) = (self.spec, self.claim);
        // Checked even if it is no liveness source: it counts as a sign of life.
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
                        self.late = self.is_late(source, sign);
                        (CheckResult::Clear, detail)
                    }
                    Opinion::Silent(detail) => (CheckResult::NoValue, detail),
                    Opinion::Unknown(detail) => {
                        self.liveness = Some(name);
                        self.lack(detail.clone());
                        (CheckResult::Unusable, detail)
                    }
                }
            };
            // An implausible value makes the verdict unknown, whichever source has judged.
            let (result, detail) = implausible.map_or((result, detail), |why| (CheckResult::Unusable, why));
            self.note(name, &place, value, result, detail);
        }
        self.better_than_age(self.older_span());
        // A limit for its state can judge it too.
        let has_limit = self.policy.too_long.limit(claim).is_some() && claim.claimed_at.at().is_some();
        if self.liveness.is_none() && !has_limit {
            self.lack(match (spec.liveness.len(), spec.advice_only()) {
                (0, Some(why)) => why.to_owned(),
                (0, None) => match spec.missing_liveness() {
                    Some(line) => format!("no liveness is declared; add {line}"),
                    None => "this queue shows no sign of life; only a restart sweep can tell, by who its owners are"
                        .to_owned(),
                },
                _ => {
                    let names: Vec<&str> = spec.liveness.iter().map(Liveness::name).collect();
                    format!("no sign of life to judge by: nothing in {}", names.join(", "))
                }
            });
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
            return Opinion::Unknown(format!("the row allows it a silence of {}, which is no threshold", age(span)));
        }
        match (source, &sign.at) {
            (Liveness::Owner { .. }, at) => self.owner_opinion(at, allowed),
            (Liveness::Lock { free, .. }, _) => self.lock_opinion(sign.lock, *free),
            (_, Reading::Unfit { raw, why }) => Opinion::Unknown(unfit(source.column(), raw, why)),
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
            // A lease that the owner has outlived proves nothing. Never touch a fresh heartbeat.
            return Opinion::Silent(format!(
                "ran out {over} ago, but there is a later sign of life; the next source is asked"
            ));
        }
        // Its holder was silent for at least that long, even if no sign of life is recorded.
        let proven =
            self.last_seen_at.or(Some(end).filter(|end| self.older_span().is_none_or(|span| self.is_over(*end, span))));
        self.unless_younger(Rule::LeaseExpired, format!("lease ran out {over} ago"), proven)
    }

    fn owner_opinion(&self, at: &Reading, allowed: Option<Allowed>) -> Opinion {
        let Some(row) = &self.spec.owner.row else { return Opinion::Silent("there is no owners' table".to_owned()) };
        let absence = |absence: Absence, rule: Rule, what: String| match absence {
            Absence::Dead => self.unless_younger(rule, what, self.last_seen_at),
            Absence::Next => Opinion::Silent(format!("{what}; the next source is asked")),
            Absence::Unknown => Opinion::Unknown(what),
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
                Opinion::Unknown(unfit(row.heartbeat.as_ref(), raw, why))
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
                Opinion::Unknown("a standby does not see the locks that are held on its primary".to_owned())
            }
        }
    }

    /// A claim made after the last heartbeat is a sign of life too, so the silence counts from the later of the two.
    fn silence_opinion(&self, rule: Rule, what: &str, allowed: Option<Allowed>) -> Opinion {
        let (Some(sign), Some(allowed)) = (self.last_seen_at, allowed) else {
            return Opinion::Unknown("no threshold is known".to_owned());
        };
        let (silence, limit) = (self.now.since(sign), self.limit(allowed));
        if self.is_over(sign, allowed.span) {
            return Opinion::Dead(rule, format!("no {what} for {}, allowed {limit}", age(silence)));
        }
        Opinion::Alive(format!("last sign of life {} ago, allowed {limit}", age(silence)))
    }

    fn age_opinion(&self, at: Timestamp, allowed: Option<Allowed>) -> Opinion {
        let Some(allowed) = allowed else { return Opinion::Unknown("no threshold is known".to_owned()) };
        let sign = Timestamp::newest(self.last_seen_at, Some(at)).unwrap_or(at);
        let (silence, limit) = (self.now.since(sign), self.limit(allowed));
        if self.is_over(sign, allowed.span) {
            let detail = format!("age only: claimed {} ago, allowed {limit}", age(silence));
            return Opinion::Dead(Rule::ClaimAge, detail);
        }
        Opinion::Alive(format!("claimed {} ago, allowed {limit}", age(silence)))
    }

    /// A threshold in words, with its origin if that is the config file.
    pub(super) fn limit(&self, allowed: Allowed) -> String {
        format!("{}{}", age(allowed.span), self.policy.said_by(allowed.set_by, "older"))
    }

    /// Dead, unless the operator asked for a longer silence than this claim's.
    pub(super) fn unless_younger(&self, rule: Rule, detail: String, sign: Option<Timestamp>) -> Opinion {
        match (self.older, sign) {
            (None, _) => Opinion::Dead(rule, detail),
            (Some(older), Some(sign)) if self.is_over(sign, older.span) => Opinion::Dead(rule, detail),
            (Some(older), Some(sign)) => {
                let (by, silence) = (self.policy.said_by(older.set_by, "older"), age(self.now.since(sign)));
                Opinion::Alive(format!("{detail}, but silent for {silence} only, not longer than asked{by}"))
            }
            (Some(_), None) => Opinion::Unknown(format!("{detail}, but nothing tells for how long it has been silent")),
        }
    }

    /// The sign of life on the claim's own row, in words: a running lease, a fresh heartbeat, or a lock that a session holds.
    pub(super) fn sign_of_life(&self) -> Option<String> {
        if self.holds_lock() {
            return Some("a session holds its lock".to_owned());
        }
        let mut sources = self.spec.liveness.iter().zip(&self.claim.signs);
        sources.find_map(|(source, sign)| match (source, sign.at.at()?) {
            (Liveness::Lease { .. }, end) if !self.now.is_after(end, Clocks::One) => {
                Some(format!("its lease runs for another {}", age(end.since(self.now))))
            }
            (Liveness::Heartbeat { .. }, beat) => {
                let allowed = self.allowed(source, sign)?;
                let fresh = !self.is_over(beat, allowed.span);
                fresh.then(|| {
                    format!("its heartbeat is {} old, allowed {}", age(self.now.since(beat)), self.limit(allowed))
                })
            }
            _ => None,
        })
    }

    pub(super) fn owner_restarted(&mut self) {
        let Some(column) = self.spec.owner.row.as_ref().and_then(|row| row.started.as_ref()) else { return };
        let OwnerRow::Present { started, .. } = &self.claim.owner_row else { return };
        if self.must_be_plausible(column, started, Some(FUTURE_TOLERANCE)).is_some() {
            return;
        }
        let place = column.column.to_string();
        let (Some(start), Some(claimed)) = (started.at(), self.claim.claimed_at.at()) else {
            let detail = "it does not say when the owner started, or when the job was claimed".to_owned();
            let (rule, value, result) = (Rule::OwnerRestarted.name(), shown(started), CheckResult::NoValue);
            return self.checks.push(Check { rule, column: place, value, result, detail });
        };
        let (later, column) = (start.is_after(claimed, Clocks::Two), place);
        match (later, self.sign_of_life()) {
            (true, None) => self.ask(Rule::OwnerRestarted, &column, shown(started), true, RESTARTED.to_owned()),
            (true, Some(life)) => self.contradicts(Rule::OwnerRestarted, &column, shown(started), RESTARTED, &life),
            (false, _) => {
                let detail = "the owner did not start more than a minute after the claim".to_owned();
                self.ask(Rule::OwnerRestarted, &column, shown(started), false, detail);
            }
        }
    }

    /// Makes the verdict unknown: a rule infers death, and the claim's own row shows life.
    pub(super) fn contradicts(&mut self, rule: Rule, column: &str, value: String, death: &str, life: &str) {
        let detail = format!("{death}, but {life}");
        self.lack(detail.clone());
        self.note(rule.name(), column, value, CheckResult::Unusable, detail);
    }
}

/// True if the threshold is a column of the row.
fn by_row(source: &Liveness) -> bool {
    matches!(source.silent_after(), Some(SilentAfter::Column(_)))
}
