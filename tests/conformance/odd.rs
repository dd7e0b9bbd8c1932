//! One odd value concerns one claim: every way to spell a time, with every odd value in it, beside every odd number of seconds.
//! The scan never fails, nothing that is stuck or unknown is lost, and an odd time makes its own claim unknown and no other.

use super::scan::listed_under;
use crate::support::doctor::mapping;
use crate::support::labs::{Journal, PostgresLab, SqlLab, SqliteLab};
use jobdoctor::policy::Policy;

#[derive(Debug)]
pub struct Spelling {
    pub encoding: &'static str,
    pub declared: &'static str,
    /// The expression for an instant so many seconds ago, with `$` for their number.
    pub ago: &'static str,
    /// Values that are no instants, or that cannot be right.
    pub odd: &'static [&'static str],
}

const fn spelling(
    encoding: &'static str,
    declared: &'static str,
    ago: &'static str,
    odd: &'static [&'static str],
) -> Spelling {
    Spelling { encoding, declared, ago, odd }
}

/// The ends of 64 bits, what lies beside them, and what is too early to be an instant.
const INTEGERS: &[&str] =
    &["9223372036854775807", "9223372036854775806", "-9223372036854775808", "-9223372036854775807", "-1", "0", "1"];
const ZONED: &[&str] = &[
    "'infinity'",
    "'-infinity'",
    "'294276-12-31 23:59:59.999999+00'",
    "'294276-12-31 23:00+00'",
    "'4713-01-01 00:00+00 BC'",
    "'0001-01-01 00:00+00'",
    "'epoch'",
];
const ZONELESS: &[&str] =
    &["'infinity'", "'-infinity'", "'294276-12-31 23:59:59.999999'", "'4713-01-01 BC'", "'epoch'"];
const TEXTS: &[&str] = &["''", "'infinity'", "'now'", "'2026-02-30T10:00:00Z'", "'9999-12-31T23:59:59Z'", "'-1'"];
const ANYTHING: &[&str] = &[
    "9223372036854775807",
    "-9223372036854775808",
    "-1",
    "0",
    "9e999",
    "-9e999",
    "1e300",
    "''",
    "'soon'",
    "'9223372036854775808'",
    "x'00ff'",
    "CAST(x'ff' AS TEXT)",
];
const NUMBERS: &[&str] = &["'NaN'", "'Infinity'", "'-Infinity'", "1e308", "-1e308", "0", "-1"];
/// Too large for a double, and too small.
const NUMERICS: &[&str] = &["'NaN'", "1e400", "-1e400", "1e-400", "0", "-1"];

pub const POSTGRES: [Spelling; 11] = [
    spelling("native", "timestamptz", "now() - interval '$ s'", ZONED),
    spelling("native utc", "timestamp", "(now() - interval '$ s') AT TIME ZONE 'UTC'", ZONELESS),
    spelling("native Europe/Paris", "timestamp", "(now() - interval '$ s') AT TIME ZONE 'Europe/Paris'", ZONELESS),
    spelling("epoch s", "bigint", "extract(epoch FROM now())::bigint - $", INTEGERS),
    spelling("epoch s", "integer", "extract(epoch FROM now())::bigint - $", &["2147483647", "-2147483648", "0"]),
    spelling("epoch ms", "bigint", "(extract(epoch FROM now())::bigint - $) * 1000", INTEGERS),
    spelling("epoch us", "bigint", "(extract(epoch FROM now())::bigint - $) * 1000000", INTEGERS),
    spelling("epoch ns", "bigint", "(extract(epoch FROM now())::bigint - $) * 1000000000", INTEGERS),
    spelling("epoch s float", "double precision", "extract(epoch FROM now()) - $", NUMBERS),
    spelling("epoch s float", "numeric", "extract(epoch FROM now()) - $", NUMERICS),
    spelling(
        "text YYYY-MM-DDTHH:MM:SSZ",
        "text",
        "to_char((now() - interval '$ s') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
        TEXTS,
    ),
];

pub const SQLITE: [Spelling; 7] = [
    spelling("epoch s", "INTEGER", "unixepoch() - $", ANYTHING),
    spelling("epoch ms", "", "(unixepoch() - $) * 1000", ANYTHING),
    spelling("epoch us", "INTEGER", "(unixepoch() - $) * 1000000", ANYTHING),
    spelling("epoch ns", "INTEGER", "(unixepoch() - $) * 1000000000", ANYTHING),
    spelling("epoch s float", "REAL", "unixepoch() - $ + 0.5", ANYTHING),
    spelling(
        "text YYYY-MM-DDTHH:MM:SSZ",
        "TEXT",
        "strftime('%Y-%m-%dT%H:%M:%SZ', unixepoch() - $, 'unixepoch')",
        ANYTHING,
    ),
    spelling("text YYYY-MM-DDTHH:MM:SSZ", "", "strftime('%Y-%m-%dT%H:%M:%SZ', unixepoch() - $, 'unixepoch')", ANYTHING),
];

