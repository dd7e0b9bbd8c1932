//! A table without an index for claims in flight is read whole: the listing is right, and ends when its time is up.

use super::tables::tables;
use crate::support::cli::{Doctor, fails};

#[test]
fn a_listing_without_an_index_is_bounded() {
    let database = tables("delayed-job", "4.2.0").made();
    database
        .client()
        .batch_execute(
            "INSERT INTO delayed_jobs (priority, attempts, handler, run_at, locked_at, locked_by, created_at, updated_at)
               SELECT 0, 0, repeat('x', 200), now(), CASE WHEN n % 100 = 0 THEN now() - interval '5 hours' END,
                      CASE WHEN n % 100 = 0 THEN 'host:web1 pid:' || n END, now(), now()
               FROM generate_series(1, 100000) AS n",
        )
        .unwrap();
    let (doctor, url) = (Doctor::new(), database.url());
    let listed = doctor.run(&["stale", "--json", "--limit", "3", "--db", &url]).exits(0).json();
    assert_eq!(listed["summary"]["stuck"], 1000);
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 3);
    // Whoever holds the table keeps it from being read, as a far larger one would: the time limit counts all the same.
    let mut holder = database.client();
    holder.batch_execute("BEGIN; LOCK TABLE delayed_jobs IN ACCESS EXCLUSIVE MODE").unwrap();
    let ran = fails(&doctor, &["stale", "--timeout", "1s", "--db", &url], 75);
    assert!(ran.stdout.is_empty(), "{}", ran.whole());
}
