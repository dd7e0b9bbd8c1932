//! Drafts the mapping of a home-made table: reads the catalog and bounded samples, and concludes only what is shown.

mod actions;
mod draft;
mod facts;
mod liveness;
mod owner;
mod proof;
mod roles;
mod states;
mod table;
mod times;
mod watch;

pub use draft::Answers;
pub use facts::Watched;
pub use proof::{DryRun, prove};
pub use watch::watch;

use super::OpsError;
use crate::model::Timestamp;
use crate::output::{Adopt, Grade, Question, mapping_toml};
use crate::preset::{did_you_mean, words};
use crate::store::{Limits, Store};
use draft::Draft;
use facts::{Facts, Shape};
use liveness::Source;
use owner::OwnerId;
use roles::{Meaning, Role};

use table::{Sampler, Subject, SubjectColumn};
use toml_edit::Array;

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

/// Drafts the mapping. A question that is open leaves its key out.
pub fn adopt(adoption: &Adoption<'_>) -> Result<Adopt, OpsError> {
    let (store, answers) = (adoption.store, adoption.answers);
    let engine = store.engine();
    let mut reader = store.reader(adoption.limits)?;
    let now = reader.now();
    let database = reader.server().map_or(store.label(), |server| &server.label).to_owned();
    let subject = Subject::find(reader.as_mut(), engine, adoption.schema, adoption.table)?;
    answers_fit(&subject, answers)?;
    let mut sampler = Sampler::new(reader.as_mut(), engine, &subject);
    let ends = sampler.ends()?;
    let shape = states::shape(&mut sampler, answers, &ends)?;
    let mut facts =
        Facts { engine, now, subject: &subject, answers, shape, all: ends, owners: None, watched: adoption.watched };
    facts.see_states();
    for meaning in Meaning::ALL {
        facts.all = facts.all.and(&facts.rows(meaning));
    }
    let (waiting, in_flight) = (facts.rows(Meaning::Waiting), facts.rows(Meaning::InFlight));
    let owner = owner::owner_id(&subject, answers, &waiting, &in_flight);
    facts.owners = owner::find_table(&mut sampler, owner.as_ref(), &in_flight)?;
    let notes = sampler.note.take().into_iter().collect();
    let mut draft = Draft { answers, keys: Vec::new(), questions: Vec::new(), notes };
    let is_held = owner.as_ref().map(OwnerId::column).is_some_and(|id| waiting.is_null(id) && in_flight.is_set(id));
    let no_queue = no_queue(&facts, is_held).filter(|_| answers.get("actions") != Some("none"));
    write(&facts, &mut draft, no_queue.as_deref());
    for (key, answer) in answers.iter().filter(|(key, answer)| *answer != "none" && *key != "actions") {
        if let Some(column) = key.strip_prefix("time.") {
            let of_owners =
                facts.owners.as_ref().is_some_and(|owners| column.trim_start_matches("o.") == owners.heartbeat.name);
            if column != "default" && !of_owners {
                must_be_there(&subject, key, column)?;
            }
        } else if !draft.keys.iter().any(|known| known.key == key) {
            draft.answered(key, draft::answer_value(key, answer));
        }
    }
    let Draft { mut keys, mut questions, notes, .. } = draft;
    keys.sort_by_key(|key| section(&key.key));
    let name = adoption.name.map_or_else(|| name_of(&subject.live.name), str::to_owned);
    if no_queue.is_some() {
        questions.retain(|question| ["actions", "states.in_flight", "claim.where"].contains(&question.key.as_str()));
    }
    let head = head(&subject, engine.name(), &database, now, &questions);
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
        no_queue,
        notes,
        proof: None,
        written: None,
    })
}

