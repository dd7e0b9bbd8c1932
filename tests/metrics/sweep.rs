//! `sweep --textfile`: what was found before anything was done, and what became of it.

use crate::support::promtool::{Sample, accepts_metrics, samples, sum, value};
use crate::support::shop::{Shop, on_both};
use std::fs;

pub fn swept(shop: &Shop, more: &[&str], code: i32) -> Vec<Sample> {
    shop.run(&[&["sweep", "-o", "none", "--textfile", "q.prom"], more].concat()).exits(code);
    let text = fs::read_to_string(shop.doctor.path("q.prom")).unwrap();
    accepts_metrics(&text);
    samples(&text)
}

fn moved(samples: &[Sample], queue: &str, outcome: &str) -> Option<f64> {
    value(samples, "reclaimed_jobs_total", &[("queue", queue), ("action", "requeue"), ("outcome", outcome)])
}

/// Two queues with three stuck jobs each, and a calm one.
fn incident(shop: &Shop) {
    shop.in_flight(1, 6, "'web1:1'", 900);
    shop.sql("UPDATE jobs SET queue = 'me\"dia' WHERE id > 3");
    shop.in_flight(10, 20, "'web2:1'", 1);
    shop.sql("UPDATE jobs SET queue = 'calm' WHERE id >= 10");
}

#[test]
fn what_was_found_and_what_was_done() {
    on_both(|shop| {
        incident(shop);
        let dry = swept(shop, &[], 0);
        assert_eq!((sum(&dry, "stuck_jobs"), sum(&dry, "reclaimed_jobs_total")), (6.0, 0.0));
        let tried = swept(shop, &["--dry-run=server"], 0);
        assert_eq!(sum(&tried, "reclaimed_jobs_total"), 0.0, "all was rolled back");
        let narrow = swept(shop, &["--queue", "calm"], 0);
        assert_eq!(sum(&narrow, "owners"), 1.0, "of the claims that were asked about");
        let first = swept(shop, &["--apply"], 0);
        assert_eq!(sum(&first, "stuck_jobs"), 6.0, "found, not left");
        assert_eq!((moved(&first, "mail", "moved"), moved(&first, "me\"dia", "moved")), (Some(3.0), Some(3.0)));
        assert_eq!(moved(&first, "calm", "moved"), Some(0.0), "zero does not vanish");
        shop.in_flight(40, 41, "'web3:1'", 900);
        let second = swept(shop, &["--apply"], 0);
        assert_eq!(
            (sum(&second, "stuck_jobs"), moved(&second, "mail", "moved")),
            (2.0, Some(5.0)),
            "with those before"
        );
        let created = |samples: &[Sample], queue| {
            value(samples, "reclaimed_jobs_created", &[("queue", queue), ("action", "requeue"), ("outcome", "moved")])
        };
        assert!(created(&dry, "mail").is_some() && created(&second, "me\"dia") == created(&dry, "me\"dia"));
        let owners = |status| value(&first, "owners", &[("status", status)]);
        assert_eq!((owners("alive"), owners("dead"), owners("late")), (Some(1.0), Some(1.0), Some(0.0)));
        // What is broken by hand does not go on, and the counter begins again.
        let text = fs::read_to_string(shop.doctor.path("q.prom")).unwrap();
        fs::write(shop.doctor.path("q.prom"), text.replace("_created{", "_{")).unwrap();
        assert_eq!(sum(&swept(shop, &[], 0), "reclaimed_jobs_total"), 0.0);
    });
}

/// SQLite alone can store it. The mutant counts a queue under two names that are written alike.
#[test]
fn a_nul_in_a_name_is_one_queue() {
    let shop = Shop::empty_on_sqlite();
    for run in 1..=2 {
        shop.in_flight(run, run, "'web1:1'", 900);
        shop.sql("UPDATE jobs SET queue = 'a' || char(0) || 'b'");
        assert_eq!(moved(&swept(&shop, &["--apply"], 0), "a\u{fffd}b", "moved"), Some(f64::from(run)));
    }
}

#[test]
fn a_restart_sweep() {
    on_both(|shop| {
        incident(shop);
        let found = swept(shop, &["--restart", "--owner", "web2:1", "--apply", "--max-jobs", "20"], 0);
        let of = [("queue", "calm"), ("reason", "restart")];
        assert_eq!((value(&found, "stuck_jobs", &of), moved(&found, "calm", "moved")), (Some(11.0), Some(11.0)));
        assert_eq!(sum(&found, "stuck_jobs"), 11.0);
    });
}

#[test]
fn the_brake() {
    on_both(|shop| {
        shop.in_flight(1, 30, "'web1:1'", 4000);
        let good = swept(shop, &[], 0);
        let refused = swept(shop, &["--apply"], 4);
        assert_eq!(value(&refused, "exit_code", &[]), Some(4.0));
        assert_eq!((sum(&refused, "stuck_jobs"), sum(&refused, "reclaimed_jobs_total")), (30.0, 0.0));
        let kept = |samples: &[Sample]| value(samples, "last_success_timestamp_seconds", &[]);
        assert_eq!(kept(&refused), kept(&good), "that is no success");
        assert_eq!(value(&refused, "up", &[]), Some(1.0), "but it could look");
    });
}

#[test]
fn what_did_not_move() {
    on_both(|shop| {
        incident(shop);
        shop.refuses("no");
        let found = swept(shop, &["--apply"], 3);
        assert_eq!((moved(&found, "mail", "moved"), moved(&found, "mail", "refused")), (Some(2.0), Some(1.0)));
        assert_eq!(moved(&found, "me\"dia", "moved"), Some(3.0));
        assert_eq!(value(&found, "exit_code", &[]), Some(3.0));
        assert_eq!(value(&found, "last_success_timestamp_seconds", &[]), None, "only part of it was done");
    });
}
