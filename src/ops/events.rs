//! What is likely to have happened, put together beside a listing.

use super::OpsError;
use super::session::Look;
use crate::model::Claim;
use crate::policy::{self, Events, Judgement};
use crate::report;
use crate::spec::QueueSpec;

/// As many are put into a document; a person reads ten.
const EVENTS: usize = 1000;

/// The events of a listing, on their way.
pub(super) struct Grouping<'s> {
    events: Events<'s>,
    is_empty: bool,
}

/// What came of it.
pub(super) struct Grouped {
    /// The events, most jobs first.
    pub(super) events: Vec<report::Event>,
    /// How many there are in all.
    pub(super) count: u64,
    /// Stuck jobs that are part of none.
    pub(super) alone: u64,
    /// Claims in the whole queue.
    pub(super) in_flight: u64,
}

impl<'s> Grouping<'s> {
    pub(super) fn new(spec: &'s QueueSpec) -> Grouping<'s> {
        Grouping { events: Events::new(spec), is_empty: true }
    }

    /// Takes in a claim that is stuck or unknown.
    pub(super) fn add(&mut self, claim: &Claim, judgement: &Judgement, is_listed: bool) {
        self.is_empty = false;
        self.events.add(claim, judgement, is_listed);
    }

    /// True if nothing was taken in, so that nobody needs to be asked who is alive.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Asks who holds how much, in place of how much is held, and concludes.
    pub(super) fn finish(mut self, look: &mut Look) -> Result<Grouped, OpsError> {
        let mut in_flight = 0;
        look.reader.holders(&look.spec, &mut |owner, claims| {
            in_flight += claims;
            self.events.holds(owner.as_ref(), claims);
        })?;
        let policy::Grouped { events, alone } = self.events.finish(look.now());
        let count = events.len() as u64;
        let events = events.into_iter().take(EVENTS).map(document).collect();
        Ok(Grouped { events, count, alone, in_flight })
    }
}

fn document(event: policy::Event) -> report::Event {
    report::Event {
        event: event.what.name().to_owned(),
        text: event.text,
        host: event.host,
        owner: event.owner,
        kind: event.kind,
        since_at: event.since,
        until_at: event.until,
        jobs: event.jobs,
        hosts: event.hosts,
        owners: event.owners,
    }
}
