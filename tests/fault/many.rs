//! A queue with so many dead jobs that a run takes several batches, so that a fault befalls it in the middle; and what must hold
//! afterwards: each batch is there as a whole or not at all, its rows in the ledger included; each death is counted once; nobody
//! else's job was touched; what the run has said is what the database holds; and the next run comes to the very state that one
//! run comes to which nothing befell.

use crate::support::cli::{Ran, Running, until};
use crate::support::shop::Shop;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Those who are out of attempts, and those who were asked to be cancelled: a batch each.
const OTHERS: u32 = 20;

const LIVING: u32 = 40;

/// The same jobs as they were, in a table that is no queue.
const BEFORE: &str = "before_the_fault";

/// A run of the kind that is struck.
pub(crate) const RECLAIM: [&str; 6] = ["reclaim", "--apply", "--max-jobs", "9999999", "-o", "json"];

/// What became of a kind of jobs: how many are in each state, told by all their values.
type Told = BTreeMap<String, BTreeMap<String, u64>>;

pub(crate) struct Many {
    pub(crate) shop: Shop,
    dead: u32,
    columns: Vec<String>,
    before: Told,
    done: Told,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) moved: u64,
    pub(crate) of: u64,
}

impl Standing {
    /// Some are, and some are not.
    pub(crate) fn is_in_the_middle(self) -> bool {
        self.moved > 0 && self.moved < self.of
    }
}

impl Many {
    /// With so many jobs to be given back, in a queue that does not exist yet. A run that nothing befalls shows what all others
    /// must come to.
    pub(crate) fn on(shop: Shop, dead: u32) -> Many {
        shop.run(&["init"]).exits(0);
        Many::in_queue(shop, dead)
    }

    pub(crate) fn in_queue(shop: Shop, dead: u32) -> Many {
        shop.run(&["init", "--ledger"]).exits(0);
        shop.has_been_up_for_days();
        let (failed, cancelled, living) = (dead + OTHERS, dead + 2 * OTHERS, dead + 2 * OTHERS + LIVING);
        shop.in_flight(1, cancelled, "'lost' || (n % 7) || ':1'", 600);
        shop.in_flight(cancelled + 1, living, "'web1:1'", 5);
        shop.sql(&format!(
            "UPDATE jobs SET lease_expires_at = {{ago -7200}} WHERE id > {cancelled};
             UPDATE jobs SET attempts = 4 WHERE id > {dead} AND id <= {failed};
             UPDATE jobs SET cancel_requested_at = {{ago 500}} WHERE id > {failed} AND id <= {cancelled};
             INSERT INTO jobs (id, queue, kind, status) VALUES ({}, 'mail', 'Send', 'QUEUED'), ({}, 'mail', 'Send', 'SUCCEEDED');
             UPDATE jobs SET run_at = {{ago 9000}}, created_at = {{ago 9000}};
             CREATE TABLE {BEFORE} AS SELECT * FROM jobs;
             CREATE UNIQUE INDEX {BEFORE}_id ON {BEFORE} (id)",
            living + 1,
            living + 2,
        ));
        let columns = shop.rows(if shop.is_postgres() {
            "SELECT attname FROM pg_attribute WHERE attrelid = 'jobs'::regclass AND attnum > 0 ORDER BY attnum"
        } else {
            "SELECT name FROM pragma_table_info('jobs')"
        });
        let mut many = Many { shop, dead, columns, before: Told::new(), done: Told::new() };
        many.before = many.told();
        many.shop.run(&RECLAIM).exits(0);
        many.done = many.told();
        for kind in ["requeue", "fail", "cancel"] {
            let one = |told: &Told| told[kind].len() == 1;
            assert!(one(&many.before) && one(&many.done), "{kind}: {:#?} {:#?}", many.before, many.done);
            assert_ne!(many.before[kind], many.done[kind], "{kind}");
        }
        assert_eq!(many.before["other"], many.done["other"]);
        many.again();
        many
    }

    /// Has everything be as it was, but for those who live: their worker may be at work.
    pub(crate) fn again(&self) {
        let dead = "owner_id LIKE 'lost%'";
        self.shop.sql(&format!(
            "DELETE FROM jobs WHERE id IN (SELECT id FROM {BEFORE} WHERE {dead});
             INSERT INTO jobs SELECT * FROM {BEFORE} WHERE {dead};
             DELETE FROM jobdoctor_ledger"
        ));
        // Nobody else does on the tests' server, and a thousand kills later every snapshot would wade through dead rows.
        if self.shop.is_postgres() {
            self.shop.sql(&format!("VACUUM ANALYZE jobs, {BEFORE}, jobdoctor_ledger"));
        }
        let _ = std::fs::remove_dir_all(self.shop.doctor.home(".local"));
    }

    pub(crate) fn living(&self) -> RangeInclusive<u32> {
        self.dead + 2 * OTHERS + 1..=self.dead + 2 * OTHERS + LIVING
    }

