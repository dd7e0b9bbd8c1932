//! `stats --runtimes`: how long jobs ran that have ended well.

use super::place::{Place, on_both, with_jobs};
use crate::support::cli::is_valid;
use insta::{allow_duplicates, assert_snapshot};
use serde_json::{Value, json};

fn runtimes(place: &Place, more: &[&str]) -> Value {
    let document = place.on_db(&[&["stats", "--runtimes", "--json"], more].concat()).exits(0).json();
    is_valid("stats-runtimes", &document);
    document
}

fn near(value: &Value, exact: f64) {
    let told = value.as_f64().unwrap();
    assert!((told - exact).abs() <= exact * 0.01, "{told} for {exact}");
}

#[test]
fn percentiles_by_kind_and_what_a_threshold_would_have_hit() {
    with_jobs(|place| {
        // 1 to 1000 seconds; and a hundred that take 2 seconds.
        place.finished("media", "ResizeVideo", 1000, "i");
        place.finished("mail", "SendInvoice", 100, "2");
        // Those have not ended well, and count for nothing.
        place.sql(
            "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at) VALUES
            ('mail', 'SendInvoice', 'FAILED', {9000 s ago}, {60 s ago}), ('mail', 'SendInvoice', 'CANCELLED', {9000 s ago}, {60 s ago}),
            ('mail', 'SendInvoice', 'RUNNING', {9000 s ago}, NULL), ('mail', 'SendInvoice', 'QUEUED', NULL, NULL)",
        );
        let document = runtimes(place, &["--older", "15m"]);
        let [video, invoice] = [&document["kinds"][0], &document["kinds"][1]];
        assert_eq!(
            (&video["kind"], &video["queue"], &video["jobs"]),
            (&"ResizeVideo".into(), &Value::Null, &1000.into())
        );
        near(&video["p50_seconds"], 500.0);
        near(&video["p95_seconds"], 950.0);
        near(&video["p99_seconds"], 990.0);
        assert_eq!((&video["max_seconds"], &video["would_hit"]), (&1000.0.into(), &100.into()));
        near(&invoice["p50_seconds"], 2.0);
        assert_eq!(
            (&invoice["jobs"], &invoice["would_hit"], &invoice["max_seconds"]),
            (&100.into(), &0.into(), &2.0.into())
        );
        assert_eq!(
            document["summary"],
            json!({"kinds": 2, "jobs": 1100, "unusable": 0, "left_out": 0, "would_hit": 100})
        );
        let filled: Vec<&Value> =
            video["buckets"].as_array().unwrap().iter().filter(|bucket| bucket["jobs"] != 0).collect();
        assert_eq!(filled[0], &json!({"up_to_seconds": 1.0, "jobs": 1}));
        assert_eq!(filled[filled.len() - 1], &json!({"up_to_seconds": 1800.0, "jobs": 400}));
        assert_eq!(video["buckets"].as_array().unwrap().last().unwrap()["up_to_seconds"], Value::Null);
        // A run as long as the threshold is not beyond it.
        assert_eq!(runtimes(place, &["--older", "1000s"])["summary"]["would_hit"], 0);
        assert_eq!(runtimes(place, &["--older", "999s"])["summary"]["would_hit"], 1);
        assert_eq!(runtimes(place, &[])["summary"]["would_hit"], Value::Null);
        let media = runtimes(place, &["--queue", "med*"]);
        assert_eq!((&media["summary"]["kinds"], &media["summary"]["jobs"]), (&1.into(), &1000.into()));
        assert_eq!(runtimes(place, &["--kind", "Send*"])["summary"]["jobs"], 100);
    });
}

