//! Numbers about a whole queue: how many jobs are in which state, and how long jobs run.

mod runtimes;

pub(super) use runtimes::run_time;
pub use runtimes::runtimes;

use crate::model::Cell;
use crate::ops::OpsError;
use crate::ops::health::measure;
use crate::ops::scan::longest;
use crate::ops::selection::{Selection, unmatched_filters};
use crate::ops::session::Snapshot;
use crate::ops::waiting;
use crate::output::{JobCounts, MeasuredQueue, QueueStats, StateCount, Stats, StatsHead, StatsSummary};
use crate::policy::{Policy, QueueFlow};
use crate::preset::{Jobs, StateSource, StateValue};
use crate::store::RowCount;
use std::collections::{BTreeMap, BTreeSet};
use strum::IntoStaticStr;

/// Counts jobs by queue and state, with the ages of the oldest claims. The counts come from one statement over the
/// whole table, the rest from the claims, all in one snapshot.
pub fn stats(snapshot: &mut Snapshot, selection: &Selection, policy: &Policy) -> Result<Stats, OpsError> {
    selection.fits(&snapshot.jobs, policy)?;
    let mut measured = measure(snapshot, selection, policy)?;
    let (now, jobs) = (snapshot.now(), &snapshot.jobs);
    let mut counts = Counts::default();
    for tally in snapshot.reader.count_by_state(jobs, !selection.kinds.patterns().is_empty())? {
        if selection.queues.admits(tally.queue.as_deref()) && selection.kinds.admits(tally.kind.as_deref()) {
            counts.add(jobs, tally);
        }
    }
    let has_states = matches!(jobs.claim.state, StateSource::Column(_));
    let mut findings = counts.findings(jobs, has_states);
    if measured.queues.is_empty() {
        findings.extend(unmatched_filters(snapshot, selection)?);
    }
    let jobs = &snapshot.jobs;
    let waiting = measured.waiting.unwrap_or_default();
    findings.extend((waiting.due.is_none() && waiting::is_asked_for(selection)).then(|| waiting.sentence()));
    let mut flows: BTreeMap<Option<String>, QueueFlow> =
        waiting.queues.into_iter().map(|flow| (flow.queue.clone(), flow)).collect();
    // A queue may have claims and jobs that wait in tables of their own.
    measured.queues.keys().chain(flows.keys()).for_each(|queue| _ = counts.queues.entry(queue.clone()).or_default());
    let queues: Vec<QueueStats> = counts
        .queues
        .into_iter()
        .map(|(queue, states)| {
            let flow = flows.remove(&queue).or_else(|| waiting.due.map(|_| QueueFlow::default()));
            let claims = measured.queues.remove(&queue).unwrap_or_default();
            QueueStats { queue, ..finish(states, &claims, jobs, flow) }
        })
        .collect();
    let (target, filter) = (snapshot.target.clone(), selection.filter(policy));
    let head = StatsHead { schema: "jobdoctor.stats/v1", store_time: now, target, filter, findings };
    Ok(Stats { head, summary: total(&queues), queues })
}

/// Rows by meaning and state.
type States = BTreeMap<(Option<Meaning>, String), u64>;

#[derive(Default)]
struct Counts {
    queues: BTreeMap<Option<String>, States>,
    unfamiliar: BTreeSet<String>,
}

impl Counts {
    fn add(&mut self, jobs: &Jobs, tally: RowCount) {
        let name = jobs.queue.states.name_of(&tally.state);
        let meaning = meaning(jobs, &tally.state);
        if meaning.is_none() {
            self.unfamiliar.insert(name.clone());
        }
        let queue = self.queues.entry(tally.queue).or_default();
        *queue.entry((meaning, name)).or_default() += tally.rows;
    }

    fn findings(&self, jobs: &Jobs, has_states: bool) -> Vec<String> {
        let mut findings = Vec::new();
        if !has_states {
            findings.push(format!(
                "preset {}: the table that holds a row is its state, so this counts only jobs in flight",
                jobs.queue.preset
            ));
        }
        if !self.unfamiliar.is_empty() {
            let states: Vec<&str> = self.unfamiliar.iter().map(String::as_str).take(20).collect();
            let (preset, states) = (&jobs.queue.preset, states.join(", "));
            findings.push(format!("rows are in states that preset {preset} does not have: {states}"));
        }
        findings
    }
}

