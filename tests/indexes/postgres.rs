//! Postgres writes the plan of every statement to its log, by its module `auto_explain`: what is examined is what jobdoctor has
//! really sent, with its parameters and its settings.

use super::fill::{fill, session};
use super::{OWN, ReadsAll, SIMPLE, differences, named, place, unknown};
use crate::queues::tables::{Tables, by_age, tables};
use crate::support::dice::one_in;
use crate::support::doctor::{CATALOG, limits, unguarded};
use crate::support::postgres::{Cluster, TestDatabase};
use jobdoctor::model::{Action, Cell, Engine, Key};
use jobdoctor::ops::{self, Selection, Session, Snapshot};
use jobdoctor::output::{CheckFinding, Severity};
use jobdoctor::policy::{Policy, Restart, RestartScope};
use jobdoctor::preset::{Finished, Place};
use jobdoctor::store::{
    Address, Cutoffs, Detail, Limits, PostgresDialect, Store, Surroundings, Wanted, WantedRuns, open, reference_schema,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

const KNOWN: &[ReadsAll] = &[
    ReadsAll { queues: &[], statement: "count by state", why: "it counts every row; only `stats` sends it" },
    ReadsAll {
        queues: &[],
        statement: "states in use",
        why: "it hops from state to state, and reads everything at each hop unless an index begins with the state; sent by `check`, \
              by listings while no claim is in flight, and by a detection only where it is cheap",
    },
    ReadsAll {
        queues: &["lease", "apalis", "oban", "pg-boss", "chancy", "django-tasks"],
        statement: "finished",
        why: "no index on the end of a run, for Oban in Elixir; the newest runs have a time limit of their own",
    },
    ReadsAll {
        queues: &["good-job"],
        statement: "finished last",
        why: "it goes backwards through the index on finished_at and ends at its LIMIT",
    },
    ReadsAll {
        queues: &["django-q", "goqite", "pgmq"],
        statement: "",
        why: "no index tells a claim: the payload says it, or a time that every row has; the library deletes what was handled",
    },
    ReadsAll {
        queues: &["n8n"],
        statement: "check waits_for_long",
        why: "no index begins with the status; only `check` asks it",
    },
    ReadsAll {
        queues: &["graphile-worker"],
        statement: "check queue_without_job",
        why: "the library has no index on job_queue_id; only `check` asks it",
    },
];

/// From this many rows on, reading a table or an index from end to end is what an index should spare.
const MANY: f32 = 5_000.0;
/// Jobs that no worker holds.
const OTHERS: u32 = 20_000;
/// What stands before a statement that is explained.
const EXPLAIN: &str = "EXPLAIN ";
const NAME: &str = "jobdoctor indexes";

#[test]
fn where_check_finds_an_index_no_statement_reads_the_whole_table() {
    let cluster = logging();
    let own = |queue: &str, sql: String| Tables { queue: queue.to_owned(), version: OWN.to_owned(), sql };
    let lease = reference_schema(Engine::Postgres, &Place::default()).join(";\n");
    let (mut stages, mut older) = by_age();
    // Another library than the one in Python, which is the last.
    stages.extend(older.extract_if(.., |tables| tables.version == "elixir-v14"));
    stages.extend(one_in(6, older));
    stages.extend([own("lease", lease), own("simple", SIMPLE.to_owned())]);
    let mut found = tried(cluster, &stages, OTHERS);
    found.wrong.extend(differences(KNOWN, &found.reading));
    assert!(found.wrong.is_empty(), "\n{}", found.wrong.join("\n"));
}

/// The same of two million rows in each queue's newest tables. Of so many an index may be worth its while after all.
pub fn of_millions() {
    let mut found = tried(logging(), &by_age().0, 2_000_000);
    found.wrong.extend(unknown(KNOWN, &found.reading));
    assert!(found.wrong.is_empty(), "\n{}", found.wrong.join("\n"));
}

fn tried(cluster: &Cluster, stages: &[Tables], others: u32) -> Found {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Found::default()));
    let work = || {
        while let Some(tables) = stages.get(next.fetch_add(1, Ordering::SeqCst)) {
            let tried = std::panic::catch_unwind(AssertUnwindSafe(|| Stage::new(cluster, tables, others).tried()));
            let tried = tried.unwrap_or_else(|panic| Found {
                wrong: vec![panic.downcast_ref::<String>().cloned().unwrap_or_default()],
                ..Found::default()
            });
            let mut found = found.lock().unwrap();
            found.reading.extend(tried.reading);
            found.wrong.extend(tried.wrong.iter().map(|line| format!("{} {}: {line}", tables.queue, tables.version)));
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    found.into_inner().unwrap()
}

#[derive(Default)]
struct Found {
    wrong: Vec<String>,
    /// The statements that read a whole table although check finds an index, each with its queue.
    reading: Vec<(String, String)>,
}

#[test]
fn without_its_index_the_listing_reads_the_whole_table() {
    let cluster = logging();
    let tables = tables("river", "v7");
    let stage = Stage::new(cluster, &tables, OTHERS);
    let drop = "DROP INDEX river_job_prioritized_fetching_index, river_job_state_and_finalized_at_index";
    stage.database.client().batch_execute(drop).unwrap();
    assert_eq!(stage.finding().severity, Severity::Warning);
    let read = stage.reading_all();
    for statement in ["suspects", "all", "count", "count by owner"] {
        assert!(read.contains(statement), "{statement} reads no whole table without an index: {read:?}");
    }
}

/// A server that writes the plan of every statement to its log.
fn logging() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    const SETTINGS: [&str; 5] = [
        "session_preload_libraries=auto_explain",
        "auto_explain.log_min_duration=0",
        "auto_explain.log_format=json",
        "log_line_prefix=%d|%a|",
        "lc_messages=C",
    ];
    CLUSTER.get_or_init(|| Cluster::start(5432, &SETTINGS, |_| {}))
}

