//! Drafts the mapping of a home-made table: reads the catalog and bounded samples, and concludes only what is shown.

mod actions;
mod attempts;
mod condition;
mod constraints;
mod draft;
mod facts;
mod keys;
mod liveness;
mod owner;
mod proof;
mod roles;
mod rows;
mod states;
mod table;
mod times;
mod watch;

pub use draft::Answers;
pub use proof::{DryRun, prove};
pub use watch::{Watched, watch};

use super::OpsError;
use crate::model::Timestamp;
use crate::output::{Adopt, AdoptTables, Lookalike, Question, mapping_toml};
use crate::preset::{did_you_mean, lookalikes, words};
use crate::store::{Limits, Store, catalog};
use draft::Draft;
use facts::{Facts, Shape};
use liveness::Source;
use roles::{Meaning, Role};
use rows::Rows;
use table::{Sampler, Subject, by_hand};

/// What is to be adopted, and what is known of it.
pub struct Adoption<'a> {
    pub store: &'a dyn Store,
    pub limits: &'a Limits,
    /// The table's schema, if it is named apart.
    pub schema: Option<&'a str>,
    /// The table, perhaps with its schema.
    pub table: &'a str,
    /// The mapping's name; `None` makes one from the table's.
    pub name: Option<&'a str>,
    pub answers: &'a Answers,
    pub watched: Option<&'a Watched>,
}

/// The tables of all schemas that look like a queue.
pub fn candidates(store: &dyn Store, limits: &Limits) -> Result<AdoptTables, OpsError> {
    let mut reader = store.reader(limits)?;
    let columns = reader.texts(&catalog::columns_of_tables(store.engine(), &[]))?;
    let alike = lookalikes(&columns).into_iter();
    let tables = alike.map(|(table, columns)| Lookalike { table, columns }).collect();
    Ok(AdoptTables { schema: "jobdoctor.adopt-tables/v1", tables })
}

/// Drafts the mapping. A question that is open leaves its key out.
pub fn adopt(adoption: &Adoption<'_>) -> Result<Adopt, OpsError> {
    let (store, answers) = (adoption.store, adoption.answers);
    let engine = store.engine();
    let mut reader = store.reader(adoption.limits)?;
    let now = reader.now();
    let database = reader.server().map_or(store.label(), |server| &server.label).to_owned();
    let subject = Subject::read(reader.as_mut(), engine, adoption)?;
    answers_fit(&subject, answers)?;
    let mut sampler = Sampler::new(reader.as_mut(), engine, &subject);
    let (facts, mut notes) = facts(&mut sampler, adoption, now)?;
    states_fit(&facts)?;
    if let Some(lock) = locks_elsewhere(&mut sampler, &facts)? {
        return Err(by_hand(
            &subject.written,
            &format!("keeps no claim itself: its locks are in {lock}, which refers to it"),
        ));
    }
    let is_held = facts.owner.as_ref().is_some_and(|owner| facts.set_by_claims(owner.column()) >= facts::Support::Rows);
    let no_queue = no_queue(&facts, is_held).filter(|_| answers.get("actions") != Some("none"));
    let Draft { mut keys, mut questions } = keys::settle(&facts);
    // What a requeue sets back is written as its model has it.
    let is_settled = |key: &str| ["actions", "action.requeue.clear", "action.fail.set"].contains(&key);
    for (key, answer) in answers.iter().filter(|(key, answer)| *answer != "none" && !is_settled(key)) {
        if let Some(column) = key.strip_prefix("time.") {
            let of_owners =
                facts.owners.as_ref().is_some_and(|owners| column.trim_start_matches("o.") == owners.heartbeat.name);
            if column != "default" && !of_owners {
                must_be_there(&subject, key, column)?;
            }
        } else if !keys.iter().any(|known| known.key == key) {
            keys.push(draft::answered(key, answer));
        }
    }
    // What is not complete lists jobs and moves none.
    if !questions.is_empty() {
        keys.retain(|key| !key.key.starts_with("action.") && key.key != "attempts.exhausted");
    }
    keys.sort_by_key(|key| section(&key.key));
    let name = adoption.name.map_or_else(|| name_of(&subject.live.name), str::to_owned);
    if let Some(why) = &no_queue {
        questions.retain(|question| ["states.in_flight", "claim.where"].contains(&question.key.as_str()));
        questions.insert(
            0,
            Question {
                key: "actions".to_owned(),
                question: format!(
                    "table {} does not look like a queue ({why}); list it anyway, without actions? If claims are in another table: docs/mapping.md",
                    subject.written
                ),
                seen: Vec::new(),
                harm: "rows of other uses are moved as if they were jobs".to_owned(),
                form: "none".to_owned(),
                is_proposal: true,
            },
        );
    }
    let unreadable = subject.unreadable();
    if !unreadable.is_empty() {
        let unreadable = unreadable.join(", ");
        notes.push(format!("this role may not read the columns {unreadable}: nothing is known of them"));
    }
    let has_actions = keys.iter().any(|key| key.key.starts_with("action."));
    let untouched = if has_actions { untouched(&facts, &keys) } else { Vec::new() };
    let head = head(&subject, engine.name(), &database, now, &questions, &untouched);
    Ok(Adopt {
        schema: "jobdoctor.adopt/v1",
        store_time: now,
        engine: engine.to_string(),
        database,
        table: subject.written.clone(),
        complete: questions.is_empty(),
        toml: mapping_toml(&name, &head, &keys),
        name,
        keys,
        questions,
        untouched,
        no_queue,
        notes,
        proof: None,
        written: None,
        target: None,
    })
}

