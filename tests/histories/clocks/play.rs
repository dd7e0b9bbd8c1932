//! Plays a story, and holds what the program does against who really lives.

use super::ground::{Ground, Rows};
use super::shape::{BEAT, BOOTED, CLAIM, LEASE, SEEN, Shape};
use super::story::{Job, Kind, Mark, Meanwhile, SECOND, Story, WORKERS, name};
use crate::histories::world::limits;
use crate::support::doctor::REASON;
use jobdoctor::model::{Batch, Claim, Outcome, Step, Timestamp};
use jobdoctor::ops::cutoffs;
use jobdoctor::policy::{Draft, Globs, LiveOwners, Living, Policy, Restart, RestartScope, draft, judge};
use jobdoctor::preset::QueueSpec;
use jobdoctor::store::{Detail, Reader, Unrecorded, Wanted};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// No living worker's job is moved.
pub const ALIVE: &str = "a living worker's job was changed";
/// Every dead worker's job is found.
pub const MISSED: &str = "a dead worker's job was not found";
/// What is said to be moved is what was changed.
pub const UNTRUE: &str = "another number of jobs was changed than is said";
/// A key that names two rows is moved for neither.
pub const DOUBLE: &str = "a job was moved whose key names two";
/// An id that is printed is found again.
pub const LOST_ID: &str = "an id does not find the job that it was printed for";

/// A promise that was not kept, and how.
pub type Broken = (&'static str, String);

/// How the program goes about a story: soundly, or, as a mutant, not quite.
pub struct Habit {
    /// What it makes of the policy.
    pub policy: fn(&mut Policy),
    /// What it makes of a live-owner list before it reads it.
    pub list: fn(String) -> String,
    /// What it makes of a claim before it judges it.
    pub claim: fn(&QueueSpec, &mut Claim),
    /// What it makes of the queue.
    pub spec: fn(&mut QueueSpec),
    /// How it looks ids up.
    pub find: fn(&mut dyn Reader, &QueueSpec, &[String]) -> Vec<Claim>,
}

impl Habit {
    /// The program's.
    pub fn sound() -> Habit {
        Habit { policy: |_| (), list: |list| list, claim: |_, _| (), spec: |_| (), find }
    }
}

fn find(reader: &mut dyn Reader, spec: &QueueSpec, ids: &[String]) -> Vec<Claim> {
    let found = reader.find(spec, ids).unwrap_or_else(|error| panic!("{error}"));
    found.into_iter().map(|found| found.claim).collect()
}

/// Fails with the story and what it breaks, of as few jobs as that takes.
pub fn must_hold(ground: &mut Ground, story: &Story) {
    let habit = Habit::sound();
    let broken = breaks(ground, story, &habit);
    let Some((promise, _)) = broken.first() else { return };
    let shortest = shrink(ground, story, &habit, promise);
    let broken = breaks(ground, &shortest, &habit);
    let shape = &ground.tables[story.shape].0;
    panic!("{}: JOBDOCTOR_HISTORY_SEED={}\n{shortest:#?}\n{shape:#?}\n{broken:#?}", ground.name, story.seed);
}

/// The story without the jobs that it does not need to break a promise.
pub fn shrink(ground: &mut Ground, story: &Story, habit: &Habit, promise: &str) -> Story {
    let mut shortest = story.clone();
    for n in story.jobs.iter().map(|job| job.n) {
        let mut without = shortest.clone();
        without.jobs.retain(|job| job.n != n);
        without.meanwhile.retain(|(of, _)| *of != n);
        if breaks(ground, &without, habit).iter().any(|(broken, _)| *broken == promise) {
            shortest = without;
        }
    }
    shortest
}

/// Plays a story and gives the promises that it breaks.
pub fn breaks(ground: &mut Ground, story: &Story, habit: &Habit) -> Vec<Broken> {
    let (shape, mut spec) = ground.tables[story.shape].clone();
    (habit.spec)(&mut spec);
    let mut play = Play { ground, story, habit, shape, spec, broken: Vec::new() };
    play.begin();
    play.act(story.looks_at, &policy(story, habit), &story.meanwhile);
    // A day later the living still live, and nothing but the rows is asked.
    let later = story.looks_at + 86_400 * SECOND;
    play.all_beat(later);
    play.act(later, &Policy::default(), &[]);
    play.ended();
    play.broken
}

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros).expect("2026 is in range")
}

