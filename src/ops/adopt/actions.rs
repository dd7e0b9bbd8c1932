//! What a requeue and a failure write: they make a row look like those that wait, or that have failed.

use super::draft::{Draft, counted, is_unset};
use super::facts::{Facts, Shape, StateSeen, stored};
use super::liveness::{claimed_at, source};
use super::owner::owner_id;
use super::roles::{Class, Meaning, Role, counts_down, is_among};
use super::table::{Rows, SubjectColumn};
use crate::model::Cell;
use crate::output::Grade;
use crate::preset::words;
use toml_edit::{Array, InlineTable, Value};

/// What an action writes besides the state.
#[derive(Debug, Default)]
struct Writes {
    clear: Vec<String>,
    stamp: Vec<String>,
    set: Vec<(String, Value)>,
}

/// Drafts the actions; the columns that they stamp.
pub(super) fn draft(facts: &Facts<'_>, draft: &mut Draft<'_>) -> (bool, Vec<String>) {
    let (waiting, failed) = (facts.rows(Meaning::Waiting), facts.rows(Meaning::Failed));
    let mut requeue = as_in(facts, &waiting);
    if waiting.rows.is_empty() {
        requeue.clear = by_name(facts);
    }
    let to = match &facts.shape {
        Shape::Where { .. } => Some("waiting".to_owned()),
        Shape::Column { .. } => states(facts, Meaning::Waiting).into_iter().next(),
    };
    let in_flight = facts.rows(Meaning::InFlight).rows.len();
    let shown = |rows: &Rows, what: &str| match rows.rows.len() {
        0 => (Grade::Likely, "by name and type: the sample has no such row".to_owned()),
        read => {
            let grade = if read.min(in_flight) >= ENOUGH { Grade::Shown } else { Grade::Likely };
            (grade, format!("so in {}, and not in flight", counted(rows, what)))
        }
    };
    if let Some(to) = to {
        let grade = if matches!(facts.shape, Shape::Column { .. }) { Grade::Likely } else { Grade::Shown };
        draft.key("action.requeue.to", to, grade, "where a job waits");
        write(draft, "requeue", requeue, shown(&waiting, "that wait"));
    }
    let mut fail = as_in(facts, &failed);
    let ended: Vec<&SubjectColumn> = facts.subject.of_role(Role::Ended(true)).collect();
    let to = match &facts.shape {
        Shape::Column { .. } => states(facts, Meaning::Failed).into_iter().next(),
        Shape::Where { .. } => {
            for column in &ended {
                let is_known =
                    fail.stamp.contains(&column.name) || fail.set.iter().any(|(name, _)| *name == column.name);
                match column.class {
                    _ if is_known => {}
                    Class::Boolean => fail.set.push((column.name.clone(), "true".into())),
                    _ => fail.stamp.push(column.name.clone()),
                }
            }
            (!ended.is_empty()).then(|| "failed".to_owned())
        }
    };
    let Some(to) = to else { return (false, Vec::new()) };
    let stamped = fail.stamp.clone();
    draft.key("action.fail.to", to, Grade::Likely, "where a failed job goes");
    if let Some(column) = facts.subject.of_role(Role::LastError).find(|column| column.class == Class::Text) {
        fail.clear.retain(|name| *name != column.name);
        fail.set.retain(|(name, _)| *name != column.name);
        fail.set.push((column.name.clone(), ":reason".into()));
    }
    let (grade, reason) = match fail.clear.is_empty() && fail.stamp.is_empty() && fail.set.len() < 2 {
        true => (Grade::Likely, "by name and type".to_owned()),
        false => shown(&failed, "that failed"),
    };
    write(draft, "fail", fail, (grade, reason));
    (true, stamped)
}

