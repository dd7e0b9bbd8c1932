//! Holds a preset against the live tables: picks the engine's values and the variants, looks up every column, derives what
//! authors do not write, and refuses what does not fit.

use super::document::{
    AttemptsWord, By, ClaimFrom, Document, LivenessDoc, MaxDoc, MaxRuntimeDoc, MoveDoc, NotifyDoc, SilentAfterDoc,
    StepDoc,
};
use super::encoding::{Encoding, Encodings};
use super::fields::Written;
use super::live::{LiveSchema, LiveTable};
use super::preset::Preset;
use super::queue::*;
use super::template::{Marker, Piece, Template, is_name};
use super::variant::{self, Ask, Tables};
use super::{SpecError, did_you_mean};
use crate::model::{AttemptsChange, Cell, Engine, Move};
use std::collections::BTreeMap;

/// What the operator says about where the queue lives.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// `--schema`.
    pub schema: Option<String>,
    /// `--table`: another name for the claim's own table.
    pub table: Option<String>,
}

/// Why a preset could not be resolved.
#[derive(Debug)]
pub enum ResolveError<E> {
    /// The preset or the tables are at fault.
    Spec(SpecError),
    /// A probe could not be asked.
    Ask(E),
}

impl<E> From<SpecError> for ResolveError<E> {
    fn from(error: SpecError) -> Self {
        ResolveError::Spec(error)
    }
}

/// Resolves a preset against the live tables.
///
/// # Errors
/// When a table or column is missing, a type does not fit its declaration, a variant is refused, or a probe fails.
pub fn resolve<E>(
    preset: &Preset,
    live: &LiveSchema,
    place: &Place,
    ask: Ask<'_, E>,
) -> Result<QueueSpec, ResolveError<E>> {
    let mut node = preset.for_engine(live.engine)?;
    let base = Document::of(&preset.document, &preset.name, node.clone())?;
    let mut variants = Vec::new();
    for variant in variant::variants(&preset.document, &node)? {
        let tables = physical_tables(&base, live, place).map(|(_, tables)| tables)?;
        if variant::holds(&variant, live, &tables, ask).map_err(ResolveError::Ask)? {
            if let Some(why) = variant.refuse {
                let message = format!("variant `{}` is refused: {why}", variant.name);
                return Err(SpecError::whole(&preset.document, message).into());
            }
            node.overlay(variant.overlay);
            variants.push(variant.name);
        }
    }
    let document = Document::of(&preset.document, &preset.name, node)?;
    let (schema, tables) = physical_tables(&document, live, place)?;
    Ok(Binder::new(&preset.document, &document, live, schema, tables)?.bind(variants)?)
}

/// The schema the queue lives in, and each logical table's live counterpart.
pub(super) fn physical_tables<'a>(
    document: &Document,
    live: &'a LiveSchema,
    place: &Place,
) -> Result<(String, Tables<'a>), SpecError> {
    let main = match &document.claim.from {
        ClaimFrom::Table(table) => Some(table.text.clone()),
        ClaimFrom::From(_, from) => from.0.iter().find_map(|piece| match piece {
            Piece::Name(name) => Some(name.clone()),
            _ => None,
        }),
    };
    let physical = |logical: &str, physical: &str| match (&place.table, &main) {
        (Some(table), Some(main)) if main == logical => table.clone(),
        _ => physical.to_owned(),
    };
    let explicit = place.schema.as_deref().or(document.schema.as_deref());
    // Without a word about the schema, the claim's own table decides: the others live where it does.
    let schema = match (explicit, &main) {
        (Some(schema), _) => schema.to_owned(),
        (None, Some(main)) => {
            let named = document.tables.iter().find(|(logical, _)| logical == main);
            let name = named.map_or_else(|| main.clone(), |(logical, name)| physical(logical, name));
            live.table(None, &name).map_or_else(String::new, |table| table.schema.clone())
        }
        (None, None) => String::new(),
    };
    let within = (!schema.is_empty()).then_some(schema.as_str());
    let tables = document
        .tables
        .iter()
        .map(|(logical, name)| (logical.clone(), live.table(within, &physical(logical, name))))
        .collect();
    Ok((schema, tables))
}

