//! Opens a queue: the snapshot that all use cases read from.

use super::OpsError;
use super::progress::{Progress, Silent};
use super::spool::Spool;
use crate::model::{Cell, Claim, Engine, Remedy, Standby, Target, Timestamp};
use crate::output::advice;
use crate::policy::UnfamiliarStates;
use crate::preset::{
    Catalog, Expr, Jobs, LEDGER, LiveColumn, LiveIndex, LiveSchema, LiveTable, Place, Preset, ResolveError, Shown,
    SpecError, TableInError, Views, Waits, WrittenAt, detect, did_you_mean, near_miss, resolve, telling_columns,
};
use crate::store::{Caution, Limits, Reader, Store, StoreError, catalog, file_identity};
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// The database to read, and what is known of its queue beforehand.
pub struct Session<'a> {
    pub store: &'a dyn Store,
    /// The presets and mappings that can be named or detected.
    pub catalog: &'a Catalog,
    /// The preset or mapping that was named.
    pub preset: Option<&'a str>,
    pub place: &'a Place,
    pub limits: &'a Limits,
    pub target: Option<&'a str>,
    /// The jobs that may have waited too long.
    pub waits: Vec<Waits>,
}

/// Counts, outside of the rows, how often the job of a claim was lost before; 0 for an unknown job.
pub type CountLosses = Box<dyn Fn(&Claim) -> i64>;

/// One consistent read of a queue: one `now`, and the preset resolved against the live tables.
pub struct Snapshot {
    pub reader: Box<dyn Reader>,
    /// What it is about: the claims, or the jobs that were interrupted.
    pub jobs: Arc<Jobs>,
    pub views: Views,
    pub live: LiveSchema,
    /// The target, as documents name it.
    pub target: Target,
    /// Why the place of the database is unsafe, if it is.
    pub caution: Option<Caution>,
    /// Where the actions of the mapping are written; `None` for a built-in preset.
    pub mapping: Option<WrittenAt>,
    /// Where its states are written.
    pub states_at: Option<WrittenAt>,
    pub(super) options: Vec<String>,
    /// How often its claims were lost before, if the rows do not count that.
    pub(super) losses: Option<CountLosses>,
    /// Receives the progress of long reads; silent by default.
    pub progress: Rc<dyn Progress>,
    /// Takes the steps for which its plan has no room.
    pub spool: Option<Spool>,
}

impl Snapshot {
    /// Returns the target with the identity of its database, which costs a query.
    pub fn identified(&mut self) -> Result<Target, StoreError> {
        let identity = self.reader.at().identity.clone();
        let path = identity.as_deref().filter(|_| self.target.is_file());
        Ok(Target { file: path.and_then(|path| file_identity(Path::new(path))), identity, ..self.target.clone() })
    }

    pub fn now(&self) -> Timestamp {
        self.reader.now()
    }

    /// The live tables that the queue uses.
    pub(super) fn live_tables(&self) -> Vec<&LiveTable> {
        let mut seen = BTreeSet::new();
        let used = self.jobs.queue.tables.values().filter(|table| seen.insert((&table.schema, &table.name)));
        used.filter_map(|table| self.live.table(Some(&table.schema), &table.name)).collect()
    }

    /// The live tables that an action writes to: those of the preset, and the ledger.
    pub(super) fn written_tables(&self) -> Vec<&LiveTable> {
        let ledger = self.jobs.queue.ledger.as_ref().map(|ledger| &ledger.table);
        let ledger = ledger.and_then(|table| self.live.table(Some(&table.schema), &table.name));
        self.live_tables().into_iter().chain(ledger).collect()
    }

    /// What an action may do that no rollback undoes, for a dry run on the server.
    pub fn beyond_rollback(&self) -> Vec<String> {
        let of_table = |table: &&LiveTable| {
            let (name, names) = (&table.name, table.triggers.join(", "));
            let triggers = format!(
                "table {name} has triggers ({names}): what they do outside the transaction is not rolled back, and \
                 sequences that they draw from stay advanced"
            );
            (!names.is_empty()).then_some(triggers)
        };
        self.live_tables().iter().filter_map(of_table).collect()
    }

