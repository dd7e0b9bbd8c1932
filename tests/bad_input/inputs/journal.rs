//! Journals: one that is torn is read as far as it goes, one that is not ours is refused with its line, a summary says neither
//! more nor less than the steps do, and every line is written again as it was read.

use super::place;
use jobdoctor::history::{Directory, JournalError, JournalLine, read, steps, summary};
use jobdoctor::model::Outcome;

const RUN: &str = "20261121181057-a1b2c3";

pub fn holds(bytes: &[u8]) {
    place::file(&format!("journal/{RUN}.jsonl"), bytes);
    let state = place::directory();
    let directory = Directory::in_state(&state);
    let told = read(&directory, RUN).and_then(|journal| {
        let Some((head, lines)) = journal else { return Ok(None) };
        let mut jobs = 0;
        steps::<JournalError>(lines, &mut |record| {
            // What nobody knows may have been moved.
            assert!(record.stage.outcome != Outcome::Unknown || record.stage.may_have_moved());
            jobs += 1;
            Ok(())
        })
        .map(|end| Some((head, end, jobs)))
    });
    match (told, summary(&directory, RUN)) {
        (Ok(Some((head, end, jobs))), Ok(Some(summary))) => {
            assert_eq!(summary.head, head);
            assert_eq!(summary.end, end);
            assert_eq!(summary.recorded.values().sum::<u64>(), jobs);
        }
        (Ok(None), Ok(None)) => {}
        (Err(error), Err(same)) => assert_eq!(error.to_string(), same.to_string()),
        (told, summary) => panic!("{told:?} and yet {summary:?}"),
    }
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<JournalLine>(line) else { continue };
        let written = serde_json::to_string(&line).expect("a line can be written");
        let again: JournalLine = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(serde_json::to_string(&again).expect("as the first time"), written);
    }
}
