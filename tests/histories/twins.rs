//! Broken twins of the doctor: with one part of its guard taken out, or with one thing done or said wrongly, some history must
//! break a promise, and soon. A part that could be taken out unnoticed would be a part that no history tests.
//!
//! A twin is the program itself over a queue that is described to it wrongly, so that it composes and runs its own statements
//! and only what the twin lacks is missing from them.

use super::check::Broken;
use super::history::History;
use super::practice::Practice;
use super::queue::Queue;
use super::runs::{Make, must_keep, rollback, wal};
use super::shrink::{breaks, shrink};
use super::world::{World, postgres};
use crate::support::dice::one_in;
use crate::support::figures;
use jobdoctor::model::{BatchReport, Engine, Outcome, Step, EvidenceRow};
use jobdoctor::spec::{Expr, Piece, QueueSpec, StateSource, StepSpec, Template};
use jobdoctor::store::StoreError;

/// Within so many seeds it must be caught.
const SEEDS: usize = 500;

/// See the module.
struct Twin {
    /// What is wrong with it.
    name: &'static str,
    /// The queue in which that matters.
    queue: Queue,
    /// Whether it matters only where other sessions write while a doctor does.
    only_where_writes_are_shared: bool,
    /// The promise that it breaks.
    breaks: &'static str,
    /// How to make one of a sound doctor.
    make: fn(&mut Practice),
}

fn twin(name: &'static str, queue: Queue, breaks: &'static str, make: fn(&mut Practice)) -> Twin {
    Twin { name, queue, only_where_writes_are_shared: false, breaks, make }
}

fn shared(twin: Twin) -> Twin {
    Twin { only_where_writes_are_shared: true, ..twin }
}

fn twins() -> Vec<Twin> {
    let mut twins = of_the_precondition();
    twins.extend(of_locks());
    twins.extend(of_deeds());
    twins
}

/// What the write must compare.
fn of_the_precondition() -> Vec<Twin> {
    use Queue::{Heartbeat, Lease, Owners};
    vec![
        twin("without the state", Heartbeat, "S1", |twin| without(twin, "status")),
        twin("without the state: a job that has ended", Heartbeat, "S4", |twin| without(twin, "status")),
        twin("without the owner", Heartbeat, "S1", |twin| without(twin, "owner_id")),
        twin("without the heartbeat", Heartbeat, "S1", |twin| without(twin, "heartbeat_at")),
        twin("without the attempts", Heartbeat, "S1", |twin| without(twin, "attempts")),
        twin("without the token", Lease, "S1", |twin| without(twin, "lease_token")),
        twin("without the lease", Lease, "S1", |twin| without(twin, "lease_expires_at")),
        twin("without the heartbeat beside a lease", Lease, "S1", |twin| without(twin, "heartbeat_at")),
        twin("by the id alone", Lease, "S1", |twin| {
            all_states(&mut twin.applies);
            only(twin, vec![sql("1")]);
        }),
        twin("by the state alone", Lease, "S1", |twin| only_state_and(twin, &[])),
        twin("by state and owner alone", Lease, "S1", |twin| {
            let owner = twin.looks.owner.id.clone();
            only_state_and(twin, owner.as_slice());
        }),
        twin("by state and cut-off alone", Heartbeat, "S1", |twin| {
            let cut_off = match twin.looks.engine {
                Engine::Sqlite => "j.heartbeat_at < unixepoch('now') - 300",
                Engine::Postgres => "j.heartbeat_at < now() - interval '300 s'",
            };
            only_state_and(twin, &[sql(cut_off)]);
        }),
        twin("NULL is the empty text", Heartbeat, "S1", |twin| {
            instead(twin, "owner_id", "coalesce(j.owner_id, '')");
        }),
        // What `=` makes of NULL: it is never what it was.
        twin("NULL is not NULL: what is undisturbed stays", Heartbeat, "S7", |twin| {
            instead(twin, "owner_id", "coalesce(j.owner_id, CAST(random() AS text))");
        }),
        twin("NULL is not NULL: orphans stay", Heartbeat, "L1", |twin| {
            instead(twin, "owner_id", "coalesce(j.owner_id, CAST(random() AS text))");
        }),
        twin("without the worker's heartbeat", Owners, "S1", |twin| {
            without(twin, "seen_at");
            twin.plan = |steps| trust_the_worker(steps);
        }),
        twin("without the worker's start", Owners, "S1", |twin| {
            without(twin, "booted_at");
            twin.plan = |steps| trust_the_worker(steps);
        }),
    ]
}

