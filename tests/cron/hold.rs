//! `--hold`: one sweep is enough for a while, whoever made it.

use super::host::{locks, on_host};
use crate::support::cli::Ran;
use crate::support::shop::{Shop, on_both};
use serde_json::Value;
use std::fs;

fn sweep(shop: &Shop, host: usize, more: &[&str]) -> Ran {
    Ran::of(on_host(shop, host, &[&["sweep", "--apply", "--json"], more].concat()).output().expect("it runs"))
}

fn moved(ran: &Ran) -> Value {
    ran.json()["summary"]["outcomes"]["moved"].clone()
}

/// It is held: nothing was written, and it says since when and until when.
fn is_held(shop: &Shop, ran: Ran) {
    let ran = ran.exits(75);
    assert_eq!(ran.stdout, "", "never mistaken for nothing found");
    let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_else(|why| panic!("{why}: {ran:#?}"));
    let message = error["message"].as_str().expect("a message");
    for word in ["jobs was swept ", " ago, at 20", "--hold 1h keeps the next sweep off until 20", "nothing was written"]
    {
        assert!(message.contains(word), "{word}: {message}");
    }
    assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'RUNNING'"), ["2"], "not the new ones");
}

#[test]
fn with_a_ledger_every_host_knows() {
    on_both(|shop| {
        shop.run(&["init", "--ledger"]).exits(0);
        shop.in_flight(1, 3, "'web1:7'", 600);
        let first = sweep(shop, 0, &["--hold", "1h", "-v"]).exits(0);
        assert_eq!(moved(&first), 3);
        assert!(!first.stderr.contains("knows only"), "{first:#?}");
        shop.in_flight(11, 12, "'web1:8'", 600);
        for host in [0, 1] {
            is_held(shop, sweep(shop, host, &["--hold", "1h"]));
        }
        // A dry run looks, and says what would be.
        let dry = Ran::of(on_host(shop, 1, &["sweep", "--hold", "1h"]).output().expect("it runs")).exits(0);
        assert!(dry.stderr.contains("with --apply this would end with 75: "), "{dry:#?}");
        // What `reclaim` or another table's sweep has done is none of it; nor what is long ago.
        shop.sql("UPDATE jobdoctor_ledger SET command = 'reclaim'");
        assert_eq!(moved(&sweep(shop, 1, &["--hold", "1h"]).exits(0)), 2);
        shop.sql("UPDATE jobdoctor_ledger SET job_table = 'x.y'");
        shop.in_flight(21, 22, "'web1:9'", 600);
        assert_eq!(moved(&sweep(shop, 1, &["--hold", "1h"]).exits(0)), 2);
        shop.in_flight(31, 32, "'web1:10'", 600);
        assert_eq!(moved(&sweep(shop, 1, &[]).exits(0)), 2, "nobody is held who has not asked for it");
    });
}

/// The two looks are before the first batch of either; the transaction alone tells the later one.
#[test]
fn a_sweep_that_has_looked_in_time_and_writes_too_late_is_held_in_its_transaction() {
    on_both(|shop| {
        shop.open_to_many();
        shop.run(&["init", "--ledger"]).exits(0);
        shop.in_flight(1, 3, "'web1:7'", 600);
        let hold = ["sweep", "--apply", "--json", "--hold", "1h", "--confirm-after", "8s"];
        let late = on_host(shop, 1, &hold).spawn().expect("it starts");
        // It has looked once; where it looks again does not matter: the ledger is asked before the first look alone, and in
        // the transaction.
        crate::support::cli::until("it has looked", || {
            locks(shop, 1)
                .first()
                .is_some_and(|lock| fs::read_to_string(lock).is_ok_and(|note| note.contains("process")))
        });
        shop.in_flight(11, 12, "'web1:8'", 600);
        shop.sql("UPDATE jobs SET queue = 'other' WHERE id > 10");
        assert_eq!(moved(&sweep(shop, 0, &["--queue", "other"]).exits(0)), 2);
        let before = shop.jobs();
        let late = Ran::of(late.wait_with_output().expect("it ends")).exits(75);
        assert_eq!(late.stdout, "");
        assert!(late.stderr.contains("jobs was swept "), "{late:#?}");
        assert_eq!(shop.jobs(), before, "nothing was written");
    });
}

#[test]
fn without_one_it_is_this_host_and_that_is_said() {
    on_both(|shop| {
        shop.in_flight(1, 3, "'web1:7'", 600);
        let first = sweep(shop, 0, &["--hold", "1h", "-v"]).exits(0);
        assert_eq!(moved(&first), 3);
        assert_eq!(first.stderr.matches("--hold knows only of sweeps from this host").count(), 1, "{first:#?}");
        shop.in_flight(11, 12, "'web1:8'", 600);
        let quiet = sweep(shop, 0, &["--hold", "1h"]);
        assert!(!quiet.stderr.contains("knows only"), "cron would mail it every minute: {quiet:#?}");
        is_held(shop, quiet);
        assert_eq!(moved(&sweep(shop, 1, &["--hold", "1h"]).exits(0)), 2, "another host does not know");
    });
}

#[test]
fn a_sweep_that_moved_nothing_keeps_nobody_off() {
    on_both(|shop| {
        for host in [0, 0, 1] {
            assert_eq!(sweep(shop, host, &["--hold", "1h"]).exits(0).json()["summary"]["planned"], 0);
        }
        shop.in_flight(1, 3, "'web1:7'", 600);
        assert_eq!(moved(&sweep(shop, 0, &["--hold", "1h"]).exits(0)), 3);
    });
}

#[test]
fn of_a_target() {
    let shop = Shop::on_sqlite();
    shop.run(&["init"]).exits(0);
    shop.run(&["init", "--ledger"]).exits(0);
    shop.in_flight(1, 3, "'web1:7'", 600);
    let config = "[target.app]\ndb = \"queue.db\"\nhold = \"1h\"\nlock_wait = \"5s\"\n";
    fs::write(shop.doctor.path("c.toml"), config).expect("the config file");
    let run = |words: &[&str]| shop.doctor.run(&[words, &["--config", "c.toml"]].concat());
    run(&["sweep", "--apply"]).exits(0);
    shop.in_flight(11, 12, "'web1:8'", 600);
    run(&["sweep", "--apply"]).exits(75);
    // A deploy that has stopped every worker is no cron: only the flag holds it.
    run(&["sweep", "--apply", "--restart", "--all-owners"]).exits(0);
    assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'RUNNING'"), ["0"]);
    let shown = run(&["env", "--json"]).json();
    let value = |name: &str| {
        let settings = shown["settings"].as_array().expect("settings");
        settings.iter().find(|setting| setting["name"] == name).expect("it is shown")["value"].clone()
    };
    assert_eq!((value("hold"), value("lock_wait")), ("1h".into(), "5s".into()));
    for (key, wrong) in [("hold", "8d"), ("lock_wait", "2h")] {
        fs::write(shop.doctor.path("c.toml"), format!("[target.app]\n{key} = \"{wrong}\"\n")).expect("the config file");
        let ran = run(&["sweep", "--apply"]).exits(78);
        assert!(ran.stderr.contains("line 2") && ran.stderr.contains("the longest is"), "{ran:#?}");
    }
}
