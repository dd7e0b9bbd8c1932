//! A preset resolved against a real database: what the rest of the program works with.

mod actions;
mod claim;
mod rules;
mod utc;
mod waiting;

pub use actions::*;
pub use claim::*;
pub use rules::*;
pub use utc::{FURTHEST_EAST, is_fresh};
pub use waiting::*;

use super::SpecError;
pub use super::template::Column;
use crate::model::{Action, Engine, Timestamp};
use LedgerKind::{Instant, Json, MaybeInteger, MaybeText, Text};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use strum::Display;

/// Why tables of these names do not count.
pub type Ignored = BTreeMap<String, String>;

/// What is true of one queue in one database, however its jobs are looked at.
#[derive(Debug, Clone)]
pub struct Queue {
    pub preset: String,
    /// The fingerprint of the mapping's text; empty for a built-in preset.
    pub mapping: String,
    pub variants: Vec<String>,
    pub fencing: Fencing,
    pub engine: Engine,
    /// The schema its tables live in; `main` on SQLite.
    pub schema: String,
    pub tables: BTreeMap<String, Table>,
    pub states: States,
    /// What is done to jobs that waited too long.
    pub waited_actions: BTreeMap<Action, ActionSpec>,
    /// How an interrupted job comes back that is a row of the claims' own table.
    pub retry: Option<ActionSpec>,
    /// The tables that only say what waits, by their logical names.
    pub beside: BTreeSet<String>,
    /// Jobs that never run although no worker holds them: what `check` counts and warns of.
    pub checks: Vec<CheckSpec>,
    pub notify: Vec<Notify>,
    pub ledger: Option<LedgerSpec>,
    /// Tables that would be used because they are there, and do not count.
    pub ignored: Ignored,
    /// Why there can be none: a library that refuses a database with other tables than its own, say.
    pub no_ledger: Option<String>,
}

/// The jobs of a queue, seen in one way.
#[derive(Debug, Clone)]
pub struct Jobs {
    pub queue: Arc<Queue>,
    pub what: What,
    /// The states that they are in; empty where the row's place is its state.
    pub states: Vec<StateValue>,
    /// What makes a row one of them. Of jobs that no worker holds, the time of the claim is that since when they are so.
    pub claim: ClaimSpec,
    pub owner: OwnerSpec,
    /// What shows life, best source first.
    pub liveness: Vec<Liveness>,
    /// So many of the last of them are of the preset that a mapping bends: their signs of life count, whatever it asks.
    pub kept: usize,
    /// Where a sign of life stands that cannot be locked, in words: a view of owners, or a column that a join or a
    /// sub-select reads from another table. A sign of life committed there at the instant of a write comes too late.
    /// `None` on SQLite, where a write excludes every other one.
    pub unlocked: Option<String>,
    /// The keys of the document whose values are SQL that reads: a value in a row may break it.
    pub computed: Vec<String>,
    /// The columns of their own table that the database fills where a statement gives no value.
    pub filled: BTreeSet<String>,
    /// What one snapshot shows.
    pub shown: Shown,
    pub attempts: Attempts,
    pub rules: Rules,
    pub finished: Finished,
    pub actions: BTreeMap<Action, ActionSpec>,
    /// Why no statement can be written that does what an action says and no more, if so.
    pub unwritable: Option<String>,
    pub conditions: Conditions,
    pub skips: Vec<Skip>,
    /// What the dry run prints, by name.
    pub cautions: Vec<(String, String)>,
    pub show: Vec<(String, Expr)>,
    /// The columns of their own table that this role may read, in the catalog's order: what a row's fingerprint covers.
    pub row: Vec<Column>,
}

/// In which way the jobs of a queue are seen.
#[derive(Debug, Clone)]
pub enum What {
    InFlight,
    /// The library failed them because their worker died.
    Interrupted(InterruptedSpec),
    /// They waited too long in one state ([`Waits`]).
    Waited,
    /// A worker could take them now, or once they are moved on.
    Due,
    /// They stand in a table of their own; true if they wait there.
    Elsewhere(bool),
}

/// A queue in each way in which its tables show it.
#[derive(Debug)]
pub struct Views {
    pub claims: Arc<Jobs>,
    /// Or what is wrong, or why there are none.
    pub interrupted: Result<Arc<Jobs>, SpecError>,
    /// True if the rows tell which jobs the library failed because their worker died.
    pub tells_interrupted: bool,
    /// Those that waited too long, for each state and column that was asked for.
    pub waited: Vec<(Waits, Result<Arc<Jobs>, SpecError>)>,
    /// What the tables tell of jobs that wait, or why they tell nothing.
    pub waiting: Result<Arc<WaitingSpec>, String>,
    pub places: Vec<Jobs>,
}

/// What a snapshot shows of the queue beyond the row of a claim and its owner's.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// True if a fresh value shows that the times that one application writes are in UTC.
    pub utc: bool,
    /// The newest claim or sign of life of each owner that has no row, where the absence of a row is death.
    pub missing_owners: BTreeMap<String, Timestamp>,
    /// Its time, where the listing also asks what the actions would make of each row, since no scene proves where they lead.
    pub actions_asked_at: Option<Timestamp>,
}

impl Jobs {
    /// True if that a claim's owner has no row means death.
    pub fn judges_missing_owners(&self) -> bool {
        let asks = self.liveness.iter().any(|source| matches!(source, Liveness::Owner { .. }));
        asks && self.owner.row.as_ref().is_some_and(|row| row.missing == Absence::Dead)
    }

