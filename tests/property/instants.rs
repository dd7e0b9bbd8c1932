//! Every encoding of a time column against every comparison between two writers. The oracle knows no rule: it takes each
//! true instant that the stored values may stand for, and allows a verdict of death only if it is right for all of them.

use super::queue::{resolved, table};
use crate::support::doctor::mapping;
use crate::support::figures;
use jobdoctor::model::{Claim, LockSign, OwnerRow, Reading, Sign, Timestamp};
use jobdoctor::policy::{LiveOwners, Living, Policy, Restart, RestartScope, judge};
use jobdoctor::preset::encoding::{Encoding, Encodings};
use jobdoctor::preset::{Jobs, LiveTable};
use std::sync::Arc;

const SECOND: i64 = 1_000_000;
const ENCODINGS: [(&str, i64); 9] = [
    ("native", 1),
    ("epoch s", SECOND),
    ("epoch ms", 1000),
    ("epoch us", 1),
    ("epoch ns", 1),
    ("epoch s float", 1),
    ("text YYYY-MM-DD HH:MM:SS utc", SECOND),
    ("text YYYY-MM-DDTHH:MM:SS.fffZ", 1000),
    ("text YYYY-MM-DDTHH:MM:SS.ffffffZ", 1),
];

/// What is compared with the instant that a worker wrote down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Against {
    /// The start of the owner, from another column: the claim is dead if it was made before.
    Start,
    /// The making of a live-owner list: the claim is dead if it was made before.
    List,
    /// The same of the owner's last heartbeat.
    ListAndBeat,
    Sweep,
    Deployment,
}

impl Against {
    const ALL: [Against; 5] =
        [Against::Start, Against::List, Against::ListAndBeat, Against::Sweep, Against::Deployment];

    /// How far the two clocks may be apart; of two that were stored, each lost up to a second.
    fn apart(self) -> i64 {
        match self {
            Against::Start => 59 * SECOND,
            Against::List | Against::ListAndBeat => 60 * SECOND,
            Against::Sweep | Against::Deployment => 0,
        }
    }
}

/// A queue whose claims are judged by their owner's row alone.
fn queue(written: &str, other: &str) -> Jobs {
    let preset = mapping(
        r#"
format = 1
name = "instants"
time = { default = "epoch s" }
states = { waiting = ["new"], in_flight = ["working"], failed = ["dead"] }
[claim]
table = "q"
key = "id"
state = "status"
claimed_at = "claimed"
liveness = [{ by = "owner", silent_after = "1h" }]
[owner]
id = "worker"
table = "workers"
match = { name = "worker" }
heartbeat = "beat"
started = "started"
missing = "dead"
[action.requeue]
to = "new"
clear = ["worker"]
"#,
    );
    let jobs = table("q", &[("id", "integer"), ("status", "text"), ("worker", "text"), ("claimed", "integer")]);
    let unique = vec![vec!["name".to_owned()]];
    let workers = table("workers", &[("name", "text"), ("beat", "integer"), ("started", "integer")]);
    let mut spec = resolved(&preset, vec![jobs, LiveTable { unique, ..workers }]);
    let encodings = |spelling| Encodings::new(Encoding::parse(spelling).unwrap(), Vec::new());
    let row = spec.owner.row.as_mut().unwrap();
    row.heartbeat.as_mut().unwrap().encodings = encodings(written);
    row.started.as_mut().unwrap().encodings = encodings(other);
    spec.claim.claimed_at.as_mut().unwrap().encodings = encodings(written);
    spec
}

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros).unwrap()
}

/// Whether a claim is called dead for what is earlier than what.
fn is_dead(spec: &Jobs, against: Against, written: i64, other: i64) -> bool {
    let now = at(other + 200 * SECOND);
    let (claimed, beat, started) = match against {
        Against::Start => (written, now.micros(), Some(other)),
        Against::ListAndBeat => (other - 10_000 * SECOND, written, None),
        _ => (written, other - 1000 * SECOND, None),
    };
    let beat = Reading::At(at(beat));
    let claim = Claim {
        claimed_at: Reading::At(at(claimed)),
        owner_row: OwnerRow::Present {
            heartbeat: Reading::Absent,
            started: started.map_or(Reading::Absent, |started| Reading::At(at(started))),
        },
        heartbeat: beat.clone(),
        signs: vec![Sign { at: beat, silent_after: None, lock: LockSign::Absent }],
        ..super::queue_claim()
    };
    let living = || Living { live_owners: Arc::new(LiveOwners::parse("elsewhere").unwrap()), made_at: at(other) };
    let restart = |began, before| Some(Restart { scope: RestartScope::AllOwners, before, began, first: None });
    let policy = match against {
        Against::Start => Policy::default(),
        Against::List | Against::ListAndBeat => Policy { living: Some(living()), ..Policy::default() },
        Against::Sweep => Policy { restart: restart(at(other), None), ..Policy::default() },
        Against::Deployment => Policy { restart: restart(now, Some(at(other))), ..Policy::default() },
    };
    judge(spec, &claim, &policy, now).verdict.is_death()
}