/// What the program is told.
fn policy(story: &Story, habit: &Habit) -> Policy {
    let living = || {
        let live_owners = LiveOwners::parse(&(habit.list)(story.list())).expect("a list of names");
        Living { live_owners: Arc::new(live_owners), made_at: at(story.crux + story.list_skew) }
    };
    let restart = |scope, before| Some(Restart { scope, before, began: at(story.crux), first: None });
    let mut policy = Policy::default();
    match story.kind {
        Kind::Plain => {}
        Kind::List => policy.living = Some(living()),
        Kind::Named if story.named().is_empty() => {}
        Kind::Named if story.seed.is_multiple_of(8) => {
            policy.restart = restart(RestartScope::Owners(Globs::new(&story.named()).unwrap()), None);
        }
        Kind::Named => policy.restart = restart(RestartScope::Hosts(story.named()), None),
        Kind::All => policy.restart = restart(RestartScope::AllOwners, None),
        Kind::Before => policy.restart = restart(RestartScope::AllOwners, Some(at(story.crux))),
        Kind::NotListed => policy.restart = restart(RestartScope::NotListed(living()), None),
    }
    // Nothing but the deployment tells the claims before it from those after it.
    if let (Kind::Before, Some(restart)) = (story.kind, &mut policy.restart) {
        restart.began = at(story.looks_at);
    }
    (habit.policy)(&mut policy);
    policy
}

struct Play<'p> {
    ground: &'p mut Ground,
    story: &'p Story,
    habit: &'p Habit,
    shape: Shape,
    spec: QueueSpec,
    broken: Vec<Broken>,
}

