//! A preset or mapping as its author wrote it, for one engine and one set of variants: typed, and not yet compared with
//! live tables.

mod actions;
mod interrupted;
mod view;
mod waiting;

pub(crate) use actions::{ActionDoc, StepDoc};
pub(crate) use interrupted::InterruptedDoc;
pub(crate) use view::ViewDoc;
pub(crate) use waiting::{EndedDoc, PlaceDoc, WaitingDoc, WorkersDoc};

use super::encoding::{Encoding, Encodings, Zone};
use super::field::{Field, Fragment, Written, complete_when_read, named};
use super::node::Node;
use super::queue::*;
use super::template::aliases_of;
use super::template::{Piece, Template};
use super::{SpecError, WrittenAt};
use crate::model::{Action, AttemptsChange, Engine, HostSpelling};
use actions::actions;
use std::collections::BTreeMap;

/// The keys that the preset reads itself, before the engine and the variants are known, and two that [`Document::of`]
/// reads.
const ELSEWHERE: &[&str] = &[
    "format", "title", "home", "engines", "checked", "proof", "live", "detect", "variant", "options", "states", "time",
];

/// What a preset says on one engine, with its variants laid over it.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) fencing: Fencing,
    pub(crate) schema: Option<String>,
    /// Logical names, and names in the database.
    #[serde(deserialize_with = "named")]
    pub(crate) tables: Vec<(String, String)>,
    #[serde(skip)]
    pub(crate) time: Times,
    /// The zone of times that name none.
    pub(crate) time_zone: Option<Zone>,
    #[serde(skip)]
    pub(crate) states: States,
    pub(crate) claim: ClaimDoc,
    pub(crate) owner: OwnerDoc,
    pub(crate) attempts: AttemptsDoc,
    pub(crate) rules: RulesDoc,
    pub(crate) finished: Option<FinishedDoc>,
    pub(crate) sql: BTreeMap<String, Fragment>,
    #[serde(rename = "action", deserialize_with = "actions")]
    pub(crate) actions: Vec<(Action, ActionDoc)>,
    pub(crate) waiting: WaitingDoc,
    pub(crate) ended: EndedDoc,
    pub(crate) interrupted: InterruptedDoc,
    #[serde(rename = "place", deserialize_with = "named")]
    pub(crate) places: Vec<(String, PlaceDoc)>,
    #[serde(rename = "skip", deserialize_with = "named")]
    pub(crate) skips: Vec<(String, Skip<Fragment>)>,
    #[serde(rename = "check", deserialize_with = "named")]
    pub(crate) checks: Vec<(String, CheckSpec<Fragment>)>,
    #[serde(deserialize_with = "named")]
    pub(crate) notify: Vec<(String, NotifyDoc)>,
    #[serde(rename = "caution", deserialize_with = "named")]
    pub(crate) cautions: Vec<(String, String)>,
    #[serde(deserialize_with = "named")]
    pub(crate) show: Vec<(String, Written)>,
    pub(crate) advice: Option<AdviceDoc>,
    pub(crate) no_ledger: Option<String>,
}

pub(crate) type AttemptsDoc = Attempts<Written>;
pub(crate) type RulesDoc = Rules<Written, Written, Written>;
pub(crate) type LivenessDoc = Liveness<Written, Written, Fragment>;

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(remote = "Self", default)]
pub(crate) struct ClaimDoc {
    /// The claims' own table, where `from` does not name it.
    pub(crate) table: Option<Written>,
    pub(crate) from: Fragment,
    pub(crate) lock: Option<Written>,
    pub(crate) key: Vec<Written>,
    pub(crate) state: Option<Written>,
    #[serde(rename = "where")]
    pub(crate) filter: Option<Fragment>,
    pub(crate) queue: Option<Written>,
    pub(crate) kind: Option<Written>,
    pub(crate) claimed_at: Option<Written>,
    pub(crate) created_at: Option<Written>,
    pub(crate) payload: Option<Written>,
    pub(crate) last_error: Option<Written>,
    pub(crate) precondition: Vec<Written>,
    pub(crate) progress: Vec<Written>,
    pub(crate) optional: Vec<String>,
    pub(crate) liveness: Vec<LivenessDoc>,
    pub(crate) guard: Option<Fragment>,
    pub(crate) veto: Option<VetoDoc>,
}

