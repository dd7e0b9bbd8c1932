//! What a store tells its recorder: exactly the rows that it is about to commit as moved, as they were and as they are; and a
//! recorder that says no takes everything back.

use super::scenarios::{Queue, Scenario, all};
use crate::support::doctor::{a_run, built_in, fitted, limits, steps, to};
use crate::support::edit::Value::{Ago, Int, Null, Text};
use crate::support::edit::{Edit, insert, set};
use crate::support::labs::{Lab, for_each_store};
use crate::support::tables::JOBS;
use jobdoctor::model::{Action, Batch, BatchReport, Cell, End, Outcome, RowChange, RunHead, Step, Timestamp, Write};
use jobdoctor::preset::Jobs;
use jobdoctor::store::{Recorder, Store, StoreError, StoreErrorKind};

/// Keeps what it is told, and says no if it is to.
pub(super) struct Tape {
    head: RunHead,
    told: Vec<Vec<Step<End>>>,
    says_no: bool,
}

impl Default for Tape {
    fn default() -> Tape {
        Tape { head: a_run(), told: Vec::new(), says_no: false }
    }
}

impl Recorder for Tape {
    fn head(&self) -> Option<&RunHead> {
        Some(&self.head)
    }

    fn intent(&mut self, _: Timestamp, steps: &[Step<End>]) -> Result<(), StoreError> {
        self.told.push(steps.to_vec());
        if self.says_no { Err(StoreError::new(StoreErrorKind::Refused, "the tape is full")) } else { Ok(()) }
    }
}

fn dead(id: i64) -> Edit {
    insert(
        "jobs",
        &[
            ("id", Int(id)),
            ("queue", Text("mail")),
            ("status", Text("RUNNING")),
            ("run_at", Ago(9000)),
            ("owner_id", if id == 1 { Text("") } else { Text("web1:7") }),
            ("lease_token", if id == 2 { Null } else { Text("secret") }),
            ("claimed_at", Ago(8000 + id)),
            ("lease_expires_at", Ago(6000 + id)),
            ("attempts", Int(id)),
            ("max_attempts", Int(50)),
        ],
    )
}

fn jobs(lab: &dyn Lab) -> (Box<dyn Store>, Jobs, Vec<Step>) {
    lab.create(&[JOBS]);
    lab.edit(&[dead(1), dead(2), dead(3)]);
    judged(lab)
}

fn judged(lab: &dyn Lab) -> (Box<dyn Store>, Jobs, Vec<Step>) {
    let (store, spec) = fitted(lab, &built_in("lease"));
    let steps = steps(&*store, &spec, &to(Action::Requeue));
    (store, spec, steps)
}

fn apply(store: &dyn Store, spec: &Jobs, steps: &[Step], tape: &mut dyn Recorder) -> BatchReport<StoreError> {
    let batch = Batch { action: steps[0].action, steps, reason: "a test", waits: &[] };
    store.writer(&limits()).unwrap().apply(spec, &batch, tape)
}

/// The same jobs once they were moved, and the steps that restore them.
fn moved(lab: &dyn Lab) -> (Box<dyn Store>, Jobs, Tape, Vec<Step>) {
    let (store, spec, steps) = jobs(lab);
    let mut tape = Tape::default();
    apply(&*store, &spec, &steps, &mut tape);
    let rows = restores(&tape);
    (store, spec, tape, rows)
}

fn ends(report: &BatchReport<StoreError>) -> Vec<Outcome> {
    report.results.iter().map(|result| result.outcome).collect()
}

pub(super) fn restores(tape: &Tape) -> Vec<Step> {
    tape.told.last().unwrap().iter().map(|step| step.reverted().unwrap()).collect()
}

fn row(step: &mut Step) -> &mut RowChange {
    match &mut step.stage {
        Write::Restore(row) => row,
        Write::Act { .. } => panic!("it sets nothing back"),
    }
}

fn places(told: &[Step<End>], steps: &[Step]) -> Vec<usize> {
    told.iter().map(|step| steps.iter().position(|planned| planned.key == step.key).unwrap()).collect()
}

