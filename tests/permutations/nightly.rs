//! More orders of each specification: of most of them all there are.

use super::holds;
use crate::support::labs::{Journal, PostgresLab, SqliteLab};

const ORDERS: usize = 200;

#[test]
fn many_on_postgres() {
    holds(&PostgresLab::new(), ORDERS);
}

#[test]
fn many_on_sqlite() {
    holds(&SqliteLab::new(Journal::Wal), ORDERS);
}
