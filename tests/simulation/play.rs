//! Plays a history: one thread takes every part, so that the same history is the same each time.

use super::deed::{Answer, DOCTORS, Deed, Doctor, Job, Meanwhile, WORKERS, Work, Worker};
use super::history::History;
use super::log::{Entry, Rows};
use super::practice::{Plan, Practice};
use super::queue::{FIRST_TOKEN, name};
use super::world::{CutOff, World, doctor_name, limits};
use crate::support::doctor::{REASON, Unrecorded};
use jobdoctor::model::{Batch, BatchReport, Cost, End, Outcome, RunHead, Step, Timestamp};
use jobdoctor::preset::Jobs;
use jobdoctor::store::{Recorder, StoreError, StoreErrorKind};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What is known of a history once it has been played.
pub struct Played {
    /// What the doctors did, and what they said of it.
    pub batches: Vec<Applied>,
    pub log: Vec<Entry>,
    /// How many steps each of the sweeps had to do that came when all was quiet.
    pub sweeps: Vec<usize>,
    pub rows: Rows,
}

pub struct Applied {
    pub doctor: Doctor,
    pub judged: Rc<Rows>,
    pub steps: Vec<Step>,
    pub outcomes: Vec<Outcome>,
    pub stop: Option<StoreError>,
    pub answer: Answer,
    /// Whether nobody but this doctor had anything open or did anything at the same time.
    pub is_quiet: bool,
    /// Where the log ended before it.
    pub mark: i64,
    /// What doctors changed in it, as the database says.
    pub changes: Vec<Entry>,
}

/// Sweeps in the end: one to find everything, one to find nothing.
const SWEEPS: usize = 2;

pub fn play(world: &mut World, practice: &Practice, history: &History) -> Played {
    assert_eq!(world.queue, history.queue);
    let rows = world.queue.at_first(history);
    world.sessions.reset(&rows);
    let mut stage = Stage {
        world,
        practice,
        through_proxy: history.through_proxy,
        plans: vec![None; DOCTORS],
        tokens: Tokens::default(),
        batches: Vec::new(),
    };
    history.deeds.iter().for_each(|deed| stage.does(*deed));
    let sweeps = stage.all_is_quiet();
    let (batches, sessions) = (stage.batches, &mut world.sessions);
    Played { batches, sweeps, log: sessions.log(), rows: sessions.rows() }
}

struct Taken {
    doctor: Doctor,
    judged: Rc<Rows>,
    steps: Vec<Step>,
}

impl Taken {
    fn batch(&self) -> Batch<'_> {
        Batch { action: self.steps[0].action, steps: &self.steps, reason: REASON, waits: &[] }
    }
}

/// A batch that was applied within another doctor's, what came of it, and what it changed.
type Inner = (Taken, BatchReport<StoreError>, Vec<Entry>);

struct Stage<'w> {
    world: &'w mut World,
    practice: &'w Practice,
    through_proxy: bool,
    plans: Vec<Option<Plan>>,
    tokens: Tokens,
    batches: Vec<Applied>,
}

