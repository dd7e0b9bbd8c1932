//! The tables of the stories: every key type, and time columns of every unit, each written in its own way.

use crate::support::dice::Dice;
use crate::support::doctor::{built_in, mapping};
use jobdoctor::model::Engine;
use jobdoctor::preset::Preset;

/// So many tables there are. Number 0 is the reference schema as `init` creates it.
pub const SHAPES: usize = 29;

/// The time columns, in the order of [`Shape::columns`].
pub const TIMES: [&str; 5] = ["claimed_at", "heartbeat_at", "lease_expires_at", "seen_at", "booted_at"];
pub const CLAIM: usize = 0;
pub const BEAT: usize = 1;
pub const LEASE: usize = 2;
pub const SEEN: usize = 3;
pub const BOOTED: usize = 4;

/// What a key is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// Beyond what a float counts.
    Integer,
    /// With a quote, a slash and a brace.
    Text,
    /// A uuid; text on SQLite.
    Uuid,
    /// 16 bytes.
    Blob,
    /// Two texts, whose parts hold the slash that joins them.
    Composite,
    /// A float.
    Real,
    /// A column without a type on SQLite, numeric on Postgres.
    Loose,
}

const KEYS: [KeyKind; 7] =
    [KeyKind::Integer, KeyKind::Text, KeyKind::Uuid, KeyKind::Blob, KeyKind::Composite, KeyKind::Real, KeyKind::Loose];

/// What an application makes of an instant before it stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// Nothing; what the column cannot hold is lost.
    None,
    /// The second in which it lies, whatever the column could hold.
    Second,
    /// The nearest second, which may be the next.
    Nearest,
}

/// How a time column is spelled, declared and written.
type Way = (&'static str, &'static str, Cut);

const SQLITE: [Way; 9] = [
    ("epoch s", "integer", Cut::None),
    ("epoch s", "integer", Cut::Nearest),
    ("epoch ms", "integer", Cut::None),
    ("epoch us", "integer", Cut::Second),
    ("epoch us", "integer", Cut::None),
    ("epoch ns", "integer", Cut::None),
    ("epoch s float", "real", Cut::None),
    ("text YYYY-MM-DD HH:MM:SS utc", "text", Cut::None),
    ("text YYYY-MM-DDTHH:MM:SS.ffffffZ", "text", Cut::None),
];
const POSTGRES: [Way; 9] = [
    ("native", "timestamptz", Cut::None),
    // Postgres rounds: half a second and more becomes the next.
    ("native", "timestamptz(0)", Cut::None),
    ("native", "timestamptz", Cut::Second),
    ("epoch s", "bigint", Cut::Nearest),
    ("epoch ms", "bigint", Cut::None),
    ("epoch us", "bigint", Cut::None),
    ("epoch ns", "bigint", Cut::None),
    ("epoch s float", "double precision", Cut::None),
    ("text YYYY-MM-DD HH:MM:SS.ffffff utc", "text", Cut::None),
];

/// One time column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    way: Way,
    /// Whether it is written by the worker's own clock.
    pub by_worker: bool,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Shape {
    pub number: usize,
    pub key: KeyKind,
    /// Whether the table keeps two rows from having one key.
    pub is_unique: bool,
    pub columns: [Column; 5],
    /// Which sources of liveness there are.
    pub has_lease: bool,
    pub has_beat: bool,
    pub has_owners: bool,
    /// Whether the owners' table says when an owner started.
    pub has_started: bool,
    /// What a missing owner's row means.
    missing: &'static str,
}

