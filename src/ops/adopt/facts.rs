//! What a draft is made from: values that were read, and answers.

use super::draft::Answers;
use super::roles::{Class, Meaning};
use super::table::{Rows, Subject, SubjectColumn};
use crate::model::{Cell, Engine, Timestamp};
use crate::output::Grade;
use crate::preset::ident::literal;
use std::collections::BTreeMap;
use std::time::Duration;
use toml_edit::Value;

/// All that a draft is made from: values that were read, and answers. No question of the draft reads the database.
pub(super) struct Facts<'a> {
    pub(super) engine: Engine,
    pub(super) now: Timestamp,
    pub(super) subject: &'a Subject,
    pub(super) answers: &'a Answers,
    pub(super) shape: Shape,
    /// The newest and the oldest rows, and all others that were read.
    pub(super) all: Rows,
    pub(super) owners: Option<OwnersTable>,
    pub(super) watched: Option<&'a Watched>,
}

impl Facts<'_> {
    /// Takes the states in which a heartbeat was seen for those in flight, unless the operator says which are.
    pub(super) fn see_states(&mut self) {
        let waiting = self.rows(Meaning::Waiting);
        let (Some(watched), Shape::Column { states, .. }) = (self.watched, &mut self.shape) else { return };
        let seen =
            watched.states(self.subject, &waiting, states).filter(|_| self.answers.get("states.in_flight").is_none());
        for state in states.iter_mut().filter(|state| seen.as_ref().is_some_and(|seen| seen.contains(&state.text()))) {
            state.meaning = Some(Meaning::InFlight);
        }
    }

    /// The rows of states with that meaning; where the operator has not said which are in flight, of those that are
    /// proposed.
    pub(super) fn rows(&self, meaning: Meaning) -> Rows {
        match &self.shape {
            Shape::Column { states, .. } => {
                let of = states.iter().filter(|state| state.meaning == Some(meaning));
                of.fold(Rows::default(), |rows, state| rows.and(&state.rows))
            }
            Shape::Where { groups, .. } => groups.get(&meaning).cloned().unwrap_or_default(),
        }
    }
}

pub(super) enum Shape {
    /// One column.
    Column { name: String, states: Vec<StateSeen> },
    /// Several columns: the condition for a row in flight, and rows by what they mean.
    Where { condition: String, groups: BTreeMap<Meaning, Rows> },
}

/// A stored state with its rows.
#[derive(Debug, Clone)]
pub(super) struct StateSeen {
    pub(super) value: Cell,
    /// Its name in the lookup table.
    pub(super) label: Option<String>,
    pub(super) is_truth: bool,
    pub(super) rows: Rows,
    pub(super) meaning: Option<Meaning>,
    pub(super) grade: Grade,
    pub(super) why: String,
}

impl StateSeen {
    pub(super) fn text(&self) -> String {
        match (&self.value, self.is_truth) {
            (Cell::Integer(truth), true) => (*truth != 0).to_string(),
            (value, _) => value.to_string(),
        }
    }

    pub(super) fn value(&self) -> Value {
        match (&self.value, self.is_truth) {
            (Cell::Integer(truth), true) => (*truth != 0).into(),
            (Cell::Integer(number), false) => (*number).into(),
            (value, _) => value.to_string().into(),
        }
    }
}

/// A table with a heartbeat for each owner.
#[derive(Debug, Clone)]
pub(super) struct OwnersTable {
    /// What the mapping calls it.
    pub(super) written: String,
    /// Its column that is the owner's name in the jobs' table.
    pub(super) matched: String,
    /// False for a log, in which an owner has many rows.
    pub(super) is_unique: bool,
    pub(super) heartbeat: SubjectColumn,
    pub(super) host: Option<String>,
    pub(super) values: Vec<Cell>,
    pub(super) is_foreign: bool,
}

/// Times that went forward on a row that stayed in its state.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    pub(super) changes: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub(super) column: String,
    /// The row's state; `None` for a row that waits, where columns tell it together.
    pub(super) state: String,
    pub(super) is_waiting: bool,
    /// How far the time went forward.
    pub(super) step: Duration,
}

/// A value as SQL.
pub(super) fn stored(engine: Engine, column: &SubjectColumn, cell: &Cell) -> String {
    match (cell, column.class, engine.has_strict_types()) {
        (Cell::Integer(truth), Class::Boolean, true) => (*truth != 0).to_string(),
        (Cell::Integer(number), ..) => number.to_string(),
        (other, ..) => literal(&other.to_string()),
    }
}
