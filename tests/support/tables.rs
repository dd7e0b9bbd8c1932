//! Tables as data, made alike in every lab.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Id,
    Name,
    Int,
    Text,
    /// An instant: whole epoch seconds on SQLite, timestamptz on Postgres.
    Time,
}

#[derive(Debug, Clone, Copy)]
pub struct Table {
    pub name: &'static str,
    pub columns: &'static [(&'static str, Kind)],
}

use Kind::{Id, Int, Name, Text, Time};

pub const JOBS: Table = Table {
    name: "jobs",
    columns: &[
        ("id", Id),
        ("queue", Text),
        ("kind", Text),
        ("status", Text),
        ("run_at", Time),
        ("owner_id", Text),
        ("lease_token", Text),
        ("claimed_at", Time),
        ("heartbeat_at", Time),
        ("lease_expires_at", Time),
        ("attempts", Int),
        ("max_attempts", Int),
        ("stalls", Int),
        ("max_runtime_seconds", Int),
        ("deadline_at", Time),
        ("cancel_requested_at", Time),
        ("error_code", Text),
        ("error_detail", Text),
        ("finished_at", Time),
    ],
};

/// The same job table as people build it on SQLite: retries instead of runs.
pub const RETRY_JOBS: Table = Table {
    name: "jobs",
    columns: &[
        ("id", Id),
        ("status", Text),
        ("owner_id", Text),
        ("heartbeat_at", Time),
        ("lease_expires_at", Time),
        ("retry_count", Int),
        ("max_retry", Int),
    ],
};

pub const PLAIN_JOBS: Table = Table {
    name: "jobs",
    columns: &[("id", Id), ("status", Text), ("attempts", Int), ("max_attempts", Int), ("last_error", Text)],
};

/// A home-made queue whose heartbeat is the worker's.
pub const ORDERS: Table = Table {
    name: "order_queue",
    columns: &[
        ("id", Id),
        ("status", Text),
        ("worker", Text),
        ("started", Time),
        ("tries", Int),
        ("paused", Int),
        ("topic", Text),
    ],
};

pub const PINGS: Table =
    Table { name: "worker_pings", columns: &[("name", Name), ("seen_at", Time), ("booted_at", Time)] };

pub const ORDERS_MAPPING: &str = r#"
format  = 1
name    = "orders"
time     = { default = { sqlite = "epoch s", postgres = "native" } }
states   = { waiting = ["new"], in_flight = ["working"], done = ["shipped"], failed = ["dead"] }
attempts = { column = "tries", max = 5, counted = "at reclaim" }
[claim]
table      = "order_queue"
key        = "id"
state      = "status"
queue      = "topic"
claimed_at = "started"
liveness   = [{ by = "owner", silent_after = "2m" }, { by = "age", column = "started", silent_after = "30m" }]
[owner]
id        = "worker"
table     = "worker_pings"
match     = { name = "worker" }
heartbeat = "seen_at"
started   = "booted_at"
missing   = "dead"
unset     = "next"
[action]
requeue = { to = "new", clear = ["worker", "started"] }
fail    = { to = "dead" }
[skip.paused]
if     = "j.paused = 1"
reason = "an operator has paused it"
"#;

pub type Declare = fn(Kind) -> &'static str;

pub fn ddl(table: &Table, declare: Declare) -> String {
    let columns: Vec<String> =
        table.columns.iter().map(|(name, kind)| format!("\"{name}\" {}", declare(*kind))).collect();
    format!("CREATE TABLE \"{}\" ({});", table.name, columns.join(", "))
}

/// A query for the row with that id in the words of [`crate::support::labs::Lab::row`]; `is_now` spells the condition that an
/// instant is.
pub fn row_sql(table: &Table, id: i64, is_now: impl Fn(&str) -> String) -> String {
    let word = |name: &str, kind: Kind| match kind {
        Kind::Time => {
            format!("CASE WHEN {} THEN 'now' WHEN \"{name}\" IS NULL THEN 'NULL' ELSE 'another time' END", is_now(name))
        }
        _ => format!("coalesce(CAST(\"{name}\" AS text), 'NULL')"),
    };
    let words: Vec<String> =
        table.columns.iter().map(|(name, kind)| format!("'{name}=' || {}", word(name, *kind))).collect();
    format!("SELECT {} FROM \"{}\" WHERE id = {id}", words.join(", "), table.name)
}