struct Binder<'a> {
    name: &'a str,
    document: &'a Document,
    live: &'a LiveSchema,
    schema: String,
    tables: BTreeMap<String, &'a LiveTable>,
    /// The claim's aliases; one without a table belongs to a sub-select, whose columns the catalog does not know.
    aliases: BTreeMap<String, Option<&'a LiveTable>>,
    lock: String,
    lock_table: String,
    from: Template,
}

impl<'a> Binder<'a> {
    fn new(
        name: &'a str,
        document: &'a Document,
        live: &'a LiveSchema,
        schema: String,
        found: Tables<'a>,
    ) -> Result<Binder<'a>, SpecError> {
        let mut tables = BTreeMap::new();
        for (logical, table) in found {
            let named = document.tables.iter().find(|(known, _)| *known == logical).map_or(&logical, |(_, name)| name);
            match table {
                Some(table) => {
                    tables.insert(logical, table);
                }
                None => return Err(missing_table(name, named, live, &schema)),
            }
        }
        let (from, aliases) = match &document.claim.from {
            ClaimFrom::Table(table) => {
                let pieces = vec![Piece::Name(table.text.clone()), Piece::Text(" AS j".to_owned())];
                (Template(pieces), vec![("j".to_owned(), Some(table.text.clone()))])
            }
            ClaimFrom::From(written, template) => {
                let aliases = aliases_of(template);
                if aliases.first().is_none_or(|(_, table)| table.is_none()) {
                    return Err(written.error("must begin with `{table} AS alias`: the row's own table comes first"));
                }
                (template.clone(), aliases)
            }
        };
        let lock = match &document.claim.lock {
            Some(lock) if !aliases.iter().any(|(alias, _)| *alias == lock.text) => {
                return Err(lock.error(format!("`{}` is not an alias of `from`", lock.text)));
            }
            Some(lock) => lock.text.clone(),
            None => aliases.first().map(|(alias, _)| alias.clone()).unwrap_or_default(),
        };
        let lock_table = aliases.iter().find(|(alias, _)| *alias == lock).and_then(|(_, table)| table.clone());
        let lock_table = lock_table.ok_or_else(|| SpecError::whole(name, "the locked alias has no table"))?;
        let mut by_alias = BTreeMap::new();
        for (alias, logical) in aliases {
            let table = match logical {
                Some(logical) => Some(*tables.get(&logical).ok_or_else(|| {
                    SpecError::whole(name, format!("`{{{logical}}}` is not one of the tables in [tables]"))
                })?),
                None => None,
            };
            by_alias.insert(alias, table);
        }
        if let Some(owner) = &document.owner.table {
            by_alias.insert("o".to_owned(), tables.get(&owner.text).copied());
        }
        Ok(Binder { name, document, live, schema, tables, aliases: by_alias, lock, lock_table, from })
    }

    fn bind(&self, variants: Vec<String>) -> Result<QueueSpec, SpecError> {
        let document = self.document;
        let owner = self.owner()?;
        let liveness = self.liveness()?;
        let attempts = self.attempts()?;
        let rules = self.rules()?;
        let mut claim = self.claim()?;
        claim.fence = self.fence(&claim, &owner, &liveness, &attempts, &rules)?;
        if liveness.iter().any(|source| matches!(source, Liveness::Owner { .. })) && owner.row.is_none() {
            return Err(SpecError::whole(self.name, "liveness by `owner` needs an [owner] `table`"));
        }
        Ok(QueueSpec {
            preset: document.name.clone(),
            title: document.title.clone(),
            variants,
            checked: document.checked.clone(),
            proof: document.proof,
            late_finish: document.late_finish,
            engine: self.live.engine,
            schema: self.schema.clone(),
            tables: self
                .tables
                .iter()
                .map(|(logical, table)| {
                    (logical.clone(), Table { schema: table.schema.clone(), name: table.name.clone() })
                })
                .collect(),
            moves: self.moves(&claim, &attempts)?,
            states: document.states.clone(),
            claim,
            owner,
            liveness,
            attempts,
            rules,
            holds: document
                .holds
                .iter()
                .map(|hold| {
                    Ok(Hold {
                        name: hold.name.clone(),
                        condition: self.expand(&hold.condition.0, &hold.condition.1)?,
                        moves: hold.moves.clone(),
                        reason: hold.reason.clone(),
                    })
                })
                .collect::<Result<_, SpecError>>()?,
            notify: document
                .notify
                .iter()
                .map(|notify| {
                    Ok(match notify {
                        NotifyDoc::Channel { channel, payload } => Notify::Channel {
                            channel: self.expand(&channel.0, &channel.1)?,
                            payload: self.expand(&payload.0, &payload.1)?,
                        },
                        NotifyDoc::Sql(sql) => Notify::Sql(self.expand(&sql.0, &sql.1)?),
                    })
                })
                .collect::<Result<_, SpecError>>()?,
            cautions: document.cautions.clone(),
            show: document
                .show
                .iter()
                .filter_map(|(name, written)| match self.expr(written, &self.lock) {
                    Ok(Some(expr)) => Some(Ok((name.clone(), expr))),
                    Ok(None) => None,
                    Err(error) => Some(Err(error)),
                })
                .collect::<Result<_, SpecError>>()?,
        })
    }

    fn claim(&self) -> Result<ClaimSpec, SpecError> {
        let claim = &self.document.claim;
        let mut key = Vec::new();
        for part in &claim.key {
            key.push(self.column(part, &self.lock)?.ok_or_else(|| part.error("a key column cannot be optional"))?);
        }
        let state = match &claim.state {
            None => StateSource::Place("in flight".to_owned()),
            Some(state) => match literal(&state.text) {
                Some(place) => StateSource::Place(place.to_owned()),
                None => {
                    let column = self.column(state, &self.lock)?;
                    StateSource::Column(column.ok_or_else(|| state.error("the state column cannot be optional"))?)
                }
            },
        };
        if matches!(state, StateSource::Column(_)) && self.document.states.in_flight.is_empty() {
            return Err(SpecError::whole(self.name, "[states] names no `in_flight` state"));
        }
        Ok(ClaimSpec {
            from: self.expand_piecewise(&self.from)?,
            lock: self.lock.clone(),
            lock_table: self.lock_table.clone(),
            key,
            state,
            filter: claim.filter.as_ref().map(|(written, sql)| self.expand(written, sql)).transpose()?,
            queue: self.optional_expr(&claim.queue)?,
            kind: self.optional_expr(&claim.kind)?,
            claimed_at: self.optional_time(&claim.claimed_at, &self.lock)?,
            fence: Vec::new(),
        })
    }

    fn owner(&self) -> Result<OwnerSpec, SpecError> {
        let owner = &self.document.owner;
        let row = match &owner.table {
            None => None,
            Some(table) => {
                let mut matches = Vec::new();
                for (name, written) in &owner.matches {
                    let column = self.owner_column(table, name)?;
                    let equals = self.expr(written, &self.lock)?;
                    matches.push((column, equals.ok_or_else(|| written.error("a matched column cannot be optional"))?));
                }
                let key = match (&owner.key, matches.first()) {
                    (Some(key), _) => self.owner_column(key, &key.text)?,
                    (None, Some((column, _))) => column.clone(),
                    (None, None) => return Err(table.error("needs `key`")),
                };
                Some(OwnerRowSpec {
                    table: table.text.clone(),
                    on: match &owner.on {
                        Some(sql) => JoinOn::Sql(self.expand(table, sql)?),
                        None => JoinOn::Match(matches),
                    },
                    key,
                    heartbeat: self.optional_time(&owner.heartbeat, "o")?,
                    started: self.optional_time(&owner.started, "o")?,
                    missing: owner.missing,
                    unset: owner.unset,
                })
            }
        };
        Ok(OwnerSpec {
            id: self.optional_expr(&owner.id)?,
            name: self.optional_expr(&owner.name)?,
            host: match &owner.host {
                Some(host) => self.expr(host, if owner.table.is_some() { "o" } else { &self.lock })?,
                None => None,
            },
            row,
        })
    }

    fn owner_column(&self, place: &Written, name: &str) -> Result<Column, SpecError> {
        let bare = name.strip_prefix("o.").unwrap_or(name);
        match self.lookup("o", bare) {
            Some(column) => Ok(column),
            None => Err(self.no_column(place, "o", bare)),
        }
    }

    fn liveness(&self) -> Result<Vec<Liveness>, SpecError> {
        let mut sources = Vec::new();
        for source in &self.document.claim.liveness {
            if let Some(source) = self.source(source)? {
                sources.push(source);
            }
        }
        Ok(sources)
    }

    /// `None` if the source's column is an optional one that this table lacks.
    fn source(&self, doc: &LivenessDoc) -> Result<Option<Liveness>, SpecError> {
        let silent_after = match &doc.silent_after {
            None => SilentAfter::Required,
            Some(SilentAfterDoc::Required) => SilentAfter::Required,
            Some(SilentAfterDoc::Span(span)) => SilentAfter::Span(*span),
            Some(SilentAfterDoc::Column(written)) => match self.column(written, &self.lock)? {
                Some(column) => SilentAfter::Column(column),
                None => return Ok(None),
            },
        };
        if doc.by == By::Owner {
            return Ok(Some(Liveness::Owner { silent_after }));
        }
        let Some(column) = self.optional_time(&doc.column, &self.lock)? else { return Ok(None) };
        Ok(Some(match doc.by {
            By::Lease => Liveness::Lease {
                column,
                plus: match &doc.plus {
                    Some(plus) => self.column(plus, &self.lock)?,
                    None => None,
                },
            },
            By::Heartbeat => Liveness::Heartbeat { column, silent_after },
            By::Age | By::Owner => Liveness::Age { column, silent_after },
        }))
    }

    fn attempts(&self) -> Result<Attempts, SpecError> {
        let attempts = &self.document.attempts;
        let spec = Attempts {
            column: self.optional_expr(&attempts.column)?,
            max: match &attempts.max {
                None => None,
                Some(MaxDoc::Number(number)) => Some(Max::Number(*number)),
                Some(MaxDoc::Column(written)) => self.expr(written, &self.lock)?.map(Max::Expr),
            },
            counted: attempts.counted,
            exhausted: attempts.exhausted,
            max_counts: attempts.max_counts,
        };
        if let (Some(Expr::Column(column)), Some(written)) = (&spec.column, &attempts.column)
            && self.live.engine == Engine::Postgres
            && !column.type_name.is_empty()
            && !["smallint", "integer", "bigint"].contains(&column.type_name.as_str())
        {
            return Err(written.error(format!("is {}, and attempts must be an integer", column.type_name)));
        }
        Ok(spec)
    }

    fn rules(&self) -> Result<Rules, SpecError> {
        let rules = &self.document.rules;
        Ok(Rules {
            deadline: self.optional_time(&rules.deadline, &self.lock)?,
            cancel_requested: match &rules.cancel_requested {
                None => None,
                Some(written) => self.expr(written, &self.lock)?.map(|expr| match expr {
                    Expr::Column(column) => CancelRequested::Column(column),
                    Expr::Sql(sql) => CancelRequested::Sql(sql),
                }),
            },
            max_runtime: match &rules.max_runtime {
                None => None,
                Some(MaxRuntimeDoc::Span(span)) => Some(MaxRuntime::Span(*span)),
                Some(MaxRuntimeDoc::Column(written)) => self.column(written, &self.lock)?.map(MaxRuntime::Column),
            },
        })
    }

    /// What authors do not repeat: everything that a verdict reads is in the fence.
    fn fence(
        &self,
        claim: &ClaimSpec,
        owner: &OwnerSpec,
        liveness: &[Liveness],
        attempts: &Attempts,
        rules: &Rules,
    ) -> Result<Vec<Expr>, SpecError> {
        let mut fence = Vec::new();
        let mut add = |expr: Expr| {
            if !fence.contains(&expr) {
                fence.push(expr);
            }
        };
        if let StateSource::Column(column) = &claim.state {
            add(Expr::Column(column.clone()));
        }
        owner.id.iter().cloned().for_each(&mut add);
        let times = claim.claimed_at.iter().chain(liveness.iter().filter_map(Liveness::column)).chain(&rules.deadline);
        times.map(|time| Expr::Column(time.column.clone())).for_each(&mut add);
        for source in liveness {
            if let Liveness::Lease { plus: Some(column), .. } = source {
                add(Expr::Column(column.clone()));
            }
            if let Some(SilentAfter::Column(column)) = source.silent_after() {
                add(Expr::Column(column.clone()));
            }
        }
        if let Some(row) = &owner.row {
            add(Expr::Column(row.key.clone()));
            let times = row.heartbeat.iter().chain(&row.started);
            times.map(|time| Expr::Column(time.column.clone())).for_each(&mut add);
        }
        attempts.column.iter().cloned().for_each(&mut add);
        match &rules.cancel_requested {
            Some(CancelRequested::Column(column)) => add(Expr::Column(column.clone())),
            Some(CancelRequested::Sql(sql)) => add(Expr::Sql(sql.clone())),
            None => {}
        }
        if let Some(MaxRuntime::Column(column)) = &rules.max_runtime {
            add(Expr::Column(column.clone()));
        }
        for written in &self.document.claim.fence {
            self.expr(written, &self.lock)?.into_iter().for_each(&mut add);
        }
        Ok(fence)
    }

    fn moves(&self, claim: &ClaimSpec, attempts: &Attempts) -> Result<BTreeMap<Move, MoveSpec>, SpecError> {
        self.document.moves.iter().map(|(r#move, doc)| Ok((*r#move, self.a_move(doc, claim, attempts)?))).collect()
    }

    fn a_move(&self, doc: &MoveDoc, claim: &ClaimSpec, attempts: &Attempts) -> Result<MoveSpec, SpecError> {
        let to = match &doc.to {
            None => StateValue { name: String::new(), stored: Cell::Null },
            Some(to) => match (&claim.state, self.document.states.all().find(|state| state.name == to.text)) {
                (_, Some(state)) => state.clone(),
                (StateSource::Place(_), None) => {
                    StateValue { name: to.text.clone(), stored: Cell::Text(to.text.clone()) }
                }
                (StateSource::Column(_), None) => {
                    let known: Vec<&str> = self.document.states.all().map(|state| state.name.as_str()).collect();
                    let hint = did_you_mean(&to.text, known.iter().copied());
                    return Err(to.error(format!("`{}` is not one of the [states]{hint}", to.text)));
                }
            },
        };
        let change = match doc.attempts {
            None => attempts.counted.change(),
            Some(AttemptsWord::Keep) => AttemptsChange::Keep,
            Some(AttemptsWord::Add(n)) => AttemptsChange::Add(n),
            Some(AttemptsWord::Zero) => AttemptsChange::Zero,
        };
        let mut locks_for_update = false;
        let mut steps = Vec::new();
        for (n, step) in doc.steps.iter().enumerate() {
            match step {
                StepDoc::Sql { sql, written, rows } => {
                    let sql = self.expand(written, sql)?;
                    // Whatever it does to the locked row, the stronger lock is enough.
                    locks_for_update = true;
                    let encodings = self.now_encodings(written, &sql)?;
                    steps.push(StepSpec::Sql { sql, rows: *rows, encodings });
                }
                StepDoc::Update { clear, stamp, set } => {
                    let mut assignments = Vec::new();
                    if n == 0 && doc.refused.is_none() {
                        assignments.extend(self.implied(&to, change, claim, attempts)?);
                    }
                    for (list, sql) in [(clear, "NULL"), (stamp, ":now")] {
                        for written in list {
                            self.assign(&mut assignments, written, &written.text, sql)?;
                        }
                    }
                    for (column, value) in set {
                        self.assign(&mut assignments, value, column, &value.text)?;
                    }
                    let keys = &self.tables.get(&self.lock_table).map(|table| &table.key_columns);
                    locks_for_update |=
                        assignments.iter().any(|a| keys.is_some_and(|keys| keys.contains(&a.column.name)));
                    steps.push(StepSpec::Update(assignments));
                }
            }
        }
        Ok(MoveSpec { to, attempts: change, steps, refused: doc.refused.clone(), locks_for_update })
    }

    /// The state and the attempts, which authors do not write out.
    fn implied(
        &self,
        to: &StateValue,
        change: AttemptsChange,
        claim: &ClaimSpec,
        attempts: &Attempts,
    ) -> Result<Vec<Assignment>, SpecError> {
        let mut assignments = Vec::new();
        if let StateSource::Column(column) = &claim.state
            && column.alias == self.lock
        {
            let value = Template(vec![Piece::Literal(to.stored.clone())]);
            assignments.push(Assignment { column: column.clone(), value, encodings: None });
        }
        let value = match (change, &attempts.column) {
            (AttemptsChange::Keep, _) | (_, None) => return Ok(assignments),
            (_, Some(Expr::Sql(_))) => {
                return Err(SpecError::whole(
                    self.name,
                    "attempts that are an expression cannot be changed: say `attempts = \"keep\"` in the move",
                ));
            }
            (AttemptsChange::Zero, Some(Expr::Column(column))) => (column, vec![Piece::Text("0".to_owned())]),
            (AttemptsChange::Add(n), Some(Expr::Column(column))) => (
                column,
                vec![
                    Piece::Text("coalesce(".to_owned()),
                    Piece::Column(column.clone()),
                    Piece::Text(format!(", 0) + ({n})")),
                ],
            ),
        };
        let (column, pieces) = value;
        assignments.push(Assignment { column: column.clone(), value: Template(pieces), encodings: None });
        Ok(assignments)
    }

    fn assign(
        &self,
        assignments: &mut Vec<Assignment>,
        written: &Written,
        column: &str,
        value: &str,
    ) -> Result<(), SpecError> {
        let Some(bound) = self.lookup(&self.lock, column) else {
            if self.is_optional(column) {
                return Ok(());
            }
            return Err(self.no_column(written, &self.lock, column));
        };
        let template = Template::parse(value).map_err(|why| written.error(why.0))?;
        let value = self.expand(written, &template)?;
        let timed = value.markers().any(|marker| matches!(marker, Marker::Now(None) | Marker::RunAt));
        let encodings = if timed { Some(self.encodings(written, &bound)?) } else { None };
        assignments.push(Assignment { column: bound, value, encodings });
        Ok(())
    }

    fn now_encodings(&self, written: &Written, sql: &Template) -> Result<BTreeMap<String, Encodings>, SpecError> {
        let mut encodings = BTreeMap::new();
        for marker in sql.markers() {
            if let Marker::Now(Some(column)) = marker {
                let times = &self.document.time;
                let found = times.columns.get(column).or(times.default.as_ref()).cloned().or_else(|| self.natural());
                let found = found.ok_or_else(|| {
                    written.error(format!("`:now.{column}`: [time] does not say how `{column}` is spelled"))
                })?;
                encodings.insert(column.clone(), found);
            }
        }
        Ok(encodings)
    }

    fn natural(&self) -> Option<Encodings> {
        (self.live.engine == Engine::Postgres).then(|| Encodings::new(Encoding::Native(None), Vec::new()))
    }

    fn optional_time(&self, written: &Option<Written>, alias: &str) -> Result<Option<TimeColumn>, SpecError> {
        let Some(written) = written else { return Ok(None) };
        match self.expr(written, alias)? {
            None => Ok(None),
            Some(Expr::Sql(_)) => Err(written
                .error("a time must be a column: no index serves an expression, and no encoding is known for it")),
            Some(Expr::Column(column)) => {
                let encodings = self.encodings(written, &column)?;
                let sentinels = self.document.time.sentinels.get(&column.name).cloned().unwrap_or_default();
                Ok(Some(TimeColumn { column, encodings, sentinels }))
            }
        }
    }

    fn encodings(&self, written: &Written, column: &Column) -> Result<Encodings, SpecError> {
        let times = &self.document.time;
        let found = times
            .columns
            .get(&format!("{}.{}", column.alias, column.name))
            .or_else(|| times.columns.get(&column.name))
            .or(times.default.as_ref())
            .cloned()
            .or_else(|| self.natural())
            .ok_or_else(|| written.error(format!("[time] does not say how `{}` is spelled", column.name)))?;
        if self.live.engine == Engine::Postgres
            && let Some(why) = misfit(&found, &column.type_name)
        {
            return Err(
                written.error(format!("`{}` is {}, and [time] says {found}: {why}", column.name, column.type_name))
            );
        }
        if column.type_name.contains("with time zone") {
            // A zone is a declaration for zone-less columns; this one knows its instants.
            return Ok(Encodings::new(Encoding::Native(None), Vec::new()));
        }
        Ok(found)
    }

    fn optional_expr(&self, written: &Option<Written>) -> Result<Option<Expr>, SpecError> {
        match written {
            Some(written) => self.expr(written, &self.lock),
            None => Ok(None),
        }
    }

    /// A column or an expression; `None` for an optional column that this table lacks.
    fn expr(&self, written: &Written, alias: &str) -> Result<Option<Expr>, SpecError> {
        if column_of(&written.text, alias).is_some() {
            return Ok(self.column(written, alias)?.map(Expr::Column));
        }
        let template = Template::parse(&written.text).map_err(|why| written.error(why.0))?;
        self.expand(written, &template).map(|sql| Some(Expr::Sql(sql)))
    }

    fn column(&self, written: &Written, alias: &str) -> Result<Option<Column>, SpecError> {
        let Some((alias, name)) = column_of(&written.text, alias) else {
            return Err(written.error(format!("must be a column, and `{}` is an expression", written.text)));
        };
        match self.lookup(alias, name) {
            Some(column) => Ok(Some(column)),
            None if self.is_optional(name) => Ok(None),
            None => Err(self.no_column(written, alias, name)),
        }
    }

    fn is_optional(&self, column: &str) -> bool {
        self.document.claim.optional.iter().any(|optional| optional == column)
    }

    fn lookup(&self, alias: &str, name: &str) -> Option<Column> {
        let type_name = match self.aliases.get(alias)? {
            Some(table) => table.column(name)?.type_name.clone(),
            None => String::new(),
        };
        Some(Column { alias: alias.to_owned(), name: name.to_owned(), type_name })
    }

    fn no_column(&self, written: &Written, alias: &str, name: &str) -> SpecError {
        match self.aliases.get(alias).copied().flatten() {
            Some(table) => {
                let hint = did_you_mean(name, table.columns.iter().map(|column| column.name.as_str()));
                written.error(format!("table {} has no column `{name}`{hint}", table.name))
            }
            None => written.error(format!("`{alias}.{name}`: there is no such alias")),
        }
    }

    /// Replaces `{sql.x}` by the fragment it names, however deep.
    fn expand(&self, written: &Written, sql: &Template) -> Result<Template, SpecError> {
        self.expand_piecewise(sql).map_err(|error| written.error(error.message))
    }

    fn expand_piecewise(&self, sql: &Template) -> Result<Template, SpecError> {
        let mut pieces = Vec::new();
        self.expand_into(sql, &mut Vec::new(), &mut pieces)?;
        Ok(Template(pieces))
    }

    fn expand_into(&self, sql: &Template, path: &mut Vec<String>, out: &mut Vec<Piece>) -> Result<(), SpecError> {
        for piece in &sql.0 {
            let Piece::Fragment(name) = piece else {
                out.push(piece.clone());
                continue;
            };
            if path.contains(name) {
                return Err(SpecError::whole(self.name, format!("`{{sql.{name}}}` contains itself")));
            }
            let inner = self
                .document
                .sql
                .get(name)
                .ok_or_else(|| SpecError::whole(self.name, format!("there is no fragment `{name}` in [sql]")))?;
            path.push(name.clone());
            self.expand_into(inner, path, out)?;
            path.pop();
        }
        Ok(())
    }
}

/// A quoted literal's text, if the whole of it is one.
fn literal(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!inner.contains('\'')).then_some(inner)
}

