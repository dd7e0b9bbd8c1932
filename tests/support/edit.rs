//! What another session does to the tables, once as data: each lab carries it out in its own way, and none of them through
//! the encoder that is under test.

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    Null,
    Int(i64),
    Text(&'static str),
    /// The instant so many seconds ago, spelled as the table's time columns are; negative for the future.
    Ago(i64),
}

pub type Cells = Vec<(&'static str, Value)>;

#[derive(Debug, Clone)]
pub enum Edit {
    Insert {
        table: &'static str,
        /// With these values; the rest are NULL or the table's defaults.
        cells: Cells,
    },
    Set {
        table: &'static str,
        key: (&'static str, Value),
        cells: Cells,
    },
    Delete {
        table: &'static str,
        key: (&'static str, Value),
    },
}

pub fn insert(table: &'static str, cells: &[(&'static str, Value)]) -> Edit {
    Edit::Insert { table, cells: cells.to_vec() }
}

pub fn set(table: &'static str, key: (&'static str, Value), cells: &[(&'static str, Value)]) -> Edit {
    Edit::Set { table, key, cells: cells.to_vec() }
}

pub fn delete(table: &'static str, key: (&'static str, Value)) -> Edit {
    Edit::Delete { table, key }
}

/// An edit as a statement; `ago` spells the instant so many seconds ago, as an expression.
pub fn sql(edit: &Edit, ago: impl Fn(i64) -> String) -> String {
    let value = |value: &Value| match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(n) => n.to_string(),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Ago(seconds) => ago(*seconds),
    };
    let pairs = |cells: &Cells| {
        cells.iter().map(|(name, v)| format!("\"{name}\" = {}", value(v))).collect::<Vec<_>>().join(", ")
    };
    match edit {
        Edit::Insert { table, cells } => {
            let names: Vec<String> = cells.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            let values: Vec<String> = cells.iter().map(|(_, v)| value(v)).collect();
            format!("INSERT INTO \"{table}\" ({}) VALUES ({});", names.join(", "), values.join(", "))
        }
        Edit::Set { table, key, cells } => {
            format!("UPDATE \"{table}\" SET {} WHERE \"{}\" = {};", pairs(cells), key.0, value(&key.1))
        }
        Edit::Delete { table, key } => format!("DELETE FROM \"{table}\" WHERE \"{}\" = {};", key.0, value(&key.1)),
    }
}
