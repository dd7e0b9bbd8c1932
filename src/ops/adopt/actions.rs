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
use crate::preset::ident::{literal, qualified, quoted};
use std::collections::BTreeSet;
use toml_edit::{Array, InlineTable, Value};

/// How an action sets a column back.
enum Back {
    Clear,
    Set(Value),
    /// A job that waits has a value of its own there.
    Unknown,
}

/// The claim's own columns: its owner, time and sign of life, and what tells it where no state does; unless an answer
/// names what a requeue sets back, also others that are called so and that claims alone set.
fn own<'f>(facts: &'f Facts<'_>) -> Vec<&'f SubjectColumn> {
    let may_be_called = facts.answers.get("action.requeue.clear").is_none();
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
        let is_free = facts.fresh.is_empty() || facts.fresh.is_free(name);
        let is_named = is_called && is_free && facts.in_flight.set(name).next().is_some();
        // A lock is deleted only where rows show that it is one.
        let is_sure = !is_of_lock(facts, name) || facts.set_by_claims(name) == Support::Shown;
        (is_chosen || (is_named && may_be_called)) && is_open(facts, column) && is_sure
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
    facts.shape.column() != Some(column.name.as_str())
        && !is_of_job
        && !is_computed
        && !key.contains(&column.name)
        && !is_kept(&column.name)
}

/// Whether it is the owner in a table of locks.
fn is_of_lock(facts: &Facts<'_>, column: &str) -> bool {
    facts.subject.live.column(column).is_none()
}

/// What makes a column as it is in the rows of a model.
fn back(facts: &Facts<'_>, column: &SubjectColumn, model: &Rows) -> Back {
    let name = &column.name;
    let may_be_null = !facts.subject.live.not_null.contains(name);
    let value = |cell| Back::Set(stored(facts.engine, column.class, cell).into());
    match model.agreed(name) {
        Some(cell) if cell.is_null() => Back::Clear,
        Some(cell) if model.is_none(name, cell) => value(cell),
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
        Shape::Column { .. } => names(facts, Meaning::Waiting).into_iter().next(),
    };
    to.map(|to| Finding::new(to, Support::Both, "where a job waits")).into_iter().collect()
}

/// What a requeue sets back. It is asked where a column that every claim has and no job that waits is none of the
/// claim's own, or where one of its own is not set back.
pub(super) fn requeue(facts: &Facts<'_>) -> Vec<Finding> {
    if requeue_to(facts).is_empty() {
        return Vec::new();
    }
    let said = facts.answers.list("action.requeue.clear");
    let of_claim = own(facts);
    let is_own = |column: &SubjectColumn| of_claim.iter().any(|own| own.name == column.name);
    let is_written = |column: &&SubjectColumn| match &said {
        Some(said) if said.contains(&column.name.as_str()) => facts.shape.column() != Some(column.name.as_str()),
        // What is the claim's own and can be set back is so, whatever else is named.
        Some(_) => is_own(column) && !matches!(back(facts, column, &facts.fresh), Back::Unknown),
        None => is_own(column),
    };
    let written: Vec<&SubjectColumn> = facts.subject.columns.iter().filter(is_written).collect();
    // A second owner is asked about however few rows there are.
    let is_owner = |column: &SubjectColumn| matches!(column.role, Some(Role::Owner | Role::Host));
    let is_other = |column: &&SubjectColumn| {
        let support = facts.set_by_claims(&column.name);
        let is_of_claims = support == Support::Shown || (is_owner(column) && support == Support::Rows);
        let is_of_claims = is_of_claims || (is_of_lock(facts, &column.name) && facts.lock().is_some());
        !is_own(column) && is_open(facts, column) && is_of_claims
    };
    let others: Vec<&SubjectColumn> = facts.subject.columns.iter().filter(is_other).collect();
    let (mut clear, mut set, mut unknown) = set_back(facts, &written, &facts.fresh);
    // What jobs that wait have of their own is emptied where an answer says so, or begins anew.
    for name in unknown.extract_if(.., |_| said.is_some()) {
        let column = facts.subject.column(&name).filter(|_| facts.subject.live.not_null.contains(&name));
        match column.and_then(|column| Some((column.class, facts.subject.begins_with(&name)?))) {
            Some((Class::Number | Class::Boolean, default)) => drop(set.insert(&name, default.into())),
            Some((_, default)) => drop(set.insert(&name, literal(&default).into())),
            None => clear.push(name),
        }
    }
    let support = match () {
        () if said.is_some() => Support::Answered,
        () if !others.is_empty() || !unknown.is_empty() => Support::Name,
        () if written.iter().all(|column| facts.set_by_claims(&column.name) == Support::Shown) => Support::Shown,
        () => Support::Both,
    };
    let why = match written.first() {
        Some(column) if said.is_none() => format!("the claim's own: {}", set_by_claims(facts, &column.name)),
        _ => "as answered".to_owned(),
    };
    let (kept, known): (Vec<_>, Vec<_>) = written.iter().copied().partition(|column| unknown.contains(&column.name));
    // A second owner may be anybody's.
    let called = others.iter().copied().filter(|column| is_called_as_claims(&column.name) && !is_owner(column));
    let form: Vec<&str> = known.into_iter().chain(called).map(|column| column.name.as_str()).collect();
    let form = if form.is_empty() { "none".to_owned() } else { form.join(",") };
    let mut seen: Vec<String> = others.iter().map(|column| sampled(&column.name, &facts.in_flight)).collect();
    let kept = kept.into_iter().map(|column| sampled(&column.name, &facts.in_flight));
    seen.extend(kept.map(|kept| format!("{kept} (jobs that wait have it too)")));
    let asked = Finding::new(clear.clone(), support, &why).asked("", form, seen);
    if support < Support::Both {
        return vec![asked];
    }
    let found = [asked, Finding::new(set.clone(), support, &why).of("action.requeue.set")];
    with_lock(facts, "action.requeue.step", [&clear, &Array::new()], &set, found.into())
}