/// Reads all that a draft is made from.
fn facts<'a>(
    sampler: &mut Sampler<'a>,
    adoption: &Adoption<'a>,
    now: Timestamp,
) -> Result<(Facts<'a>, Vec<String>), OpsError> {
    let (subject, answers, engine) = (sampler.subject, adoption.answers, sampler.engine);
    let ends = sampler.ends()?;
    let shape = states::shape(sampler, answers, &ends)?;
    let all = Meaning::ALL.into_iter().fold(ends, |all, meaning| all.and(&shape.rows(meaning)));
    let all = all.distinct(&subject.key().unwrap_or_default());
    let [waiting, in_flight, failed] =
        [Meaning::Waiting, Meaning::InFlight, Meaning::Failed].map(|meaning| shape.rows(meaning));
    let fresh = untried(subject, answers, &waiting);
    let owner = owner::owner_id(subject, answers, &fresh, &in_flight);
    let owners = owner::find_table(sampler, owner.as_ref(), &in_flight)?;
    let (watched, beat, claimed, source) = (adoption.watched, None, None, None);
    let mut facts = Facts {
        engine,
        now,
        subject,
        answers,
        watched,
        beat,
        shape,
        all,
        waiting,
        fresh,
        in_flight,
        failed,
        owner,
        owners,
        claimed,
        source,
    };
    facts.beat = watched.and_then(|watched| watched.beat(&facts));
    facts.claimed = liveness::claim_time(&facts);
    facts.source = liveness::source(&facts);
    Ok((facts, sampler.note.take().into_iter().collect()))
}

/// The jobs that wait and were never tried: without an attempt, an error or an owner that an earlier run left behind.
/// Each of these signs counts only where some job is without it.
fn untried(subject: &Subject, answers: &Answers, waiting: &Rows) -> Rows {
    let some = |rows: Rows, of: Rows| if rows.is_empty() { of } else { rows };
    let start = attempts::start(subject, answers, waiting);
    let mut fresh = waiting.clone();
    if let (Some(column), Some(start)) = (facts::attempts(subject, answers), start) {
        fresh = some(waiting.only(column, |cell| cell.as_integer() == Some(start)), fresh);
    }
    for role in [Role::LastError, Role::Owner, Role::Claimed] {
        for column in subject.of_role(role) {
            fresh = some(fresh.without(&column.name), fresh);
        }
    }
    fresh
}

