//! Concludes from the waiting side of a queue which of its queues stand still, and why, as far as that shows.

use super::diagnosis::{Diagnosis, DiagnosisKind, Flow, of_jobs, queues};
use super::{Globs, State, Tally};
use crate::model::{QueueRows, Timestamp, WaitingSide, Worker};
use crate::preset::WaitingSpec;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// So many normal delays, and at least [`SHORTEST`], a due job waits where workers take jobs.
const DELAYS: u32 = 10;
const SHORTEST: Duration = Duration::from_secs(60);
/// A queue that stands still for so long is critical, if work was seen there within [`A_DAY`].
const CRITICAL: Duration = Duration::from_secs(15 * 60);
const A_DAY: Duration = Duration::from_secs(24 * 3600);

/// The waiting side of one queue.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct QueueFlow {
    /// Its name; null for jobs whose queue is not known.
    pub queue: Option<String>,
    /// Jobs that a worker could take now.
    pub due: u64,
    /// Since when the oldest of them waits; null if that is not known.
    #[serde(rename = "oldest_due_at")]
    #[schemars(with = "Option<String>")]
    pub oldest_due: Option<Timestamp>,
    /// How long the oldest of them waits, in seconds.
    pub oldest_due_seconds: Option<f64>,
    /// Jobs whose time has come and that a stager, dispatcher or leader has not moved on.
    pub staged: u64,
    /// Since when the oldest of these waits.
    #[serde(rename = "oldest_staged_at")]
    #[schemars(with = "Option<String>")]
    pub oldest_staged: Option<Timestamp>,
    /// True if workers are told to take none of its jobs.
    pub paused: bool,
    /// Living workers that serve it; null where the tables do not tell.
    pub workers: Option<u64>,
    /// Claims.
    pub in_flight: u64,
    /// Stuck ones.
    pub stuck: u64,
    /// When the last job was taken, as far as claims in flight and jobs that ended lately show.
    #[serde(rename = "last_taken_at")]
    #[schemars(with = "Option<String>")]
    pub taken: Option<Timestamp>,
    /// Jobs that ended well in the last five minutes; null where no index leads to them.
    pub done_5m: Option<u64>,
    /// What its due jobs wait for, if they wait longer than usual.
    pub standing: Option<Flow>,
    #[serde(skip)]
    is_known: bool,
}

/// What was concluded of all queues of a snapshot.
#[derive(Debug, Clone, Default)]
pub struct Flows {
    pub queues: Vec<QueueFlow>,
    /// Living workers of all queues.
    pub workers: Option<u64>,
    pub diagnoses: Vec<Diagnosis>,
}

impl Flows {
    /// Concludes of the queues that these globs admit; `stuck` counts stuck claims by queue, and `allowed` is how long the
    /// operator lets due jobs wait.
    pub fn of(
        told: &WaitingSpec,
        side: &WaitingSide,
        stuck: &BTreeMap<Option<String>, u64>,
        admitted: &Globs,
        allowed: Option<Duration>,
        now: Timestamp,
    ) -> Flows {
        let usual = |delay: Duration| allowed.unwrap_or((delay * DELAYS).max(SHORTEST));
        let mut queues = taken_in(told, side, stuck, now);
        queues.retain(|queue| admitted.admits(queue.queue.as_deref()));
        let is_long = |at: Option<Timestamp>, delay| at.is_some_and(|at| now.since(at) > usual(delay));
        // Claims that could not be read may be healthy, and a queue paused.
        let is_whole = side.in_flight.is_some() && (told.paused.is_none() || side.paused.is_some());
        for queue in queues.iter_mut().filter(|queue| is_long(queue.oldest_due, told.due.delay)) {
            let standing = queue.standing(|taken| is_long(taken, told.due.delay));
            queue.standing = standing.filter(|flow| is_whole || !flow.stands_still());
        }
        let severity = |queue: &QueueFlow| {
            let is_critical = now.since(queue.oldest_due?) > allowed.unwrap_or(CRITICAL);
            Some(if queue.is_known && is_critical { State::Critical } else { State::Warning })
        };
        let mut diagnoses = diagnoses(&queues, severity);
        if let Some((by, staged)) = &told.staged {
            let late: Vec<&QueueFlow> =
                queues.iter().filter(|queue| is_long(queue.oldest_staged, staged.delay)).collect();
            let of = |queue: &QueueFlow| Tally { jobs: queue.staged, oldest: queue.oldest_staged, ..Tally::default() };
            diagnoses.extend((!late.is_empty()).then(|| about(DiagnosisKind::NotStaged(by.clone()), &late, of)));
        }
        let all = side.workers.as_ref();
        let works = |worker: &&Worker| worker.queues.as_deref() != Some("") && lives(worker, silence(told), now);
        let workers = all.map(|all| all.iter().filter(works).count() as u64);
        Flows { queues, workers, diagnoses }
    }
}

/// After which silence a worker is dead.
fn silence(told: &WaitingSpec) -> Duration {
    told.workers.as_ref().and_then(|workers| workers.heartbeat.as_ref()).map_or(A_DAY, |(_, most)| *most)
}