impl Stage<'_> {
    fn does(&mut self, deed: Deed) {
        match deed {
            Deed::Begin(worker) => self.world.sessions.begin(worker),
            Deed::Commit(worker) => self.world.sessions.end(worker, true),
            Deed::Rollback(worker) => self.world.sessions.end(worker, false),
            Deed::Works(worker, work) => {
                let sql = self.tokens.fill(self.world.queue.work(work), worker, work);
                self.world.sessions.work(worker, &sql);
            }
            Deed::Silence(job) => self.is_silent(Some(job)),
            Deed::Snapshot { doctor, with } => {
                let plan = self.practice.look(self.world, doctor);
                with.into_iter().for_each(|with| self.plans[with] = Some(plan.clone()));
                self.plans[doctor] = Some(plan);
            }
            Deed::Apply { doctor, at_most, answer, meanwhile } => self.applies(doctor, at_most, answer, meanwhile),
            Deed::Crash(doctor) => self.plans[doctor] = None,
        }
    }

    fn applies(&mut self, doctor: Doctor, at_most: usize, answer: Answer, meanwhile: Option<Meanwhile>) {
        let Some(own) = self.takes(doctor, at_most) else { return };
        let is_quiet = !self.world.sessions.is_open() && meanwhile.is_none() && answer == Answer::Heard;
        let mark = self.world.sessions.mark();
        let (report, inner) = self.sends(&own, answer, meanwhile, mark);
        let mut changes = self.world.sessions.by_doctors(mark);
        if let Some((taken, report, of_its_own)) = inner {
            changes.retain(|change| !of_its_own.contains(change));
            self.ended(taken, report, (Answer::Heard, false), mark, of_its_own);
        }
        self.ended(own, report, (answer, is_quiet), mark, changes);
    }

    fn takes(&mut self, doctor: Doctor, at_most: usize) -> Option<Taken> {
        let plan = self.plans[doctor].as_mut()?;
        let taken = Taken { doctor, judged: plan.judged.clone(), steps: plan.next(at_most) };
        (!taken.steps.is_empty()).then_some(taken)
    }

    fn ended(
        &mut self,
        Taken { doctor, judged, steps }: Taken,
        mut report: BatchReport<StoreError>,
        (answer, is_quiet): (Answer, bool),
        mark: i64,
        changes: Vec<Entry>,
    ) {
        assert_eq!(report.results.len(), steps.len(), "one result for each step, always");
        (self.practice.report)(&mut report);
        if report.stop.is_some() {
            // It ends here, as the program does.
            self.plans[doctor] = None;
        }
        let outcomes = report.results.iter().map(|result| result.outcome).collect();
        let stop = report.stop;
        self.batches.push(Applied { doctor, judged, steps, outcomes, stop, answer, is_quiet, mark, changes });
    }

    fn sends(
        &mut self,
        own: &Taken,
        answer: Answer,
        meanwhile: Option<Meanwhile>,
        mark: i64,
    ) -> (BatchReport<StoreError>, Option<Inner>) {
        let (spec, batch) = (&self.practice.applies, own.batch());
        if answer != Answer::Heard && self.through_proxy {
            // Not by the number of the batch: one in three never gets through again.
            let comes_back = !batch.steps.len().is_multiple_of(3);
            if let Some(cut) = self.world.sessions.cut_off(answer == Answer::LostAfter, comes_back) {
                let report = through(&cut, own.doctor, comes_back, spec, &batch);
                self.world.sessions.forget_doctor(own.doctor);
                return (report, None);
            }
        }
        if answer == Answer::LostBefore {
            return (unheard(batch.steps.iter().map(|_| End::of(Outcome::Moved)).collect()), None);
        }
        let mut inner = None;
        let report = match meanwhile {
            Some(Meanwhile::Applies(other)) if other != own.doctor => {
                let taken = self.takes(other, usize::MAX);
                let World { sessions, writers, .. } = &mut *self.world;
                let [writer, others] = writers.get_disjoint_mut([own.doctor, other]).expect("two doctors");
                let between = || {
                    inner = taken.map(|taken| {
                        let report = others.apply(spec, &taken.batch(), &mut Unrecorded);
                        (taken, report, sessions.by_doctors(mark))
                    });
                };
                writer.apply(spec, &batch, &mut Between(Cell::new(Some(between))))
            }
            Some(Meanwhile::Works(worker, work)) => {
                let sql = self.tokens.fill(self.world.queue.work(work), worker, work);
                let World { sessions, writers, .. } = &mut *self.world;
                let between = || sessions.work(worker, &sql);
                writers[own.doctor].apply(spec, &batch, &mut Between(Cell::new(Some(between))))
            }
            _ => self.world.writers[own.doctor].apply(spec, &batch, &mut Unrecorded),
        };
        match answer {
            Answer::LostAfter if report.stop.is_none() => (unheard(report.results), inner),
            _ => (report, inner),
        }
    }

    /// Everything that is open ends, all workers die, and doctors sweep.
    fn all_is_quiet(&mut self) -> Vec<usize> {
        (0..WORKERS).for_each(|worker| self.world.sessions.end(worker, worker % 2 == 0));
        self.is_silent(None);
        let mut sweeps = Vec::new();
        // After one that finds nothing the next finds nothing either.
        while sweeps.len() < SWEEPS && sweeps.last() != Some(&0) {
            sweeps.push(self.sweeps(sweeps.len() % DOCTORS));
        }
        sweeps
    }

    fn is_silent(&mut self, job: Option<Job>) {
        self.world.queue.silence(job).iter().for_each(|sql| self.world.sessions.happen(sql));
    }

    fn sweeps(&mut self, doctor: Doctor) -> usize {
        let plan = self.practice.look(self.world, doctor);
        let planned = plan.steps.len();
        self.plans[doctor] = Some(plan);
        while self.plans[doctor].as_ref().is_some_and(|plan| !plan.steps.is_empty()) {
            self.applies(doctor, usize::MAX, Answer::Heard, None);
        }
        planned
    }
}

