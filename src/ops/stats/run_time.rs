use crate::model::{Clocks, FUTURE_TOLERANCE, Reading, Timestamp};
use crate::preset::EARLIEST_MICROS;
use crate::store::FinishedRun;
use std::time::Duration;

/// Longer than this, ten years, no job runs.
const LONGEST: Duration = Duration::from_secs(315_576_000);

/// How long a run took; `None` where its instants do not tell: one is missing or cannot be read, lies where none can lie, or
/// the end comes before the beginning. Nothing is guessed.
pub fn run_time(run: &FinishedRun, now: Timestamp) -> Option<Duration> {
    let (Reading::At(started), Reading::At(ended)) = (&run.started, &run.ended) else { return None };
    let is_plausible = started.micros() >= EARLIEST_MICROS
        && !started.is_after(*ended, Clocks::One)
        && !ended.is_after(now.plus(FUTURE_TOLERANCE), Clocks::One);
    Some(ended.since(*started)).filter(|span| is_plausible && *span <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_a_run_time_and_what_does_not() {
        const NOW: i64 = 1_795_168_800;
        let at = |seconds: i64| Reading::At(Timestamp::from_micros(seconds * 1_000_000).unwrap());
        let now = Timestamp::from_micros(NOW * 1_000_000).unwrap();
        let took = |started: Reading, ended: Reading| {
            run_time(&FinishedRun { queue: None, kind: None, started, ended }, now).map(|span| span.as_secs())
        };
        assert_eq!(took(at(NOW - 100), at(NOW - 40)), Some(60));
        assert_eq!(took(at(NOW), at(NOW)), Some(0));
        assert_eq!(took(at(NOW), at(NOW + 60)), Some(60), "clocks differ a little");
        assert_eq!(took(at(NOW), at(NOW + 61)), None, "it has not ended yet");
        assert_eq!(took(at(NOW), at(NOW - 1)), None, "ended before it began");
        assert_eq!(took(at(NOW / 1000), at(NOW)), None, "milliseconds taken for seconds");
        assert_eq!(took(Reading::Absent, at(NOW)), None);
        assert_eq!(took(at(NOW), Reading::Unfit { raw: "soon".to_owned(), why: String::new() }), None);
    }
}
