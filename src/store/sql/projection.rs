//! The select list of a claim, and how a row becomes a [`Claim`].

use super::builder::{Sql, column_sql};
use super::decode::{count, lock_sign, plus, reading, seconds, stalls, threshold, truth};
use super::left::astray;
use crate::model::{Cell, Claim, EvidenceRow, Key, Owner, OwnerRow, Precondition, Reading, Sign, Timestamp};
use crate::preset::{Expr, Jobs, JoinOn, Liveness, Max, MaxRuntime, SilentAfter, StateSource, Template, TimeColumn};
use crate::store::Detail;

/// The select list of a claim after its first value, which says whether the row is one, and how a row becomes a claim.
pub struct Projection<'s> {
    jobs: &'s Jobs,
    items: Vec<(Role, String)>,
    /// Where each item stands in a row, sorted.
    places: Vec<(Role, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Key,
    State,
    Queue,
    Kind,
    ClaimedAt,
    OwnerId,
    OwnerName,
    OwnerHost,
    OwnerKey,
    OwnerHeartbeat,
    OwnerStarted,
    OwnerImage,
    Sign(usize),
    Plus(usize),
    SilentAfter(usize),
    Lock(usize),
    Attempts,
    MaxAttempts,
    Stalls,
    Deadline,
    CancelRequested,
    MaxRuntime,
    Skip(usize),
    Show(usize),
    Progress,
    Precondition,
    Astray(usize),
    Veto,
}