fn write(draft: &mut Draft<'_>, action: &str, writes: Writes, (grade, reason): (Grade, String)) {
    for (key, columns) in [("clear", writes.clear), ("stamp", writes.stamp)] {
        let key = format!("action.{action}.{key}");
        if !columns.is_empty() || draft.answers.get(&key).is_some() {
            draft.key(&key, columns.into_iter().collect::<Array>(), grade, reason.as_str());
        }
    }
    if !writes.set.is_empty() {
        draft.key(&format!("action.{action}.set"), writes.set.into_iter().collect::<InlineTable>(), grade, reason);
    }
}

/// The fewest rows of each side that show what a column is for.
const ENOUGH: usize = 5;
/// Words in the names of columns that outlive a claim, whatever the rows show.
const KEPT: &str = "deleted removed archived cancel cancelled canceled result results output checkpoint cursor note \
                    notes comment";

/// What makes a row in flight look like these: NULL where all of them are, and the value that stands for none. Only in
/// columns of the claim: its owner, time and sign of life, and those that are set in every row in flight and in none of
/// these.
fn as_in(facts: &Facts<'_>, rows: &Rows) -> Writes {
    let in_flight = facts.rows(Meaning::InFlight);
    let mut writes = Writes::default();
    let key = facts.subject.key().unwrap_or_default();
    let state = match &facts.shape {
        Shape::Column { name, .. } => Some(name),
        Shape::Where { .. } => None,
    };
    let is_open = |column: &&SubjectColumn| {
        !key.contains(&column.name)
            && Some(&column.name) != state
            && !matches!(
                column.role,
                Some(Role::Attempts | Role::MaxAttempts | Role::Payload | Role::Kind | Role::Queue)
            )
    };
    let owner = owner_id(facts.subject, facts.answers, &facts.rows(Meaning::Waiting), &in_flight);
    let (claimed, sign) =
        (claimed_at(facts).map(|(column, ..)| column), source(facts).and_then(|source| source.column));
    let is_shown = rows.rows.len().min(in_flight.rows.len()) >= ENOUGH;
    for column in facts.subject.columns.iter().filter(is_open) {
        let name = &column.name;
        let is_owner = owner.as_ref().is_some_and(|owner| owner.column() == name);
        let is_own = is_owner || claimed.as_ref() == Some(name) || sign.as_ref() == Some(name);
        let may_show = is_shown && !words(name).iter().any(|word| is_among(word, KEPT));
        let is_set =
            if is_own { !in_flight.values(name).all(Cell::is_null) } else { may_show && in_flight.is_set(name) };
        if rows.is_null(name) && is_set {
            writes.clear.push(name.clone());
        } else if matches!(column.role, Some(Role::Ended(_)))
            && column.class != Class::Boolean
            && in_flight.is_null(name)
            && rows.is_set(name)
        {
            writes.stamp.push(name.clone());
        } else if let Some(agreed) = rows.agreed(name).filter(|agreed| !agreed.is_null()) {
            let differs = !in_flight.rows.is_empty() && in_flight.values(name).all(|cell| cell != agreed);
            let is_sign =
                is_owner || matches!(column.role, Some(Role::Claimed | Role::Heartbeat | Role::Lease | Role::Owner));
            let stands_for_none = is_sign && is_unset(agreed);
            let is_named = matches!(column.role, Some(Role::Claimed | Role::Heartbeat | Role::Token));
            if differs && (is_own || is_named || may_show) && (column.class == Class::Boolean || stands_for_none) {
                writes.set.push((name.clone(), stored(facts.engine, column, agreed).into()));
            }
        }
    }
    writes
}

/// The columns of a claim by their names, for a table without a row that waits.
fn by_name(facts: &Facts<'_>) -> Vec<String> {
    let owner = owner_id(facts.subject, facts.answers, &Rows::default(), &facts.rows(Meaning::InFlight));
    let owner = owner.map(|owner| owner.column().to_owned());
    let claimed = claimed_at(facts).map(|(column, ..)| column);
    let sign = source(facts).and_then(|source| source.column);
    let mut columns: Vec<String> = [owner, claimed, sign].into_iter().flatten().collect();
    columns.sort();
    columns.dedup();
    columns.retain(|column| !facts.subject.live.not_null.contains(column) && facts.subject.column(column).is_some());
    columns
}