    /// The jobs that waited too long, with what this snapshot shows of them.
    pub(super) fn waited(&mut self, waits: &Waits) -> Result<Arc<Jobs>, OpsError> {
        let found = self.views.waited.iter().find(|(known, _)| known.is(&waits.state, &waits.since));
        let jobs = found.map(|(_, jobs)| jobs.clone()).transpose()?;
        let jobs = jobs.ok_or_else(|| waits.state.error("is not among what this snapshot was asked for"))?;
        let shown = Shown { actions_asked_at: self.jobs.shown.actions_asked_at, ..self.reader.shown(&jobs)? };
        Ok(Arc::new(Jobs { shown, ..Jobs::clone(&jobs) }))
    }

    /// The rows in states that the preset does not have, if there are any; such rows are never read. They are asked for
    /// by an index on the state, or if the rows are few.
    pub fn unfamiliar_states(&mut self) -> Result<Option<UnfamiliarStates>, OpsError> {
        if !finds_states(self.reader.as_mut(), &self.live, &self.jobs)? {
            return Ok(Some(self.unfamiliar(Vec::new(), 0)));
        }
        let states = unfamiliar_states(self.reader.as_mut(), &self.live, &self.jobs)?;
        if states.is_empty() && self.jobs.conditions.ended.is_none() {
            return Ok(None);
        }
        let rows = self.reader.count_in_states(&self.jobs, &states, UnfamiliarStates::MOST)?;
        Ok((rows > 0 || !states.is_empty()).then(|| self.unfamiliar(states, rows)))
    }

    fn unfamiliar(&self, states: Vec<String>, rows: u64) -> UnfamiliarStates {
        let (table, preset) = (self.target.table.clone(), self.jobs.queue.preset.clone());
        UnfamiliarStates { table, preset, is_mapping: self.mapping.is_some(), states, rows }
    }
}

