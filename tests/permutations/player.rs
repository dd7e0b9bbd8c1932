//! The sessions of an order, on the real store: workers that may have to wait, and doctors that stop before their commit.

use super::step::{Event, Step};
use crate::readme::statements::{Database, postgres};
use crate::support::doctor::{REASON, a_run, forget_evidence, limits_waiting, steps};
use crate::support::labs::{SqlLab, store_at};
use jobdoctor::model::{Batch, End, Engine, RunHead, Step as Planned, Timestamp};
use jobdoctor::policy::Policy;
use jobdoctor::preset::QueueSpec;
use jobdoctor::store::{Address, Recorder, Store, StoreError, StoreErrorKind, open};
use rusqlite::{Connection, ErrorCode};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How long anything may take that does not wait for another session.
const PATIENCE: Duration = Duration::from_secs(120);

/// One session.
pub(super) trait Player {
    /// Begins a step.
    fn begin(&mut self, step: &Step, lab: &dyn SqlLab);

    /// What has come of it so far; `None` if that cannot be told yet.
    fn event(&mut self) -> Option<Event>;
}

/// Waits for what comes of the step of a session.
pub(super) fn outcome(player: &mut dyn Player, expected: &Event) -> Event {
    let until = Instant::now() + PATIENCE;
    loop {
        match player.event() {
            // One that has just been let go on may be seen to wait for a moment longer.
            Some(Event::Waits) if *expected != Event::Waits && Instant::now() < until => {}
            Some(event) => return event,
            None => assert!(Instant::now() < until, "a step comes to no end and waits for nobody"),
        }
        std::thread::sleep(Duration::from_micros(300));
    }
}

/// A worker for this lab.
pub(super) fn worker(lab: &dyn SqlLab) -> Box<dyn Player> {
    match lab.engine() {
        Engine::Sqlite => Box::new(FileWorker::new(lab)),
        Engine::Postgres => Box::new(ServerWorker::new(lab)),
    }
}

fn script(step: &Step, lab: &dyn SqlLab) -> String {
    match step {
        Step::Begin if lab.engine() == Engine::Sqlite => "BEGIN IMMEDIATE".to_owned(),
        Step::Begin => "BEGIN".to_owned(),
        Step::Commit => "COMMIT".to_owned(),
        Step::Rollback => "ROLLBACK".to_owned(),
        Step::Change(change) => change.sql(lab),
        other => unreachable!("a worker does no {other}"),
    }
}

/// A worker on Postgres: its statements run in a thread of their own, because they may have to wait.
struct ServerWorker {
    asked: Sender<String>,
    said: Receiver<usize>,
    watcher: Database,
    is_blocked: String,
}

impl ServerWorker {
    fn new(lab: &dyn SqlLab) -> ServerWorker {
        let (asked, statements) = channel::<String>();
        let (answers, said) = channel();
        let mut run = postgres(&lab.address());
        let process = run("SELECT pg_backend_pid()")[0][0].clone().expect("a number");
        std::thread::spawn(move || statements.iter().try_for_each(|sql| answers.send(run(&sql).len())));
        let is_blocked = format!("SELECT 1 WHERE cardinality(pg_blocking_pids({process})) > 0");
        ServerWorker { asked, said, watcher: postgres(&lab.address()), is_blocked }
    }
}

impl Player for ServerWorker {
    fn begin(&mut self, step: &Step, lab: &dyn SqlLab) {
        self.asked.send(script(step, lab)).expect("the worker is there");
    }

    fn event(&mut self) -> Option<Event> {
        if let Ok(rows) = self.said.recv_timeout(Duration::from_millis(1)) {
            return Some(Event::Ran(rows));
        }
        (!(self.watcher)(&self.is_blocked).is_empty()).then_some(Event::Waits)
    }
}

/// A worker on SQLite: one that has to wait is told so at once, and tries again.
struct FileWorker {
    connection: Connection,
    sql: String,
}

impl FileWorker {
    fn new(lab: &dyn SqlLab) -> FileWorker {
        let connection = Connection::open(lab.address()).expect("the file");
        connection.busy_timeout(Duration::ZERO).expect("no patience");
        connection.pragma_update(None, "synchronous", "off").expect("no need to outlive a power cut");
        FileWorker { connection, sql: String::new() }
    }

