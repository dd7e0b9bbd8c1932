//! What monitoring reads: claims counted by queue, state and reason, and compared with the ranges of a plugin.

use super::OpsError;
use super::owners::Life;
use super::scan::longest;
use super::selection::{Selection, unmatched_filters};
use super::session::Snapshot;
use super::survey::{Survey, Surveyed};
use super::waiting;
use crate::model::age;
use crate::output::{
    Diagnosis, Health, HealthCheck, HealthQueue, HealthReason, HealthSummary, Measured, MeasuredState, Waiting,
};
use crate::policy::{Alerts, Measure, Policy, Proves, Rule, State, UnfamiliarStates, Verdict};
use crate::preset::{EARLIEST_MICROS, Jobs, Liveness};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;
use strum::IntoEnumIterator;

/// Compares what is in flight with the ranges of `alerts`.
pub fn health(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    alerts: &Alerts,
) -> Result<(State, Health), OpsError> {
    selection.check(&snapshot.jobs, policy)?;
    let measured = measure(snapshot, selection, policy)?;
    let (in_flight, stuck) = (measured.in_flight(), measured.stuck());
    let summary = HealthSummary {
        in_flight,
        stuck,
        unknown: measured.unknown(),
        oldest_silence_seconds: measured.oldest_silence_seconds(),
        stuck_percent: if in_flight == 0 { 0.0 } else { 100.0 * stuck as f64 / in_flight as f64 },
        waiting: measured.waiting.clone(),
    };
    let checks: Vec<(State, HealthCheck)> =
        Measure::ALL.into_iter().map(|measure| check(measure, value(measure, &summary), alerts)).collect();
    // Rows that no command looks at may be all that is in flight.
    let unfamiliar = snapshot.unfamiliar_states()?;
    let understood = match unfamiliar.as_ref().filter(|found| !found.are_unasked()) {
        Some(_) if summary.in_flight == 0 => State::Unknown,
        Some(_) => State::Warning,
        None => State::Ok,
    };
    let states = checks.iter().map(|(state, _)| *state).chain([measured.state, understood]);
    let state = states.max().unwrap_or(State::Ok);
    let document = Health {
        schema: Health::SCHEMA,
        state: state.name().to_owned(),
        message: format!("{}{}", message(&summary, &reasons(&measured)), why(state, &summary, alerts, &measured)),
        store_time: Some(snapshot.now()),
        target: Some(snapshot.target.clone()),
        filter: Some(selection.filter(policy)),
        checks: checks.into_iter().map(|(_, check)| check).collect(),
        reasons: reasons(&measured),
        queues: queues(&measured),
        findings: findings(snapshot, selection, unfamiliar, &measured)?,
        summary: Some(summary),
        error: None,
    };
    Ok((state, document))
}

/// `None` if claims are stuck whose silence is unknown.
fn value(measure: Measure, summary: &HealthSummary) -> Option<f64> {
    match measure {
        Measure::Stuck => Some(summary.stuck as f64),
        Measure::Silence if summary.stuck == 0 => Some(0.0),
        Measure::Silence => summary.oldest_silence_seconds,
        Measure::Share => Some(summary.stuck_percent),
        Measure::Unknown => Some(summary.unknown as f64),
        Measure::Due => summary.waiting.as_ref()?.due.map(|due| due as f64),
        Measure::OldestDue => match summary.waiting.as_ref()? {
            Waiting { due: Some(0), .. } => Some(0.0),
            waiting => waiting.oldest_due_seconds,
        },
    }
}

fn check(measure: Measure, value: Option<f64>, alerts: &Alerts) -> (State, HealthCheck) {
    let state = alerts.state_at(measure, value);
    let range = |list: &[_]| Alerts::range(list, measure).map(|range| range.to_string());
    let check = HealthCheck {
        name: measure.name().to_owned(),
        value,
        warning: range(&alerts.warning),
        critical: range(&alerts.critical),
        state: state.name().to_owned(),
    };
    (state, check)
}

