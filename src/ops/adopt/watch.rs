//! What changes on rows in flight between two snapshots: a heartbeat beats every name.

use super::Adoption;
use super::draft::is_unset;
use super::facts::{Change, Shape, StateSeen, Watched};
use super::roles::{Class, Meaning, Role};
use super::states::shape;
use super::table::{Rows, Sampler, Subject};
use super::times::{Spelling, spelling};
use crate::model::{Cell, Reading, Timestamp};
use crate::ops::OpsError;
use crate::ops::confirm::sleep;
use crate::preset::encoding::{Encoding, Encodings};
use std::collections::BTreeMap;
use std::time::Duration;

/// The shortest silence that is drafted for a heartbeat that was seen.
const SILENCE: Duration = Duration::from_secs(120);
/// How many of the longest observed steps of a heartbeat make a silence.
const STEPS: u32 = 10;

/// One look at the rows, by state and key.
struct Look {
    subject: Subject,
    now: Timestamp,
    rows: BTreeMap<String, (String, bool, Vec<Cell>)>,
    all: Rows,
}

/// Takes two snapshots of the table, so far apart, and compares the rows of both.
pub fn watch(adoption: &Adoption<'_>, apart: Duration) -> Result<Watched, OpsError> {
    let first = look(adoption)?;
    sleep(adoption.limits, apart)?;
    let second = look(adoption)?;
    let mut changes = Vec::new();
    for (at, column) in first.subject.columns.iter().enumerate() {
        if matches!(column.class, Class::Boolean | Class::Json) || matches!(column.role, Some(Role::Attempts)) {
            continue;
        }
        let spelled = spelling(&column.type_name, column.class, second.all.values(&column.name), second.now, false);
        let (Spelling::Known(how, _) | Spelling::NoZone(how, _)) = spelled else { continue };
        let Ok(encoding) = Encoding::parse(&how) else { continue };
        let encodings = Encodings::new(encoding, Vec::new());
        for (key, (state, is_waiting, row)) in &second.rows {
            let Some((before, _, old)) = first.rows.get(key).filter(|(before, ..)| before == state) else { continue };
            let read = |row: &Vec<Cell>| row.get(at).map(|cell| encodings.decode(cell));
            if let (Some(Reading::At(old)), Some(Reading::At(new))) = (read(old), read(row))
                && new.micros() > old.micros()
            {
                let (column, state) = (column.name.clone(), before.clone());
                changes.push(Change { column, state, is_waiting: *is_waiting, step: new.since(old) });
            }
        }
    }
    Ok(Watched { changes })
}

fn look(adoption: &Adoption<'_>) -> Result<Look, OpsError> {
    let engine = adoption.store.engine();
    let mut reader = adoption.store.reader(adoption.limits)?;
    let subject = Subject::find(reader.as_mut(), engine, adoption.schema, adoption.table)?;
    let now = reader.now();
    let mut sampler = Sampler::new(reader.as_mut(), engine, &subject);
    let ends = sampler.ends()?;
    let shape = shape(&mut sampler, adoption.answers, &ends)?;
    let groups: Vec<(String, bool, Rows)> = match shape {
        Shape::Column { states, .. } => {
            let group = |state: StateSeen| (state.text(), state.meaning == Some(Meaning::Waiting), state.rows);
            states.into_iter().map(group).collect()
        }
        Shape::Where { groups, .. } => {
            let group =
                |(meaning, rows): (Meaning, Rows)| (meaning.key().to_owned(), meaning == Meaning::Waiting, rows);
            groups.into_iter().map(group).collect()
        }
    };
    let key = subject.key().unwrap_or_default();
    let (mut rows, mut all) = (BTreeMap::new(), Rows::default());
    for (state, is_waiting, group) in groups {
        all = all.and(&group);
        let at: Vec<usize> =
            key.iter().filter_map(|name| group.columns.iter().position(|column| column == name)).collect();
        for row in group.rows.into_iter().filter(|_| !at.is_empty()) {
            let id: Vec<String> = at.iter().filter_map(|at| row.get(*at)).map(Cell::to_string).collect();
            rows.insert(id.join("\u{0}"), (state.clone(), is_waiting, row));
        }
    }
    Ok(Look { subject, now, rows, all })
}

impl Watched {
    /// The changes of the column that shows life: one that a claim alone sets. What is set while a job waits, such as
    /// an `updated_at`, is written by others than its worker.
    fn beats(&self, subject: &Subject, waiting: &Rows) -> Vec<&Change> {
        let is_of_claims = |name: &str| waiting.values(name).next().is_some() && waiting.values(name).all(is_unset);
        let beats = |change: &&Change| {
            subject.column(&change.column).is_some_and(|column| column.role != Some(Role::Updated))
                && is_of_claims(&change.column)
                && !self.changes.iter().any(|other| other.column == change.column && other.is_waiting)
        };
        let mut beating: Vec<&Change> = self.changes.iter().filter(beats).collect();
        let is_named = |name: &&String| subject.column(name).is_some_and(|column| column.role == Some(Role::Heartbeat));
        let mut columns = beating.iter().map(|change| &change.column);
        let first = columns.clone().find(is_named).or(columns.next());
        beating.retain(|change| Some(&change.column) == first);
        beating
    }

    /// The columns that went forward and prove nothing, for the question about life.
    pub(super) fn others(&self) -> Vec<String> {
        let mut columns: Vec<&str> = self.changes.iter().map(|change| change.column.as_str()).collect();
        columns.sort_unstable();
        columns.dedup();
        let of = |column: &&str| format!("{column} advanced while it was watched, and is set while a job waits too");
        columns.iter().map(of).collect()
    }

    /// The heartbeat's column, a silence that is a multiple of its longest step, and what was seen.
    pub(super) fn heartbeat(&self, subject: &Subject, waiting: &Rows) -> Option<(String, String, String)> {
        let beats = self.beats(subject, waiting);
        let longest = beats.iter().map(|change| change.step).max()?;
        let silence = (longest * STEPS).max(SILENCE);
        let reason = format!(
            "it advanced on {} while it was watched, at most {} s at a time",
            crate::output::format::count(beats.len() as u64, "row", "rows"),
            longest.as_secs_f64().ceil()
        );
        Some((beats.first()?.column.clone(), format!("{}s", silence.as_secs()), reason))
    }

    /// The states in which the heartbeat changed, if no other state is proposed as in flight.
    pub(super) fn states(&self, subject: &Subject, waiting: &Rows, states: &[StateSeen]) -> Option<Vec<String>> {
        let seen: Vec<String> = self.beats(subject, waiting).iter().map(|change| change.state.clone()).collect();
        let is_other = |state: &StateSeen| state.meaning == Some(Meaning::InFlight) && !seen.contains(&state.text());
        let others = states.iter().any(is_other);
        (!seen.is_empty() && !others).then_some(seen)
    }
}
