//! What a requeue and a failure write: the claim's own columns, and what the operator names. Each is set back to what a
//! job has that waits and was never tried.

use super::condition::{ends, named_in};
use super::draft::sampled;
use super::facts::{ENOUGH, Facts, Shape, Support, stored};
use super::keys::Finding;
use super::liveness::set_by_claims;
use super::owner::OwnerId;
use super::roles::{Class, Meaning, Role, is_called_as_claims, is_kept};
use super::rows::Rows;
use super::states::names;
use super::table::SubjectColumn;
use toml_edit::{Array, InlineTable, Value};

/// How an action sets a column back.
enum Back {
    Clear,
    Set(Value),
    /// A job that waits has a value of its own there.
    Unknown,
}

/// The claim's own columns: its owner, time and sign of life, what tells it where no state does, and others that are
/// called so and that claims alone set.
fn own<'f>(facts: &'f Facts<'_>) -> Vec<&'f SubjectColumn> {
    let told = match &facts.shape {
        Shape::Where { condition, .. } => {
            named_in(facts.subject, condition).map(|column| column.name.as_str()).collect()
        }
        Shape::Column { .. } => Vec::new(),
    };
    let chosen = [facts.owner.as_ref().map(OwnerId::column), facts.claimed.as_deref(), facts.source_column()];
    let is_own = |column: &&SubjectColumn| {
        let name = column.name.as_str();
        // Of what tells a claim, an end that no claim has is none of its own.
        let is_told = told.contains(&name) && facts.in_flight.is_held(name);
        let is_chosen = chosen.contains(&Some(name)) || is_told;
        let is_called = matches!(column.role, Some(Role::Claimed | Role::Heartbeat | Role::Lease | Role::Token))
            && is_called_as_claims(name);
        let is_set_in = |rows: &Rows| rows.is_free(name) || facts.fresh.is_empty();
        (is_chosen || (is_called && facts.in_flight.set(name).next().is_some() && is_set_in(&facts.fresh)))
            && is_open(facts, column)
    };
    facts.subject.columns.iter().filter(is_own).collect()
}

/// False for columns that no claim writes: the key, the state, an end, attempts and what the job is.
fn is_open(facts: &Facts<'_>, column: &SubjectColumn) -> bool {
    let is_of_job = matches!(
        column.role,
        Some(
            Role::Attempts
                | Role::MaxAttempts
                | Role::Payload
                | Role::Kind
                | Role::Queue
                | Role::State
                | Role::Ended(_)
                | Role::OtherTime
        )
    );
    let key = facts.subject.key().unwrap_or_default();
    // A column whose default stands for no value may name an owner, although it is called like a kind of work.
    let is_of_job = is_of_job && !(column.role == Some(Role::Kind) && facts.waiting.absent.contains_key(&column.name));
    let is_computed = facts.subject.generated.contains(&column.name);
    !is_state(facts, column) && !is_of_job && !is_computed && !key.contains(&column.name) && !is_kept(&column.name)
}

fn is_state(facts: &Facts<'_>, column: &SubjectColumn) -> bool {
    matches!(&facts.shape, Shape::Column { name, .. } if *name == column.name)
}

/// What makes a column as it is in the rows of a model.
fn back(facts: &Facts<'_>, column: &SubjectColumn, model: &Rows) -> Back {
    let name = &column.name;
    let may_be_null = !facts.subject.live.not_null.contains(name);
    let value = |cell| Back::Set(stored(facts.engine, column.class, cell).into());
    match model.agreed(name) {
        Some(cell) if cell.is_null() => Back::Clear,
        Some(cell) if model.is_none(name, cell) => value(cell),
        // A word that stands for no owner, such as `-`.
        Some(cell) if model.len() >= ENOUGH && facts.in_flight.values(name).all(|held| held != cell) => value(cell),
        _ if model.is_free(name) && may_be_null => Back::Clear,
        _ if column.class == Class::Boolean && model.is_empty() => Back::Set("false".into()),
        _ if model.is_empty() && may_be_null => Back::Clear,
        _ => Back::Unknown,
    }
}

