//! How far a use case is, and at which pace a run goes on.

use crate::model::{Cost, Engine};
use crate::store::chance;
use std::cell::Cell;
use std::ops::Range;
use std::time::Duration;

/// Receives the progress of a use case: use cases print nothing.
pub trait Progress {
    fn begin(&self, _work: Work) {}

    /// So much is done: claims read, or steps tried; and of these, jobs moved.
    fn reached(&self, _done: u64, _moved: u64) {}

    /// It has ended, well or not.
    fn end(&self) {}
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Reading claims, whose number is not known.
    Reading,
    /// Executing a plan of so many steps, which takes about so long where pauses set the pace: the shorter time if no
    /// other connection writes.
    Applying(u64, Option<(Duration, Duration)>),
}

pub struct Silent;

impl Progress for Silent {}

/// One piece of work under way. Dropped, it has ended.
pub(super) struct UnderWay<'a> {
    progress: &'a dyn Progress,
    done: Cell<u64>,
    moved: Cell<u64>,
}

/// Claims read between two reports.
const EVERY: u64 = 256;

impl<'a> UnderWay<'a> {
    pub(super) fn begin(progress: &'a dyn Progress, work: Work) -> UnderWay<'a> {
        progress.begin(work);
        UnderWay { progress, done: Cell::new(0), moved: Cell::new(0) }
    }

    pub(super) fn one(&self) {
        let done = self.done.get() + 1;
        self.done.set(done);
        if done.is_multiple_of(EVERY) {
            self.progress.reached(done, 0);
        }
    }

    /// So many more steps were tried, and so many of them moved their jobs.
    pub(super) fn batch(&self, tried: usize, moved: usize) {
        self.done.set(self.done.get() + tried as u64);
        self.moved.set(self.moved.get() + moved as u64);
        self.progress.reached(self.done.get(), self.moved.get());
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.progress.end();
    }
}

/// The pause between two batches. A worker that waits for SQLite's lock asks for it again after as much as
/// 100 ms, so a lock that is free for a moment only may pass it by.
const PAUSE: Range<Duration> = Duration::from_millis(20)..Duration::from_millis(40);

/// The pause where no other connection has written for [`QUIET`]: the first that does still gets its turn.
const SHORT_PAUSE: Range<Duration> = Duration::from_millis(10)..Duration::from_millis(15);
const QUIET: Duration = Duration::from_secs(2);

/// The rows of a run's first batch: a trigger may take 50 ms for each.
const FIRST: usize = 20;

/// The most rows of a batch: the record of each takes some 6 kB until it is committed.
const MOST: usize = 1_000;
/// The same where one writer keeps all others out, and each batch syncs a file.
const MOST_OF_FILE: usize = 2_000;

/// The pace of a run, which learns from each batch how many rows the next one has, and how long to pause before it:
/// workers must hardly notice a run.
#[derive(Debug)]
pub(super) struct Pace {
    /// How long the statements of a batch may take, without its beginning and its commit, which are the same for any
    /// number of rows.
    budget: Duration,
    pauses: Pauses,
    rows: usize,
    most: usize,
    /// The rows of the last batch, and the seconds that it took.
    last: Option<(f64, f64)>,
    has_locked_long: bool,
}

/// How long a batch on SQLite may hold the lock while others write, and while none does.
const BUSY_BUDGET: Duration = Duration::from_millis(5);
const QUIET_BUDGET: Duration = Duration::from_millis(50);

/// How much a server may log for a batch, in bytes: the commit of a worker waits until all before it is on the disk.
const MOST_LOGGED: f64 = 2.0 * 1024.0 * 1024.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pauses {
    Always,
    /// On SQLite while no other connection writes.
    Short,
    /// After a batch that kept owners' rows locked, against their heartbeats, beyond the budget.
    AfterLongLocks,
    Never,
}

impl Pace {
    /// On SQLite one writer keeps all others out, so a batch takes 5 ms and a pause follows; with four workers that
    /// write 400 heartbeats a second, 20 ms made them wait up to 630 ms. On Postgres only those wait who want the same
    /// rows. `fast` is for when all workers are stopped: it never pauses.
    pub(super) fn new(engine: Engine, fast: bool) -> Pace {
        let (budget, pauses) = match (engine.has_one_writer(), fast) {
            (true, false) => (BUSY_BUDGET, Pauses::Always),
            (true, true) => (Duration::from_millis(250), Pauses::Never),
            (false, false) => (QUIET_BUDGET, Pauses::AfterLongLocks),
            (false, true) => (QUIET_BUDGET, Pauses::Never),
        };
        let most = if engine.has_one_writer() { MOST_OF_FILE } else { MOST };
        Pace { budget, pauses, rows: FIRST, most, last: None, has_locked_long: false }
    }

