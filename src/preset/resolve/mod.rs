//! Resolves a preset against the live tables: picks the engine's values and the variants, looks up every column,
//! derives what authors do not write, and refuses what does not fit.

mod actions;
mod claim;
mod columns;
mod fragments;
mod owner;
mod waiting;

pub(super) use columns::{STRANGER, Tables, distrusted, ignored, physical_tables};

use super::SpecError;
use super::catalog::Preset;
use super::document::{Document, NotifyDoc, ViewDoc};
use super::field::{Fragment, Written};
use super::ident::{meanings, quoted};
use super::live::{LiveSchema, LiveTable};
use super::node::Node;
use super::options::IGNORED_STATES;
use super::queue::*;
use super::template::{Template, aliases_of};
use super::variant::{Ask, Chosen, choose};
use crate::model::Action;
pub use crate::model::Place;
use columns::missing_table;
use fragments::Within;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Place {
    /// What the table that the operator names may be called in the catalog.
    pub fn table_names(&self) -> impl Iterator<Item = String> {
        self.table.iter().flat_map(|table| meanings(table)).map(|(_, name)| name)
    }
}

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

/// Resolves a preset: the claims of its queue, and what else its tables show of it, jobs that waited too long as they are
/// asked for.
pub fn resolve<E>(
    preset: &Preset,
    live: &LiveSchema,
    place: &Place,
    waits: &[Waits],
    ask: Ask<'_, E>,
) -> Result<Views, ResolveError<E>> {
    let Chosen { node, unbent, variants, ignored } = choose(preset, live, place, ask)?;
    let resolving = Resolving { preset, live, place, waits, variants, ignored };
    let views = resolving.views(node).map_err(|error| preset.placed(error))?;
    let Some(unbent) = unbent else { return Ok(views) };
    let fits = resolving.views(unbent).map_err(|error| SpecError {
        message: format!("{}; `extends` is for tables that the preset fits as it is", error.message),
        ..preset.placed(error)
    });
    Ok(views.keep(fits?))
}

/// A preset whose variants are chosen, and the tables that it meets.
struct Resolving<'a> {
    preset: &'a Preset,
    live: &'a LiveSchema,
    place: &'a Place,
    waits: &'a [Waits],
    variants: Vec<String>,
    ignored: Ignored,
}

impl Resolving<'_> {
    fn views(&self, node: Node) -> Result<Views, SpecError> {
        let Resolving { preset, live, place, .. } = self;
        let node = preset.filled_with(node, &place.options)?;
        let mut document = Document::of(&preset.document, &preset.name, &node, live.engine)?;
        // A caution that is called like an option asks for it.
        let is_wanted = |(name, _): &(String, String)| !place.options.contains_key(name);
        document.cautions.retain(is_wanted);
        document.interrupted.cautions.retain(is_wanted);
        let ignored_states = place.options.get(IGNORED_STATES).into_iter().flat_map(|names| names.split(','));
        document.states.ignored.extend(ignored_states.map(|name| StateValue::plain(name.trim())));
        let (schema, tables) = physical_tables(&document, live, place)?;
        let within = (!schema.is_empty()).then_some(schema.as_str());
        if let Some(table) = place.table.as_deref().filter(|table| live.table_meant(within, table).is_none()) {
            return Err(missing_table(&preset.document, table, live, &schema));
        }
        let claims = document.claims();
        let required = self.required_tables(&document, &schema, &tables)?;
        let binder = Binder::of(&preset.document, &document, live, schema, required, &claims)?;
        let queue = Arc::new(binder.queue(self)?);
        let mut claims = binder.bind(&queue, What::InFlight)?;
        let mut waiting = binder.waiting(&queue, &claims).map(Arc::new);
        if preset.says_all_itself() {
            claims.require_what_waits(&mut waiting)?;
        }
        preset.require_columns(&document, &tables)?;
        let placed = |found: Result<Jobs, SpecError>| found.map(Arc::new).map_err(|error| preset.placed(error));
        let waited = self.waits.iter().map(|waits| (waits.clone(), placed(binder.waited(&queue, waits))));
        Ok(Views {
            interrupted: placed(binder.interrupted(&queue)),
            tells_interrupted: binder.tells_interrupted(),
            waited: waited.collect(),
            waiting,
            places: binder.places(&queue),
            claims: Arc::new(claims),
        })
    }

    /// Gives the tables that were found, and fails where one is missing that not only the waiting side reads.
    fn required_tables<'l>(
        &self,
        document: &Document,
        schema: &str,
        found: &Tables<'l>,
    ) -> Result<BTreeMap<String, &'l LiveTable>, SpecError> {
        let mut tables = BTreeMap::new();
        for (logical, table) in found {
            match table {
                Some(table) => _ = tables.insert(logical.clone(), *table),
                None if document.waiting.tables.iter().any(|(known, _)| known == logical) => {}
                None => {
                    let name = document.table_name(logical);
                    return Err(missing_table(&self.preset.document, name, self.live, schema));
                }
            }
        }
        Ok(tables)
    }
}