#[test]
fn for_people() {
    with_jobs(|place| {
        place.finished("media", "ResizeVideo", 1000, "i");
        place.finished("mail", "SendInvoice", 100, "2");
        let ran = place.on_db(&["stats", "--runtimes", "--older", "15m"]).exits(0);
        allow_duplicates! {
        assert_snapshot!(ran.stdout, @r"
        KIND          JOBS     P50      P95      P99      MAX  WOULD HIT  SPREAD
        ResizeVideo  1,000  8m 20s  15m 42s  16m 20s  16m 40s        100  ▁▁▁▁▁▁▂▄▆█
        SendInvoice    100      2s       2s       2s       2s          0  ·█········
        spread: up to 1s, 2s, 5s, 10s, 30s, 1m, 2m, 5m, 10m, 30m
        ! a claim here is judged by its lease first: a job that shows life may run for longer than the
            threshold
        ");
        }
        assert_eq!(
            ran.stderr,
            "1,100 jobs of 2 kinds ended well within the last 7 days; the threshold would have hit 100\n"
        );
        let csv = place.on_db(&["stats", "--runtimes", "-o", "csv"]).exits(0).stdout;
        let header = "kind,queue,jobs,p50_seconds,p95_seconds,p99_seconds,max_seconds,would_hit,unusable\n";
        assert!(csv.starts_with(&format!("{header}ResizeVideo,,1000,")), "{csv}");
        assert_eq!(place.on_db(&["stats", "--runtimes", "-o", "name"]).exits(0).stdout, "ResizeVideo\nSendInvoice\n");
        let lines = place.on_db(&["stats", "--runtimes", "-o", "jsonl"]).exits(0).stdout;
        let types: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone()).collect();
        assert_eq!(types, ["head", "kind", "kind", "summary"]);
    });
}

#[test]
fn the_thresholds_of_the_config_file_are_tried_by_queue_and_kind() {
    with_jobs(|place| {
        place.finished("media", "ResizeVideo", 100, "i");
        place.finished("mail", "ResizeVideo", 100, "i");
        place.config("[[target.shop.threshold]]\nqueue = \"media\"\nolder = \"90s\"");
        let hit = |more: &[&str]| {
            let document = place.run(&[&["stats", "--runtimes", "--json"], more].concat()).exits(0).json();
            document["summary"]["would_hit"].clone()
        };
        assert_eq!(hit(&[]), 10);
        place.config("older = \"50s\"\n[[target.shop.threshold]]\nqueue = \"media\"\nolder = \"90s\"");
        assert_eq!(hit(&[]), 60);
        assert_eq!(hit(&["--older", "99s"]), 2);
    });
}

#[test]
fn the_window_is_by_the_end_of_a_run() {
    with_jobs(|place| {
        place.sql(
            "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at) VALUES
            ('mail', 'A', 'SUCCEEDED', {691260 s ago}, {691200 s ago}),
            ('mail', 'B', 'SUCCEEDED', {691200 s ago}, {600 s ago})",
        );
        let document = runtimes(place, &[]);
        assert_eq!((&document["summary"]["jobs"], &document["kinds"][0]["kind"]), (&1.into(), &"B".into()));
        assert_eq!(document["since_seconds"], 604_800.0);
        assert_eq!(runtimes(place, &["--since", "9d"])["summary"]["jobs"], 2);
        // What the window leaves empty is said not to be everything.
        let ran = place.on_db(&["stats", "--runtimes", "--since", "5m"]).exits(0);
        assert!(
            ran.stdout
                .replace("\n    ", " ")
                .starts_with("! no job has ended well within the last 5m; the last of all jobs to do so ended at 2"),
            "{}",
            ran.stdout
        );
        let document = runtimes(place, &["--kind", "C"]);
        assert_eq!((&document["summary"]["jobs"], &document["kinds"]), (&0.into(), &json!([])));
        assert!(document["findings"][0].as_str().unwrap().starts_with("no job of those asked for has ended well"));
    });
}

#[test]
fn no_finished_job_at_all_is_said() {
    with_jobs(|place| {
        place.claim("mail", "A", 10);
        let document = runtimes(place, &[]);
        assert_eq!(
            document["findings"],
            json!([
                "no job has ended well within the last 7 days; the table holds no finished job whose end is known, or none was found in time"
            ])
        );
        let ran = place.on_db(&["stats", "--runtimes"]).exits(0);
        assert!(ran.stdout.starts_with("! no job has ended well"), "{}", ran.stdout);
    });
}

