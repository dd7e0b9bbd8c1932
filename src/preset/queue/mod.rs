//! A preset resolved against a real database: what the rest of the program works with.

mod actions;
mod claim;
mod ledger;
mod rules;
mod utc;

pub use actions::{ActionSpec, Assignment, CheckSpec, Notify, Rows, Skip, StepSpec};
pub use claim::{
    Absence, ClaimSpec, Expr, JoinOn, OwnerRowSpec, OwnerSpec, StateSource, StateValue, States, Table, TimeColumn,
};
pub use ledger::{LEDGER, LEDGER_COLUMNS, LEDGER_STEP, LedgerKind, LedgerSpec};
pub use rules::{
    Attempts, CancelRequested, Counted, EARLIEST_MICROS, Exhausted, Finished, Free, LEASE_AHEAD, Liveness, Max,
    MaxCounts, MaxRuntime, Rules, Runs, SilentAfter, silence_allowed,
};

pub use utc::UtcEvidence;

use super::fields::Word;
pub use super::template::Column;
use crate::model::{Action, Engine};
use std::collections::{BTreeMap, BTreeSet};

/// Why tables of these names do not count.
pub type Ignored = BTreeMap<String, String>;

/// One queue, as it stands in one database.
#[derive(Debug, Clone)]
pub struct QueueSpec {
    /// The preset's or mapping's name.
    pub preset: String,
    /// The variants that the probes chose.
    pub variants: Vec<String>,
    /// How a late worker's write is guarded.
    pub fencing: Fencing,
    /// The engine it was resolved for.
    pub engine: Engine,
    /// The schema its tables live in; `main` on SQLite.
    pub schema: String,
    /// The tables by the name the preset gives them.
    pub tables: BTreeMap<String, Table>,
    /// The states and what they mean.
    pub states: States,
    /// True for jobs that wait ([`Waits`](super::Waits)): their one state stands for the ones in flight, and the time
    /// since when they wait for the time of the claim.
    pub waits: bool,
    /// What makes a row a claim, and what is read of it.
    pub claim: ClaimSpec,
    pub owner: OwnerSpec,
    /// What shows life, best source first.
    pub liveness: Vec<Liveness>,
    /// Where a sign of life stands that cannot be locked, in words: a view of owners, or a column that a join or a
    /// sub-select reads from another table. A sign of life committed there at the instant of a write comes too late.
    /// `None` on SQLite, where a write excludes every other one.
    pub unlocked: Option<String>,
    /// The keys of the document whose values are SQL that reads: a value in a row may break it.
    pub computed: Vec<String>,
    /// The columns of the claims' own table that the database fills where a statement gives no value.
    pub filled: BTreeSet<String>,
    /// What shows that times which nobody says the zone of are UTC. Without any, they are not believed.
    pub utc: UtcEvidence,
    pub attempts: Attempts,
    pub rules: Rules,
    /// What the tables keep of jobs that have ended well.
    pub finished: Finished,
    /// What may be done to a job.
    pub actions: BTreeMap<Action, ActionSpec>,
    /// Why no statement can be written that does what an action says and no more, if so.
    pub unwritable: Option<String>,
    /// What may be done to a job that waits.
    pub waiting: BTreeMap<Action, ActionSpec>,
    /// Conditions under which a job is skipped.
    pub skips: Vec<Skip>,
    /// Jobs that never run although no worker holds them: what `check` counts and warns of.
    pub checks: Vec<CheckSpec>,
    /// How workers are woken after a commit.
    pub notify: Vec<Notify>,
    /// What the dry run prints, by name.
    pub cautions: Vec<(String, String)>,
    /// Extra evidence: name and expression.
    pub show: Vec<(String, Expr)>,
    /// The columns of the claim's own table that this role may read, in the catalog's order: what a row's fingerprint
    /// covers.
    pub row: Vec<Column>,
    /// The ledger in the schema of the tables, if there is one.
    pub ledger: Option<LedgerSpec>,
    /// Tables that would be used because they are there, and do not count.
    pub ignored: Ignored,
    /// Why there can be none: a library that refuses a database with other tables than its own, say.
    pub no_ledger: Option<String>,
}

impl QueueSpec {
    /// True where the state is a column of another table than the claim's own.
    pub fn state_stands_elsewhere(&self) -> bool {
        matches!(self.claim.state, StateSource::Column(_)) && self.claim.own_state().is_none()
    }

    /// True if the operator must say how long a claim may be silent: the library's own threshold is not known.
    pub fn needs_threshold(&self) -> bool {
        self.liveness.iter().any(|source| source.silent_after() == Some(&SilentAfter::Required))
    }

    /// Why no action is ever taken on a job here: then the queue is only listed, and its advice printed.
    pub fn advice_only(&self) -> Option<&str> {
        let all = self.actions.values().all(|action| action.refused.is_some());
        self.actions.values().find_map(|action| action.refused.as_deref()).filter(|_| all)
    }

    /// The key that a mapping without liveness lacks, where claims have a claim time.
    pub fn missing_liveness(&self) -> Option<String> {
        let claimed_at = self.claim.claimed_at.as_ref().filter(|_| self.liveness.is_empty())?;
        let column = &claimed_at.column.name;
        Some(format!("liveness = [{{ by = \"age\", column = {column:?}, silent_after = \"30m\" }}]"))
    }

    /// The name of an in-flight state, of which there may be several.
    pub fn in_flight_names(&self) -> Vec<String> {
        match &self.claim.state {
            StateSource::Column(_) => self.states.in_flight.iter().map(|state| state.name.clone()).collect(),
            StateSource::Place(name) => vec![name.clone()],
        }
    }
}

/// How a preset was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Against the real library, run.
    Live,
    Schema,
    /// Against what was read of it only.
    Facts,
}

impl Proof {
    /// The name used in presets and in JSON.
    pub fn name(self) -> &'static str {
        Proof::WORDS.iter().find(|(_, proof)| *proof == self).map_or("", |(name, _)| name)
    }
}

/// How the write of a worker that comes back late is guarded by its library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fencing {
    /// By a token or owner: it misses.
    Fenced,
    /// By the job's state alone.
    ByState,
    /// By nothing but the id: it overwrites.
    ById,
    Unknown,
}