impl Views {
    /// Adds to a preset that a mapping bends what stays of it.
    fn keep(self, preset: Views) -> Views {
        let both = |own: Arc<Jobs>, kept: Arc<Jobs>| {
            let mut own = Arc::unwrap_or_clone(own);
            own.keep(Arc::unwrap_or_clone(kept));
            Arc::new(own)
        };
        let either = |own: Result<Arc<Jobs>, SpecError>, kept: Result<Arc<Jobs>, SpecError>| Ok(both(own?, kept?));
        let waited = self.waited.into_iter().zip(preset.waited);
        Views {
            claims: both(self.claims, preset.claims),
            interrupted: either(self.interrupted, preset.interrupted),
            waited: waited.map(|((waits, own), (_, kept))| (waits, either(own, kept))).collect(),
            ..self
        }
    }
}

impl Jobs {
    /// Of a mapping: without a state column, nothing but its own condition says which rows wait.
    fn require_what_waits(&mut self, waiting: &mut Result<Arc<WaitingSpec>, String>) -> Result<(), SpecError> {
        if matches!(self.claim.state, StateSource::Column(_)) || self.conditions.waiting.is_some() {
            return Ok(());
        }
        let requeue = self.actions.get(&Action::Requeue).filter(|requeue| requeue.refused.is_none());
        let needs = "without a state column, needs `is` in [waiting]: the condition that makes a row one that a worker takes, \
                     now or later";
        if let Some(requeue) = requeue {
            return Err(requeue.at.error(format!("a requeue, {needs}")));
        }
        if waiting.is_ok() {
            *waiting = Err(format!("what is due, {needs}"));
        }
        Ok(())
    }
}

/// Binds the views of a document to live tables, one view each.
struct Binder<'a> {
    name: &'a str,
    document: &'a Document,
    view: &'a ViewDoc,
    live: &'a LiveSchema,
    schema: String,
    tables: BTreeMap<String, &'a LiveTable>,
    /// The aliases of its rows; one without a table belongs to a sub-select, whose columns the catalog does not know.
    aliases: BTreeMap<String, Option<&'a LiveTable>>,
    lock: String,
    lock_table: String,
    /// The claim's own table.
    own: &'a LiveTable,
    computed: RefCell<BTreeSet<String>>,
}