/// `[claim.veto]`.
#[derive(Debug, Clone, serde::Deserialize)]
pub(crate) struct VetoDoc {
    pub(crate) fresh: Fragment,
    pub(crate) says: String,
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(remote = "Self", default)]
pub(crate) struct OwnerDoc {
    pub(crate) id: Option<Written>,
    pub(crate) name: Option<Written>,
    pub(crate) host: Option<Written>,
    pub(crate) host_spelling: HostSpelling,
    pub(crate) table: Option<Written>,
    #[serde(rename = "match", deserialize_with = "named")]
    pub(crate) matches: Vec<(String, Written)>,
    pub(crate) on: Option<Fragment>,
    pub(crate) rows: OwnerRows,
    pub(crate) key: Option<Written>,
    pub(crate) heartbeat: Option<Written>,
    pub(crate) started: Option<Written>,
    pub(crate) missing: Absence,
    pub(crate) unset: Absence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OwnerRows {
    #[default]
    One,
    /// Several, a log of heartbeats, of which the newest counts.
    Newest,
}

/// `[finished]`: where the beginning and the end of a run are still to be read once a job has ended well.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(remote = "Self")]
pub(crate) struct FinishedDoc {
    pub(crate) none: Option<String>,
    pub(crate) at: Option<Written>,
    /// Absent, it is where the time of the claim is.
    pub(crate) started: Option<Written>,
    #[serde(rename = "states")]
    named: Option<Vec<Written>>,
    /// Empty where `filter` alone decides.
    #[serde(skip)]
    pub(crate) states: Vec<StateValue>,
    #[serde(rename = "where")]
    pub(crate) filter: Option<Fragment>,
    #[serde(rename = "(place)")]
    table: WrittenAt,
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(remote = "Self", default)]
pub(crate) struct NotifyDoc {
    pub(crate) channel: Option<Fragment>,
    pub(crate) payload: Option<Fragment>,
    pub(crate) sql: Option<Fragment>,
}

/// The library's own remedy, which is printed and never run.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(remote = "Self")]
pub(crate) struct AdviceDoc {
    pub(crate) text: Option<String>,
    pub(crate) sql: Option<String>,
}

complete_when_read!(ClaimDoc, OwnerDoc, AttemptsDoc, FinishedDoc, NotifyDoc, AdviceDoc);

impl Document {
    /// Types a document whose engine leaves are picked and whose variants are laid over it.
    pub(super) fn of(document: &str, name: &str, node: &Node, engine: Engine) -> Result<Document, SpecError> {
        let root = Field::of(document, "", node).except(ELSEWHERE);
        let mut read: Document = root.read()?;
        root.need("claim")?;
        if read.name.is_empty() {
            name.clone_into(&mut read.name);
        }
        read.states = root.child("states").map(|field| States::read(&field, engine)).transpose()?.unwrap_or_default();
        read.time = root.child("time").map(|field| Times::read(&field)).transpose()?.unwrap_or_default();
        for table in read.claim.table.iter().chain(&read.owner.table) {
            // A table that [tables] does not name goes by its own name.
            if !read.tables.iter().any(|(logical, _)| *logical == table.text) {
                read.tables.push((table.text.clone(), table.text.clone()));
            }
        }
        for (_, action) in &mut read.waiting.actions {
            // A job that never ran has lost no attempt.
            action.attempts.get_or_insert(AttemptsChange::Keep);
        }
        if let Some(both) = read.states.in_flight.iter().find(|state| read.states.waiting.contains(state)) {
            return Err(root.error(format!("[states]: `{}` is in flight and waiting at once", both.name)));
        }
        read.actions_lead_where_they_say()?;
        if let Some(finished) = &mut read.finished {
            finished.find_states(&read.states)?;
        }
        Ok(read)
    }