impl Play<'_> {
    fn begin(&mut self) {
        let (jobs, owners) = (self.shape.table(), self.shape.owners());
        let mut sql = format!("DELETE FROM {jobs}; DELETE FROM {owners};");
        for job in &self.story.jobs {
            let (id, part) = self.shape.key_sql(if self.is_double(job.n) { 1 } else { job.n }, self.ground.engine);
            let [claimed, beat, lease] = self.signs(job);
            let owner = self.owner(job);
            write!(
                sql,
                "INSERT INTO {jobs} VALUES ({}, {id}, {part}, 'RUNNING', {owner}, {claimed}, {beat}, {lease}, 0, 5);",
                job.n
            )
            .unwrap();
        }
        for worker in (0..WORKERS).filter(|worker| !self.story.rowless[*worker]) {
            let process = &self.story.processes[self.story.last_process(worker).expect("a process for each name")];
            let seen = process.died.unwrap_or(self.story.looks_at).max(process.started);
            let (seen, booted) = (self.time(SEEN, seen, worker), self.time(BOOTED, process.started, worker));
            write!(sql, "INSERT INTO {owners} VALUES ('{}', {seen}, {booted});", name(worker)).unwrap();
        }
        self.ground.run(&sql);
    }

    fn is_double(&self, n: usize) -> bool {
        !self.shape.is_unique && self.story.doubles && n <= 2
    }

    fn owner(&self, job: &Job) -> String {
        let worker = self.story.processes[job.process].worker;
        if job.names_owner { format!("'{}'", name(worker)) } else { "NULL".to_owned() }
    }

    fn time(&self, column: usize, at: i64, worker: usize) -> String {
        self.shape.time_sql(column, at, self.story.skews[worker])
    }

    /// Claim time, heartbeat and lease as they are stored.
    fn signs(&self, job: &Job) -> [String; 3] {
        let worker = self.story.processes[job.process].worker;
        let stored = |column, mark, kept: i64, stale: i64| match mark {
            Mark::Kept => self.time(column, kept, worker),
            Mark::Null => "NULL".to_owned(),
            Mark::Stale => self.time(column, stale, worker),
        };
        let claimed = if job.has_claim_time { Mark::Kept } else { Mark::Null };
        [
            stored(CLAIM, claimed, job.claimed, 0),
            stored(BEAT, job.beat, job.last, job.claimed - 400 * SECOND),
            stored(LEASE, job.lease, job.last + 120 * SECOND, job.claimed - 100 * SECOND),
        ]
    }

    /// The living send signs of life once more.
    fn all_beat(&mut self, now: i64) {
        let (jobs, owners) = (self.shape.table(), self.shape.owners());
        let mut sql = String::new();
        for job in self.story.jobs.iter().filter(|job| self.story.lives(job)) {
            let [_, beat, lease] = self.signs(&Job { last: now - SECOND, ..*job });
            write!(sql, "UPDATE {jobs} SET heartbeat_at = {beat}, lease_expires_at = {lease} WHERE n = {};", job.n)
                .unwrap();
        }
        for worker in (0..WORKERS).filter(|worker| self.newest(*worker).died.is_none()) {
            let seen = self.time(SEEN, now - SECOND, worker);
            write!(sql, "UPDATE {owners} SET seen_at = {seen} WHERE name = '{}';", name(worker)).unwrap();
        }
        self.story.meanwhile.iter().for_each(|(n, what)| sql += &self.happens(*n, *what, now));
        self.ground.run(&sql);
    }

    fn newest(&self, worker: usize) -> &super::story::Process {
        &self.story.processes[self.story.last_process(worker).expect("a process for each name")]
    }

    /// What comes between the snapshot and the write.
    fn happens(&self, n: usize, what: Meanwhile, now: i64) -> String {
        let jobs = self.shape.table();
        match what {
            Meanwhile::Deleted => format!("DELETE FROM {jobs} WHERE n = {n};"),
            Meanwhile::Claimed(process) => {
                let worker = self.story.processes[process].worker;
                format!(
                    "UPDATE {jobs} SET status = 'RUNNING', owner_id = '{}', claimed_at = {}, heartbeat_at = {}, \
                     lease_expires_at = {} WHERE n = {n};",
                    name(worker),
                    self.time(CLAIM, now, worker),
                    self.time(BEAT, now, worker),
                    self.time(LEASE, now + 120 * SECOND, worker)
                )
            }
        }
    }

    /// EarlierSnapshot, drafts and applies.
    fn act(&mut self, now: i64, policy: &Policy, meanwhile: &[(usize, Meanwhile)]) {
        let steps = self.look(now, policy);
        let before_meanwhile = self.ground.rows(&self.shape.table());
        let sql: String = meanwhile.iter().map(|(n, what)| self.happens(*n, *what, now)).collect();
        self.ground.run(&sql);
        let before = self.ground.rows(&self.shape.table());
        let moved = self.apply(&steps);
        let after = self.ground.rows(&self.shape.table());
        let changed: Vec<usize> =
            before.iter().filter(|(n, row)| after.get(n) != Some(row)).map(|(n, _)| *n as usize).collect();
        self.unless(changed.len() == moved, UNTRUE, || format!("{moved} moved, and changed are {changed:?}"));
        for n in &changed {
            self.unless(!self.lives_now(*n), ALIVE, || format!("job {n} at {}", at(now)));
            self.unless(!self.is_double(*n) || !self.is_double_there(&before), DOUBLE, || format!("job {n}"));
        }
        if policy.restart.is_some() || policy.living.is_some() {
            self.all_found(&before_meanwhile, &changed);
        }
    }

    fn look(&mut self, now: i64, policy: &Policy) -> Vec<Step> {
        let spec = &self.spec;
        let mut reader = self.ground.looks.reader(&limits("stories")).unwrap_or_else(|error| panic!("{error}"));
        let (mut steps, mut claims) = (Vec::new(), Vec::new());
        let mut each = |mut claim: Claim| {
            (self.habit.claim)(spec, &mut claim);
            if let Draft::Step(step) = draft(spec, &claim, &judge(spec, &claim, policy, at(now)), policy) {
                steps.push(*step);
            }
            claims.push(claim);
        };
        let suspects = || Wanted::Suspects(cutoffs(at(now), policy));
        let wanted = if policy.needs_every_claim() { Wanted::All } else { suspects() };
        reader.scan(spec, &wanted, Detail::ForAction, &mut each).unwrap_or_else(|error| panic!("{error}"));
        let ids: Vec<String> = claims.iter().map(|claim| claim.key.to_string()).collect();
        let found = (self.habit.find)(&mut *reader, spec, &ids);
        drop(reader);
        let lost = claims.iter().filter(|claim| found.iter().all(|found| found.key != claim.key));
        let lost: Vec<String> = lost.map(|claim| format!("{:?}", claim.key)).collect();
        self.unless(lost.is_empty(), LOST_ID, || lost.join(", "));
        steps.sort_by_key(|step| (step.action, step.key.to_string()));
        steps
    }

    /// How many are said to be moved.
    fn apply(&mut self, steps: &[Step]) -> usize {
        let mut moved = 0;
        for steps in steps.chunk_by(|a, b| a.action == b.action).flat_map(|steps| steps.chunks(self.story.batch)) {
            let batch = Batch { action: steps[0].action, steps, reason: REASON, waits: &[], instead: &[] };
            let report = self.ground.writer.apply(&self.spec, &batch, &mut Unrecorded);
            self.unless(report.stop.is_none(), UNTRUE, || format!("stopped by {:?}", report.stop));
            moved += report.results.iter().filter(|result| result.outcome == Outcome::Moved).count();
        }
        moved
    }

    fn job(&self, n: usize) -> &Job {
        self.story.jobs.iter().find(|job| job.n == n).expect("rows are jobs")
    }

    /// Whether a living process has the job, once everything has happened.
    fn lives_now(&self, n: usize) -> bool {
        let taken = self.story.meanwhile.iter().any(|(of, what)| *of == n && matches!(what, Meanwhile::Claimed(_)));
        taken || self.story.lives(self.job(n))
    }

    fn is_double_there(&self, rows: &Rows) -> bool {
        [1, 2].iter().all(|n| rows.contains_key(n))
    }

    /// After a restart sweep, and with a list: what the program was told is enough to find these.
    fn all_found(&mut self, before: &Rows, changed: &[usize]) {
        let story = self.story;
        let touched: BTreeSet<usize> = story.meanwhile.iter().map(|(n, _)| *n).collect();
        let jobs = story.jobs.iter().filter(|job| !story.lives(job) && job.has_claim_time);
        for job in jobs.filter(|job| !touched.contains(&job.n)) {
            let process = story.processes[job.process];
            let skew = story.skews[process.worker].max(0);
            let by_list = matches!(story.kind, Kind::List | Kind::NotListed);
            let tolerance = if by_list { 62 * SECOND } else { 2 * SECOND };
            let is_before = |at: i64| at + skew + tolerance <= story.crux + story.list_skew;
            // A new process under that name beats in the row that the old one left.
            let is_last = !self.shape.has_owners || story.last_process(process.worker) == Some(job.process);
            let is_silent = is_last && process.died.is_some_and(|died| is_before(died + 30 * SECOND));
            let is_told = match story.kind {
                Kind::List => {
                    let shows_life = job.shows_life(self.shape.has_lease, self.shape.has_beat);
                    is_silent && job.names_owner && !shows_life && story.is_left_out(job)
                }
                Kind::NotListed => is_silent && story.covers(job),
                _ => is_before(job.claimed) && story.covers(job),
            };
            let was_there = before.contains_key(&(job.n as i32));
            let is_due = is_told && was_there && !self.is_double(job.n);
            self.unless(!is_due || changed.contains(&job.n), MISSED, || format!("job {}, as told", job.n));
        }
    }

    /// A day later no dead worker's job is left in flight, but where another process keeps its row fresh and nothing on it
    /// tells the two apart.
    fn ended(&mut self) {
        let rows = self.ground.rows(&self.shape.table());
        for (n, row) in rows.iter().filter(|(_, row)| row.starts_with("RUNNING")) {
            let n = *n as usize;
            let job = *self.job(n);
            let process = self.story.processes[job.process];
            let newest = *self.newest(process.worker);
            let is_beaten = self.shape.has_owners
                && job.names_owner
                && newest.died.is_none()
                && !self.story.rowless[process.worker];
            let restarted = newest.started - job.claimed > 60 * SECOND + 60 * SECOND + 2 * SECOND;
            let is_told = self.shape.has_started && job.has_claim_time && restarted;
            // What it wrote down does not tell how long it has been silent: the program says that it cannot tell.
            let is_blank = !((self.shape.has_lease && job.lease == Mark::Kept)
                || (self.shape.has_beat && job.beat != Mark::Null)
                || (self.shape.has_owners && job.names_owner && !self.story.rowless[process.worker]));
            let excused = self.lives_now(n) || (is_beaten && !is_told) || is_blank || self.is_double(n);
            self.unless(excused, MISSED, || format!("job {n}, a day later: {row}"));
        }
    }

    fn unless(&mut self, kept: bool, promise: &'static str, how: impl FnOnce() -> String) {
        if !kept {
            self.broken.push((promise, how()));
        }
    }
}