    /// Adds to a preset that a mapping bends what stays of it: all that it compares before a write, and its evidence from
    /// outside the row.
    pub(super) fn keep(&mut self, preset: Jobs) {
        let is_new = |expr: &Expr| !self.claim.precondition.contains(expr);
        let precondition: Vec<Expr> = preset.claim.precondition.into_iter().filter(is_new).collect();
        self.claim.precondition.extend(precondition);
        let has_owner = self.liveness.iter().any(|source| matches!(source, Liveness::Owner { .. }));
        let is_lost = |source: &Liveness| match source {
            Liveness::Lock { .. } => !self.liveness.contains(source),
            Liveness::Lease { column, .. } | Liveness::Heartbeat { column, .. } => !self
                .liveness
                .iter()
                .any(|own| own.name() == source.name() && own.column().map(|own| &own.column) == Some(&column.column)),
            source => matches!(source, Liveness::Owner { .. }) && !has_owner,
        };
        let kept: Vec<Liveness> = preset.liveness.into_iter().filter(is_lost).collect();
        self.kept = kept.len();
        self.unlocked = self.unlocked.take().or(preset.unlocked);
        self.liveness.extend(kept);
        let computed = preset.computed.into_iter().filter(|key| !self.computed.contains(key)).collect::<Vec<_>>();
        self.computed.extend(computed);
    }

    /// The tables whose rows show life and cannot be locked, by their logical names: those of joins and of a veto.
    pub fn evidence_tables(&self) -> BTreeSet<&str> {
        let joined = self.claim.from.names().map(String::as_str);
        let joined = joined.filter(|name| *name != self.claim.lock_table && self.unlocked.is_some());
        let owners = self.owner.row.iter().filter(|row| !row.can_lock).map(|row| row.table.as_str());
        let vetoing = self.claim.veto.iter().flat_map(|veto| &veto.tables).map(String::as_str);
        joined.chain(owners).chain(vetoing).collect()
    }

    /// True where the state is a column of another table than the claim's own.
    pub fn state_stands_elsewhere(&self) -> bool {
        matches!(self.claim.state, StateSource::Column(_)) && self.claim.own_state().is_none()
    }

    /// What is known besides of jobs that their library failed with their worker.
    pub fn interrupted(&self) -> Option<&InterruptedSpec> {
        if let What::Interrupted(interrupted) = &self.what { Some(interrupted) } else { None }
    }

    pub fn are_interrupted(&self) -> bool {
        self.interrupted().is_some()
    }

    pub fn waited(&self) -> bool {
        matches!(self.what, What::Waited)
    }

    /// The first table of its FROM item, in words.
    pub fn table(&self) -> String {
        let first = self.claim.from.names().find_map(|name| self.queue.tables.get(name));
        first.map_or_else(String::new, |table| format!("{}.{}", table.schema, table.name))
    }

    /// The library's own command for interrupted jobs that jobdoctor does not retry.
    pub fn library_command(&self) -> Option<&str> {
        self.interrupted()?.command.as_deref()
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
        let is_missing = self.liveness.is_empty() && !self.are_interrupted();
        let claimed_at = self.claim.claimed_at.as_ref().filter(|_| is_missing)?;
        let column = &claimed_at.column.name;
        Some(format!("liveness = [{{ by = \"age\", column = {column:?}, silent_after = \"30m\" }}]"))
    }

    /// The name of an in-flight state, of which there may be several.
    pub fn in_flight_names(&self) -> Vec<String> {
        match &self.claim.state {
            StateSource::Column(_) => self.states.iter().map(|state| state.name.clone()).collect(),
            StateSource::Place(name) => vec![name.clone()],
        }
    }
}

impl Views {
    /// True if jobdoctor brings interrupted jobs back, and the library's own command is not what does.
    pub fn retries_interrupted(&self) -> bool {
        self.tells_interrupted && self.interrupted.as_ref().is_ok_and(|jobs| jobs.library_command().is_none())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Proof {
    /// Against the real library, run.
    Live,
    Schema,
    /// Against what was read of it only.
    #[default]
    Facts,
}

/// How the write of a worker that comes back late is guarded by its library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fencing {
    /// By a token or owner: it misses.
    Fenced,
    /// By the job's state alone.
    #[serde(rename = "by state")]
    ByState,
    /// By nothing but the id: it overwrites.
    #[serde(rename = "by id")]
    ById,
    #[default]
    Unknown,
}

/// The name of the ledger's table. It is only ever looked for where the queue's own tables are.
pub const LEDGER: &str = "jobdoctor_ledger";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerKind {
    Text,
    MaybeText,
    Json,
    MaybeInteger,
    /// An instant: timestamptz on Postgres, RFC 3339 text on SQLite.
    Instant,
}

/// The columns of the ledger, in order: what a run's head says, and what each step says, by the names that a journal
/// has for it.
pub const LEDGER_COLUMNS: [(&str, LedgerKind); 23] = [
    ("run_id", Text),
    ("moved_at", Instant),
    ("command", Text),
    ("version", Text),
    ("actor", MaybeText),
    ("host", MaybeText),
    ("reason", MaybeText),
    ("undoes", MaybeText),
    ("preset", Text),
    ("job_table", Text),
    ("key_columns", Json),
    ("id", Text),
    ("key", Json),
    ("queue", MaybeText),
    ("kind", MaybeText),
    ("owner", MaybeText),
    ("action", Text),
    ("state", Text),
    ("state_after", Text),
    ("attempts", MaybeInteger),
    ("attempts_after", MaybeInteger),
    ("rules", Json),
    ("row", Json),
];

pub const LEDGER_STEP: usize = 11;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerSpec {
    pub engine: Engine,
    pub table: Table,
    pub lacks: Vec<String>,
    pub may_insert: bool,
    pub may_read: bool,
}