    /// Refuses a requeue to a state that does not wait, and an end that is none.
    fn actions_lead_where_they_say(&self) -> Result<(), SpecError> {
        let retry = self.interrupted.retry.iter().map(|retry| (Action::Requeue, retry));
        let all = self.actions.iter().chain(&self.waiting.actions).map(|(action, doc)| (*action, doc));
        for (action, doc) in all.chain(retry) {
            for to in doc.to.iter().chain(doc.delayed.iter().filter_map(|delayed| delayed.to.as_ref())) {
                let is = |states: &[StateValue]| states.iter().any(|state| state.name == to.text);
                let waits = is(&self.states.waiting);
                if action == Action::Requeue && !waits && self.states.all().any(|state| state.name == to.text) {
                    let why = format!("no job waits in state `{}`: a requeue leads to one of states.waiting", to.text);
                    return Err(to.error(why));
                }
                if action != Action::Requeue && (waits || is(&self.states.in_flight)) {
                    let why = format!("a job in state `{}` has not ended: a {action} leads to an end", to.text);
                    return Err(to.error(why));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn table_name<'d>(&'d self, logical: &'d str) -> &'d str {
        self.tables.iter().find(|(known, _)| known == logical).map_or(logical, |(_, name)| name)
    }

    /// True for the logical name of a table.
    pub(crate) fn names_table(&self, logical: &str) -> bool {
        self.tables.iter().chain(&self.waiting.tables).any(|(known, _)| known == logical)
    }

    /// The aliases of the claim's FROM clause with their tables, in order. A sub-select has no table.
    pub(crate) fn aliases(&self) -> Vec<(String, Option<String>)> {
        aliases_of(&self.claim.from.sql)
    }

    /// The table whose rows are the jobs, by its logical name, and its alias.
    pub(crate) fn row(&self) -> (String, String) {
        let lock = self.claim.lock.as_ref().map(|lock| lock.text.as_str());
        let found = self.aliases().into_iter().find(|(alias, _)| lock.is_none_or(|lock| lock == alias));
        found.map_or_else(Default::default, |(alias, table)| (table.unwrap_or_default(), alias))
    }
}

/// How time columns are spelled: `[time]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times {
    pub(crate) default: Option<Encodings>,
    pub(crate) columns: BTreeMap<String, Encodings>,
    /// Stored values that stand for "no value", by column.
    pub(crate) sentinels: BTreeMap<String, Vec<String>>,
}

impl Times {
    fn read(field: &Field<'_>) -> Result<Times, SpecError> {
        let mut times = Times::default();
        for (key, field) in field.entries()? {
            match key {
                "default" => times.default = Some(encodings(&field)?),
                "sentinels" => {
                    for (column, field) in field.entries()? {
                        let values = field.entries()?.into_iter();
                        let raws = values.map(|(raw, field)| field.word(&[("none", ())]).map(|()| raw.to_owned()));
                        times.sentinels.insert(column.to_owned(), raws.collect::<Result<_, _>>()?);
                    }
                }
                column => {
                    times.columns.insert(column.to_owned(), encodings(&field)?);
                }
            }
        }
        Ok(times)
    }
}

fn encodings(field: &Field<'_>) -> Result<Encodings, SpecError> {
    let written: Vec<Written> = field.read()?;
    let parse = |text: &Written| Encoding::parse(&text.text).map_err(|why| text.error(why));
    let mut parsed = written.iter().map(parse).collect::<Result<Vec<_>, _>>()?.into_iter();
    let first = parsed.next().ok_or_else(|| field.error("is an empty list of encodings"))?;
    let encodings = Encodings::new(first, parsed.collect());
    match encodings.ambiguous().and_then(|at| written.get(at)) {
        Some(text) => Err(text.error(format!(
            "what is written as `{}` can be read in two ways as: {encodings}; leave out what the column does not hold",
            text.text
        ))),
        None => Ok(encodings),
    }
}

impl ClaimDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        if self.key.is_empty() {
            return Err("`key` is missing");
        }
        match (&self.table, self.from.sql.0.is_empty()) {
            (Some(table), true) => {
                let sql = Template(vec![Piece::Name(table.text.clone()), Piece::Text(" AS j".to_owned())]);
                self.from = Fragment { written: table.clone(), sql };
            }
            (None, false) => {}
            _ => return Err("needs either `table` or `from`, and not both"),
        }
        if self.state.is_none() && self.filter.is_none() {
            return Err("needs `state` or `where`: what makes a row in flight?");
        }
        for source in &mut self.liveness {
            if let Liveness::Age { column, .. } = source
                && *column == Written::default()
            {
                // The age of a claim is the time since its beginning.
                let claimed_at = self.claimed_at.clone();
                *column =
                    claimed_at.ok_or("liveness by `age` needs `claimed_at` in [claim], or a `column` of its own")?;
            }
        }
        Ok(())
    }
}

impl OwnerDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        let is_log = self.rows == OwnerRows::Newest;
        match (&self.table, self.matches.is_empty() && self.on.is_none()) {
            (Some(_), true) => Err("an owners' `table` needs `match` or `on`"),
            (None, false) => Err("`match` and `on` need an owners' `table`"),
            (None, true) if self.heartbeat.is_some() || self.started.is_some() => {
                Err("`heartbeat` and `started` are columns of an owners' `table`")
            }
            _ if is_log && (self.matches.is_empty() || self.on.is_some() || self.heartbeat.is_none()) => {
                Err("`rows = \"newest\"` needs `match` and `heartbeat`, and takes no `on`")
            }
            _ if self.on.is_some() && self.key.is_none() => {
                Err("`on` needs `key`: a column of the owner's row that is never NULL")
            }
            _ if self.host_spelling.longest == Some(0) => Err("`longest` of `host_spelling` must be above 0"),
            _ => Ok(()),
        }
    }
}