fn message(summary: &HealthSummary, reasons: &[HealthReason]) -> String {
    let by_age = reasons.iter().filter(|reason| reason.proves == Proves::Age).map(|reason| reason.jobs).sum::<u64>();
    let stuck = match by_age {
        0 => format!("{} stuck", summary.stuck),
        all if all == summary.stuck => format!("{all} older than allowed (age only)"),
        some => format!("{} stuck, {some} of them age only", summary.stuck),
    };
    let unknown = if summary.unknown > 0 { format!(", {} unknown", summary.unknown) } else { String::new() };
    let silent = summary.oldest_silence_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let silent = silent.map_or_else(String::new, |silent| format!(", longest silent {}", age(silent)));
    let due = summary.waiting.as_ref().map_or_else(String::new, |waiting| format!("; {}", waiting.sentence()));
    format!("{stuck}{unknown}, of {} in flight{silent}{due}", summary.in_flight)
}

/// What explains the state: `: stuck 12 above 10, queue mail stands still`.
fn why(state: State, summary: &HealthSummary, alerts: &Alerts, measured: &Measured) -> String {
    let spelled = |measure: Measure, value: f64| match (measure, Duration::try_from_secs_f64(value)) {
        (Measure::Silence | Measure::OldestDue, Ok(span)) => age(span),
        (Measure::Share, _) => format!("{}%", (value * 100.0).round() / 100.0),
        _ => value.to_string(),
    };
    let range = |measure: Measure| {
        let value = value(measure, summary);
        if state == State::Ok || alerts.state_at(measure, value) != state {
            return None;
        }
        let name = measure.name();
        let Some(value) = value else { return Some(format!("{name} not known")) };
        let range = alerts.broken(measure, value)?;
        let ends = range.broken(value, |end| spelled(measure, end))?;
        Some(format!("{name} {} {ends}", spelled(measure, value)))
    };
    let still = measured.diagnoses.first().filter(|_| state != State::Ok && state == measured.state);
    let still = still.map(|diagnosis| diagnosis.headline.clone());
    let why: Vec<String> = Measure::ALL.into_iter().filter_map(range).chain(still).collect();
    if why.is_empty() { String::new() } else { format!(": {}", why.join(", ")) }
}

fn reasons(measured: &Measured) -> Vec<HealthReason> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for state in measured.queues.values().flat_map(|queue| queue.states.values()) {
        state.stuck.iter().for_each(|(rule, jobs)| *counts.entry(rule).or_default() += jobs);
    }
    let reason = |rule: Rule| HealthReason {
        rule: rule.name().to_owned(),
        proves: rule.proves(),
        jobs: counts.get(rule.name()).copied().unwrap_or_default(),
    };
    let mut reasons: Vec<HealthReason> = Rule::iter().map(reason).filter(|reason| reason.jobs > 0).collect();
    reasons.sort_by_key(|reason| Reverse(reason.jobs));
    reasons
}

fn queues(measured: &Measured) -> Vec<HealthQueue> {
    let queue = |(name, queue): (&Option<String>, &crate::output::MeasuredQueue)| HealthQueue {
        queue: name.clone(),
        in_flight: queue.in_flight(),
        stuck: queue.stuck(),
        unknown: queue.unknown(),
        oldest_silence_seconds: queue.oldest_silence_seconds,
    };
    let mut queues: Vec<HealthQueue> = measured.queues.iter().map(queue).collect();
    queues.retain(|queue| queue.stuck + queue.unknown > 0);
    queues.sort_by_key(|queue| Reverse((queue.stuck, queue.unknown)));
    queues
}

/// Why the numbers may be incomplete: "could not read" must never look like "nothing found".
fn findings(
    snapshot: &mut Snapshot,
    selection: &Selection,
    unfamiliar: Option<UnfamiliarStates>,
    measured: &Measured,
) -> Result<Vec<String>, OpsError> {
    let mut findings: Vec<String> = measured.diagnoses.iter().map(|diagnosis| diagnosis.text.clone()).collect();
    if snapshot.target.standby.is_some() {
        findings.push("this is a standby: it shows the past, and silence is measured up to that moment".to_owned());
    }
    findings.extend(unfamiliar.map(|found| found.sentence()));
    if measured.in_flight() == 0 {
        findings.extend(unmatched_filters(snapshot, selection)?);
    }
    Ok(findings)
}

