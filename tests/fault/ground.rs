//! A queue that faults befall, and what must hold of it after each of them: nobody else's job was touched; a batch is there as a
//! whole or not at all, its rows in the ledger included, and each job is counted once; of what is there the journal knows; and
//! the next run comes to the very state that one run comes to which nothing befell.

use crate::readme::statements::{Database, Row};
use crate::support::cli::Ran;
use crate::support::shop::Shop;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The dead jobs, by the batch that moves them: a batch holds one kind of action. Only the first has several on any machine: how
/// many the next ones have depends on how long it took.
pub(crate) const BATCHES: [&[i64]; 3] = [&[1, 2, 3], &[4], &[6]];

/// 1 to 3 go back to the queue, 4 is out of attempts, 6 was asked to be cancelled. The owners of 11 and 12 live, and nobody
/// holds the others.
const JOBS: &str = "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at,
        lease_expires_at, attempts, max_attempts, stalls, cancel_requested_at, run_at, created_at)
    VALUES (1, 'mail', 'Send', 'RUNNING', 'web1:1', 'a', {ago 8000}, {ago 7900}, {ago 7800}, 0, 5, 0, NULL, {ago 9000}, {ago 9000}),
        (2, 'mail', 'Send', 'CLAIMED', 'web1:2', '', {ago 8000}, NULL, {ago 7700}, 1, NULL, 2, NULL, {ago 9000}, {ago 9000}),
        (3, 'media', 'Resize', 'RUNNING', NULL, NULL, {ago 8000}, {ago 7900}, NULL, 3, 5, 0, NULL, {ago 9000}, {ago 9000}),
        (4, 'mail', 'Send', 'RUNNING', 'web2:1', 'd', {ago 8000}, {ago 7900}, {ago 7500}, 9, 5, 7, NULL, {ago 9000}, {ago 9000}),
        (6, 'mail', 'Send', 'RUNNING', 'web2:2', 'f', {ago 8000}, {ago 7900}, {ago 7300}, 0, 5, 0, {ago 7950}, {ago 9000}, {ago 9000}),
        (11, 'mail', 'Send', 'RUNNING', 'web3:1', 'k', {ago 8000}, {ago 5}, {ago -7000}, 0, 5, 0, NULL, {ago 9000}, {ago 9000}),
        (12, 'mail', 'Send', 'CLAIMED', 'web1:1', 'l', {ago 8000}, {ago 7900}, {ago -7000}, 4, 5, 0, NULL, {ago 9000}, {ago 9000}),
        (13, 'mail', 'Send', 'QUEUED', NULL, NULL, NULL, NULL, NULL, 1, 5, 1, NULL, {ago 9000}, {ago 9000}),
        (14, 'mail', 'Send', 'SUCCEEDED', NULL, NULL, {ago 8000}, {ago 7900}, NULL, 0, 5, 0, NULL, {ago 9000}, {ago 9000}),
        (15, 'mail', 'Send', 'FAILED', 'web1:1', 'o', {ago 8000}, {ago 7900}, {ago 7800}, 5, 5, 0, NULL, {ago 9000}, {ago 9000})";

/// The same jobs as they were, in a table that is no queue.
pub(super) const BEFORE: &str = "before_the_fault";

/// What a run that nobody waits for does.
pub(crate) const SWEEP: [&str; 3] = ["sweep", "--apply", "--json"];

/// One job, compared with how it was.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    /// True if no value of it is another one.
    is_as_before: bool,
    /// Its values. Of a time only: as before, now, none or another.
    values: String,
    /// What the ledger says of it, but for which run it was and when.
    ledger: Vec<String>,
}

pub(crate) struct Ground {
    pub(crate) shop: Shop,
    batches: &'static [&'static [i64]],
    columns: Vec<String>,
    /// How it is once all is done.
    done: BTreeMap<i64, Seen>,
}