fn set_back(facts: &Facts<'_>, columns: &[&SubjectColumn], model: &Rows) -> (Array, InlineTable, Vec<String>) {
    let (mut clear, mut set, mut unknown) = (Array::new(), InlineTable::new(), Vec::new());
    for column in columns {
        match back(facts, column, model) {
            Back::Clear => clear.push(&column.name),
            Back::Set(value) => drop(set.insert(&column.name, value)),
            Back::Unknown => unknown.push(column.name.clone()),
        }
    }
    (clear, set, unknown)
}

pub(super) fn requeue_to(facts: &Facts<'_>) -> Vec<Finding> {
    let to = match &facts.shape {
        Shape::Where { condition, .. } => (!condition.is_empty()).then(|| "waiting".to_owned()),
        Shape::Column { .. } => {
            names(facts, Meaning::Waiting).into_iter().next().or_else(|| first_answer(facts, "states.waiting"))
        }
    };
    to.map(|to| Finding::new(to, Support::Both, "where a job waits")).into_iter().collect()
}

fn first_answer(facts: &Facts<'_>, key: &str) -> Option<String> {
    facts.answers.list(key)?.first().map(|first| (*first).to_owned())
}

/// What a requeue sets back. It is asked where a column that every claim has and no job that waits is none of the
/// claim's own, or where one of its own is not set back.
pub(super) fn requeue(facts: &Facts<'_>) -> Vec<Finding> {
    let key = "action.requeue.clear";
    if requeue_to(facts).is_empty() {
        return Vec::new();
    }
    let mut own = own(facts);
    let is_other = |column: &&SubjectColumn| {
        let is_own = own.iter().any(|own| own.name == column.name);
        // A second owner is asked about however few rows there are.
        let support = facts.set_by_claims(&column.name);
        let is_owner = matches!(column.role, Some(Role::Owner | Role::Host)) && support == Support::Rows;
        !is_own && is_open(facts, column) && (support == Support::Shown || is_owner)
    };
    let others: Vec<&SubjectColumn> = facts.subject.columns.iter().filter(is_other).collect();
    let answered = facts.answers.list(key);
    if let Some(said) = &answered {
        // What is the claim's own and can be set back is so, whatever else is named.
        let can = |column: &&SubjectColumn| {
            own.iter().any(|own| own.name == column.name) && !matches!(back(facts, column, &facts.fresh), Back::Unknown)
        };
        let is_said = |column: &&SubjectColumn| said.contains(&column.name.as_str()) && !is_state(facts, column);
        own = facts.subject.columns.iter().filter(|column| is_said(column) || can(column)).collect();
    }
    let (clear, set, unknown) = set_back(facts, &own, &facts.fresh);
    let support = match () {
        () if answered.is_some() => Support::Answered,
        () if !others.is_empty() || !unknown.is_empty() => Support::Name,
        () if own.iter().all(|column| facts.set_by_claims(&column.name) == Support::Shown) => Support::Shown,
        () => Support::Both,
    };
    let why = match own.first() {
        _ if support == Support::Answered => "as answered".to_owned(),
        Some(column) => format!("the claim's own: {}", set_by_claims(facts, &column.name)),
        None => String::new(),
    };
    let about = match (others.is_empty(), unknown.is_empty()) {
        (true, _) => format!("{} is set while a job waits, too", unknown.join(", ")),
        (false, true) => "some that every claim sets may be none of its own".to_owned(),
        (false, false) => format!(
            "some that every claim sets may be none of its own, and {} is set while a job waits",
            unknown.join(", ")
        ),
    };
    let known = own.iter().filter(|column| !unknown.contains(&column.name));
    // A second owner may be anybody's.
    let is_owner = |column: &SubjectColumn| matches!(column.role, Some(Role::Owner | Role::Host));
    let called = others.iter().filter(|column| is_called_as_claims(&column.name) && !is_owner(column));
    let form: Vec<&str> = known.chain(called).map(|column| column.name.as_str()).collect();
    let seen = others.iter().copied().chain(own.iter().copied().filter(|column| unknown.contains(&column.name)));
    let seen = seen.map(|column| sampled(&column.name, &facts.in_flight)).collect();
    let is_written = !clear.is_empty() || !unknown.is_empty() || !others.is_empty();
    let mut findings = Vec::new();
    if is_written {
        findings.push(Finding::new(clear, support, &why).asked(
            about,
            if form.is_empty() { "none".to_owned() } else { form.join(",") },
            seen,
        ));
    }
    if !set.is_empty() {
        findings.push(Finding::new(set, support.max(Support::Both), why).of("action.requeue.set"));
    }
    findings
}

