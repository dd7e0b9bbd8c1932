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
mod shape;
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
use crate::preset::{LiveColumn, LiveTable, did_you_mean, lookalikes, words};
use crate::store::{Limits, Store, catalog};
use draft::Draft;
use facts::{Facts, Shape};
use liveness::Source;
use roles::{Meaning, Role};
use rows::Rows;
use table::{Sampler, Subject, SubjectColumn, by_hand};

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

/// The tables of all schemas that look like a queue, or all.
pub fn candidates(store: &dyn Store, limits: &Limits) -> Result<AdoptTables, OpsError> {
    let mut reader = store.reader(limits, &[])?;
    let columns = reader.texts(&catalog::columns_of_tables(store.engine(), &[]))?;
    let (are_alike, tables) = lookalikes(&columns);
    let tables = tables.into_iter().map(|(table, columns)| Lookalike { table, columns }).collect();
    Ok(AdoptTables { schema: "jobdoctor.adopt-tables/v1", are_alike, tables })
}

/// Drafts the mapping. A question that is open leaves its key out.
pub fn adopt(adoption: &Adoption<'_>) -> Result<Adopt, OpsError> {
    let (store, answers) = (adoption.store, adoption.answers);
    let engine = store.engine();
    let mut reader = store.reader(adoption.limits, &[])?;
    let now = reader.now();
    let database = reader.server().map_or(store.label(), |server| &server.label).to_owned();
    let subject = Subject::read(reader.as_mut(), engine, adoption)?;
    answers_fit(&subject, answers)?;
    let mut sampler = Sampler::new(reader.as_mut(), engine, &subject);
    let (facts, mut notes) = facts(&mut sampler, adoption, now)?;
    let of_states = answers.iter().find(|(key, _)| key.starts_with("states."));
    if let (Shape::Where { .. }, Some((key, _))) = (&facts.shape, of_states) {
        let message = format!("the answer to {key}: table {} has no state column that is known", subject.written);
        let hint = "name it in an answer to claim.state, or say in claim.where what is in flight";
        return Err(OpsError::usage(message, hint));
    }
    if let Some(why) = no_claim(&mut sampler, &facts)? {
        return Err(by_hand(&subject.written, &why));
    }
    let Draft { mut keys, questions } = keys::settle(&facts);
    // What a requeue sets back is written as its model has it.
    let is_settled = |key: &str| ["action.requeue.clear", "action.fail.set"].contains(&key);
    for (key, answer) in answers.iter().filter(|(key, answer)| *answer != "none" && !is_settled(key)) {
        if let Some(column) = key.strip_prefix("time.") {
            let of_owners =
                facts.owners.as_ref().is_some_and(|owners| column.trim_start_matches("o.") == owners.heartbeat.name);
            if column != "default" && !of_owners {
                require_there(&subject, key, column)?;
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
        notes,
        proof: None,
        written: None,
        target: None,
        next: String::new(),
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
    let shape = shape::shape(sampler, answers, &ends)?;
    let all = Meaning::ALL.into_iter().fold(ends, |all, meaning| all.and(&shape.rows(meaning)));
    let all = all.distinct(&subject.key().unwrap_or_default());
    let [waiting, in_flight, failed] =
        [Meaning::Waiting, Meaning::InFlight, Meaning::Failed].map(|meaning| shape.rows(meaning));
    let fresh = untried(subject, answers, &waiting);
    let owner = owner::owner_id(subject, answers, shape.column(), &fresh, &in_flight);
    let owners = owner::find_table(sampler, answers, owner.as_ref(), &in_flight)?;
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
        // What another table keeps is no trace of a run.
        for column in subject.of_role(role).filter(|column| subject.live.column(&column.name).is_some()) {
            fresh = some(fresh.without(&column.name), fresh);
        }
    }
    fresh
}

/// Why no draft could be true, if the table keeps nothing of a claim: its locks may be in a table that refers to it.
fn no_claim(sampler: &mut Sampler<'_>, facts: &Facts<'_>) -> Result<Option<String>, OpsError> {
    if facts.owner.is_some() || facts.claimed.is_some() || facts.source.is_some() {
        return Ok(None);
    }
    let referring: Vec<String> = facts.subject.referred_from.iter().map(|foreign| foreign.table.clone()).collect();
    let live = sampler.reader.live_schema(&referring)?;
    let is_lock = |table: &&LiveTable| {
        let role = |column: &LiveColumn| SubjectColumn::of(column, None).role;
        let of_claims = [Role::Owner, Role::Claimed, Role::Heartbeat, Role::Lease];
        let mut to_us = facts.subject.referred_from.iter().filter(|foreign| foreign.table == table.name);
        // One row at most for each job, whatever it is called.
        to_us.any(|foreign| table.is_unique(&[&foreign.column]))
            || table.columns.iter().any(|column| role(column).is_some_and(|role| of_claims.contains(&role)))
    };
    if let Some(lock) = live.tables.iter().find(is_lock) {
        return Ok(Some(format!("keeps no claim itself: its locks may be in {}, which refers to it:", lock.name)));
    }
    let is_said = ["states.in_flight", "claim.state", "claim.where"].iter().any(|key| facts.answers.get(key).is_some());
    let columns: Vec<&str> = facts.subject.columns.iter().map(|column| column.name.as_str()).collect();
    let nothing = || {
        format!(
            "looks like no queue: no owner, time of a claim or sign of life is known among {}; if it is one, answer \
             states.in_flight, claim.where, owner.id or claim.claimed_at, or",
            columns.join(", ")
        )
    };
    Ok((facts.attempts().is_none() && !is_said).then(nothing))
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
            "claim.state" | "claim.claimed_at" | "attempts.column" => require_there(subject, key, answer)?,
            "claim.liveness" => {
                let source = Source::parse(answer).ok_or_else(|| {
                    let message = format!("the answer to claim.liveness: `{answer}` is not a source of life");
                    OpsError::usage(message, "say heartbeat COLUMN 2m, lease COLUMN, age COLUMN 30m, owner 2m, or none")
                })?;
                source.column.iter().try_for_each(|column| require_there(subject, key, column))?;
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
                    require_there(subject, key, column)?;
                    if taken.iter().any(|taken| taken == column)
                        || counter == Some(column)
                        || answers.get("claim.state") == Some(column)
                    {
                        let message = format!("the answer to {key}: `{column}` is the key, the state or the attempts");
                        return Err(OpsError::usage(message, "name the columns of the claim"));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn require_there(subject: &Subject, key: &str, column: &str) -> Result<(), OpsError> {
    if subject.live.column(column).is_some() || subject.column(column).is_some() {
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