impl<'a> Session<'a> {
    /// Of a queue that is detected in a database that no target names.
    pub fn of(store: &'a dyn Store, catalog: &'a Catalog, place: &'a Place, limits: &'a Limits) -> Session<'a> {
        Session { store, catalog, preset: None, place, limits, target: None, waits: Vec::new() }
    }

    /// Begins a snapshot of the interrupted jobs. Its target is that of the queue.
    pub fn snapshot_of_interrupted(&self) -> Result<Snapshot, OpsError> {
        let mut snapshot = self.snapshot()?;
        snapshot.jobs = snapshot.views.interrupted.clone()?;
        Ok(snapshot)
    }

    /// Opens the store, detects the queue, and begins a snapshot.
    pub fn snapshot(&self) -> Result<Snapshot, OpsError> {
        let engine = self.store.engine();
        let named = self.preset.map(|name| self.catalog.find(name)).transpose()?;
        let tables = self.table_names(named, engine);
        let mut reader = self.store.reader(self.limits, &tables)?;
        let live = reader.live_schema(&tables)?;
        let preset = match named {
            Some(preset) => preset,
            None => detect(self.catalog, &live, self.place).map_err(|error| self.with_seen(error, reader.as_mut()))?,
        };
        let resolved = resolve::<StoreError>(preset, &live, self.place, &self.waits, &mut |sql| reader.ask(sql));
        let mut views = match resolved {
            Err(ResolveError::Spec(error)) => return Err(with_near_miss(reader.as_mut(), engine, error)?.into()),
            resolved => resolved?,
        };
        let jobs = &views.claims;
        if named.is_none() {
            require_known_states(reader.as_mut(), &live, jobs)?;
        }
        // What is wrong with interrupted jobs otherwise is said where they are asked for.
        if let (true, true, Ok(interrupted)) =
            (preset.has_actions_of_its_own(), views.retries_interrupted(), &views.interrupted)
            && let Some(at) = reader.ends_as_interrupted(jobs, interrupted)?
        {
            return Err(at.error(advice::ENDS_AS_INTERRUPTED).into());
        }
        let claims = if reader.server().is_some_and(|server| server.standby.is_some()) {
            without_unlogged_veto(reader.as_mut(), Jobs::clone(jobs))?
        } else {
            Jobs::clone(jobs)
        };
        let actions_asked_at = preset.has_bent_actions(&self.place.options).then(|| reader.now());
        let shown = Shown { actions_asked_at, ..reader.shown(&claims)? };
        views.claims = Arc::new(Jobs { shown, ..claims });
        let jobs = &views.claims;
        let target = self.target(jobs, reader.as_ref());
        let at = |key: &str| (!preset.built_in).then(|| preset.at(key));
        let states_at = at(if jobs.conditions.ended.is_some() { "ended" } else { "states" });
        Ok(Snapshot {
            reader,
            jobs: views.claims.clone(),
            views,
            live,
            target,
            caution: self.store.caution(),
            mapping: at("action"),
            states_at,
            options: preset.options.iter().map(|option| option.name.clone()).collect(),
            losses: None,
            progress: Rc::new(Silent),
            spool: None,
        })
    }

    /// Says which queue on which database the jobs are of. It is not identified yet.
    fn target(&self, jobs: &Jobs, reader: &dyn Reader) -> Target {
        let server = reader.server();
        let standby = server.and_then(|server| server.standby);
        let table = jobs.queue.tables.get(&jobs.claim.lock_table);
        Target {
            engine: self.store.engine().to_string(),
            preset: jobs.queue.preset.clone(),
            variants: jobs.queue.variants.clone(),
            name: self.target.map(str::to_owned),
            database: server.map_or(self.store.label(), |server| &server.label).to_owned(),
            identity: None,
            file: None,
            key: jobs.claim.key.iter().map(|column| column.name.clone()).collect(),
            standby: standby.map(|standby| Standby { lag_seconds: standby.lag.map(|lag| lag.as_secs_f64()) }),
            table: table.map_or_else(String::new, |table| format!("{}.{}", table.schema, table.name)),
        }
    }

    /// Says more in the error that no queue was recognised; nothing where a table is named.
    fn with_seen(&self, error: SpecError, reader: &mut dyn Reader) -> SpecError {
        if !matches!(error.remedy, Some(Remedy::NameOrMap { .. })) || self.place.table.is_some() {
            return error;
        }
        let (catalog, engine) = (self.catalog, self.store.engine());
        // The error is worth more than these names, so that a query which fails changes nothing.
        let columns = reader.texts(&catalog::columns_of_tables(engine, &telling_columns(catalog))).unwrap_or_default();
        near_miss(error, catalog, engine, &columns)
    }

    /// The tables of the preset that was named, or of all that could be detected.
    fn table_names(&self, named: Option<&Preset>, engine: Engine) -> Vec<String> {
        let mut names: Vec<String> = match named {
            Some(preset) => preset.table_names(engine, &self.place.options),
            None => self.catalog.table_names(engine, &self.place.options),
        };
        names.extend(self.place.table_names());
        names.push(LEDGER.to_owned());
        names.sort();
        names.dedup();
        names
    }
}

fn unfamiliar_states(reader: &mut dyn Reader, live: &LiveSchema, jobs: &Jobs) -> Result<Vec<String>, StoreError> {
    if let Some((_, column)) = state_column(live, jobs)
        // The listing reports a missing right, or `check` all of them together. An enum of known states has no other.
        && (!column.readable || has_known_labels(live, jobs, column))
    {
        return Ok(Vec::new());
    }
    let states = reader.states_in_use(jobs)?;
    Ok(states.iter().map(Cell::to_string).filter(|stored| !is_known(jobs, stored)).collect())
}

/// The state's column, if it is one of the claim's own table, and that table.
fn state_column<'l>(live: &'l LiveSchema, jobs: &Jobs) -> Option<(&'l LiveTable, &'l LiveColumn)> {
    let table = jobs.queue.tables.get(&jobs.claim.lock_table)?;
    let live = live.table(Some(&table.schema), &table.name)?;
    Some((live, live.column(&jobs.claim.own_state()?.name)?))
}