/// The first and the last true instant that a stored one may stand for: applications cut to the second whatever the column
/// can hold, and databases round up.
fn may_be(stored: i64, unit: i64) -> (i64, i64) {
    let cut = if stored % SECOND == 0 { SECOND } else { unit };
    (stored - cut + 1, stored + cut - 1)
}

fn offsets() -> Vec<i64> {
    let edges =
        [0, 1000, SECOND / 2, SECOND, 2 * SECOND, 30 * SECOND, 59 * SECOND, 60 * SECOND, 61 * SECOND, 62 * SECOND];
    let around =
        edges.into_iter().chain([5 * SECOND, 63 * SECOND, 90 * SECOND]).flat_map(|edge| [edge - 1, edge, edge + 1]);
    around.flat_map(|offset| [offset, -offset]).collect()
}

/// What is wrong with a judge whose other instant is later by so much than the true one: the verdicts that the true instants do not
/// bear out, and how many claims it called dead and alive.
fn wrongs(against: Against, later: i64) -> (Vec<String>, [u32; 2]) {
    const ANCHOR: i64 = 1_795_168_800 * SECOND;
    let (mut wrongs, mut counts) = (Vec::new(), [0, 0]);
    let floor = |at: i64, unit: i64| at.div_euclid(unit) * unit;
    let is_stored = against == Against::Start;
    // The tool's own instants are spelled in one way only.
    let others = if is_stored { &ENCODINGS[..] } else { &ENCODINGS[..1] };
    for (written, unit) in ENCODINGS {
        for (other, others_unit) in others {
            let spec = queue(written, other);
            for fraction in [0, 1, SECOND / 2, SECOND - 1] {
                let base = if is_stored { floor(ANCHOR + fraction, *others_unit) } else { ANCHOR + fraction };
                for offset in offsets() {
                    let stored = floor(base + offset, unit);
                    let (_, last) = may_be(stored, unit);
                    let (first, _) = if is_stored { may_be(base, *others_unit) } else { (base, base) };
                    let is_death = is_dead(&spec, against, stored, base + later);
                    counts[usize::from(is_death)] += 1;
                    let place = || format!("{against:?}: {} in {written}, {} in {other}", at(stored), at(base));
                    if is_death && last + against.apart() >= first {
                        wrongs.push(format!("called dead: {}", place()));
                    }
                    // Nor is a dead one left because nothing would ever be enough.
                    if !is_death && stored + against.apart() + 4 * SECOND < base {
                        wrongs.push(format!("not called dead: {}", place()));
                    }
                }
            }
        }
    }
    (wrongs, counts)
}

#[test]
fn death_is_told_only_where_every_true_instant_bears_it_out() {
    for against in Against::ALL {
        let (wrongs, counts) = wrongs(against, 0);
        assert!(wrongs.is_empty(), "{against:?}: {} wrong verdicts\n{}", wrongs.len(), wrongs[0]);
        assert!(counts.iter().all(|count| *count > 100), "{against:?}: {counts:?}");
    }
}

/// A rule that drops a unit or a tolerance, or adds one, is the sound rule with another bound.
#[test]
fn rules_that_drop_a_unit_or_a_tolerance_are_caught() {
    let mutants = [
        ("drops the unit of a list", Against::List, 1, "called dead"),
        ("drops the unit of a list for a heartbeat", Against::ListAndBeat, 1, "called dead"),
        ("drops the tolerance of a list", Against::List, 60, "called dead"),
        ("compares a list to the microsecond", Against::List, 61, "called dead"),
        ("drops the tolerance of a start", Against::Start, 60, "called dead"),
        ("compares a start to the microsecond", Against::Start, 61, "called dead"),
        ("takes every start for an old one", Against::Start, -10_000, "not called dead"),
        ("drops the unit of a sweep", Against::Sweep, 1, "called dead"),
        ("gives a sweep a tolerance", Against::Sweep, -60, "not called dead"),
        ("drops the unit of a deployment", Against::Deployment, 1, "called dead"),
    ];
    for (mutant, against, later, wrong) in mutants {
        let (wrongs, _) = wrongs(against, later * SECOND);
        assert!(wrongs.iter().any(|found| found.starts_with(wrong)), "the judge that {mutant} is not caught");
    }
    figures::add(mutants.len() as u64, "mutants caught");
}
