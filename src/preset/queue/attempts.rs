use super::Expr;
use crate::model::AttemptsChange;

/// See [`QueueSpec::attempts`](super::QueueSpec::attempts).
#[derive(Debug, Clone)]
pub struct Attempts {
    /// The counter.
    pub column: Option<Expr>,
    /// The most there may be; `None` is no limit that the table knows.
    pub max: Option<Max>,
    /// How often the job was lost before, where the row counts it; NULL there is never.
    pub stalls: Option<Expr>,
    /// When a run is counted.
    pub counted: Counted,
    /// What becomes of a job that has used them up.
    pub exhausted: Exhausted,
    /// What the maximum counts.
    pub max_counts: MaxCounts,
}

/// Where the maximum of attempts is.
#[derive(Debug, Clone, PartialEq)]
pub enum Max {
    /// The same for all.
    Number(i64),
    /// On the row.
    Expr(Expr),
}

/// When a run is counted, so whether a lost one still has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// When it begins: a lost run is counted already.
    AtClaim,
    /// When the next one begins, which will count it.
    AtNextClaim,
    /// When it ends, which a lost one never does: the reclaim counts it.
    AtEnd,
    /// When it ends badly: the reclaim counts it.
    OnError,
    /// By the reclaim.
    AtReclaim,
    /// Nowhere that SQL could reach.
    NotInTheTable,
}

impl Counted {
    /// What a reclaim does to the counter unless the action says otherwise.
    pub fn change(self) -> AttemptsChange {
        match self {
            Counted::AtClaim | Counted::AtNextClaim | Counted::NotInTheTable => AttemptsChange::Keep,
            Counted::AtEnd | Counted::OnError | Counted::AtReclaim => AttemptsChange::Add(1),
        }
    }
}

/// What becomes of a job that has used up its attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// It fails.
    Fail,
    /// It goes back all the same: the library itself will fail it.
    Leave,
}

/// What the maximum of attempts counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxCounts {
    /// Runs: the job fails when attempts after the action reach the maximum.
    Runs,
    /// Retries: the job fails when attempts after the action exceed the maximum.
    Retries,
}
