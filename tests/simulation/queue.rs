//! The queues that histories happen to, and what workers write in them, by hand: never through what is under test.
//!
//! In these statements `:now` is the store's time, `:later` a lease from now on, `:back` goes behind a time column to move it
//! back by far more than any threshold, `:me` and `:token` are the worker's.

use super::deed::{Job, Work, Worker};
use super::history::{History, JobAtFirst, WorkerAtFirst};
use crate::support::doctor::{built_in, mapping};
use crate::support::tables::Kind::{Id, Int, Text, Time};
use crate::support::tables::{ORDERS, ORDERS_MAPPING, PINGS, Table};
use jobdoctor::preset::Preset;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// The reference schema: each claim has a token, a lease and a heartbeat of its own.
    Lease,
    /// A heartbeat and nothing else. A claim keeps the old heartbeat, so that only the owner tells it from the last one.
    Heartbeat,
    /// The heartbeats are the workers', in a table of their own.
    Owners,
}

const LEASE: Table = Table {
    name: "jobs",
    columns: &[
        ("id", Id),
        ("status", Text),
        ("owner_id", Text),
        ("lease_token", Text),
        ("claimed_at", Time),
        ("heartbeat_at", Time),
        ("lease_expires_at", Time),
        ("attempts", Int),
        ("max_attempts", Int),
    ],
};

const HEARTBEAT: Table = Table {
    name: "jobs",
    columns: &[
        ("id", Id),
        ("status", Text),
        ("owner_id", Text),
        ("heartbeat_at", Time),
        ("attempts", Int),
        ("max_attempts", Int),
    ],
};

pub struct States {
    pub waiting: &'static str,
    pub in_flight: &'static [&'static str],
    pub failed: &'static str,
    /// Of jobs that nobody touches any more, the failed ones among them.
    pub terminal: &'static [&'static str],
}

pub struct Columns {
    pub state: &'static str,
    pub owner: &'static str,
    pub attempts: &'static str,
}

impl Queue {
    pub const ALL: [Queue; 3] = [Queue::Lease, Queue::Heartbeat, Queue::Owners];

    pub fn jobs(self) -> Table {
        match self {
            Queue::Lease => LEASE,
            Queue::Heartbeat => HEARTBEAT,
            Queue::Owners => ORDERS,
        }
    }

    /// The table of its workers, if it has one.
    pub fn workers(self) -> Option<Table> {
        (self == Queue::Owners).then_some(PINGS)
    }

    pub fn tables(self) -> Vec<Table> {
        std::iter::once(self.jobs()).chain(self.workers()).collect()
    }

    pub fn preset(self) -> Preset {
        match self {
            Queue::Lease | Queue::Heartbeat => built_in("lease"),
            Queue::Owners => mapping(ORDERS_MAPPING),
        }
    }

    pub fn states(self) -> States {
        match self {
            Queue::Lease | Queue::Heartbeat => States {
                waiting: "QUEUED",
                in_flight: &["CLAIMED", "RUNNING"],
                failed: "FAILED",
                terminal: &["SUCCEEDED", "FAILED", "CANCELLED", "TIMED_OUT"],
            },
            Queue::Owners => {
                States { waiting: "new", in_flight: &["working"], failed: "dead", terminal: &["shipped", "dead"] }
            }
        }
    }

    pub fn columns(self) -> Columns {
        match self {
            Queue::Lease | Queue::Heartbeat => Columns { state: "status", owner: "owner_id", attempts: "attempts" },
            Queue::Owners => Columns { state: "status", owner: "worker", attempts: "tries" },
        }
    }

    pub fn at_first(self, history: &History) -> Vec<String> {
        let jobs = history.jobs.iter().map(|job| self.job_at_first(job));
        let workers = history.workers.iter().filter_map(|(worker, state)| self.worker_at_first(*worker, *state));
        jobs.chain(workers).collect()
    }