/// Alias and name, if the text is a column and not an expression.
fn column_of<'t>(text: &'t str, alias: &'t str) -> Option<(&'t str, &'t str)> {
    match text.split_once('.') {
        Some((alias, name)) if is_name(alias) && is_name(name) => Some((alias, name)),
        None if is_name(text) && !["true", "false", "null"].contains(&text.to_lowercase().as_str()) => {
            Some((alias, text))
        }
        _ => None,
    }
}

/// The aliases of a FROM clause in order: `{table} AS alias` with their table, and `) AS alias` of sub-selects without.
fn aliases_of(from: &Template) -> Vec<(String, Option<String>)> {
    let mut aliases = Vec::new();
    let mut depth = 0_i32;
    let mut table: Option<&String> = None;
    for piece in &from.0 {
        match piece {
            Piece::Name(name) => table = Some(name).filter(|_| depth == 0),
            Piece::Text(text) => {
                let words = text.split_inclusive(|c: char| c.is_whitespace() || c == '(' || c == ')').peekable();
                let mut after_close = false;
                for word in words {
                    let bare = word.trim_end_matches(|c: char| c.is_whitespace() || c == '(' || c == ')').trim();
                    if depth == 0 && (table.is_some() || after_close) && !bare.is_empty() {
                        let is_as = bare.eq_ignore_ascii_case("as");
                        if !is_as {
                            aliases.push((bare.to_owned(), table.cloned()));
                            table = None;
                            after_close = false;
                        }
                    }
                    if word.ends_with('(') {
                        depth += 1;
                    } else if word.ends_with(')') {
                        depth -= 1;
                        after_close = depth == 0;
                    }
                }
            }
            _ => {}
        }
    }
    aliases
}

