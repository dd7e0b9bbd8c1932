//! The SQL pre-filter never loses what the judge condemns: tables are filled with anything SQLite can hold, and with any numbers
//! that Postgres can, and every claim that a full scan calls stuck or unknown must come through the filter too, exactly once.

use crate::support::doctor::{CATALOG, limits};
use crate::support::labs::{Lab, PostgresLab, SqlLab};
use crate::support::shm;
use jobdoctor::model::{Action, Claim};
use jobdoctor::ops::cutoffs;
use jobdoctor::policy::{Globs, Policy, StateLimit, Threshold, Thresholds, TooLong, Verdict, judge};
use jobdoctor::preset::{Fields, Node, Place, Preset, QueueSpec, Written, resolve};
use jobdoctor::store::{Address, Detail, Reader, Store, Wanted, open};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// A value as it stands in an INSERT: times around now in the right unit, in a wrong one, as text, as a float, or none.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("NULL".to_owned()),
        10 => (-500_i64..8_000).prop_map(|s| format!("unixepoch() - ({s})")),
        2 => (-400_i64..400).prop_map(|days| format!("unixepoch() - ({days} * 86400)")),
        1 => Just("unixepoch() * 1000".to_owned()),
        1 => Just("unixepoch() / 1000".to_owned()),
        1 => Just("unixepoch() - 1000.5".to_owned()),
        1 => Just("datetime('now')".to_owned()),
        1 => Just("'soon'".to_owned()),
        1 => Just("x'00ff'".to_owned()),
        1 => end(),
        1 => prop_oneof![Just("9e999"), Just("-9e999"), Just("CAST(x'ff' AS TEXT)")].prop_map(str::to_owned),
    ]
}

/// The ends of 64 bits, and what lies beside them.
fn end() -> impl Strategy<Value = String> {
    prop_oneof![Just(i64::MAX), Just(i64::MAX - 1), Just(i64::MIN), Just(i64::MIN + 1)].prop_map(|n| n.to_string())
}

/// Seconds on a row as an integer.
fn whole() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just("NULL".to_owned()),
        5 => (0_u32..9_000).prop_map(|n| n.to_string()),
        1 => (8_999_999_998_i64..9_000_000_003).prop_map(|n| n.to_string()),
        1 => Just("-1".to_owned()),
        1 => end(),
    ]
}

fn small() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => whole(),
        1 => Just("'x'".to_owned()),
        1 => (0_u32..9_000).prop_map(|n| format!("{n}.4")),
        1 => Just("9e999".to_owned()),
    ]
}

/// A queue or a kind.
fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![2 => Just("NULL"), 3 => Just("'a'"), 2 => Just("'b1'"), 1 => Just("''")]
}

/// The claims that a scan hands over, by id, with how often and with their verdicts.
fn seen(
    reader: &mut dyn Reader,
    spec: &QueueSpec,
    wanted: &Wanted,
    policy: &Policy,
) -> BTreeMap<String, (u32, Verdict)> {
    let now = reader.now();
    let mut seen: BTreeMap<String, (u32, Verdict)> = BTreeMap::new();
    let mut each = |claim: Claim| {
        let verdict = judge(spec, &claim, policy, now).verdict;
        seen.entry(claim.key.to_string()).and_modify(|(n, _)| *n += 1).or_insert((1, verdict));
    };
    reader.scan(spec, wanted, Detail::ForAction, &mut each).expect("the scan runs");
    seen
}

/// Thresholds of a target: for one queue or kind, or for any that has one, and a maximum run time.
fn thresholds() -> impl Strategy<Value = Thresholds> {
    let glob = || prop_oneof![2 => Just(None), 2 => Just(Some("a")), 1 => Just(Some("b*")), 1 => Just(Some("*"))];
    let span = || proptest::option::of(prop_oneof![1_u64..1_000, 1_u64..9_000].prop_map(Duration::from_secs));
    let globs = |glob: Option<&str>| match glob {
        Some(glob) => Globs::new(&[glob.to_owned()]).expect("the pattern can be read"),
        None => Globs::default(),
    };
    let entry = (glob(), glob(), span(), span()).prop_map(move |(queue, kind, older, max_runtime)| Threshold {
        queue: globs(queue),
        kind: globs(kind),
        older,
        max_runtime,
    });
    (proptest::collection::vec(entry, 0..4), span(), any::<bool>()).prop_map(|(entries, max_runtime, overruled)| {
        Thresholds { target: "shop".to_owned(), entries, max_runtime, overruled }
    })
}

/// A state in flight, as a config file names it.
pub(super) fn running() -> Written {
    let state = Node::parse("test", "state = 'RUNNING'").and_then(|node| Fields::of("test", "", node));
    state.and_then(|mut fields| fields.need("state")?.written()).expect("a state")
}

/// A limit for one state beside each entry that has a maximum run time, and sooner than that.
fn too_long(thresholds: &Thresholds) -> TooLong {
    let state = running();
    let limit = |(n, entry): (usize, &Threshold)| {
        Some(StateLimit {
            number: n + 1,
            state: state.clone(),
            queue: entry.queue.clone(),
            kind: entry.kind.clone(),
            after: entry.max_runtime? / 2,
            since: None,
            action: Action::Fail,
        })
    };
    TooLong { target: "shop".to_owned(), entries: thresholds.entries.iter().enumerate().filter_map(limit).collect() }
}

