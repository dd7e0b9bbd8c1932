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

impl Sql<'_> {
    /// The condition that every suspect meets. One, because whatever finds the odd ones reads every claim in flight: to
    /// have an index find the silent ones apart only reads these twice. And locks change between two statements of one
    /// snapshot.
    pub(super) fn suspect(&mut self, jobs: &Jobs, cutoffs: &Cutoffs) -> &mut Self {
        self.push("(");
        for n in 0..jobs.liveness.len() {
            self.silent(jobs, n, cutoffs).push(" OR ");
        }
        self.trouble(jobs, cutoffs).sooner(jobs, cutoffs).push(" OR ").odd(jobs, cutoffs);
        if let (Some(id), Some(_)) = (&jobs.owner.id, &jobs.owner.row) {
            // The judge knows which are blank.
            self.push(&format!(" OR {}", self.dialect.may_be_blank(&self.expr_sql(jobs, id))));
        }
        self.push(")")
    }

    /// The claims that liveness source `n` decides on and would call dead.
    fn silent(&mut self, jobs: &Jobs, n: usize, cutoffs: &Cutoffs) -> &mut Self {
        self.push("(");
        for earlier in jobs.liveness.iter().take(n) {
            self.push("NOT coalesce(").decides(jobs, earlier, cutoffs).push(", false) AND ");
        }
        let cut = |allowed: Option<Duration>| allowed.map(|allowed| cutoffs.now.minus(allowed));
        match jobs.liveness.get(n) {
            None => self.push("false"),
            Some(Liveness::Lease { column, plus: None }) => self.before(column, cutoffs.now),
            Some(Liveness::Lease { column, plus: Some(plus) }) => self.overdue(column, plus, cutoffs.now),
            Some(source @ (Liveness::Heartbeat { column, silent_after } | Liveness::Age { column, silent_after })) => {
                match (silent_after, cutoffs.older) {
                    (SilentAfter::Column(seconds), None) => {
                        self.decides(jobs, source, cutoffs).push(" AND ").overdue(column, seconds, cutoffs.now)
                    }
                    _ => match cut(silence_allowed(source, cutoffs.older, None)) {
                        Some(cut) => self.before(column, cut),
                        // Without a threshold every claim that it decides on is unknown.
                        None => self.has_value(column),
                    },
                }
            }
            Some(source @ Liveness::Owner { .. }) => {
                let Some(row) = &jobs.owner.row else { return self.push("false)") };
                self.push("(");
                match (&row.heartbeat, cut(silence_allowed(source, cutoffs.older, None))) {
                    (Some(heartbeat), Some(cut)) => self.before(heartbeat, cut),
                    (Some(heartbeat), None) => self.has_value(heartbeat),
                    (None, _) => self.push("false"),
                };
                self.absent(jobs, row, |absence| absence == Absence::Dead).push(")")
            }
            Some(Liveness::Lock { held, free, .. }) => {
                // With a lock out of sight the claim is unknown.
                let also = if *free == Free::Dead { "'free', " } else { "" };
                self.push(&format!("{} IN ({also}'out of sight')", lock_sql(jobs, self, held)))
            }
        };
        self.push(")")
    }

    /// The condition that this source has a value, so that the next one is not asked.
    fn decides(&mut self, jobs: &Jobs, source: &Liveness, cutoffs: &Cutoffs) -> &mut Self {
        match source {
            // A lease does not decide if its owner gave a later sign of life. The judge checks that; the lease's own sieve
            // passes such a row.
            Liveness::Lease { column, plus: None } => self.has_value(column),
            Liveness::Lease { column, plus: Some(plus) } => {
                self.has_value(column).push(&format!(" AND {} IS NOT NULL", column_sql(plus)))
            }
            Liveness::Heartbeat { column, silent_after } | Liveness::Age { column, silent_after } => {
                match (self.has_value(column), silent_after, cutoffs.older) {
                    (sql, SilentAfter::Column(seconds), None) => sql.push(" AND ").is_span(seconds, LONGEST_SPAN),
                    (sql, ..) => sql,
                }
            }
            Liveness::Owner { .. } => {
                let Some(row) = &jobs.owner.row else { return self.push("false") };
                self.push("(");
                match &row.heartbeat {
                    Some(heartbeat) => self.has_value(heartbeat),
                    None => self.push("false"),
                };
                self.absent(jobs, row, |absence| absence != Absence::Next).push(")")
            }
            Liveness::Lock { held, free, silent_after } => {
                // Whether a free lock decides depends on more; the lock's own condition passes such a row.
                let also = if *free == Free::Dead && silent_after.is_none() { "'free', " } else { "" };
                self.push(&format!("{} IN ({also}'held', 'out of sight')", lock_sql(jobs, self, held)))
            }
        }
    }

    /// ` OR` the owner's row is absent in a way that `wanted` accepts.
    fn absent(&mut self, jobs: &Jobs, row: &OwnerRowSpec, wanted: impl Fn(Absence) -> bool) -> &mut Self {
        let Some(id) = &jobs.owner.id else { return self };
        let (id, key) = (self.expr_sql(jobs, id), column_sql(&row.key));
        if wanted(row.missing) {
            self.push(&format!(" OR ({key} IS NULL AND {id} IS NOT NULL)"));
        }
        if wanted(row.unset) {
            self.push(&format!(" OR {id} IS NULL"));
        }
        self
    }

    /// Claims that a rule about deadlines, run times or a restarted owner may call stuck.
    fn trouble(&mut self, jobs: &Jobs, cutoffs: &Cutoffs) -> &mut Self {
        self.push("(false");
        if let Some(deadline) = &jobs.rules.deadline {
            self.push(" OR ").before(deadline, cutoffs.now);
        }
        if let Some(claimed_at) = &jobs.claim.claimed_at {
            match &jobs.rules.max_runtime {
                Some(MaxRuntime::Span(span)) => _ = self.push(" OR ").before(claimed_at, cutoffs.now.minus(*span)),
                Some(MaxRuntime::Column(seconds)) => _ = self.push(" OR ").overdue(claimed_at, seconds, cutoffs.now),
                None => {}
            }
            if let Some(max) = cutoffs.max_runtime {
                self.push(" OR ").before(claimed_at, cutoffs.now.minus(max));
            }
        }
        if let Some(started) = jobs.owner.row.as_ref().and_then(|row| row.started.as_ref()) {
            // The judge compares the two columns, which may have different encodings.
            self.push(&format!(" OR {} IS NOT NULL", column_sql(&started.column)));
        }
        self.push(")")
    }

    /// ` OR` silent for longer than the shortest threshold that applies to some claims only. The judge knows which claims
    /// have which threshold.
    fn sooner(&mut self, jobs: &Jobs, cutoffs: &Cutoffs) -> &mut Self {
        let Some(shortest) = cutoffs.shortest_older else { return self };
        let heartbeat = jobs.owner.row.as_ref().and_then(|row| row.heartbeat.as_ref());
        let silent = jobs.liveness.iter().filter(|source| source.silent_after().is_some());
        for column in silent.filter_map(|source| source.column().or(heartbeat)) {
            self.push(" OR ").before(column, cutoffs.now.minus(shortest));
        }
        self
    }

    /// Claims that are unknown: no source decides, or a value has the wrong type or is implausible.
    fn odd(&mut self, jobs: &Jobs, cutoffs: &Cutoffs) -> &mut Self {
        let sign = cutoffs.now.plus(FUTURE_TOLERANCE);
        self.push("(");
        for key in &jobs.claim.key {
            self.push(&format!("{} IS NULL OR ", column_sql(key)));
        }
        self.push("NOT coalesce(false");
        for source in &jobs.liveness {
            self.push(" OR coalesce(").decides(jobs, source, cutoffs).push(", false)");
        }
        self.push(", false)");
        for source in &jobs.liveness {
            if let Some(column) = source.column() {
                let latest = match source {
                    Liveness::Lease { plus: None, .. } => cutoffs.now.plus(LEASE_AHEAD),
                    _ => sign,
                };
                self.implausible(column, latest);
            }
            if let (Some(SilentAfter::Column(seconds)), None) = (source.silent_after(), cutoffs.older) {
                // No threshold.
                let (column, longest) = (column_sql(seconds), LONGEST_THRESHOLD.as_secs());
                self.push(" OR NOT (").is_span(seconds, LONGEST_SPAN);
                self.push(&format!(" AND {column} >= 1 AND {column} <= {longest})"));
            }
            if let Liveness::Lease { plus: Some(plus), .. } = source {
                // No span, or a lease that may end implausibly far ahead.
                self.push(" OR NOT ").is_span(plus, LEASE_AHEAD.saturating_sub(FUTURE_TOLERANCE).as_secs());
            }
        }
        if let Some(claimed_at) = &jobs.claim.claimed_at {
            self.implausible(claimed_at, sign);
        }
        if let Some(row) = &jobs.owner.row {
            if let Some(heartbeat) = &row.heartbeat {
                self.implausible(heartbeat, sign);
            }
            if jobs.liveness.iter().any(|source| matches!(source, Liveness::Owner { .. })) {
                self.absent(jobs, row, |absence| absence == Absence::Unknown);
            }
        }
        if let Some(deadline) = &jobs.rules.deadline {
            // A deadline may lie any time ahead, as long as it is an instant.
            self.implausible(deadline, cutoffs.now.plus(Duration::MAX));
        }
        self.push(")")
    }

    /// ` OR` the column's value has the wrong type or is implausible.
    fn implausible(&mut self, time: &TimeColumn, latest: Timestamp) -> &mut Self {
        if time.encodings.is_text() {
            // No SQL reliably tells whether a text is an instant.
            return self.push(&format!(" OR {} IS NOT NULL", column_sql(&time.column)));
        }
        if let Some(condition) = self.dialect.no_instant(time) {
            self.push(&format!(" OR {condition}"));
        }
        self.push(" OR ").after(time, latest);
        match Timestamp::from_micros(EARLIEST_MICROS) {
            Some(earliest) => self.push(" OR ").before(time, earliest),
            None => self,
        }
    }

    /// The condition that a column holds a plausible number of seconds: not negative, no text, below `longest`. NULL for
    /// NULL.
    fn is_span(&mut self, seconds: &Column, longest: u64) -> &mut Self {
        let column = column_sql(seconds);
        let number = self.dialect.no_number(&column).map(|other| format!("NOT ({other}) AND ")).unwrap_or_default();
        self.push(&format!("({number}{column} >= 0 AND {column} < {longest})"))
    }

    fn has_value(&mut self, time: &TimeColumn) -> &mut Self {
        let column = column_sql(&time.column);
        self.push(&format!("({column} IS NOT NULL"));
        if !time.sentinels.is_empty() {
            let raws: Vec<String> = time.sentinels.iter().map(|raw| literal(raw)).collect();
            self.push(&format!(" AND {} NOT IN ({})", self.dialect.as_text(&column), raws.join(", ")));
        }
        self.push(")")
    }

    pub(super) fn before(&mut self, time: &TimeColumn, cut: Timestamp) -> &mut Self {
        self.compare(time, "<", time.encodings.before(cut))
    }

    pub(super) fn after(&mut self, time: &TimeColumn, cut: Timestamp) -> &mut Self {
        self.compare(time, ">", time.encodings.after(cut))
    }

    fn compare(&mut self, time: &TimeColumn, operator: &str, bounds: Vec<Cell>) -> &mut Self {
        let column = ordered(self.dialect, time);
        self.push("(").joined(" OR ", bounds, |sql, bound| {
            sql.push(&format!("{column} {operator} ")).bind(Param::Cell(bound));
        });
        self.push(")")
    }

    /// The condition that a column is older than the seconds on its row allow; false if those are no span. The span is
    /// subtracted from now, not added to the column, which may be at the end of its type's range. On text every value
    /// passes.
    fn overdue(&mut self, time: &TimeColumn, seconds: &Column, now: Timestamp) -> &mut Self {
        let column = column_sql(&time.column);
        let per_second = match time.encodings.first() {
            Encoding::Native(_) => None,
            Encoding::Epoch(Unit::Seconds) | Encoding::EpochFloat => Some(1),
            Encoding::Epoch(Unit::Millis) => Some(1_000),
            Encoding::Epoch(Unit::Micros) => Some(1_000_000),
            Encoding::Epoch(Unit::Nanos) => Some(1_000_000_000),
            Encoding::Text(_) => return self.push(&format!("{column} IS NOT NULL")),
        };
        let bounds = time.encodings.before(now.plus(ROUNDING));
        let [bound] = bounds.as_slice() else { return self.push(&format!("{column} IS NOT NULL")) };
        self.push("CASE WHEN ").is_span(seconds, LONGEST_SPAN);
        self.push(&format!(" THEN {column} < ")).bind(Param::Cell(bound.clone()));
        self.push(&format!(" - {} ELSE false END", self.dialect.span(&column_sql(seconds), per_second)))
    }
}
