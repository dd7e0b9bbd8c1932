//! Who holds the locks that a run met, or that are held for long, in words.

use super::format::{count, first_few};
use crate::model::{LockHolder, age};

/// Jobs named in one line.
const NAMED: usize = 10;

/// `pid 8812 (puma, idle in transaction for 23m)`.
fn holder(of: &LockHolder) -> String {
    let span = of.since().map_or_else(String::new, |since| format!(" for {}", age(since)));
    let user = of.user.as_deref().unwrap_or("an unknown role");
    match (&of.prepared, of.pid) {
        (Some(name), _) => format!("prepared transaction '{name}' (of {user}, prepared{span})"),
        (None, Some(pid)) => {
            let state = of.state.as_deref().unwrap_or("in a state that this role may not see");
            format!("pid {pid} ({}, {state}{span})", of.application.as_deref().unwrap_or(user))
        }
        (None, None) => "a transaction that has no session".to_owned(),
    }
}

pub fn holds_locks(of: &LockHolder) -> String {
    format!("{} holds locks on the queue's tables", holder(of))
}

const RIGHT: &str = "pg_read_all_stats shows what sessions of other roles do";

/// Which jobs are locked by whom, a sentence each.
pub fn locked_by(holders: &[LockHolder]) -> Vec<String> {
    let line = |of: &LockHolder| {
        let who = holder(of);
        let right = if of.hidden { format!("; {RIGHT}") } else { String::new() };
        match of.certain {
            true => format!("locked: {} by {who}{right}", first_few(&of.jobs, NAMED, of.jobs.len() as u64)),
            false => format!("locked, perhaps by {who}, which holds locks on the queue's tables{right}"),
        }
    };
    holders.iter().map(line).collect()
}

/// The statements that the sessions execute, or executed last.
pub fn statements(holders: &[LockHolder]) -> impl Iterator<Item = String> {
    let seen = holders.iter().filter(|of| !of.hidden);
    seen.filter_map(|of| Some(format!("pid {}: {}", of.pid?, of.query.as_deref()?)))
}

/// What a role without rights does not see.
pub fn out_of_sight(hidden: usize) -> String {
    let sessions = count(hidden as u64, "session holds", "sessions hold");
    format!("{sessions} locks on the queue's tables, and this role may not see since when: {RIGHT}")
}
