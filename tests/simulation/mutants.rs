//! Mutants of the doctor: with one part of its guard taken out, or with one thing done or said wrongly, some history must
//! break a promise, and soon. A part that could be taken out unnoticed would be a part that no history tests.
//!
//! A mutant is the program itself over a queue that is described to it wrongly, so that it composes and runs its own statements
//! and only what the mutant lacks is missing from them.

use super::check::{Broken, check};
use super::history::History;
use super::play::{Applied, play};
use super::practice::Practice;
use super::queue::Queue;
use super::runs::{Make, must_keep, wal};
use super::shrink::{breaks, shrink};
use super::world::{World, postgres};
use crate::support::dice::one_in;
use crate::support::doctor::{column_of, do_not_compare, forget_evidence};
use crate::support::figures;
use jobdoctor::model::{BatchReport, Engine, Outcome};
use jobdoctor::preset::{Expr, Jobs, Piece, StateSource, StepSpec, Template, What};
use jobdoctor::store::StoreError;

/// Within so many seeds it must be caught.
const SEEDS: usize = 500;

struct Mutant {
    name: &'static str,
    queue: Queue,
    /// Whether it matters only where other sessions write while a doctor does.
    only_where_writes_are_shared: bool,
    breaks: &'static str,
    make: fn(&mut Practice),
}

fn mutant(name: &'static str, queue: Queue, breaks: &'static str, make: fn(&mut Practice)) -> Mutant {
    Mutant { name, queue, only_where_writes_are_shared: false, breaks, make }
}

fn shared(mutant: Mutant) -> Mutant {
    Mutant { only_where_writes_are_shared: true, ..mutant }
}

fn mutants() -> Vec<Mutant> {
    let mut mutants = of_the_precondition();
    mutants.extend(of_locks());
    mutants.extend(of_deeds());
    mutants
}

fn of_the_precondition() -> Vec<Mutant> {
    use Queue::{Heartbeat, Lease, Owners};
    vec![
        mutant("without the state", Heartbeat, "S1", |mutant| without(mutant, "status")),
        mutant("without the state: a job that has ended", Heartbeat, "S4", |mutant| without(mutant, "status")),
        mutant("without the owner", Heartbeat, "S1", |mutant| without(mutant, "owner_id")),
        mutant("without the heartbeat", Heartbeat, "S1", |mutant| without(mutant, "heartbeat_at")),
        mutant("without the attempts", Heartbeat, "S1", |mutant| without(mutant, "attempts")),
        mutant("without the token", Lease, "S1", |mutant| without(mutant, "lease_token")),
        mutant("without the lease", Lease, "S1", |mutant| without(mutant, "lease_expires_at")),
        mutant("without the heartbeat beside a lease", Lease, "S1", |mutant| without(mutant, "heartbeat_at")),
        mutant("by the id alone", Lease, "S1", |mutant| {
            all_states(&mut mutant.applies);
            only(mutant, vec![sql("1")]);
        }),
        mutant("by the state alone", Lease, "S1", |mutant| keeping(mutant, &["status"])),
        mutant("by state and limit alone", Lease, "S1", |mutant| keeping(mutant, &["status", "max_attempts"])),
        mutant("by state and owner alone", Lease, "S1", |mutant| keeping(mutant, &["status", "owner_id"])),
        mutant("by state, owner and token alone", Lease, "S1", |mutant| {
            keeping(mutant, &["status", "owner_id", "lease_token"]);
        }),
        mutant("by state and cut-off alone", Heartbeat, "S1", |mutant| {
            let cut_off = match mutant.looks.queue.engine {
                Engine::Sqlite => "j.heartbeat_at < unixepoch('now') - 300",
                Engine::Postgres => "j.heartbeat_at < now() - interval '300 s'",
            };
            keeping(mutant, &["status"]);
            mutant.looks.claim.precondition.push(sql(cut_off));
            mutant.applies.claim.precondition.push(sql(cut_off));
        }),
        mutant("NULL is the empty text", Heartbeat, "S1", |mutant| {
            instead(mutant, "owner_id", "coalesce(j.owner_id, '')");
        }),
        // What `=` makes of NULL: it is never what it was.
        mutant("NULL is not NULL: what is undisturbed stays", Heartbeat, "S7", |mutant| {
            instead(mutant, "owner_id", "coalesce(j.owner_id, CAST(random() AS text))");
        }),
        mutant("NULL is not NULL: orphans stay", Heartbeat, "L1", |mutant| {
            instead(mutant, "owner_id", "coalesce(j.owner_id, CAST(random() AS text))");
        }),
        mutant("without the worker's heartbeat", Owners, "S1", |mutant| {
            without(mutant, "seen_at");
            mutant.plan = |steps| forget_evidence(steps);
        }),
        mutant("without the worker's start", Owners, "S1", |mutant| {
            without(mutant, "booted_at");
            mutant.plan = |steps| forget_evidence(steps);
        }),
    ]
}