#[test]
fn told_of_exactly_the_rows_that_are_moved() {
    for_each_store(|lab| {
        let (store, spec, steps) = jobs(lab);
        lab.edit(&[set("jobs", ("id", Int(2)), &[("lease_token", Text("new"))])]);
        let mut tape = Tape::default();
        let report = apply(&*store, &spec, &steps, &mut tape);
        assert_eq!(ends(&report), [Outcome::Moved, Outcome::Changed, Outcome::Moved], "{}", lab.name());
        assert_eq!(tape.told.len(), 1, "{}", lab.name());
        let told = places(&tape.told[0], &steps);
        assert_eq!(told, [0, 2], "{}", lab.name());
        for (change, id) in tape.told[0].iter().zip([1, 3]) {
            let row = change.stage.row.as_ref().unwrap();
            let value = |name: &str| row.values.iter().find(|value| *value.column == *name).unwrap();
            let text = |cell: &Cell| cell.to_text();
            assert_eq!(text(&value("status").before).as_deref(), Some("RUNNING"), "{}", lab.name());
            assert_eq!(text(&value("status").after).as_deref(), Some("QUEUED"), "{}", lab.name());
            assert_eq!(text(&value("attempts").before), Some(id.to_string()), "{}", lab.name());
            assert_eq!(text(&value("attempts").after), Some((id + 1).to_string()), "{}", lab.name());
            let owner = if id == 1 { "" } else { "web1:7" };
            assert_eq!(text(&value("owner_id").before).as_deref(), Some(owner), "{}: '' is not NULL", lab.name());
            assert_eq!(value("owner_id").after, Cell::Null, "{}", lab.name());
            assert_ne!(row.before, row.after, "{}", lab.name());
            // Every column that the action assigns, and no other.
            let mut assigned: Vec<&str> =
                spec.recorded(Action::Requeue).unwrap().iter().map(|column| column.name.as_str()).collect();
            let mut kept: Vec<&str> = row.values.iter().map(|value| &*value.column).collect();
            assigned.sort_unstable();
            kept.sort_unstable();
            assert_eq!(kept, assigned, "{}", lab.name());
            assert!(!kept.contains(&"queue") && kept.contains(&"error_detail"), "{}: {kept:?}", lab.name());
        }
    });
}

#[test]
fn not_told_of_a_batch_that_moves_nothing() {
    for_each_store(|lab| {
        let (store, spec, steps) = jobs(lab);
        lab.edit(&[1, 2, 3].map(|id| set("jobs", ("id", Int(id)), &[("status", Text("SUCCEEDED"))])));
        let mut tape = Tape::default();
        let report = apply(&*store, &spec, &steps, &mut tape);
        assert_eq!(ends(&report), [Outcome::Changed; 3], "{}", lab.name());
        assert!(tape.told.is_empty(), "{}", lab.name());
    });
}

/// One bad row among them: the others are moved apart from it, and only they are told of, the last time.
#[test]
fn told_of_the_rows_that_are_moved_apart() {
    crate::support::labs::for_each_sql_store(|lab| {
        lab.create(&[JOBS]);
        lab.edit(&[dead(1), dead(2), dead(3)]);
        lab.run(lab.pick(
            "CREATE TRIGGER t BEFORE UPDATE ON jobs WHEN NEW.id = 2 BEGIN SELECT RAISE(ABORT, 'not this one'); END",
            "CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN IF NEW.id = 2 THEN RAISE 'not this one'; END IF; RETURN NEW; END $$; \
             CREATE TRIGGER t BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION t();",
        ));
        let (store, spec, steps) = judged(lab);
        let mut tape = Tape::default();
        let report = apply(&*store, &spec, &steps, &mut tape);
        assert_eq!(ends(&report), [Outcome::Moved, Outcome::Refused, Outcome::Moved], "{}", lab.name());
        assert_eq!(tape.told.len(), 1, "{}", lab.name());
        let told = places(&tape.told[0], &steps);
        assert_eq!(told, [0, 2], "{}", lab.name());
        let before =
            |n: usize| tape.told[0][n].stage.row.as_ref().unwrap().values.iter().find(|v| &*v.column == "attempts");
        assert_eq!(before(1).unwrap().before.to_string(), "3", "{}: each row its own values", lab.name());
    });
}

#[test]
fn a_recorder_that_says_no_takes_everything_back() {
    for_each_store(|lab| {
        let (store, spec, steps) = jobs(lab);
        let before = lab.image("jobs");
        let mut tape = Tape { says_no: true, ..Tape::default() };
        let report = apply(&*store, &spec, &steps, &mut tape);
        assert_eq!(ends(&report), [Outcome::NotTried; 3], "{}", lab.name());
        assert_eq!(report.stop.map(|stop| stop.kind), Some(StoreErrorKind::Refused), "{}", lab.name());
        assert_eq!(lab.image("jobs"), before, "{}", lab.name());
        // And nothing is left behind that would stand in the way of the next one.
        let mut tape = Tape::default();
        assert_eq!(ends(&apply(&*store, &spec, &steps, &mut tape)), [Outcome::Moved; 3], "{}", lab.name());
        let (moved, rows) = (lab.image("jobs"), restores(&tape));
        let mut tape = Tape { says_no: true, ..Tape::default() };
        let report = apply(&*store, &spec, &rows, &mut tape);
        assert_eq!(ends(&report), [Outcome::NotTried; 3], "{}", lab.name());
        assert_eq!(lab.image("jobs"), moved, "{}", lab.name());
    });
}

