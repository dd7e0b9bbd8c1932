//! Which jobs are due, and what shows that workers take them: `[waiting]`.

use super::actions::{ActionDoc, actions};
use crate::model::{Action, parse_duration};
use crate::preset::field::{Fragment, Written, complete_when_read, named};
use crate::preset::queue::SilentAfter;
use serde::de::{Deserialize, Deserializer, Error};
use std::time::Duration;

/// `[waiting]`, and within it `[waiting.staged]`.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(remote = "Self", default)]
pub(crate) struct WaitingDoc {
    pub(crate) untold: Option<String>,
    /// Further tables, which need not be there.
    #[serde(deserialize_with = "named")]
    pub(crate) tables: Vec<(String, String)>,
    pub(crate) from: Option<Fragment>,
    pub(crate) states: Option<Vec<Written>>,
    /// What makes a row wait where no state says it.
    pub(crate) is: Option<Fragment>,
    #[serde(rename = "where")]
    pub(crate) filter: Option<Fragment>,
    pub(crate) due: Option<Written>,
    pub(crate) since: Option<Written>,
    pub(crate) queue: Option<Written>,
    pub(crate) key: Vec<Written>,
    pub(crate) held: Option<Written>,
    #[serde(deserialize_with = "span")]
    pub(crate) delay: Option<Duration>,
    pub(crate) paused: Option<Fragment>,
    pub(crate) workers: Option<WorkersDoc>,
    pub(crate) staged: Option<Box<WaitingDoc>>,
    /// Who moves staged jobs on.
    pub(crate) by: Option<String>,
    #[serde(rename = "action", deserialize_with = "actions")]
    pub(crate) actions: Vec<(Action, ActionDoc)>,
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(remote = "Self", default)]
pub(crate) struct WorkersDoc {
    pub(crate) table: Option<Written>,
    #[serde(rename = "where")]
    pub(crate) filter: Option<Fragment>,
    pub(crate) queues: Option<Written>,
    pub(crate) heartbeat: Option<Written>,
    pub(crate) silent_after: Option<SilentAfter<Written>>,
}

/// `[ended]`.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct EndedDoc {
    /// What makes a row one that has ended, where no state says it; without it, all that is neither in flight nor waits.
    #[serde(rename = "where")]
    pub(crate) filter: Option<Fragment>,
}

/// `[place.NAME]`: a further table where a job may stand.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(remote = "Self", default)]
pub(crate) struct PlaceDoc {
    pub(crate) from: Fragment,
    pub(crate) key: Vec<Written>,
    #[serde(rename = "where")]
    pub(crate) filter: Option<Fragment>,
    pub(crate) queue: Option<Written>,
    pub(crate) kind: Option<Written>,
    pub(crate) since: Option<Written>,
    pub(crate) says: Option<Written>,
    /// What a job waits for there, in words.
    pub(crate) held: Option<Written>,
}

complete_when_read!(WaitingDoc, WorkersDoc, PlaceDoc);

fn span<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    parse_duration(&String::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

impl WaitingDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        let says_due = self.due.is_some() || self.since.is_some();
        let says_more = self.paused.is_some() || self.workers.is_some() || self.staged.is_some();
        match &self.staged {
            _ if self.untold.is_some() && (says_due || says_more) => Err("`untold` says that nothing is known"),
            _ if says_more && !says_due => Err("needs `due` or `since`: since when does a job wait?"),
            Some(staged) if staged.by.is_none() => Err("`staged` needs `by`: who moves these jobs on?"),
            Some(staged) if staged.is_more_than_rows() => Err("`staged` says only which jobs it is about"),
            _ => Ok(()),
        }
    }

    fn is_more_than_rows(&self) -> bool {
        let has_parts = self.is.is_some() || self.paused.is_some() || self.workers.is_some() || self.staged.is_some();
        has_parts || self.untold.is_some() || !self.tables.is_empty() || !self.actions.is_empty()
    }
}

impl PlaceDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        let is_whole = !self.from.sql.0.is_empty() && !self.key.is_empty();
        if is_whole { Ok(()) } else { Err("needs `from` and `key`") }
    }
}

impl WorkersDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        match (&self.table, &self.heartbeat, &self.silent_after) {
            (None, ..) => Err("`table` is missing"),
            (_, None, None) | (_, Some(_), Some(SilentAfter::Span(_))) => Ok(()),
            _ => Err("`heartbeat` and `silent_after`, a duration, go together"),
        }
    }
}