/// The filled tables of one version of a queue.
struct Stage<'a> {
    cluster: &'a Cluster,
    queue: &'a str,
    place: Place,
    database: TestDatabase,
    store: Box<dyn Store>,
    limits: Limits,
    /// Holds what a worker's session holds.
    _worker: postgres::Client,
}

struct Ran {
    sql: String,
    /// The large tables and indexes that it read from end to end.
    whole: BTreeSet<String>,
}

impl<'a> Stage<'a> {
    fn new(cluster: &'a Cluster, tables: &'a Tables, others: u32) -> Stage<'a> {
        let database = cluster.fresh();
        let rows = fill(&tables.queue, &tables.version, others);
        let mut client = database.client();
        let run = |client: &mut postgres::Client, sql: &str| {
            let done = client.batch_execute(sql);
            done.unwrap_or_else(|error| panic!("{} {}: {error:?}", tables.queue, tables.version));
        };
        run(&mut client, &format!("SET client_min_messages = warning; {}", tables.sql));
        run(&mut client, &format!("SET session_replication_role = replica; {rows}; ANALYZE"));
        let mut worker = database.client();
        run(&mut worker, session(&tables.queue));
        let store = open(&Address::parse(&database.url(), &Surroundings::default()).unwrap());
        let limits = Limits { application_name: NAME.to_owned(), ..limits() };
        Stage { cluster, queue: &tables.queue, place: place(tables), database, store, limits, _worker: worker }
    }

    fn snapshot(&self) -> Snapshot {
        let session =
            Session { preset: Some(self.queue), ..Session::of(&*self.store, &CATALOG, &self.place, &self.limits) };
        session.snapshot().unwrap_or_else(|error| panic!("{}: {error}", self.queue))
    }

    fn finding(&self) -> CheckFinding {
        let checked = ops::check(&mut self.snapshot(), &[], &[], false).unwrap();
        checked.document.findings.into_iter().find(|finding| finding.id == "index").unwrap()
    }

    /// Tries each statement with an index: the proposed one where the tables have none of their own.
    fn tried(&self) -> Found {
        let mut found = Found::default();
        let before = self.finding();
        if before.severity != Severity::Ok {
            if !self.reading_all().contains("count") {
                found.wrong.push(format!("the count reads no whole table; but check: {}", before.detail));
            }
            if let Some(fix) = before.fix {
                let mut client = self.database.client();
                if !fix.starts_with("CREATE INDEX CONCURRENTLY ") && !fix.contains(" ON ONLY ") {
                    found.wrong.push(format!("workers would wait for {fix}"));
                }
                fix.split("; ").for_each(|statement| client.batch_execute(statement).unwrap());
                let after = self.finding();
                if after.severity != Severity::Ok {
                    found.wrong.push(format!("check is not content with its own index: {}", after.detail));
                }
            }
        }
        let seen = self.logged();
        self.read();
        self.write();
        let names = self.names();
        let ran = self.ran_since(seen, &self.large(true));
        let never = names.iter().filter(|(_, sql)| !ran.iter().any(|ran| ran.sql == *sql));
        found.wrong.extend(never.map(|(name, _)| format!("{name} was never run")));
        for ran in ran.iter().filter(|ran| !ran.whole.is_empty()) {
            let name = names.iter().find(|(_, sql)| *sql == ran.sql).map(|(name, _)| name.clone());
            found.reading.push((self.queue.to_owned(), name.unwrap_or_else(|| ran.sql.clone())));
        }
        found
    }

    /// The names of the statements that read a large table from end to end.
    fn reading_all(&self) -> BTreeSet<String> {
        let seen = self.logged();
        self.read();
        let ran = self.ran_since(seen, &self.large(false));
        let is_read = |sql: &str| ran.iter().any(|ran| ran.sql == sql && !ran.whole.is_empty());
        self.names().into_iter().filter(|(_, sql)| is_read(sql)).map(|(name, _)| name).collect()
    }

    /// Reads as every command does, each statement once.
    fn read(&self) {
        let mut snapshot = self.snapshot();
        let now = snapshot.now();
        let (reader, spec) = (&mut snapshot.reader, &snapshot.jobs);
        let mut claims = 0;
        let suspects = Wanted::Suspects(Cutoffs::at(now, None));
        let scans = [
            (suspects, Detail::ForAction),
            (Wanted::All, Detail::ForListing),
            (Wanted::Before(now), Detail::ForAction),
        ];
        for (wanted, detail) in scans {
            reader.scan(spec, &wanted, detail, &mut |_| claims += 1).unwrap();
        }
        assert!(claims > 0, "{}: no claim is in flight", self.queue);
        reader.in_flight(spec).unwrap();
        reader.states_in_use(spec).unwrap();
        reader.count_by_owner(spec, &mut |_, _| {}).unwrap();
        reader.count_by_state(spec, true).unwrap();
        for check in &spec.queue.checks {
            reader.number(spec, &check.sql).unwrap();
        }
        if let Finished::Kept(runs) = &spec.finished {
            for wanted in [WantedRuns::Since(now), WantedRuns::Newest(1000, Duration::from_secs(30))] {
                reader.finished(spec, runs, &wanted, &mut |_| {}).unwrap();
            }
        }
    }

    /// Does each action on some of the claims.
    fn write(&self) {
        for action in Action::ALL {
            let mut snapshot = self.snapshot();
            if snapshot.jobs.actions.get(&action).is_none_or(|moved| moved.refused.is_some()) {
                continue;
            }
            // Hours ago they died: a threshold of one hour fits queues that have none of their own too.
            let mut policy = Policy { older: Some(Duration::from_secs(3600)), to: Some(action), ..Policy::default() };
            // A message of pgmq that a reader holds comes back by itself: only a restart sweep requeues it.
            if snapshot.jobs.liveness.is_empty() || (self.queue, action) == ("pgmq", Action::Requeue) {
                let scope = RestartScope::AllOwners;
                policy.restart = Some(Restart { scope, before: None, began: snapshot.now(), first: None });
            }
            let some = Selection { limit: Some(20), ..Selection::default() };
            let plan =
                ops::plan(&mut snapshot, &some, &policy).unwrap_or_else(|error| panic!("{}: {error}", self.queue));
            let plan = plan.ready(snapshot);
            ops::reclaim(&*self.store, &self.limits, plan, &unguarded())
                .unwrap_or_else(|error| panic!("{}: {error}", self.queue));
        }
    }

    fn names(&self) -> Vec<(String, String)> {
        let snapshot = self.snapshot();
        let (spec, now) = (&snapshot.jobs, snapshot.now());
        let keys = [Key(vec![Cell::Null; spec.claim.key.len()])];
        let names = named(spec, &PostgresDialect, &keys, now);
        names.into_iter().map(|(name, sql)| (name, without_limit(&sql))).collect()
    }

    /// The names of large tables, and of indexes that have as many rows with the first column that a condition must name in each.
    /// From version 18 on the server skips from value to value of a first column that has few of them, where `skips` allows it.
    fn large(&self, skips: bool) -> BTreeMap<String, String> {
        let sql = "SELECT c.relname::text, CASE WHEN $2 AND current_setting('server_version_num')::int >= 180000
                AND s.stadistinct BETWEEN 1 AND 100 THEN '' ELSE coalesce(a.attname::text, '') END FROM pg_catalog.pg_class AS c
            LEFT JOIN pg_catalog.pg_index AS i ON i.indexrelid = c.oid
            LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] AND a.attnum > 0
            LEFT JOIN pg_catalog.pg_statistic AS s ON (s.starelid, s.staattnum, s.stainherit) = (i.indrelid, i.indkey[0], false)
            WHERE c.relkind IN ('r', 'i') AND c.reltuples >= $1";
        let rows = self.database.client().query(sql, &[&MANY, &skips]).unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }

    /// How much the server has logged, once every session of jobdoctor has ended: some plans are written only then.
    fn logged(&self) -> u64 {
        let mut client = self.database.client();
        let sql = "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = $1 AND application_name = $2";
        while client.query_one(sql, &[&self.database.name(), &NAME]).unwrap().get::<_, i64>(0) > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        fs::metadata(self.cluster.socket.join("log")).unwrap().len()
    }

    /// What the server has done for jobdoctor since.
    fn ran_since(&self, seen: u64, large: &BTreeMap<String, String>) -> Vec<Ran> {
        self.logged();
        let (mut log, mut file) = (String::new(), fs::File::open(self.cluster.socket.join("log")).unwrap());
        file.seek(SeekFrom::Start(seen)).unwrap();
        file.read_to_string(&mut log).unwrap();
        let of_us = format!("{}|{NAME}|LOG:  duration: ", self.database.name());
        let mut lines = log.lines().peekable();
        let mut ran = Vec::new();
        while let Some(line) = lines.next() {
            if !line.starts_with(&of_us) || !line.ends_with(" plan:") {
                continue;
            }
            let mut json = String::new();
            while let Some(more) = lines.next_if(|line| line.starts_with('\t')) {
                writeln!(json, "{more}").unwrap();
            }
            let logged: Value = serde_json::from_str(&json).unwrap();
            let sql = logged["Query Text"].as_str().unwrap();
            let mut whole = BTreeSet::new();
            collect(&logged["Plan"], large, &mut whole);
            let bare = sql.strip_prefix(EXPLAIN).unwrap_or(sql);
            let hops = bare.starts_with("WITH RECURSIVE hop(s)");
            ran.push(Ran { sql: if hops { "states in use".to_owned() } else { without_limit(bare) }, whole });
        }
        ran
    }
}

