//! Times whose zone is not known: a living worker is dead in no zone, and a dead one is found in each, at some minutes.

use super::queue::{resolved, table};
use crate::support::doctor::mapping;
use crate::support::figures;
use jobdoctor::model::{Claim, LockSign, OwnerRow, Reading, Sign, Timestamp};
use jobdoctor::policy::{Judgement, Policy, Verdict, judge};
use jobdoctor::preset::{Jobs, LiveTable};
use std::time::Duration;

/// What shows life, or ends a job: each form that a time without a zone can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Age,
    Heartbeat,
    Owner,
    Missing,
    Lease,
    Deadline,
    MaxRuntime,
}

impl Form {
    const ALL: [Form; 7] =
        [Form::Age, Form::Heartbeat, Form::Owner, Form::Missing, Form::Lease, Form::Deadline, Form::MaxRuntime];

    fn liveness(self) -> &'static str {
        match self {
            Form::Age | Form::Deadline | Form::MaxRuntime => r#"{ by = "age", silent_after = "1h" }"#,
            Form::Heartbeat => r#"{ by = "heartbeat", column = "beat", silent_after = "1h" }"#,
            Form::Owner | Form::Missing => r#"{ by = "owner", silent_after = "1h" }"#,
            Form::Lease => r#"{ by = "lease", column = "beat" }"#,
        }
    }
}

/// A queue on SQLite, whose texts say no zone.
fn queue(form: Form, time_zone: &str) -> Jobs {
    let deadline = if form == Form::Deadline { "[rules]\ndeadline = \"ends\"" } else { "" };
    let preset = mapping(&format!(
        r#"
format = 1
name = "zones"
time = {{ default = "text YYYY-MM-DD HH:MM:SS" }}
{time_zone}
states = {{ waiting = ["new"], in_flight = ["working"] }}
[claim]
table = "q"
key = "id"
state = "status"
claimed_at = "claimed"
liveness = [{}]
{deadline}
[owner]
id = "worker"
table = "workers"
match = {{ name = "worker" }}
heartbeat = "at"
missing = "dead"
[action.requeue]
to = "new"
clear = ["worker"]
"#,
        form.liveness()
    ));
    let columns = ["id", "status", "worker", "claimed", "beat", "ends"].map(|name| (name, "text"));
    let workers = table("workers", &[("name", "text"), ("at", "text")]);
    resolved(&preset, vec![table("q", &columns), LiveTable { unique: vec![vec!["name".to_owned()]], ..workers }])
}

const NOW: i64 = 1_795_168_800;

/// So many seconds ago, as the clock of that zone shows it, read as UTC.
fn read(ago: i64, zone: i64) -> Reading {
    Reading::At(Timestamp::from_micros((NOW - ago + zone) * 1_000_000).unwrap())
}

/// A claim whose last sign of life was so many seconds ago, and whose lease and deadline are over by as much.
fn judged(spec: &Jobs, form: Form, threshold: u64, ago: i64, zone: i64) -> Judgement {
    let at = read(ago, zone);
    let deadline = if form == Form::Deadline { at.clone() } else { Reading::Absent };
    let at = if form == Form::Deadline { read(1, zone) } else { at };
    let sign = Sign { at: at.clone(), silent_after: None, lock: LockSign::Absent };
    let claim = Claim {
        claimed_at: if matches!(form, Form::Heartbeat | Form::Owner | Form::Lease) {
            Reading::Absent
        } else {
            at.clone()
        },
        heartbeat: if matches!(form, Form::Heartbeat | Form::Owner) { at.clone() } else { Reading::Absent },
        owner_row: match form {
            Form::Missing => OwnerRow::Missing { seen: at },
            _ => OwnerRow::Present { heartbeat: at, started: Reading::Absent },
        },
        deadline,
        max_runtime: (form == Form::MaxRuntime).then_some(Duration::from_secs(threshold)),
        signs: vec![sign],
        ..super::queue_claim()
    };
    let older = Some(Duration::from_secs(if form == Form::MaxRuntime { 315_000_000 } else { threshold }));
    let older = older.filter(|_| form != Form::Lease);
    judge(spec, &claim, &Policy { older, ..Policy::default() }, Timestamp::from_micros(NOW * 1_000_000).unwrap())
}

/// A zone of each quarter of an hour, in seconds east of UTC.
fn zones() -> impl Iterator<Item = i64> {
    (-48..=56).map(|quarters| quarters * 900)
}

const THRESHOLDS: [u64; 7] = [1, 60, 300, 780, 840, 3600, 86_400];

