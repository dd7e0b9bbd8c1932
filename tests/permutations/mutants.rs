//! Deliberately mutants of the doctor, which the model must see through: a precondition that lacks what tells a claim apart, and a
//! verdict that forgets the owner's row.

use super::play::{violations, violations_of_the_blind};
use super::specs::named;
use super::{ORDERS, orders};
use crate::support::figures;
use crate::support::labs::{Journal, PostgresLab, SqlLab, SqliteLab};
use jobdoctor::preset::{Expr, QueueSpec};

/// The precondition with these columns alone.
fn only(columns: &'static [&'static str]) -> impl Fn(QueueSpec) -> QueueSpec {
    move |mut spec| {
        spec.claim
            .precondition
            .retain(|expr| matches!(expr, Expr::Column(column) if columns.contains(&column.name.as_str())));
        assert_eq!(spec.claim.precondition.len(), columns.len(), "{columns:?}");
        spec
    }
}

/// What each mutant is caught by.
const TWINS: [(&str, &[&str], &str); 5] = [
    ("the state alone", &["status"], "a heartbeat, and a doctor"),
    ("state and owner", &["status", "owner_id"], "heartbeats of two jobs of one batch"),
    ("no time", &["status", "owner_id", "lease_token"], "a heartbeat in a transaction, and two doctors"),
    ("nothing of the claim", &["status", "max_attempts"], "given back, claimed by another worker, and a doctor"),
    ("no attempts, no token", &["status"], "a claim of what one doctor gives back, and another doctor"),
];

fn each_is_caught(lab: &dyn SqlLab) {
    for (mutant, precondition, name) in TWINS {
        let spec = named(name);
        // No more than a run plays: by one of them it would be noticed.
        let orders = orders::some(&spec.lengths(), ORDERS);
        let caught = violations(lab, &spec, &orders, only(precondition)).len();
        assert!(caught > 0, "{mutant}: not caught by any order of `{name}`");
    }
    figures::add(TWINS.len() as u64, "mutants caught");
}

#[test]
fn on_postgres() {
    each_is_caught(&PostgresLab::new());
}

#[test]
fn on_sqlite() {
    each_is_caught(&SqliteLab::new(Journal::Wal));
}

/// Without the lock on the owner's row, a heartbeat that is not committed yet counts for nothing. On SQLite nobody else writes
/// while we do.
#[test]
fn who_forgets_the_owners_row_is_caught() {
    let spec = named("the owner's heartbeat, and a doctor");
    let caught = violations_of_the_blind(&PostgresLab::new(), &spec, &orders::some(&spec.lengths(), usize::MAX));
    assert!(!caught.is_empty());
    figures::add(1, "mutants caught");
}
