//! Counts jobs by queue and state.

use crate::model::{Cell, Claim, Timestamp};
use crate::ops::OpsError;
use crate::ops::scan::{detail_for_listing, longest};
use crate::ops::selection::Selection;
use crate::ops::session::Snapshot;
use crate::output::{JobCounts, QueueStats, StateCount, Stats, StatsHead, StatsSummary};
use crate::policy::{Judgement, Policy, Verdict, judge};
use crate::preset::{EARLIEST_MICROS, QueueSpec, StateSource, StateValue};
use crate::store::{RowCount, Wanted};
use std::collections::{BTreeMap, BTreeSet};

/// Counts jobs by queue and state, with the ages of the oldest claims. The counts come from one statement over the
/// whole table, the rest from the claims, all in one snapshot.
pub fn stats(snapshot: &mut Snapshot, selection: &Selection, policy: &Policy) -> Result<Stats, OpsError> {
    selection.fits(&snapshot.spec, policy)?;
    let now = snapshot.now();
    let spec = &snapshot.spec;
    let mut counts = Counts::default();
    for tally in snapshot.reader.count_by_state(spec, !selection.kinds.patterns().is_empty())? {
        if selection.queues.admits(tally.queue.as_deref()) && selection.kinds.admits(tally.kind.as_deref()) {
            counts.add(spec, tally);
        }
    }
    snapshot.reader.scan(spec, &Wanted::All, detail_for_listing(policy), &mut |claim| {
        if selection.admits(&claim) {
            let judgement = judge(spec, &claim, policy, now);
            counts.queues.entry(claim.queue.clone()).or_default().see(&claim, &judgement, now);
        }
    })?;
    let has_states = matches!(spec.claim.state, StateSource::Column(_));
    let findings = counts.findings(spec, has_states);
    let queues: Vec<QueueStats> =
        counts.queues.into_iter().map(|(queue, counts)| counts.finish(queue, spec, has_states)).collect();
    let (target, filter) = (snapshot.target.clone(), selection.filter(policy));
    let head = StatsHead { schema: "jobdoctor.stats/v1", store_time: now, target, filter, findings };
    Ok(Stats { head, summary: total(&queues), queues })
}

#[derive(Default)]
struct Counts {
    queues: BTreeMap<Option<String>, Queue>,
    unfamiliar: BTreeSet<String>,
}

impl Counts {
    fn add(&mut self, spec: &QueueSpec, tally: RowCount) {
        let name = spec.states.name_of(&tally.state);
        let meaning = meaning(spec, &tally.state);
        if meaning.is_none() {
            self.unfamiliar.insert(name.clone());
        }
        let queue = self.queues.entry(tally.queue).or_default();
        *queue.states.entry((meaning, name)).or_default() += tally.rows;
    }

    fn findings(&self, spec: &QueueSpec, has_states: bool) -> Vec<String> {
        let mut findings = Vec::new();
        if !has_states {
            findings.push(format!(
                "preset {}: the table that holds a row is its state, so this counts only jobs in flight",
                spec.preset
            ));
        }
        if !self.unfamiliar.is_empty() {
            let states: Vec<&str> = self.unfamiliar.iter().map(String::as_str).take(20).collect();
            let (preset, states) = (&spec.preset, states.join(", "));
            findings.push(format!("rows are in states that preset {preset} does not have: {states}"));
        }
        findings
    }
}

/// What a state means. `None` for one that the preset does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Meaning {
    Waiting,
    InFlight,
    Done,
    Failed,
    Cancelled,
}

impl Meaning {
    fn name(self) -> &'static str {
        match self {
            Meaning::Waiting => "waiting",
            Meaning::InFlight => "in_flight",
            Meaning::Done => "done",
            Meaning::Failed => "failed",
            Meaning::Cancelled => "cancelled",
        }
    }
}

fn meaning(spec: &QueueSpec, stored: &Cell) -> Option<Meaning> {
    let states = &spec.states;
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

#[derive(Default)]
struct Queue {
    states: BTreeMap<(Option<Meaning>, String), u64>,
    in_flight: u64,
    stuck: u64,
    unknown: u64,
    oldest_in_flight: Option<f64>,
    oldest_stuck: Option<f64>,
}

impl Queue {
    fn see(&mut self, claim: &Claim, judgement: &Judgement, now: Timestamp) {
        self.in_flight += 1;
        // An implausible time makes the verdict unknown, and says nothing about ages.
        let claimed = claim.claimed_at.at().filter(|at| at.micros() >= EARLIEST_MICROS);
        longest(&mut self.oldest_in_flight, claimed.map(|at| now.since(at).as_secs_f64()));
        match judgement.verdict {
            Verdict::Healthy => {}
            Verdict::Stuck(_) => {
                self.stuck += 1;
                longest(&mut self.oldest_stuck, judgement.silence.map(|silence| silence.as_secs_f64()));
            }
            Verdict::Unknown(_) => self.unknown += 1,
        }
    }

    fn finish(self, queue: Option<String>, spec: &QueueSpec, has_states: bool) -> QueueStats {
        let of = |wanted: Option<Meaning>| {
            let states = self.states.iter().filter(|((meaning, _), _)| *meaning == wanted);
            has_states.then(|| states.map(|(_, rows)| rows).sum())
        };
        let states = self.states.iter().map(|((meaning, state), jobs)| StateCount {
            state: state.clone(),
            meaning: meaning.map(|meaning| meaning.name().to_owned()),
            jobs: *jobs,
        });
        let place = || spec.in_flight_names().first().cloned().unwrap_or_default();
        let in_place = || StateCount { state: place(), meaning: Some("in_flight".to_owned()), jobs: self.in_flight };
        let counts = JobCounts {
            waiting: of(Some(Meaning::Waiting)),
            in_flight: self.in_flight,
            stuck: self.stuck,
            unknown: self.unknown,
            done: of(Some(Meaning::Done)),
            failed: of(Some(Meaning::Failed)),
            cancelled: of(Some(Meaning::Cancelled)),
            other: of(None),
            oldest_in_flight_seconds: self.oldest_in_flight,
            oldest_stuck_seconds: self.oldest_stuck,
        };
        QueueStats { counts, states: if has_states { states.collect() } else { vec![in_place()] }, queue }
    }
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
    }
    StatsSummary { queues: queues.len() as u64, counts: total }
}
