//! What happened, as it was recorded: which hosts there were, who claimed what, and what became of it.
//!
//! Four hosts work on three queues, a fifth on one. `host-7` is cut off from power with twelve jobs in hand: one on its last
//! attempt, one that somebody then asks to cancel. Kind `ResizeVideo` hangs everywhere, while its workers go on sending
//! heartbeats. `MonthlyReport` takes hours, as ever. The clock of `host-9` is five minutes ahead. `host-70` is well, and is not
//! `host-7`.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Done within moments, then the next one.
    Brisk,
    /// For hours, with nothing wrong.
    Slow,
    /// For ever; each has a deadline, which passes.
    Hung,
}

/// One queue; ids count on from queue to queue.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) pace: Pace,
    /// How many jobs each of its workers holds.
    pub(crate) each: i64,
    /// How many nobody holds yet.
    pub(crate) waiting: i64,
    /// The workers, in the order in which they claim, one job at a time, turn by turn.
    pub(crate) owners: &'static [&'static str],
}

pub(crate) const QUEUES: [Queue; 3] = [
    Queue {
        name: "mail",
        kind: "SendInvoice",
        pace: Pace::Brisk,
        each: 8,
        waiting: 40,
        owners: &["host-5:411", "host-6:612", "host-7:713", "host-70:714"],
    },
    Queue {
        name: "media",
        kind: "ResizeVideo",
        pace: Pace::Hung,
        each: 2,
        waiting: 0,
        owners: &["host-5:421", "host-6:622", "host-7:723", "host-70:724"],
    },
    Queue {
        name: "reports",
        kind: "MonthlyReport",
        pace: Pace::Slow,
        each: 2,
        waiting: 0,
        owners: &["host-5:431", "host-6:632", "host-7:733", "host-70:734", AHEAD],
    },
];

/// The worker on the host whose clock is [`AHEAD_BY`] seconds ahead.
pub(crate) const AHEAD: &str = "host-9:935";
pub(crate) const AHEAD_BY: i64 = 300;

pub(crate) const LOST: &str = "host-7";

/// A job of the lost host that has one attempt left, of five; and one that is to be cancelled.
pub(crate) const LAST_ATTEMPT: i64 = 27;
pub(crate) const TO_CANCEL: i64 = 31;

/// A job, and who holds it when the power goes.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: i64,
    pub(crate) queue: &'static Queue,
    pub(crate) owner: Option<&'static str>,
}

impl Job {
    pub(crate) fn is_orphan(&self) -> bool {
        self.owner.is_some_and(|owner| host(owner) == LOST)
    }

    pub(crate) fn attempts(&self) -> i64 {
        if self.id == LAST_ATTEMPT { 4 } else { 0 }
    }
}

pub(crate) fn host(owner: &str) -> &str {
    owner.split(':').next().unwrap_or_default()
}

pub(crate) fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for queue in &QUEUES {
        let claimed = queue.owners.iter().cycle().take(queue.owners.len() * queue.each as usize);
        let owners = claimed.map(|owner| Some(*owner)).chain((0..queue.waiting).map(|_| None));
        for owner in owners {
            jobs.push(Job { id: jobs.len() as i64 + 1, queue, owner });
        }
    }
    jobs
}

/// The ids that must move, as the program writes them, sorted.
pub(crate) fn orphans() -> Vec<String> {
    let mut ids: Vec<String> = jobs().iter().filter(|job| job.is_orphan()).map(|job| job.id.to_string()).collect();
    ids.sort();
    ids
}

/// What was in flight, as it stood on Postgres an hour and twelve minutes later. Ages lie half a minute away from where their words
/// would change.
pub(crate) fn frozen() -> String {
    let row = |job: &Job| {
        let owner = job.owner?;
        let (mut seen, mut claimed) = (3, 33 + job.id);
        if job.is_orphan() {
            (seen, claimed) = (4_350, 4_410 + job.id);
        }
        claimed = match job.queue.pace {
            Pace::Brisk => claimed,
            Pace::Hung => claimed + 5_400,
            Pace::Slow => claimed + 16_200,
        };
        if owner == AHEAD {
            seen -= AHEAD_BY;
        }
        let at = |ago: i64| format!("date_trunc('second', now()) - interval '{ago} s'");
        Some(format!(
            "({}, '{}', '{}', 'RUNNING', '{owner}', md5('{}'), {}, {}, {}, {}, {}, {})",
            job.id,
            job.queue.name,
            job.queue.kind,
            job.id,
            at(claimed),
            at(seen),
            at(seen - 60),
            job.attempts(),
            if job.queue.pace == Pace::Hung { at(4_230) } else { "NULL".to_owned() },
            if job.id == TO_CANCEL { at(3_630) } else { "NULL".to_owned() },
        ))
    };
    let rows: Vec<String> = jobs().iter().filter_map(row).collect();
    format!(
        "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at, \
         attempts, deadline_at, cancel_requested_at) OVERRIDING SYSTEM VALUE VALUES {}",
        rows.join(", ")
    )
}

/// The same, but nobody has reached the database since.
pub(crate) fn outage() -> String {
    let last = "claimed_at = least(claimed_at, now() - interval '4410 s'), heartbeat_at = now() - interval '4350 s', \
                lease_expires_at = now() - interval '4290 s'";
    format!("{}; UPDATE jobs SET {last} WHERE status = 'RUNNING' AND owner_id <> '{AHEAD}'", frozen())
}