/// The states of that meaning, by the names that the mapping gives them: those that are named for it first, then by
/// their rows.
fn states(facts: &Facts<'_>, meaning: Meaning) -> Vec<String> {
    let Shape::Column { states, .. } = &facts.shape else { return Vec::new() };
    let mut of: Vec<_> = states.iter().filter(|state| state.meaning == Some(meaning)).collect();
    let name = |state: &&StateSeen| state.label.clone().unwrap_or_else(|| state.text());
    of.sort_by_key(|state| (Meaning::of(&name(state)) != Some(meaning), std::cmp::Reverse(state.rows.rows.len())));
    of.iter().map(name).collect()
}

/// Drafts the attempts. `can_fail` is true if there is an action for a job without attempts left.
pub(super) fn draft_attempts(facts: &Facts<'_>, draft: &mut Draft<'_>, can_fail: bool) {
    let answers = facts.answers;
    let named = facts.subject.of_role(Role::Attempts).next().map(|column| column.name.clone());
    let answered = answers.get("attempts.column").map(str::to_owned);
    let Some(column) = answered.or(named).filter(|column| column != "none") else { return };
    let down = counts_down(&column) || answers.get("attempts.direction") == Some("down");
    let (waiting, in_flight) = (facts.rows(Meaning::Waiting), facts.rows(Meaning::InFlight));
    draft.key("attempts.column", column.as_str(), Grade::Likely, "by name and type");
    if down {
        draft.key("attempts.direction", "down", Grade::Likely, "by name: what is left");
    }
    let most = facts.subject.of_role(Role::MaxAttempts).next();
    match most {
        Some(most) => draft.key("attempts.max", most.name.as_str(), Grade::Likely, "by name and type"),
        None if answers.get("attempts.max").is_some() => draft.key("attempts.max", 0, Grade::Asked, ""),
        None if down => match extreme(&waiting.and(&in_flight), &column, down) {
            Some(most) => {
                draft.key("attempts.max", most, Grade::Likely, "the most that any row has left");
            }
            None => draft.ask("attempts.max", "with how many attempts does a job begin?", Vec::new(), "5", false),
        },
        None => {
            let note =
                "no column has the most attempts that a job may have: without attempts.max a job is requeued for ever";
            draft.notes.push(note.to_owned());
        }
    }
    let least = |rows: &Rows| extreme(rows, &column, down);
    match (least(&waiting), least(&in_flight)) {
        (Some(waits), Some(flies)) if (flies > waits) != down && flies != waits => {
            let what = if down { "most that is left" } else { "least" };
            let reason = format!("the {what} is {flies} in flight and {waits} while a job waits");
            draft.key("attempts.counted", "at claim", Grade::Shown, reason);
        }
        (Some(waits), Some(_)) => {
            let reason =
                format!("a job that was never tried has {waits} while it waits, and one in flight no more than that");
            draft.key("attempts.counted", "on error", Grade::Likely, reason);
        }
        _ if answers.get("attempts.counted").is_some() => {
            draft.key("attempts.counted", "", Grade::Asked, "");
        }
        _ => {
            let question =
                format!("when does `{column}` count a run: at claim, on error, at end, at next claim or at reclaim?");
            draft.ask("attempts.counted", question, Vec::new(), "at claim", false);
        }
    }
    if !can_fail {
        draft.key("attempts.exhausted", "leave", Grade::Likely, "no state or column for a job that failed was found");
    }
}

/// The number of a job that has used the fewest attempts.
fn extreme(rows: &Rows, column: &str, down: bool) -> Option<i64> {
    let numbers = rows.values(column).filter_map(Cell::as_integer);
    if down { numbers.max() } else { numbers.min() }
}
