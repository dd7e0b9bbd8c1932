//! The pre-filter: conditions that every claim passes which the judge would call stuck or unknown. They are on the raw
//! columns in their own encoding, so that an index serves. They may pass too many claims, never too few.

use super::builder::{Param, Sql, column_sql, ordered};
use super::projection::lock_sql;
use crate::model::{Cell, FUTURE_TOLERANCE, LONGEST_THRESHOLD, Timestamp};
use crate::preset::encoding::{Encoding, Unit};
use crate::preset::ident::literal;
use crate::preset::{
    Absence, Column, EARLIEST_MICROS, Free, Jobs, LEASE_AHEAD, Liveness, MaxRuntime, OwnerRowSpec, SilentAfter,
    TimeColumn, silence_allowed,
};
use crate::store::Cutoffs;
use std::time::Duration;

/// From this many seconds on, some 285 years, a number on a row is no span. Smaller ones fit into 64 bits in every unit
/// down to nanoseconds, and so does now minus the span.
const LONGEST_SPAN: u64 = 9_000_000_000;
/// Added to now where a span from the row is subtracted from it, because the database may round spans to seconds.
const ROUNDING: Duration = Duration::from_secs(1);

/// The condition that every suspect meets. One, because whatever finds the odd ones reads every claim in flight: to
/// have an index find the silent ones apart only reads these twice. And locks change between two statements of one
/// snapshot.
pub(super) fn suspect(sql: &mut Sql<'_>, jobs: &Jobs, cutoffs: &Cutoffs) {
    sql.push("(");
    for n in 0..jobs.liveness.len() {
        silent(sql, jobs, n, cutoffs);
        sql.push(" OR ");
    }
    trouble(sql, jobs, cutoffs);
    sooner(sql, jobs, cutoffs);
    sql.push(" OR ");
    odd(sql, jobs, cutoffs);
    if let (Some(id), Some(_)) = (&jobs.owner.id, &jobs.owner.row) {
        let id = sql.expr_sql(jobs, id);
        // The judge knows which are blank.
        sql.push(&format!(" OR {}", sql.dialect.may_be_blank(&id)));
    }
    sql.push(")");
}

/// The claims that liveness source `n` decides on and would call dead.
fn silent(sql: &mut Sql<'_>, jobs: &Jobs, n: usize, cutoffs: &Cutoffs) {
    sql.push("(");
    for earlier in jobs.liveness.iter().take(n) {
        sql.push("NOT coalesce(");
        decides(sql, jobs, earlier, cutoffs);
        sql.push(", false) AND ");
    }
    let cut = |allowed: Option<Duration>| allowed.map(|allowed| cutoffs.now.minus(allowed));
    match jobs.liveness.get(n) {
        None => sql.push("false"),
        Some(Liveness::Lease { column, plus: None }) => before(sql, column, cutoffs.now),
        Some(Liveness::Lease { column, plus: Some(plus) }) => {
            overdue(sql, column, plus, cutoffs.now);
        }
        Some(source @ (Liveness::Heartbeat { column, silent_after } | Liveness::Age { column, silent_after })) => {
            match (silent_after, cutoffs.older) {
                (SilentAfter::Column(seconds), None) => {
                    decides(sql, jobs, source, cutoffs);
                    sql.push(" AND ");
                    overdue(sql, column, seconds, cutoffs.now);
                }
                _ => match cut(silence_allowed(source, cutoffs.older, None)) {
                    Some(cut) => before(sql, column, cut),
                    // Without a threshold every claim that it decides on is unknown.
                    None => has_value(sql, column),
                },
            }
        }
        Some(source @ Liveness::Owner { .. }) => {
            let Some(row) = &jobs.owner.row else { return sql.push("false)") };
            sql.push("(");
            match (&row.heartbeat, cut(silence_allowed(source, cutoffs.older, None))) {
                (Some(heartbeat), Some(cut)) => before(sql, heartbeat, cut),
                (Some(heartbeat), None) => has_value(sql, heartbeat),
                (None, _) => sql.push("false"),
            }
            absent(sql, jobs, row, |absence| absence == Absence::Dead);
            sql.push(")");
        }
        Some(Liveness::Lock { held, free, .. }) => {
            // With a lock out of sight the claim is unknown.
            let also = if *free == Free::Dead { "'free', " } else { "" };
            sql.push(&format!("{} IN ({also}'out of sight')", lock_sql(jobs, sql, held)));
        }
    }
    sql.push(")");
}

