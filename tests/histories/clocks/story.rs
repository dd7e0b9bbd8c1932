//! A story: which workers lived when, what they claimed, and what the program is told. All of it follows from the seed.
//!
//! Instants are microseconds since 1970 on a true clock that no process has.

use super::shape::SHAPES;
use crate::support::dice::Dice;

pub const SECOND: i64 = 1_000_000;
/// How far a clock may be off, either way.
const SKEW: i64 = 30 * SECOND;
/// 2026-11-20T10:00:00Z.
const BASE: i64 = 1_795_168_800 * SECOND;
/// So many names of workers there are.
pub const WORKERS: usize = 3;
/// And so many jobs at most.
const JOBS: usize = 5;

/// What the program is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// To go by what the rows show.
    Plain,
    /// To go by a live-owner list as well.
    List,
    /// A restart sweep of the owners that are named.
    Named,
    /// A restart sweep of all owners.
    All,
    /// A restart sweep of all claims that were made before a deployment.
    Before,
    /// A restart sweep of all owners that are not on a list.
    NotListed,
}

impl Kind {
    pub const EVERY: [Kind; 6] = [Kind::Plain, Kind::List, Kind::Named, Kind::All, Kind::Before, Kind::NotListed];

    pub fn is_restart(self) -> bool {
        !matches!(self, Kind::Plain | Kind::List)
    }
}

/// What becomes of the processes under one name. The crux is when the list was made, the sweep began, or the new process
/// started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// One that lives.
    Lives,
    /// One that died before the crux.
    Died,
    /// One that died before the crux, and one that started after it.
    Restarted,
    /// One that started after the crux.
    New,
    /// One that lives on to finish its jobs, and one that has taken its name and its row.
    Drains,
    /// One that lives, and that the live-owner list has left out.
    Forgotten,
}

/// One process of a worker.
#[derive(Debug, Clone, Copy)]
pub struct Process {
    pub worker: usize,
    pub started: i64,
    pub died: Option<i64>,
}

/// Whether a sign of life is kept up by the one who has the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Kept,
    Null,
    /// From the claim before this one.
    Stale,
}

/// A job in flight.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub n: usize,
    pub process: usize,
    pub claimed: i64,
    /// Whether the claim time was written down.
    pub has_claim_time: bool,
    /// Whether the owner was.
    pub names_owner: bool,
    pub lease: Mark,
    pub beat: Mark,
    /// When its process last showed life.
    pub last: i64,
}

/// What happens to a job between the snapshot and the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meanwhile {
    /// A living process claims it.
    Claimed(usize),
    /// It is deleted.
    Deleted,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Story {
    pub seed: u64,
    pub shape: usize,
    pub kind: Kind,
    /// See [`Fate`].
    pub crux: i64,
    /// When the program looks.
    pub looks_at: i64,
    /// How far the clock of the list is off.
    pub list_skew: i64,
    /// What stands between two names of the list.
    pub between_names: &'static str,
    pub fates: [Fate; WORKERS],
    pub skews: [i64; WORKERS],
    /// Whether the row of a worker is missing.
    pub rowless: [bool; WORKERS],
    pub processes: Vec<Process>,
    /// Whether jobs 1 and 2 have one key, where the table allows it.
    pub doubles: bool,
    pub jobs: Vec<Job>,
    pub meanwhile: Vec<(usize, Meanwhile)>,
    /// How many steps a batch has.
    pub batch: usize,
}

/// What a worker is called.
pub fn name(worker: usize) -> String {
    format!("w{worker}")
}

/// A span that is often within a second, and often at its edge.
fn span(dice: &mut Dice) -> i64 {
    let edge = dice.pick(&[0, 1, SECOND - 1, SECOND]);
    let below = dice.pick(&[SECOND, SECOND, 5 * SECOND, 100 * SECOND, 400 * SECOND]);
    if dice.percent(30) { *edge } else { dice.below(*below as usize) as i64 }
}

impl Story {
    /// The one of a seed.
    pub fn of(seed: u64) -> Story {
        let mut dice = Dice::of(seed);
        let kind = *dice.pick(&Kind::EVERY);
        let shape = if dice.percent(10) { 0 } else { 1 + dice.below(SHAPES - 1) };
        let crux = BASE + span(&mut dice);
        let looks_at = crux + span(&mut dice).min(100 * SECOND);
        let fates = [(); WORKERS].map(|()| fate(&mut dice, kind));
        let skews =
            [(); WORKERS].map(|()| skew(&mut dice)).map(|skew| if kind.is_restart() { skew.abs() } else { skew });
        let list_skew = skew(&mut dice) * i64::from(kind == Kind::List);
        let mut processes = Vec::new();
        for (worker, fate) in fates.into_iter().enumerate() {
            let long_ago = crux - 1000 * SECOND - span(&mut dice);
            let died = matches!(fate, Fate::Died | Fate::Restarted).then(|| crux - 1 - span(&mut dice));
            if fate != Fate::New {
                processes.push(Process { worker, started: long_ago, died });
            }
            if matches!(fate, Fate::Restarted | Fate::New | Fate::Drains) {
                processes.push(Process { worker, started: looks_at.min(crux + span(&mut dice)), died: None });
            }
        }
        let mut story = Story {
            seed,
            shape,
            kind,
            crux,
            looks_at,
            list_skew,
            between_names: ["\n", " ", "\t", ", ", "\n# and\n"][dice.below(5)],
            fates,
            skews,
            rowless: [(); WORKERS].map(|()| dice.percent(15)),
            processes,
            doubles: dice.percent(50),
            jobs: Vec::new(),
            meanwhile: Vec::new(),
            batch: *dice.pick(&[1, 2, JOBS]),
        };
        story.jobs = (1..=JOBS).filter_map(|n| story.job(&mut dice, n)).collect();
        for n in 1..=JOBS {
            let speaks = |at: usize, worker: usize| !story.rowless[worker] && story.last_process(worker) == Some(at);
            let living = (0..story.processes.len()).find(|at| {
                let process = story.processes[*at];
                process.died.is_none() && speaks(*at, process.worker)
            });
            match (dice.below(20), living) {
                (0, Some(process)) => story.meanwhile.push((n, Meanwhile::Claimed(process))),
                (1, _) => story.meanwhile.push((n, Meanwhile::Deleted)),
                _ => {}
            }
        }
        story
    }