/// Why a Postgres column of that type cannot be spelled like that, if so. Unknown types are left to the reading.
fn misfit(encodings: &Encodings, type_name: &str) -> Option<&'static str> {
    let base = type_name.split('(').next().unwrap_or_default();
    let zoned = type_name.contains("with time zone");
    let zoneless = type_name.contains("without time zone");
    let integer = ["smallint", "integer", "bigint"].contains(&type_name);
    let float = ["real", "double precision", "numeric"].contains(&base);
    let text = ["text", "character varying", "character"].contains(&base);
    if !(zoned || zoneless || integer || float || text) {
        return (!type_name.is_empty()).then_some("that type holds no instants");
    }
    let fits = encodings.iter().any(|encoding| match encoding {
        Encoding::Native(None) => zoned,
        Encoding::Native(Some(_)) => zoned || zoneless,
        Encoding::Epoch(_) => integer,
        Encoding::EpochFloat => float || integer,
        Encoding::Text(_) => text,
    });
    match (fits, zoneless) {
        (true, _) => None,
        (false, true) => Some("name the zone that its times are in, such as `native utc`"),
        (false, false) => Some("the two do not fit"),
    }
}

fn missing_table(document: &str, name: &str, live: &LiveSchema, schema: &str) -> SpecError {
    let elsewhere = live.schemas_of(name);
    let message = match (elsewhere.as_slice(), schema) {
        ([], "") => format!("there is no table `{name}` in this database"),
        ([], schema) => format!("there is no table `{name}` in schema `{schema}`"),
        (found, "") => format!(
            "table `{name}` is not on the search path; it is in schema {}: say which with --schema",
            found.join(", ")
        ),
        (found, schema) => {
            format!("there is no table `{name}` in schema `{schema}`; there is one in schema {}", found.join(", "))
        }
    };
    SpecError::whole(document, message)
}