impl Ground {
    /// With so many of the batches. A run that nothing befalls shows what all others must come to.
    pub(crate) fn of(shop: Shop, batches: usize) -> Ground {
        shop.run(&["init"]).exits(0);
        shop.run(&["init", "--ledger"]).exits(0);
        shop.sql(JOBS);
        for id in BATCHES.iter().skip(batches).flat_map(|batch| batch.iter()) {
            shop.sql(&format!("DELETE FROM jobs WHERE id = {id}"));
        }
        shop.sql(&format!("CREATE TABLE {BEFORE} AS SELECT * FROM jobs"));
        let columns = shop.rows(if shop.is_postgres() {
            "SELECT attname FROM pg_attribute WHERE attrelid = 'jobs'::regclass AND attnum > 0 ORDER BY attnum"
        } else {
            "SELECT name FROM pragma_table_info('jobs')"
        });
        let mut ground = Ground { shop, batches: &BATCHES[..batches], columns, done: BTreeMap::new() };
        ground.shop.run(&SWEEP).exits(0);
        ground.done = ground.seen(&mut ground.shop.connect());
        let dead = ground.dead();
        for (id, seen) in &ground.done {
            assert_eq!(
                (seen.is_as_before, seen.ledger.len()),
                (!dead.contains(id), usize::from(dead.contains(id))),
                "{id}"
            );
        }
        ground.again();
        ground
    }

    pub(crate) fn dead(&self) -> BTreeSet<i64> {
        self.batches.iter().flat_map(|batch| batch.iter().copied()).collect()
    }

    pub(crate) fn again(&self) {
        self.shop
            .sql(&format!("DELETE FROM jobs; INSERT INTO jobs SELECT * FROM {BEFORE}; DELETE FROM jobdoctor_ledger"));
        let state = self.shop.doctor.home(".local");
        if state.exists() {
            fs::remove_dir_all(state).expect("remove the journals");
        }
    }

    /// Which of the batches are done, as the database says; or what must not be.
    pub(crate) fn standing(&self, database: &mut Database) -> Result<Vec<bool>, String> {
        let seen = self.seen(database);
        if !seen.keys().eq(self.done.keys()) {
            return Err(format!("jobs came or went: {:?}", seen.keys()));
        }
        let dead = self.dead();
        for (id, seen) in seen.iter().filter(|(id, _)| !dead.contains(id)) {
            if !seen.is_as_before || !seen.ledger.is_empty() {
                return Err(format!("job {id} was touched: {seen:#?}"));
            }
        }
        let is_done = |batch: &&[i64]| {
            let jobs: Vec<(&Seen, &Seen)> = batch.iter().map(|id| (&seen[id], &self.done[id])).collect();
            if jobs.iter().all(|(seen, _)| seen.is_as_before && seen.ledger.is_empty()) {
                Ok(false)
            } else if jobs.iter().all(|(seen, done)| seen == done) {
                Ok(true)
            } else {
                Err(format!("the batch {batch:?} is neither done nor not done: {jobs:#?}"))
            }
        };
        self.batches.iter().map(is_done).collect()
    }

    pub(crate) fn moved(&self, standing: &[bool]) -> BTreeSet<i64> {
        let done = self.batches.iter().zip(standing).filter(|(_, is_done)| **is_done);
        done.flat_map(|(batch, _)| batch.iter().copied()).collect()
    }

