//! Orders: the steps of workers and doctors, each in a transaction that may stay open, in every order in which they can happen.
//! What must come of an order is computed beforehand by a small model of rows and locks that knows nothing of the program: who
//! has to wait, which job is moved, which is changed, gone, locked or not tried, and what the tables hold in the end.
//!
//! The idea is that of the isolation tests of Postgres. A worker that has to wait goes on as soon as it can, and its next steps
//! come after that; a doctor never waits for a row.

mod fixture;
mod mutants;
mod nightly;
mod orders;
mod play;
mod player;
mod specs;
mod step;
mod world;

use crate::support::labs::{Journal, PostgresLab, SqlLab, SqliteLab};
use play::violations;
use specs::all;

/// So many orders of one specification in every run, evenly taken from all there are: enough for each mutant to be caught.
const ORDERS: usize = 36;

/// Plays so many orders of each specification.
fn holds(lab: &dyn SqlLab, at_most: usize) {
    let mut played = 0;
    for spec in all() {
        let orders = orders::some(&spec.lengths(), at_most);
        played += orders.len();
        let wrong = violations(lab, &spec, &orders, |spec| spec);
        assert!(wrong.is_empty(), "{}: {} of {} orders\n{}", spec.name, wrong.len(), orders.len(), wrong[0]);
    }
    assert!(played > all().len() * 4, "{played} orders");
}

#[test]
fn on_postgres() {
    holds(&PostgresLab::new(), ORDERS);
}

#[test]
fn on_sqlite() {
    holds(&SqliteLab::new(Journal::Wal), ORDERS);
}