    fn job(&self, dice: &mut Dice, n: usize) -> Option<Job> {
        let at = dice.below(self.processes.len());
        let process = self.processes[at];
        let end = process.died.unwrap_or(self.looks_at);
        let early = process.started + span(dice);
        let late = end - span(dice);
        let claimed = if dice.percent(60) { early } else { late }.clamp(process.started, end);
        let mut mark = || dice.weighted(&[(5, Mark::Kept), (3, Mark::Null), (2, Mark::Stale)]);
        let (lease, beat) = (mark(), mark());
        let last = (end - dice.below(30 * SECOND as usize) as i64).max(claimed);
        let (has_claim_time, names_owner) = (!dice.percent(12), !dice.percent(10));
        let shape = super::shape::Shape::of(self.shape, jobdoctor::model::Engine::Sqlite);
        let mut job = Job { n, process: at, claimed, has_claim_time, names_owner, lease, beat, last };
        if self.lives(&job) && !job.shows_life(shape.has_lease, shape.has_beat) {
            let fate = self.fates[process.worker];
            let is_stale = (shape.has_lease && lease == Mark::Stale) || (shape.has_beat && beat == Mark::Stale);
            // Its row speaks for it, if it has one and nothing on the job's own row speaks against it.
            let by_row = shape.has_owners
                && names_owner
                && !self.rowless[process.worker]
                && self.last_process(process.worker) == Some(at)
                && fate != Fate::Forgotten
                && !is_stale;
            match (by_row, shape.has_lease, shape.has_beat) {
                (true, ..) => {}
                (false, true, _) => job.lease = Mark::Kept,
                (false, false, true) => job.beat = Mark::Kept,
                (false, false, false) => return None,
            }
        }
        Some(job).filter(|_| !dice.percent(10))
    }

    /// Whether the process that has the job lives.
    pub fn lives(&self, job: &Job) -> bool {
        self.processes[job.process].died.is_none()
    }

    /// Whose row it is that stands under a name: that of the last process that took it.
    pub fn last_process(&self, worker: usize) -> Option<usize> {
        self.processes.iter().rposition(|process| process.worker == worker)
    }

    /// Whether a restart sweep of this kind calls the owner dead.
    pub fn covers(&self, job: &Job) -> bool {
        let fate = self.fates[self.processes[job.process].worker];
        match self.kind {
            Kind::Plain | Kind::List => false,
            Kind::All | Kind::Before => true,
            Kind::Named => job.names_owner && is_named(fate),
            Kind::NotListed => job.names_owner && self.is_left_out(job),
        }
    }

    /// Whether its owner is not on the live-owner list.
    pub fn is_left_out(&self, job: &Job) -> bool {
        !is_listed(self.fates[self.processes[job.process].worker])
    }

    /// The live-owner list, and its beginning is somebody who has nothing to do with this queue.
    pub fn list(&self) -> String {
        let living = (0..WORKERS).filter(|worker| is_listed(self.fates[*worker])).map(name);
        std::iter::once("elsewhere".to_owned()).chain(living).collect::<Vec<_>>().join(self.between_names)
    }

    /// The owners that a restart sweep names.
    pub fn named(&self) -> Vec<String> {
        (0..WORKERS).filter(|worker| is_named(self.fates[*worker])).map(name).collect()
    }
}

impl Job {
    /// Whether its own row shows that its owner lives, if it does.
    pub fn shows_life(&self, has_lease: bool, has_beat: bool) -> bool {
        (has_lease && self.lease == Mark::Kept) || (has_beat && self.beat == Mark::Kept)
    }
}

/// Whether a process under that name lived when the list was made, and was not forgotten.
fn is_listed(fate: Fate) -> bool {
    matches!(fate, Fate::Lives | Fate::Drains)
}

/// Whether all that ran under the name when a restart sweep began is dead.
fn is_named(fate: Fate) -> bool {
    matches!(fate, Fate::Died | Fate::Restarted | Fate::New)
}

fn fate(dice: &mut Dice, kind: Kind) -> Fate {
    let dead = [(2, Fate::Died), (4, Fate::Restarted), (2, Fate::New)];
    match kind {
        Kind::All | Kind::Before => dice.weighted(&dead),
        Kind::NotListed => dice.weighted(&[(2, Fate::Died), (4, Fate::Restarted), (2, Fate::New), (3, Fate::Lives)]),
        Kind::List => dice.weighted(&[
            (2, Fate::Died),
            (2, Fate::Restarted),
            (3, Fate::New),
            (2, Fate::Lives),
            (1, Fate::Drains),
            (2, Fate::Forgotten),
        ]),
        Kind::Plain | Kind::Named => {
            dice.weighted(&[(2, Fate::Died), (3, Fate::Restarted), (2, Fate::New), (2, Fate::Lives), (2, Fate::Drains)])
        }
    }
}

fn skew(dice: &mut Dice) -> i64 {
    let any = dice.below(2 * SKEW as usize) as i64 - SKEW;
    dice.weighted(&[(2, 0), (3, SKEW), (3, -SKEW), (1, any)])
}
