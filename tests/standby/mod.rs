//! Looking at a standby: it shows what it has replayed, which is the past, and it cannot be written.

mod hosts;
mod looking;
mod writing;

use crate::support::cli::{Doctor, Ran};
use crate::support::shop::states;
use crate::support::standby::{Pair, PairDatabase, pair};
use serde_json::Value;
use std::sync::MutexGuard;

const BANNER: &str = "warning: ";

/// A queue on both servers: 1 and 2 are dead, 3 and 4 alive by their leases.
const SOME: &str = "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at, attempts)
    SELECT n, 'mail', 'SendInvoice', 'RUNNING', 'web1:' || n, now() - interval '2h',
        now() + CASE WHEN n < 3 THEN interval '-1h' ELSE interval '1h' END, 0
    FROM generate_series(1, 4) AS n";

fn queue(rows: &str) -> (MutexGuard<'static, Pair>, Doctor, PairDatabase) {
    let pair = pair();
    let (doctor, database) = (Doctor::new(), pair.fresh());
    doctor.run(&["init", "--db", &database.url(&[pair.primary()])]).exits(0);
    pair.client(&database).batch_execute(rows).unwrap();
    pair.catch_up();
    (pair, doctor, database)
}

/// The warning about the standby, and the lag in seconds that it names.
#[track_caller]
fn banner(ran: &Ran) -> f64 {
    let first = ran.stderr.lines().next().unwrap_or_default();
    assert!(first.starts_with(BANNER) && first.contains("standby"), "{ran:#?}");
    let durations = first.split([' ', ',', ';', '(', ')']).filter_map(|word| word.strip_suffix('s'));
    let lag = durations.filter_map(|number| number.parse().ok()).next();
    lag.unwrap_or_else(|| panic!("no lag such as `3s` in {first}"))
}

/// The lag in a document; null on a primary.
#[track_caller]
fn lag(document: &Value) -> Option<f64> {
    let standby = document["target"].get("standby").unwrap_or_else(|| panic!("always there: {:#}", document["target"]));
    (!standby.is_null()).then(|| standby["lag_seconds"].as_f64().unwrap_or_else(|| panic!("no number: {standby}")))
}