/// The statement without a number of rows at its end and without the instant in it, in which the commands differ.
fn without_limit(sql: &str) -> String {
    let bare = sql.rsplit_once(" LIMIT ").filter(|(_, rows)| rows.parse::<u32>().is_ok()).map_or(sql, |(rest, _)| rest);
    regex_lite::Regex::new("'20[0-9]{2}-[^']*Z'").unwrap().replace_all(bare, "'now'").into_owned()
}

/// The large tables and indexes that a plan reads from end to end.
fn collect(plan: &Value, large: &BTreeMap<String, String>, whole: &mut BTreeSet<String>) {
    let name = |field: &str| plan[field].as_str().filter(|name| large.contains_key(*name));
    let read = match plan["Node Type"].as_str().unwrap_or_default() {
        "Seq Scan" => name("Relation Name"),
        // A condition that leaves out the first column of an index spares none of it.
        "Index Scan" | "Index Only Scan" | "Bitmap Index Scan" => name("Index Name").filter(|index| {
            !plan["Index Cond"].as_str().is_some_and(|condition| names_column(condition, &large[*index]))
        }),
        _ => None,
    };
    whole.extend(read.map(str::to_owned));
    for part in plan["Plans"].as_array().into_iter().flatten() {
        collect(part, large, whole);
    }
}

/// Whether a condition names a column. One without a name, as of an index on an expression, is taken to be there.
fn names_column(condition: &str, column: &str) -> bool {
    column.is_empty() || condition.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == column)
}