/// A table of locks that refers to this one, if this one keeps nothing of a claim.
fn locks_elsewhere(sampler: &mut Sampler<'_>, facts: &Facts<'_>) -> Result<Option<String>, OpsError> {
    let is_claimed = facts.owner.is_some() || facts.claimed.is_some() || facts.source.is_some();
    if is_claimed || sampler.subject.referred_from.is_empty() {
        return Ok(None);
    }
    let live = sampler.reader.live_schema(&sampler.subject.referred_from)?;
    let is_lock = |table: &&crate::preset::LiveTable| {
        let role = |column: &crate::preset::LiveColumn| table::SubjectColumn::of(column, None).role;
        table
            .columns
            .iter()
            .any(|column| matches!(role(column), Some(Role::Owner | Role::Claimed | Role::Heartbeat | Role::Lease)))
    };
    Ok(live.tables.iter().find(is_lock).map(|table| table.name.clone()))
}

/// The columns that no action writes.
fn untouched(facts: &Facts<'_>, keys: &[crate::output::DraftKey]) -> Vec<String> {
    let mut written: Vec<String> = facts.attempts().into_iter().map(str::to_owned).collect();
    if let Shape::Column { name, .. } = &facts.shape {
        written.push(name.clone());
    }
    for key in keys.iter().filter(|key| key.key.starts_with("action.") && !key.key.ends_with(".to")) {
        written.extend(key.value.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)));
        written.extend(
            key.value.as_inline_table().into_iter().flat_map(|set| set.iter().map(|(name, _)| name.to_owned())),
        );
    }
    let columns = facts.subject.live.columns.iter().map(|column| column.name.clone());
    columns.filter(|column| !written.contains(column)).collect()
}

/// Why the table is no queue, if nothing in it is kept of a claim.
fn no_queue(facts: &Facts<'_>, is_held: bool) -> Option<String> {
    let subject = facts.subject;
    let has = |role: Role| subject.of_role(role).next().is_some();
    let said = ["owner.id", "claim.claimed_at", "claim.liveness", "attempts.column"];
    let is_said = said.iter().any(|key| facts.answers.get(key).is_some_and(|answer| answer != "none"));
    let is_claimed = has(Role::Claimed);
    if has(Role::Attempts) || has(Role::Heartbeat) || has(Role::Lease) || is_held || is_said || facts.owners.is_some() {
        return None;
    }
    let referred = &subject.referred_from;
    if is_claimed && (referred.is_empty() || matches!(facts.shape, Shape::Where { .. })) {
        return None;
    }
    let mut why = vec!["no owner of a claim, no attempts, no sign of life".to_owned()];
    if !referred.is_empty() {
        why.push(format!("other tables refer to it: {}", referred.join(", ")));
    }
    Some(why.join("; "))
}

/// What stands in a command line where jobdoctor has nothing to propose.
const PLACES: [&str; 10] =
    ["STATE", "COLUMN", "NUMBER", "WHEN", "MEANING", "SPELLING", "CONDITION", "ZONE", "DURATION", "SOURCE"];

