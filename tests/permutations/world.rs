//! The oracle: rows, locks and what a doctor may conclude, computed without a database and without the program.

use super::fixture::{self, Queue};
use super::step::{Change, Effect, Event, Place, Step};
use crate::support::edit::Value;
use jobdoctor::model::{Engine, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// A row's values, by column.
pub(super) type Row = BTreeMap<&'static str, Value>;

/// See the module.
pub(super) struct World {
    engine: Engine,
    /// What is committed.
    rows: BTreeMap<Place, Row>,
    sessions: Vec<Session>,
    /// Who waits, the longest first, and for what to be done.
    waiting: Vec<(usize, Change)>,
    /// Who waits to begin.
    beginning: Vec<usize>,
}

#[derive(Default)]
struct Session {
    in_transaction: bool,
    /// What it has written and not committed; `None` is a deleted row.
    written: BTreeMap<Place, Option<Row>>,
    /// The rows that nobody else may write.
    locked: BTreeSet<Place>,
    /// The rows that nobody may write.
    shared: BTreeSet<Place>,
    /// A doctor's verdicts.
    judged: Vec<Judged>,
    /// What its batch will come to.
    outcomes: Vec<Outcome>,
}

/// A stuck job, with all that the verdict rested on.
#[derive(Clone)]
struct Judged {
    place: Place,
    row: Row,
    evidence_row: Option<(Place, Row)>,
}

impl World {
    pub(super) fn new(engine: Engine, queue: Queue, sessions: usize) -> World {
        let sessions = (0..sessions).map(|_| Session::default()).collect();
        World { engine, rows: fixture::rows(queue), sessions, waiting: Vec::new(), beginning: Vec::new() }
    }

    /// What comes of a session's next step.
    pub(super) fn step(&mut self, session: usize, step: &Step) -> Event {
        match step {
            Step::Begin => self.begin(session),
            Step::Commit => self.commit(session),
            Step::Rollback => {
                self.sessions[session] = Session::default();
                Event::Ran(0)
            }
            Step::Change(change) => self.change(session, change),
            Step::Snapshot => self.look(session),
            Step::Act => self.act(session),
            Step::Settle => self.settle(session),
        }
    }

    /// Those who waited and need not any more, with what comes of it.
    pub(super) fn go_on(&mut self) -> Vec<(usize, Event)> {
        let mut done = Vec::new();
        for session in std::mem::take(&mut self.beginning) {
            match self.begin(session) {
                Event::Waits => {}
                event => done.push((session, event)),
            }
        }
        for (session, change) in std::mem::take(&mut self.waiting) {
            match self.change(session, &change) {
                Event::Waits => {}
                event => done.push((session, event)),
            }
        }
        done
    }

    /// Whether it can take no step.
    pub(super) fn waits(&self, session: usize) -> bool {
        self.waiting.iter().map(|(n, _)| n).chain(&self.beginning).any(|n| *n == session)
    }

    /// What the tables hold, in words.
    pub(super) fn image(&self) -> Vec<String> {
        let mut image: Vec<String> = self.rows.iter().map(|(place, row)| fixture::words(*place, row)).collect();
        image.sort();
        image
    }

    /// On SQLite one transaction writes at a time.
    fn is_held_off(&self, session: usize) -> bool {
        let others = self.sessions.iter().enumerate().filter(|(n, _)| *n != session);
        self.engine == Engine::Sqlite && others.into_iter().any(|(_, other)| other.in_transaction)
    }

    fn begin(&mut self, session: usize) -> Event {
        if self.is_held_off(session) {
            self.beginning.push(session);
            return Event::Waits;
        }
        self.sessions[session].in_transaction = true;
        Event::Ran(0)
    }

    fn commit(&mut self, session: usize) -> Event {
        for (place, row) in std::mem::take(&mut self.sessions[session].written) {
            match row {
                Some(row) => drop(self.rows.insert(place, row)),
                None => drop(self.rows.remove(&place)),
            }
        }
        let judged = std::mem::take(&mut self.sessions[session].judged);
        self.sessions[session] = Session { judged, ..Session::default() };
        Event::Ran(0)
    }

    /// A row as a session sees it.
    fn seen(&self, session: usize, place: Place) -> Option<Row> {
        let own = self.sessions[session].written.get(&place);
        own.cloned().unwrap_or_else(|| self.rows.get(&place).cloned())
    }

    fn others(&self, session: usize) -> impl Iterator<Item = &Session> {
        self.sessions.iter().enumerate().filter(move |(n, _)| *n != session).map(|(_, other)| other)
    }

    /// Postgres finds rows as they are committed, waits for who has locked what it found, and looks again.
    fn change(&mut self, session: usize, change: &Change) -> Event {
        let place = change.place;
        if self.is_held_off(session) {
            self.waiting.push((session, change.clone()));
            return Event::Waits;
        }
        let fits = |row: &Row| change.only_if.iter().all(|(name, value)| row.get(name) == Some(value));
        let Some(mut row) = self.seen(session, place).filter(fits) else { return Event::Ran(0) };
        if self.others(session).any(|other| other.locked.contains(&place) || other.shared.contains(&place)) {
            self.waiting.push((session, change.clone()));
            return Event::Waits;
        }
        let own = &mut self.sessions[session];
        own.locked.insert(place);
        match &change.effect {
            Effect::Set(cells) => {
                row.extend(cells.iter().copied());
                own.written.insert(place, Some(row));
            }
            Effect::Delete => drop(own.written.insert(place, None)),
            Effect::Lock => {}
        }
        if !own.in_transaction {
            self.commit(session);
        }
        Event::Ran(1)
    }

    /// Everybody sees what is committed, and nobody waits to look.
    fn look(&mut self, session: usize) -> Event {
        let judged: Vec<Judged> = self.rows.iter().filter_map(|(place, row)| self.judge(*place, row)).collect();
        let ids = judged.iter().map(|judged| match judged.place {
            Place::Job(id) | Place::Order(id) => id,
            Place::Ping(name) => unreachable!("{name} is no job"),
        });
        let ids = ids.collect();
        self.sessions[session].judged = judged;
        Event::Looked(ids)
    }

    fn judge(&self, place: Place, row: &Row) -> Option<Judged> {
        let past = |value: Option<&Value>| matches!(value, Some(Value::Ago(seconds)) if *seconds > 60);
        let evidence_row = match place {
            Place::Job(_) => {
                let in_flight = [Value::Text("RUNNING"), Value::Text("CLAIMED")].contains(&row["status"]);
                (in_flight && past(row.get("lease_expires_at"))).then_some(None)?
            }
            Place::Order(_) => {
                let Value::Text(worker) = row["worker"] else { return None };
                let owner = self.rows.get(&Place::Ping(worker))?;
                let dead = row["status"] == Value::Text("working") && past(owner.get("seen_at"));
                dead.then(|| Some((Place::Ping(worker), owner.clone())))?
            }
            Place::Ping(_) => return None,
        };
        Some(Judged { place, row: row.clone(), evidence_row })
    }

    fn act(&mut self, session: usize) -> Event {
        let judged = std::mem::take(&mut self.sessions[session].judged);
        if self.is_held_off(session) {
            return Event::Ended(vec![Outcome::NotTried; judged.len()]);
        }
        for judged in judged {
            let outcome = self.outcome(session, &judged);
            if outcome == Outcome::Moved {
                let own = &mut self.sessions[session];
                own.locked.insert(judged.place);
                own.written.insert(judged.place, Some(requeued(judged.place, judged.row)));
            }
            self.sessions[session].outcomes.push(outcome);
        }
        if self.sessions[session].outcomes.contains(&Outcome::Moved) {
            self.sessions[session].in_transaction = true;
            return Event::Acted;
        }
        self.settle(session)
    }

    /// What a doctor may do about a job that it has judged, and takes what it needs for it.
    fn outcome(&mut self, session: usize, judged: &Judged) -> Outcome {
        let is_locked = |world: &World, place: Place| world.others(session).any(|other| other.locked.contains(&place));
        if let Some((place, row)) = &judged.evidence_row {
            if self.rows.get(place) != Some(row) {
                return Outcome::Changed;
            }
            if is_locked(self, *place) {
                return Outcome::Locked;
            }
            self.sessions[session].shared.insert(*place);
        }
        match self.rows.get(&judged.place) {
            None => Outcome::Gone,
            Some(row) if *row != judged.row => Outcome::Changed,
            Some(_) if is_locked(self, judged.place) => Outcome::Locked,
            Some(_) => Outcome::Moved,
        }
    }

    fn settle(&mut self, session: usize) -> Event {
        let outcomes = std::mem::take(&mut self.sessions[session].outcomes);
        self.commit(session);
        Event::Ended(outcomes)
    }
}

/// A job that was given back, and has lost one run.
fn requeued(place: Place, mut row: Row) -> Row {
    let counter = if matches!(place, Place::Job(_)) { "attempts" } else { "tries" };
    let Value::Int(attempts) = row[counter] else { unreachable!("{row:?} counts its runs") };
    row.insert(counter, Value::Int(attempts + 1));
    let (state, cleared): (_, &[&str]) = match place {
        Place::Job(_) => ("QUEUED", &["owner_id", "lease_token", "lease_expires_at"]),
        _ => ("new", &["worker"]),
    };
    row.insert("status", Value::Text(state));
    row.extend(cleared.iter().map(|name| (*name, Value::Null)));
    row
}