impl Shape {
    /// The one of that number. All but the encodings is the same on both engines.
    pub fn of(number: usize, engine: Engine) -> Shape {
        let ways = if engine == Engine::Sqlite { SQLITE } else { POSTGRES };
        let mut dice = Dice::of(number as u64);
        let all_by_worker = dice.percent(35);
        let mut column = || Column { way: ways[dice.below(ways.len())], by_worker: dice.percent(40) || all_by_worker };
        let columns = [column(), column(), column(), column(), column()];
        let (has_lease, has_beat) = (dice.percent(45), dice.percent(45));
        let has_owners = !(has_lease || has_beat) || dice.percent(50);
        let shape = Shape {
            number,
            key: KEYS[(number + KEYS.len() - 1) % KEYS.len()],
            is_unique: !number.is_multiple_of(3),
            columns,
            has_lease,
            has_beat,
            has_owners,
            has_started: dice.percent(75),
            missing: ["dead", "next"][dice.below(2)],
        };
        if number > 0 {
            return shape;
        }
        let columns = [Column { way: ways[0], by_worker: false }; 5];
        let key = KeyKind::Integer;
        Shape { columns, key, is_unique: true, has_lease: true, has_beat: true, has_owners: false, ..shape }
    }

    pub fn table(&self) -> String {
        if self.number == 0 { "jobs".to_owned() } else { format!("jobs_{}", self.number) }
    }

    pub fn owners(&self) -> String {
        format!("owners_{}", self.number)
    }

    /// How the program knows it.
    pub fn preset(&self) -> Preset {
        if self.number == 0 {
            return built_in("lease");
        }
        let mut liveness = Vec::new();
        if self.has_lease {
            liveness.push("{ by = \"lease\", column = \"lease_expires_at\" }");
        }
        if self.has_beat {
            liveness.push("{ by = \"heartbeat\", column = \"heartbeat_at\", silent_after = \"5m\" }");
        }
        if self.has_owners {
            liveness.push("{ by = \"owner\", silent_after = \"5m\" }");
        }
        let times = TIMES.iter().zip(self.columns).enumerate();
        let times = times.filter(|(n, _)| self.has_owners || *n < SEEN);
        let times: String = times.map(|(_, (name, column))| format!(", {name} = \"{}\"", column.way.0)).collect();
        let key = if self.key == KeyKind::Composite { "[\"id\", \"part\"]" } else { "\"id\"" };
        let owners = if self.has_owners {
            let started = if self.has_started { "started = \"booted_at\"\n" } else { "" };
            let (table, missing) = (self.owners(), self.missing);
            format!(
                "table = \"{table}\"\nmatch = {{ name = \"owner_id\" }}\nheartbeat = \"seen_at\"\n{started}\
                 missing = \"{missing}\"\nunset = \"next\"\n"
            )
        } else {
            String::new()
        };
        mapping(&format!(
            r#"
format = 1
name = "story"
time = {{ default = "{default}"{times} }}
states = {{ waiting = ["QUEUED"], in_flight = ["RUNNING"], done = ["SUCCEEDED"], failed = ["FAILED"] }}
attempts = {{ column = "attempts", max = 5, counted = "at reclaim" }}
[claim]
table = "{table}"
key = {key}
state = "status"
claimed_at = "claimed_at"
liveness = [{liveness}]
[owner]
id = "owner_id"
{owners}[action]
requeue = {{ to = "QUEUED", clear = ["owner_id", "claimed_at", "heartbeat_at", "lease_expires_at"] }}
fail = {{ to = "FAILED" }}
"#,
            default = self.columns[CLAIM].way.0,
            table = self.table(),
            liveness = liveness.join(", "),
        ))
    }

