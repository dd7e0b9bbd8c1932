//! Simulated workers: threads that claim, send heartbeats and finish with the very statements that README.md gives to workers.
//! A killed one stops in the middle and says no word to anybody.

use super::script::{AHEAD, AHEAD_BY, Pace, QUEUES, Queue, host};
use crate::readme::statements::{CLAIM, Database, FINISH, HEARTBEAT, filled};
use crate::support::cli::until;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A worker looks after its jobs this often.
const BEAT: Duration = Duration::from_millis(400);

/// A brisk worker finishes a job this often, and claims the next.
const BRISK: Duration = Duration::from_millis(1200);

/// How long a claim lasts without a heartbeat. The page says 60 seconds; nobody wants to wait so long.
pub(super) const LEASE: u64 = 7;

/// The page's statements for workers of this incident: with a shorter lease, and for one with a clock that is ahead, its own
/// clock.
pub(super) struct Statements {
    own: [String; 4],
}

impl Statements {
    pub(super) fn of(page: &[String; 4], owner: &str) -> Statements {
        let with_lease = |sql: &String| {
            let shorter = sql.replace("unixepoch() + 60", &format!("unixepoch() + {LEASE}"));
            shorter.replace("interval '60 seconds'", &format!("interval '{LEASE} seconds'"))
        };
        let clock = |sql: String| {
            if owner != AHEAD {
                return sql;
            }
            let sql = sql.replace("unixepoch()", &format!("(unixepoch() + {AHEAD_BY})"));
            sql.replace("now()", &format!("(now() + interval '{AHEAD_BY} s')"))
        };
        Statements { own: page.each_ref().map(|sql| clock(with_lease(sql))) }
    }
}

/// What a worker did, for whoever wants to know the truth afterwards.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Jobs that a living worker found to be no longer its own.
    pub(super) lost: Vec<String>,
    pub(super) finished: BTreeMap<String, String>,
    /// The longest time between two rounds of one worker. Beyond the lease, it was dead to everybody, and nothing is proven.
    pub(super) longest_gap: Duration,
}

#[derive(Clone)]
struct Held {
    id: String,
    token: String,
}

pub(super) struct Worker {
    pub(super) owner: &'static str,
    pace: Pace,
    each: usize,
    queue: &'static str,
    statements: Statements,
    database: Database,
    held: Vec<Held>,
    /// How often it finishes a job, and when it did so last.
    pause: Duration,
    finished_at: Instant,
}

impl Worker {
    pub(super) fn new(owner: &'static str, queue: &Queue, page: &[String; 4], database: Database) -> Worker {
        Worker {
            owner,
            pace: queue.pace,
            each: usize::try_from(queue.each).expect("a number of jobs"),
            queue: queue.name,
            statements: Statements::of(page, owner),
            database,
            held: Vec::new(),
            pause: BRISK,
            finished_at: Instant::now(),
        }
    }

    /// A worker that is done with each job at once, whatever became of the jobs of that queue before.
    pub(super) fn quick(mut self) -> Worker {
        (self.pace, self.pause) = (Pace::Brisk, Duration::ZERO);
        self
    }

    pub(super) fn claim(&mut self) -> Option<String> {
        let sql = filled(&self.statements.own[CLAIM], &[("owner", self.owner), ("queue", self.queue)]);
        let row = (self.database)(&sql).pop()?;
        let (id, token) = (row[0].clone().expect("an id"), row[3].clone().expect("a token"));
        self.held.push(Held { id: id.clone(), token });
        Some(id)
    }

    /// True if the job was still this worker's.
    fn fenced(&mut self, which: usize, id: &str, token: &str) -> bool {
        let parameters = [("id", id), ("owner", self.owner), ("token", token)];
        !(self.database)(&filled(&self.statements.own[which], &parameters)).is_empty()
    }

