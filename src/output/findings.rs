//! Puts what the judge and the planner find into sentences. No other code does.

use super::format::Times;
use crate::model::{LockSign, Reading, Timestamp, age};
use crate::policy::{Check, CheckResult, Finding, Limit, SetBy, SkipReason, Standing, Value};
use std::time::Duration;

/// How a sentence is written. By default it is whole and has exact instants, as in documents.
#[derive(Clone, Copy, Default)]
pub(super) struct Wording {
    /// How people read instants, and as of which one.
    pub(super) times: Option<(Timestamp, Times)>,
    /// True in a list of jobs: an instant is left out if the sentence says how far ahead it lies.
    pub(super) is_short: bool,
    /// The silence that a list has in a column of its own, and its sentences need not repeat.
    pub(super) silence: Option<Duration>,
}

/// The sentence of a finding, as documents have it.
pub fn sentence(finding: &Finding) -> String {
    Wording::default().finding(finding)
}

impl Wording {
    fn finding(self, finding: &Finding) -> String {
        use Finding::*;
        let (span, older) = (|span: &Duration| age(*span), |limit: &Limit| allowed(limit, "older"));
        // Parts of a sentence keep their silence.
        let part = |part: &Finding| Wording { silence: None, ..self }.finding(part);
        let at = |at: &Timestamp| self.at(*at);
        match finding {
            NullKey => "its key is NULL, so jobdoctor cannot tell it from others".into(),
            Unfit(column, raw, why) => format!("{} `{raw}` {why}", column.as_deref().unwrap_or("the value")),
            TooEarly(column, time) => format!("{column} is implausibly early, as if in another unit: {}", at(time)),
            Ahead(column, time, by, has_no_zone) => {
                let ahead = format!("{column} is {} ahead of the database's clock{}", span(by), zone(*has_no_zone));
                if self.is_short { ahead } else { format!("{ahead}: {}", at(time)) }
            }
            IfUtc(death, time) => format!("{}, if {time} is in UTC, which is not known: set `time_zone`", part(death)),
            NotAsked => "a better source has judged".into(),
            Nothing => "nothing there".into(),
            NoThreshold => "no threshold is known".into(),
            NoThresholdOnRow => "the row names no threshold for it".into(),
            OddThreshold(odd) => format!("the row allows it a silence of {}, which is not a threshold", span(odd)),
            LeaseRuns(left) => format!("runs for another {}", span(left)),
            // It ended at most as long ago as the job has been silent.
            LeaseEnded(_) if self.silence.is_some() => "lease ran out".into(),
            LeaseEnded(over) => format!("lease ran out {} ago", span(over)),
            LeaseOutlived(over) => format!("ran out {} ago, but there is a later sign of life", span(over)),
            Silent(silence, limit) => format!("no heartbeat{}, {}", self.silent(" for ", silence, ""), older(limit)),
            OwnerSilent(silence, limit) => {
                format!("no heartbeat of the owner{}, {}", self.silent(" for ", silence, ""), older(limit))
            }
            Seen(silence, limit) => format!("last sign of life {} ago, {}", span(silence), older(limit)),
            HeartbeatFresh(silence, limit) => format!("its heartbeat is {} old, {}", span(silence), older(limit)),
            Old(held, limit) => format!("age only{}, {}", self.silent(": claimed ", held, " ago"), older(limit)),
            Young(held, limit) => format!("claimed {} ago, {}", span(held), older(limit)),
            Lock(sign) => lock(*sign).into(),
            OwnerMissing(owner) => format!("the owner {owner} has no row"),
            OwnerUnset => "the claim names no owner".into(),
            OwnerWithoutHeartbeat => "the owner has no heartbeat".into(),
            NothingIn(sources) => format!("no sign of life to judge by: nothing in {}", sources.join(", ")),
            NoLiveness(Some(line)) => format!("no liveness is declared; add {line}"),
            NoLiveness(None) => "this queue records no sign of life; only a restart sweep can judge its claims".into(),
            Preset(text) => text.clone(),
            But(death, life) => {
                let its = if matches!(**life, LeaseRuns(_)) { "its lease " } else { "" };
                format!("{}, but {its}{}", part(death), part(life))
            }
            SilentOnly(silence, limit) => format!("silent for {} only, {}", span(silence), older(limit)),
            ClaimedInSilence(after, limit) => {
                let of = format!("claimed {} after its owner's last heartbeat, {}", span(after), older(limit));
                format!("{of}: one of their clocks may be wrong")
            }
            SilenceUnknown => SILENCE_UNKNOWN.into(),
            OwnerRestarted => OWNER_RESTARTED.into(),
            OwnerNotRestarted => "the owner did not start more than a minute after the claim".into(),
            OwnerStartUnknown => "the time of the claim, or of its owner's start, is missing".into(),
            List(owner, standing) => listed(owner, standing),
            Unchanged(still, None) => format!("nothing changed for {} of watching so far", span(still)),
            Unchanged(still, Some(most)) => {
                format!("nothing changed for {} of watching, allowed {}", span(still), span(most))
            }
            ChangedSince(ago) => format!("its clock is wrong, but it showed life since the snapshot {} ago", span(ago)),
            ChangedAgo(still) => format!("its clock is wrong, but it was seen to show life {} ago", span(still)),
            NoProgress(still, most) => format!("no progress for {} of watching, allowed {}", span(still), span(most)),
            ProgressSince(snapshot) => format!("it made progress since the snapshot {} ago", span(snapshot)),
            DeclaredDead(owner) => format!("restart sweep: {owner} is declared dead"),
            OutOfScope => "the owner is not in the scope of this sweep".into(),
            BeatAfterSweep(ago) => {
                format!("its own heartbeat of {} ago is later than the sweep's beginning", span(ago))
            }
            NotBeforeSweep => "not known to have been claimed before the sweep began".into(),
            ClaimedAfterSweep => CLAIMED_AFTER_SWEEP.into(),
            ClaimTimeUnknown => "the row does not say when it was claimed: perhaps after the sweep began".into(),
            NotAmongFirst => "it was not in flight, or was another claim, when the sweep began".into(),
            ClaimedBefore(death, time, end) => format!("{}; claimed {}, before {}", part(death), at(time), at(end)),
            ClaimedLater(None, end) => format!("claimed at an unknown time, not before {}", at(end)),
            ClaimedLater(Some(time), end) => format!("claimed {}, not before {}", at(time), at(end)),
            LockHeldInSweep => "a living session holds its lock: stop that process first".into(),
            NoDeadline => "there is no deadline".into(),
            DeadlineAhead => "the deadline has not passed".into(),
            DeadlinePassed(over) => format!("deadline passed {} ago", span(over)),
            CancelRequested => "its cancel was asked for".into(),
            Runs(time, limit) => format!("runs for {}, {}", span(time), allowed(limit, "max_runtime")),
            RunTimeUnknown => "the row does not say since when it runs".into(),
            NoRunLimit => "no limit is set".into(),
            StateTimeUnknown(state) => format!("the row does not say since when it is in {state}"),
            InState(state, time, limit) => format!("in {state} for {}, {}", span(time), allowed(limit, "")),
            Waits(state, since, time, limit) => {
                format!("waits in {state}, {} past {since}, {}", span(time), allowed(limit, ""))
            }
            Interrupted(_) if self.silence.is_some() => "failed because its worker died".into(),
            Interrupted(ago) => format!("failed {} ago because its worker died", span(ago)),
            FailedBefore(ago, most) => format!("it failed {} ago, longer than the {} asked for", span(ago), span(most)),
            NotOffered(preset, action) => format!("preset {preset} has no {action}"),
            NoInteger(what, kind, value) => format!("{what} is {kind}, not an integer: `{value}`"),
            Uncountable(attempts) => format!("attempts is {attempts}, which cannot be incremented"),
            LossesUnknown(most) => format!("no record says how often it was lost before, {most} allowed"),
            Lost(times, most) => lost(*times, *most),
            InStateNow(state) => format!("it is {state}, not in flight"),
            NotInterrupted(state) => format!("it is {state}, and no job that failed because its worker died"),
            Planned(then, now) => format!("the plan was to {then} it, not to {now}"),
            BetweenSnapshots(apart) => format!("showed life between two snapshots {} apart", span(apart)),
            RowGone => "its row is no longer there".into(),
            RowChanged => "its row has changed".into(),
            Skipped(skipped) => self.skipped(skipped.reason, &skipped.findings),
            RowNotRecorded => ROW_NOT_RECORDED.into(),
            ManyUpdates => "it was changed by more than one UPDATE of one table".into(),
            AsBefore => "already what it was before that run".into(),
            ChangedSinceRun(None) => "changed since that run".into(),
            ChangedSinceRun(Some(state)) => format!("changed since that run: it is {state} now"),
        }
    }

