//! The exit code of a run.

use crate::cli::error::exit_of;
use crate::cli::exit::Exit;
use crate::ops::{PlanSource, Reclaimed};
use crate::store::StoreErrorKind;

/// The exit code of a run about these jobs.
pub(in crate::cli::commands) fn exit(done: &Reclaimed, asked: &PlanSource) -> Exit {
    let document = &done.document;
    let mut exit = if document.refused.is_some() { Exit::Refused } else { Exit::Done };
    let Some(outcomes) = &document.summary.outcomes else {
        return if document.not_found.is_empty() { exit } else { exit.worse(Exit::Partial) };
    };
    if outcomes.unknown > 0 {
        exit = exit.worse(Exit::Unknown);
    }
    let mut as_they_were = outcomes.locked + outcomes.refused + outcomes.not_tried;
    if matches!(asked, PlanSource::Saved(..)) {
        // What a plan named and is not done is still as it was.
        as_they_were += document.summary.skipped;
    }
    if asked.is_by_name() {
        as_they_were += outcomes.changed + outcomes.gone + document.not_found.len() as u64;
    }
    if as_they_were > 0 {
        exit = exit.worse(Exit::Partial);
    }
    match &done.stop {
        // Something was written before it stopped, so "try again" would promise too much; 3 says what is the case.
        Some(stop) if matches!(exit_of(stop.kind), Exit::TryAgain) => exit.worse(Exit::Partial),
        // Neither would that nothing was written.
        Some(stop) if matches!(stop.kind, StoreErrorKind::RowData | StoreErrorKind::Refused) => {
            exit.worse(Exit::Partial)
        }
        Some(stop) => exit.worse(exit_of(stop.kind)),
        None => exit,
    }
}
