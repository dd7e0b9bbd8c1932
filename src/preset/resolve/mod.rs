//! Resolves a preset against the live tables: picks the engine's values and the variants, looks up every column,
//! derives what authors do not write, and refuses what does not fit.

mod actions;
mod claim;
mod columns;
mod fragments;
mod owner;
mod waiting;

pub(super) use columns::{STRANGER, Tables, distrusted, ignored, physical_tables};
pub(super) use fragments::aliases_of;

use super::catalog::Preset;
use super::document::{Document, NotifyDoc};
use super::field::{Fragment, Written};
use super::ident::{meanings, quoted};
use super::live::{LiveSchema, LiveTable};
use super::node::Node;
use super::options::IGNORED_STATES;
use super::queue::*;
use super::template::Template;
use super::variant::{Ask, Chosen, choose};
use super::{SpecError, WrittenAt, did_you_mean};
pub use crate::model::Place;
use crate::model::{Action, AttemptsChange};
use columns::missing_table;
use fragments::Within;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

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

/// Resolves a preset for the jobs of this view.
pub fn resolve<E>(
    preset: &Preset,
    live: &LiveSchema,
    place: &Place,
    view: View<'_>,
    ask: Ask<'_, E>,
) -> Result<QueueSpec, ResolveError<E>> {
    let Chosen { node, unbent, variants, ignored } = choose(preset, preset.for_engine(live.engine)?, live, place, ask)?;
    let bound = |node: Node| bound(preset, node, (live, place), view, (&variants, &ignored));
    let mut spec = bound(node).map_err(|error| preset.placed(error))?;
    if let Some(unbent) = unbent {
        let fits = bound(unbent).map_err(|error| SpecError {
            message: format!("{}; `extends` is for tables that the preset fits as it is", error.message),
            ..preset.placed(error)
        });
        spec.keep(fits?);
    }
    Ok(QueueSpec { mapping: preset.fingerprint(), ..spec })
}

/// Resolves a document of which the variants are chosen.
fn bound(
    preset: &Preset,
    node: Node,
    (live, place): (&LiveSchema, &Place),
    view: View<'_>,
    (variants, ignored): (&[String], &Ignored),
) -> Result<QueueSpec, SpecError> {
    let node = preset.filled_with(node, &place.options)?;
    let mut document = Document::of(&preset.document, &preset.name, &node, live.engine)?;
    match view {
        View::Claims => {}
        View::Waits(waits) => waits.turn(&mut document)?,
        View::Interrupted => document.turn_to_interrupted()?,
    }
    // A caution that is called like an option asks for it.
    document.cautions.retain(|(name, _)| !place.options.contains_key(name));
    let ignored_states = place.options.get(IGNORED_STATES).into_iter().flat_map(|names| names.split(','));
    document.states.ignored.extend(ignored_states.map(|name| StateValue::plain(name.trim())));
    let (schema, tables) = physical_tables(&document, live, place)?;
    let within = (!schema.is_empty()).then_some(schema.as_str());
    if let Some(table) = place.table.as_deref().filter(|table| live.table_meant(within, table).is_none()) {
        return Err(missing_table(&preset.document, table, live, &schema));
    }
    let binder = Binder::new(&preset.document, &document, live, schema, tables.clone())?;
    let mut spec = binder.bind(variants.to_vec(), ignored.clone())?;
    if preset.says_all_itself() && matches!(view, View::Claims) {
        spec.needs_what_waits()?;
    }
    preset.columns_are_there(&document, &tables)?;
    Ok(match view {
        View::Claims => spec,
        View::Waits(_) => Waits::complete(spec),
        View::Interrupted => QueueSpec { interrupted: Some(binder.interrupted()?), ..spec },
    })
}

