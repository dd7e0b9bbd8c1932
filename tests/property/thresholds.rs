//! Which threshold counts for a claim: the first entry that matches, the target's or a flag's.

use jobdoctor::policy::{Globs, Policy, SetBy, Threshold, Thresholds};
use std::time::Duration;

const fn minutes(n: u64) -> Option<Duration> {
    Some(Duration::from_secs(n * 60))
}

fn globs(pattern: &str) -> Globs {
    if pattern.is_empty() { Globs::default() } else { Globs::new(&[pattern.to_owned()]).unwrap() }
}

fn entry(queue: &str, kind: &str, older: Option<Duration>, max_runtime: Option<Duration>) -> Threshold {
    Threshold { queue: globs(queue), kind: globs(kind), older, max_runtime }
}

fn policy() -> Policy {
    Policy {
        older: minutes(5),
        thresholds: Thresholds {
            target: "shop".to_owned(),
            entries: vec![
                entry("media", "", None, minutes(90)),
                entry("m*", "Resize*", minutes(120), None),
                entry("media", "", minutes(30), minutes(60)),
            ],
            max_runtime: minutes(600),
            overruled: false,
        },
        ..Policy::default()
    }
}

fn older(policy: &Policy, queue: Option<&str>, kind: Option<&str>) -> Option<(u64, SetBy)> {
    policy.older_for(queue, kind).map(|allowed| (allowed.span.as_secs() / 60, allowed.set_by))
}

#[test]
fn the_first_entry_that_matches_and_has_the_value_counts() {
    let policy = policy();
    assert_eq!(older(&policy, Some("media"), Some("ResizeVideo")), Some((120, SetBy::Entry(2))));
    assert_eq!(older(&policy, Some("media"), Some("Other")), Some((30, SetBy::Entry(3))));
    assert_eq!(older(&policy, Some("media"), None), Some((30, SetBy::Entry(3))));
    assert_eq!(older(&policy, Some("mail"), None), Some((5, SetBy::Target)));
    assert_eq!(older(&policy, None, None), Some((5, SetBy::Target)));
    assert_eq!(policy.thresholds.shortest_older(), minutes(30));
    assert_eq!(policy.thresholds.shortest_max_runtime(), minutes(60));
}

#[test]
fn a_flag_beats_them_all() {
    let policy = policy().with_older(minutes(1));
    assert_eq!(older(&policy, Some("media"), Some("ResizeVideo")), Some((1, SetBy::Flag)));
    assert_eq!(policy.thresholds.shortest_older(), None);
    // It says nothing about how long a job may run.
    assert_eq!(policy.thresholds.shortest_max_runtime(), minutes(60));
    assert_eq!(older(&crate::property::thresholds::policy().with_older(None), None, None), Some((5, SetBy::Target)));
}

#[test]
fn nothing_said_is_nothing_allowed_or_forbidden() {
    assert_eq!(Policy::default().older_for(Some("mail"), None), None);
    assert_eq!(Policy::default().thresholds.shortest_max_runtime(), None);
    let flag = Policy { older: minutes(5), ..Policy::default() };
    assert_eq!(older(&flag, None, None), Some((5, SetBy::Flag)));
}