    fn job_at_first(self, at_first: &JobAtFirst) -> String {
        let JobAtFirst { job, is_claimed, is_fresh, owner, attempts, max } = *at_first;
        let back = if is_fresh { "" } else { ":back" };
        let max = max.map_or("NULL".to_owned(), |max| max.to_string());
        let owner = owner.filter(|_| is_claimed).map_or("NULL".to_owned(), |owner| format!("'{}'", name(owner)));
        match (self, is_claimed) {
            (Queue::Lease, true) => format!(
                "INSERT INTO jobs VALUES ({job}, 'RUNNING', {owner}, '{FIRST_TOKEN}', :now{back}, :now{back}, :later{back}, \
                 {attempts}, {max})"
            ),
            (Queue::Lease, false) => {
                format!(
                    "INSERT INTO jobs (id, status, attempts, max_attempts) VALUES ({job}, 'QUEUED', {attempts}, {max})"
                )
            }
            (Queue::Heartbeat, true) => {
                format!("INSERT INTO jobs VALUES ({job}, 'RUNNING', {owner}, :now{back}, {attempts}, {max})")
            }
            // Given back, with its old heartbeat.
            (Queue::Heartbeat, false) => {
                format!("INSERT INTO jobs VALUES ({job}, 'QUEUED', NULL, :now:back, {attempts}, {max})")
            }
            (Queue::Owners, true) => format!(
                "INSERT INTO order_queue (id, status, worker, started, tries, paused) VALUES \
                 ({job}, 'working', {owner}, :now{back}, {attempts}, 0)"
            ),
            (Queue::Owners, false) => {
                format!("INSERT INTO order_queue (id, status, tries, paused) VALUES ({job}, 'new', {attempts}, 0)")
            }
        }
    }

    fn worker_at_first(self, worker: Worker, state: WorkerAtFirst) -> Option<String> {
        let back = match state {
            WorkerAtFirst::Silent => ":back",
            WorkerAtFirst::Alive => "",
            WorkerAtFirst::Missing => return None,
        };
        self.workers()?;
        Some(format!("INSERT INTO worker_pings (name, seen_at) VALUES ('{}', :now{back})", name(worker)))
    }

    pub fn work(self, work: Work) -> String {
        match self {
            Queue::Lease => lease(work),
            Queue::Heartbeat => heartbeat(work),
            Queue::Owners => owners(work),
        }
    }

    /// Time passes without a sign of life for that job, or for all of them.
    pub fn silence(self, job: Option<Job>) -> Vec<String> {
        let only = job.map_or_else(String::new, |job| format!(" WHERE id = {job}"));
        match self {
            Queue::Lease => vec![format!(
                "UPDATE jobs SET claimed_at = claimed_at:back, heartbeat_at = heartbeat_at:back, \
                 lease_expires_at = lease_expires_at:back{only}"
            )],
            Queue::Heartbeat => vec![format!("UPDATE jobs SET heartbeat_at = heartbeat_at:back{only}")],
            Queue::Owners => {
                let its_worker = job.map_or_else(String::new, |job| {
                    format!(" WHERE name = (SELECT worker FROM order_queue WHERE id = {job})")
                });
                vec![
                    format!("UPDATE order_queue SET started = started:back{only}"),
                    format!("UPDATE worker_pings SET seen_at = seen_at:back{its_worker}"),
                ]
            }
        }
    }
}

pub const FIRST_TOKEN: &str = "t0";

pub fn name(worker: Worker) -> String {
    format!("w{worker}")
}

fn lease(work: Work) -> String {
    const MINE: &str = "owner_id = ':me' AND lease_token = ':token'";
    const FREE: &str = "owner_id = NULL, lease_token = NULL, lease_expires_at = NULL";
    let set = |job: Job, cells: &str, when: &str| format!("UPDATE jobs SET {cells} WHERE id = {job} AND {when}");
    match work {
        Work::Claim(job) => set(
            job,
            "status = 'CLAIMED', owner_id = ':me', lease_token = ':token', claimed_at = :now, heartbeat_at = :now, \
             lease_expires_at = :later",
            "status = 'QUEUED'",
        ),
        Work::Beat(job) => set(job, "heartbeat_at = :now, lease_expires_at = :later", MINE),
        Work::Finish(job) => set(job, &format!("status = 'SUCCEEDED', {FREE}"), MINE),
        Work::Fail(job) => set(job, &format!("{FAIL_STATUS}, attempts = attempts + 1, {FREE}"), MINE),
        Work::Release(job) => set(job, &format!("status = 'QUEUED', {FREE}"), MINE),
        Work::Take(job) => set(job, "owner_id = ':me'", CLAIMED),
        Work::ZombieFinish(job) => set(job, "status = 'SUCCEEDED'", "1 = 1"),
        Work::ZombieBeat(job) => set(job, "heartbeat_at = :now, lease_expires_at = :later", CLAIMED),
        Work::Proceed(job) => {
            set(job, "status = CASE status WHEN 'CLAIMED' THEN 'RUNNING' ELSE 'CLAIMED' END", CLAIMED)
        }
        Work::Count(job) => set(job, "attempts = attempts + 1", CLAIMED),
        Work::Renew(job) => set(job, "lease_token = ':token'", CLAIMED),
        Work::Name(job) => set(job, "owner_id = ''", &format!("owner_id IS NULL AND {CLAIMED}")),
        Work::Half(job) if job % 2 == 0 => set(job, "heartbeat_at = :now", CLAIMED),
        Work::Half(job) => set(job, "lease_expires_at = :later", CLAIMED),
        Work::Delete(job) => format!("DELETE FROM jobs WHERE id = {job}"),
        Work::Create(job) => format!(
            "INSERT INTO jobs (id, status, attempts, max_attempts) VALUES ({job}, 'QUEUED', 0, 3) ON CONFLICT DO NOTHING"
        ),
    }
}