/// The condition that this source has a value, so that the next one is not asked.
fn decides(sql: &mut Sql<'_>, jobs: &Jobs, source: &Liveness, cutoffs: &Cutoffs) {
    match source {
        Liveness::Lease { column, plus } => {
            // A lease does not decide if its owner gave a later sign of life. The judge checks that; the lease's own
            // sieve passes such a row.
            has_value(sql, column);
            if let Some(plus) = plus {
                sql.push(&format!(" AND {} IS NOT NULL", column_sql(plus)));
            }
        }
        Liveness::Heartbeat { column, silent_after } | Liveness::Age { column, silent_after } => {
            has_value(sql, column);
            if let (SilentAfter::Column(seconds), None) = (silent_after, cutoffs.older) {
                sql.push(" AND ");
                is_span(sql, seconds, LONGEST_SPAN);
            }
        }
        Liveness::Owner { .. } => {
            let Some(row) = &jobs.owner.row else { return sql.push("false") };
            sql.push("(");
            match &row.heartbeat {
                Some(heartbeat) => has_value(sql, heartbeat),
                None => sql.push("false"),
            }
            absent(sql, jobs, row, |absence| absence != Absence::Next);
            sql.push(")");
        }
        Liveness::Lock { held, free, silent_after } => {
            // Whether a free lock decides depends on more; the lock's own condition passes such a row.
            let also = if *free == Free::Dead && silent_after.is_none() { "'free', " } else { "" };
            sql.push(&format!("{} IN ({also}'held', 'out of sight')", lock_sql(jobs, sql, held)));
        }
    }
}

/// ` OR` the owner's row is absent in a way that `wanted` accepts.
fn absent(sql: &mut Sql<'_>, jobs: &Jobs, row: &OwnerRowSpec, wanted: impl Fn(Absence) -> bool) {
    let Some(id) = &jobs.owner.id else { return };
    let (id, key) = (sql.expr_sql(jobs, id), column_sql(&row.key));
    if wanted(row.missing) {
        sql.push(&format!(" OR ({key} IS NULL AND {id} IS NOT NULL)"));
    }
    if wanted(row.unset) {
        sql.push(&format!(" OR {id} IS NULL"));
    }
}

/// Claims that a rule about deadlines, run times or a restarted owner may call stuck.
fn trouble(sql: &mut Sql<'_>, jobs: &Jobs, cutoffs: &Cutoffs) {
    sql.push("(false");
    if let Some(deadline) = &jobs.rules.deadline {
        sql.push(" OR ");
        before(sql, deadline, cutoffs.now);
    }
    match (&jobs.rules.max_runtime, &jobs.claim.claimed_at) {
        (Some(MaxRuntime::Span(span)), Some(claimed_at)) => {
            sql.push(" OR ");
            before(sql, claimed_at, cutoffs.now.minus(*span));
        }
        (Some(MaxRuntime::Column(seconds)), Some(claimed_at)) => {
            sql.push(" OR ");
            overdue(sql, claimed_at, seconds, cutoffs.now);
        }
        _ => {}
    }
    if let (Some(max), Some(claimed_at)) = (cutoffs.max_runtime, &jobs.claim.claimed_at) {
        sql.push(" OR ");
        before(sql, claimed_at, cutoffs.now.minus(max));
    }
    if let Some(started) = jobs.owner.row.as_ref().and_then(|row| row.started.as_ref()) {
        // The judge compares the two columns, which may have different encodings.
        sql.push(&format!(" OR {} IS NOT NULL", column_sql(&started.column)));
    }
    sql.push(")");
}

/// ` OR` silent for longer than the shortest threshold that applies to some claims only. The judge knows which claims
/// have which threshold.
fn sooner(sql: &mut Sql<'_>, jobs: &Jobs, cutoffs: &Cutoffs) {
    let Some(shortest) = cutoffs.shortest_older else { return };
    let heartbeat = jobs.owner.row.as_ref().and_then(|row| row.heartbeat.as_ref());
    for source in jobs.liveness.iter().filter(|source| source.silent_after().is_some()) {
        if let Some(column) = source.column().or(heartbeat) {
            sql.push(" OR ");
            before(sql, column, cutoffs.now.minus(shortest));
        }
    }
}

/// Claims that are unknown: no source decides, or a value has the wrong type or is implausible.
fn odd(sql: &mut Sql<'_>, jobs: &Jobs, cutoffs: &Cutoffs) {
    let sign = cutoffs.now.plus(FUTURE_TOLERANCE);
    sql.push("(");
    for key in &jobs.claim.key {
        sql.push(&format!("{} IS NULL OR ", column_sql(key)));
    }
    sql.push("NOT coalesce(false");
    for source in &jobs.liveness {
        sql.push(" OR coalesce(");
        decides(sql, jobs, source, cutoffs);
        sql.push(", false)");
    }
    sql.push(", false)");
    for source in &jobs.liveness {
        if let Some(column) = source.column() {
            let latest = match source {
                Liveness::Lease { plus: None, .. } => cutoffs.now.plus(LEASE_AHEAD),
                _ => sign,
            };
            implausible(sql, column, latest);
        }
        if let (Some(SilentAfter::Column(seconds)), None) = (source.silent_after(), cutoffs.older) {
            // No threshold.
            sql.push(" OR NOT (");
            is_span(sql, seconds, LONGEST_SPAN);
            let (column, longest) = (column_sql(seconds), LONGEST_THRESHOLD.as_secs());
            sql.push(&format!(" AND {column} >= 1 AND {column} <= {longest})"));
        }
        if let Liveness::Lease { plus: Some(plus), .. } = source {
            // No span, or a lease that may end implausibly far ahead.
            sql.push(" OR NOT ");
            is_span(sql, plus, LEASE_AHEAD.saturating_sub(FUTURE_TOLERANCE).as_secs());
        }
    }
    if let Some(claimed_at) = &jobs.claim.claimed_at {
        implausible(sql, claimed_at, sign);
    }
    if let Some(row) = &jobs.owner.row {
        if let Some(heartbeat) = &row.heartbeat {
            implausible(sql, heartbeat, sign);
        }
        if jobs.liveness.iter().any(|source| matches!(source, Liveness::Owner { .. })) {
            absent(sql, jobs, row, |absence| absence == Absence::Unknown);
        }
    }
    if let Some(deadline) = &jobs.rules.deadline {
        // A deadline may lie any time ahead, as long as it is an instant.
        implausible(sql, deadline, cutoffs.now.plus(Duration::MAX));
    }
    sql.push(")");
}