    /// The sentence of a check: what was found, and what is asked next if that is nothing.
    pub(super) fn check(self, check: &Check) -> String {
        let next = match (check.result, &check.finding) {
            (CheckResult::NoValue, Finding::Unchanged(..) | Finding::OwnerStartUnknown | Finding::But(..)) => "",
            (CheckResult::NoValue, Finding::List(..)) => "; jobdoctor asks the sources",
            (CheckResult::NoValue, _) => "; jobdoctor asks the next source",
            _ => "",
        };
        self.finding(&check.finding) + next
    }

    /// The sentence of a job that is skipped.
    pub(super) fn skipped(self, reason: SkipReason, findings: &[Finding]) -> String {
        let between = match reason {
            SkipReason::ActionNotOffered | SkipReason::ActionRefused => "; and ",
            SkipReason::ChangedBetweenSnapshots => ": ",
            _ => "; ",
        };
        let why = self.findings(findings, between);
        match reason {
            SkipReason::Healthy if why.is_empty() => "it shows life".to_owned(),
            SkipReason::Changed if why.is_empty() => "it is no longer what the plan saw".to_owned(),
            // What shows life is named there already.
            SkipReason::OwnerAlive if findings.iter().any(|finding| matches!(finding, Finding::But(..))) => why,
            SkipReason::OwnerAlive => why + ", but its owner shows life",
            SkipReason::AttemptsExhausted => "its attempts are used up: it can only fail".to_owned(),
            SkipReason::StallsExhausted => why + ": only a higher --max-stalls requeues it",
            _ => why,
        }
    }