/// True for a worker that beat within this time. A beat that cannot be read, or lies ahead, may be life.
fn lives(worker: &Worker, most: Duration, now: Timestamp) -> bool {
    worker.beat.as_ref().is_none_or(|beat| beat.at().is_none_or(|beat| now.since(beat) <= most))
}

/// The parts of the waiting side, put together by queue, most due jobs first.
fn taken_in(
    told: &WaitingSpec,
    side: &WaitingSide,
    stuck: &BTreeMap<Option<String>, u64>,
    now: Timestamp,
) -> Vec<QueueFlow> {
    let mut queues: BTreeMap<Option<String>, QueueFlow> = BTreeMap::new();
    let mut add = |rows: &Option<Vec<QueueRows>>, add: &dyn Fn(&mut QueueFlow, &QueueRows)| {
        for rows in rows.iter().flatten() {
            let new = || QueueFlow { queue: rows.queue.clone(), ..QueueFlow::default() };
            add(queues.entry(rows.queue.clone()).or_insert_with(new), rows);
        }
    };
    add(&side.due, &|queue, rows| (queue.due, queue.oldest_due) = (rows.rows, rows.at.at()));
    add(&side.staged, &|queue, rows| (queue.staged, queue.oldest_staged) = (rows.rows, rows.at.at()));
    add(&side.in_flight, &|queue, rows| (queue.in_flight, queue.taken) = (rows.rows, rows.at.at()));
    add(&side.done, &|queue, rows| {
        (queue.done_5m, queue.taken) = (Some(rows.rows), Timestamp::newest(queue.taken, rows.at.at()));
    });
    let mut queues: Vec<QueueFlow> = queues.into_values().collect();
    for queue in &mut queues {
        let name = queue.queue.as_deref();
        queue.oldest_due_seconds = queue.oldest_due.map(|at| now.since(at).as_secs_f64());
        queue.stuck = stuck.get(&queue.queue).copied().unwrap_or_default().min(queue.in_flight);
        queue.done_5m = queue.done_5m.or(side.done.as_ref().map(|_| 0));
        queue.paused = side.paused.iter().flatten().any(|paused| paused == "*" || Some(paused.as_str()) == name);
        let serve: Option<Vec<&Worker>> =
            side.workers.as_ref().map(|all| all.iter().filter(|worker| worker.serves(name)).collect());
        let living = |most| serve.as_ref().map(|all| all.iter().filter(|one| lives(one, most, now)).count() as u64);
        queue.workers = living(silence(told));
        let is_recent = |at: Timestamp| now.since(at) <= A_DAY;
        queue.is_known = queue.taken.is_some_and(is_recent) || living(A_DAY).is_some_and(|all| all > 0);
    }
    queues.sort_by_key(|queue| std::cmp::Reverse(queue.due + queue.staged));
    queues
}

impl QueueFlow {
    /// Why its due jobs wait, given that they wait for long; nothing while jobs are taken. A claim that cannot be judged
    /// may be healthy.
    fn standing(&self, is_long_ago: impl Fn(Option<Timestamp>) -> bool) -> Option<Flow> {
        match () {
            () if self.paused => Some(Flow::Paused),
            () if self.taken.is_some() && !is_long_ago(self.taken) => None,
            () if self.in_flight > self.stuck => Some(Flow::Busy),
            () if self.workers == Some(0) => Some(Flow::NoWorker),
            () if self.stuck > 0 => Some(Flow::AllStuck),
            () => Some(Flow::StandsStill),
        }
    }
}

/// One diagnosis for all queues that stand alike.
fn diagnoses(all: &[QueueFlow], severity: impl Fn(&QueueFlow) -> Option<State>) -> Vec<Diagnosis> {
    let mut alike: BTreeMap<Flow, Vec<&QueueFlow>> = BTreeMap::new();
    for queue in all {
        queue.standing.into_iter().for_each(|standing| alike.entry(standing).or_default().push(queue));
    }
    let due = |queue: &QueueFlow| Tally {
        jobs: queue.due,
        oldest: queue.oldest_due,
        newest: queue.taken,
        ..Tally::default()
    };
    let one = |(flow, queues): (Flow, Vec<&QueueFlow>)| {
        let what = match flow {
            Flow::Paused => DiagnosisKind::Paused,
            Flow::Busy => DiagnosisKind::Busy,
            _ => {
                let severities = queues.iter().filter_map(|queue| severity(queue));
                DiagnosisKind::StandsStill(severities.max().unwrap_or(State::Warning))
            }
        };
        Diagnosis { flow: Some(flow), ..about(what, &queues, due) }
    };
    alike.into_iter().map(one).collect()
}

fn about(what: DiagnosisKind, all: &[&QueueFlow], of: impl Fn(&QueueFlow) -> Tally) -> Diagnosis {
    let tallies: Vec<Tally> = all.iter().map(|queue| of(queue)).collect();
    let sums = all.iter().zip(&tallies).map(|(queue, tally)| (queue.queue.as_deref(), tally.jobs));
    let only = all.first().filter(|_| all.len() == 1).and_then(|queue| queue.queue.clone());
    Diagnosis {
        queue: only,
        claims: all.iter().map(|queue| queue.in_flight).sum(),
        queues: queues(sums),
        ..of_jobs(what, &Tally::of(tallies.iter()))
    }
}