fn nothing_is_lost(file: &Path, preset: &Preset, older: Option<u64>, thresholds: &Thresholds) {
    nothing_is_lost_in(&*open(&Address::file(file.to_owned())), preset, older, thresholds);
}

fn nothing_is_lost_in(store: &dyn Store, preset: &Preset, older: Option<u64>, thresholds: &Thresholds) {
    let mut reader = store.reader(&limits()).expect("the database opens");
    let live = reader.live_schema(&["jobs".to_owned(), "pings".to_owned()]).expect("the catalog can be read");
    let spec = {
        let mut ask = |sql: &str| reader.ask(sql);
        resolve(preset, &live, &Place::default(), &mut ask).expect("the preset fits")
    };
    let policy = Policy {
        older: older.map(Duration::from_secs),
        thresholds: thresholds.clone(),
        too_long: too_long(thresholds),
        ..Policy::default()
    };
    let all = seen(reader.as_mut(), &spec, &Wanted::All, &policy);
    let cutoffs = cutoffs(reader.now(), &policy);
    let suspects = seen(reader.as_mut(), &spec, &Wanted::Suspects(cutoffs), &policy);
    for (id, (times, verdict)) in &all {
        assert_eq!(*times, 1, "job {id} came {times} times out of a full scan");
        if *verdict != Verdict::Healthy {
            let filtered = suspects.get(id).map(|(times, _)| *times);
            assert_eq!(filtered, Some(1), "job {id} is {verdict:?} and came {filtered:?} times through the pre-filter");
        }
    }
    assert!(suspects.values().all(|(times, _)| *times == 1), "a claim came twice through the pre-filter");
}

const MAPPING: &str = "
time     = { default = 'epoch s' }
states   = { waiting = ['QUEUED'], in_flight = ['RUNNING', 'CLAIMED'], failed = ['FAILED'] }
rules    = { deadline = 'deadline_at', max_runtime = 'max_runtime_seconds' }
[claim]
table      = 'jobs'
key        = 'id'
state      = 'status'
queue      = 'queue'
kind       = 'kind'
claimed_at = 'claimed_at'
liveness   = [
  { by = 'lease', column = 'heartbeat_at', plus = 'max_runtime_seconds' },
  { by = 'owner', silent_after = '2m' },
  { by = 'age', column = 'claimed_at', silent_after = '30m' },
]
[owner]
id        = 'owner_id'
table     = 'pings'
match     = { name = 'owner_id' }
heartbeat = 'seen_at'
started   = 'started_at'
missing   = 'MISSING'
unset     = 'UNSET'
[action]
requeue = { to = 'QUEUED' }
";

/// One row of the table: claimed, heartbeat, lease, deadline, seconds, owner, state, queue and kind, as they stand in an INSERT.
type Row = (String, String, String, String, String, Option<u8>, bool, (&'static str, &'static str));

/// Owners: the first few have a row, unless they are blank. One has no ASCII in its name.
const OWNERS: [&str; 8] = ["w0", "w1", "", "w2", "работник", "\u{2003}\t\u{200b}\u{ad}", "тень", "w3"];

fn fill(file: &Path, rows: &[Row], pings: &[(String, String)]) {
    rusqlite::Connection::open(file)
        .expect("the file is made")
        .execute_batch(&script(rows, pings))
        .expect("the rows go in");
}

fn script(rows: &[Row], pings: &[(String, String)]) -> String {
    let mut sql = String::from(
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, owner_id TEXT, claimed_at INTEGER, heartbeat_at INTEGER, \
         lease_expires_at INTEGER, deadline_at INTEGER, max_runtime_seconds INTEGER, attempts INTEGER, queue TEXT, \
         kind TEXT);\nCREATE TABLE pings (name TEXT PRIMARY KEY, seen_at INTEGER, started_at INTEGER);\n",
    );
    for (claimed, beat, lease, deadline, seconds, owner, running, (queue, kind)) in rows {
        let owner = owner.map_or("NULL".to_owned(), |n| format!("'{}'", OWNERS[usize::from(n)]));
        let status = if *running { "RUNNING" } else { "CLAIMED" };
        sql.push_str(&format!(
            "INSERT INTO jobs (status, owner_id, claimed_at, heartbeat_at, lease_expires_at, deadline_at, \
             max_runtime_seconds, queue, kind) VALUES ('{status}', {owner}, {claimed}, {beat}, {lease}, {deadline}, \
             {seconds}, {queue}, {kind});\n"
        ));
    }
    for (n, (seen, started)) in pings.iter().enumerate() {
        sql.push_str(&format!("INSERT INTO pings VALUES ('{}', {seen}, {started});\n", OWNERS[n]));
    }
    sql
}