    /// The sentences of findings in one line.
    pub(super) fn findings<'a>(self, findings: impl IntoIterator<Item = &'a Finding>, between: &str) -> String {
        findings.into_iter().map(|finding| self.finding(finding)).collect::<Vec<_>>().join(between)
    }

    pub(super) fn value(self, value: &Value) -> String {
        match value {
            Value::Time(Reading::Absent) | Value::Lock(LockSign::Absent) => "-".to_owned(),
            Value::Time(Reading::At(at)) => self.at(*at),
            Value::Time(Reading::Unfit { raw: text, .. }) | Value::Name(text) => text.clone(),
            Value::Span(span) => age(*span),
            Value::Lock(LockSign::Held) => "held".to_owned(),
            Value::Lock(LockSign::Free) => "free".to_owned(),
            Value::Lock(LockSign::OutOfSight) => "out of sight".to_owned(),
        }
    }

    /// Says how long a job was silent, between these words, unless the list's own column says so.
    fn silent(self, before: &str, silence: &Duration, after: &str) -> String {
        let silence = age(*silence);
        let is_shown = self.silence.map(age).as_ref() == Some(&silence);
        if is_shown { String::new() } else { format!("{before}{silence}{after}") }
    }

    fn at(self, at: Timestamp) -> String {
        self.times.map_or_else(|| at.to_string(), |(now, times)| times.show(at, now))
    }
}

const SILENCE_UNKNOWN: &str =
    "the row does not say how long it has been silent; two snapshots (--confirm-after) or a restart sweep can tell";
const OWNER_RESTARTED: &str = "the owner started after the claim was made: it is another process under the same name";
const CLAIMED_AFTER_SWEEP: &str = "claimed after the sweep began, by the row's own time: it may be a new worker's";
const ROW_NOT_RECORDED: &str = "the record lacks its former values: several statements moved it, the journal has gaps, or its columns could not be read";

fn zone(is_missing: bool) -> &'static str {
    if is_missing { ", or `time_zone` is missing" } else { "" }
}

fn lock(sign: LockSign) -> &'static str {
    match sign {
        LockSign::Held => "a session holds its lock",
        LockSign::Free => "no session holds its lock",
        LockSign::Absent => "the lock says nothing about it",
        LockSign::OutOfSight => "a standby does not see the locks that are held on its primary",
    }
}

fn lost(times: i64, most: u32) -> String {
    match times {
        0 => "lost for the first time, 0 allowed".to_owned(),
        1 => format!("lost once already, {most} allowed"),
        _ => format!("lost {times} times already, {most} allowed"),
    }
}

fn listed(owner: &str, standing: &Standing) -> String {
    let is_missing = format!("owner {owner} is not on the list of living owners");
    match standing {
        Standing::Listed => format!("owner {owner} is on the list of living owners"),
        Standing::Missing => is_missing,
        Standing::Resembles(entry) => {
            format!("{is_missing}, but resembles its entry {entry}: list owners as their jobs name them")
        }
        Standing::NoOwner => "the claim names no owner, so no list can say whether it is dead".to_owned(),
        Standing::ClaimedLater => format!("{is_missing}, but may have claimed the job after the list was made"),
        Standing::BeatLater => format!("{is_missing}, but may have shown life after the list was made"),
        Standing::NoClaimTime => format!("{is_missing}, and its claim does not say when it was made"),
    }
}

/// A limit, and where it is set, if that is in the config file under this key.
fn allowed(limit: &Limit, key: &str) -> String {
    format!("allowed {}{}", age(limit.allowed.span), origin(limit, key))
}

fn origin(limit: &Limit, key: &str) -> String {
    let target = &limit.target;
    match limit.allowed.set_by {
        SetBy::Entry(n) => format!(" (threshold {n} of target {target})"),
        SetBy::TooLong(n) => format!(" (too_long {n} of target {target})"),
        SetBy::Target => format!(" ({key} of target {target})"),
        SetBy::Flag | SetBy::Row | SetBy::Preset => String::new(),
    }
}
