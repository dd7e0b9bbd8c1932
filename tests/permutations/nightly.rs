//! Every order there is of every specification.

use super::holds;
use crate::support::labs::{Journal, PostgresLab, SqliteLab};

#[test]
fn all_on_postgres() {
    holds(&PostgresLab::new(), usize::MAX);
}

#[test]
fn all_on_sqlite() {
    holds(&SqliteLab::new(Journal::Wal), usize::MAX);
}
