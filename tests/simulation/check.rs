//! The promises, held against what the database says. Each has the number that it goes by in the tests' own papers:
//!
//! | | |
//! | --- | --- |
//! | S1 | a doctor changes a row only if it is exactly what that doctor judged, its worker's row included, and dead at that instant |
//! | S2 | one death costs one attempt, however many doctors there are |
//! | S4 | terminal stays terminal |
//! | S5 | at the limit of its attempts a job fails; before it, it goes back |
//! | S7 | what a dry run lists is what is done where nothing has happened since, and nothing else ever |
//! | S8 | what is said is what was done; where that is not known, it is said |
//! | S9 | once all is done, another sweep changes nothing |
//! | L1 | a sweep after everything has come to rest leaves no orphan |

use super::deed::Answer;
use super::log::{Entry, Image, RowName, is_dead};
use super::play::{Applied, Played};
use super::queue::Queue;
use jobdoctor::model::{Outcome, Step};
use jobdoctor::store::StoreErrorKind;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub promise: &'static str,
    pub how: String,
}

pub fn check(queue: Queue, second: i64, played: &Played) -> Vec<Broken> {
    let mut checker = Checker { queue, second, broken: Vec::new() };
    let before = checker.replay(played);
    for (number, batch) in played.batches.iter().enumerate() {
        let place = format!("batch {} of doctor {}", number + 1, batch.doctor);
        checker.said(&place, batch);
        checker.predicted(&place, batch, &played.log);
        for change in &batch.changes {
            checker.change(&place, batch, change, before.get(&change.seq), &played.log);
        }
    }
    checker.counted(played);
    checker.ended(played);
    checker.broken
}

type Stood<'p> = BTreeMap<&'p RowName, &'p Image>;

struct Checker {
    queue: Queue,
    second: i64,
    broken: Vec<Broken>,
}

impl Checker {
    fn unless(&mut self, kept: bool, promise: &'static str, how: impl FnOnce() -> String) {
        if !kept {
            self.broken.push(Broken { promise, how: how() });
        }
    }

