//! What changes on rows in flight between two snapshots: a heartbeat beats every name.

use super::Adoption;
use super::facts::{Facts, Support};
use super::roles::{Class, Meaning, Role};
use super::rows::Rows;
use super::shape::shape;
use super::table::{Sampler, Subject};
use super::times::{reader, spelling};
use crate::model::{Cell, Timestamp};
use crate::ops::OpsError;
use crate::ops::confirm::sleep;
use crate::output::format::count;
use crate::preset::encoding::Encodings;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The shortest silence that is drafted for a heartbeat that was seen.
const SILENCE: Duration = Duration::from_secs(120);
/// How many of the longest observed steps of a heartbeat make a silence.
const STEPS: u32 = 10;

/// The rows that stayed in their state while they were watched.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    rows: Vec<RowWatched>,
}

#[derive(Debug, Clone)]
struct RowWatched {
    state: String,
    is_waiting: bool,
    /// How far each time went forward, by column; of the others there is none.
    steps: BTreeMap<String, Duration>,
}

/// One look at the rows: by key with their state, whether that waits, and their values.
struct Look {
    subject: Subject,
    now: Timestamp,
    rows: BTreeMap<Vec<String>, (String, bool, Vec<Cell>)>,
    all: Rows,
}

/// Takes two snapshots of the table, so far apart, and compares the rows of both.
pub fn watch(adoption: &Adoption<'_>, apart: Duration) -> Result<Watched, OpsError> {
    let first = look(adoption)?;
    sleep(adoption.limits, apart)?;
    let second = look(adoption)?;
    let columns = first.subject.columns.iter().enumerate().filter(|(_, column)| {
        !matches!(column.class, Class::Boolean | Class::Json) && column.role != Some(Role::Attempts)
    });
    let encoded = columns.filter_map(|(at, column)| {
        let (how, _) = spelling(column, second.all.set(&column.name), second.now)?;
        Some((at, column.name.clone(), reader(&how)?))
    });
    let encoded: Vec<_> = encoded.collect();
    let both = second.rows.iter().filter_map(|(key, (state, is_waiting, new))| {
        let (_, _, old) = first.rows.get(key).filter(|(before, ..)| before == state)?;
        let step = |(at, name, how): &(usize, String, Encodings)| {
            let (old, new) = (how.decode(old.get(*at)?).at()?, how.decode(new.get(*at)?).at()?);
            (new.micros() > old.micros()).then(|| (name.clone(), new.since(old)))
        };
        let steps = encoded.iter().filter_map(step).collect();
        Some(RowWatched { state: state.clone(), is_waiting: *is_waiting, steps })
    });
    Ok(Watched { rows: both.collect() })
}

fn look(adoption: &Adoption<'_>) -> Result<Look, OpsError> {
    let engine = adoption.store.engine();
    let mut reader = adoption.store.reader(adoption.limits, &[])?;
    let subject = Subject::read(reader.as_mut(), engine, adoption)?;
    let now = reader.now();
    let mut sampler = Sampler::new(reader.as_mut(), engine, &subject);
    let ends = sampler.ends()?;
    let shape = shape(&mut sampler, adoption.answers, &ends)?;
    let key = subject.key().unwrap_or_default();
    let (mut rows, mut all) = (BTreeMap::new(), Rows::default());
    for (state, meaning, group) in shape.groups() {
        all = all.and(group);
        let row = |row: &Vec<Cell>| (state.clone(), meaning == Some(Meaning::Waiting), row.clone());
        rows.extend(group.ids(&key).into_iter().zip(group.rows.iter().map(row)).filter(|(id, _)| !id.is_empty()));
    }
    Ok(Look { subject, now, rows, all })
}

/// A heartbeat that was seen.
pub(super) struct Beat {
    pub(super) column: String,
    /// Ten times its longest step; none where only some rows beat: the step of the others may be longer than the look.
    pub(super) silence: Option<String>,
    pub(super) support: Support,
    /// The states in which it was seen.
    pub(super) states: BTreeSet<String>,
}

impl Watched {
    /// The heartbeat: a time that a claim alone sets. What is set while a job waits, such as an `updated_at`, is written
    /// by others than its worker.
    pub(super) fn beat(&self, facts: &Facts<'_>) -> Option<Beat> {
        let is_life = |name: &&str| {
            facts.subject.column(name).is_some_and(|column| column.role != Some(Role::Updated))
                && facts.waiting.is_free(name)
                && !self.rows.iter().any(|row| row.is_waiting && row.steps.contains_key(*name))
        };
        let is_named = |name: &&str| facts.subject.of_role(Role::Heartbeat).any(|column| column.name == *name);
        let mut columns = self.rows.iter().flat_map(|row| row.steps.keys()).map(String::as_str).filter(is_life);
        let column = columns.clone().find(is_named).or_else(|| columns.next())?;
        let beat = self.rows.iter().filter(|row| row.steps.contains_key(column));
        let states: BTreeSet<String> = beat.map(|row| row.state.clone()).collect();
        let of: Vec<&RowWatched> = self.rows.iter().filter(|row| states.contains(&row.state)).collect();
        let steps: Option<Vec<Duration>> = of.iter().map(|row| row.steps.get(column).copied()).collect();
        let support = Support::by(steps.is_some(), of.len(), of.len());
        let longest = steps.and_then(|steps| steps.into_iter().max());
        let silence = longest.map(|longest| format!("{}s", (longest * STEPS).max(SILENCE).as_secs()));
        Some(Beat { column: column.to_owned(), silence, support, states })
    }

    /// What went forward, for the question about life.
    pub(super) fn seen(&self, life: Option<&Beat>) -> Vec<String> {
        let columns: BTreeSet<&String> = self.rows.iter().flat_map(|row| row.steps.keys()).collect();
        let of = |column: &String| {
            let is_life = life.filter(|life| life.column == *column);
            let rows = self.rows.iter().filter(|row| is_life.is_none_or(|life| life.states.contains(&row.state)));
            let (beat, still): (Vec<_>, Vec<_>) = rows.partition(|row| row.steps.contains_key(column));
            let rows = count((beat.len() + still.len()) as u64, "row", "rows");
            let seen = format!("{column} advanced on {} of {rows} while it was watched", beat.len());
            match is_life {
                Some(_) if still.is_empty() => seen,
                Some(_) => format!("{seen}: the others are dead, or their step is longer"),
                None => format!("{seen}, and is set while a job waits too"),
            }
        };
        columns.into_iter().map(of).collect()
    }
}