impl AttemptsDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        match (self.direction, &self.max) {
            (Direction::Down, None) => Err("`direction = \"down\"` needs `max`: the number that a new job begins with"),
            _ => Ok(()),
        }
    }
}

impl FinishedDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        let says_more = self.started.is_some() || self.named.is_some() || self.filter.is_some();
        match (&self.none, &self.at) {
            (Some(_), None) if !says_more => Ok(()),
            (None, Some(_)) => Ok(()),
            _ => Err(
                "needs either `at`, the column with the end of a run, or `none` alone, the reason why there is no such thing",
            ),
        }
    }

    /// Looks the states up that a job comes to when it ends well.
    fn find_states(&mut self, known: &States) -> Result<(), SpecError> {
        self.states = match &self.named {
            Some(named) => named.iter().map(|name| known.named(name)).collect::<Result<_, _>>()?,
            None => known.done.clone(),
        };
        if self.at.is_some() && self.states.is_empty() && self.filter.is_none() {
            return Err(self.table.error("needs `states` or `where`: what makes a row one that has ended well?"));
        }
        Ok(())
    }
}

impl NotifyDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        match (&self.channel, &self.payload, &self.sql) {
            (Some(_), Some(_), None) => Ok(()),
            // A database explains no NOTIFY, so that `check` could not vouch for it.
            (None, None, Some(sql)) if sql.written.text.trim_start().to_uppercase().starts_with("NOTIFY") => {
                Err("must be a query: write NOTIFY as `SELECT pg_notify('channel', 'payload')`")
            }
            (None, None, Some(_)) => Ok(()),
            _ => Err("needs `channel` and `payload`, or `sql`"),
        }
    }
}

impl AdviceDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        if self.text.is_none() && self.sql.is_none() { Err("needs `text`, `sql` or both") } else { Ok(()) }
    }
}