    /// Both tables. `n` tells rows apart whatever their keys are.
    pub fn ddl(&self, engine: Engine) -> String {
        let is_sqlite = engine == Engine::Sqlite;
        let key = match (self.key, is_sqlite) {
            (KeyKind::Integer, true) => "integer",
            (KeyKind::Integer, false) => "bigint",
            (KeyKind::Text | KeyKind::Composite, _) | (KeyKind::Uuid, true) => "text",
            (KeyKind::Uuid, false) => "uuid",
            (KeyKind::Blob, true) => "blob",
            (KeyKind::Blob, false) => "bytea",
            (KeyKind::Real, true) => "real",
            (KeyKind::Real, false) => "double precision",
            (KeyKind::Loose, true) => "",
            (KeyKind::Loose, false) => "numeric(40, 2)",
        };
        let unique = match (self.is_unique, self.key) {
            (false, _) => "",
            (true, KeyKind::Composite) => ", PRIMARY KEY (id, part)",
            (true, _) => ", PRIMARY KEY (id)",
        };
        let time = |n: usize| format!("{} {}", TIMES[n], self.columns[n].way.1);
        format!(
            "CREATE TABLE {table} (n integer, id {key}, part text, status text, owner_id text, {}, {}, {}, \
             attempts integer, max_attempts integer{unique}); \
             CREATE TABLE {owners} (name text PRIMARY KEY, {}, {});",
            time(CLAIM),
            time(BEAT),
            time(LEASE),
            time(SEEN),
            time(BOOTED),
            table = self.table(),
            owners = self.owners(),
        )
    }

    /// The key of a job as literals for `id` and `part`.
    pub fn key_sql(&self, n: usize, engine: Engine) -> (String, &'static str) {
        let is_sqlite = engine == Engine::Sqlite;
        let hex = format!("{:032x}", 0xff80_0000_7b22_5c2f_0000_u128 + n as u128);
        let id = match self.key {
            KeyKind::Integer if n.is_multiple_of(2) => format!("-{n}"),
            KeyKind::Integer => (9_007_199_254_740_993 + n).to_string(),
            KeyKind::Text => format!("'{{a/b''{n} '"),
            KeyKind::Uuid => {
                format!("'{}-{}-4{}-8{}-{}'", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
            }
            KeyKind::Blob if is_sqlite => format!("x'{hex}'"),
            KeyKind::Blob => format!("'\\x{hex}'"),
            // Joined, the first two read alike.
            KeyKind::Composite => {
                return (
                    ["'a/b'", "'a'", "''", "'/'", "'x'"][n % 5].to_owned(),
                    ["'c'", "'b/c'", "'/'", "''", "'y'"][n % 5],
                );
            }
            KeyKind::Real => format!("{}.1", 1_000_000 * n),
            KeyKind::Loose if is_sqlite && n.is_multiple_of(2) => format!("'{n}'"),
            KeyKind::Loose => n.to_string(),
        };
        (id, "NULL")
    }

    /// What stands in a time column for an instant in microseconds, written by a clock that is so far off.
    pub fn time_sql(&self, column: usize, at: i64, skew: i64) -> String {
        const SECOND: i64 = 1_000_000;
        let Column { way: (spelling, _, cut), by_worker } = self.columns[column];
        let at = if by_worker { at + skew } else { at };
        let at = match cut {
            Cut::None => at,
            Cut::Second => at.div_euclid(SECOND) * SECOND,
            Cut::Nearest => (at + SECOND / 2).div_euclid(SECOND) * SECOND,
        };
        let text = |format: &str| {
            format!("'{}'", jiff::Timestamp::from_microsecond(at).expect("2026 is in range").strftime(format))
        };
        match spelling {
            "native" | "text YYYY-MM-DDTHH:MM:SS.ffffffZ" => text("%Y-%m-%dT%H:%M:%S.%6fZ"),
            "text YYYY-MM-DD HH:MM:SS.ffffff utc" => text("%Y-%m-%d %H:%M:%S.%6f"),
            "text YYYY-MM-DD HH:MM:SS utc" => text("%Y-%m-%d %H:%M:%S"),
            "epoch s" => at.div_euclid(SECOND).to_string(),
            "epoch ms" => at.div_euclid(1000).to_string(),
            "epoch us" => at.to_string(),
            "epoch ns" => (at * 1000).to_string(),
            "epoch s float" => format!("{:.6}", at as f64 / 1e6),
            other => panic!("nobody writes {other}"),
        }
    }
}
