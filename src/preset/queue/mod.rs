//! A preset resolved against a real database: what the rest of the program works with.

mod actions;
mod attempts;
mod check;
mod claim;
mod column;
mod finished;
mod ledger;
mod liveness;
mod owner;
mod recorded;
mod rules;
mod states;

pub use actions::{ActionSpec, Assignment, Notify, Rows, Skip, StepSpec};
pub use attempts::{Attempts, Counted, Exhausted, Max, MaxCounts};
pub use check::CheckSpec;
pub use claim::{ClaimSpec, StateSource};
pub use column::{Column, Expr, Table, TimeColumn};
pub use finished::{Finished, Runs};
pub use ledger::{LEDGER, LEDGER_COLUMNS, LedgerKind, LedgerSpec};
pub use liveness::{Free, Liveness, SilentAfter};
pub use owner::{Absence, JoinOn, OwnerRowSpec, OwnerSpec};
pub use rules::{CancelRequested, MaxRuntime, Rules};
pub use states::{StateValue, States};

use crate::model::{Action, Engine};
use std::collections::BTreeMap;

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
    /// True where what is looked at are jobs that wait: their one state stands for the ones in flight, and since when they
    /// wait for the time of the claim. See [`Waits`](super::Waits).
    pub waits: bool,
    /// What makes a row a claim, and what is read of it.
    pub claim: ClaimSpec,
    /// Who holds it.
    pub owner: OwnerSpec,
    /// How life is told from death, best source first.
    pub liveness: Vec<Liveness>,
    /// What shows life and cannot be locked, as people call it: a view of owners, or a column that a join or a sub-select reads
    /// from another table. A sign of life that is committed there in the instant of a write comes too late. `None` on SQLite,
    /// where a write keeps every other one out.
    pub unlocked: Option<String>,
    /// How attempts are counted.
    pub attempts: Attempts,
    /// Rules about trouble.
    pub rules: Rules,
    /// What the tables keep of jobs that have ended well.
    pub finished: Finished,
    /// What may be done to a job.
    pub actions: BTreeMap<Action, ActionSpec>,
    /// What may be done to a job that waits.
    pub waiting: BTreeMap<Action, ActionSpec>,
    /// Conditions under which a step is kept back.
    pub skips: Vec<Skip>,
    /// Jobs that never run although no worker holds them: what `check` counts and warns of.
    pub checks: Vec<CheckSpec>,
    /// How workers are woken after a commit.
    pub notify: Vec<Notify>,
    /// What the dry run prints, by name.
    pub cautions: Vec<(String, String)>,
    /// Extra evidence: name and expression.
    pub show: Vec<(String, Expr)>,
    /// The columns of the claim's own table that this role may read, in the catalog's order: what a row's fingerprint covers.
    pub row: Vec<Column>,
    /// The ledger beside the tables, if there is one.
    pub ledger: Option<LedgerSpec>,
}

impl QueueSpec {
    /// True where the state is a column of another table than the claim's own.
    pub fn state_stands_elsewhere(&self) -> bool {
        matches!(self.claim.state, StateSource::Column(_)) && self.claim.own_state().is_none()
    }

    /// Why nothing can ever be done to a job here: then this queue is listed, and advice is all there is.
    pub fn advice_only(&self) -> Option<&str> {
        let all = self.actions.values().all(|moved| moved.refused.is_some());
        self.actions.values().find_map(|moved| moved.refused.as_deref()).filter(|_| all)
    }

    /// The keys of the document whose values are SQL that is computed for each claim, so that a value in a row may break it.
    pub fn computed(&self) -> Vec<&'static str> {
        let (claim, owner, attempts) = (&self.claim, &self.owner, &self.attempts);
        let read = [
            ("claim.queue", claim.queue.as_ref()),
            ("claim.kind", claim.kind.as_ref()),
            ("owner.id", owner.id.as_ref()),
            ("owner.name", owner.name.as_ref()),
            ("owner.host", owner.host.as_ref()),
            ("attempts.column", attempts.column.as_ref()),
        ];
        let read = read.into_iter().filter(|(_, expr)| matches!(expr, Some(Expr::Sql(_)))).map(|(key, _)| key);
        let of_rules = [
            ("claim.filter", claim.filter.is_some()),
            ("rules.cancel_requested", matches!(self.rules.cancel_requested, Some(CancelRequested::Sql(_)))),
            ("skip", !self.skips.is_empty()),
        ];
        read.chain(of_rules.into_iter().filter(|(_, is_there)| *is_there).map(|(key, _)| key)).collect()
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
    /// Against its tables only.
    Schema,
    /// Against what was read of it only.
    Facts,
}

impl Proof {
    /// The name used in presets and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Proof::Live => "live",
            Proof::Schema => "schema",
            Proof::Facts => "facts",
        }
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
    /// Nobody looked.
    Unknown,
}
