//! Attempts and their maximum, whatever is stored there: at the limit a job fails, never goes back, and no number wraps, turns
//! into text or gets lost. What nobody can count is left as it is.

use super::TRIED;
use super::values::text;
use crate::support::cli::Doctor;
use crate::support::figures;
use rusqlite::types::{Value, ValueRef};

const STORED: &str = "NULL 0 1 4 5 6 -1 2147483647 9223372036854775806 9223372036854775807 -9223372036854775808 1.5 4.0 1e999 -1e999 \
    '' '3' 'three' x'' x'33' x'ff'";

fn stored(doctor: &Doctor) -> Vec<(i64, String, Value, Value)> {
    let connection = doctor.connect("queue.db");
    let mut prepared = connection.prepare("SELECT id, status, attempts, max_attempts FROM jobs ORDER BY id").unwrap();
    let value = |row: &rusqlite::Row<'_>, n| {
        Ok::<_, rusqlite::Error>(match row.get_ref(n)? {
            // A text that is none is told from a blob by nobody here.
            ValueRef::Text(bytes) => String::from_utf8(bytes.to_vec()).map_or(Value::Blob(bytes.to_vec()), Value::Text),
            other => Value::try_from(other)?,
        })
    };
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, value(row, 2)?, value(row, 3)?));
    prepared.query_map([], row).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn queue() -> Doctor {
    let doctor = Doctor::new();
    // Without types of columns, so that what is stored stays what it is.
    doctor.sql(
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status, owner_id, claimed_at, heartbeat_at, lease_expires_at,
            attempts, max_attempts, error_detail, finished_at)",
    );
    let also_broken = text(b"3\xff");
    let all: Vec<&str> = STORED.split(' ').chain(["' 4 '", also_broken.as_str()]).collect();
    let rows: Vec<String> = all
        .iter()
        .flat_map(|attempts| all.iter().map(move |max| (attempts, max)))
        .map(|(attempts, max)| {
            format!(
                "('RUNNING', 'web1:1', unixepoch() - 9000, unixepoch() - 8000, unixepoch() - 7000, {attempts}, {max})"
            )
        })
        .collect();
    doctor.sql(&format!(
            "INSERT INTO jobs (status, owner_id, claimed_at, heartbeat_at, lease_expires_at, attempts, max_attempts) VALUES {}",
            rows.join(", ")
        ));
    doctor
}

#[test]
fn are_respected_whatever_is_stored() {
    for forced in [&[][..], &["--to", "requeue"], &["--to", "fail"]] {
        let doctor = queue();
        let before = stored(&doctor);
        let arguments = [&["reclaim", "--db", "queue.db", "--preset", "lease", "-o", "json"], forced].concat();
        let dry = doctor.run(&arguments).exits(0).json();
        assert_eq!(stored(&doctor), before, "a dry run wrote");
        let applied = doctor.run(&[&arguments[..], &["--apply", "--max-jobs", "1000"]].concat());
        assert!([0, 3, 4].contains(&applied.code), "{applied:#?}");
        let applied = if applied.code == 4 {
            // All of them look dead, so that the brake is pulled.
            let digest = dry["digest"].as_str().unwrap();
            doctor.run(&[&arguments[..], &["--apply", "--expect", digest]].concat())
        } else {
            applied
        };
        assert!([0, 3].contains(&applied.code), "{applied:#?}");
        let document = applied.json();
        assert_eq!(document["applied"], true, "{document}");
        let mut moved = 0;
        for ((id, _, attempts, max), (_, status, after, max_after)) in before.iter().zip(stored(&doctor)) {
            let place = format!("{forced:?}: {attempts:?} of {max:?} came to {status} with {after:?}");
            assert_eq!(*max, max_after, "{place}");
            if status == "RUNNING" {
                assert_eq!(*attempts, after, "{place}");
                continue;
            }
            moved += 1;
            // A column of REAL affinity makes such reals of integers.
            let whole = |value: &Value| match value {
                Value::Real(real) if real.fract() == 0.0 => Value::Integer(*real as i64),
                other => other.clone(),
            };
            let (before, now) = match (whole(attempts), whole(&after)) {
                (Value::Integer(before), Value::Integer(now)) => (before, now),
                (Value::Null, Value::Integer(now)) => (0, now),
                _ => panic!("{place}"),
            };
            assert_eq!(Some(now), before.checked_add(1), "{place}");
            match whole(max) {
                Value::Integer(max) if now >= max => assert_eq!(status, "FAILED", "{place}"),
                Value::Integer(_) | Value::Null => assert!(["QUEUED", "FAILED"].contains(&status.as_str()), "{place}"),
                // A limit that nobody can read is no licence to go round for ever.
                _ => assert_eq!(status, "FAILED", "{place}"),
            }
            let id = id.to_string();
            let step =
                document["steps"].as_array().unwrap().iter().find(|step| step["id"].as_str() == Some(&id)).unwrap();
            assert_eq!((step["state_after"].as_str(), step["attempts_after"].as_i64()), (Some(&*status), Some(now)));
        }
        assert!(moved > 20, "{forced:?}: only {moved} were moved");
        figures::add(before.len() as u64, TRIED);
    }
}
