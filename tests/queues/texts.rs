//! Payloads and last errors, on every version of every queue's tables.

use super::rights::{of, orphan, words};
use super::tables::some;
use crate::support::cli::Doctor;
use serde_json::Value;

/// What makes `boom` the last error of every job; `None` where the tables keep none of a job in flight.
fn fails(queue: &str, version: &str) -> Option<&'static str> {
    Some(match (queue, version) {
        ("delayed-job", _) => "UPDATE delayed_jobs SET last_error = 'boom'",
        ("good-job", _) => "UPDATE good_jobs SET error = 'boom'",
        ("graphile-worker", "0.15") => "UPDATE graphile_worker.jobs SET last_error = 'boom'",
        ("graphile-worker", _) => "UPDATE graphile_worker._private_jobs SET last_error = 'boom'",
        ("oban", version) if version.starts_with("elixir") => {
            r#"UPDATE oban_jobs SET errors = ARRAY['{"error": "old"}', '{"error": "boom"}']::jsonb[]"#
        }
        ("oban", _) => r#"UPDATE oban_jobs SET errors = '[{"error": "old"}, {"error": "boom"}]'"#,
        ("river", _) => r#"UPDATE river_job SET errors = ARRAY['{"error": "old"}', '{"error": "boom"}']::jsonb[]"#,
        ("pg-boss", _) => r#"UPDATE pgboss.job SET output = '{"message": "boom"}'"#,
        ("que", _) => "UPDATE que_jobs SET last_error_message = 'boom', last_error_backtrace = ''",
        _ => return None,
    })
}

/// Their payload is in bytes, or empty here. That of n8n is in another table.
const NO_TEXT: [&str; 3] = ["pgqueuer", "pg-boss", "goqite"];

#[test]
fn every_queue_shows_its_payload_and_its_last_error() {
    let mut shown_at_all = 0;
    for tables in some() {
        let (queue, place) = (tables.queue.as_str(), format!("{} {}", tables.queue, tables.version));
        let database = tables.made();
        if orphan(&tables, &database).is_err() || ["django-q", "n8n"].contains(&queue) {
            continue;
        }
        let (doctor, url) = (Doctor::new(), database.url());
        let options = words(&tables, &["option"]);
        let listing = [&["--json", "--older", "1s", "--db", &url], &of(&options)[..]].concat();
        let id = if queue == "que" {
            let row = database.client().query_one("SELECT min(id)::text FROM que_jobs", &[]).unwrap();
            row.get::<_, String>(0)
        } else {
            let listed = doctor.run(&[&["stale"], &listing[..]].concat()).exits(0).json();
            listed["jobs"][0]["id"].as_str().unwrap_or_else(|| panic!("{place}: {listed:#}")).to_owned()
        };
        let job = |more: &[&str]| {
            let shown = doctor.run(&[&["show", &id], &listing[..], more].concat());
            assert_eq!(shown.code, 0, "{place}: {shown:#?}");
            shown.json()["jobs"][0].clone()
        };
        let error = fails(queue, &tables.version);
        assert_eq!((&job(&[])["payload"], &job(&[])["last_error"]), (&Value::Null, &Value::Null), "{place}");
        database.client().batch_execute(error.unwrap_or_default()).unwrap();
        let (plain, asked) = (job(&[]), job(&["--payload"]));
        assert_eq!((&plain["payload"], &asked["payload_left_out_bytes"]), (&Value::Null, &0.into()), "{place}");
        assert!(asked["payload"].is_string() || NO_TEXT.contains(&queue), "{place}: {asked:#}");
        let says = plain["last_error"].as_str().unwrap_or_default();
        assert_eq!(says.contains("boom"), error.is_some(), "{place}: {plain:#}");
        assert!(!says.contains("old"), "{place}: {plain:#}");
        shown_at_all += 1;
    }
    assert!(shown_at_all >= 15, "{shown_at_all}");
}
