//! `stats --runtimes`: how long jobs ran that have ended well.

use crate::support::shop::{Shop, on_both};
use insta::{allow_duplicates, assert_snapshot};
use serde_json::{Value, json};

fn runtimes(place: &Shop, more: &[&str]) -> Value {
    place.run(&[&["stats", "--runtimes", "--json"], more].concat()).exits(0).document("stats-runtimes")
}

fn near(value: &Value, exact: f64) {
    let told = value.as_f64().unwrap();
    assert!((told - exact).abs() <= exact * 0.01, "{told} for {exact}");
}

#[test]
fn percentiles_by_kind_and_what_a_threshold_would_have_hit() {
    on_both(|place| {
        // 1 to 1000 seconds; and a hundred that take 2 seconds.
        place.finished("media", "ResizeVideo", 1000, "n");
        place.finished("mail", "SendInvoice", 100, "2");
        // Those have not ended well, and count for nothing.
        place.sql(
            "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at) VALUES
            ('mail', 'SendInvoice', 'FAILED', {ago 9000}, {ago 60}), ('mail', 'SendInvoice', 'CANCELLED', {ago 9000}, {ago 60}),
            ('mail', 'SendInvoice', 'RUNNING', {ago 9000}, NULL), ('mail', 'SendInvoice', 'QUEUED', NULL, NULL)",
        );
        let document = runtimes(place, &["--older", "15m"]);
        let [video, invoice] = [&document["kinds"][0], &document["kinds"][1]];
        assert_eq!(json!([video["kind"], video["queue"], video["jobs"]]), json!(["ResizeVideo", null, 1000]));
        near(&video["p50_seconds"], 500.0);
        near(&video["p95_seconds"], 950.0);
        near(&video["p99_seconds"], 990.0);
        assert_eq!((&video["max_seconds"], &video["would_hit"]), (&1000.0.into(), &100.into()));
        near(&invoice["p50_seconds"], 2.0);
        assert_eq!(json!([invoice["jobs"], invoice["would_hit"], invoice["max_seconds"]]), json!([100, 0, 2.0]));
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
    on_both(|place| {
        place.finished("media", "ResizeVideo", 1000, "n");
        place.finished("mail", "SendInvoice", 100, "2");
        let ran = place.run(&["stats", "--runtimes", "--older", "15m"]).exits(0);
        allow_duplicates! {
        assert_snapshot!(ran.stdout, @r"
        KIND          JOBS     P50      P95      P99      MAX  WOULD HIT  SPREAD
        ResizeVideo  1,000  8m 20s  15m 42s  16m 20s  16m 40s        100  ▁▁▁▁▁▁▂▄▆█
        SendInvoice    100      2s       2s       2s       2s          0  ·█········
        spread: up to 1s, 2s, 5s, 10s, 30s, 1m, 2m, 5m, 10m, 30m
        ! jobdoctor judges a claim here by its lease first: a job that shows life may run for longer
            than the threshold
        ");
        }
        assert_eq!(
            ran.stderr,
            "1,100 jobs of 2 kinds ended well within the last 7 days; the threshold would have hit 100\n"
        );
        let csv = place.run(&["stats", "--runtimes", "-o", "csv"]).exits(0).stdout;
        let header = "kind,queue,jobs,p50_seconds,p95_seconds,p99_seconds,max_seconds,would_hit,unusable\n";
        assert!(csv.starts_with(&format!("{header}ResizeVideo,,1000,")), "{csv}");
        assert_eq!(place.run(&["stats", "--runtimes", "-o", "name"]).exits(0).stdout, "ResizeVideo\nSendInvoice\n");
        let lines = place.run(&["stats", "--runtimes", "-o", "jsonl"]).exits(0).stdout;
        let types: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone()).collect();
        assert_eq!(types, ["head", "kind", "kind", "summary"]);
    });
}

#[test]
fn the_thresholds_of_the_config_file_are_tried_by_queue_and_kind() {
    on_both(|place| {
        place.finished("media", "ResizeVideo", 100, "n");
        place.finished("mail", "ResizeVideo", 100, "n");
        place.config("[[target.shop.threshold]]\nqueue = \"media\"\nolder = \"90s\"");
        let hit = |more: &[&str]| {
            let document = place.on_target(&[&["stats", "--runtimes", "--json"], more].concat()).exits(0).json();
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
    on_both(|place| {
        let none = "no job ended well within the last 7 days; the table holds no finished job whose end is known, or none was found in time";
        assert_eq!(runtimes(place, &[])["findings"], json!([none]));
        place.sql(
            "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at) VALUES
            ('mail', 'A', 'SUCCEEDED', {ago 691260}, {ago 691200}),
            ('mail', 'B', 'SUCCEEDED', {ago 691200}, {ago 600})",
        );
        let document = runtimes(place, &[]);
        assert_eq!((&document["summary"]["jobs"], &document["kinds"][0]["kind"]), (&1.into(), &"B".into()));
        assert_eq!(document["since_seconds"], 604_800.0);
        assert_eq!(runtimes(place, &["--since", "9d"])["summary"]["jobs"], 2);
        // What the window leaves empty is said not to be everything.
        let ran = place.run(&["stats", "--runtimes", "--since", "5m"]).exits(0);
        assert!(
            ran.stdout
                .replace("\n    ", " ")
                .starts_with("! no job ended well within the last 5m; the last one of all ended at 2"),
            "{}",
            ran.stdout
        );
        let document = runtimes(place, &["--kind", "C"]);
        assert_eq!((&document["summary"]["jobs"], &document["kinds"]), (&0.into(), &json!([])));
        assert!(document["findings"][0].as_str().unwrap().starts_with("no selected job ended well"));
    });
}

/// Missing, implausible, ahead of the clock, ended before begun; on SQLite also what is no number.
#[test]
fn what_tells_no_run_time_is_counted_and_not_guessed() {
    on_both(|place| {
        place.sql(
            "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at) VALUES
            ('mail', 'A', 'SUCCEEDED', {ago 120}, {ago 60}),
            ('mail', 'A', 'SUCCEEDED', NULL, {ago 60}),
            ('mail', 'A', 'SUCCEEDED', {ago 60}, {ago 120}),
            ('mail', 'A', 'SUCCEEDED', {ago 60}, {ago -7200}),
            ('mail', 'A', 'SUCCEEDED', {ago 2000000000 / 2 - 60 + 700000000}, {ago 60})",
        );
        let mut unusable = 4;
        if !place.is_postgres() {
            place.sql(
                "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at) VALUES
                ('mail', 'A', 'SUCCEEDED', {ago 60}, 'yesterday'), ('mail', 'A', 'SUCCEEDED', 'soon', {ago 60}),
                ('mail', 'A', 'SUCCEEDED', {ago 60}, x'00ff')",
            );
            unusable += 3;
        }
        let document = runtimes(place, &["--older", "1s"]);
        let kind = &document["kinds"][0];
        assert_eq!(json!([kind["jobs"], kind["unusable"], kind["max_seconds"]]), json!([1, unusable, 60.0]));
        assert_eq!((&kind["would_hit"], &document["summary"]["unusable"]), (&1.into(), &unusable.into()));
        let said = document["findings"][0].as_str().unwrap();
        assert!(said.ends_with(&format!("counted as unusable: {unusable}")), "{said}");
    });
}

/// A table that has a kind of its own for each job must not fill the memory.
#[test]
fn kinds_without_end() {
    on_both(|place| {
        place.sql(&format!(
            "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at)
            SELECT 'mail', 'kind ' || n, 'SUCCEEDED', {{ago 90}}, {{ago 60}} FROM {}",
            place.numbers(1, 1500)
        ));
        let document = runtimes(place, &[]);
        let summary = &document["summary"];
        assert_eq!(json!([summary["kinds"], summary["jobs"], summary["left_out"]]), json!([1000, 1000, 500]));
        assert!(
            document["findings"][0].as_str().unwrap().contains("beyond the first 1000"),
            "{}",
            document["findings"]
        );
    });
}