    /// Goes through the log from its beginning. Gives the rows as they stood before each change by a doctor, where a change
    /// counts from when it was made, even if it was committed later: a heartbeat that is under way is one.
    fn replay<'p>(&mut self, played: &'p Played) -> BTreeMap<i64, Stood<'p>> {
        let by_doctors: BTreeSet<i64> =
            played.batches.iter().flat_map(|batch| batch.changes.iter().map(|change| change.seq)).collect();
        let mut rows = Stood::new();
        let mut before = BTreeMap::new();
        for entry in &played.log {
            let is_ours = entry.who.as_ref().is_some_and(|who| who.starts_with("doctor"));
            let is_known = by_doctors.contains(&entry.seq);
            self.unless(!is_ours || is_known, "S8", || format!("outside of any batch: {entry:?}"));
            if is_known {
                before.insert(entry.seq, rows.clone());
            }
            let stood = happens(&mut rows, entry);
            self.unless(stood == entry.old.as_ref(), "log", || format!("it has a gap: {stood:?} before {entry:?}"));
        }
        let is_whole =
            rows.len() == played.rows.len() && rows.iter().all(|(row, image)| played.rows.get(*row) == Some(image));
        self.unless(is_whole, "log", || format!("it does not lead to {:?} but to {rows:?}", played.rows));
        before
    }

    /// One change by a doctor: S1, S4, S5.
    fn change(&mut self, place: &str, batch: &Applied, change: &Entry, before: Option<&Stood<'_>>, log: &[Entry]) {
        let (table, columns, states) = (self.queue.jobs(), self.queue.columns(), self.queue.states());
        let (Some(old), Some(new), Some(before)) = (&change.old, &change.new, before) else {
            return self.unless(false, "S1", || format!("{place}: neither made nor deleted may a row be: {change:?}"));
        };
        self.unless(change.row.0 == table.name, "S1", || format!("{place}: in no table of jobs: {change:?}"));
        let judged = batch.judged.get(&change.row);
        self.unless(judged == Some(old), "S1", || format!("{place}: judged {judged:?}, and changed {old:?}"));
        let owner = self.owner(old);
        let then = owner.as_ref().and_then(|row| batch.judged.get(row));
        let now = owner.as_ref().and_then(|row| before.get(row)).copied();
        // The one thing that no lock can keep out: a row that is not there yet. On Postgres a missing worker may come back and
        // commit while the batch is under way, after the verify. What was there or under way before the batch does count.
        let came_meanwhile = |entry: &Entry| entry.seq > batch.mark && Some(&entry.row) == owner.as_ref();
        let came = then.is_none() && !batch.is_quiet && log.iter().any(came_meanwhile);
        let now = if came { None } else { now };
        self.unless(then == now, "S1", || format!("{place}: its worker was judged as {then:?}, and is {now:?}"));
        let dead = is_dead(self.queue, old, now, change.at, self.second);
        self.unless(dead, "S1", || format!("{place}: alive at {}: {old:?}, {now:?}", change.at));
        let state = |row: &Image| row.get(&table, columns.state).unwrap_or_default().to_owned();
        let was_terminal = states.terminal.contains(&state(old).as_str());
        self.unless(!was_terminal, "S4", || format!("{place}: it had ended: {old:?}"));
        let attempts = |row: &Image| row.number(&table, columns.attempts);
        let most = match self.queue {
            Queue::Lease | Queue::Heartbeat => old.number(&table, "max_attempts"),
            Queue::Owners => Some(5),
        };
        let (was, is) = (attempts(old), attempts(new));
        let ends = was.zip(most).is_some_and(|(was, most)| was + 1 >= most);
        let to = if ends { states.failed } else { states.waiting };
        self.unless(is == was.map(|was| was + 1), "S2", || format!("{place}: attempts {was:?} became {is:?}"));
        self.unless(state(new) == to, "S5", || format!("{place}: to {}, not {to}, of {was:?} of {most:?}", state(new)));
        let owner = new.get(&table, columns.owner);
        // What failed keeps the name of who lost it.
        let is_free = owner.is_none() || ends;
        self.unless(is_free, "S5", || format!("{place}: still with {owner:?}"));
    }

    fn owner(&self, job: &Image) -> Option<RowName> {
        let owner = job.get(&self.queue.jobs(), self.queue.columns().owner)?;
        Some((self.queue.workers()?.name.to_owned(), owner.to_owned()))
    }

    fn row(&self, step: &Step) -> RowName {
        (self.queue.jobs().name.to_owned(), step.key.to_string())
    }

    fn said(&mut self, place: &str, batch: &Applied) {
        let mut left = batch.changes.clone();
        for (step, outcome) in batch.steps.iter().zip(&batch.outcomes) {
            let row = self.row(step);
            let changes = left.extract_if(.., |change| change.row == row).count();
            let fits = match outcome {
                Outcome::Moved => changes == 1,
                Outcome::Unknown => changes <= 1,
                _ => changes == 0,
            };
            self.unless(fits, "S8", || {
                format!("{place}: said {outcome:?} of job {}, which was changed {changes} times", row.1)
            });
        }
        self.unless(left.is_empty(), "S7", || format!("{place}: changed what was not in it: {left:?}"));
        let may_stop = match &batch.stop {
            None => true,
            Some(_) if batch.answer != Answer::Heard => true,
            Some(error) => error.kind == StoreErrorKind::Busy && !batch.is_quiet,
        };
        self.unless(may_stop, "S8", || format!("{place}: stopped by {:?}", batch.stop));
        let unknown = batch.outcomes.contains(&Outcome::Unknown);
        self.unless(!unknown || batch.answer != Answer::Heard, "S8", || {
            format!("{place}: did not know what it had heard")
        });
    }

    /// S7 and S8, for a batch in whose way nobody was: then each outcome follows from what the rows were.
    fn predicted(&mut self, place: &str, batch: &Applied, log: &[Entry]) {
        if !batch.is_quiet {
            return;
        }
        let mut rows = Stood::new();
        for entry in log.iter().take_while(|entry| entry.seq <= batch.mark) {
            happens(&mut rows, entry);
        }
        for (step, outcome) in batch.steps.iter().zip(&batch.outcomes) {
            let row = self.row(step);
            let (then, now) = (batch.judged.get(&row), rows.get(&row).copied());
            let owner = then.and_then(|then| self.owner(then));
            let trusted = owner.is_none_or(|row| batch.judged.get(&row) == rows.get(&row).copied());
            let due: &[Outcome] = match (now, trusted) {
                (None, true) => &[Outcome::Gone],
                // Both are true, and it is the worker's row that is looked at first where it must be locked.
                (None, false) => &[Outcome::Gone, Outcome::Changed],
                (now, true) if then == now => &[Outcome::Moved],
                _ => &[Outcome::Changed],
            };
            let promise = if due == [Outcome::Moved] { "S7" } else { "S8" };
            self.unless(due.contains(outcome), promise, || {
                format!("{place}: {outcome:?}, not {due:?}, came of job {}: judged {then:?}, now {now:?}", row.1)
            });
        }
    }

    fn counted(&mut self, played: &Played) {
        let (table, column) = (self.queue.jobs(), self.queue.columns().attempts);
        let of =
            |image: &Option<Image>| image.as_ref().and_then(|image| image.number(&table, column)).unwrap_or_default();
        let added: i64 = played
            .batches
            .iter()
            .flat_map(|batch| &batch.changes)
            .map(|change| of(&change.new) - of(&change.old))
            .sum();
        let said = |wanted: Outcome| {
            played.batches.iter().flat_map(|batch| &batch.outcomes).filter(|outcome| **outcome == wanted).count() as i64
        };
        let (moved, unknown) = (said(Outcome::Moved), said(Outcome::Unknown));
        let fits = (moved..=moved + unknown).contains(&added);
        self.unless(fits, "S2", || format!("{added} attempts were added, {moved} jobs moved, {unknown} unknown"));
    }

    fn ended(&mut self, played: &Played) {
        let (table, column, states) = (self.queue.jobs(), self.queue.columns().state, self.queue.states());
        let orphans: Vec<&RowName> = (played.rows.iter())
            .filter(|((name, _), _)| name == table.name)
            .filter(|(_, image)| image.get(&table, column).is_some_and(|state| states.in_flight.contains(&state)))
            .map(|(row, _)| row)
            .collect();
        self.unless(orphans.is_empty(), "L1", || format!("left in flight: {orphans:?}"));
        let last = played.sweeps.last().copied().unwrap_or_default();
        self.unless(last == 0, "S9", || format!("the sweeps had so much to do: {:?}", played.sweeps));
    }
}

/// What an entry does to the rows; gives the row as it stood.
fn happens<'p>(rows: &mut Stood<'p>, entry: &'p Entry) -> Option<&'p Image> {
    match &entry.new {
        Some(new) => rows.insert(&entry.row, new),
        None => rows.remove(&entry.row),
    }
}
