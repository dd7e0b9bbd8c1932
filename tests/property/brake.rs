//! When an apply stops for a person to look first.

use jobdoctor::policy::{Brake, Circumstances, Gauge, Override, Up};
use std::time::Duration;

/// So many dead and so many unknown of so many in flight, the dead all of one owner.
fn gauge(dead: u64, unknown: u64, in_flight: u64) -> Gauge {
    Gauge { dead, unknown, in_flight, ..Gauge::default() }
}

fn pulled(steps: u64, gauge: &Gauge, circumstances: &Circumstances) -> bool {
    Brake::on(steps, Some(gauge), circumstances).pulled
}

#[test]
fn ten_steps_are_free_and_eleven_are_judged() {
    let (all, usual) = (gauge(30, 0, 30), Circumstances::default());
    assert!(!pulled(10, &all, &usual));
    assert!(pulled(11, &all, &usual));
    assert!(!pulled(11, &gauge(15, 0, 30), &usual), "half is not more than half");
}

#[test]
fn who_says_which_owners_are_dead_is_not_judged() {
    let scoped = Circumstances { is_scoped: true, ..Circumstances::default() };
    assert!(!pulled(1000, &gauge(1000, 0, 1000), &scoped));
}

#[test]
fn a_standby_moves_nothing_and_nothing_overrides_that() {
    let overridden = Some(Override::MaxJobs(100));
    let standby = Circumstances { is_standby: true, is_scoped: true, overridden, ..Circumstances::default() };
    for (steps, refused) in [(0, false), (1, true), (2, true)] {
        let brake = Brake::on(steps, None, &standby);
        assert_eq!((brake.pulled, brake.overridden_by), (refused, None), "{steps} steps");
    }
}

#[test]
fn unknown_ones_show_no_life() {
    let usual = Circumstances::default();
    assert!(pulled(12, &gauge(12, 12, 24), &usual));
    assert!(!pulled(12, &gauge(12, 11, 24), &usual));
}

#[test]
fn times_that_make_no_sense_are_more_than_half() {
    let of_24 = |implausible| Gauge { implausible, ..gauge(11, 0, 24) };
    assert!(!pulled(11, &of_24(12), &Circumstances::default()));
    assert!(pulled(11, &of_24(13), &Circumstances::default()));
}

#[test]
fn a_server_must_have_been_up_for_the_threshold() {
    let up = |seconds| {
        let up = Up { time: Duration::from_secs(seconds), threshold: Duration::from_secs(300) };
        Circumstances { up: Some(up), ..Circumstances::default() }
    };
    assert!(pulled(11, &gauge(11, 0, 30), &up(299)));
    assert!(!pulled(11, &gauge(11, 0, 30), &up(300)));
}