/// Types of columns of seconds, each with what is in them beside a minute and nothing.
pub const SECONDS_ON_POSTGRES: [(&str, &[&str]); 5] = [
    ("bigint", &["0", "-1", "9223372036854775807", "-9223372036854775808", "8999999999", "9000000000", "10000000001"]),
    ("smallint", &["0", "-1", "32767", "-32768"]),
    ("integer", &["0", "-1", "2147483647", "-2147483648"]),
    ("double precision", &["0.4", "59.6", "-1e308", "1e308", "'NaN'", "'Infinity'", "'-Infinity'"]),
    ("real", &["0.4", "59.6", "-1e38", "1e38", "'NaN'", "'Infinity'", "'-Infinity'"]),
];
pub const SECONDS_ON_SQLITE: [(&str, &[&str]); 4] =
    [("INTEGER", ANYTHING), ("", ANYTHING), ("REAL", ANYTHING), ("TEXT", ANYTHING)];

/// What decides of a claim in each of these tables, and whether it looks at the seconds.
const SHAPES: [(&str, &str, bool); 3] = [
    ("[{ by = 'lease', column = 'at', plus = 'seconds' }]", "{ max_runtime = 'seconds' }", true),
    (
        "[{ by = 'heartbeat', column = 'at', silent_after = 'seconds' }, { by = 'age', column = 'at', silent_after = 'seconds' }]",
        "{ max_runtime = 'seconds' }",
        true,
    ),
    ("[{ by = 'owner', silent_after = '2m' }]", "{ deadline = 'at' }", false),
];

const FRESH: u32 = 10;
const DEAD: u32 = 3600;

fn must_keep_to_themselves(lab: &dyn SqlLab, spelling: &Spelling, (declared, odd_seconds): (&str, &[&str])) {
    let at = |ago: u32| spelling.ago.replace('$', &ago.to_string());
    let (fresh, dead) = (at(FRESH), at(DEAD));
    let times: Vec<&str> = [&*fresh, &*dead, "NULL"].iter().chain(spelling.odd).copied().collect();
    let seconds: Vec<&str> = ["60", "NULL"].iter().chain(odd_seconds).copied().collect();
    let rows: Vec<(&str, &str)> =
        times.iter().flat_map(|at| seconds.iter().map(move |seconds| (*at, *seconds))).collect();
    lab.clear();
    let values: Vec<String> = rows.iter().enumerate().map(|(n, (at, s))| format!("({n}, 'on', {at}, {s})")).collect();
    lab.run(&format!(
        "CREATE TABLE odd (id integer PRIMARY KEY, status text, at {}, seconds {declared}); INSERT INTO odd VALUES {}",
        spelling.declared,
        values.join(", ")
    ));
    for (liveness, rules, by_seconds) in SHAPES {
        let place = format!("{}: {} in {}, {declared}: {liveness}", lab.name(), spelling.encoding, spelling.declared);
        let preset = mapping(&format!(
            r#"
            time   = {{ default = "{}" }}
            states = {{ waiting = ["off"], in_flight = ["on"] }}
            rules  = {rules}
            claim  = {{ table = "odd", key = "id", state = "status", claimed_at = "at", liveness = {liveness} }}
            owner  = {{ id = "id", table = "odd", match = {{ id = "id" }}, heartbeat = "at" }}
            [action.requeue]
            to = "off"
            "#,
            spelling.encoding
        ));
        let said = listed_under(lab, &preset, &[Policy::default()]).swap_remove(0);
        let verdict = |n: usize| {
            let line = said.iter().find(|line| line.starts_with(&format!("{n} ")));
            line.map_or("healthy", |line| if line.contains(": unknown;") { "unknown" } else { "stuck" })
        };
        // A number in a column of texts is a text.
        let is_number = declared != "TEXT";
        for (n, (time, span)) in rows.iter().enumerate() {
            let wanted = match (*time, *span) {
                (time, _) if spelling.odd.contains(&time) => "unknown",
                (time, "60") if time == dead && (is_number || !by_seconds) => "stuck",
                (time, "60") if time == fresh && is_number && by_seconds => "healthy",
                _ => continue,
            };
            assert_eq!(verdict(n), wanted, "{place}: {time} and {span}");
        }
    }
}

/// Every spelling with one type of seconds, and the widest of each with all.
fn every_pair(lab: &dyn SqlLab, spellings: &[Spelling], seconds: &[(&str, &'static [&'static str])]) {
    for (n, spelling) in spellings.iter().enumerate() {
        let all = n == 0 || spelling.encoding == "epoch ns";
        let of = seconds.iter().enumerate().filter(|(at, _)| all || n % seconds.len() == *at);
        of.for_each(|(_, seconds)| must_keep_to_themselves(lab, spelling, *seconds));
    }
}

#[test]
fn values_on_sqlite_concern_their_own_claim() {
    every_pair(&SqliteLab::new(Journal::Wal), &SQLITE, &SECONDS_ON_SQLITE);
}

#[test]
fn values_on_postgres_concern_their_own_claim() {
    every_pair(&PostgresLab::new(), &POSTGRES, &SECONDS_ON_POSTGRES);
}
