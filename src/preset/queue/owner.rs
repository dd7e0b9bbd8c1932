use super::{Column, Expr, TimeColumn};
use crate::model::HostSpelling;
use crate::preset::template::Template;

/// See [`QueueSpec::owner`](super::QueueSpec::owner).
#[derive(Debug, Clone, Default)]
pub struct OwnerSpec {
    /// Who holds the claim; `None` where the table does not say.
    pub id: Option<Expr>,
    /// The name people know the owner by.
    pub name: Option<Expr>,
    /// The owner's host.
    pub host: Option<Expr>,
    /// How it spells that host.
    pub host_spelling: HostSpelling,
    /// The owner's own row.
    pub row: Option<OwnerRowSpec>,
}

/// The owner's row in a table of its own. Its alias is always `o`.
#[derive(Debug, Clone)]
pub struct OwnerRowSpec {
    /// The table, by its logical name.
    pub table: String,
    /// The condition of the LEFT JOIN.
    pub on: JoinOn,
    /// A column of it that is never NULL.
    pub key: Column,
    /// True where a unique index says that no owner has two rows.
    pub is_unique: bool,
    /// False for a view whose rows the database cannot lock.
    pub can_lock: bool,
    /// Its heartbeat.
    pub heartbeat: Option<TimeColumn>,
    /// When the owner started.
    pub started: Option<TimeColumn>,
    /// What it means that the claim names an owner which has no row.
    pub missing: Absence,
    /// What it means that the claim names no owner.
    pub unset: Absence,
}

/// The condition of the owner's join.
#[derive(Debug, Clone)]
pub enum JoinOn {
    /// Columns of the owner's row and what they equal.
    Match(Vec<(Column, Expr)>),
    /// SQL.
    Sql(Template),
}

/// What an absent owner means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Absence {
    /// The claim is dead.
    Dead,
    /// The next liveness source is asked.
    Next,
    /// Nobody can tell.
    #[default]
    Unknown,
}
