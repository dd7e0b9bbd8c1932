//! The brake: too much looks dead at once. On both engines, through the program; each case stands beside one that must pass.

use crate::support::cli::{Ran, is_valid, until};
use crate::support::shop::{Shop, on_both};
use serde_json::Value;

/// Everything that the test does to a queue must be there or not.
#[track_caller]
fn is_refused(shop: &Shop, arguments: &[&str], why: &str) {
    let before = shop.jobs();
    let ran = shop.run(arguments).exits(4);
    assert!(ran.stderr.contains(why), "{why} is not in {ran:#?}");
    assert_eq!(shop.jobs(), before, "something was written");
}

fn brake(ran: Ran) -> Value {
    let document = ran.json();
    is_valid(if document["schema"] == "jobdoctor.sweep/v1" { "sweep" } else { "reclaim" }, &document);
    document["brake"].clone()
}

fn why(brake: &Value) -> String {
    brake["why"].as_array().unwrap().iter().map(|why| why.as_str().unwrap()).collect::<Vec<_>>().join("; ")
}

/// `living` claims beside the dead ones, of one owner; on a server that has been up for longer than [`OLD`] says.
fn queue(shop: &Shop, dead: u32, living: u32) {
    if shop.is_postgres() {
        until("the server has been up for a while", || {
            shop.rows("SELECT now() - pg_postmaster_start_time() > interval '1.1 seconds'") == ["t"]
        });
    }
    if dead > 0 {
        shop.in_flight(1, dead, "'web' || (n % 2) || ':1'", 4000);
    }
    if living > 0 {
        shop.in_flight(1001, 1000 + living, "'web9:1'", 1);
    }
}

/// Makes the server's age no reason, which on a test's server it always is.
const OLD: [&str; 2] = ["--older", "1s"];

#[test]
fn twelve_of_twelve_is_refused_and_max_jobs_lifts_it() {
    on_both(|shop| {
        queue(shop, 12, 0);
        is_refused(shop, &["reclaim", "--apply"], "12 of the 12 jobs in flight look dead, which is more than half");
        is_refused(shop, &["sweep", "--apply"], "nothing in the whole queue shows life");
        is_refused(shop, &["reclaim", "--apply", "--max-jobs", "11"], "the plan has 12 steps and --max-jobs allows 11");
        let ran = shop.run(&["reclaim", "--apply"]).exits(4);
        assert!(ran.stderr.contains("reclaim --db") || ran.stderr.contains("--apply --max-jobs 12"), "{ran:#?}");
        shop.run(&["reclaim", "--apply", "--max-jobs", "12"]).exits(0);
        assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'"), ["12"]);
    });
}

#[test]
fn a_dry_run_says_what_the_brake_would_do() {
    on_both(|shop| {
        queue(shop, 12, 0);
        shop.run(&["reclaim"]).exits(0).says("the brake would refuse this").says("--max-jobs 12");
        let brake = brake(shop.run(&["reclaim", "--json"]).exits(0));
        assert_eq!((&brake["pulled"], &brake["override"]), (&Value::from(true), &Value::from("--max-jobs 12")));
        assert!(why(&brake).contains("more than half"), "{brake}");
    });
}

#[test]
fn half_is_not_more_than_half() {
    on_both(|shop| {
        queue(shop, 12, 12);
        shop.run(&[&["reclaim", "--apply"], &OLD[..]].concat()).exits(0);
        assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'"), ["12"]);
    });
    on_both(|shop| {
        queue(shop, 13, 12);
        is_refused(shop, &[&["reclaim", "--apply"], &OLD[..]].concat(), "13 of the 25 jobs in flight look dead");
    });
}

#[test]
fn ten_are_never_judged() {
    on_both(|shop| {
        queue(shop, 10, 0);
        let ran = shop.run(&["sweep", "--json"]).exits(0);
        assert_eq!(brake(ran), serde_json::json!({"pulled": false, "why": [], "override": null}));
        shop.run(&["sweep", "--apply"]).exits(0);
    });
    // Ten of twelve move: what would move counts, not what looks dead.
    on_both(|shop| {
        queue(shop, 12, 0);
        shop.run(&["reclaim", "--limit", "10", "--apply"]).exits(0);
        assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'"), ["10"]);
    });
}

/// Of those that name an owner, all are dead; what has none makes them less than half.
#[test]
fn every_owner_dead_of_three() {
    let owners = |shop: &Shop, owners: u32| {
        queue(shop, 0, 0);
        shop.in_flight(1, 12, &format!("'web' || (n % {owners}) || ':1'"), 4000);
        shop.in_flight(101, 120, "NULL", 1);
    };
    on_both(|shop| {
        owners(shop, 3);
        is_refused(shop, &[&["reclaim", "--apply"], &OLD[..]].concat(), "all 3 owners look dead");
    });
    on_both(|shop| {
        owners(shop, 2);
        shop.run(&[&["reclaim", "--apply"], &OLD[..]].concat()).exits(0);
    });
    // One claim of one owner shows life.
    on_both(|shop| {
        owners(shop, 3);
        shop.in_flight(200, 200, "'web1:1'", 1);
        shop.run(&[&["reclaim", "--apply"], &OLD[..]].concat()).exits(0);
    });
}

