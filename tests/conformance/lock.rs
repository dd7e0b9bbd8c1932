//! Locks that a worker's session holds, and nothing in the row: what they prove, and the guard that takes them before it
//! acts. Only Postgres has them.

use crate::support::doctor::{apply, fit, fitted, mapping, outcomes, planned, scan, try_resolve, verdicts};
use crate::support::labs::{Journal, Lab, PostgresLab, Route, SqlLab, SqliteLab};
use jobdoctor::model::{Outcome, Step};
use jobdoctor::policy::Policy;
use jobdoctor::preset::{Jobs, Place};
use jobdoctor::store::Wanted;
use std::time::Duration;

const TABLE: &str = "CREATE TABLE queue (id bigint PRIMARY KEY, status text, claimed_at timestamptz, tries bigint);
    INSERT INTO queue SELECT n, 'working', now() - interval '10 minutes', 0 FROM generate_series(1, 3) AS n;";

const HELD: &str = "j.id IN (SELECT (l.classid::bigint << 32) | l.objid::bigint FROM pg_locks AS l \
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted \
    AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))";

/// A mapping of that table; `more` are further sources.
fn queue(free: &str, more: &str, guard: &str) -> String {
    format!(
        "states = {{ waiting = ['new'], in_flight = ['working'] }}
attempts = {{ column = 'tries', counted = 'at reclaim' }}
[claim]
table = 'queue'
key = 'id'
state = 'status'
claimed_at = 'claimed_at'
liveness = [{{ by = 'lock', held = \"{HELD}\", free = '{free}' }}{more}]
{guard}
[action]
requeue = {{ to = 'new', clear = ['claimed_at'] }}
"
    )
}

const GUARD: &str = "guard = 'pg_try_advisory_xact_lock(j.id)'";

fn labs() -> [PostgresLab; 2] {
    [PostgresLab::new(), PostgresLab::by(Route::Pooled)]
}

struct Judged {
    lab: PostgresLab,
    spec: Jobs,
    steps: Vec<Step>,
}

impl Judged {
    fn new(lab: PostgresLab, preset: &str) -> Judged {
        lab.run(TABLE);
        let (_, spec, steps) = planned(&lab, &mapping(preset));
        Judged { lab, spec, steps }
    }

    fn apply(&self) -> Vec<Outcome> {
        outcomes(&apply(&*self.lab.store(), &self.spec, &self.steps))
    }
}

fn dead() -> String {
    queue("dead", "", GUARD)
}

fn said(lab: &PostgresLab, preset: &str, policy: &Policy) -> Vec<String> {
    let store = lab.store();
    let lines = verdicts(&*store, &fit(&*store, &mapping(preset)), policy);
    lines.iter().map(|line| line.replace(" working None None ", " ")).collect()
}

fn older(seconds: u64) -> Policy {
    Policy { older: Some(Duration::from_secs(seconds)), ..Policy::default() }
}

#[test]
fn who_holds_a_lock_is_alive() {
    for lab in labs() {
        lab.run(TABLE);
        let worker = lab.hold_sql("SELECT pg_advisory_xact_lock(2)");
        let stuck = |id| format!("{id} Some(\"lock\"): stuck by lock_free; requeue to new, attempts Some(1)");
        assert_eq!(said(&lab, &dead(), &Policy::default()), [stuck(1), stuck(3)], "{}", lab.name());
        assert_eq!(said(&lab, &dead(), &older(300)), [stuck(1), stuck(3)], "{}", lab.name());
        assert_eq!(said(&lab, &dead(), &older(3600)), [""; 0], "{}", lab.name());
        worker.rollback();
        assert_eq!(said(&lab, &dead(), &Policy::default()), [stuck(1), stuck(2), stuck(3)], "{}", lab.name());
    }
}

#[test]
fn a_free_lock_may_leave_it_to_the_next_source() {
    for lab in labs() {
        lab.run(TABLE);
        lab.run("UPDATE queue SET claimed_at = now() WHERE id = 1");
        let worker = lab.hold_sql("SELECT pg_advisory_xact_lock(2)");
        let next = queue("next", ", { by = 'age', column = 'claimed_at', silent_after = '5m' }", GUARD);
        let stuck = |id| format!("{id} Some(\"age\"): stuck by claim_age; requeue to new, attempts Some(1)");
        assert_eq!(said(&lab, &next, &Policy::default()), [stuck(3)], "{}", lab.name());
        worker.rollback();
        assert_eq!(said(&lab, &next, &Policy::default()), [stuck(2), stuck(3)], "{}", lab.name());
    }
}

#[test]
fn a_claim_without_a_lock_is_left_to_the_next_source() {
    for lab in labs() {
        lab.run(TABLE);
        lab.run("UPDATE queue SET claimed_at = now() WHERE id = 1");
        let held = "CASE j.id WHEN 3 THEN false END";
        let stuck = |id, by, rule| format!("{id} Some(\"{by}\"): stuck by {rule}; requeue to new, attempts Some(1)");
        for (free, by, rule) in [("dead", "lock", "lock_free"), ("next", "age", "claim_age")] {
            let aged = queue(free, ", { by = 'age', column = 'claimed_at', silent_after = '5m' }", GUARD);
            let lines = said(&lab, &aged.replace(HELD, held), &Policy::default());
            assert_eq!(lines, [stuck(2, "age", "claim_age"), stuck(3, by, rule)], "{free}, {}", lab.name());
        }
        let unknown = |id| format!("{id} None: unknown; skipped: Unknown");
        let alone = queue("next", "", GUARD).replace(HELD, held);
        assert_eq!(said(&lab, &alone, &Policy::default()), [unknown(1), unknown(2), unknown(3)], "{}", lab.name());
    }
}

/// Its deadline makes job 1 a suspect whoever holds it, and what holds a lock changes while the listing runs.
#[test]
fn a_claim_is_listed_once() {
    for lab in labs() {
        lab.run(TABLE);
        let odd = queue("next", ", { by = 'age', column = 'claimed_at', silent_after = '5m' }", GUARD)
            .replace(HELD, "random() < 0.5");
        let odd = odd.replace("[claim]", "[rules]\ndeadline = 'claimed_at'\n[claim]");
        let (store, spec) = fitted(&lab, &mapping(&odd));
        for _ in 0..20 {
            let wanted =
                Wanted::Suspects(jobdoctor::store::Cutoffs::at(crate::support::doctor::look(&*store).now(), None));
            assert_eq!(scan(&*store, &spec, &wanted).len(), 3, "{}", lab.name());
        }
    }
}

#[test]
fn a_lock_that_is_taken_after_the_look_keeps_the_job() {
    for lab in labs() {
        let judged = Judged::new(lab, &dead());
        let before = judged.lab.image("queue");
        let worker = judged.lab.hold_sql("SELECT pg_advisory_xact_lock(2)");
        let ends = judged.apply();
        assert_eq!(ends, [Outcome::Moved, Outcome::Locked, Outcome::Moved], "{}", judged.lab.name());
        let row = |image: &str| image.lines().find(|line| line.starts_with("(2,")).map(str::to_owned);
        assert_eq!(row(&judged.lab.image("queue")), row(&before), "{}", judged.lab.name());
        worker.rollback();
        let ends = judged.apply();
        assert_eq!(ends, [Outcome::Changed, Outcome::Moved, Outcome::Changed], "{}", judged.lab.name());
        // And nothing is left behind that a worker would find taken.
        assert!(judged.lab.ask("SELECT bool_and(pg_try_advisory_lock(id) AND pg_advisory_unlock(id)) FROM queue"));
    }
}

/// The deliberately broken mutant: without its guard the write takes a job from the worker that holds it.
#[test]
fn without_its_guard_the_write_takes_a_job_from_its_worker() {
    for lab in labs() {
        let mut judged = Judged::new(lab, &dead());
        judged.spec.claim.guard = None;
        let worker = judged.lab.hold_sql("SELECT pg_advisory_xact_lock(2)");
        assert_eq!(judged.apply(), [Outcome::Moved; 3], "{}", judged.lab.name());
        worker.rollback();
    }
}

/// A guard that takes a lock would take that of every live job it is asked about.
#[test]
fn the_guard_is_asked_of_the_wanted_rows_alone() {
    for lab in labs() {
        lab.run(
            "CREATE TABLE asked (id bigint);
             CREATE FUNCTION ask(bigint) RETURNS boolean LANGUAGE plpgsql COST 1 AS
             $$BEGIN INSERT INTO public.asked VALUES ($1); RETURN true; END$$;
             DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET enable_nestloop = off', current_database()); END$$",
        );
        let mut judged = Judged::new(lab, &queue("dead", "", "guard = 'public.ask(j.id)'"));
        // One whose precondition differs is not asked either.
        judged.lab.run("UPDATE queue SET tries = 1 WHERE id = 3");
        judged.steps.remove(0);
        assert_eq!(judged.apply(), [Outcome::Moved, Outcome::Changed], "{}", judged.lab.name());
        assert_eq!(judged.lab.image("asked"), "(2)", "{}", judged.lab.name());
    }
}

#[test]
fn a_guard_that_is_null_keeps_the_job() {
    for lab in labs() {
        let judged = Judged::new(lab, &queue("dead", "", "guard = 'NULL::boolean'"));
        assert_eq!(judged.apply(), [Outcome::Locked; 3], "{}", judged.lab.name());
    }
}

#[test]
fn a_lock_without_a_guard_is_refused_unless_nothing_is_moved() {
    let lab = PostgresLab::new();
    lab.run(TABLE);
    let bare = queue("dead", "", "");
    let error = try_resolve(&*lab.store(), &mapping(&bare), &Place::default()).unwrap_err().to_string();
    assert!(error.contains("claim.liveness[1].held") && error.contains("needs a `guard`"), "{error}");
    let (claim, _) = bare.split_once("[action]").unwrap();
    fit(&*lab.store(), &mapping(&format!("{claim}[action]\nrefused = 'by hand'\n")));
}

#[test]
fn where_no_session_holds_locks_both_are_refused() {
    let lab = SqliteLab::new(Journal::Wal);
    lab.run("CREATE TABLE queue (id INTEGER PRIMARY KEY, status TEXT, claimed_at INTEGER, tries INTEGER)");
    let sqlite = |preset: String| format!("time = {{ default = 'epoch s' }}\n{preset}");
    let aged = dead().replace("by = 'lock'", "by = 'age', column = 'claimed_at', silent_after = '5m'");
    let aged = aged.replace(&format!(", held = \"{HELD}\", free = 'dead'"), "");
    for (preset, key) in [(dead(), "claim.liveness[1].held"), (aged, "claim.guard")] {
        let error = try_resolve(&*lab.store(), &mapping(&sqlite(preset)), &Place::default()).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains("only Postgres has such locks"), "{error}");
    }
}