/// Through a connection that is cut off at the commit.
fn through(cut: &CutOff, doctor: Doctor, comes_back: bool, spec: &Jobs, batch: &Batch<'_>) -> BatchReport<StoreError> {
    let mut limits = limits(&doctor_name(doctor));
    if !comes_back {
        // It asks in vain, for as long as it may.
        limits.deadline = Instant::now() + Duration::from_secs(1);
    }
    let mut writer = cut.store.writer(&limits).unwrap_or_else(|error| panic!("{error}"));
    writer.apply(spec, batch, &mut Unrecorded)
}

/// A report of which nothing is known but that it was on its way.
fn unheard(results: Vec<End>) -> BatchReport<StoreError> {
    let unknown = |result: End| match result.outcome {
        Outcome::Moved => End::of(Outcome::Unknown),
        _ => result,
    };
    let error = StoreError::new(StoreErrorKind::Lost, "the answer to the commit was lost");
    BatchReport {
        results: results.into_iter().map(unknown).collect(),
        stop: Some(error),
        warnings: Vec::new(),
        cost: Cost::default(),
    }
}

/// Records nothing. It is asked whether it does when the rows are verified and not yet written, which is when somebody tries to
/// get in between.
struct Between<F>(Cell<Option<F>>);

impl<F: FnOnce()> Recorder for Between<F> {
    fn head(&self) -> Option<&RunHead> {
        if let Some(between) = self.0.take() {
            between();
        }
        None
    }

    fn intent(&mut self, _at: Timestamp, _steps: &[Step<End>]) -> Result<(), StoreError> {
        Ok(())
    }
}

/// The tokens that workers remember of their last claims, whoever has those jobs now.
#[derive(Default)]
struct Tokens {
    known: BTreeMap<(Worker, Job), String>,
    given: usize,
}

/// So many tokens are given out before they begin anew; no two claims of a job that follow one another have the same.
const TOKENS: usize = 8;

impl Tokens {
    fn fill(&mut self, sql: String, worker: Worker, work: Work) -> String {
        if let Work::Claim(job) | Work::Renew(job) = work {
            self.given += 1;
            self.known.insert((worker, job), format!("t{worker}.{}", self.given % TOKENS));
        }
        let token = match work {
            Work::Claim(job)
            | Work::Renew(job)
            | Work::Beat(job)
            | Work::Finish(job)
            | Work::Fail(job)
            | Work::Release(job) => self.known.get(&(worker, job)),
            _ => None,
        };
        sql.replace(":me", &name(worker)).replace(":token", token.map_or(FIRST_TOKEN, String::as_str))
    }
}
