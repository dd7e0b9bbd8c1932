//! The Grafana dashboard and the alert rules ask for what the program writes, in Prometheus' own language.

use crate::readme::block::text_of;
use crate::support::promtool::{accepts_file, samples};
use crate::support::shop::Shop;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const DASHBOARD: &str = include_str!("../../docs/monitoring/grafana.json");

fn dashboard() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let annotations = dashboard["annotations"]["list"].as_array().unwrap();
    let expressions = targets.chain(annotations).map(|one| one["expr"].as_str().unwrap());
    expressions.map(|text| text.replace("$target", "shop").replace("$__rate_interval", "5m")).collect()
}

/// The labels of each metric that a sweep and a count write, by the metric's name.
fn written() -> BTreeMap<String, BTreeSet<String>> {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, 1, "'web1:1'", 900);
    shop.run(&["sweep", "--apply", "--textfile", "q.prom"]).exits(0);
    let text = fs::read_to_string(shop.doctor.path("q.prom")).unwrap();
    samples(&text).into_iter().map(|sample| (sample.name, sample.labels.into_keys().collect())).collect()
}

/// What an expression asks for and the program does not write: metrics; labels in `by (...)` and `on (...)`, which are of the next
/// metric; and labels in braces, which are of the metric before them.
fn unknown(expression: &str, written: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let lists = ["by (", "on ("].into_iter().flat_map(|open| expression.split(open).skip(1));
    let lists = lists.map(|rest| rest.split_once(')').unwrap());
    let lists = lists.map(|(labels, rest)| (words(labels), words(rest).into_iter().find(|word| is_metric(word))));
    let braces = expression.match_indices('{').map(|(at, _)| {
        let pairs = expression[at + 1..].split('}').next().unwrap().split(',');
        let labels = pairs.filter_map(|pair| words(pair).into_iter().next()).collect::<Vec<_>>();
        (labels, words(&expression[..at]).pop())
    });
    let labels = lists.chain(braces).flat_map(|(labels, metric)| {
        let of = metric.and_then(|metric| written.get(&metric));
        let is_wrong = move |label: &String| of.is_some_and(|of| !of.contains(label));
        labels.into_iter().filter(is_wrong).map(|label| format!("label {label} in {expression}"))
    });
    let metrics = words(expression).into_iter().filter(|word| is_metric(word) && !written.contains_key(word));
    metrics.map(|metric| format!("metric {metric}")).chain(labels).collect()
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn is_metric(word: &str) -> bool {
    word.starts_with("jobdoctor_")
}

/// A metric that nobody writes would never raise an alert, and a panel of it stays empty.
#[test]
fn they_ask_for_what_is_written() {
    let written = written();
    let rules = text_of("yaml rules");
    let rules = rules.split("- alert: ").skip(1).map(|rule| {
        let rule = rule.split_once("expr:").unwrap().1;
        rule.split("\n        for:").next().unwrap().split("\n        labels:").next().unwrap().to_owned()
    });
    let expressions: Vec<String> = rules.chain(dashboard()).collect();
    assert!(expressions.len() > 15, "{expressions:?}");
    let unknown: Vec<String> = expressions.iter().flat_map(|expression| unknown(expression, &written)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    let shown = expressions.concat();
    let left_out = ["jobdoctor_last_run_timestamp_seconds", "jobdoctor_build_info", "jobdoctor_reclaimed_jobs_created"];
    let all = written.keys().filter(|name| !left_out.contains(&name.as_str()));
    all.for_each(|name| assert!(shown.contains(name.as_str()), "{name} is shown nowhere"));
}

/// The mutants: a metric and labels that are not there.
#[test]
fn what_is_not_written_is_caught() {
    let written = written();
    for expression in [
        "sum(jobdoctor_moved_jobs)",
        "sum by (target, move) (jobdoctor_reclaimed_jobs_total)",
        "sum(jobdoctor_stuck_jobs{status=\"x\"})",
        "max by (queue) (jobdoctor_exit_code)",
    ] {
        assert_eq!(unknown(expression, &written).len(), 1, "{expression}");
    }
    assert!(unknown("sum by (queue) (jobdoctor_stuck_jobs{target=~\"a\", reason=\"x\"})", &written).is_empty());
}

#[test]
fn prometheus_reads_the_dashboard() {
    let rules: String = dashboard()
        .iter()
        .enumerate()
        .map(|(n, expression)| format!("      - {{record: 'panel{n}', expr: '{expression}'}}\n"))
        .collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rules.yml");
    fs::write(&path, format!("groups:\n  - name: dashboard\n    rules:\n{rules}")).unwrap();
    accepts_file("check", &path);
}