/// Missing, implausible, ahead of the clock, ended before begun; on SQLite also what is no number.
#[test]
fn what_tells_no_run_time_is_counted_and_not_guessed() {
    with_jobs(|place| {
        place.sql(
            "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at) VALUES
            ('mail', 'A', 'SUCCEEDED', {120 s ago}, {60 s ago}),
            ('mail', 'A', 'SUCCEEDED', NULL, {60 s ago}),
            ('mail', 'A', 'SUCCEEDED', {60 s ago}, {120 s ago}),
            ('mail', 'A', 'SUCCEEDED', {60 s ago}, {-7200 s ago}),
            ('mail', 'A', 'SUCCEEDED', {2000000000 / 2 - 60 + 700000000 s ago}, {60 s ago})",
        );
        let mut unusable = 4;
        if !place.is_server() {
            place.sql(
                "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at) VALUES
                ('mail', 'A', 'SUCCEEDED', {60 s ago}, 'yesterday'), ('mail', 'A', 'SUCCEEDED', 'soon', {60 s ago}),
                ('mail', 'A', 'SUCCEEDED', {60 s ago}, x'00ff')",
            );
            unusable += 3;
        }
        let document = runtimes(place, &["--older", "1s"]);
        let kind = &document["kinds"][0];
        assert_eq!(
            (&kind["jobs"], &kind["unusable"], &kind["max_seconds"]),
            (&1.into(), &unusable.into(), &60.0.into())
        );
        assert_eq!((&kind["would_hit"], &document["summary"]["unusable"]), (&1.into(), &unusable.into()));
        let said = document["findings"][0].as_str().unwrap();
        assert!(said.ends_with(&format!("counted as unusable: {unusable}")), "{said}");
    });
}

#[test]
fn a_kind_without_a_name_and_one_with_a_hostile_name() {
    on_both(|place| {
        let time = place.pick("INTEGER", "timestamptz");
        place.sql(&format!(
            "CREATE TABLE jobs (id INTEGER PRIMARY KEY, kind TEXT, status TEXT, owner_id TEXT, claimed_at {time}, finished_at {time});
            INSERT INTO jobs VALUES (1, NULL, 'SUCCEEDED', NULL, {{90 s ago}}, {{60 s ago}}),
                (2, '\u{1b}[31mevil\n\u{202e}', 'SUCCEEDED', NULL, {{120 s ago}}, {{60 s ago}}),
                (3, 'A', 'RUNNING', 'web1:1', {{120 s ago}}, NULL);"
        ));
        let ran = place.on_db(&["stats", "--runtimes", "--preset", "lease"]).exits(0);
        assert!(
            ran.stdout.contains("\\x1b[31mevil\\n\\u{202e}") && ran.stdout.contains("(not named)"),
            "{}",
            ran.stdout
        );
        assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{}", ran.stdout);
        let document = runtimes(place, &["--preset", "lease"]);
        assert_eq!(
            (&document["kinds"][0]["kind"], &document["kinds"][1]["kind"]),
            (&"\u{1b}[31mevil\n\u{202e}".into(), &Value::Null)
        );
    });
}