fn of_locks() -> Vec<Mutant> {
    vec![
        shared(mutant("without the lock on the job", Queue::Lease, "S1", |mutant| {
            // A lock goes through to the rows of a sub-select, but not to those that a WITH has read.
            let unlocked = "(WITH unlocked AS MATERIALIZED (SELECT * FROM public.jobs) SELECT * FROM unlocked) AS j";
            mutant.applies.claim.from = Template(vec![Piece::Text(unlocked.to_owned())]);
        })),
        shared(mutant("without the evidence row", Queue::Owners, "S1", |mutant| {
            mutant.plan = |steps| forget_evidence(steps);
        })),
    ]
}

fn of_deeds() -> Vec<Mutant> {
    use Queue::{Heartbeat, Lease};
    vec![
        mutant("counts twice", Lease, "S2", |mutant| {
            for step in mutant.applies.actions.values_mut().flat_map(|moved| &mut moved.steps) {
                let StepSpec::Update(assignments) = step else { continue };
                for assignment in assignments.iter_mut().filter(|assignment| assignment.column.name == "attempts") {
                    assignment.value = Template(vec![Piece::Text("j.attempts + 2".to_owned())]);
                }
            }
        }),
        mutant("knows no limit", Heartbeat, "S5", |mutant| mutant.looks.attempts.max = None),
        mutant("leaves one out", Lease, "L1", |mutant| mutant.plan = |steps| drop(steps.pop())),
        mutant("finds no end", Lease, "S9", |mutant| mutant.plan = |steps| steps.truncate(1)),
        mutant("says moved of what it lost", Lease, "S8", |mutant| {
            mutant.report = |report| says(report, Outcome::Changed, Outcome::Moved);
        }),
        mutant("says changed of what it moved", Lease, "S8", |mutant| {
            mutant.report = |report| says(report, Outcome::Moved, Outcome::Changed);
        }),
        mutant("says moved where it does not know", Lease, "S8", |mutant| {
            mutant.report = |report| says(report, Outcome::Unknown, Outcome::Moved);
        }),
        mutant("says locked of what has changed", Lease, "S8", |mutant| {
            mutant.report = |report| says(report, Outcome::Changed, Outcome::Locked);
        }),
    ]
}

fn sql(text: &str) -> Expr {
    Expr::Sql(Template(vec![Piece::Text(text.to_owned())]))
}

/// Without that column in the precondition, wherever it stands. A write that does not compare the state does not ask for one in
/// flight either.
fn without(mutant: &mut Practice, column: &str) {
    for spec in [&mut mutant.looks, &mut mutant.applies] {
        do_not_compare(spec, column);
    }
    if matches!(&mutant.applies.claim.state, StateSource::Column(state) if state.name == column) {
        all_states(&mut mutant.applies);
    }
}

fn all_states(spec: &mut Jobs) {
    let others =
        [&spec.queue.states.waiting, &spec.queue.states.done, &spec.queue.states.failed, &spec.queue.states.cancelled]
            .map(Clone::clone);
    spec.states.extend(others.concat());
    // Or the check after the action would see every state as one in flight.
    spec.what = What::Waited;
}

fn instead(mutant: &mut Practice, column: &str, text: &str) {
    without(mutant, column);
    mutant.looks.claim.precondition.push(sql(text));
    mutant.applies.claim.precondition.push(sql(text));
}

fn only(mutant: &mut Practice, precondition: Vec<Expr>) {
    mutant.looks.claim.precondition.clone_from(&precondition);
    mutant.applies.claim.precondition = precondition;
}

