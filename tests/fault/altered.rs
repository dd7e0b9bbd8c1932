//! On Postgres the table is altered, replaced or gone between the snapshot and the write (F29): the plan was made for another one, and
//! nothing is written. On SQLite `files::altered` shows the same.

use super::ground::{BATCHES, Ground, SWEEP};
use super::through::Through;
use crate::support::figures;
use crate::support::gate::Order;
use crate::support::shop::Shop;
use std::sync::atomic::{AtomicBool, Ordering};

/// Every row of every table that may be the queue.
const ALL: &str = "SELECT string_agg(t, '|' ORDER BY t) FROM
    (SELECT table_name || query_to_xml('SELECT * FROM ' || quote_ident(table_name) || ' ORDER BY 1', true, true, '')::text
     FROM information_schema.tables WHERE table_schema = 'public') AS tables(t)";

/// What is done to the table, and how the program ends.
const ALTERATIONS: [(&str, i32); 7] = [
    ("ALTER TABLE jobs RENAME COLUMN heartbeat_at TO beat_at", 78),
    ("ALTER TABLE jobs RENAME COLUMN error_detail TO detail", 78),
    ("ALTER TABLE jobs DROP COLUMN owner_id", 78),
    ("ALTER TABLE jobs RENAME TO old_jobs", 78),
    ("DROP TABLE jobs", 78),
    // One of the same name and columns, without jobs; and with other jobs under the same ids.
    ("ALTER TABLE jobs RENAME TO old_jobs; CREATE TABLE jobs (LIKE old_jobs INCLUDING ALL)", 0),
    (
        "ALTER TABLE jobs RENAME TO old_jobs; CREATE TABLE jobs (LIKE old_jobs INCLUDING ALL);
         INSERT INTO jobs SELECT * FROM old_jobs; UPDATE jobs SET lease_token = 'another' || id",
        0,
    ),
];

#[test]
fn nothing_is_written_to_another_table() {
    for (sql, code) in ALTERATIONS {
        let ground = Ground::of(Shop::on_postgres(), BATCHES.len());
        let (altered, url) = (AtomicBool::new(false), ground.shop.url.clone());
        let expected = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
        let written = expected.clone();
        let through = Through::of(&ground, move |flight, _| {
            let begins = flight.statement().starts_with("BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED");
            if begins && !flight.is_answered && !altered.swap(true, Ordering::SeqCst) {
                let mut other = crate::readme::statements::postgres(&url);
                other(&format!("SET lock_timeout = '10s'; {sql}"));
                *written.lock().expect("the image") = other(ALL)[0][0].clone().expect("an image");
            }
            Order::Pass
        });
        let ran = through.run(&SWEEP).exits(code);
        let after = ground.shop.rows(ALL).concat();
        assert_eq!(after, *expected.lock().expect("the image"), "{sql}");
        assert!(!after.is_empty());
        if code == 0 {
            let outcomes = &ran.json()["summary"]["outcomes"];
            assert_eq!(outcomes["moved"], 0, "{sql}: {outcomes}");
        } else {
            assert_eq!(ran.stdout, "", "{sql}: {ran:#?}");
        }
    }
    figures::add(ALTERATIONS.len() as u64, "faults survived");
}