    /// True if it depends on whether other connections write.
    pub(super) fn heeds_others(&self) -> bool {
        matches!(self.pauses, Pauses::Always | Pauses::Short)
    }

    /// Takes in how long no other connection has written: the first write of another counts at once.
    pub(super) fn heed(&mut self, quiet: Duration) {
        let (budget, pauses) = match quiet >= QUIET {
            true => (QUIET_BUDGET, Pauses::Short),
            false => (BUSY_BUDGET, Pauses::Always),
        };
        if budget < self.budget {
            self.rows = ((self.rows as f64 * budget.as_secs_f64() / self.budget.as_secs_f64()) as usize).max(1);
        }
        (self.budget, self.pauses) = (budget, pauses);
    }

    /// About how long so many jobs take, if no other connection writes and if one always does; none where nothing pauses.
    pub(super) fn estimate(&self, jobs: u64) -> Option<(Duration, Duration)> {
        let at = |jobs_a_second: f64| Duration::from_secs_f64(jobs as f64 / jobs_a_second);
        self.heeds_others().then(|| (at(10_000.0), at(1_500.0)))
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes in what a batch cost, and whether it locked the rows of owners; no time at all means that it was not carried
    /// out.
    pub(super) fn learn(&mut self, rows: usize, cost: Cost, locks_owners: bool) {
        if cost.took.is_zero() {
            return;
        }
        self.has_locked_long = locks_owners && cost.took > self.budget;
        let (budget, count) = (self.budget.as_secs_f64(), rows as f64);
        let took = cost.busy.as_secs_f64().max(budget * cost.logged as f64 / MOST_LOGGED);
        let mut fixed = 0.0;
        // What a statement trigger or a distant server adds to every batch is no reason for smaller ones. Two sizes
        // that differ little show only noise.
        if let Some((before, time)) = self.last.replace((count, took))
            && took > budget
            && (count >= 2.0 * before || before >= 2.0 * count)
        {
            fixed = (took - count * (took - time) / (count - before)).clamp(0.0, took.min(time));
        }
        let room = if fixed < budget / 2.0 { budget - fixed } else { budget };
        let fitting = count * room / (took - fixed);
        // One quick batch proves little, and nothing where workers would wait for a slow one.
        let proven = if locks_owners || self.heeds_others() { 0.0 } else { fitting / 3.0 };
        let more = self.rows.saturating_mul(2).max(proven as usize);
        self.rows = (fitting as usize).min(more).clamp(1, self.most);
    }

    /// The pause before the next batch, of another length each time, so that it keeps step with no worker.
    pub(super) fn pause(&self) -> Duration {
        let pause = match self.pauses {
            Pauses::Always => PAUSE,
            Pauses::Short => SHORT_PAUSE,
            Pauses::AfterLongLocks if self.has_locked_long => PAUSE,
            Pauses::AfterLongLocks | Pauses::Never => return Duration::ZERO,
        };
        pause.start + (pause.end - pause.start).mul_f64(chance())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[derive(Default)]
    struct Heard(RefCell<Vec<String>>);

    impl Progress for Heard {
        fn begin(&self, work: Work) {
            self.0.borrow_mut().push(format!("{work:?}"));
        }
        fn reached(&self, done: u64, moved: u64) {
            self.0.borrow_mut().push(format!("{done} {moved}"));
        }
        fn end(&self) {
            self.0.borrow_mut().push("end".to_owned());
        }
    }

    #[test]
    fn counts_are_sums_and_an_end_always_comes() {
        let heard = Heard::default();
        {
            let under_way = UnderWay::begin(&heard, Work::Reading);
            (0..600).for_each(|_| under_way.one());
        }
        {
            let under_way = UnderWay::begin(&heard, Work::Applying(7, None));
            under_way.batch(5, 4);
            under_way.batch(2, 2);
        }
        assert_eq!(
            heard.0.into_inner(),
            ["Reading", "256 0", "512 0", "end", "Applying(7, None)", "5 4", "7 6", "end"]
        );
    }

    fn of(took: Duration) -> Cost {
        Cost { took, busy: took, logged: 0 }
    }

    /// The way to the server is no reason for smaller batches, and what it logs is one.
    #[test]
    fn a_batch_is_sized_by_what_the_server_does() {
        let cost = |rows: usize, bytes| Cost {
            took: Duration::from_millis(90),
            busy: Duration::from_micros(20) * rows as u32,
            logged: bytes * rows as u64,
        };
        for (bytes, expected) in [(500, MOST..=MOST), (8_192, 200..=256)] {
            let mut pace = Pace::new(Engine::Postgres, false);
            (0..12).for_each(|_| pace.learn(pace.rows(), cost(pace.rows(), bytes), false));
            assert!(expected.contains(&pace.rows()), "{bytes}: {pace:?}");
        }
    }

    /// The rows of the batches of a run in which a row takes that long, and each batch a millisecond more.
    fn batches(pace: &mut Pace, row: Duration) -> Vec<usize> {
        let mut batches = Vec::new();
        for _ in 0..12 {
            let rows = pace.rows();
            pace.learn(rows, of(Duration::from_millis(1) + row * rows as u32), false);
            batches.push(rows);
        }
        batches
    }

    #[test]
    fn a_batch_stays_within_its_budget() {
        for (engine, fast, row) in [
            (Engine::Sqlite, false, 30),
            (Engine::Sqlite, false, 900),
            (Engine::Sqlite, true, 30),
            (Engine::Postgres, false, 20),
        ] {
            let row = Duration::from_micros(row);
            let mut pace = Pace::new(engine, fast);
            let batches = batches(&mut pace, row);
            let rows = batches.last().copied().unwrap_or_default();
            let last = row * rows as u32;
            let is_full = rows == pace.most || last * 2 >= pace.budget;
            assert!(last <= pace.budget && is_full, "{batches:?}: {last:?} of {:?}", pace.budget);
        }
    }

    #[test]
    fn no_batch_but_the_first_exceeds_its_budget_by_more_than_a_row() {
        for (engine, fast) in [Engine::Sqlite, Engine::Postgres].into_iter().flat_map(|e| [(e, false), (e, true)]) {
            for row in [10, 30, 100, 700, 5_000, 20_000, 50_000, 200_000, 1_000_000].map(Duration::from_micros) {
                let mut pace = Pace::new(engine, fast);
                let batches = batches(&mut pace, row);
                assert_eq!(batches[0], FIRST);
                assert!(
                    batches[1..].iter().all(|rows| row * (*rows as u32) <= pace.budget.max(row)),
                    "{row:?}: {batches:?}"
                );
                let fits = (pace.budget.as_secs_f64() / row.as_secs_f64()) as usize;
                let is_slow = |pair: &[usize]| pair[1] <= (2 * pair[0]).max(fits / 3 + 1);
                assert!(batches.windows(2).all(is_slow), "{batches:?}");
            }
        }
        let mut postgres = Pace::new(Engine::Postgres, false);
        let quick = batches(&mut postgres, Duration::from_micros(10));
        assert!(quick[6] >= 1_000, "{quick:?}");
        let mut slow_statement = Pace::new(Engine::Postgres, false);
        let mut largest = 0;
        for _ in 0..12 {
            let rows = slow_statement.rows();
            slow_statement.learn(rows, of(Duration::from_millis(500) + Duration::from_micros(10) * rows as u32), false);
            largest = largest.max(rows);
        }
        assert_eq!(largest, MOST, "half a second a batch, whatever its rows: {slow_statement:?}");
        // Nothing was carried out, so nothing is learnt.
        let rows = postgres.rows();
        postgres.learn(1, of(Duration::ZERO), false);
        assert_eq!(postgres.rows(), rows);
    }

    /// The mutants: a pace that never looks, and one that keeps its large batches for one more.
    #[test]
    fn the_first_write_of_another_brings_short_batches_back() {
        let mut pace = Pace::new(Engine::Sqlite, false);
        let row = Duration::from_micros(50);
        pace.heed(QUIET);
        let quiet = batches(&mut pace, row).last().copied().unwrap_or_default();
        assert!(row * quiet as u32 > 4 * BUSY_BUDGET, "{quiet} rows");
        assert!((0..100).all(|_| SHORT_PAUSE.contains(&pace.pause())));
        pace.heed(QUIET - Duration::from_millis(1));
        assert!(row * pace.rows() as u32 <= BUSY_BUDGET, "{pace:?}");
        assert!((0..100).all(|_| PAUSE.contains(&pace.pause())));
        assert!(!Pace::new(Engine::Sqlite, true).heeds_others() && !Pace::new(Engine::Postgres, false).heeds_others());
    }

    #[test]
    fn workers_get_their_turn() {
        let careful = Pace::new(Engine::Sqlite, false);
        assert!((0..100).all(|_| PAUSE.contains(&careful.pause())));
        let pauses: std::collections::BTreeSet<Duration> = (0..100).map(|_| careful.pause()).collect();
        assert!(pauses.len() > 5, "{pauses:?}");
        for engine in [Engine::Sqlite, Engine::Postgres] {
            let mut fast = Pace::new(engine, true);
            fast.learn(100, of(Duration::from_secs(1)), true);
            assert_eq!(fast.pause(), Duration::ZERO);
        }
        let mut postgres = Pace::new(Engine::Postgres, false);
        assert_eq!(postgres.pause(), Duration::ZERO);
        postgres.learn(100, of(Duration::from_millis(51)), false);
        assert_eq!(postgres.pause(), Duration::ZERO, "only a worker that wants one of these jobs waits");
        postgres.learn(100, of(Duration::from_millis(51)), true);
        assert!(PAUSE.contains(&postgres.pause()));
    }
}