fn keeping(mutant: &mut Practice, columns: &[&str]) {
    let precondition = mutant.looks.claim.precondition.iter();
    let kept: Vec<Expr> = precondition.filter(|expr| columns.contains(&column_of(expr))).cloned().collect();
    assert_eq!(kept.len(), columns.len(), "{columns:?} are in the precondition");
    only(mutant, kept);
}

fn says(report: &mut BatchReport<StoreError>, instead_of: Outcome, what: Outcome) {
    for result in report.results.iter_mut().filter(|result| result.outcome == instead_of) {
        result.outcome = what;
    }
}

impl Mutant {
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
fn are_caught(make: Make, mutants: Vec<Mutant>) {
    let mut worlds = Queue::ALL.map(make);
    let mut count = 0;
    for mutant in mutants {
        let world = worlds.iter_mut().find(|world| world.queue == mutant.queue).unwrap();
        if mutant.only_where_writes_are_shared && world.spec.queue.engine == Engine::Sqlite {
            continue;
        }
        let practice = mutant.practice(world);
        let Some((needed, history)) = mutant.caught(world, &practice) else {
            panic!("{}: nobody caught the doctor that {} within {SEEDS} seeds", world.name, mutant.name);
        };
        let Mutant { name, breaks, .. } = mutant;
        println!("{:26} {name:46} {breaks:3} caught by history {needed}, of seed {}", world.name, history.seed);
        // And it is the mutant that is caught, not the history that breaks whatever comes.
        let sound = Practice::sound(world);
        must_keep(world, &sound, &history);
        count += 1;
    }
    figures::add(count, "mutants caught");
}

#[test]
fn every_one_is_caught_on_sqlite() {
    are_caught(wal, mutants());
}

/// Those that there are here alone, and some of the others, which are slow here.
#[test]
fn some_are_caught_on_postgres() {
    let (here, others): (Vec<Mutant>, Vec<Mutant>) =
        mutants().into_iter().partition(|mutant| mutant.only_where_writes_are_shared);
    are_caught(postgres, here);
    are_caught(postgres, one_in(4, others));
}

#[test]
fn what_catches_one_is_told_as_the_few_deeds_that_it_takes() {
    let mutant = of_the_precondition().into_iter().find(|mutant| mutant.name == "by the id alone").unwrap();
    let mut world = wal(mutant.queue);
    let practice = mutant.practice(&world);
    let (_, history) = mutant.caught(&mut world, &practice).unwrap();
    let shortest = shrink(&mut world, &practice, &history, mutant.breaks);
    assert!(breaks(&mut world, &practice, &shortest).iter().any(|broken| broken.promise == mutant.breaks));
    // A snapshot, what came between, and a write; of one job.
    assert!(shortest.deeds.len() <= 3 && shortest.jobs.len() <= 1, "{shortest}");
}

/// What no mutant can do, for lack of a statement that does it, forged into a history that keeps every promise.
#[test]
fn what_is_forged_is_seen() {
    type Forge = fn(&mut Applied);
    let forgeries: [(&str, Forge); 3] = [
        ("a job is gone", |batch| batch.changes[0].new = None),
        ("a job was put into the queue", |batch| batch.changes[0].old = None),
        ("a row of no job was changed", |batch| batch.changes[0].row.0 = "log".to_owned()),
    ];
    let (mut world, changed) = (wal(Queue::Lease), |batch: &Applied| !batch.changes.is_empty());
    let practice = Practice::sound(&world);
    let mut histories = History::all_on(world.queue).map(|history| play(&mut world, &practice, &history));
    let mut played = histories.find(|played| played.batches.iter().any(changed)).expect("a history with a change");
    drop(histories);
    let at = played.batches.iter().position(changed).expect("it was found by it");
    for (what, forge) in forgeries {
        let kept = played.batches[at].changes.clone();
        forge(&mut played.batches[at]);
        let broken = check(world.queue, world.second, &played);
        assert!(broken.iter().any(|broken| broken.promise == "S1"), "{what}: {broken:#?}");
        played.batches[at].changes = kept;
        assert_eq!(check(world.queue, world.second, &played), []);
    }
    figures::add(forgeries.len() as u64, "mutants caught");
}