    /// Of whatever was moved, a journal knows: it says so ahead of the commit.
    pub(crate) fn is_journalled(&self, standing: &[bool]) -> Result<(), String> {
        let mut intended = BTreeSet::new();
        let directory = self.shop.doctor.home(".local/state/jobdoctor/journal");
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let text = fs::read(entry.expect("a journal").path()).expect("read a journal");
            // The last line may be torn.
            for line in String::from_utf8_lossy(&text).lines().filter_map(|line| serde_json::from_str(line).ok()) {
                let line: Value = line;
                let changes = line["steps"].as_array().filter(|_| line["type"] == "intent").into_iter().flatten();
                intended
                    .extend(changes.map(|job| job["id"].as_str().expect("an id").parse::<i64>().expect("a number")));
            }
        }
        let missing: Vec<i64> = self.moved(standing).difference(&intended).copied().collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("no journal knows of {missing:?}")) }
    }

    /// The next run ends well, and leaves what one run leaves which nothing befell.
    #[track_caller]
    pub(crate) fn converges(&self) -> Ran {
        let ran = self.shop.run(&SWEEP).exits(0);
        let standing = self.standing(&mut self.shop.connect());
        assert_eq!(standing, Ok(vec![true; self.batches.len()]), "after the second run");
        ran
    }

    /// What a document says was moved, is what was moved; what it says was not, was not.
    #[track_caller]
    pub(crate) fn is_honest(&self, document: &Value, standing: &[bool]) {
        let moved = self.moved(standing);
        let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
        for step in document["steps"].as_array().expect("the steps") {
            let (id, outcome) = (step["id"].as_str().expect("an id"), step["outcome"].as_str().expect("an outcome"));
            let is_moved = moved.contains(&id.parse().expect("a number"));
            *outcomes.entry(outcome).or_default() += 1;
            assert!(outcome == "unknown" || is_moved == (outcome == "moved"), "{id} is {is_moved}: {document:#}");
        }
        for (outcome, count) in document["summary"]["outcomes"].as_object().expect("the outcomes") {
            assert_eq!(count.as_u64(), Some(outcomes.get(outcome.as_str()).copied().unwrap_or(0)), "{outcome}");
        }
    }

    fn seen(&self, database: &mut Database) -> BTreeMap<i64, Seen> {
        let now = |column: &str| match self.shop.is_postgres() {
            true => format!("abs(extract(epoch FROM j.{column} - now())) < 900"),
            false => format!("abs(j.{column} - unixepoch()) < 900"),
        };
        let value = |column: &String| match column.ends_with("_at") {
            true => format!(
                "CASE WHEN j.{column} IS NULL THEN 'none' WHEN j.{column} = b.{column} THEN 'as before'
                 WHEN {} THEN 'now' ELSE 'another time' END",
                now(column)
            ),
            false => format!("CAST(j.{column} AS text)"),
        };
        let same: Vec<String> = self.columns.iter().map(|c| format!("j.{c} IS NOT DISTINCT FROM b.{c}")).collect();
        let values: Vec<String> = self.columns.iter().map(value).collect();
        let sql = format!(
            "SELECT CASE WHEN {} THEN 1 ELSE 0 END, {} FROM jobs AS j LEFT JOIN {BEFORE} AS b ON b.id = j.id",
            same.join(" AND "),
            values.join(", ")
        );
        let mut all = BTreeMap::new();
        for row in database(&sql) {
            let named = self.columns.iter().zip(&row[1..]);
            let values: Vec<String> =
                named.map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or("NULL"))).collect();
            let id = text(&row, 1).parse().expect("a number");
            let values = without_run(&values.join(" "));
            all.insert(id, Seen { is_as_before: text(&row, 0) == "1", values, ledger: Vec::new() });
        }
        let ledger = "SELECT id, command, action, state, state_after, attempts, attempts_after, rules
            FROM jobdoctor_ledger";
        for row in database(ledger) {
            let id = text(&row, 0).parse().expect("a number");
            let said: Vec<&str> = (1..row.len()).map(|n| text(&row, n)).collect();
            let seen: &mut Seen = all.get_mut(&id).expect("the ledger is about jobs that are there");
            seen.ledger.push(said.join(" "));
        }
        all
    }
}

fn text(row: &Row, n: usize) -> &str {
    row[n].as_deref().unwrap_or("NULL")
}

/// The reason on the row names the run, which is another one each time.
fn without_run(text: &str) -> String {
    let mut parts = text.split("(run ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "(run" + part.split_once(')').map_or("", |(_, rest)| rest))
}
