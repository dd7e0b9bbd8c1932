//! How often a job was tried, and when a run is counted: the least number in flight tells.

use super::draft::{Draft, Facts};
use super::roles::{Meaning, Role, counts_down};
use super::sample::Rows;
use crate::model::Cell;
use crate::output::Grade;

/// Drafts the attempts. `can_fail` is true if there is an action for a job without attempts left.
pub(super) fn draft(facts: &Facts<'_>, draft: &mut Draft, can_fail: bool) {
    let answers = facts.answers;
    let named = facts.subject.of_role(Role::Attempts).next().map(|column| column.name.clone());
    let answered = answers.get("attempts.column").map(str::to_owned);
    let Some(column) = answered.or(named).filter(|column| column != "none") else { return };
    let down = counts_down(&column) || answers.get("attempts.direction") == Some("down");
    let (waiting, in_flight) = (facts.rows(Meaning::Waiting), facts.rows(Meaning::InFlight));
    draft.key(answers, &["attempts", "column"], column.as_str(), Grade::Likely, "by name and type");
    if down {
        draft.key(answers, &["attempts", "direction"], "down", Grade::Likely, "by name: what is left");
    }
    let most = facts.subject.of_role(Role::MaxAttempts).next();
    match most {
        Some(most) => draft.key(answers, &["attempts", "max"], most.name.as_str(), Grade::Likely, "by name and type"),
        None if answers.get("attempts.max").is_some() => draft.key(answers, &["attempts", "max"], 0, Grade::Asked, ""),
        None if down => match extreme(&waiting.and(&in_flight), &column, down) {
            Some(most) => {
                draft.key(answers, &["attempts", "max"], most, Grade::Likely, "the most that any row has left");
            }
            None => draft.ask("attempts.max", "with how many attempts does a job begin?", Vec::new(), "5", false),
        },
        None => draft.notes.push(
            "no column has the most attempts that a job may have: without attempts.max a job is requeued for ever"
                .to_owned(),
        ),
    }
    let least = |rows: &Rows| extreme(rows, &column, down);
    match (least(&waiting), least(&in_flight)) {
        (Some(waits), Some(flies)) if (flies > waits) != down && flies != waits => {
            let what = if down { "most that is left" } else { "least" };
            let reason = format!("the {what} is {flies} in flight and {waits} while a job waits");
            draft.key(answers, &["attempts", "counted"], "at claim", Grade::Shown, reason);
        }
        (Some(waits), Some(_)) => {
            let reason =
                format!("a job that was never tried has {waits} while it waits, and one in flight no more than that");
            draft.key(answers, &["attempts", "counted"], "on error", Grade::Likely, reason);
        }
        _ if answers.get("attempts.counted").is_some() => {
            draft.key(answers, &["attempts", "counted"], "", Grade::Asked, "");
        }
        _ => {
            let question =
                format!("when does `{column}` count a run: at claim, on error, at end, at next claim or at reclaim?");
            draft.ask("attempts.counted", question, Vec::new(), "at claim", false);
        }
    }
    if !can_fail {
        draft.key(
            answers,
            &["attempts", "exhausted"],
            "leave",
            Grade::Likely,
            "no state or column for a job that failed was found",
        );
    }
}

/// The number of a job that has used the fewest attempts.
fn extreme(rows: &Rows, column: &str, down: bool) -> Option<i64> {
    let numbers = rows.values(column).filter_map(Cell::as_integer);
    if down { numbers.max() } else { numbers.min() }
}