impl QueueSpec {
    /// Of a mapping: without a state column, nothing but its own condition says which rows wait.
    fn needs_what_waits(&mut self) -> Result<(), SpecError> {
        if matches!(self.claim.state, StateSource::Column(_)) || self.conditions.waiting.is_some() {
            return Ok(());
        }
        let requeue = self.actions.get(&Action::Requeue).filter(|requeue| requeue.refused.is_none());
        let needs = "without a state column, needs `is` in [waiting]: the condition that makes a row one that a worker takes, \
                     now or later";
        if let Some(requeue) = requeue {
            return Err(requeue.at.error(format!("a requeue, {needs}")));
        }
        self.waiting = self.waiting.as_ref().map_err(Clone::clone).and(Err(format!("what is due, {needs}")));
        Ok(())
    }
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
    /// The claim's own table.
    own: &'a LiveTable,
    computed: RefCell<BTreeSet<String>>,
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
            match table {
                Some(table) => {
                    tables.insert(logical, table);
                }
                None if document.waiting.tables.iter().any(|(known, _)| *known == logical) => {}
                None => return Err(missing_table(name, document.table_name(&logical), live, &schema)),
            }
        }
        let aliases = document.aliases();
        let from = &document.claim.from;
        if aliases.first().is_none_or(|(_, table)| table.is_none()) {
            return Err(from.written.error("must begin with `{table} AS alias`: the row's own table comes first"));
        }
        let lock = match &document.claim.lock {
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
        if let Some(owner) = &document.owner.table {
            by_alias.insert("o".to_owned(), tables.get(&owner.text).copied());
        }
        let waiting = &document.waiting;
        let froms = waiting.from.iter().chain(waiting.staged.iter().flat_map(|staged| &staged.from));
        let froms = froms.chain(document.places.iter().map(|(_, place)| &place.from));
        let workers = waiting.workers.iter().filter_map(|workers| Some(("w".to_owned(), workers.table.as_ref()?)));
        let workers = workers.map(|(alias, table)| (alias, Some(table.text.clone())));
        for (alias, logical) in froms.flat_map(|from| aliases_of(&from.sql)).chain(workers) {
            let table = logical.and_then(|logical| tables.get(&logical).copied());
            by_alias.entry(alias).or_insert(table);
        }
        Ok(Binder {
            name,
            document,
            live,
            schema,
            tables,
            aliases: by_alias,
            lock,
            lock_table,
            own,
            computed: RefCell::default(),
        })
    }

    /// The live table behind an alias: none for that of a sub-select.
    fn table_of(&self, alias: &str) -> Option<&'a LiveTable> {
        self.aliases.get(alias).copied().flatten()
    }

    fn bind(&self, variants: Vec<String>, mut ignored: Ignored) -> Result<QueueSpec, SpecError> {
        let document = self.document;
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
        let mut actions = self.actions(&document.actions, &claim, &attempts)?;
        self.losses_are_counted(&actions, &attempts)?;
        for refused in actions.values_mut().filter_map(|action| action.refused.as_mut()) {
            // A table that does not count is there.
            if let Some((_, why)) = ignored.iter().find(|(name, _)| refused.contains(name.as_str())) {
                refused.clone_from(why);
            }
        }
        let finished = self.finished(&claim)?;
        let spec = QueueSpec {
            preset: document.name.clone(),
            mapping: String::new(),
            variants,
            fencing: document.fencing,
            engine: self.live.engine,
            schema: self.schema.clone(),
            tables: self.tables.iter().map(|(logical, table)| (logical.clone(), table.place())).collect(),
            unwritable: None,
            filled: self.own.filled.clone(),
            actions,
            waiting_actions: self.actions(&document.waiting.actions, &claim, &attempts)?,
            retry: self.retry(&claim, &attempts),
            conditions: self.conditions(&claim)?,
            waiting: self.waiting(&claim, &finished),
            finished,
            beside: self.beside(),
            places: self.places(),
            states: document.states.clone(),
            waits: false,
            interrupted: None,
            tells_interrupted: self.tells_interrupted(),
            retries_interrupted: self.tells_interrupted() && document.interrupted.command.is_none(),
            unlocked: self.unlocked(&liveness, claim.veto.as_ref())?,
            claim,
            owner,
            kept: 0,
            liveness,
            computed: Vec::new(),
            shown: Shown::default(),
            attempts,
            rules,
            skips: self.skips()?,
            checks: self.checks()?,
            notify: self.wake_ups()?,
            cautions: document.cautions.clone(),
            show: self.shown()?,
            row: self.row(),
            ledger: self.ledger(&mut ignored),
            ignored,
            no_ledger: self.document.no_ledger.clone(),
        };
        let unwritable = self.unwritable(&spec);
        Ok(QueueSpec { computed: self.computed.take().into_iter().collect(), unwritable, ..spec })
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

    /// How an interrupted job comes back, where its row is one of the claims' own table.
    fn retry(&self, claim: &ClaimSpec, attempts: &Attempts) -> Option<ActionSpec> {
        let doc = &self.document.interrupted;
        let retry = doc.retry.clone().filter(|_| doc.from.is_none())?;
        // What is wrong with it is said where interrupted jobs are asked for.
        self.actions(&[(Action::Requeue, retry)], claim, attempts).ok()?.remove(&Action::Requeue)
    }

    fn interrupted(&self) -> Result<InterruptedSpec, SpecError> {
        let doc = &self.document.interrupted;
        let ended = |Fragment { written, sql }: &Fragment| {
            let sql = self.expand(written, sql, Within::Ended)?;
            let encodings = self.now_encodings(written, &sql)?;
            Ok::<_, SpecError>((sql, encodings))
        };
        let command = doc.command.as_ref().map(|command| command.replace("{schema}", &quoted(&self.schema)));
        Ok(InterruptedSpec { ended: doc.ended.as_ref().map(ended).transpose()?, command })
    }

    fn skips(&self) -> Result<Vec<Skip>, SpecError> {
        let skip = |(_, skip): &(String, Skip<Fragment>)| {
            let condition = self.read_sql(&skip.condition)?;
            Ok(Skip { condition, actions: skip.actions.clone(), reason: skip.reason.clone() })
        };
        // A table without such a column shows nothing of the kind.
        let asked = self.document.skips.iter().filter(|(_, skip)| !self.lacks_optional(&skip.condition.sql));
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
        for (name, written) in &self.document.show {
            shown.extend(self.expr(written, &self.lock)?.map(|expr| (name.clone(), expr)));
        }
        Ok(shown)
    }
}

