//! The gauges of a run: which there are, in which order, and what becomes of too many or too long names.

use jobdoctor::model::Action;
use jobdoctor::output::format::prometheus;
use jobdoctor::output::metrics::{OutcomeCounts, RunMetrics, Totals, metrics};
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
        totals: Totals::new(),
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
    let before = Totals::from([(["mail", "requeue", "moved"].map(str::to_owned), (4.0, 1_795_000_000.0))]);
    let run = RunMetrics { totals: before, ..run(Some(&measured), Some(&reclaimed), 0) };
    let (created, lines): (Vec<_>, Vec<_>) = lines(&run).into_iter().partition(|line| line.contains("_created"));
    let since: Vec<&str> = created.iter().filter_map(|line| line.rsplit(' ').next()).collect();
    assert_eq!(since, ["1795168799.873", "1795168799.873", "1795168799.873", "1795168799.873", "1795000000"]);
    assert_eq!(
        lines,
        [
            concat!("jobdoctor_build_info{…,version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
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
            "jobdoctor_reclaimed_jobs_total{…,queue=\"\",action=\"fail\",outcome=\"moved\"} 0",
            "jobdoctor_reclaimed_jobs_total{…,queue=\"\",action=\"requeue\",outcome=\"moved\"} 0",
            "jobdoctor_reclaimed_jobs_total{…,queue=\"mail\",action=\"fail\",outcome=\"locked\"} 1",
            "jobdoctor_reclaimed_jobs_total{…,queue=\"mail\",action=\"fail\",outcome=\"moved\"} 0",
            "jobdoctor_reclaimed_jobs_total{…,queue=\"mail\",action=\"requeue\",outcome=\"moved\"} 5",
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

/// A counter goes on for ever, so the queues of earlier runs count too.
#[test]
fn beyond_200_queues_a_counter_takes_no_new_names() {
    let total = |n| ([format!("q{n:03}"), "requeue".to_owned(), "moved".to_owned()], (1.0, 0.0));
    let outcomes = ["new", "q007"].map(|queue| ((Some(queue.to_owned()), Action::Requeue, "moved"), 2)).into();
    let run = RunMetrics { totals: (0..200).map(total).collect(), ..run(None, Some(&outcomes), 0) };
    let lines = lines(&run);
    let counted = |queue: &str, jobs| {
        let line = format!("{{…,queue=\"{queue}\",action=\"requeue\",outcome=\"moved\"}} {jobs}");
        lines.contains(&format!("jobdoctor_reclaimed_jobs_total{line}"))
    };
    assert!(counted("q007", 3) && counted("other", 2) && !lines.iter().any(|line| line.contains("new")), "{lines:?}");
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