fn write(facts: &Facts<'_>, draft: &mut Draft<'_>, no_queue: Option<&str>) {
    let (subject, answers) = (facts.subject, facts.answers);
    draft.key("claim.table", subject.written.as_str(), Grade::Shown, "the catalog has it");
    match subject.key() {
        Some(key) => {
            let reason = if subject.primary.is_empty() { "a unique key without NULL" } else { "the primary key" };
            let value: toml_edit::Value = match key.as_slice() {
                [one] => one.as_str().into(),
                several => several.iter().map(String::as_str).collect::<Array>().into(),
            };
            draft.key("claim.key", value, Grade::Shown, reason);
        }
        None if answers.get("claim.key").is_some() => draft.key("claim.key", "", Grade::Asked, ""),
        None => {
            draft.ask("claim.key", "which columns tell its rows apart? it has no unique key", Vec::new(), "id", false);
        }
    }
    if let Some(why) = no_queue {
        let question =
            format!("table {} does not look like a queue ({why}); list it anyway, without actions?", subject.written);
        draft.ask("actions", question, Vec::new(), "none", true);
    }
    states::draft(facts, draft);
    liveness::draft(facts, draft);
    let by_owner = answers.get("claim.liveness").and_then(Source::parse).is_some_and(|source| source.is_owner());
    owner::draft(facts, draft, by_owner);
    for (role, key) in [
        (Role::Queue, "claim.queue"),
        (Role::Kind, "claim.kind"),
        (Role::Payload, "claim.payload"),
        (Role::LastError, "claim.last_error"),
    ] {
        let is_taken = |column: &&SubjectColumn| !draft.keys.iter().any(|key| key.value.as_str() == Some(&column.name));
        if let Some(column) = subject.of_role(role).find(is_taken) {
            draft.key(key, column.name.as_str(), Grade::Likely, "by name and type");
        }
    }
    let stamped = match answers.get("actions") {
        Some("none") => Vec::new(),
        _ => {
            let (can_fail, stamped) = actions::draft(facts, draft);
            actions::draft_attempts(facts, draft, can_fail);
            stamped
        }
    };
    liveness::times(facts, draft, &stamped);
    let unreadable = subject.unreadable();
    if !unreadable.is_empty() {
        let unreadable = unreadable.join(", ");
        draft.notes.push(format!("this role may not read the columns {unreadable}: nothing is known of them"));
    }
    if subject.live.is_view {
        draft.notes.push(format!("{} is a view: adopt its table if actions are to be taken", subject.written));
    }
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

/// Refuses answers that name columns which are not there, or have no meaning.
fn answers_fit(subject: &Subject, answers: &Answers) -> Result<(), OpsError> {
    for (key, answer) in answers.iter().filter(|(_, answer)| *answer != "none") {
        match key {
            "claim.state" | "claim.claimed_at" | "attempts.column" => must_be_there(subject, key, answer)?,
            "claim.liveness" => {
                let source = Source::parse(answer).ok_or_else(|| {
                    let message = format!("the answer to claim.liveness: `{answer}` is not a source of life");
                    OpsError::usage(message, "say heartbeat COLUMN 2m, lease COLUMN, age COLUMN 30m, owner 2m, or none")
                })?;
                source.column.iter().try_for_each(|column| must_be_there(subject, key, column))?;
            }
            "actions" => {
                let hint = "actions=none drafts for listing only";
                return Err(OpsError::usage("the answer to actions can only be none", hint));
            }
            _ => {}
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

fn head(subject: &Subject, engine: &str, database: &str, now: Timestamp, open: &[Question]) -> Vec<String> {
    let day: String = now.to_string().chars().take(10).collect();
    let version = env!("CARGO_PKG_VERSION");
    let mut head = vec![
        format!("Drafted by jobdoctor {version} on {day} from table {} ({engine}, {database}).", subject.written),
        "shown: by the rows or the catalog; likely: by name and type; asked: as the operator answered.".to_owned(),
    ];
    if !open.is_empty() {
        let open: Vec<&str> = open.iter().map(|question| question.key.as_str()).collect();
        head.push(format!("Not complete. To be settled: {}.", open.join(", ")));
    }
    head
}