    /// How far a run has come that something befell; `Err` says what must not be.
    pub(crate) fn standing(&self) -> Result<Standing, String> {
        let told = self.told();
        let mut moved = 0;
        let mut of = 0;
        for (kind, states) in &told {
            let (before, done) = (&self.before[kind], &self.done[kind]);
            if kind == "other" {
                if states != before {
                    return Err(format!("somebody else's job was touched: {states:#?} was {before:#?}"));
                }
                continue;
            }
            let known: BTreeSet<&String> = before.keys().chain(done.keys()).collect();
            if let Some(odd) = states.keys().find(|state| !known.contains(state)) {
                return Err(format!("{kind}: neither as it was nor as it should be: {odd}; known: {known:#?}"));
            }
            let all: u64 = states.values().sum();
            if before.values().sum::<u64>() != all {
                return Err(format!("{kind}: {all} jobs are left of {before:?}"));
            }
            let here: u64 = done.keys().filter_map(|state| states.get(state)).sum();
            moved += here;
            of += all;
        }
        let ledger = "SELECT count(*), count(DISTINCT id) FROM jobdoctor_ledger";
        let unlike = format!(
            "SELECT count(*) FROM jobs j JOIN {BEFORE} b ON b.id = j.id
             WHERE (j.stalls <> b.stalls OR j.status <> b.status) <> (CAST(j.id AS text) IN (SELECT id FROM jobdoctor_ledger))"
        );
        let (ledger, unlike) = (self.shop.rows(ledger), self.shop.rows(&unlike));
        if ledger != [format!("{moved} {moved}")] || unlike != ["0"] {
            return Err(format!(
                "{moved} were moved; the ledger has {ledger:?}, and of {unlike:?} jobs it knows otherwise"
            ));
        }
        self.no_batch_is_torn()?;
        Ok(Standing { moved, of })
    }

    /// Of what the journal was told of a batch, all is done or nothing.
    fn no_batch_is_torn(&self) -> Result<(), String> {
        let moved: BTreeSet<String> = self.shop.rows("SELECT id FROM jobdoctor_ledger").into_iter().collect();
        let journals = std::fs::read_dir(self.shop.doctor.home(".local/state/jobdoctor/journal"));
        for journal in journals.into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(journal.path()).unwrap_or_default();
            let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            for batch in lines.filter(|line| line["type"] == "intent") {
                let ids = batch["steps"].as_array().expect("steps").iter();
                let is_moved = |change: &&Value| moved.contains(change["id"].as_str().unwrap_or_default());
                let (done, of) = (ids.clone().filter(is_moved).count(), ids.len());
                if done > 0 && done < of {
                    return Err(format!("{done} of the {of} jobs of a batch were moved"));
                }
            }
        }
        Ok(())
    }

    /// The next run finishes it: all is as after one run that nothing befell.
    #[track_caller]
    pub(crate) fn converges(&self) {
        self.shop.run(&RECLAIM).exits(0);
        self.is_done();
    }

    /// Each dead job was moved once, and all is as after one run.
    #[track_caller]
    pub(crate) fn is_done(&self) {
        let standing = self.standing().unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(standing.moved, standing.of);
        assert_eq!(self.told(), self.done);
        if !self.shop.is_postgres() {
            assert_eq!(self.shop.rows("PRAGMA integrity_check"), ["ok"]);
        }
    }

    /// What a run has said of itself is no more than what the database holds, and no less.
    #[track_caller]
    pub(crate) fn is_honest(&self, ran: &Ran, standing: Standing) {
        if ran.stdout.is_empty() {
            assert_eq!(standing.moved, 0, "it says nothing of it: {ran:#?}");
            return;
        }
        let outcomes = ran.json()["summary"]["outcomes"].clone();
        let [moved, unknown] = ["moved", "unknown"].map(|name| outcomes[name].as_u64().expect("a number"));
        assert!((moved..=moved + unknown).contains(&standing.moved), "{standing:?}: {outcomes}, {}", ran.stderr);
        let all: u64 = outcomes.as_object().expect("outcomes").values().filter_map(Value::as_u64).sum();
        assert_eq!(all, standing.of, "{outcomes}");
    }

    fn has_begun(&self) -> bool {
        self.shop.rows("SELECT CASE WHEN EXISTS (SELECT 1 FROM jobdoctor_ledger) THEN 1 ELSE 0 END") == ["1"]
    }

    /// Waits until a run has committed a batch; false if it ends before.
    pub(crate) fn begins(&self, running: &mut Running) -> bool {
        let mut ended = false;
        until("it has begun or ended", || {
            ended = running.has_ended();
            ended || self.has_begun()
        });
        !ended
    }

    /// On Postgres, waits until the server has noticed that the run is over: nothing of it is open any more.
    pub(crate) fn is_over(&self) {
        if self.shop.is_postgres() {
            let left = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'jobdoctor/%'
                AND datname = current_database() AND state <> 'idle'";
            until("the server has noticed", || self.shop.rows(left) == ["0"]);
        }
    }

    /// The same where the server cannot notice, because nobody tells it that the other end is gone: what is left has written and
    /// locked nothing.
    pub(crate) fn holds_nothing(&self) {
        let left = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'jobdoctor/%'
            AND datname = current_database() AND (backend_xid IS NOT NULL
            OR state = 'active' AND wait_event IS DISTINCT FROM 'ClientRead')";
        until("the server has given up what was begun", || self.shop.rows(left) == ["0"]);
    }

    /// Every job by its kind and all its values: of a time whether it is as before, now, none or another; of an owner who lives
    /// nothing that its worker may change by itself.
    fn told(&self) -> Told {
        let since = if self.shop.is_postgres() { "now() - interval '30 min'" } else { "unixepoch() - 1800" };
        let word = |column: &String| match column.as_str() {
            "id" => "''".to_owned(),
            "owner_id" => {
                "CASE WHEN j.owner_id = b.owner_id THEN 'its owner' ELSE coalesce(j.owner_id, '-') END".to_owned()
            }
            // The reason on the row names the run, which is another one each time.
            "error_detail" => "coalesce(substr(j.error_detail, 1, 12), '-')".to_owned(),
            "heartbeat_at" | "lease_expires_at" => {
                format!(
                    "CASE WHEN b.owner_id = 'web1:1' AND j.{column} IS NOT NULL THEN 'alive' ELSE {} END",
                    time(column, since)
                )
            }
            name if name.ends_with("_at") => time(name, since),
            _ => format!("coalesce(CAST(j.{column} AS text), '-')"),
        };
        let words: Vec<String> = self.columns.iter().map(word).collect();
        let dead = self.dead;
        let sql = format!(
            "SELECT kind, words, count(*) FROM (
                SELECT CASE WHEN j.id <= {dead} THEN 'requeue' WHEN j.id <= {} THEN 'fail' WHEN j.id <= {} THEN 'cancel'
                    ELSE 'other' END AS kind, {} AS words
                FROM jobs j LEFT JOIN {BEFORE} b ON b.id = j.id) AS told GROUP BY kind, words",
            dead + OTHERS,
            dead + 2 * OTHERS,
            words.join(" || '|' || "),
        );
        let mut told = Told::new();
        for row in self.shop.connect()(&sql) {
            let [kind, words, count] =
                <[_; 3]>::try_from(row).expect("three columns").map(|cell| cell.unwrap_or_default());
            told.entry(kind).or_default().insert(words, count.parse().expect("a number"));
        }
        told
    }
}

