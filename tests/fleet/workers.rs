//! Workers who look after their jobs, one after the other and again and again, with the statements of docs/reference-schema.md.

use super::Scene;
use crate::readme::statements::{Database, FINISH, HEARTBEAT, filled};
use crate::support::shop::Shop;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How many there are.
pub(super) const WORKERS: u32 = 4;

/// How long a claim lasts without a heartbeat, in seconds. The page says 60; but here nobody is to die of a slow machine.
pub(super) const LEASE: u32 = 3600;

/// Between two heartbeats, so that a worker leaves something of the machine to others.
const PACE: Duration = Duration::from_millis(1);

/// The jobs that a worker finishes in each round, until half of its jobs are done.
const FINISHED_A_ROUND: usize = 5;

/// Who holds a job, in SQL, from its id.
pub(super) fn owner_sql(id: &str) -> String {
    format!("'web' || ({id} % {WORKERS}) || ':1'")
}

/// What the workers have done, and what was done to them.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// How long each heartbeat took, and when it was sent.
    pub(super) beats: Vec<(Instant, Duration)>,
    /// The jobs that they have finished.
    pub(super) finished: BTreeSet<u32>,
    /// The jobs that were no longer theirs, though they were alive all the time.
    pub(super) lost: BTreeSet<u32>,
}

/// See the module. They go on until they are told to stop.
pub(super) struct Workers {
    threads: Vec<JoinHandle<Log>>,
    stop: Arc<AtomicBool>,
    rounds: Arc<AtomicU64>,
}

impl Workers {
    /// Starts them, each with a connection of its own. They finish jobs only if `finishing`.
    pub(super) fn start(shop: &Shop, scene: Scene, finishing: bool) -> Workers {
        let (stop, rounds) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let statements = shop.statements().map(|sql| {
            let sql = sql.replace("unixepoch() + 60", &format!("unixepoch() + {LEASE}"));
            sql.replace("interval '60 seconds'", &format!("interval '{LEASE} seconds'"))
        });
        let threads = (0..WORKERS).map(|number| {
            let worker = Worker {
                owner: format!("web{number}:1"),
                jobs: (scene.dead + 1..=scene.dead + scene.living).filter(|id| id % WORKERS == number).collect(),
                database: shop.connect(),
                statements: statements.clone(),
                finishing,
            };
            let (stop, rounds) = (Arc::clone(&stop), Arc::clone(&rounds));
            std::thread::spawn(move || worker.work(&stop, &rounds))
        });
        Workers { threads: threads.collect(), stop, rounds }
    }

    /// How many rounds they have come through, all together.
    pub(super) fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::SeqCst)
    }

    /// Has them stop, and gives back what they have to tell. One to whom the database said anything but rows panics here.
    pub(super) fn stop(self) -> Log {
        self.stop.store(true, Ordering::SeqCst);
        let mut log = Log::default();
        for thread in self.threads {
            let own = thread.join().expect("no statement of a worker fails");
            log.beats.extend(own.beats);
            log.finished.extend(own.finished);
            log.lost.extend(own.lost);
        }
        log
    }
}

struct Worker {
    owner: String,
    jobs: Vec<u32>,
    database: Database,
    statements: [String; 4],
    finishing: bool,
}

impl Worker {
    fn work(mut self, stop: &AtomicBool, rounds: &AtomicU64) -> Log {
        let mut log = Log::default();
        let keeps = self.jobs.len() / 2;
        while !stop.load(Ordering::SeqCst) {
            for id in self.jobs.clone() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let begun = Instant::now();
                if !self.run(HEARTBEAT, id) {
                    log.lost.insert(id);
                }
                log.beats.push((begun, begun.elapsed()));
                std::thread::sleep(PACE);
            }
            for _ in 0..if self.finishing { FINISHED_A_ROUND } else { 0 } {
                let Some(id) = (self.jobs.len() > keeps).then(|| self.jobs.pop()).flatten() else { break };
                let list = if self.run(FINISH, id) { &mut log.finished } else { &mut log.lost };
                list.insert(id);
            }
            rounds.fetch_add(1, Ordering::SeqCst);
        }
        log
    }

    /// Whether the job was still its own.
    fn run(&mut self, statement: usize, id: u32) -> bool {
        let sql =
            filled(&self.statements[statement], &[("id", &id.to_string()), ("owner", &self.owner), ("token", "token")]);
        !(self.database)(&sql).is_empty()
    }
}

/// One worker who sends heartbeats of some jobs until it is told to stop, in a queue that is not a fleet's.
pub(crate) struct Beats {
    thread: JoinHandle<u64>,
    stop: Arc<AtomicBool>,
}

impl Beats {
    /// Of the jobs with these ids, which `web1:1` holds.
    pub(crate) fn of(shop: &Shop, jobs: RangeInclusive<u32>) -> Beats {
        let stop = Arc::new(AtomicBool::new(false));
        let (mut database, heartbeat) = (shop.connect(), shop.statements()[HEARTBEAT].clone());
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut lost = 0;
            for id in jobs.cycle() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let job = [("id", id.to_string()), ("owner", "web1:1".to_owned()), ("token", "token".to_owned())];
                let job: Vec<(&str, &str)> = job.iter().map(|(name, value)| (*name, value.as_str())).collect();
                lost += u64::from(database(&filled(&heartbeat, &job)).is_empty());
                std::thread::sleep(Duration::from_millis(2));
            }
            lost
        });
        Beats { thread, stop }
    }

    /// Has it stop; tells how often a job was not its own any more.
    pub(crate) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.join().expect("no statement of a worker fails")
    }
}