/// ` OR` the column's value has the wrong type or is implausible.
fn implausible(sql: &mut Sql<'_>, time: &TimeColumn, latest: Timestamp) {
    let column = column_sql(&time.column);
    if time.encodings.is_text() {
        // No SQL reliably tells whether a text is an instant.
        return sql.push(&format!(" OR {column} IS NOT NULL"));
    }
    if let Some(condition) = sql.dialect.no_instant(time) {
        sql.push(&format!(" OR {condition}"));
    }
    sql.push(" OR ");
    after(sql, time, latest);
    if let Some(earliest) = Timestamp::from_micros(EARLIEST_MICROS) {
        sql.push(" OR ");
        before(sql, time, earliest);
    }
}

/// The condition that a column holds a plausible number of seconds: not negative, no text, below `longest`. NULL for
/// NULL.
fn is_span(sql: &mut Sql<'_>, seconds: &Column, longest: u64) {
    let column = column_sql(seconds);
    let number = sql.dialect.no_number(&column).map(|other| format!("NOT ({other}) AND ")).unwrap_or_default();
    sql.push(&format!("({number}{column} >= 0 AND {column} < {longest})"));
}

fn has_value(sql: &mut Sql<'_>, time: &TimeColumn) {
    let column = column_sql(&time.column);
    sql.push(&format!("({column} IS NOT NULL"));
    if !time.sentinels.is_empty() {
        let text = sql.dialect.as_text(&column);
        let raws: Vec<String> = time.sentinels.iter().map(|raw| literal(raw)).collect();
        sql.push(&format!(" AND {text} NOT IN ({})", raws.join(", ")));
    }
    sql.push(")");
}

pub(super) fn before(sql: &mut Sql<'_>, time: &TimeColumn, cut: Timestamp) {
    compare(sql, time, "<", time.encodings.before(cut));
}

pub(super) fn after(sql: &mut Sql<'_>, time: &TimeColumn, cut: Timestamp) {
    compare(sql, time, ">", time.encodings.after(cut));
}

fn compare(sql: &mut Sql<'_>, time: &TimeColumn, operator: &str, bounds: Vec<Cell>) {
    sql.push("(");
    let column = ordered(sql.dialect, time);
    for (n, bound) in bounds.into_iter().enumerate() {
        sql.push(&format!("{}{column} {operator} ", if n > 0 { " OR " } else { "" }));
        sql.bind(Param::Cell(bound));
    }
    sql.push(")");
}

/// The condition that a column is older than the seconds on its row allow; false if those are no span. The span is
/// subtracted from now, not added to the column, which may be at the end of its type's range. On text every value
/// passes.
fn overdue(sql: &mut Sql<'_>, time: &TimeColumn, seconds: &Column, now: Timestamp) {
    let column = column_sql(&time.column);
    let per_second = match time.encodings.first() {
        Encoding::Native(_) => None,
        Encoding::Epoch(Unit::Seconds) | Encoding::EpochFloat => Some(1),
        Encoding::Epoch(Unit::Millis) => Some(1_000),
        Encoding::Epoch(Unit::Micros) => Some(1_000_000),
        Encoding::Epoch(Unit::Nanos) => Some(1_000_000_000),
        Encoding::Text(_) => return sql.push(&format!("{column} IS NOT NULL")),
    };
    let bounds = time.encodings.before(now.plus(ROUNDING));
    let [bound] = bounds.as_slice() else { return sql.push(&format!("{column} IS NOT NULL")) };
    sql.push("CASE WHEN ");
    is_span(sql, seconds, LONGEST_SPAN);
    sql.push(&format!(" THEN {column} < "));
    sql.bind(Param::Cell(bound.clone()));
    let span = sql.dialect.span(&column_sql(seconds), per_second);
    sql.push(&format!(" - {span} ELSE false END"));
}
