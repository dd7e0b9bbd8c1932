//! The gauges of a run: which there are, in which order, and what becomes of too many or too long names.

use jobdoctor::model::Action;
use jobdoctor::output::format::prometheus;
use jobdoctor::output::metrics::{OutcomeCounts, RunMetrics, metrics};
use jobdoctor::output::{Measured, MeasuredQueue, MeasuredState};
use std::collections::BTreeMap;
use std::time::Duration;

fn queue(in_flight: u64, stuck: u64) -> MeasuredQueue {
    let state = MeasuredState { in_flight, unknown: 0, stuck: BTreeMap::from([("lease_expired", stuck)]) };
    MeasuredQueue {
        states: BTreeMap::from([("RUNNING".to_owned(), state)]),
        oldest_silence_seconds: (stuck > 0).then_some(812.4),
        oldest_claim_seconds: None,
    }
}

fn run<'a>(measured: Option<&'a Measured>, reclaimed: Option<&'a OutcomeCounts>, exit_code: u8) -> RunMetrics<'a> {
    RunMetrics {
        command: "sweep",
        target: "shop",
        ended_at: 1_795_168_800.123_4,
        took: Duration::from_millis(250),
        exit_code,
        last_success_at: Some(1_795_168_000.0),
        measured,
        yielded: false,
        outcomes: reclaimed,
    }
}

fn lines(run: &RunMetrics<'_>) -> Vec<String> {
    let text = prometheus(&metrics(run)).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.replace("target=\"shop\",command=\"sweep\"", "…"))
        .collect()
}

#[test]
fn gauges_of_a_run() {
    let measured = Measured {
        queues: BTreeMap::from([(None, queue(1, 0)), (Some("mail".to_owned()), queue(3, 2))]),
        ..Measured::default()
    };
    let one = |action, outcome| ((Some("mail".to_owned()), action, outcome), 1);
    let reclaimed = OutcomeCounts::from([one(Action::Requeue, "moved"), one(Action::Fail, "locked")]);
    assert_eq!(
        lines(&run(Some(&measured), Some(&reclaimed), 0)),
        [
            "jobdoctor_up{…} 1",
            "jobdoctor_exit_code{…} 0",
            "jobdoctor_last_run_timestamp_seconds{…} 1795168800.123",
            "jobdoctor_last_success_timestamp_seconds{…} 1795168800.123",
            "jobdoctor_run_duration_seconds{…} 0.25",
            "jobdoctor_in_flight_jobs{…,queue=\"\",state=\"RUNNING\"} 1",
            "jobdoctor_in_flight_jobs{…,queue=\"mail\",state=\"RUNNING\"} 3",
            "jobdoctor_stuck_jobs{…,queue=\"\",state=\"RUNNING\",reason=\"lease_expired\"} 0",
            "jobdoctor_stuck_jobs{…,queue=\"mail\",state=\"RUNNING\",reason=\"lease_expired\"} 2",
            "jobdoctor_unknown_jobs{…,queue=\"\",state=\"RUNNING\"} 0",
            "jobdoctor_unknown_jobs{…,queue=\"mail\",state=\"RUNNING\"} 0",
            "jobdoctor_oldest_silence_seconds{…,queue=\"\"} 0",
            "jobdoctor_oldest_silence_seconds{…,queue=\"mail\"} 812.4",
            "jobdoctor_reclaimed_jobs{…,queue=\"\",action=\"requeue\",outcome=\"moved\"} 0",
            "jobdoctor_reclaimed_jobs{…,queue=\"mail\",action=\"requeue\",outcome=\"moved\"} 1",
            "jobdoctor_reclaimed_jobs{…,queue=\"mail\",action=\"fail\",outcome=\"locked\"} 1",
        ]
    );
}

#[test]
fn beyond_200_queues_those_with_findings_keep_their_names() {
    let mut queues: BTreeMap<_, _> = (0..300).map(|n| (Some(format!("q{n:03}")), queue(1, 0))).collect();
    queues.insert(Some("q299".to_owned()), queue(5, 2));
    queues.insert(Some("other".to_owned()), queue(1, 0));
    let measured = Measured { queues, ..Measured::default() };
    let lines = lines(&run(Some(&measured), None, 0));
    let in_flight: Vec<&String> = lines.iter().filter(|line| line.contains("in_flight")).collect();
    assert_eq!(in_flight.len(), 200, "the rest is counted with the real one of that name");
    assert!(lines.contains(&"jobdoctor_in_flight_jobs{…,queue=\"q299\",state=\"RUNNING\"} 5".to_owned()));
    let total: u64 = in_flight.iter().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum();
    assert_eq!(total, 305, "none is lost");
}

#[test]
fn names_that_are_cut_to_the_same_are_one() {
    let long = |end: &str| Some(format!("{}{end}", "x".repeat(200)));
    let measured = Measured {
        queues: BTreeMap::from([(long("a"), queue(1, 0)), (long("b"), queue(2, 0))]),
        ..Measured::default()
    };
    let lines = lines(&run(Some(&measured), None, 0));
    let found: Vec<&String> = lines.iter().filter(|line| line.contains("in_flight")).collect();
    assert!(found.len() == 1 && found[0].ends_with(" 3"), "{found:?}");
}
