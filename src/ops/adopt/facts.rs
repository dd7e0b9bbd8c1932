//! What a draft is made from: values that were read, and answers.

use super::draft::Answers;
use super::liveness::Source;
use super::owner::OwnerId;
use super::roles::{Class, Meaning, Role};
use super::rows::Rows;
use super::table::{Foreign, Subject, SubjectColumn};
use super::watch::{Beat, Watched};
use crate::model::{Cell, Engine, Timestamp};
use crate::output::Grade;
use crate::preset::ident::literal;
use std::collections::BTreeMap;
use toml_edit::Value;

/// The fewest rows of each side that show something.
pub(super) const ENOUGH: usize = 5;

/// All that a draft is made from: values that were read, and answers. No question of the draft reads the database.
pub(super) struct Facts<'a> {
    pub(super) engine: Engine,
    pub(super) now: Timestamp,
    pub(super) subject: &'a Subject,
    pub(super) answers: &'a Answers,
    pub(super) watched: Option<&'a Watched>,
    /// The heartbeat that was seen.
    pub(super) beat: Option<Beat>,
    pub(super) shape: Shape,
    /// Every row that was read.
    pub(super) all: Rows,
    pub(super) waiting: Rows,
    /// Those of the waiting that were never tried: what a requeue makes of a row.
    pub(super) fresh: Rows,
    pub(super) in_flight: Rows,
    pub(super) failed: Rows,
    pub(super) owner: Option<OwnerId>,
    pub(super) owners: Option<OwnersTable>,
    /// The column that says when a job was claimed.
    pub(super) claimed: Option<String>,
    pub(super) source: Option<Source>,
}

/// How well a conclusion is supported, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Support {
    /// By a name, or by nothing.
    Name,
    /// By rows that are too few, or that no name confirms: a proposal.
    Rows,
    /// By a name and by five rows.
    Both,
    /// By the catalog, or by every row that waits and every one in flight, five of each.
    Shown,
    Answered,
}

impl Support {
    /// What rows on two sides support, if all of them say so.
    pub(super) fn by(all_say_so: bool, one_side: usize, other_side: usize) -> Support {
        match one_side.min(other_side) {
            ENOUGH.. if all_say_so => Support::Shown,
            1.. if all_say_so => Support::Rows,
            _ => Support::Name,
        }
    }

    pub(super) fn grade(self) -> Grade {
        match self {
            Support::Answered => Grade::Asked,
            Support::Shown => Grade::Shown,
            _ => Grade::Likely,
        }
    }
}

impl Facts<'_> {
    /// How well it is supported that claims alone set a column.
    pub(super) fn set_by_claims(&self, column: &str) -> Support {
        let (waiting, in_flight) = (&self.waiting, &self.in_flight);
        let all = waiting.is_free(column) && in_flight.is_held(column);
        let untried = self.fresh.is_free(column) && in_flight.is_held(column);
        Support::by(all, waiting.len(), in_flight.len()).max(Support::by(untried, 1, 1))
    }

    /// The table of locks, if it tells the owner.
    pub(super) fn lock(&self) -> Option<&Foreign> {
        let is_there = |owner: &OwnerId| self.subject.live.column(owner.column()).is_none();
        self.subject.lock.as_ref().filter(|_| self.owner.as_ref().is_some_and(is_there))
    }

    /// The attempts counter.
    pub(super) fn attempts(&self) -> Option<&str> {
        attempts(self.subject, self.answers)
    }

    pub(super) fn source_column(&self) -> Option<&str> {
        self.source.as_ref().and_then(|source| source.column.as_deref())
    }
}

/// The attempts counter, by name or as answered: without a maximum it is nothing to jobdoctor.
pub(super) fn attempts<'s>(subject: &'s Subject, answers: &'s Answers) -> Option<&'s str> {
    let named = || subject.of_role(Role::Attempts).next().map(|column| column.name.as_str());
    let column = answers.get("attempts.column").or_else(named);
    column.filter(|column| *column != "none" && answers.get("attempts.max") != Some("none"))
}

pub(super) enum Shape {
    /// One column.
    Column { name: String, states: Vec<StateSeen> },
    /// Several columns: the condition for a row in flight, whether the rows support it, and rows by what they mean.
    Where { condition: String, is_supported: bool, groups: BTreeMap<Meaning, Rows> },
}

impl Shape {
    pub(super) fn states(&self) -> &[StateSeen] {
        match self {
            Shape::Column { states, .. } => states,
            Shape::Where { .. } => &[],
        }
    }

    /// The state column.
    pub(super) fn column(&self) -> Option<&str> {
        match self {
            Shape::Column { name, .. } => Some(name),
            Shape::Where { .. } => None,
        }
    }

    /// The rows by state, with what that means.
    pub(super) fn groups(&self) -> Vec<(String, Option<Meaning>, &Rows)> {
        match self {
            Shape::Column { states, .. } => {
                states.iter().map(|state| (state.text(), state.meaning, &state.rows)).collect()
            }
            Shape::Where { groups, .. } => {
                groups.iter().map(|(meaning, rows)| (meaning.key().to_owned(), Some(*meaning), rows)).collect()
            }
        }
    }

    /// The rows of states with that meaning; where the operator has not said which are in flight, of those that are
    /// proposed.
    pub(super) fn rows(&self, meaning: Meaning) -> Rows {
        let of = self.groups().into_iter().filter(|(_, of, _)| *of == Some(meaning));
        of.fold(Rows::default(), |rows, (_, _, group)| rows.and(group))
    }
}

/// A stored state with its rows.
#[derive(Debug, Clone)]
pub(super) struct StateSeen {
    pub(super) value: Cell,
    /// Its name in the lookup table.
    pub(super) label: Option<String>,
    pub(super) is_truth: bool,
    pub(super) rows: Rows,
    /// How many of its rows hold a claim.
    pub(super) held: usize,
    /// True if all of its rows have ended.
    pub(super) is_over: bool,
    pub(super) meaning: Option<Meaning>,
    pub(super) support: Support,
}

impl StateSeen {
    pub(super) fn text(&self) -> String {
        match (&self.value, self.is_truth) {
            (Cell::Integer(truth), true) => (*truth != 0).to_string(),
            (value, _) => value.to_string(),
        }
    }

    /// Whether it is stored so, or called so by people.
    pub(super) fn is_called(&self, said: &str) -> bool {
        self.text() == said || self.value.to_string() == said || self.name() == said
    }

    /// What people call it.
    pub(super) fn name(&self) -> String {
        self.label.clone().unwrap_or_else(|| self.text())
    }

    pub(super) fn value(&self) -> Value {
        match (&self.value, self.is_truth) {
            (Cell::Integer(truth), true) => (*truth != 0).into(),
            (Cell::Integer(number), false) => (*number).into(),
            (value, _) => value.to_string().into(),
        }
    }

    /// True if it has rows and each of them holds a claim.
    pub(super) fn is_held(&self) -> bool {
        self.held > 0 && self.held == self.rows.len()
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
    /// Its other times.
    pub(super) others: Vec<String>,
    pub(super) host: Option<String>,
    pub(super) values: Vec<Cell>,
    pub(super) is_foreign: bool,
}

/// A value as SQL.
pub(super) fn stored(engine: Engine, class: Class, cell: &Cell) -> String {
    match (cell, class, engine.has_strict_types()) {
        (Cell::Integer(truth), Class::Boolean, true) => (*truth != 0).to_string(),
        (Cell::Integer(number), ..) => number.to_string(),
        (other, ..) => literal(&other.to_string()),
    }
}