/// Each way in which a column may spell time. The instants are the same, so the answers are.
#[test]
fn in_every_encoding() {
    on_both(|place| {
        let cases: &[(&str, &str, &str)] = if place.is_server() {
            &[
                ("epoch s", "bigint", "extract(epoch from T)::bigint"),
                ("epoch ms", "bigint", "(extract(epoch from T) * 1000)::bigint"),
                ("epoch us", "bigint", "(extract(epoch from T) * 1000000)::bigint"),
                ("epoch s float", "double precision", "extract(epoch from T)::double precision"),
                ("native", "timestamptz", "T"),
                ("native utc", "timestamp", "T AT TIME ZONE 'UTC'"),
                ("native Europe/Paris", "timestamp", "T AT TIME ZONE 'Europe/Paris'"),
                ("text YYYY-MM-DD HH:MM:SS utc", "text", "to_char(T AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')"),
            ]
        } else {
            &[
                ("epoch s", "INTEGER", "T"),
                ("epoch ms", "INTEGER", "T * 1000"),
                ("epoch ns", "INTEGER", "T * 1000000000"),
                ("epoch s float", "REAL", "T + 0.0"),
                ("text YYYY-MM-DD HH:MM:SS utc", "TEXT", "datetime(T, 'unixepoch')"),
                ("text YYYY-MM-DDTHH:MM:SSZ", "TEXT", "strftime('%Y-%m-%dT%H:%M:%SZ', T, 'unixepoch')"),
            ]
        };
        for (encoding, column, spelling) in cases {
            let at = |seconds: u32| spelling.replace('T', &format!("{{{seconds} s ago}}"));
            // Where the spelling itself has a T in it, only the first is the time.
            let at = |seconds: u32| match encoding.contains("DDT") {
                true => format!("strftime('%Y-%m-%dT%H:%M:%SZ', {{{seconds} s ago}}, 'unixepoch')"),
                false => match encoding.starts_with("native ") || encoding.starts_with("text") && place.is_server() {
                    true => {
                        spelling.replacen('T', &format!("{{{seconds} s ago}}"), 1).replacen("to_char(T", "to_char(", 1)
                    }
                    false => at(seconds),
                },
            };
            place.sql(&format!(
                "DROP TABLE IF EXISTS work; CREATE TABLE work (id INTEGER PRIMARY KEY, status TEXT, begun {column}, ended {column});
                INSERT INTO work VALUES (1, 'ok', {}, {}), (2, 'ok', {}, {}), (3, 'ok', {}, {});",
                at(700), at(600), at(1600), at(600), at(700_600), at(700_000),
            ));
            place.config(&format!(
                "preset = \"work\"\n[mapping.work]\ntime = {{ default = \"{encoding}\" }}\n\
                states = {{ waiting = [\"new\"], in_flight = [\"busy\"], done = [\"ok\"] }}\n\
                claim = {{ table = \"work\", key = \"id\", state = \"status\", claimed_at = \"begun\", \
                    liveness = [{{ by = \"age\", column = \"begun\", silent_after = \"1h\" }}] }}\n\
                finished = {{ at = \"ended\" }}\naction = {{ requeue = {{ to = \"new\" }} }}\n"
            ));
            let document = place.run(&["stats", "--runtimes", "--json"]).exits(0).json();
            is_valid("stats-runtimes", &document);
            let all = &document["kinds"][0];
            assert_eq!(
                (&document["summary"]["jobs"], &document["summary"]["unusable"]),
                (&2.into(), &0.into()),
                "{encoding}"
            );
            assert_eq!((&all["max_seconds"], &document["by"]), (&1000.0.into(), &"queue".into()), "{encoding}");
            near(&all["p50_seconds"], 100.0);
        }
    });
}

/// A table that has a kind of its own for each job must not fill the memory.
#[test]
fn kinds_without_end() {
    with_jobs(|place| {
        let numbers = match place.is_server() {
            true => "generate_series(1, 1500) AS n(i)",
            false => "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n)",
        };
        place.sql(&format!(
            "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at)
            SELECT 'mail', 'kind ' || i, 'SUCCEEDED', {{90 s ago}}, {{60 s ago}} FROM {numbers}"
        ));
        let document = runtimes(place, &[]);
        let summary = &document["summary"];
        assert_eq!(
            (&summary["kinds"], &summary["jobs"], &summary["left_out"]),
            (&1000.into(), &1000.into(), &500.into())
        );
        assert!(
            document["findings"][0].as_str().unwrap().contains("beyond the first 1000"),
            "{}",
            document["findings"]
        );
    });
}
