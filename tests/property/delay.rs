//! When requeued jobs may run: one window for a whole run, with few different instants.

use jobdoctor::policy::Delay;
use std::collections::BTreeSet;
use std::time::Duration;

const fn seconds(n: u64) -> Option<Duration> {
    Some(Duration::from_secs(n))
}

#[test]
fn each_of_a_few_rows_has_an_instant_of_its_own_part_of_the_window() {
    let later = Delay { delay: seconds(10), jitter: seconds(100) };
    for chance in [0.0, 0.25, 0.999] {
        let waits = later.waits(0, 50, 50, || chance);
        for (n, wait) in waits.iter().enumerate() {
            let at = wait.as_secs_f64() - 10.0;
            let begin = n as f64 * 2.0;
            assert!(at >= begin - 1e-6 && at < begin + 2.0, "{n}: {at}");
        }
    }
}

#[test]
fn a_batch_has_at_most_fifty_instants_and_they_never_go_back() {
    let later = Delay { delay: None, jitter: seconds(1000) };
    for count in [1, 49, 50, 51, 99, 499, 500, 501] {
        let waits = later.waits(0, count, count, || 0.5);
        let instants: BTreeSet<Duration> = waits.iter().copied().collect();
        assert_eq!(waits.len(), count);
        assert_eq!(instants.len(), count.min(50), "{count}");
        assert!(waits.is_sorted());
    }
}

/// The second batch goes on where the first one ended: one window for the whole run.
#[test]
fn the_whole_run_shares_one_window() {
    let later = Delay { delay: seconds(5), jitter: seconds(90) };
    let batches =
        [later.waits(0, 500, 1500, || 0.9), later.waits(500, 500, 1500, || 0.0), later.waits(1000, 500, 1500, || 1.0)];
    let secs = |wait: Option<&Duration>| wait.map_or(0.0, |wait| wait.as_secs_f64() - 5.0);
    assert!(secs(batches[0].last()) < 30.0 && secs(batches[1].first()) >= 30.0 - 1e-6);
    assert!(secs(batches[1].last()) < 60.0 && secs(batches[2].first()) >= 60.0);
    assert!(secs(batches[2].last()) <= 90.0);
}
