//! The bounds at which an apply stops, to the job and to the second; the rest is in `brake`.

use jobdoctor::policy::{Brake, Circumstances, Gauge, Measured, Override, Up};
use std::time::Duration;

#[test]
fn a_standby_moves_nothing_and_nothing_overrides_that() {
    let overridden = Some(Override::MaxJobs(100));
    let standby = Circumstances { is_standby: true, overridden, ..Circumstances::default() };
    let scoped = Measured { is_scoped: true, ..Measured::default() };
    for (steps, refused) in [(0, false), (1, true), (2, true)] {
        let brake = Brake::on(steps, &scoped, &standby);
        assert_eq!((brake.pulled, brake.overridden_by), (refused, None), "{steps} steps");
    }
}

#[test]
fn times_that_make_no_sense_are_more_than_half() {
    for (implausible, refused) in [(12, false), (13, true)] {
        let gauge = Some(Gauge { dead: 11, in_flight: 24, implausible, ..Gauge::default() });
        let measured = Measured { gauge, ..Measured::default() };
        assert_eq!(Brake::on(11, &measured, &Circumstances::default()).pulled, refused, "{implausible} of 24");
    }
}

#[test]
fn a_server_must_have_been_up_for_the_threshold() {
    for (seconds, refused) in [(299, true), (300, false)] {
        let up = Some(Up { time: Duration::from_secs(seconds), threshold: Duration::from_secs(300) });
        let gauge = Some(Gauge { dead: 11, in_flight: 30, ..Gauge::default() });
        let measured = Measured { gauge, up, ..Measured::default() };
        assert_eq!(Brake::on(11, &measured, &Circumstances::default()).pulled, refused);
    }
}
