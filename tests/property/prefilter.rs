//! The SQL pre-filter never loses what the judge condemns: tables are filled with times in any spelling and with anything their
//! columns can hold, and every claim that a full scan calls stuck or unknown must come through the filter too, exactly once.

use super::tries;
use crate::conformance::odd::{POSTGRES, SECONDS_ON_POSTGRES, SECONDS_ON_SQLITE, SQLITE, Spelling};
use crate::conformance::scan::listed_under;
use crate::support::doctor::mapping;
use crate::support::labs::{Journal, PostgresLab, SqlLab, SqliteLab};
use jobdoctor::model::Action;
use jobdoctor::policy::{Globs, Policy, StateLimit, Threshold, Thresholds, TooLong};
use jobdoctor::preset::{Field, Node, Written};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestRunner;
use std::time::Duration;

/// The time columns; the last two are the owners'.
const TIMES: [&str; 6] = ["claimed_at", "heartbeat_at", "lease_expires_at", "deadline_at", "seen_at", "started_at"];

/// A stored time: none, an instant so many seconds ago, or one of the odd values of its column's spelling.
#[derive(Debug, Clone)]
enum Time {
    None,
    Ago(i64),
    Odd(Index),
}

impl Time {
    fn sql(&self, spelling: &Spelling) -> String {
        match self {
            Time::None => "NULL".to_owned(),
            Time::Ago(seconds) => spelling.ago.replace('$', &seconds.to_string()),
            Time::Odd(which) => (*which.get(spelling.odd)).to_owned(),
        }
    }
}

/// A time; a calm one is such that nothing is wrong with the claim but, maybe, its age.
fn time(is_calm: bool) -> BoxedStrategy<Time> {
    // Around the thresholds, where a bound that is off by little loses a claim.
    let near = (select(&[120, 300, 1_800][..]), -4_i64..5).prop_map(|(edge, seconds)| Time::Ago(edge + seconds));
    if is_calm {
        return prop_oneof![1 => Just(Time::None), 4 => near, 4 => (0_i64..1_500).prop_map(Time::Ago)].boxed();
    }
    prop_oneof![
        4 => Just(Time::None),
        4 => near,
        10 => (-500_i64..8_000).prop_map(Time::Ago),
        2 => (-400_i64..400).prop_map(|days| Time::Ago(days * 86_400)),
        4 => any::<Index>().prop_map(Time::Odd),
    ]
    .boxed()
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![2 => Just("NULL"), 3 => Just("'a'"), 2 => Just("'b1'"), 1 => Just("''")]
}

/// Claim, heartbeat, lease, deadline; seconds; owner; whether it runs; queue and kind.
type Row = ([Time; 4], String, Option<usize>, bool, (&'static str, &'static str));

fn row(is_calm: bool, odd_seconds: &'static [&'static str]) -> impl Strategy<Value = Row> {
    let rare = || if is_calm { Just(Time::None).boxed() } else { time(false) };
    let odd = if is_calm { Just("NULL").boxed() } else { select(odd_seconds).boxed() };
    let whole = if is_calm { 1_000_u32..9_000 } else { 0..9_000 };
    let seconds = prop_oneof![
        3 => Just("NULL".to_owned()),
        5 => whole.prop_map(|n| n.to_string()),
        2 => odd.prop_map(str::to_owned),
    ];
    let times = [time(is_calm), time(is_calm), rare(), rare()];
    (times, seconds, proptest::option::of(0..OWNERS.len()), any::<bool>(), (name(), name()))
}

/// Owners: the first few have a row, unless they are blank. One has no ASCII in its name.
const OWNERS: [&str; 8] = ["w0", "w1", "", "w2", "работник", "\u{2003}\t\u{200b}\u{ad}", "тень", "w3"];

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
    let node = Node::parse("test", "state = 'RUNNING'").expect("TOML");
    Field::of("test", "state", node.get("state").expect("a state")).read().expect("a text")
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

const LIVENESS: [&str; 4] = [
    "{ by = 'lease', column = 'lease_expires_at' }, { by = 'heartbeat', column = 'heartbeat_at', silent_after = '5m' },
     { by = 'age', column = 'claimed_at', silent_after = '30m' }",
    "{ by = 'lease', column = 'heartbeat_at', plus = 'max_runtime_seconds' }, { by = 'owner', silent_after = '2m' },
     { by = 'age', column = 'claimed_at', silent_after = '30m' }",
    "{ by = 'owner', silent_after = '2m' }, { by = 'age', column = 'claimed_at', silent_after = 'max_runtime_seconds' }",
    "{ by = 'owner', silent_after = '2m' }, { by = 'age', column = 'claimed_at', silent_after = '30m' }",
];