impl<'s> Projection<'s> {
    /// The projection for claims in flight, whose first value is the number of their state, from 1. Where `flag` is
    /// false, a row carries its owner, its queue and the time of its claim alone.
    pub fn of_claims(jobs: &'s Jobs, sql: &Sql<'_>, detail: Detail, flag: Option<&str>) -> Projection<'s> {
        let mut items = items_of_row(jobs, sql, detail);
        items.retain(|(role, _)| *role != Role::State);
        if let Some(flag) = flag {
            let is_carried = |role: Role| {
                matches!(role, Role::OwnerId | Role::OwnerName | Role::OwnerHost | Role::Queue | Role::ClaimedAt)
            };
            let others = items.iter_mut().filter(|(role, _)| !is_carried(*role));
            others.for_each(|(_, item)| *item = format!("CASE WHEN {flag} THEN {item} END"));
        }
        Projection::of(jobs, items)
    }

    /// The projection for jobs in any state, whose first value says whether they are in flight, with the preset's extra
    /// evidence, which may cost a query for each row: for named jobs, not for lists.
    pub fn of_named_jobs(jobs: &'s Jobs, sql: &Sql<'_>) -> Projection<'s> {
        let mut items = items_of_row(jobs, sql, Detail::ForAction);
        let text = |expr: &Expr| sql.dialect.as_text(&sql.expr_sql(jobs, expr));
        items.extend(jobs.show.iter().enumerate().map(|(n, (_, expr))| (Role::Show(n), text(expr))));
        Projection::of(jobs, items)
    }

    fn of(jobs: &'s Jobs, items: Vec<(Role, String)>) -> Projection<'s> {
        let mut places: Vec<(Role, usize)> = items.iter().zip(1..).map(|((role, _), at)| (*role, at)).collect();
        places.sort_unstable();
        Projection { jobs, items, places }
    }

    /// The further items, each after a comma.
    pub fn select_list(&self) -> String {
        self.items.iter().map(|(_, sql)| format!(", {sql}")).collect()
    }

    /// The owner in a row, taken out of it; and whether there is an id, however blank.
    fn owner(&self, row: &mut [Cell]) -> (Option<Owner>, bool) {
        let [id, name, host] =
            [Role::OwnerId, Role::OwnerName, Role::OwnerHost].map(|role| self.take(row, role).into_text());
        let has_id = id.is_some();
        (Owner::named(id, name, host, self.jobs.owner.host_spelling), has_id)
    }

    fn take(&self, row: &mut [Cell], role: Role) -> Cell {
        self.place(role).and_then(|at| row.get_mut(at)).map(std::mem::take).unwrap_or_default()
    }

    fn place(&self, role: Role) -> Option<usize> {
        let found = self.places.binary_search_by(|(known, _)| known.cmp(&role)).ok();
        found.and_then(|n| self.places.get(n)).map(|(_, at)| *at)
    }

    /// True for a row of a listing that carries a claim, not only what is counted of one that is no suspect.
    pub fn is_claim(row: &[Cell]) -> bool {
        row.first().is_none_or(truth)
    }

    /// What is counted of a claim that is no suspect: its owner, its queue and its time. Takes the values out of the row.
    pub fn counted(&self, row: &mut [Cell]) -> (Option<Owner>, Option<String>, Reading) {
        let claimed = self.take(row, Role::ClaimedAt);
        let claimed_at = read(&claimed, self.jobs.claim.claimed_at.as_ref());
        (self.owner(row).0, self.take(row, Role::Queue).into_text(), claimed_at)
    }

    /// The claim in a row, and whether it is in flight. Takes the values out of the row.
    pub fn claim(&self, row: &mut [Cell]) -> (Claim, bool) {
        let jobs = self.jobs;
        let number = row.first().and_then(Cell::as_count).unwrap_or(0);
        let (owner, has_id) = self.owner(row);
        let key = self.items.iter().zip(row.iter_mut().skip(1)).filter(|((role, _), _)| *role == Role::Key);
        let key = Key(key.map(|(_, cell)| std::mem::take(cell)).collect());
        let state = self.state(row, number);
        let is_id = |(_, equals): &(_, Expr)| Some(equals) == jobs.owner.id.as_ref();
        let is_joined_by_id = jobs.owner.row.as_ref().is_some_and(
            |row| matches!(&row.on, JoinOn::Match(pairs) | JoinOn::Newest { pairs, .. } if pairs.iter().any(is_id)),
        );
        // A row of the owners' table that a blank id finds belongs to no owner.
        let has_no_owner = has_id && owner.is_none() && is_joined_by_id;
        let beats = jobs.owner.row.as_ref().and_then(|row| row.heartbeat.as_ref()).filter(|_| !has_no_owner);
        let owner_heartbeat = read(&self.take(row, Role::OwnerHeartbeat), beats);
        let claimed_at = read(&self.take(row, Role::ClaimedAt), jobs.claim.claimed_at.as_ref());
        let signs = self.signs(row, &claimed_at, &owner_heartbeat);
        let row_key = if has_no_owner { Cell::Null } else { self.take(row, Role::OwnerKey) };
        let owner_row = self.owner_row(row, owner.as_ref(), !row_key.is_null(), &owner_heartbeat);
        let evidence_row = self.evidence_row(row, row_key);
        let mut cell = |role: Role| self.take(row, role);
        let claim = Claim {
            key,
            state,
            queue: cell(Role::Queue).into_text(),
            kind: cell(Role::Kind).into_text(),
            owner_row,
            owner,
            claimed_at,
            heartbeat: newest_heartbeat(jobs, &signs, owner_heartbeat),
            signs,
            attempts: count(cell(Role::Attempts)),
            max_attempts: match &jobs.attempts.max {
                Some(Max::Number(number)) => Cell::Integer(*number),
                Some(Max::Expr(_)) => count(cell(Role::MaxAttempts)),
                None => Cell::Null,
            },
            stalls: jobs.attempts.stalls.as_ref().and_then(|_| stalls(&cell(Role::Stalls))),
            deadline: read(&cell(Role::Deadline), jobs.rules.deadline.as_ref()),
            cancel_requested: truth(&cell(Role::CancelRequested)),
            max_runtime: match &jobs.rules.max_runtime {
                Some(MaxRuntime::Span(span)) => Some(*span),
                Some(MaxRuntime::Column(_)) => seconds(&cell(Role::MaxRuntime)),
                None => None,
            },
            skips: (0..jobs.skips.len()).map(|n| truth(&cell(Role::Skip(n)))).collect(),
            extra: (0..jobs.show.len()).map(|n| cell(Role::Show(n)).into_text()).collect(),
            progress: cell(Role::Progress).into_text().map(Precondition),
            vetoed: truth(&cell(Role::Veto)),
            astray: {
                let mut actions = jobs.actions.keys().enumerate();
                actions.by_ref().filter(|(n, _)| truth(&cell(Role::Astray(*n)))).map(|(_, action)| *action).collect()
            },
            precondition: Precondition(cell(Role::Precondition).into_text().unwrap_or_default()),
            evidence_row,
        };
        (claim, number > 0)
    }

    /// What the owners' table says of the owner of a row, if it has one for them.
    fn owner_row(&self, row: &mut [Cell], owner: Option<&Owner>, is_there: bool, heartbeat: &Reading) -> OwnerRow {
        match (&self.jobs.owner.row, is_there, owner) {
            (None, _, _) => OwnerRow::NotAsked,
            (Some(of), true, _) => OwnerRow::Present {
                heartbeat: heartbeat.clone(),
                started: read(&self.take(row, Role::OwnerStarted), of.started.as_ref()),
            },
            (Some(_), false, None) => OwnerRow::Unset,
            (Some(_), false, Some(owner)) => {
                let seen = self.jobs.shown.missing_owners.get(&owner.id);
                OwnerRow::Missing { seen: seen.map_or(Reading::Absent, |at| Reading::At(*at)) }
            }
        }
    }

    /// The row of the owners' table on which a verdict rests, by its key.
    fn evidence_row(&self, row: &mut [Cell], key: Cell) -> EvidenceRow {
        match (&self.jobs.owner.row, key) {
            (None, _) => EvidenceRow::None,
            (Some(_), Cell::Null) => EvidenceRow::Absent,
            (Some(_), key) => {
                let image = self.take(row, Role::OwnerImage).into_text();
                EvidenceRow::Row { key, image: Precondition(image.unwrap_or_default()) }
            }
        }
    }

    /// The name of the state in a row with that number, as [`Projection::of_claims`] numbers the states.
    fn state(&self, row: &mut [Cell], number: u64) -> String {
        let jobs = self.jobs;
        match &jobs.claim.state {
            StateSource::Column(_) => match (self.take(row, Role::State), number) {
                // Every row of a listing is in the state of its number.
                (Cell::Null, 1..) => {
                    let number = usize::try_from(number - 1).unwrap_or(usize::MAX);
                    jobs.states.get(number).map(|state| state.name.clone()).unwrap_or_default()
                }
                (stored, 1..) => jobs.state_named(&stored),
                (stored, 0) => jobs.queue.states.name_of(&stored),
            },
            StateSource::Place(name) if number > 0 => name.clone(),
            StateSource::Place(_) => "not in flight".to_owned(),
        }
    }

    /// What each source of liveness says in a row.
    fn signs(&self, row: &mut [Cell], claimed_at: &Reading, owner_heartbeat: &Reading) -> Vec<Sign> {
        let mut cell = |role: Role| self.take(row, role);
        let sign = |(n, source): (usize, &Liveness)| {
            let at = match source {
                Liveness::Owner { .. } => owner_heartbeat.clone(),
                Liveness::Lease { column, plus: Some(_) } => {
                    plus(reading(column, &cell(Role::Sign(n))), &cell(Role::Plus(n)))
                }
                Liveness::Age { .. } if self.place(Role::Sign(n)).is_none() => claimed_at.clone(),
                other => read(&cell(Role::Sign(n)), other.column()),
            };
            Sign { at, silent_after: threshold(&cell(Role::SilentAfter(n))), lock: lock_sign(&cell(Role::Lock(n))) }
        };
        self.jobs.liveness.iter().enumerate().map(sign).collect()
    }
}