impl<'a> Binder<'a> {
    fn another<'b>(&self, view: &'b ViewDoc) -> Result<Binder<'b>, SpecError>
    where
        'a: 'b,
    {
        Binder::of(self.name, self.document, self.live, self.schema.clone(), self.tables.clone(), view)
    }

    fn of(
        name: &'a str,
        document: &'a Document,
        live: &'a LiveSchema,
        schema: String,
        tables: BTreeMap<String, &'a LiveTable>,
        view: &'a ViewDoc,
    ) -> Result<Binder<'a>, SpecError> {
        let from = &view.claim.from;
        let aliases = aliases_of(&from.sql);
        if aliases.first().is_none_or(|(_, table)| table.is_none()) {
            return Err(from.written.error("must begin with `{table} AS alias`: the row's own table comes first"));
        }
        let lock = match &view.claim.lock {
            Some(lock) if !aliases.iter().any(|(alias, _)| *alias == lock.text) => {
                return Err(lock.error(format!("`{}` is not an alias of `from`", lock.text)));
            }
            Some(lock) => lock.text.clone(),
            None => aliases.first().map(|(alias, _)| alias.clone()).unwrap_or_default(),
        };
        let lock_table = aliases.iter().find(|(alias, _)| *alias == lock).and_then(|(_, table)| table.clone());
        let lock_table = lock_table.ok_or_else(|| SpecError::whole(name, "the locked alias has no table"))?;
        let table = |logical: &String| {
            let unknown = || SpecError::whole(name, format!("`{{{logical}}}` is not one of the tables in [tables]"));
            tables.get(logical).copied().ok_or_else(unknown)
        };
        let own = table(&lock_table)?;
        let mut by_alias = BTreeMap::new();
        for (alias, logical) in aliases {
            by_alias.insert(alias, logical.as_ref().map(table).transpose()?);
        }
        if let Some(owner) = &view.owner.table {
            by_alias.insert("o".to_owned(), tables.get(&owner.text).copied());
        }
        let waiting = view.waiting.from.iter().flat_map(|from| aliases_of(&from.sql));
        for (alias, logical) in waiting {
            let table = logical.and_then(|logical| tables.get(&logical).copied());
            by_alias.entry(alias).or_insert(table);
        }
        if let Some(workers) = view.waiting.workers.as_ref().and_then(|workers| workers.table.as_ref()) {
            by_alias.entry("w".to_owned()).or_insert_with(|| tables.get(&workers.text).copied());
        }
        let computed = RefCell::default();
        Ok(Binder { name, document, view, live, schema, tables, aliases: by_alias, lock, lock_table, own, computed })
    }

    /// The live table behind an alias: none for that of a sub-select.
    fn table_of(&self, alias: &str) -> Option<&'a LiveTable> {
        self.aliases.get(alias).copied().flatten()
    }

    /// What is true of the queue of these claims.
    fn queue(&self, of: &Resolving<'_>) -> Result<Queue, SpecError> {
        let (document, mut ignored) = (self.document, of.ignored.clone());
        // What is wrong with a sign of life is said before what is wrong with the rest.
        let (_, claim, attempts) = (self.liveness()?, self.claim()?, self.attempts()?);
        let retry = document.interrupted.retry.clone().filter(|_| document.interrupted.from.is_none());
        // What is wrong with it is said where interrupted jobs are asked for.
        let retry = retry.and_then(|retry| self.actions(&[(Action::Requeue, retry)], &claim, &attempts).ok());
        Ok(Queue {
            preset: document.name.clone(),
            mapping: of.preset.fingerprint(),
            variants: of.variants.clone(),
            fencing: document.fencing,
            engine: self.live.engine,
            schema: self.schema.clone(),
            tables: self.tables.iter().map(|(logical, table)| (logical.clone(), table.place())).collect(),
            states: document.states.clone(),
            waited_actions: self.actions(&document.waiting.actions, &claim, &attempts)?,
            retry: retry.and_then(|mut retry| retry.remove(&Action::Requeue)),
            beside: self.beside(),
            checks: self.checks()?,
            notify: self.wake_ups()?,
            ledger: self.ledger(&mut ignored),
            ignored,
            no_ledger: document.no_ledger.clone(),
        })
    }

    fn bind(&self, queue: &Arc<Queue>, what: What) -> Result<Jobs, SpecError> {
        let view = self.view;
        let owner = self.owner()?;
        let liveness = self.liveness()?;
        let attempts = self.attempts()?;
        let rules = self.rules()?;
        let mut claim = self.claim()?;
        claim.may_repeat |= owner.row.as_ref().is_some_and(|row| !row.is_unique);
        let key: Vec<&str> = claim.key.iter().map(|column| column.name.as_str()).collect();
        claim.has_unique_key = !claim.may_repeat && self.own.is_unique(&key);
        claim.precondition = self.precondition(&claim, &owner, &liveness, &attempts, &rules)?;
        if liveness.iter().any(|source| matches!(source, Liveness::Owner { .. })) && owner.row.is_none() {
            return Err(SpecError::whole(self.name, "liveness by `owner` needs an [owner] `table`"));
        }
        let mut actions = self.actions(&view.actions, &claim, &attempts)?;
        self.losses_are_counted(&actions, &attempts)?;
        for refused in actions.values_mut().filter_map(|action| action.refused.as_mut()) {
            // A table that does not count is there.
            if let Some((_, why)) = queue.ignored.iter().find(|(name, _)| refused.contains(name.as_str())) {
                refused.clone_from(why);
            }
        }
        let jobs = Jobs {
            queue: queue.clone(),
            what,
            states: view.states.clone(),
            unwritable: self.unwritable(queue, &actions),
            unlocked: self.unlocked(&liveness, claim.veto.as_ref())?,
            conditions: self.conditions(&claim)?,
            finished: self.finished(&claim)?,
            filled: self.own.filled.clone(),
            skips: self.skips()?,
            cautions: view.cautions.clone(),
            show: self.shown()?,
            row: self.row(),
            kept: 0,
            shown: Shown::default(),
            computed: Vec::new(),
            claim,
            owner,
            liveness,
            attempts,
            rules,
            actions,
        };
        Ok(Jobs { computed: self.computed.take().into_iter().collect(), ..jobs })
    }

    /// The tables without which claims are read all the same: what they alone say is then not known.
    fn beside(&self) -> BTreeSet<String> {
        let vetoing = self.document.claim.veto.iter().flat_map(|veto| veto.fresh.sql.names());
        let waiting = self.document.waiting.tables.iter().map(|(logical, _)| logical);
        vetoing.chain(waiting).filter(|name| **name != self.lock_table).cloned().collect()
    }

    /// True if the rows tell which jobs were interrupted. A table without the columns that would tell is no error.
    fn tells_interrupted(&self) -> bool {
        let doc = &self.document.interrupted;
        let is_there = |since: &Written| doc.from.is_some() || matches!(self.time(since, &self.lock), Ok(Some(_)));
        let may_ask = |filter: &Fragment| doc.from.is_some() || !self.lacks_optional(&filter.sql);
        doc.since.as_ref().is_some_and(is_there) && doc.filter.as_ref().is_some_and(may_ask)
    }

    fn interrupted(&self, queue: &Arc<Queue>) -> Result<Jobs, SpecError> {
        let (view, doc) = (self.document.interrupted()?, &self.document.interrupted);
        let ended = |Fragment { written, sql }: &Fragment| {
            let sql = self.expand(written, sql, Within::Ended)?;
            let encodings = self.now_encodings(written, &sql)?;
            Ok::<_, SpecError>((sql, encodings))
        };
        let command = doc.command.as_ref().map(|command| command.replace("{schema}", &quoted(&self.schema)));
        let interrupted = InterruptedSpec { ended: doc.ended.as_ref().map(ended).transpose()?, command };
        let jobs = self.another(&view)?.bind(queue, What::Interrupted(interrupted))?;
        if self.tells_interrupted() {
            return Ok(jobs);
        }
        let table = format!("{}.{}", self.own.schema, self.own.name);
        let why = format!("table {table} lacks a column that [interrupted] names");
        Err(SpecError::whole(&format!("interrupted jobs of preset {}", self.document.name), why))
    }

    fn waited(&self, queue: &Arc<Queue>, waits: &Waits) -> Result<Jobs, SpecError> {
        let view = self.document.waited(waits)?;
        let mut jobs = self.another(&view)?.bind(queue, What::Waited)?;
        if let (false, Some(state)) = (queue.notify.is_empty(), jobs.states.first()) {
            // It changes nothing.
            let stays = ActionSpec { to: state.clone(), ..ActionSpec::default() };
            jobs.actions.insert(Action::Wake, stays);
        }
        Ok(jobs)
    }

    fn skips(&self) -> Result<Vec<Skip>, SpecError> {
        let skip = |(_, skip): &(String, Skip<Fragment>)| {
            let condition = self.read_sql(&skip.condition)?;
            Ok(Skip { condition, actions: skip.actions.clone(), reason: skip.reason.clone() })
        };
        // A table without such a column shows nothing of the kind.
        let asked = self.view.skips.iter().filter(|(_, skip)| !self.lacks_optional(&skip.condition.sql));
        asked.map(skip).collect()
    }

    fn checks(&self) -> Result<Vec<CheckSpec>, SpecError> {
        let check = |(name, check): &(String, CheckSpec<Fragment>)| {
            let (finds, remedy) = (check.finds.clone(), check.remedy.clone());
            Ok(CheckSpec { name: name.clone(), sql: self.read_sql(&check.sql)?, finds, remedy })
        };
        self.document.checks.iter().map(check).collect()
    }

    fn wake_ups(&self) -> Result<Vec<Notify>, SpecError> {
        let expand = |fragment: &Fragment| self.expand(&fragment.written, &fragment.sql, Within::WakeUp);
        let mut wake_ups = Vec::new();
        for (_, doc) in &self.document.notify {
            let (sql, at) = match doc {
                NotifyDoc { channel: Some(channel), payload: Some(payload), .. } => {
                    let (name, payload) = (expand(channel)?, expand(payload)?);
                    (Template::around("SELECT pg_catalog.pg_notify(?, ?)", &[&name.0, &payload.0]), &channel.written.at)
                }
                NotifyDoc { sql: Some(fragment), .. } => (expand(fragment)?, &fragment.written.at),
                _ => continue,
            };
            self.names_tables(&sql, at)?;
            wake_ups.push(Notify { sql, at: at.clone() });
        }
        Ok(wake_ups)
    }

    fn shown(&self) -> Result<Vec<(String, Expr)>, SpecError> {
        let mut shown = Vec::new();
        for (name, written) in &self.view.show {
            shown.extend(self.expr(written, &self.lock)?.map(|expr| (name.clone(), expr)));
        }
        Ok(shown)
    }
}