/// A mapping with these sources of liveness, words for an owner without a row and for no owner, and rules or none.
fn preset(spellings: &[&Spelling], liveness: &str, [missing, unset]: [&str; 2], has_rules: bool) -> String {
    let rules = if has_rules { "{ deadline = 'deadline_at', max_runtime = 'max_runtime_seconds' }" } else { "{}" };
    let rest = format!(
        "
states   = {{ waiting = ['QUEUED'], in_flight = ['RUNNING', 'CLAIMED'], failed = ['FAILED'] }}
rules    = {rules}
[claim]
table      = 'jobs'
key        = 'id'
state      = 'status'
queue      = 'queue'
kind       = 'kind'
claimed_at = 'claimed_at'
liveness   = [{liveness}]
[owner]
id        = 'owner_id'
table     = 'pings'
match     = {{ name = 'owner_id' }}
heartbeat = 'seen_at'
started   = 'started_at'
missing   = '{missing}'
unset     = '{unset}'
[action]
requeue = {{ to = 'QUEUED' }}
"
    );
    let named = TIMES.iter().zip(spellings).filter(|(name, _)| rest.contains(*name));
    let times: String = named.map(|(name, spelling)| format!(", {name} = '{}'", spelling.encoding)).collect();
    format!("time = {{ default = 'epoch s'{times} }}{rest}")
}

fn script(spellings: &[&Spelling], declared_seconds: &str, rows: &[Row], pings: &[[Time; 2]]) -> String {
    let declared: Vec<String> =
        TIMES.iter().zip(spellings).map(|(name, spelling)| format!("{name} {}", spelling.declared)).collect();
    let mut sql = format!(
        "CREATE TABLE jobs (id integer PRIMARY KEY, status text, owner_id text, {}, max_runtime_seconds {declared_seconds}, \
         queue text, kind text); CREATE TABLE pings (name text PRIMARY KEY, {});",
        declared[..4].join(", "),
        declared[4..].join(", ")
    );
    let written = |times: &[Time], spellings: &[&Spelling]| {
        times.iter().zip(spellings).map(|(time, spelling)| time.sql(spelling)).collect::<Vec<_>>().join(", ")
    };
    for (id, (times, seconds, owner, runs, (queue, kind))) in rows.iter().enumerate() {
        let owner = owner.map_or("NULL".to_owned(), |n| format!("'{}'", OWNERS[n]));
        let (status, times) = (if *runs { "RUNNING" } else { "CLAIMED" }, written(times, spellings));
        sql += &format!("INSERT INTO jobs VALUES ({id}, '{status}', {owner}, {times}, {seconds}, {queue}, {kind});");
    }
    for (name, times) in OWNERS.iter().zip(pings) {
        sql += &format!("INSERT INTO pings VALUES ('{name}', {});", written(times, &spellings[4..]));
    }
    sql
}

fn nothing_is_lost(
    lab: &dyn SqlLab,
    spellings: &'static [Spelling],
    (declared, odd_seconds): (&str, &'static [&'static str]),
    times: u32,
) {
    let queue = any::<bool>().prop_flat_map(move |is_calm| {
        let pings = proptest::collection::vec([time(is_calm), time(is_calm)], 6);
        (proptest::collection::vec(row(is_calm, odd_seconds), 1..40), pings)
    });
    let columns = proptest::collection::vec(select(spellings.iter().collect::<Vec<_>>()), TIMES.len());
    let word = || select(&["dead", "next", "unknown"][..]);
    let case = (queue, columns, select(&LIVENESS[..]), [word(), word()], any::<bool>());
    let policy = (proptest::option::of(1_u64..7_000), thresholds());
    let tried = TestRunner::new(tries(times)).run(&(case, policy), |(case, (older, thresholds))| {
        let ((rows, pings), columns, liveness, words, has_rules) = case;
        lab.clear();
        lab.run(&script(&columns, declared, &rows, &pings));
        let older = older.map(Duration::from_secs);
        let too_long = too_long(&thresholds);
        let policy = Policy { older, thresholds, too_long, ..Policy::default() };
        listed_under(lab, &mapping(&preset(&columns, liveness, words, has_rules)), &[policy]);
        Ok(())
    });
    tried.unwrap_or_else(|failed| panic!("{failed}"));
}

#[test]
fn nothing_that_is_condemned_is_lost_on_sqlite() {
    nothing_is_lost(&SqliteLab::new(Journal::Wal), &SQLITE, SECONDS_ON_SQLITE[0], 300);
}

#[test]
fn nothing_that_is_condemned_is_lost_on_postgres() {
    nothing_is_lost(&PostgresLab::new(), &POSTGRES, SECONDS_ON_POSTGRES[0], 60);
}
