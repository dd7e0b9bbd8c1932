use crate::support::edit::{Edit, Value};
use crate::support::tables::{Kind, Table};
use jobdoctor::model::{Cell, Timestamp};
use jobdoctor::preset::{LiveColumn, LiveSchema, LiveTable};
use std::collections::{BTreeMap, BTreeSet};

pub type Row = BTreeMap<&'static str, Cell>;

/// What is committed, and what open transactions have done.
#[derive(Default, Clone)]
pub struct Database {
    tables: BTreeMap<&'static str, (Table, Vec<Row>)>,
    /// When each began, and what it has done.
    open: BTreeMap<u64, (Timestamp, Vec<Edit>)>,
    transactions: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction(u64);

#[allow(clippy::disallowed_methods, reason = "this is a store, and stores have clocks")]
pub fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap()).unwrap()
}

impl Database {
    pub fn create(&mut self, table: Table) {
        assert!(self.tables.insert(table.name, (table, Vec::new())).is_none(), "{} is there already", table.name);
    }

    pub fn rows(&self, table: &str) -> &[Row] {
        &self.tables.get(table).unwrap_or_else(|| panic!("there is no table {table}")).1
    }

    pub fn snapshot(&self) -> BTreeMap<&'static str, Vec<Row>> {
        self.tables.iter().map(|(name, (_, rows))| (*name, rows.clone())).collect()
    }

    pub fn image(&self, table: &str) -> String {
        let key = self.key_of(table);
        let mut rows: Vec<&Row> = self.rows(table).iter().collect();
        rows.sort_by_key(|row| row[key].to_string());
        rows.iter().map(|row| format!("{row:?}")).collect::<Vec<_>>().join("\n")
    }

    /// One row in the words of [`crate::support::labs::Lab::row`].
    pub fn row(&self, table: &Table, id: i64) -> Vec<String> {
        let row = self.rows(table.name).iter().find(|row| row[table.columns[0].0] == Cell::Integer(id)).unwrap();
        let word = |name: &str| match &row[name] {
            Cell::Instant(at) if (at - now().micros()).abs() < 60_000_000 => "now".to_owned(),
            Cell::Instant(_) => "another time".to_owned(),
            cell => cell.to_string(),
        };
        table.columns.iter().map(|(name, _)| format!("{name}={}", word(name))).collect()
    }

    /// The name of the column that is the key of a table: its first.
    pub fn key_of(&self, table: &str) -> &'static str {
        self.tables[table].0.columns[0].0
    }

    pub fn edit(&mut self, edits: &[Edit]) {
        self.edit_at(edits, now());
    }

    fn edit_at(&mut self, edits: &[Edit], now: Timestamp) {
        for edit in edits {
            self.one(edit, now);
        }
    }

    fn one(&mut self, edit: &Edit, now: Timestamp) {
        let cell = |value: &Value| match value {
            Value::Null => Cell::Null,
            Value::Int(n) => Cell::Integer(*n),
            Value::Text(text) => Cell::Text((*text).to_owned()),
            Value::Ago(seconds) => Cell::Instant(now.micros() - seconds * 1_000_000),
        };
        let (Edit::Insert { table, .. } | Edit::Set { table, .. } | Edit::Delete { table, .. }) = edit;
        let (table, rows) = self.tables.get_mut(table).unwrap_or_else(|| panic!("there is no table {table}"));
        match edit {
            Edit::Insert { cells, .. } => {
                let mut row: Row = table.columns.iter().map(|(name, _)| (*name, Cell::Null)).collect();
                for (name, value) in cells {
                    assert!(row.insert(name, cell(value)).is_some(), "{} has no column {name}", table.name);
                }
                let key = table.columns[0].0;
                assert!(!rows.iter().any(|other| other[key] == row[key]), "the key {} is taken", row[key]);
                rows.push(row);
            }
            Edit::Set { key, cells, .. } => {
                let wanted = cell(&key.1);
                for row in rows.iter_mut().filter(|row| row[key.0] == wanted) {
                    for (name, value) in cells {
                        assert!(row.insert(name, cell(value)).is_some(), "{} has no column {name}", table.name);
                    }
                }
            }
            Edit::Delete { key, .. } => {
                let wanted = cell(&key.1);
                rows.retain(|row| row[key.0] != wanted);
            }
        }
    }

    /// Puts changed values into a row, found by its key.
    pub fn put(&mut self, table: &str, key: &Cell, cells: Vec<(&str, Cell)>) {
        let (table, rows) = self.tables.get_mut(table).unwrap();
        let named = table.columns[0].0;
        let row = rows.iter_mut().find(|row| row[named] == *key).unwrap();
        for (column, cell) in cells {
            let at = table.columns.iter().find(|(name, _)| *name == column).unwrap();
            row.insert(at.0, cell);
        }
    }

    /// Begins a transaction that does it and stays open: its rows are locked, and nobody sees what it did.
    pub fn begin(&mut self, edits: &[Edit]) -> Transaction {
        self.transactions += 1;
        self.open.insert(self.transactions, (now(), edits.to_vec()));
        Transaction(self.transactions)
    }

    pub fn commit(&mut self, transaction: Transaction) {
        let (began, edits) = self.open.remove(&transaction.0).unwrap();
        self.edit_at(&edits, began);
    }

    /// The database as a transaction sees it, with what it has done itself.
    pub fn as_seen_by(&self, transaction: Transaction) -> Database {
        let mut seen = self.clone();
        seen.commit(transaction);
        seen
    }

    pub fn rollback(&mut self, transaction: Transaction) {
        self.open.remove(&transaction.0);
    }

    pub fn is_locked(&self, table: &str, row: &Row) -> bool {
        self.open.values().flat_map(|(_, edits)| edits).any(|edit| match edit {
            Edit::Set { table: t, key, .. } | Edit::Delete { table: t, key } if *t == table => match key.1 {
                Value::Int(n) => row[key.0] == Cell::Integer(n),
                Value::Text(text) => row[key.0] == Cell::Text(text.to_owned()),
                Value::Null | Value::Ago(_) => panic!("rows are edited by their keys"),
            },
            _ => false,
        })
    }

    /// Whether an open transaction has written anything to that table.
    pub fn is_written(&self, table: &str) -> bool {
        self.open.values().flat_map(|(_, edits)| edits).any(|edit| {
            let (Edit::Insert { table: t, .. } | Edit::Set { table: t, .. } | Edit::Delete { table: t, .. }) = edit;
            *t == table
        })
    }

    /// What the catalog would say about these tables.
    pub fn live_schema(&self, names: &[String]) -> LiveSchema {
        let wanted = self.tables.values().map(|(table, _)| table).filter(|table| names.iter().any(|n| n == table.name));
        let tables = wanted.map(|table| LiveTable {
            schema: "public".to_owned(),
            name: table.name.to_owned(),
            visible: true,
            columns: table.columns.iter().map(|(name, kind)| live_column(name, *kind)).collect(),
            key_columns: BTreeSet::from([table.columns[0].0.to_owned()]),
            unique: vec![vec![table.columns[0].0.to_owned()]],
            may_insert: true,
            may_delete: true,
            ..LiveTable::default()
        });
        LiveSchema {
            engine: jobdoctor::model::Engine::Postgres,
            tables: tables.collect(),
            role: None,
            enums: BTreeMap::new(),
        }
    }
}

fn live_column(name: &str, kind: Kind) -> LiveColumn {
    let type_name = match kind {
        Kind::Id | Kind::Int => "bigint",
        Kind::Name | Kind::Text => "text",
        Kind::Time => "timestamp with time zone",
    };
    LiveColumn {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        readable: true,
        writable: true,
        ..LiveColumn::default()
    }
}