fn has_known_labels(live: &LiveSchema, jobs: &Jobs, column: &LiveColumn) -> bool {
    live.labels(column).is_some_and(|labels| labels.iter().all(|label| is_known(jobs, label)))
}

fn is_known(jobs: &Jobs, stored: &str) -> bool {
    jobs.queue.states.all().any(|state| state.stored.to_string() == stored)
}

/// The most rows whose states are read without an index.
const MOST_ROWS: u64 = 100_000;

/// Refuses a table that resembles a known one but has states that the preset does not have. An enum of known states
/// needs no check; else the rows are read, by an index on the state or if they are few.
fn require_known_states(reader: &mut dyn Reader, live: &LiveSchema, jobs: &Jobs) -> Result<(), OpsError> {
    if let (Some((_, column)), Some(table)) = (state_column(live, jobs), jobs.queue.tables.get(&jobs.claim.lock_table))
        && !finds_states(reader, live, jobs)?
    {
        let why = advice::detection_needs_index(&jobs.queue.preset, &table.name, MOST_ROWS, &column.name);
        return Err(SpecError::whole("detection", why).into());
    }
    let unknown = unfamiliar_states(reader, live, jobs)?;
    if unknown.is_empty() {
        return Ok(());
    }
    Err(SpecError::whole("detection", advice::detection_finds_states(&jobs.queue.preset, &unknown)).into())
}

/// False if only a look at each of many rows would tell which states they are in.
fn finds_states(reader: &mut dyn Reader, live: &LiveSchema, jobs: &Jobs) -> Result<bool, StoreError> {
    let is_told = match state_column(live, jobs) {
        None => jobs.conditions.ended.is_none(),
        Some((table, column)) => {
            let leads = |index: &LiveIndex| index.condition.is_none() && index.columns.first() == Some(&column.name);
            !column.readable || has_known_labels(live, jobs, column) || table.indexes.iter().any(leads)
        }
    };
    let table = jobs.queue.tables.get(&jobs.claim.lock_table).filter(|_| !is_told);
    table.map_or(Ok(true), |table| Ok(!reader.ask(&catalog::has_more_rows(table, MOST_ROWS))?))
}

/// A standby has no rows of an unlogged table, and an error where it is asked for them: what such a table would say there is as
/// what the role may not read.
fn without_unlogged_veto(reader: &mut dyn Reader, mut jobs: Jobs) -> Result<Jobs, StoreError> {
    for table in jobs.claim.veto.iter().flat_map(|veto| &veto.tables).filter_map(|name| jobs.queue.tables.get(name)) {
        if reader.ask(&catalog::is_unlogged(table))? {
            jobs.claim.unread_veto = jobs.claim.veto.take().map(|veto| veto.says);
            jobs.claim.precondition.retain(
                |expr| !matches!(expr, Expr::Sql(sql) if sql.names().any(|name| jobs.queue.beside.contains(name))),
            );
            break;
        }
    }
    Ok(jobs)
}

/// The error with a suggestion where a table is missing and one of a similar name is there.
fn with_near_miss(reader: &mut dyn Reader, engine: Engine, mut error: SpecError) -> Result<SpecError, StoreError> {
    if let Some(TableInError::Missing(missing)) = error.table.as_deref() {
        let known: Vec<String> = reader.texts(catalog::all_tables(engine))?.into_iter().flatten().collect();
        error.message.push_str(&suggestion(&known, missing));
    }
    Ok(error)
}

/// Suggests the table that is spelled in another case, or else a similar one.
pub(super) fn suggestion(known: &[String], written: &str) -> String {
    match known.iter().find(|name| name.to_lowercase() == written.to_lowercase()) {
        Some(name) => format!(", did you mean `{name}`?"),
        None => did_you_mean(written, known.iter().map(String::as_str)),
    }
}