    fn run(&self) -> rusqlite::Result<usize> {
        let mut statement = self.connection.prepare(&self.sql)?;
        let mut rows = statement.query([])?;
        let mut count = 0;
        while rows.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }
}

impl Player for FileWorker {
    fn begin(&mut self, step: &Step, lab: &dyn SqlLab) {
        self.sql = script(step, lab);
    }

    fn event(&mut self) -> Option<Event> {
        match self.run() {
            Ok(rows) => Some(Event::Ran(rows)),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Some(Event::Waits),
            Err(error) => panic!("{}: {error}", self.sql),
        }
    }
}

/// A doctor: the program's own snapshot and batch, which stops between its last statement and its commit.
pub(super) struct Doctor {
    asked: Sender<Asked>,
    said: Receiver<Event>,
}

enum Asked {
    Snapshot,
    Act,
    Settle,
}

impl Doctor {
    /// One that goes by that specification. `blind` makes it forget the owners' rows that its verdicts rest on.
    pub(super) fn new(lab: &dyn SqlLab, spec: &QueueSpec, blind: bool) -> Doctor {
        let (asked, questions) = channel();
        let (answers, said) = channel();
        let (engine, address, spec) = (lab.engine(), lab.address(), spec.clone());
        std::thread::spawn(move || {
            let store = match engine {
                Engine::Sqlite => open(&Address::file(address)),
                Engine::Postgres => store_at(&address),
            };
            work(&*store, &spec, blind, &questions, &answers);
        });
        Doctor { asked, said }
    }
}

impl Player for Doctor {
    fn begin(&mut self, step: &Step, _lab: &dyn SqlLab) {
        let asked = match step {
            Step::Snapshot => Asked::Snapshot,
            Step::Act => Asked::Act,
            Step::Settle => Asked::Settle,
            other => unreachable!("a doctor does no {other}"),
        };
        self.asked.send(asked).expect("the doctor is there");
    }

    /// It may take its time, and waits for nobody: whoever asks is told in the end.
    fn event(&mut self) -> Option<Event> {
        Some(self.said.recv_timeout(PATIENCE).expect("a doctor waits for no row"))
    }
}

/// Does what it is asked to, until nobody asks any more.
fn work(store: &dyn Store, spec: &QueueSpec, blind: bool, asked: &Receiver<Asked>, said: &Sender<Event>) {
    let mut judged = Vec::new();
    while let Ok(question) = asked.recv() {
        let answer = match question {
            Asked::Snapshot => {
                judged = steps(store, spec, &Policy::default());
                if blind {
                    judged.iter_mut().for_each(forget_evidence);
                }
                Event::Looked(judged.iter().map(|step| step.key.to_string().parse().expect("a number")).collect())
            }
            // What was judged is tried once.
            Asked::Act => act(store, spec, &std::mem::take(&mut judged), &mut Stop { head: a_run(), asked, said }),
            Asked::Settle => Event::Ended(Vec::new()),
        };
        if said.send(answer).is_err() {
            return;
        }
    }
}

fn act(store: &dyn Store, spec: &QueueSpec, judged: &[jobdoctor::model::Step], stop: &mut Stop<'_>) -> Event {
    let Some(first) = judged.first() else { return Event::Ended(Vec::new()) };
    let mut writer = store.writer(&limits_waiting(Duration::ZERO)).expect("a writer");
    let batch = Batch { action: first.action, steps: judged, reason: REASON, waits: &[], instead: &[] };
    let report = writer.apply(spec, &batch, stop);
    Event::Ended(report.results.iter().map(|result| result.outcome).collect())
}

/// Stops a batch when it has been written and is not committed.
struct Stop<'a> {
    head: RunHead,
    asked: &'a Receiver<Asked>,
    said: &'a Sender<Event>,
}

impl Recorder for Stop<'_> {
    fn head(&self) -> Option<&RunHead> {
        Some(&self.head)
    }

    fn intent(&mut self, _at: Timestamp, _steps: &[Planned<End>]) -> Result<(), StoreError> {
        let gone = || StoreError::new(StoreErrorKind::Other, "the test is over");
        self.said.send(Event::Acted).map_err(|_| gone())?;
        self.asked.recv().map(drop).map_err(|_| gone())
    }
}
