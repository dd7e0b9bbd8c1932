//! What workers, doctors and time do, one thing after another.

/// A job, by its number from 1.
pub type Job = usize;
/// A worker, by its number from 0.
pub type Worker = usize;
/// A doctor, by its number from 0.
pub type Doctor = usize;

pub const JOBS: usize = 4;
pub const WORKERS: usize = 3;
/// How many doctors at most; two at least.
pub const DOCTORS: usize = 4;

/// One thing that is done. Where it cannot be done (there is no transaction to end, a lock is in the way) nothing happens,
/// so that a history stays one whatever is left out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// From here on what this worker does is not committed.
    Begin(Worker),
    Commit(Worker),
    /// It was all for nothing: the worker's transaction is taken back, by itself or because it crashed.
    Rollback(Worker),
    Works(Worker, Work),
    /// This job's worker has been silent for so long that it counts as dead.
    Silence(Job),
    /// Doctors of the same mind look at the queue and keep their plan.
    Snapshot {
        doctor: Doctor,
        /// And another who works from the same snapshot, as with a saved plan.
        with: Option<Doctor>,
    },
    Apply {
        doctor: Doctor,
        at_most: usize,
        answer: Answer,
        /// What comes between the verify and the write.
        meanwhile: Option<Meanwhile>,
    },
    Crash(Doctor),
}

/// What happens while a batch is verified and not yet written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meanwhile {
    Works(Worker, Work),
    /// Another doctor applies the next batch of its own plan.
    Applies(Doctor),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Heard,
    /// The commit never reached the database.
    LostBefore,
    /// The database did it, and nobody heard.
    LostAfter,
}

/// What a worker, or anybody but a doctor, writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Claim(Job),
    /// Sends a heartbeat, for a job that it believes to have.
    Beat(Job),
    /// Ends a run well, if it still has the job.
    Finish(Job),
    /// Ends a run badly, if it still has the job.
    Fail(Job),
    /// Gives a job back, if it still has it.
    Release(Job),
    /// Takes a claim over without anybody's leave: only the owner tells, or the token.
    Take(Job),
    /// Wakes up after its job was given away, and ends it without asking whose it is.
    ZombieFinish(Job),
    ZombieBeat(Job),
    /// Goes on to the other state in flight.
    Proceed(Job),
    /// Counts a run that has just ended badly, and tries again at once.
    Count(Job),
    /// Gives itself a new token under its own name; where there is none, a new start.
    Renew(Job),
    /// A name is written where there was none: the empty one.
    Name(Job),
    /// A heartbeat without a lease, or a lease without a heartbeat, as sloppy workers do.
    Half(Job),
    Delete(Job),
    /// A job of that number is put into the queue, if there is none.
    Create(Job),
}