/// The living workers that are called dead, or late: each is slow by up to its threshold, and its clock wrong by 2 s.
fn killed(form: Form, time_zone: &str) -> Vec<String> {
    let spec = queue(form, time_zone);
    let mut killed = Vec::new();
    for zone in zones() {
        for threshold in THRESHOLDS {
            // A lease or a deadline lies ahead of a living worker, an hour or less.
            let slow = match form {
                Form::Lease | Form::Deadline => [-1, -300, -3600],
                _ => [1, threshold / 2, threshold].map(|slow| slow.cast_signed()),
            };
            for (slow, skew) in slow.into_iter().flat_map(|slow| [-2, 0, 2].map(|skew| (slow, skew))) {
                let skew = if matches!(form, Form::Lease | Form::Deadline) { 0 } else { skew };
                if matches!(judged(&spec, form, threshold, slow + skew, zone).verdict, Verdict::Stuck(_)) {
                    killed.push(format!("{form:?} at {zone}, threshold {threshold}, {slow} s ago, clock {skew} s"));
                }
            }
        }
    }
    killed
}

#[test]
fn a_living_worker_is_dead_in_no_zone() {
    for form in Form::ALL {
        let killed = killed(form, "");
        assert!(killed.is_empty(), "{} of them: {}", killed.len(), killed[0]);
        // Read as UTC, zones west of it look dead.
        assert!(
            !self::killed(form, "time_zone = \"utc\"").is_empty(),
            "{form:?}: a judge that believes UTC is not caught"
        );
    }
    figures::add(Form::ALL.len() as u64, "mutants caught");
}

/// What has been silent for 40 hours is dead in every zone; for less, at some minutes of each quarter of an hour.
#[test]
fn a_dead_worker_is_found_in_each_zone() {
    for form in Form::ALL {
        let spec = queue(form, "");
        for zone in zones() {
            let is_dead =
                |threshold, ago| matches!(judged(&spec, form, threshold, ago, zone).verdict, Verdict::Stuck(_));
            assert!(is_dead(3600, 40 * 3600), "{form:?} at {zone}");
            let is_told = matches!(form, Form::Lease | Form::Deadline) || zone <= -12 * 3600;
            assert!(is_told || !is_dead(3600, 3600 + 60), "{form:?} at {zone}: beyond 13 minutes only 12 h tell");
            let found = (0..900).step_by(30).filter(|more| is_dead(300, 2 * 3600 + more)).count();
            // Of 900 s the smallest silence exceeds the threshold and the tolerance for 480. A lease, an end may lie ahead.
            let wanted = if matches!(form, Form::Lease | Form::Deadline) { 0..=0 } else { 14..=17 };
            let is_late_anyhow = matches!(form, Form::Lease | Form::Deadline) || zone < -9 * 3600;
            assert!(wanted.contains(&found) || is_late_anyhow, "{form:?} at {zone}: {found} of 30");
        }
    }
}

/// At both changes of its clocks a zone shows an hour twice, or never: what was seen 7 s ago is alive all the same.
#[test]
fn a_change_of_the_clocks_kills_nobody() {
    let changes = [
        ("Europe/Paris", ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]),
        ("America/New_York", ["2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"]),
        ("Australia/Lord_Howe", ["2026-04-04T15:00:00Z", "2026-10-03T15:30:00Z"]),
    ];
    for (zone, change) in changes.into_iter().flat_map(|(zone, both)| both.map(|change| (zone, change))) {
        let change = Timestamp::parse(change).unwrap().micros();
        for form in Form::ALL.into_iter().filter(|form| !matches!(form, Form::Lease | Form::Deadline)) {
            let spec = queue(form, &format!("time_zone = \"{zone}\""));
            let encodings = &spec.claim.claimed_at.as_ref().unwrap().encodings;
            for second in (-7200..7200).step_by(7) {
                let seen = Timestamp::from_micros(change + second * 1_000_000).unwrap();
                let at = encodings.decode(&encodings.encode(seen)).at().unwrap();
                let ago = (seen.micros() + 7_000_000 - at.micros()) / 1_000_000;
                let verdict = judged(&spec, form, 10, ago, 0).verdict;
                assert!(!matches!(verdict, Verdict::Stuck(_)), "{form:?} in {zone}, at {seen}: {ago} s");
            }
        }
    }
}

/// Signs of life in a preset are columns, which are read in their zone: SQL that computes with a wall clock is an hour wrong twice a
/// year.
#[test]
fn no_preset_computes_signs_of_life_with_a_zone() {
    for preset in jobdoctor::preset::Catalog::built_in().iter() {
        let mut section = "";
        for line in preset.text.lines() {
            if line.starts_with('[') {
                section = line.trim_start_matches('[');
            }
            let shows_life = ["claim", "owner"].iter().any(|name| section.starts_with(name));
            assert!(
                !shows_life || !line.contains("zone}") && !line.contains("AT TIME ZONE"),
                "{}: {line}",
                preset.name
            );
        }
    }
}