/// What was recorded is enough to make every byte what it was; and so for the way back.
#[test]
fn there_and_back_again() {
    for_each_store(|lab| {
        let (store, spec, steps) = jobs(lab);
        let before = lab.image("jobs");
        let mut tape = Tape::default();
        apply(&*store, &spec, &steps, &mut tape);
        let moved = lab.image("jobs");
        assert_ne!(moved, before, "{}", lab.name());
        for expected in [&before, &moved, &before] {
            let rows = restores(&tape);
            let report = apply(&*store, &spec, &rows, &mut tape);
            assert_eq!(ends(&report), [Outcome::Moved; 3], "{}: {:?}", lab.name(), report.stop);
            assert_eq!(lab.image("jobs"), *expected, "{}", lab.name());
        }
    });
}

/// A row that anything has happened to is skipped, whichever column it was.
#[test]
fn whatever_column_was_touched() {
    for_each_store(|lab| {
        for (column, _) in JOBS.columns.iter().skip(1) {
            lab.clear();
            let (store, spec, mut tape, rows) = moved(lab);
            let value = match JOBS.columns.iter().find(|(name, _)| name == column).unwrap().1 {
                crate::support::tables::Kind::Int => Int(77),
                crate::support::tables::Kind::Time => Ago(77),
                _ => Text("SUCCEEDED"),
            };
            lab.edit(&[set("jobs", ("id", Int(2)), &[(column, value)])]);
            let touched = lab.row(&JOBS, 2);
            let report = apply(&*store, &spec, &rows, &mut tape);
            let expected = [Outcome::Moved, Outcome::Changed, Outcome::Moved];
            assert_eq!(ends(&report), expected, "{}: {column}", lab.name());
            assert_eq!(lab.row(&JOBS, 2), touched, "{}: {column}", lab.name());
            assert_eq!(tape.told.last().unwrap().len(), 2, "{}: {column}", lab.name());
        }
    });
}

#[test]
fn gone_and_locked() {
    for_each_store(|lab| {
        let (store, spec, mut tape, rows) = moved(lab);
        lab.edit(&[Edit::Delete { table: "jobs", key: ("id", Int(1)) }]);
        let mut restore = || apply(&*store, &spec, &rows, &mut tape);
        if lab.locks_rows() {
            let held = lab.hold(&[set("jobs", ("id", Int(2)), &[("queue", Text("other"))])]);
            assert_eq!(ends(&restore()), [Outcome::Gone, Outcome::Locked, Outcome::Moved], "{}", lab.name());
            held.rollback();
            assert_eq!(ends(&restore()), [Outcome::Gone, Outcome::Moved, Outcome::Changed], "{}", lab.name());
        } else {
            assert_eq!(ends(&restore()), [Outcome::Gone, Outcome::Moved, Outcome::Moved], "{}", lab.name());
        }
    });
}

/// Whatever happens between the snapshot and the write, in every scenario of the guard: a row that was not moved is not told of.
#[test]
fn in_every_scenario() {
    for_each_store(|lab| {
        for scenario in all() {
            let Scenario { queue, before, edits, name, .. } = scenario;
            lab.clear();
            Queue::set_up(queue, lab);
            lab.edit(&before);
            let (store, spec, steps) = queue.planned(lab);
            let Some(first) = steps.first() else { continue };
            let same: Vec<Step> = steps.iter().filter(|step| step.action == first.action).cloned().collect();
            lab.edit(&edits);
            let mut tape = Tape::default();
            let ends = ends(&apply(&*store, &spec, &same, &mut tape));
            let moved: Vec<usize> = (0..ends.len()).filter(|n| ends[*n] == Outcome::Moved).collect();
            let told: Vec<Step<End>> = tape.told.iter().flatten().cloned().collect();
            let told = places(&told, &same);
            assert_eq!(told, moved, "{}: {name}", lab.name());
        }
    });
}