fn time(column: &str, since: &str) -> String {
    format!(
        "CASE WHEN j.{column} IS NULL THEN '-' WHEN j.{column} = b.{column} THEN 'as before' WHEN j.{column} > {since} THEN 'now'
         ELSE 'another' END"
    )
}

mod mutants {
    use super::{BEFORE, Many};
    use crate::support::figures;
    use crate::support::shop::Shop;

    #[test]
    fn whatever_must_not_be_is_seen() {
        for shop in [Shop::on_sqlite(), Shop::on_postgres()] {
            let many = Many::on(shop, 600);
            let back = format!("DELETE FROM jobs WHERE id = 1; INSERT INTO jobs SELECT * FROM {BEFORE} WHERE id = 1");
            let broken = [
                ("half a batch", format!("{back}; DELETE FROM jobdoctor_ledger WHERE id = '1'")),
                ("moved and not told", "DELETE FROM jobdoctor_ledger WHERE id = '2'".to_owned()),
                ("told and not moved", back),
                ("counted twice", "UPDATE jobs SET attempts = attempts + 1 WHERE id = 3".to_owned()),
                ("moved in part", "UPDATE jobs SET lease_token = 'token' WHERE id = 4".to_owned()),
                ("another action", "UPDATE jobs SET status = 'QUEUED' WHERE id = 610".to_owned()),
                ("a living job", "UPDATE jobs SET owner_id = NULL WHERE id = 650".to_owned()),
                ("one that is done", "UPDATE jobs SET attempts = 1 WHERE status = 'SUCCEEDED'".to_owned()),
                ("one is gone", "DELETE FROM jobs WHERE id = 5".to_owned()),
            ];
            let count = broken.len();
            for (what, sql) in broken {
                many.converges();
                many.shop.sql(&sql);
                assert!(many.standing().is_err(), "not seen: {what}");
                many.shop.sql(&format!("DELETE FROM jobs; INSERT INTO jobs SELECT * FROM {BEFORE}"));
                many.again();
            }
            assert_eq!(many.standing().map(|standing| standing.moved), Ok(0));
            figures::add(count as u64, "mutants caught");
        }
    }
}