/// The whole queue is looked at, whatever was selected of it.
#[test]
fn life_elsewhere_in_the_table_counts() {
    on_both(|shop| {
        queue(shop, 12, 13);
        shop.sql("UPDATE jobs SET queue = 'images' WHERE id > 1000");
        shop.run(&[&["reclaim", "--queue", "mail", "--apply"], &OLD[..]].concat()).exits(0);
    });
    // And so does death.
    on_both(|shop| {
        queue(shop, 24, 13);
        shop.sql("UPDATE jobs SET queue = 'images' WHERE id > 12");
        is_refused(
            shop,
            &[&["reclaim", "--queue", "mail", "--apply"], &OLD[..]].concat(),
            "24 of the 37 jobs in flight",
        );
        let named: Vec<String> = (1..12).map(|id| format!("--id={id}")).collect();
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        is_refused(shop, &[&["reclaim", "--apply"], &OLD[..], &named].concat(), "24 of the 37 jobs in flight");
    });
}

#[test]
fn a_server_that_has_just_come_up() {
    let shop = Shop::empty_on_postgres();
    // Of hours: the tests' server is younger than that.
    queue(&shop, 12, 13);
    shop.sql("UPDATE jobs SET heartbeat_at = {ago 90000}, claimed_at = {ago 90000}, lease_expires_at = {ago 89000} WHERE id < 100");
    is_refused(&shop, &["reclaim", "--older", "20h", "--apply"], "the server has been up for");
    shop.run(&["reclaim", "--older", "1s", "--apply"]).exits(0);
}

#[test]
fn times_that_make_no_sense() {
    on_both(|shop| {
        queue(shop, 11, 2);
        shop.in_flight(500, 519, "'web5:1'", 1);
        shop.sql("UPDATE jobs SET heartbeat_at = {ago -4000} WHERE id BETWEEN 500 AND 519");
        is_refused(
            shop,
            &[&["reclaim", "--apply"], &OLD[..]].concat(),
            "20 of the 33 jobs in flight have times that make no sense",
        );
        shop.sql("UPDATE jobs SET heartbeat_at = {ago 1} WHERE id BETWEEN 505 AND 519");
        shop.run(&[&["reclaim", "--apply"], &OLD[..]].concat()).exits(0);
        assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'"), ["11"]);
    });
}

/// What cannot be judged is no sign of life either.
#[test]
fn half_is_dead_and_nothing_is_known_of_the_other() {
    on_both(|shop| {
        queue(shop, 12, 0);
        shop.in_flight(500, 511, "'web5:1'", 1);
        shop.sql("UPDATE jobs SET heartbeat_at = {ago -4000}, lease_expires_at = NULL WHERE id >= 500");
        let reclaim = [&["reclaim", "--apply"], &OLD[..]].concat();
        is_refused(shop, &reclaim, "nothing in the whole queue shows life");
        shop.sql("UPDATE jobs SET heartbeat_at = {ago 1}, lease_expires_at = {ago -600} WHERE id = 500");
        shop.run(&reclaim).exits(0);
        assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'"), ["12"]);
    });
}

#[test]
fn a_scoped_restart_sweep_is_never_judged() {
    on_both(|shop| {
        shop.in_flight(1, 12, "'web1:' || n", 1);
        is_refused(shop, &["sweep", "--restart", "--all-owners", "--apply"], "more than half");
        is_refused(shop, &["sweep", "--restart", "--owner", "*", "--apply"], "more than half");
        shop.run(&["sweep", "--restart", "--host", "web1", "--apply"]).exits(0);
        assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'"), ["12"]);
    });
    on_both(|shop| {
        shop.in_flight(1, 12, "'web1:' || n", 1);
        shop.run(&["sweep", "--restart", "--all-owners", "--apply", "--max-jobs", "12"]).exits(0);
    });
}

#[test]
fn the_config_file_lifts_it_by_name_only() {
    on_both(|shop| {
        queue(shop, 12, 0);
        let config = |more: &str| {
            let text = format!("[target.shop]\ndb = {:?}\n{more}\n", shop.url);
            std::fs::write(shop.doctor.path("config.toml"), text).unwrap();
        };
        let sweep = ["sweep", "--config", "config.toml", "--apply"];
        // What each run may do at most is no word about this one.
        config("max_jobs = 100");
        shop.doctor.run(&sweep).exits(4);
        config("brake = false");
        let ran = shop.doctor.run(&[&sweep[..], &["--json"]].concat()).exits(0);
        let brake = brake(ran);
        assert_eq!((&brake["pulled"], &brake["override"]), (&Value::from(false), &Value::from("brake = false")));
        assert!(why(&brake).contains("more than half"), "{brake}");
    });
}

#[test]
fn a_pattern_that_means_everybody_is_judged() {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, 12, "'web1:' || n", 1);
    for pattern in ["*", "**", "?*", "*?", "[!_]*", "{*,x}", "*:*"] {
        is_refused(&shop, &["sweep", "--restart", "--owner", pattern, "--apply"], "more than half");
    }
    is_refused(&shop, &["sweep", "--restart", "--owner", "*", "--owner", "zz", "--apply"], "more than half");
    shop.run(&["sweep", "--restart", "--owner", "web1:*", "--apply"]).exits(0);
}