    /// Looks after its jobs once. `killed` is heard between any two statements.
    fn round(&mut self, killed: &AtomicBool, log: &Mutex<Log>) {
        let is_dead = || killed.load(Ordering::SeqCst);
        let mut to_finish = usize::from(self.pace == Pace::Brisk && self.finished_at.elapsed() >= self.pause);
        for Held { id, token } in self.held.clone() {
            if is_dead() {
                return;
            }
            let is_done = std::mem::take(&mut to_finish) > 0;
            let is_mine = self.fenced(if is_done { FINISH } else { HEARTBEAT }, &id, &token);
            if is_mine && !is_done {
                continue;
            }
            self.held.retain(|held| held.id != id);
            let mut log = log.lock().expect("the log");
            if is_mine {
                self.finished_at = Instant::now();
                log.finished.insert(id, self.owner.to_owned());
            } else {
                log.lost.push(format!("{id} of {}", self.owner));
            }
        }
        if self.pace == Pace::Brisk && self.held.len() < self.each && !is_dead() {
            self.claim();
        }
    }

    fn run(mut self, switch: &Switch, log: &Mutex<Log>) {
        let mut last = Instant::now();
        while !switch.killed.load(Ordering::SeqCst) {
            switch.busy.store(true, Ordering::SeqCst);
            if switch.paused.load(Ordering::SeqCst) {
                last = Instant::now();
            } else {
                self.round(&switch.killed, log);
                let mut log = log.lock().expect("the log");
                log.longest_gap = log.longest_gap.max(last.elapsed());
                last = Instant::now();
            }
            switch.busy.store(false, Ordering::SeqCst);
            std::thread::sleep(BEAT);
        }
    }
}

#[derive(Default)]
struct Switch {
    killed: AtomicBool,
    paused: AtomicBool,
    /// It is at its jobs right now.
    busy: AtomicBool,
}

struct Running {
    owner: &'static str,
    switch: Arc<Switch>,
    thread: JoinHandle<()>,
}

/// Workers at work. They stop when this is gone.
#[derive(Default)]
pub(crate) struct Fleet {
    running: Vec<Running>,
    log: Arc<Mutex<Log>>,
}

impl Fleet {
    pub(super) fn start(&mut self, worker: Worker) {
        let (switch, log) = (Arc::new(Switch::default()), Arc::clone(&self.log));
        let (owner, own) = (worker.owner, Arc::clone(&switch));
        self.running.push(Running { owner, switch, thread: std::thread::spawn(move || worker.run(&own, &log)) });
    }

    /// A host in the place of the one that was lost: it is done with each job at once.
    pub(crate) fn start_in_its_place(&mut self, page: &[String; 4], connect: impl Fn() -> Database) {
        for (queue, owner) in QUEUES.iter().zip(["host-8:811", "host-8:822", "host-8:833"]) {
            self.start(Worker::new(owner, queue, page, connect()).quick());
        }
    }

    /// Cuts a host off from power: all its workers at once.
    pub(super) fn kill(&mut self, lost: &str) {
        let (dead, alive): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.running).into_iter().partition(|worker| host(worker.owner) == lost);
        self.running = alive;
        assert!(!dead.is_empty(), "{lost} has no workers");
        dead.iter().for_each(|worker| worker.switch.killed.store(true, Ordering::SeqCst));
        dead.into_iter().for_each(|worker| worker.thread.join().expect("the worker's thread"));
    }

    /// Cuts those workers off from the database: they keep what they hold, and notice nothing. Comes back when none of them is
    /// at anything any more.
    pub(super) fn pause(&self, these: impl Fn(&str) -> bool) {
        for worker in self.running.iter().filter(|worker| these(worker.owner)) {
            worker.switch.paused.store(true, Ordering::SeqCst);
            until("a worker has paused", || !worker.switch.busy.load(Ordering::SeqCst));
        }
    }

    pub(super) fn go_on(&self) {
        self.running.iter().for_each(|worker| worker.switch.paused.store(false, Ordering::SeqCst));
    }

    pub(super) fn log<T>(&self, read: impl FnOnce(&Log) -> T) -> T {
        read(&self.log.lock().expect("the log"))
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.running.iter().for_each(|worker| worker.switch.killed.store(true, Ordering::SeqCst));
        // One that panicked has said why.
        self.running.drain(..).for_each(|worker| drop(worker.thread.join()));
    }
}