/// What an action writes, without the keys that write nothing. A lock in another table is deleted in a step of its own.
fn with_lock(
    facts: &Facts<'_>,
    key: &str,
    [clear, stamp]: [&Array; 2],
    set: &InlineTable,
    mut found: Vec<Finding>,
) -> Vec<Finding> {
    let is_of_lock = |name: &Value| name.as_str().is_some_and(|name| is_of_lock(facts, name));
    let Some(lock) = facts.lock().filter(|_| clear.iter().any(is_of_lock)) else {
        let is_empty = |value: &Value| match value {
            Value::Array(list) => list.is_empty(),
            Value::InlineTable(set) => set.is_empty(),
            _ => false,
        };
        found.retain(|finding| !finding.value.as_ref().is_some_and(is_empty));
        return found;
    };
    let own: Array = clear.iter().filter(|name| !is_of_lock(name)).cloned().collect();
    let (locks, column) = (qualified(&lock.schema, &lock.table), quoted(&lock.column));
    let delete = format!("DELETE FROM {locks} WHERE {column} IN :ids");
    let mut written: InlineTable = [("clear", own)].into_iter().collect();
    written.extend((!stamp.is_empty()).then(|| ("stamp", Value::from(stamp.clone()))));
    written.extend((!set.is_empty()).then(|| ("set", Value::from(set.clone()))));
    let delete: InlineTable = [("sql", delete.as_str()), ("rows", "at most each")].into_iter().collect();
    let steps: Array = [written, delete].into_iter().collect();
    vec![Finding::new(steps, Support::Both, "the lock of a job is a row of its own").of(key)]
}

pub(super) fn fail_to(facts: &Facts<'_>) -> Vec<Finding> {
    let to = match &facts.shape {
        Shape::Column { .. } => names(facts, Meaning::Failed).into_iter().next(),
        Shape::Where { .. } => failures(facts).next().map(|_| "failed".to_owned()),
    };
    let said = facts.answers.get("action.fail.to").map(str::to_owned);
    let to = said.or(to).filter(|to| to != "none");
    to.map(|to| Finding::new(to, Support::Both, "where a failed job goes")).into_iter().collect()
}

/// What a failure sets back, where failed jobs have none of a claim left, and the end that tells them where no state
/// does. Another end that each of them has is asked about.
pub(super) fn fail(facts: &Facts<'_>) -> Vec<Finding> {
    if fail_to(facts).is_empty() {
        return Vec::new();
    }
    let failed = &facts.failed;
    let is_left = |column: &&SubjectColumn| failed.is_empty() && is_of_lock(facts, &column.name);
    let own = own(facts).into_iter().filter(|column| failed.is_free(&column.name) || is_left(column));
    let own: Vec<&SubjectColumn> = own.collect();
    let (clear, mut set, _) = set_back(facts, &own, failed);
    let (flags, times): (Vec<_>, Vec<_>) = failures(facts).partition(|end| end.class == Class::Boolean);
    set.extend(flags.into_iter().map(|flag| (flag.name.as_str(), "true")));
    // What the operator writes there comes on top of what tells a failed job.
    let said = facts.answers.get("action.fail.set").filter(|said| *said != "none");
    let pairs = said.into_iter().flat_map(|said| said.split(',')).filter_map(|pair| pair.split_once('='));
    set.extend(pairs.map(|(column, value)| (column.trim(), value.trim())));
    let why = match failed.len() {
        0 => "the claim's own".to_owned(),
        rows => format!("so in all {rows} sampled rows that failed"),
    };
    let is_asked = |end: &&SubjectColumn| {
        let is_many = failed.len().min(facts.in_flight.len()) >= ENOUGH && end.class != Class::Boolean;
        is_many && failed.is_held(&end.name) && facts.in_flight.is_free(&end.name)
    };
    let asked: Vec<&str> = ends(facts.subject).filter(is_asked).map(|end| end.name.as_str()).collect();
    let stamp: Array = times.iter().map(|end| &end.name).collect();
    let support = if said.is_some() { Support::Answered } else { Support::Both };
    let mut found = vec![
        Finding::new(stamp.clone(), Support::Both, "what tells a failed job").of("action.fail.stamp"),
        Finding::new(clear.clone(), Support::Both, &why).of("action.fail.clear"),
        Finding::new(set.clone(), support, why).of("action.fail.set"),
    ];
    found = with_lock(facts, "action.fail.step", [&clear, &stamp], &set, found);
    if stamp.is_empty() && !asked.is_empty() && matches!(facts.shape, Shape::Column { .. }) {
        let seen = asked.iter().map(|name| sampled(name, failed)).collect();
        let about = format!("each of {} sampled jobs that failed has {}", failed.len(), asked.join(", "));
        found.push(Finding::open(about, asked.join(","), seen));
    }
    found
}

/// The ends that tell a failed job where no state does.
fn failures<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = &'f SubjectColumn> {
    let is_told = matches!(facts.shape, Shape::Where { .. });
    ends(facts.subject).filter(move |end| is_told && end.role == Some(Role::Ended(true)))
}

/// The columns that an action stamps with the time of the write.
pub(super) fn stamped(facts: &Facts<'_>) -> BTreeSet<String> {
    let said = ["action.requeue.stamp", "action.fail.stamp"].into_iter().filter_map(|key| facts.answers.list(key));
    let told = failures(facts).filter(|end| end.class != Class::Boolean && !fail_to(facts).is_empty());
    said.flatten().chain(told.map(|end| end.name.as_str())).map(str::to_owned).collect()
}