/// Reads a time; absent where the queue has no column for it.
fn read(cell: &Cell, time: Option<&TimeColumn>) -> Reading {
    time.map_or(Reading::Absent, |time| reading(time, cell))
}

fn items_of_row(jobs: &Jobs, sql: &Sql<'_>, detail: Detail) -> Vec<(Role, String)> {
    let mut items = Vec::new();
    let text = |expr: &Expr| sql.dialect.as_text(&sql.expr_sql(jobs, expr));
    let raw = |time: &TimeColumn| column_sql(&time.column);
    let optional = |items: &mut Vec<(Role, String)>, role: Role, value: Option<String>| {
        items.extend(value.map(|value| (role, value)));
    };
    for key in &jobs.claim.key {
        items.push((Role::Key, sql.dialect.as_text(&column_sql(key))));
    }
    if let StateSource::Column(column) = &jobs.claim.state {
        items.push((Role::State, sql.dialect.as_text(&column_sql(column))));
    }
    optional(&mut items, Role::Queue, jobs.claim.queue.as_ref().map(text));
    optional(&mut items, Role::Kind, jobs.claim.kind.as_ref().map(text));
    optional(&mut items, Role::ClaimedAt, jobs.claim.claimed_at.as_ref().map(raw));
    optional(&mut items, Role::OwnerId, jobs.owner.id.as_ref().map(text));
    optional(&mut items, Role::OwnerName, jobs.owner.name.as_ref().map(text));
    optional(&mut items, Role::OwnerHost, jobs.owner.host.as_ref().map(text));
    if let Some(row) = &jobs.owner.row {
        items.push((Role::OwnerKey, sql.dialect.as_text(&column_sql(&row.key))));
        optional(&mut items, Role::OwnerHeartbeat, row.heartbeat.as_ref().map(raw));
        optional(&mut items, Role::OwnerStarted, row.started.as_ref().map(raw));
        if detail == Detail::ForAction {
            items.push((Role::OwnerImage, owner_image(jobs, sql)));
        }
    }
    jobs.liveness.iter().enumerate().for_each(|(n, source)| items.extend(items_of_sign(jobs, sql, n, source)));
    let value = |expr: &Expr| sql.expr_sql(jobs, expr);
    optional(&mut items, Role::Attempts, jobs.attempts.column.as_ref().map(value));
    if let Some(Max::Expr(expr)) = &jobs.attempts.max {
        items.push((Role::MaxAttempts, value(expr)));
    }
    optional(&mut items, Role::Stalls, jobs.attempts.stalls.as_ref().map(text));
    optional(&mut items, Role::Deadline, jobs.rules.deadline.as_ref().map(raw));
    optional(&mut items, Role::CancelRequested, jobs.rules.cancel_requested.as_ref().map(value));
    if let Some(MaxRuntime::Column(column)) = &jobs.rules.max_runtime {
        items.push((Role::MaxRuntime, column_sql(column)));
    }
    optional(&mut items, Role::Veto, jobs.claim.veto.as_ref().map(|veto| value(&veto.fresh)));
    for (n, skip) in jobs.skips.iter().enumerate() {
        items.push((Role::Skip(n), value(&Expr::Sql(skip.condition.clone()))));
    }
    if !jobs.claim.progress.is_empty() {
        let values: Vec<String> = jobs.claim.progress.iter().map(value).collect();
        items.push((Role::Progress, sql.dialect.image(&values)));
    }
    if detail == Detail::ForAction {
        items.push((Role::Precondition, precondition_image(jobs, sql)));
        if let Some(now) = jobs.shown.actions_asked_at {
            let asked = jobs.actions.values().map(|action| astray(jobs, sql.dialect, action, now));
            items.extend(asked.enumerate().filter_map(|(n, asked)| Some((Role::Astray(n), asked?))));
        }
    }
    items
}

