//! Tables that look like a queue by the names of their columns, for a database in which none was recognised.

use super::queue::LEDGER;
use std::collections::{BTreeMap, BTreeSet};

/// The most tables that are named.
const SHOWN: usize = 5;

/// Words in the names of a queue's columns, by what such a column keeps. A table needs a column of the second or the
/// third kind: a status and an owner are in many.
pub const QUEUE_WORDS: [&[&str]; 4] = [
    &["state", "status"],
    &["locked", "started", "heartbeat", "claimed", "leased", "lease", "pinged", "reserved", "picked"],
    &["attempts", "attempt", "retries", "retry", "tries"],
    &["owner", "worker"],
];

/// Tables by schema (empty on SQLite) and name, with the names of their columns.
pub type TableColumns<'c> = BTreeMap<(&'c str, &'c str), BTreeSet<&'c str>>;

/// Groups rows of schema, table and column by table.
pub fn tables_of(columns: &[Vec<String>]) -> TableColumns<'_> {
    let mut tables = TableColumns::new();
    for row in columns {
        if let [schema, table, column] = row.as_slice() {
            tables.entry((schema, table)).or_default().insert(column);
        }
    }
    tables
}

/// The tables that look most like a queue, each with the columns that say so.
pub fn candidates(columns: &[Vec<String>]) -> Vec<String> {
    let mut tables: BTreeMap<String, [Option<&str>; 4]> = BTreeMap::new();
    for row in columns {
        let [schema, table, column] = row.as_slice() else { continue };
        let name = if schema.is_empty() { table.clone() } else { format!("{schema}.{table}") };
        let words = words(column);
        for (known, seen) in QUEUE_WORDS.iter().zip(tables.entry(name).or_default()) {
            if table != LEDGER && words.iter().any(|word| known.contains(&word.as_str())) {
                seen.get_or_insert(column);
            }
        }
    }
    let score = |seen: &[Option<&str>; 4]| match seen {
        [_, None, None, _] => 0,
        _ => seen.iter().flatten().count(),
    };
    // Where one has three of the four, two are no resemblance.
    let least = tables.values().map(score).max().unwrap_or_default().clamp(2, 3);
    tables.retain(|_, seen| score(seen) >= least);
    let mut tables: Vec<_> = tables.into_iter().collect();
    tables.sort_by_key(|(_, seen)| std::cmp::Reverse(score(seen)));
    let named = |(table, seen): &(String, [Option<&str>; 4])| {
        format!("{table} ({})", seen.iter().flatten().copied().collect::<Vec<_>>().join(", "))
    };
    tables.iter().take(SHOWN).map(named).collect()
}

/// The words of a name, in lower case: `lockedAt` and `locked_at` have two.
pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}