/// What must be locked before it is compared.
fn of_locks() -> Vec<Twin> {
    vec![
        shared(twin("without the lock on the job", Queue::Lease, "S1", |twin| {
            // A lock goes through to the rows of a sub-select, but not to those that a WITH has read.
            let unlocked = "(WITH unlocked AS MATERIALIZED (SELECT * FROM public.jobs) SELECT * FROM unlocked) AS j";
            twin.applies.claim.from = Template(vec![Piece::Text(unlocked.to_owned())]);
        })),
        shared(twin("without the evidence row", Queue::Owners, "S1", |twin| twin.plan = |steps| trust_the_worker(steps))),
    ]
}

/// What must be done, and said.
fn of_deeds() -> Vec<Twin> {
    use Queue::{Heartbeat, Lease};
    vec![
        twin("counts twice", Lease, "S2", |twin| {
            for step in twin.applies.actions.values_mut().flat_map(|moved| &mut moved.steps) {
                let StepSpec::Update(assignments) = step else { continue };
                for assignment in assignments.iter_mut().filter(|assignment| assignment.column.name == "attempts") {
                    assignment.value = Template(vec![Piece::Text("j.attempts + 2".to_owned())]);
                }
            }
        }),
        twin("knows no limit", Heartbeat, "S5", |twin| twin.looks.attempts.max = None),
        twin("leaves one out", Lease, "L1", |twin| twin.plan = |steps| drop(steps.pop())),
        twin("finds no end", Lease, "S9", |twin| twin.plan = |steps| steps.truncate(1)),
        twin("says moved of what it lost", Lease, "S8", |twin| {
            twin.report = |report| says(report, Outcome::Changed, Outcome::Moved);
        }),
        twin("says changed of what it moved", Lease, "S8", |twin| {
            twin.report = |report| says(report, Outcome::Moved, Outcome::Changed);
        }),
        twin("says moved where it does not know", Lease, "S8", |twin| {
            twin.report = |report| says(report, Outcome::Unknown, Outcome::Moved);
        }),
        twin("says locked of what has changed", Lease, "S8", |twin| {
            twin.report = |report| says(report, Outcome::Changed, Outcome::Locked);
        }),
    ]
}

fn name(expr: &Expr) -> &str {
    match expr {
        Expr::Column(column) => &column.name,
        Expr::Sql(_) => "",
    }
}

fn sql(text: &str) -> Expr {
    Expr::Sql(Template(vec![Piece::Text(text.to_owned())]))
}

/// Without that column in the precondition, wherever it stands. A write that does not compare the state does not ask for one in
/// flight either.
fn without(twin: &mut Practice, column: &str) {
    for spec in [&mut twin.looks, &mut twin.applies] {
        let before = spec.claim.precondition.len();
        spec.claim.precondition.retain(|expr| name(expr) != column);
        assert_eq!(spec.claim.precondition.len() + 1, before, "{column} is in the precondition once");
    }
    if matches!(&twin.applies.claim.state, StateSource::Column(state) if state.name == column) {
        all_states(&mut twin.applies);
    }
}

fn all_states(spec: &mut QueueSpec) {
    let others =
        [&spec.states.waiting, &spec.states.done, &spec.states.failed, &spec.states.cancelled].map(Clone::clone);
    spec.states.in_flight.extend(others.concat());
    // Or the check after the action would see every state as one in flight.
    spec.waits = true;
}

/// With another expression in the place of that column.
fn instead(twin: &mut Practice, column: &str, text: &str) {
    without(twin, column);
    twin.looks.claim.precondition.push(sql(text));
    twin.applies.claim.precondition.push(sql(text));
}