fn items_of_sign(jobs: &Jobs, sql: &Sql<'_>, n: usize, source: &Liveness) -> Vec<(Role, String)> {
    // The claim time is read once.
    let is_read =
        |time: &&TimeColumn| matches!(source, Liveness::Age { .. }) && Some(*time) == jobs.claim.claimed_at.as_ref();
    let column = source.column().filter(|time| !is_read(time));
    let mut items: Vec<(Role, String)> =
        column.map(|time| (Role::Sign(n), column_sql(&time.column))).into_iter().collect();
    if let Liveness::Lease { plus: Some(plus), .. } = source {
        items.push((Role::Plus(n), column_sql(plus)));
    }
    if let Some(SilentAfter::Column(column)) = source.silent_after() {
        items.push((Role::SilentAfter(n), column_sql(column)));
    }
    if let Liveness::Lock { held, .. } = source {
        items.push((Role::Lock(n), lock_sql(jobs, sql, held)));
    }
    items
}

/// The state of a claim's advisory lock, as text; NULL for a claim without one. Asked once, because it may change at
/// any moment.
pub(super) fn lock_sql(jobs: &Jobs, sql: &Sql<'_>, held: &Template) -> String {
    let held = sql.expr_sql(jobs, &Expr::Sql(held.clone()));
    format!(
        "(CASE WHEN pg_catalog.pg_is_in_recovery() THEN 'out of sight' \
         ELSE CASE {held} WHEN true THEN 'held' WHEN false THEN 'free' END END)"
    )
}

fn precondition_image(jobs: &Jobs, sql: &Sql<'_>) -> String {
    let values: Vec<String> = jobs.claim.precondition.iter().map(|expr| sql.expr_sql(jobs, expr)).collect();
    sql.dialect.image(&values)
}

/// The condition that the precondition still holds.
pub(super) fn same_precondition(jobs: &Jobs, sql: &Sql<'_>) -> String {
    format!("{} = w.precondition", precondition_image(jobs, sql))
}

pub(super) fn owner_image(jobs: &Jobs, sql: &Sql<'_>) -> String {
    let row = jobs.owner.row.iter();
    let columns = row.flat_map(|row| {
        let times = row.heartbeat.iter().chain(&row.started).map(|time| &time.column);
        std::iter::once(&row.key).chain(times)
    });
    let values: Vec<String> = columns.map(column_sql).collect();
    sql.dialect.image(&values)
}

fn newest_heartbeat(jobs: &Jobs, signs: &[Sign], owner: Reading) -> Reading {
    let rows = jobs.liveness.iter().zip(signs).filter(|(source, _)| matches!(source, Liveness::Heartbeat { .. }));
    let beats = rows.map(|(_, sign)| sign.at.clone()).chain(std::iter::once(owner));
    beats.max_by_key(|reading| reading.at().map(Timestamp::micros)).unwrap_or(Reading::Absent)
}
