//! Every row of every table of a database, and what became of it.

use super::times::told;
use postgres::Client;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The rows of a database at one instant, by table and key.
pub struct Rows {
    rows: BTreeMap<(String, String), Map<String, Value>>,
    /// The database's clock then.
    pub now: jiff::Timestamp,
}

const TABLES: &str = "
SELECT c.oid::regclass::text, c.relname::text, coalesce((
  SELECT array_agg(a.attname::text ORDER BY k.n) FROM pg_index AS i
  CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(attnum, n)
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum
  WHERE i.indrelid = c.oid AND i.indisprimary), '{}')
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
ORDER BY 2";

/// Reads them.
pub fn rows(client: &mut Client) -> Rows {
    let mut rows = BTreeMap::new();
    for table in client.query(TABLES, &[]).unwrap() {
        let (physical, name, key): (String, String, Vec<String>) = (table.get(0), table.get(1), table.get(2));
        let all = client.query(&format!("SELECT to_jsonb(t)::text FROM {physical} AS t ORDER BY 1"), &[]).unwrap();
        for (n, row) in all.iter().enumerate() {
            let row: Map<String, Value> = serde_json::from_str(row.get::<_, &str>(0)).unwrap();
            let parts: Vec<String> = key.iter().map(|column| plain(row.get(column).unwrap())).collect();
            // Without a key, the n-th of equal rows is a row of its own.
            let id = if parts.is_empty() { format!("{n:04}") } else { parts.join("/") };
            rows.insert((name.clone(), id), row);
        }
    }
    let now: String = client.query_one("SELECT to_json(now())#>>'{}'", &[]).unwrap().get(0);
    Rows { rows, now: now.parse().unwrap() }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Rows {
    /// What is different in `later`, one line a column. `written` is the text of the scene.
    pub fn changes(&self, later: &Rows, written: &str) -> Vec<String> {
        let show = |value: &Value| told(value, later.now, written).to_string();
        let mut lines = Vec::new();
        let keys: std::collections::BTreeSet<_> = self.rows.keys().chain(later.rows.keys()).collect();
        for key in keys {
            let (table, id) = key;
            let id = told(&Value::String(id.clone()), later.now, written);
            let id = plain(&id);
            match (self.rows.get(key), later.rows.get(key)) {
                (Some(row), None) => lines.push(format!("- {table} {}", show(&Value::Object(row.clone())))),
                (None, Some(row)) => lines.push(format!("+ {table} {}", show(&Value::Object(row.clone())))),
                (Some(before), Some(after)) => {
                    for (column, value) in after {
                        let old = before.get(column).unwrap();
                        if old != value {
                            lines.push(format!("{table} {id} {column}: {} -> {}", show(old), show(value)));
                        }
                    }
                }
                (None, None) => {}
            }
        }
        lines.sort_by_key(|line| (line.starts_with('+'), line.starts_with('-')));
        lines
    }
}