/// A reader sees the same row as the writer recorded.
#[test]
fn a_look_and_a_write_agree_on_a_row() {
    for_each_store(|lab| {
        let (store, spec, steps) = jobs(lab);
        let keys: Vec<_> = steps.iter().map(|step| step.key.clone()).collect();
        let prints = || {
            let images = store.reader(&limits(), &[]).unwrap().images(&spec, &[], &keys).unwrap();
            images.into_iter().map(|image| image.unwrap().fingerprint).collect::<Vec<_>>()
        };
        let before = prints();
        let mut tape = Tape::default();
        apply(&*store, &spec, &steps, &mut tape);
        let after = prints();
        let rows: Vec<&RowChange> = tape.told[0].iter().map(|step| step.stage.row.as_ref().unwrap()).collect();
        assert_eq!(rows.iter().map(|row| row.before.clone()).collect::<Vec<_>>(), before, "{}", lab.name());
        assert_eq!(rows.iter().map(|row| row.after.clone()).collect::<Vec<_>>(), after, "{}", lab.name());
        let unknown = [jobdoctor::model::Key(vec![Cell::Text("99".to_owned())])];
        let unknown = if lab.sql().is_some_and(|lab| lab.engine() == jobdoctor::model::Engine::Sqlite) {
            [jobdoctor::model::Key(vec![Cell::Integer(99)])]
        } else {
            unknown
        };
        assert_eq!(
            store.reader(&limits(), &[]).unwrap().images(&spec, &[], &unknown).unwrap(),
            [None],
            "{}",
            lab.name()
        );
    });
}

/// Looks past the store, from another session, at the instant that the intent is told.
struct Watch<'l> {
    head: RunHead,
    lab: &'l dyn Lab,
    seen: Option<String>,
}

impl Recorder for Watch<'_> {
    fn head(&self) -> Option<&RunHead> {
        Some(&self.head)
    }

    fn intent(&mut self, _: Timestamp, _: &[Step<End>]) -> Result<(), StoreError> {
        self.seen = Some(self.lab.image("jobs"));
        Ok(())
    }
}

/// Told any later, a run that is killed in between would have written what no record knows of.
#[test]
fn told_before_anybody_else_can_see_it() {
    for_each_store(|lab| {
        // The memory store has one lock for all, which the writer holds.
        if lab.sql().is_none() {
            return;
        }
        let (store, spec, steps) = jobs(lab);
        let before = lab.image("jobs");
        let mut watch = Watch { head: a_run(), lab, seen: None };
        let report = apply(&*store, &spec, &steps, &mut watch);
        assert_eq!(ends(&report), [Outcome::Moved; 3], "{}", lab.name());
        assert_eq!(watch.seen.as_deref(), Some(before.as_str()), "{}", lab.name());
        assert_ne!(lab.image("jobs"), before, "{}", lab.name());
    });
}

/// The mutant: a row that is believed to be as the run left it, because nobody compared, is overwritten.
#[test]
fn without_the_fingerprint_the_undo_overwrites() {
    for_each_store(|lab| {
        let (store, spec, mut tape, mut rows) = moved(lab);
        lab.edit(&[set("jobs", ("id", Int(2)), &[("status", Text("RUNNING")), ("owner_id", Text("web9:1"))])]);
        let keys: Vec<_> = rows.iter().map(|row| row.key.clone()).collect();
        let images = store.reader(&limits(), &[]).unwrap().images(&spec, &[], &keys).unwrap();
        for (row, image) in rows.iter_mut().zip(images) {
            self::row(row).after = image.unwrap().fingerprint;
        }
        let report = apply(&*store, &spec, &rows, &mut tape);
        assert_eq!(ends(&report), [Outcome::Moved; 3], "{}: something else caught the mutant", lab.name());
    });
}

/// The mutant: a record that lacks a column leaves that column as the run wrote it.
#[test]
fn without_one_of_its_columns_the_row_is_not_what_it_was() {
    for_each_store(|lab| {
        let (store, spec, steps) = jobs(lab);
        let before = lab.image("jobs");
        let mut tape = Tape::default();
        apply(&*store, &spec, &steps, &mut tape);
        let all = restores(&tape);
        for left_out in 0..all[0].restores().unwrap().values.len() {
            let mut rows = all.clone();
            let mut names = rows.iter_mut().map(|step| row(step).values.remove(left_out).column);
            let name = names.next().unwrap();
            assert!(names.all(|other| other == name), "rows of one action have the same columns");
            // What this column was before is what it is after, in all three rows: nothing would be lost.
            let value = |n: usize| tape.told[0][n].stage.row.as_ref().unwrap().values[left_out].clone();
            if (0..3).all(|n| value(n).before == value(n).after) {
                continue;
            }
            let mut lost = Tape::default();
            let report = apply(&*store, &spec, &rows, &mut lost);
            assert_eq!(ends(&report), [Outcome::Moved; 3], "{}: {name}", lab.name());
            assert_ne!(lab.image("jobs"), before, "{}: {name}", lab.name());
            // Back to where it was left, for the next one.
            apply(&*store, &spec, &restores(&lost), &mut Tape::default());
        }
    });
}