fn only(twin: &mut Practice, precondition: Vec<Expr>) {
    twin.looks.claim.precondition.clone_from(&precondition);
    twin.applies.claim.precondition = precondition;
}

fn only_state_and(twin: &mut Practice, others: &[Expr]) {
    let StateSource::Column(state) = &twin.looks.claim.state else { panic!("a queue whose state is a column") };
    let state = Expr::Column(state.clone());
    only(twin, std::iter::once(&state).chain(others).cloned().collect());
}

fn trust_the_worker(steps: &mut [Step]) {
    steps.iter_mut().for_each(|step| step.evidence_row = EvidenceRow::None);
}

fn says(report: &mut BatchReport<StoreError>, instead_of: Outcome, what: Outcome) {
    for result in report.results.iter_mut().filter(|result| result.outcome == instead_of) {
        result.outcome = what;
    }
}

impl Twin {
    /// The first history, and how many it took, that catches it in that world.
    fn caught(&self, world: &mut World, practice: &Practice) -> Option<(usize, History)> {
        let broken = |broken: &Broken| broken.promise == self.breaks;
        let mut histories = History::all_on(self.queue).take(SEEDS).zip(1..);
        histories.find_map(|(history, count)| {
            breaks(world, practice, &history).iter().any(broken).then_some((count, history))
        })
    }

    fn practice(&self, world: &World) -> Practice {
        let mut practice = Practice::sound(world);
        (self.make)(&mut practice);
        practice
    }
}

#[allow(clippy::print_stdout, reason = "how soon each is caught is worth knowing")]
fn are_caught(make: Make, twins: Vec<Twin>) {
    let mut worlds = Queue::ALL.map(make);
    let mut count = 0;
    for twin in twins {
        let world = worlds.iter_mut().find(|world| world.queue == twin.queue).unwrap();
        if twin.only_where_writes_are_shared && world.spec.engine == Engine::Sqlite {
            continue;
        }
        let practice = twin.practice(world);
        let Some((needed, history)) = twin.caught(world, &practice) else {
            panic!("{}: nobody caught the doctor that {} within {SEEDS} seeds", world.name, twin.name);
        };
        let Twin { name, breaks, .. } = twin;
        println!("{:26} {name:46} {breaks:3} caught by history {needed}, of seed {}", world.name, history.seed);
        // And it is the twin that is caught, not the history that breaks whatever comes.
        let sound = Practice::sound(world);
        must_keep(world, &sound, &history);
        count += 1;
    }
    figures::add(count, "broken twins caught");
}

#[test]
fn every_one_is_caught_on_sqlite_with_a_wal() {
    are_caught(wal, twins());
}

#[test]
fn every_one_is_caught_on_sqlite_with_a_rollback_journal() {
    are_caught(rollback, twins());
}

/// Those that there are here alone, and some of the others, which are slow here.
#[test]
fn some_are_caught_on_postgres() {
    let (here, others): (Vec<Twin>, Vec<Twin>) =
        twins().into_iter().partition(|twin| twin.only_where_writes_are_shared);
    are_caught(postgres, here);
    are_caught(postgres, one_in(4, others));
}

mod nightly {
    use super::*;

    #[test]
    fn every_one_is_caught_on_postgres() {
        are_caught(postgres, twins());
    }
}

#[test]
fn what_catches_one_is_told_as_the_few_deeds_that_it_takes() {
    let twin = of_the_precondition().into_iter().find(|twin| twin.name == "by the id alone").unwrap();
    let mut world = wal(twin.queue);
    let practice = twin.practice(&world);
    let (_, history) = twin.caught(&mut world, &practice).unwrap();
    let shortest = shrink(&mut world, &practice, &history, twin.breaks);
    assert!(breaks(&mut world, &practice, &shortest).iter().any(|broken| broken.promise == twin.breaks));
    // A snapshot, what came between, and a write; of one job.
    assert!(shortest.deeds.len() <= 3 && shortest.jobs.len() <= 1, "{shortest}");
}
