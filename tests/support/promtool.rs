//! Prometheus' own reader of metrics and of alert rules, and one of ours that is stricter.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub value: f64,
}

/// What promtool makes of metrics; it must accept them.
#[track_caller]
pub fn accepts_metrics(text: &str) {
    let mut child = promtool(&["check", "metrics"]).stdin(Stdio::piped()).spawn().expect(MISSING);
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    must_accept(&child.wait_with_output().unwrap(), text);
}

/// What promtool makes of a file of rules, or of a file that tests them; it must accept that.
#[track_caller]
pub fn accepts_file(verb: &str, path: &Path) {
    let output = promtool(&[verb, "rules"]).arg(path).output().expect(MISSING);
    must_accept(&output, &std::fs::read_to_string(path).unwrap());
}

const MISSING: &str = "no promtool in PATH: run tests/run, which installs it, or install the package `prometheus`";

fn promtool(arguments: &[&str]) -> Command {
    let mut command = Command::new("promtool");
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[track_caller]
fn must_accept(output: &Output, text: &str) {
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said).into_owned()).concat();
    assert!(output.status.success(), "promtool: {}: {said}\n{text}", output.status);
}

/// Reads metrics. Stricter than the format: gauges and counters alone, each family whole and with one HELP and one TYPE before it, no
/// times, no two samples with the same labels, all in the order of their labels.
#[track_caller]
pub fn samples(text: &str) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    let (mut families, mut lines) = (BTreeSet::new(), text.lines());
    assert!(text.ends_with('\n'), "half a file: {text}");
    let mut family = String::new();
    let mut before: Option<Vec<String>> = None;
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            family = help.split_once(' ').expect("a name and a sentence").0.to_owned();
            assert!(families.insert(family.clone()), "{family} comes twice");
            let kind = if family.ends_with("_total") { "counter" } else { "gauge" };
            assert_eq!(lines.next(), Some(format!("# TYPE {family} {kind}").as_str()));
            before = None;
            continue;
        }
        let sample = sample(line);
        assert_eq!(sample.name, family, "{line}");
        let labels: Vec<String> = ["queue", "state", "reason", "status", "action", "outcome"]
            .iter()
            .filter_map(|name| sample.labels.get(*name).cloned())
            .collect();
        assert!(before.as_ref() < Some(&labels), "{line} is out of order, or there twice");
        before = Some(labels);
        samples.push(sample);
    }
    samples
}

fn sample(line: &str) -> Sample {
    let (name, mut rest) = line.split_once('{').unwrap_or_else(|| panic!("no labels: {line}"));
    assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{line}");
    let mut labels = BTreeMap::new();
    loop {
        let (label, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("no label: {line}"));
        let (value, after) = quoted(after);
        assert!(labels.insert(label.to_owned(), value).is_none(), "{label} comes twice: {line}");
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None => {
                let number = after.strip_prefix("} ").unwrap_or_else(|| panic!("no value: {line}"));
                let value = number.parse().unwrap_or_else(|error| panic!("{error}: {line}"));
                return Sample { name: name.to_owned(), labels, value };
            }
        }
    }
}

/// A label's value and what comes behind its closing quote.
fn quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.push(match characters.next().unwrap().1 {
                'n' => '\n',
                escaped @ ('"' | '\\') => escaped,
                other => panic!("\\{other} is no escape: {text}"),
            }),
            other => value.push(other),
        }
    }
    panic!("no closing quote: {text}");
}

/// The value of the gauge with all of these labels, of which there must be one at most.
#[track_caller]
pub fn value(samples: &[Sample], name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let is_meant = |sample: &&Sample| {
        sample.name == format!("jobdoctor_{name}")
            && labels.iter().all(|(label, value)| sample.labels.get(*label).is_some_and(|is| is == value))
    };
    let found: Vec<&Sample> = samples.iter().filter(is_meant).collect();
    assert!(found.len() <= 1, "{name} {labels:?}: {found:#?}");
    found.first().map(|sample| sample.value)
}

pub fn sum(samples: &[Sample], name: &str) -> f64 {
    let name = format!("jobdoctor_{name}");
    samples.iter().filter(|sample| sample.name == name).map(|sample| sample.value).sum()
}
