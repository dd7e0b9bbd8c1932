//! The waiting side of a queue: which jobs are due, and what shows that workers take them.

use super::{
    Attempts, ClaimSpec, Expr, Finished, OwnerSpec, QueueSpec, Rules, Shown, StateSource, StateValue, States,
    TimeColumn,
};
use crate::preset::template::{Column, Piece, Template};
use std::time::Duration;

/// How the waiting side is read. A part is `None` where the library does not keep it, or this database lacks its table.
#[derive(Debug, Clone)]
pub struct WaitingSpec {
    pub due: DueSpec,
    /// Jobs whose time has come and that something must move on before a worker can take them, and who does that.
    pub staged: Option<(String, DueSpec)>,
    /// Gives the names of paused queues; `*` is all.
    pub paused: Option<Template>,
    pub workers: Option<WorkersSpec>,
    /// True if an index leads to the runs that ended last.
    pub ends_are_indexed: bool,
}

/// What makes a row wait for a worker, now or later, or have ended, where no state says it. A row that is in flight is
/// neither.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    pub waiting: Option<Template>,
    /// Where such a row stands, under its key, if not in the claims' own table.
    pub waiting_in: Option<(Template, Vec<Column>)>,
    /// `None` if all has ended that is neither in flight nor waits.
    pub ended: Option<Template>,
}

/// Which rows are jobs that a worker could take now.
#[derive(Debug, Clone)]
pub struct DueSpec {
    pub from: Template,
    /// The states they are in; empty where the row's place is its state.
    pub states: Vec<StateValue>,
    pub filter: Option<Template>,
    /// Not before this instant.
    pub at: Option<TimeColumn>,
    /// True if NULL there may mean at once.
    pub at_may_be_null: bool,
    pub since: TimeColumn,
    pub queue: Option<Expr>,
    /// Its key, where such a row has that of the claim.
    pub key: Option<Vec<Column>>,
    /// Why a row whose time has come cannot be taken, in words; NULL where nothing holds it.
    pub held: Option<Expr>,
    /// How long a due job usually waits for an idle worker.
    pub delay: Duration,
    /// True if an index gives the job that is due first.
    pub is_ordered: bool,
}

/// The rows of workers, under the alias `w`.
#[derive(Debug, Clone)]
pub struct WorkersSpec {
    /// Their table, by its logical name.
    pub table: String,
    pub filter: Option<Template>,
    /// The queues that one serves, as [`Worker`](crate::model::Worker) spells them; `None` is all.
    pub queues: Option<Expr>,
    /// Its heartbeat, and after which silence it is dead; `None` where the row is there only while it lives.
    pub heartbeat: Option<(TimeColumn, Duration)>,
}

/// A table, other than the claims' own, where a job may stand under its id.
#[derive(Debug, Clone)]
pub struct PlaceSpec {
    /// The state that a row there is in.
    pub name: String,
    pub from: Template,
    pub key: Vec<Column>,
    pub filter: Option<Template>,
    pub queue: Option<Expr>,
    pub kind: Option<Expr>,
    /// Since when it stands there.
    pub since: Option<TimeColumn>,
    /// How it ended, for people.
    pub says: Option<Expr>,
    /// What it waits for.
    pub held: Option<Expr>,
}

const NO_RULES: Rules = Rules { deadline: None, cancel_requested: None, max_runtime: None };

impl QueueSpec {
    /// The queue as if the rows of this place were its claims, to look jobs up there.
    pub fn at_place(&self, place: &PlaceSpec) -> QueueSpec {
        let claim = ClaimSpec {
            from: place.from.clone(),
            state: StateSource::Place(place.name.clone()),
            filter: place.filter.clone().or_else(|| Some(Template(vec![Piece::Text("true".to_owned())]))),
            queue: place.queue.clone(),
            kind: place.kind.clone(),
            claimed_at: place.since.clone(),
            ..self.claim.clone()
        };
        self.looking(claim, place.key.clone(), place.held.clone().or_else(|| place.says.clone()))
    }

    /// The queue as if its due jobs were its claims: their deadline is the time before which they are not due, and their
    /// evidence says what holds them. `None` where no row there has a claim's key.
    pub fn of_due_jobs(&self, due: &DueSpec) -> Option<QueueSpec> {
        let always = || Some(Template(vec![Piece::Text("true".to_owned())]));
        let claim = ClaimSpec {
            from: due.from.clone(),
            filter: due.filter.clone().or_else(|| if due.states.is_empty() { always() } else { None }),
            queue: due.queue.clone(),
            kind: None,
            claimed_at: Some(due.since.clone()),
            ..self.claim.clone()
        };
        let is_own = self.table_of(&due.from) == self.table_of(&self.claim.from);
        let claim = if is_own { claim } else { ClaimSpec { state: StateSource::Place(String::new()), ..claim } };
        let states = States { in_flight: due.states.clone(), ..self.states.clone() };
        let spec = self.looking(claim, due.key.clone()?, due.held.clone());
        Some(QueueSpec { states, rules: Rules { deadline: due.at.clone(), ..NO_RULES }, ..spec })
    }

    /// The first table of a FROM item, in words.
    pub fn table_of(&self, from: &Template) -> String {
        let first = from.names().find_map(|name| self.tables.get(name));
        first.map_or_else(String::new, |table| format!("{}.{}", table.schema, table.name))
    }

    /// The queue with this claim, of which nothing is judged.
    fn looking(&self, claim: ClaimSpec, key: Vec<Column>, says: Option<Expr>) -> QueueSpec {
        let precondition = key.iter().cloned().map(Expr::Column).collect();
        let kind = claim.kind.clone();
        QueueSpec {
            claim: ClaimSpec {
                key,
                precondition,
                kind,
                progress: Vec::new(),
                payload: None,
                last_error: None,
                ..claim
            },
            owner: OwnerSpec::default(),
            liveness: Vec::new(),
            attempts: Attempts { column: None, left: None, max: None, stalls: None, ..self.attempts.clone() },
            rules: NO_RULES,
            finished: Finished::Untold(String::new()),
            shown: Shown { actions_asked_at: None, ..self.shown.clone() },
            skips: Vec::new(),
            show: says.map(|says| (String::new(), says)).into_iter().collect(),
            ..self.clone()
        }
    }
}