/// Which jobs of a queue a [`QueueSpec`] is about.
#[derive(Debug, Clone, Copy)]
pub enum View<'a> {
    /// Those in flight.
    Claims,
    Waits(&'a Waits),
    /// Those that the library failed because their worker died.
    Interrupted,
}

/// Jobs that wait in one state. No worker holds them, so no sign of life is read; what is left is since when they wait,
/// and what `[waiting.action]` of the preset does to them.
#[derive(Debug, Clone)]
pub struct Waits {
    pub state: Written,
    /// The column that says since when; what is NULL there does not wait.
    pub since: Written,
}

impl Waits {
    /// Turns a document about claims into one about these jobs.
    fn turn(&self, document: &mut Document) -> Result<(), SpecError> {
        let states = &mut document.states;
        let Some(at) = states.waiting.iter().position(|state| state.name == self.state.text) else {
            let hint = did_you_mean(&self.state.text, states.waiting.iter().map(|state| state.name.as_str()));
            return Err(self.state.error(format!("`{}` is not one of the waiting states{hint}", self.state.text)));
        };
        let state = states.waiting.remove(at);
        // Known all the same: an action may lead there.
        states.waiting.append(&mut states.in_flight);
        states.in_flight.push(state);
        document.claim.claimed_at = Some(self.since.clone());
        // Age is what the limit is about. What else shows life is asked: a worker may hold a job before it says so.
        document.claim.liveness.retain(|source| !matches!(source, Liveness::Age { .. }));
        document.claim.progress.clear();
        document.claim.veto = None;
        document.rules = Default::default();
        document.finished = None;
        document.cautions.clear();
        // A job that never ran has used up nothing.
        document.attempts.exhausted = Exhausted::Leave;
        document.attempts.stalls = None;
        Ok(())
    }

    fn complete(mut spec: QueueSpec) -> QueueSpec {
        spec.actions = std::mem::take(&mut spec.waiting_actions);
        if let (false, Some(state)) = (spec.notify.is_empty(), spec.states.in_flight.first()) {
            let stays = ActionSpec {
                to: state.clone(),
                attempts: AttemptsChange::Keep,
                steps: Vec::new(),
                refused: None,
                locks_for_update: false,
                delayed: None,
                requeues: false,
                fails_refused: false,
                at: WrittenAt::default(),
            };
            spec.actions.insert(Action::Wake, stays);
        }
        QueueSpec { waits: true, ..spec }
    }
}