fn heartbeat(work: Work) -> String {
    const MINE: &str = "owner_id = ':me'";
    let set = |job: Job, cells: &str, when: &str| format!("UPDATE jobs SET {cells} WHERE id = {job} AND {when}");
    match work {
        // After a doctor there is no heartbeat to keep.
        Work::Claim(job) => set(
            job,
            "status = 'RUNNING', owner_id = ':me', heartbeat_at = coalesce(heartbeat_at, :now)",
            "status = 'QUEUED'",
        ),
        Work::Beat(job) => set(job, "heartbeat_at = :now", MINE),
        Work::Finish(job) => set(job, "status = 'SUCCEEDED', owner_id = NULL", MINE),
        Work::Fail(job) => set(job, &format!("{FAIL_STATUS}, attempts = attempts + 1, owner_id = NULL"), MINE),
        Work::Release(job) => set(job, "status = 'QUEUED', owner_id = NULL", MINE),
        Work::ZombieBeat(job) | Work::Half(job) | Work::Renew(job) => set(job, "heartbeat_at = :now", CLAIMED),
        // The rest shows no life, and is the same.
        _ => lease(work),
    }
}

const FAIL_STATUS: &str = "status = CASE WHEN attempts + 1 >= max_attempts THEN 'FAILED' ELSE 'QUEUED' END";
const CLAIMED: &str = "status IN ('CLAIMED', 'RUNNING')";

fn owners(work: Work) -> String {
    const MINE: &str = "worker = ':me'";
    const BEAT: &str =
        "INSERT INTO worker_pings (name, seen_at) VALUES (':me', :now) ON CONFLICT (name) DO UPDATE SET seen_at = :now";
    let set = |job: Job, cells: &str, when: &str| format!("UPDATE order_queue SET {cells} WHERE id = {job} AND {when}");
    let claimed = "status = 'working'";
    match work {
        Work::Claim(job) => set(job, "status = 'working', worker = ':me', started = :now", "status = 'new'"),
        Work::Beat(_) | Work::ZombieBeat(_) => BEAT.to_owned(),
        Work::Finish(job) => set(job, "status = 'shipped'", MINE),
        Work::Fail(job) => set(job, "status = 'new', tries = tries + 1, worker = NULL, started = NULL", MINE),
        Work::Release(job) => set(job, "status = 'new', worker = NULL, started = NULL", MINE),
        Work::Take(job) => set(job, "worker = ':me'", claimed),
        Work::ZombieFinish(job) => set(job, "status = 'shipped'", "1 = 1"),
        Work::Proceed(_) => "DELETE FROM worker_pings WHERE name = ':me'".to_owned(),
        Work::Count(job) => set(job, "tries = tries + 1", claimed),
        Work::Renew(job) => set(job, "started = :now", claimed),
        Work::Half(_) => "UPDATE worker_pings SET booted_at = :now WHERE name = ':me'".to_owned(),
        Work::Name(job) => set(job, "worker = ':me'", "worker IS NULL AND status = 'working'"),
        Work::Delete(job) => format!("DELETE FROM order_queue WHERE id = {job}"),
        Work::Create(job) => {
            format!(
                "INSERT INTO order_queue (id, status, tries, paused) VALUES ({job}, 'new', 0, 0) ON CONFLICT DO NOTHING"
            )
        }
    }
}