/// Counts what is in flight by queue and state, and what is stuck by reason. Reads every claim of the queue: healthy
/// ones count too.
pub fn measure(snapshot: &mut Snapshot, selection: &Selection, policy: &Policy) -> Result<Measured, OpsError> {
    selection.fits(&snapshot.jobs, policy)?;
    let (now, jobs) = (snapshot.now(), snapshot.jobs.clone());
    let usual = MeasuredState {
        stuck: usual_rules(&jobs, policy).into_iter().map(|rule| (rule.name(), 0)).collect(),
        ..MeasuredState::default()
    };
    let mut measured = Measured::default();
    let mut owners: BTreeMap<String, (Life, bool)> = BTreeMap::new();
    let with_waiting = waiting::is_asked_for(selection);
    let survey = Survey { with_healthy: true, with_waiting, ..Survey::of(&jobs, selection, policy) };
    let mut seen = survey.run(snapshot, &mut |Surveyed { claim, judgement, is_selected, .. }| {
        if let Some(owner) = &claim.owner {
            let (life, is_counted) = owners.entry(owner.name.clone()).or_default();
            life.add(&judgement);
            *is_counted |= is_selected;
        }
        if !is_selected {
            return ControlFlow::Continue(());
        }
        let queue = measured.queues.entry(claim.queue.clone()).or_default();
        // An implausible time makes the verdict unknown, and says nothing about ages.
        let claimed = claim.claimed_at.at().filter(|at| at.micros() >= EARLIEST_MICROS);
        longest(&mut queue.oldest_claim_seconds, claimed.map(|at| now.since(at).as_secs_f64()));
        let state = queue.states.entry(claim.state.clone()).or_insert_with(|| usual.clone());
        state.in_flight += 1;
        match judgement.verdict {
            Verdict::Healthy => {}
            Verdict::Unknown(_) => state.unknown += 1,
            Verdict::Stuck(reasons) => {
                if let Some(reason) = reasons.first() {
                    *state.stuck.entry(reason.rule.name()).or_default() += 1;
                }
                longest(&mut queue.oldest_silence_seconds, judgement.silence.map(|silence| silence.as_secs_f64()));
            }
        }
        ControlFlow::Continue(())
    })?;
    if snapshot.jobs.owner.id.is_some() {
        measured.owners = Life::STATUSES.map(|status| (status, 0)).into();
        let counted = owners.values().filter(|(_, is_counted)| *is_counted);
        counted.for_each(|(life, _)| *measured.owners.entry(life.status()).or_default() += 1);
    }
    if let Some((waiting, flows)) = seen.waiting(snapshot) {
        measured.state = flows.diagnoses.iter().map(|one| one.what.severity()).max().unwrap_or_default();
        measured.diagnoses = Diagnosis::list(flows.diagnoses, now);
        if waiting.is_in_doubt() && measured.state == State::Ok {
            measured.state = State::Unknown;
        }
        measured.waiting = Some(waiting);
    }
    Ok(measured)
}

/// The rules that usually call a claim of this queue dead. Their counts are always present, zeros included: a graph
/// needs them.
fn usual_rules(jobs: &Jobs, policy: &Policy) -> Vec<Rule> {
    if policy.restart.is_some() {
        return vec![if policy.list().is_some() { Rule::LiveOwnerList } else { Rule::Restart }];
    }
    let of_source = |source: &Liveness| match source {
        Liveness::Lease { .. } => Rule::LeaseExpired,
        Liveness::Heartbeat { .. } => Rule::HeartbeatSilent,
        Liveness::Owner { .. } => Rule::OwnerSilent,
        Liveness::Age { .. } => Rule::ClaimAge,
        Liveness::Lock { .. } => Rule::LockFree,
    };
    jobs.liveness.iter().map(of_source).collect()
}