pub(super) fn fail_to(facts: &Facts<'_>) -> Vec<Finding> {
    let to = match &facts.shape {
        Shape::Column { .. } => {
            names(facts, Meaning::Failed).into_iter().next().or_else(|| first_answer(facts, "states.failed"))
        }
        Shape::Where { .. } => {
            ends(facts.subject).any(|end| end.role == Some(Role::Ended(true))).then(|| "failed".to_owned())
        }
    };
    let to = to.or_else(|| first_answer(facts, "action.fail.to")).filter(|to| to != "none");
    to.map(|to| Finding::new(to, Support::Both, "where a failed job goes")).into_iter().collect()
}

/// What a failure sets back, where failed jobs have none of a claim left, and the end that tells them where no state
/// does. Another end that each of them has is asked about.
pub(super) fn fail(facts: &Facts<'_>) -> Vec<Finding> {
    if fail_to(facts).is_empty() {
        return Vec::new();
    }
    let failed = &facts.failed;
    let own: Vec<&SubjectColumn> = own(facts).into_iter().filter(|column| failed.is_free(&column.name)).collect();
    let (clear, mut set, _) = set_back(facts, &own, failed);
    let is_told = matches!(facts.shape, Shape::Where { .. });
    let is_end = |column: &&SubjectColumn| column.role == Some(Role::Ended(true));
    let mut stamp = Array::new();
    for end in ends(facts.subject).filter(is_end).filter(|_| is_told) {
        match end.class {
            Class::Boolean => drop(set.insert(&end.name, "true".into())),
            _ => stamp.push(&end.name),
        }
    }
    // What the operator writes there comes on top of what tells a failed job.
    let said = facts.answers.get("action.fail.set").filter(|said| *said != "none");
    for (column, value) in said.into_iter().flat_map(|said| said.split(',')).filter_map(|pair| pair.split_once('=')) {
        set.insert(column.trim(), value.trim().into());
    }
    let why = match failed.len() {
        0 => "the claim's own".to_owned(),
        rows => format!("so in all {rows} sampled rows that failed"),
    };
    let other = ends(facts.subject).filter(|end| !is_told && end.class != Class::Boolean);
    let all = other.filter(|end| failed.is_held(&end.name) && facts.in_flight.is_free(&end.name));
    let asked: Vec<&str> =
        all.map(|end| end.name.as_str()).filter(|_| failed.len().min(facts.in_flight.len()) >= ENOUGH).collect();
    let mut findings = Vec::new();
    if !stamp.is_empty() {
        findings.push(Finding::new(stamp, Support::Both, "what tells a failed job"));
    } else if !asked.is_empty() {
        let seen = asked.iter().map(|name| sampled(name, failed)).collect();
        let about = format!("each of {} sampled jobs that failed has {}", failed.len(), asked.join(", "));
        findings.push(Finding::open(about, asked.join(","), seen));
    }
    if !clear.is_empty() {
        findings.push(Finding::new(clear, Support::Both, &why).of("action.fail.clear"));
    }
    if !set.is_empty() {
        let support = if said.is_some() { Support::Answered } else { Support::Both };
        findings.push(Finding::new(set, support, why).of("action.fail.set"));
    }
    findings
}

/// The columns that an action stamps with the time of the write.
pub(super) fn stamped(facts: &Facts<'_>) -> Vec<String> {
    let texts = |value: &Value| {
        value.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let mut columns: Vec<String> = fail(facts)
        .iter()
        .filter(|finding| finding.key.is_none())
        .filter_map(|finding| finding.value.as_ref())
        .flat_map(texts)
        .collect();
    for key in ["action.requeue.stamp", "action.fail.stamp"] {
        let said = facts.answers.list(key).into_iter().flatten();
        columns.extend(said.map(str::to_owned));
    }
    columns.sort();
    columns.dedup();
    columns
}
