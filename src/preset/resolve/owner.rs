//! Who holds a claim, and what shows its life.

use super::Binder;
use super::fragments::sub_selects_read;
use crate::preset::SpecError;
use crate::preset::document::{LivenessDoc, OwnerRows};
use crate::preset::field::Written;
use crate::preset::live::LiveTable;
use crate::preset::queue::*;

impl Binder<'_> {
    pub(super) fn owner(&self) -> Result<OwnerSpec, SpecError> {
        let owner = &self.view.owner;
        let host_alias = if owner.table.is_some() { "o" } else { &self.lock };
        Ok(OwnerSpec {
            id: self.optional_expr(&owner.id)?,
            name: self.optional_expr(&owner.name)?,
            host: owner.host.as_ref().map_or(Ok(None), |host| self.expr(host, host_alias))?,
            host_spelling: owner.host_spelling,
            row: match (&owner.table, self.table_of("o")) {
                (Some(table), Some(live)) => Some(self.owner_row(table, live)?),
                _ => None,
            },
        })
    }

    fn owner_row(&self, table: &Written, live: &LiveTable) -> Result<OwnerRowSpec, SpecError> {
        let owner = &self.view.owner;
        let mut matches = Vec::new();
        for (name, written) in &owner.matches {
            let column = self.owner_column(table, name)?;
            let equals = self.expr(written, &self.lock)?;
            let equals = equals.ok_or_else(|| written.error("a matched column cannot be optional"))?;
            self.compares_alike(live, written, &column, &equals)?;
            matches.push((column, equals));
        }
        let matched: Vec<&str> = matches.iter().map(|(column, _)| column.name.as_str()).collect();
        let is_unique = owner.on.is_none() && live.is_unique(&matched);
        let is_log = owner.rows == OwnerRows::Newest;
        if !is_unique && !is_log && !live.is_view && owner.on.is_none() {
            // Two rows would be two heartbeats of one owner, and by the older one a living owner would look dead.
            return Err(table.error(format!(
                "table {} has no unique index on {}, so an owner may have several rows there; match a unique \
                 column; or say `rows = \"newest\"` if it is a log of heartbeats",
                live.name,
                matched.join(", ")
            )));
        }
        let key = match (&owner.key, matches.first()) {
            (Some(key), _) => self.owner_column(key, &key.text)?,
            (None, Some((column, _))) => column.clone(),
            (None, None) => return Err(table.error("needs `key`")),
        };
        let heartbeat = self.optional_time(&owner.heartbeat, "o")?;
        let started = self.optional_time(&owner.started, "o")?;
        Ok(OwnerRowSpec {
            table: table.text.clone(),
            on: match (&owner.on, heartbeat.as_ref().filter(|_| is_log)) {
                (Some(on), _) => JoinOn::Sql(self.read_sql(on)?),
                (None, Some(heartbeat)) => self.newest(table, live, matches, heartbeat)?,
                (None, None) => JoinOn::Match(matches),
            },
            key,
            is_unique: is_unique || is_log,
            can_lock: !is_log && !live.is_derived,
            heartbeat,
            started: started.map(|time| TimeColumn { encodings: time.encodings.earliest(), ..time }),
            missing: owner.missing,
            unset: owner.unset,
        })
    }

    /// The join of a log of heartbeats, if its rows can be sorted by time.
    fn newest(
        &self,
        table: &Written,
        live: &LiveTable,
        pairs: Vec<(Column, Expr)>,
        beat: &TimeColumn,
    ) -> Result<JoinOn, SpecError> {
        if beat.column.is_expression() || !beat.encodings.are_sorted() {
            return Err(table.error(format!(
                "`rows = \"newest\"` sorts by the heartbeat, and the order of `{}` is not that of time: match a view that has the \
                 newest row of each owner",
                beat.column
            )));
        }
        let hides_rowid = live.is_view || live.columns.iter().any(|column| column.name.eq_ignore_ascii_case("rowid"));
        if self.live.engine.has_rowids() && hides_rowid {
            return Err(table.error(
                "has no rowid of SQLite's: `rows = \"newest\"` needs one; match a view that has one row of each owner",
            ));
        }
        let nullable = !live.not_null.contains(&beat.column.name);
        Ok(JoinOn::Newest { pairs, beat: beat.column.clone(), nullable })
    }

    /// Fails where the application's own comparison of an owner's column with the claim's would find a row that ours
    /// does not.
    fn compares_alike(
        &self,
        live: &LiveTable,
        written: &Written,
        column: &Column,
        equals: &Expr,
    ) -> Result<(), SpecError> {
        let equality = |live: &LiveTable, column: &Column| {
            live.column(&column.name).map_or_else(String::new, |column| column.equality.clone())
        };
        let owners = equality(live, column);
        let claims = match equals {
            Expr::Column(claims) => {
                self.table_of(&claims.alias).map_or_else(String::new, |live| equality(live, claims))
            }
            Expr::Sql(_) => owners.clone(),
        };
        // A type's own comparison may differ by direction, a collation's does not.
        let by_type = self.live.engine.has_strict_types();
        // SQLite does not say how a view compares, which is the operator's own.
        if owners == claims && (!by_type || owners.is_empty()) || !by_type && live.is_view {
            return Ok(());
        }
        let by = if owners.is_empty() { claims } else { owners };
        Err(written.error(format!(
            "is compared with {column} by {by}, in one direction at least, so that a living owner may seem to have no row: match \
             columns of one type of the system and one collation, or a view that has them"
        )))
    }

    fn owner_column(&self, place: &Written, name: &str) -> Result<Column, SpecError> {
        let bare = self.name_of("o", name.strip_prefix("o.").unwrap_or(name));
        self.lookup("o", &bare).ok_or_else(|| self.no_column(place, "o", &bare))
    }

    pub(super) fn liveness(&self) -> Result<Vec<Liveness>, SpecError> {
        let sources = self.view.claim.liveness.iter().map(|source| self.source(source));
        sources.filter_map(Result::transpose).collect()
    }

    /// `None` if the source's column is an optional one that this table lacks.
    fn source(&self, doc: &LivenessDoc) -> Result<Option<Liveness>, SpecError> {
        let silent_after = match doc.silent_after() {
            None | Some(SilentAfter::Required) => SilentAfter::Required,
            Some(SilentAfter::Span(span)) => SilentAfter::Span(*span),
            Some(SilentAfter::Column(written)) => match self.seconds(written)? {
                Some(column) => SilentAfter::Column(column),
                None => return Ok(None),
            },
        };
        let time = |column: &Written| self.time(column, &self.lock);
        Ok(match doc {
            Liveness::Lease { column, plus } => {
                let Some(column) = time(column)? else { return Ok(None) };
                let plus = plus.as_ref().map(|plus| self.seconds(plus)).transpose()?.flatten();
                Some(Liveness::Lease { column, plus })
            }
            Liveness::Heartbeat { column, .. } => {
                time(column)?.map(|column| Liveness::Heartbeat { column, silent_after })
            }
            Liveness::Age { column, .. } => time(column)?.map(|column| Liveness::Age { column, silent_after }),
            Liveness::Owner { .. } => Some(Liveness::Owner { silent_after }),
            Liveness::Lock { held, free, silent_after } => {
                let actions = self.view.actions.iter().any(|(_, doc)| doc.refused.is_none());
                if actions && self.view.claim.guard.is_none() {
                    // No precondition covers a lock: a worker may take it after the verify without a change to the row.
                    let message = "needs a `guard` in [claim] that takes the same lock, or is refused it";
                    return Err(held.written.error(message));
                }
                let silent_after = match silent_after {
                    None => None,
                    Some(SilentAfter::Span(span)) => Some(SilentAfter::Span(*span)),
                    Some(_) => return Err(held.written.error("its `silent_after` must be a duration")),
                };
                Some(Liveness::Lock { held: self.lock_sql(held)?, free: *free, silent_after })
            }
        })
    }

    /// Where a sign of life stands in rows that cannot be locked, as [`Jobs::unlocked`] words it. The time of the
    /// claim is no such sign: a claim is a write to the job's own row.
    ///
    /// # Errors
    /// Where that is a materialized view: it does not show what is, but what was at its last refresh.
    pub(super) fn unlocked(&self, liveness: &[Liveness], veto: Option<&Veto>) -> Result<Option<String>, SpecError> {
        let place = &self.view.claim.from.written;
        let mut unlocked = None;
        if let (Some(table), Some(live)) = (&self.view.owner.table, self.table_of("o")) {
            require_current(table, live)?;
            unlocked = match self.view.owner.rows {
                OwnerRows::Newest => Some(format!("the newest row of table {}", live.name)),
                OwnerRows::One => live.is_view.then(|| format!("view {}", live.name)),
            };
        }
        let vetoing = veto.iter().flat_map(|veto| &veto.tables).filter_map(|name| self.tables.get(name));
        vetoing.for_each(|table| _ = unlocked.get_or_insert_with(|| format!("table {}", table.name)));
        for column in liveness.iter().filter_map(Liveness::column).map(|time| &time.column) {
            // The owner's own row was dealt with above.
            if column.alias == self.lock || column.alias == "o" {
                continue;
            }
            if column.is_expression() {
                if self.reads_other_rows(&column.name) {
                    unlocked.get_or_insert_with(|| column.name.clone());
                }
                continue;
            }
            let read: Vec<&LiveTable> = match self.table_of(&column.alias) {
                Some(live) => vec![live],
                None => match sub_selects_read(&self.view.claim.from.sql) {
                    Some(names) => names.iter().filter_map(|name| self.tables.get(*name).copied()).collect(),
                    None => continue,
                },
            };
            read.into_iter().try_for_each(|live| require_current(place, live))?;
            unlocked.get_or_insert_with(|| format!("{}.{}", column.alias, column.name));
        }
        Ok(unlocked.filter(|_| !self.live.engine.has_one_writer()))
    }

    /// True if an expression may read more than the job's own row and the owner's.
    fn reads_other_rows(&self, sql: &str) -> bool {
        let words = sql.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let is_other = |word: &str| word != self.lock && word != "o" && self.aliases.contains_key(word);
        words.into_iter().any(|word| word.eq_ignore_ascii_case("select") || is_other(word))
    }
}

/// Refuses a materialized view where signs of life are read.
fn require_current(written: &Written, live: &LiveTable) -> Result<(), SpecError> {
    if !live.is_materialized {
        return Ok(());
    }
    Err(written.error(format!(
        "{} is a materialized view or reads one, and shows what was true at the last refresh: a living worker would look dead; \
         read the tables behind it, or a plain view of them",
        live.name
    )))
}
