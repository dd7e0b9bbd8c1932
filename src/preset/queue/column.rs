use crate::preset::encoding::Encodings;
use crate::preset::template::Template;
use std::fmt;

/// A table in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its schema; `main` on SQLite.
    pub schema: String,
    /// Its name, exactly as the catalog has it.
    pub name: String,
}

/// A column of the claim's FROM clause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// The alias of its table.
    pub alias: String,
    /// Its name, exactly as the catalog has it.
    pub name: String,
    /// Its type as the catalog has it; empty where it belongs to a sub-select.
    pub type_name: String,
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A time column and how it is spelled.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeColumn {
    /// The column.
    pub column: Column,
    /// Its encodings: any is read, the first is written.
    pub encodings: Encodings,
    /// Stored values that stand for "no value".
    pub sentinels: Vec<String>,
}

/// A value that is read: a column, or any expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A column, which an index may serve.
    Column(Column),
    /// SQL over the claim's aliases.
    Sql(Template),
}