/// Refuses answers that name columns which are not there or are none of a claim's, or that have no meaning.
fn answers_fit(subject: &Subject, answers: &Answers) -> Result<(), OpsError> {
    for (key, answer) in answers.iter().filter(|(_, answer)| *answer != "none") {
        if answer.split([',', ' ']).any(|word| PLACES.contains(&word) && subject.live.column(word).is_none()) {
            let message = format!("the answer to {key}: `{answer}` is to be filled in");
            return Err(OpsError::usage(message, "words in capitals stand for what no row shows"));
        }
        match key {
            "claim.state" | "claim.claimed_at" | "attempts.column" => must_be_there(subject, key, answer)?,
            "claim.liveness" => {
                let source = Source::parse(answer).ok_or_else(|| {
                    let message = format!("the answer to claim.liveness: `{answer}` is not a source of life");
                    OpsError::usage(message, "say heartbeat COLUMN 2m, lease COLUMN, age COLUMN 30m, owner 2m, or none")
                })?;
                source.column.iter().try_for_each(|column| must_be_there(subject, key, column))?;
            }
            "attempts.max" | "attempts.counted"
                if facts::attempts(subject, answers).is_none() && answers.get("attempts.max") != Some("none") =>
            {
                let message = format!("the answer to {key}: which column counts the attempts is not known");
                return Err(OpsError::usage(message, "name it in an answer to attempts.column"));
            }
            "action.requeue.clear" | "action.fail.clear" | "action.requeue.stamp" | "action.fail.stamp" => {
                let (taken, counter) = (subject.key().unwrap_or_default(), facts::attempts(subject, answers));
                for column in answer.split(',').map(str::trim) {
                    must_be_there(subject, key, column)?;
                    if taken.iter().any(|taken| taken == column)
                        || counter == Some(column)
                        || answers.get("claim.state") == Some(column)
                    {
                        let message = format!("the answer to {key}: `{column}` is the key, the state or the attempts");
                        return Err(OpsError::usage(message, "name the columns of the claim"));
                    }
                }
            }
            "actions" => {
                let hint =
                    "actions=none drafts for listing only; or name what keeps a claim: owner.id, claim.claimed_at";
                return Err(OpsError::usage("the answer to actions can only be none", hint));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Refuses a state in flight that no row has and that is spelled almost as one that rows have.
fn states_fit(facts: &Facts<'_>) -> Result<(), OpsError> {
    let known: Vec<String> = facts.shape.states().iter().flat_map(|state| [state.text(), state.name()]).collect();
    let is_of_states = |(key, _): &(&str, &str)| key.starts_with("states.");
    if let (Shape::Where { .. }, Some((key, _))) = (&facts.shape, facts.answers.iter().find(is_of_states)) {
        let message = format!("the answer to {key}: table {} has no state column that is known", facts.subject.written);
        return Err(OpsError::usage(
            message,
            "name it in an answer to claim.state, or say in claim.where what is in flight",
        ));
    }
    for said in facts.answers.list("states.in_flight").unwrap_or_default() {
        let hint = did_you_mean(said, known.iter().map(String::as_str));
        if !known.iter().any(|state| state == said) && !hint.is_empty() {
            let message = format!("the answer to states.in_flight: no row is `{said}`{hint}");
            return Err(OpsError::usage(message, "name the states as they are stored"));
        }
    }
    Ok(())
}

fn must_be_there(subject: &Subject, key: &str, column: &str) -> Result<(), OpsError> {
    if subject.live.column(column).is_some() {
        return Ok(());
    }
    let hint = did_you_mean(column, subject.live.columns.iter().map(|column| column.name.as_str()));
    let message = format!("the answer to {key}: table {} has no column `{column}`{hint}", subject.written);
    Err(OpsError::usage(message, "name a column as the catalog has it, without quotes"))
}

/// Where a key stands in the draft.
fn section(key: &str) -> usize {
    let sections = ["schema", "fencing", "time", "states", "claim", "owner", "attempts", "action.requeue", "action"];
    sections.iter().position(|section| key.starts_with(section)).unwrap_or(sections.len())
}

/// A name for the mapping from the table's: bare in TOML.
fn name_of(table: &str) -> String {
    let plain = words(table).into_iter().map(|word| word.chars().filter(char::is_ascii_alphanumeric).collect());
    let words: Vec<String> = plain.filter(|word: &String| !word.is_empty()).collect();
    if words.is_empty() { "queue".to_owned() } else { words.join("_") }
}

fn head(
    subject: &Subject,
    engine: &str,
    database: &str,
    now: Timestamp,
    open: &[Question],
    untouched: &[String],
) -> Vec<String> {
    let day: String = now.to_string().chars().take(10).collect();
    let version = env!("CARGO_PKG_VERSION");
    let mut head = vec![
        format!("Drafted by jobdoctor {version} on {day} from table {} ({engine}, {database}).", subject.written),
        "shown: by the catalog, or by every row read, five that wait and five in flight at least;".to_owned(),
        "likely: by fewer rows, or by name and type; asked: as the operator answered.".to_owned(),
    ];
    if !open.is_empty() {
        let open: Vec<&str> = open.iter().map(|question| question.key.as_str()).collect();
        head.push(format!("Not complete. To be settled: {}.", open.join(", ")));
    }
    if !untouched.is_empty() {
        head.push(format!("No action writes: {}.", untouched.join(", ")));
    }
    head
}
