//! A history: how the queue stands at first, and what happens to it. All of it follows from the seed.

use super::deed::{Answer, DOCTORS, Deed, Doctor, JOBS, Job, Meanwhile, WORKERS, Work, Worker};
use super::queue::Queue;
use crate::support::dice::Dice;
use std::fmt;

#[derive(Debug, Clone)]
pub struct History {
    pub seed: u64,
    pub queue: Queue,
    pub jobs: Vec<JobAtFirst>,
    /// The workers at first, where they have rows of their own.
    pub workers: Vec<(Worker, WorkerAtFirst)>,
    pub deeds: Vec<Deed>,
    /// Whether lost answers are lost on the way, by a proxy, where the store is a server; else the doctor just does not look
    /// at them.
    pub through_proxy: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct JobAtFirst {
    pub job: Job,
    pub is_claimed: bool,
    pub is_fresh: bool,
    /// Who has it; the table may not know.
    pub owner: Option<Worker>,
    pub attempts: usize,
    /// How many runs may end badly; `None` is no limit.
    pub max: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerAtFirst {
    Silent,
    Alive,
    Missing,
}

impl History {
    pub fn of(seed: u64) -> History {
        let queue = Queue::ALL[(seed % Queue::ALL.len() as u64) as usize];
        let mut dice = Dice::of(seed);
        let jobs = (1..=JOBS).filter_map(|job| job_at_first(&mut dice, job)).collect();
        let states = [(50, WorkerAtFirst::Silent), (30, WorkerAtFirst::Alive), (20, WorkerAtFirst::Missing)];
        let workers = (0..WORKERS).map(|worker| (worker, dice.weighted(&states))).collect();
        let doctors = 2 + dice.below(DOCTORS - 1);
        let through_proxy = dice.percent(1);
        // Most begin with a snapshot: what happens before one proves little.
        let mut deeds = vec![Deed::Snapshot { doctor: 0, with: dice.percent(50).then_some(1) }];
        deeds.extend((0..8 + dice.below(14)).map(|_| deed(&mut dice, doctors)));
        History { seed, queue, jobs, workers, deeds, through_proxy }
    }

    /// The histories of one queue, those of the lowest seeds first.
    pub fn all_on(queue: Queue) -> impl Iterator<Item = History> {
        (0..).filter(move |seed| Queue::ALL[(seed % Queue::ALL.len() as u64) as usize] == queue).map(History::of)
    }
}

fn job_at_first(dice: &mut Dice, job: Job) -> Option<JobAtFirst> {
    Some(JobAtFirst {
        job,
        is_claimed: dice.percent(80),
        is_fresh: dice.percent(25),
        owner: (!dice.percent(25)).then(|| dice.below(WORKERS)),
        attempts: dice.below(4),
        max: (!dice.percent(20)).then(|| 1 + dice.below(5)),
    })
    .filter(|_| !dice.percent(10))
}

fn deed(dice: &mut Dice, doctors: usize) -> Deed {
    #[derive(Clone, Copy)]
    enum Kind {
        Begin,
        Commit,
        Rollback,
        Works,
        Silence,
        Snapshot,
        Apply,
        Crash,
    }
    let kinds = [
        (5, Kind::Begin),
        (7, Kind::Commit),
        (3, Kind::Rollback),
        (50, Kind::Works),
        (8, Kind::Silence),
        (6, Kind::Snapshot),
        (18, Kind::Apply),
        (1, Kind::Crash),
    ];
    let doctor: Doctor = dice.below(doctors);
    match dice.weighted(&kinds) {
        Kind::Begin => Deed::Begin(dice.below(WORKERS)),
        Kind::Commit => Deed::Commit(dice.below(WORKERS)),
        Kind::Rollback => Deed::Rollback(dice.below(WORKERS)),
        Kind::Works => Deed::Works(dice.below(WORKERS), work(dice)),
        Kind::Silence => Deed::Silence(1 + dice.below(JOBS)),
        Kind::Snapshot => Deed::Snapshot { doctor, with: dice.percent(40).then(|| dice.below(doctors)) },
        Kind::Apply => Deed::Apply {
            doctor,
            at_most: 1 + dice.below(JOBS),
            answer: dice.weighted(&[(92, Answer::Heard), (3, Answer::LostBefore), (5, Answer::LostAfter)]),
            meanwhile: dice.percent(30).then(|| meanwhile(dice, doctors)),
        },
        Kind::Crash => Deed::Crash(doctor),
    }
}

fn meanwhile(dice: &mut Dice, doctors: usize) -> Meanwhile {
    match dice.once_in(5) {
        true => Meanwhile::Applies(dice.below(doctors)),
        false => Meanwhile::Works(dice.below(WORKERS), work(dice)),
    }
}

fn work(dice: &mut Dice) -> Work {
    let job = 1 + dice.below(JOBS);
    dice.weighted(&[
        (16, Work::Claim(job)),
        (14, Work::Beat(job)),
        (8, Work::Finish(job)),
        (5, Work::Fail(job)),
        (10, Work::Release(job)),
        (6, Work::Take(job)),
        (5, Work::ZombieFinish(job)),
        (5, Work::ZombieBeat(job)),
        (6, Work::Proceed(job)),
        (6, Work::Count(job)),
        (6, Work::Renew(job)),
        (12, Work::Name(job)),
        (8, Work::Half(job)),
        (3, Work::Delete(job)),
        (3, Work::Create(job)),
    ])
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, queue {:?}, at first:", self.seed, self.queue)?;
        self.jobs.iter().try_for_each(|job| writeln!(f, "  {job:?}"))?;
        self.workers.iter().try_for_each(|(worker, state)| writeln!(f, "  worker {worker}: {state:?}"))?;
        writeln!(f, "then:")?;
        self.deeds.iter().enumerate().try_for_each(|(n, deed)| writeln!(f, "{n:4}. {deed:?}"))
    }
}
