//! A sweep that leaves it to another one: all is well, and what was found before still stands.

use crate::support::promtool::{Sample, sum, value};
use crate::support::shop::{Shop, on_both};
use std::fs;

fn swept(shop: &Shop, more: &[&str], code: i32) -> Vec<Sample> {
    super::sweep::swept(shop, &[&["--apply"], more].concat(), code)
}

fn found(samples: &[Sample]) -> Vec<Sample> {
    let is_found = |sample: &&Sample| sample.name.ends_with("_jobs") && !sample.name.contains("reclaimed");
    samples.iter().filter(is_found).cloned().collect()
}

#[test]
fn up_is_1_and_the_findings_stay() {
    on_both(|shop| {
        shop.in_flight(1, 3, "'web1:1'", 900);
        shop.in_flight(4, 9, "'web2:1'", 1);
        shop.sql("UPDATE jobs SET queue = 'me\"di,a} 5' WHERE id > 2");
        let first = swept(shop, &[], 0);
        assert_eq!((sum(&first, "stuck_jobs"), sum(&first, "reclaimed_jobs_total")), (3.0, 3.0));
        for _ in 0..2 {
            let held = swept(shop, &["--min-interval", "1h"], 75);
            let one = |name| value(&held, name, &[]);
            assert_eq!((one("up"), one("exit_code")), (Some(1.0), Some(75.0)));
            assert_eq!(found(&held), found(&first));
            assert!(!found(&held).is_empty());
            assert_eq!(sum(&held, "reclaimed_jobs_total"), 3.0, "those of the run before");
            let kept = "last_success_timestamp_seconds";
            assert_eq!(one(kept), value(&first, kept, &[]));
            assert!(one("last_run_timestamp_seconds") >= value(&first, "last_run_timestamp_seconds", &[]));
        }
        // Without a file before it, it could look all the same.
        fs::remove_file(shop.doctor.path("q.prom")).unwrap();
        let held = swept(shop, &["--min-interval", "1h"], 75);
        assert_eq!((value(&held, "up", &[]), found(&held).len()), (Some(1.0), 0));
    });
}

/// The counterpart: the same code, and it could not look.
#[test]
fn a_database_that_does_not_answer_is_not_up() {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, 3, "'web1:1'", 900);
    swept(&shop, &[], 0);
    let holder = shop.doctor.connect("queue.db");
    holder.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE").unwrap();
    let busy = swept(&shop, &["--timeout", "1s"], 75);
    assert_eq!((value(&busy, "up", &[]), found(&busy).len()), (Some(0.0), 0));
}