/// A time that Postgres keeps as an integer, in units of which a second has `{unit}`.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => Just("NULL".to_owned()),
        6 => (-500_i64..8_000).prop_map(|s| format!("(extract(epoch FROM now())::bigint - ({s})) * {{unit}}")),
        1 => Just("extract(epoch FROM now())::bigint * {unit} / 1000".to_owned()),
        1 => end(),
        1 => Just("0".to_owned()),
    ]
}

/// Numbers end somewhere on Postgres, and what runs over there is an error.
#[test]
fn nothing_that_is_condemned_is_lost_on_postgres() {
    let row = (
        number(),
        number(),
        number(),
        number(),
        whole(),
        proptest::option::of(0_u8..8),
        any::<bool>(),
        (name(), name()),
    );
    let units =
        prop_oneof![Just(("s", "1")), Just(("ms", "1000")), Just(("us", "1000000")), Just(("ns", "1000000000"))];
    let case = (
        proptest::collection::vec(row, 1..40),
        proptest::collection::vec((number(), number()), 6),
        proptest::option::of(1_u64..7_000),
        thresholds(),
        units,
        prop_oneof![Just("'30m'"), Just("'max_runtime_seconds'")],
    );
    let lab = PostgresLab::new();
    let tried =
        TestRunner::new(ProptestConfig::with_cases(20)).run(&case, |(rows, pings, older, thresholds, unit, age)| {
            lab.clear();
            let sql = script(&rows, &pings).replace("id INTEGER PRIMARY KEY", "id serial PRIMARY KEY");
            lab.run(&sql.replace("INTEGER", "bigint").replace("{unit}", unit.1));
            let mapping = MAPPING.replace("MISSING", "dead").replace("UNSET", "next").replace("'30m'", age);
            let mapping = mapping.replace("'epoch s'", &format!("'epoch {}'", unit.0));
            let preset = Preset::parse("mapping", "home", &mapping).expect("the mapping can be read");
            nothing_is_lost_in(&*lab.store(), &preset, older, &thresholds);
            Ok(())
        });
    tried.unwrap_or_else(|failed| panic!("{failed}"));
}

/// A row that nothing is wrong with but, maybe, its age: the claims that only a threshold condemns.
fn plain_row() -> impl Strategy<Value = Row> {
    let ago =
        || prop_oneof![1 => Just("NULL".to_owned()), 4 => (0_i64..1_500).prop_map(|s| format!("unixepoch() - {s}"))];
    let seconds = prop_oneof![1 => Just("NULL".to_owned()), 1 => (1_000_u32..9_000).prop_map(|n| n.to_string())];
    let null = || Just("NULL".to_owned());
    (ago(), ago(), null(), null(), seconds, proptest::option::of(0_u8..8), any::<bool>(), (name(), name()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn nothing_that_is_condemned_is_lost(
        rows in proptest::collection::vec(
            (value(), value(), value(), value(), small(), proptest::option::of(0_u8..8), any::<bool>(), (name(), name())), 1..40),
        pings in proptest::collection::vec((value(), value()), 6),
        older in proptest::option::of(1_u64..7_000),
        thresholds in thresholds(),
        missing in 0_usize..3,
        unset in 0_usize..3,
    ) {
        let directory = shm::directory("jobdoctor-rows-");
        let file = directory.path().join("queue.db");
        fill(&file, &rows, &pings);
        nothing_is_lost(&file, CATALOG.find("lease").expect("lease"), older, &thresholds);
        let words = ["dead", "next", "unknown"];
        let mapping = MAPPING.replace("MISSING", words[missing]).replace("UNSET", words[unset]);
        nothing_is_lost(&file, &Preset::parse("mapping", "home", &mapping).expect("the mapping can be read"), older, &thresholds);
        // One whose thresholds stand on the rows.
        let mapping = mapping.replace("silent_after = '30m'", "silent_after = 'max_runtime_seconds'");
        nothing_is_lost(&file, &Preset::parse("mapping", "home", &mapping).expect("it can be read"), older, &thresholds);
    }

    #[test]
    fn nothing_that_only_a_threshold_condemns_is_lost(
        rows in proptest::collection::vec(plain_row(), 1..40),
        pings in proptest::collection::vec(((0_i64..1_500).prop_map(|s| format!("unixepoch() - {s}")), Just("NULL".to_owned())), 6),
        older in proptest::option::of(1_000_u64..7_000),
        thresholds in thresholds(),
    ) {
        let directory = shm::directory("jobdoctor-rows-");
        let file = directory.path().join("queue.db");
        fill(&file, &rows, &pings);
        nothing_is_lost(&file, CATALOG.find("lease").expect("lease"), older, &thresholds);
        for age in ["'30m'", "'max_runtime_seconds'"] {
            let mapping = MAPPING.replace("MISSING", "next").replace("UNSET", "next").replace("'30m'", age);
            let mapping = mapping.replace("{ by = 'lease', column = 'heartbeat_at', plus = 'max_runtime_seconds' },", "");
            let mapping = mapping.replace("rules    = { deadline = 'deadline_at', max_runtime = 'max_runtime_seconds' }", "");
            nothing_is_lost(&file, &Preset::parse("mapping", "home", &mapping).expect("it can be read"), older, &thresholds);
        }
    }
}