/// What a state means. `None` for one that the preset does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum Meaning {
    Waiting,
    InFlight,
    Done,
    Failed,
    Cancelled,
}

impl Meaning {
    fn name(self) -> &'static str {
        self.into()
    }
}

fn meaning(jobs: &Jobs, stored: &Cell) -> Option<Meaning> {
    let states = &jobs.queue.states;
    // As text: a state that is declared as an integer arrives as one.
    let text = stored.to_text();
    let holds = |list: &[StateValue]| list.iter().any(|state| state.stored.to_text() == text);
    let meanings = [
        (&states.waiting, Meaning::Waiting),
        (&states.in_flight, Meaning::InFlight),
        (&states.done, Meaning::Done),
        (&states.failed, Meaning::Failed),
        (&states.cancelled, Meaning::Cancelled),
    ];
    meanings.into_iter().find_map(|(list, meaning)| holds(list).then_some(meaning))
}

fn finish(states: States, claims: &MeasuredQueue, spec: &Jobs, flow: Option<QueueFlow>) -> QueueStats {
    let has_states = matches!(spec.claim.state, StateSource::Column(_));
    let of = |wanted: Option<Meaning>| {
        let states = states.iter().filter(|((meaning, _), _)| *meaning == wanted);
        has_states.then(|| states.map(|(_, rows)| rows).sum())
    };
    let all = states.iter().map(|((meaning, state), jobs)| StateCount {
        state: state.clone(),
        meaning: meaning.map(|meaning| meaning.name().to_owned()),
        jobs: *jobs,
    });
    let place = || spec.in_flight_names().first().cloned().unwrap_or_default();
    let in_place = || StateCount { state: place(), meaning: Some("in_flight".to_owned()), jobs: claims.in_flight() };
    let counts = JobCounts {
        waiting: of(Some(Meaning::Waiting)),
        in_flight: claims.in_flight(),
        stuck: claims.stuck(),
        unknown: claims.unknown(),
        done: of(Some(Meaning::Done)),
        failed: of(Some(Meaning::Failed)),
        cancelled: of(Some(Meaning::Cancelled)),
        other: of(None),
        oldest_in_flight_seconds: claims.oldest_claim_seconds,
        oldest_stuck_seconds: claims.oldest_silence_seconds,
        due: flow.as_ref().map(|flow| flow.due),
        oldest_due_seconds: flow.as_ref().and_then(|flow| flow.oldest_due_seconds),
        done_5m: flow.and_then(|flow| flow.done_5m),
    };
    QueueStats { counts, states: if has_states { all.collect() } else { vec![in_place()] }, queue: None }
}

fn total(queues: &[QueueStats]) -> StatsSummary {
    let mut total = JobCounts::default();
    let add = |sum: &mut Option<u64>, jobs: Option<u64>| {
        if let Some(jobs) = jobs {
            *sum.get_or_insert(0) += jobs;
        }
    };
    for queue in queues.iter().map(|queue| &queue.counts) {
        add(&mut total.waiting, queue.waiting);
        total.in_flight += queue.in_flight;
        total.stuck += queue.stuck;
        total.unknown += queue.unknown;
        add(&mut total.done, queue.done);
        add(&mut total.failed, queue.failed);
        add(&mut total.cancelled, queue.cancelled);
        add(&mut total.other, queue.other);
        longest(&mut total.oldest_in_flight_seconds, queue.oldest_in_flight_seconds);
        longest(&mut total.oldest_stuck_seconds, queue.oldest_stuck_seconds);
        add(&mut total.due, queue.due);
        longest(&mut total.oldest_due_seconds, queue.oldest_due_seconds);
        add(&mut total.done_5m, queue.done_5m);
    }
    StatsSummary { queues: queues.len() as u64, counts: total }
}
