//! `--min-interval`: one sweep is enough for a while, whoever made it.

use super::host::{locks, on_host};
use crate::support::cli::Ran;
use crate::support::shop::{Shop, on_both};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

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
    for word in [
        "jobs was swept ",
        " ago, at 20",
        "the minimum interval of 1h keeps the next sweep off until 20",
        "nothing was written",
    ] {
        assert!(message.contains(word), "{word}: {message}");
    }
    assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'RUNNING'"), ["2"], "not the new ones");
}

#[test]
fn with_a_ledger_every_host_knows() {
    on_both(|shop| {
        shop.run(&["init", "--ledger"]).exits(0);
        shop.in_flight(1, 3, "'web1:7'", 600);
        let first = sweep(shop, 0, &["--min-interval", "1h", "-v"]).exits(0);
        assert_eq!(moved(&first), 3);
        assert!(!first.stderr.contains("sees only"), "{first:#?}");
        shop.in_flight(11, 12, "'web1:8'", 600);
        for host in [0, 1] {
            is_held(shop, sweep(shop, host, &["--min-interval", "1h"]));
        }
        // A dry run looks, and says what would be.
        let dry = Ran::of(on_host(shop, 1, &["sweep", "--min-interval", "1h"]).output().expect("it runs")).exits(0);
        dry.says("with --apply this would end with 75: ");
        // What `reclaim` or another table's sweep has done is none of it; nor what is long ago.
        shop.sql("UPDATE jobdoctor_ledger SET command = 'reclaim'");
        assert_eq!(moved(&sweep(shop, 1, &["--min-interval", "1h"]).exits(0)), 2);
        shop.sql("UPDATE jobdoctor_ledger SET job_table = 'x.y'");
        shop.in_flight(21, 22, "'web1:9'", 600);
        assert_eq!(moved(&sweep(shop, 1, &["--min-interval", "1h"]).exits(0)), 2);
        shop.in_flight(31, 32, "'web1:10'", 600);
        assert_eq!(moved(&sweep(shop, 1, &[]).exits(0)), 2, "nobody is held who has not asked for it");
    });
}

/// Where the table does not count losses, the ledger does; it tells of the last sweep all the same. Nothing is left to move by
/// then, so that no transaction asks the ledger again.
#[test]
fn a_ledger_that_counts_the_losses_tells_of_the_last_sweep_too() {
    on_both(|shop| {
        shop.run(&["init", "--ledger"]).exits(0);
        shop.sql("ALTER TABLE jobs DROP COLUMN stalls");
        shop.in_flight(1, 3, "'web1:7'", 600);
        let counted = |host| sweep(shop, host, &["--min-interval", "10m", "--max-stalls", "3"]);
        assert_eq!(moved(&counted(0).exits(0)), 3);
        counted(1).exits(75).says("the minimum interval of 10m keeps the next sweep off until 20");
    });
}

/// The two snapshots are before the first batch of either; the transaction alone tells the later one.
#[test]
fn a_sweep_that_has_looked_in_time_and_writes_too_late_is_held_in_its_transaction() {
    on_both(|shop| {
        shop.open_to_many();
        shop.run(&["init", "--ledger"]).exits(0);
        shop.in_flight(1, 3, "'web1:7'", 600);
        let hold = ["sweep", "--apply", "--json", "--min-interval", "1h", "--confirm-after", "8s"];
        let late = on_host(shop, 1, &hold).spawn().expect("it starts");
        // It has looked once; where it looks again does not matter: the ledger is asked before the first snapshot alone, and in
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
        late.says("jobs was swept ");
        assert_eq!(shop.jobs(), before, "nothing was written");
    });
}

#[test]
fn without_one_it_is_this_host_and_that_is_said() {
    on_both(|shop| {
        shop.in_flight(1, 3, "'web1:7'", 600);
        let first = sweep(shop, 0, &["--min-interval", "1h", "-v"]).exits(0);
        assert_eq!(moved(&first), 3);
        assert_eq!(first.stderr.matches("--min-interval sees only the sweeps of this host").count(), 1, "{first:#?}");
        shop.in_flight(11, 12, "'web1:8'", 600);
        let quiet = sweep(shop, 0, &["--min-interval", "1h"]);
        assert!(!quiet.stderr.contains("sees only"), "cron would mail it every minute: {quiet:#?}");
        is_held(shop, quiet);
        assert_eq!(moved(&sweep(shop, 1, &["--min-interval", "1h"]).exits(0)), 2, "another host does not know");
    });
}

/// A flag that would do nothing is no word about the set-up: whoever wrote the command must hear of it.
#[test]
fn with_neither_a_ledger_nor_a_place_it_warns() {
    on_both(|shop| {
        shop.in_flight(1, 3, "'web1:7'", 600);
        let homeless = |more: &[&str]| {
            let words = [&["sweep", "--apply", "--json", "--min-interval", "1h"], more].concat();
            let mut command = shop.doctor.command(&shop.with_db(&words));
            Ran::of(command.env_remove("HOME").output().expect("it runs")).exits(0)
        };
        let ran = homeless(&[]);
        assert_eq!(moved(&ran), 3, "workers' jobs matter more");
        for word in [
            "warning: --min-interval 1h has no effect: ",
            "jobs has no ledger",
            "neither JOBDOCTOR_STATE_DIR nor HOME is set",
            "jobdoctor init --ledger",
        ] {
            assert!(ran.stderr.contains(word), "{word}: {ran:#?}");
        }
        assert_eq!(homeless(&["-q"]).stderr, "");
        // A directory that others can read is no place either.
        sweep(shop, 0, &[]).exits(0);
        let locks = super::host::state(shop, 0).join("locks");
        fs::set_permissions(&locks, fs::Permissions::from_mode(0o755)).expect("chmod");
        sweep(shop, 0, &["--min-interval", "1h"]).exits(0).says("its mode 0755 lets others in").says("has no effect");
        // With a ledger no place is needed.
        shop.run(&["init", "--ledger"]).exits(0);
        assert_eq!(homeless(&[]).stderr, "");
    });
}

#[test]
fn a_ledger_that_the_role_may_not_read_is_not_called_none() {
    let shop = Shop::empty_on_postgres();
    shop.run(&["init", "--ledger"]).exits(0);
    shop.sql("DO $$ BEGIN CREATE ROLE unread LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    shop.sql("GRANT SELECT ON jobs TO unread");
    let url = shop.url.replace("user=doctor", "user=unread");
    let ran = shop.doctor.run(&["sweep", "--min-interval", "1h", "-v", "--db", &url]).exits(0);
    ran.says("this role may not read the ledger public.jobdoctor_ledger");
    assert!(ran.stderr.contains("`jobdoctor check --db") && !ran.stderr.contains("has no ledger"), "{ran:#?}");
}

fn shift(shop: &Shop, seconds: u32) {
    shop.sql(&match shop.is_postgres() {
        true => format!("UPDATE jobdoctor_ledger SET moved_at = now() + interval '{seconds} s'"),
        false => format!(
            "UPDATE jobdoctor_ledger SET moved_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '+{seconds} seconds')"
        ),
    });
}

/// A clock was set back: what the ledger says was, is yet to come.
#[test]
fn a_sweep_to_come_counts_as_just_now() {
    on_both(|shop| {
        shop.run(&["init", "--ledger"]).exits(0);
        shop.in_flight(1, 2, "'web1:7'", 600);
        assert_eq!(moved(&sweep(shop, 0, &[]).exits(0)), 2);
        shift(shop, 1800);
        shop.in_flight(11, 12, "'web1:8'", 600);
        for host in [0, 1] {
            let ran = sweep(shop, host, &["--min-interval", "1h"]).exits(75);
            ran.says("ahead of the database's clock and counts as just now");
        }
        // Further ahead than it holds: nobody knows when that was, and it does not hide what comes after it.
        assert_eq!(moved(&sweep(shop, 0, &["--min-interval", "10m"]).exits(0)), 2);
        shop.in_flight(21, 22, "'web1:9'", 600);
        sweep(shop, 1, &["--min-interval", "10m"]).exits(75).says(" ago, at 20");
    });
}

#[test]
fn a_sweep_that_moved_nothing_keeps_nobody_off() {
    on_both(|shop| {
        for host in [0, 0, 1] {
            assert_eq!(sweep(shop, host, &["--min-interval", "1h"]).exits(0).json()["summary"]["planned"], 0);
        }
        shop.in_flight(1, 3, "'web1:7'", 600);
        assert_eq!(moved(&sweep(shop, 0, &["--min-interval", "1h"]).exits(0)), 3);
    });
}

#[test]
fn of_a_target() {
    let shop = Shop::empty_on_sqlite();
    shop.run(&["init", "--ledger"]).exits(0);
    shop.in_flight(1, 3, "'web1:7'", 600);
    let config = "[target.app]\ndb = \"queue.db\"\nmin_interval = \"1h\"\nlock_wait = \"5s\"\n";
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
    assert_eq!((value("min_interval"), value("lock_wait")), ("1h".into(), "5s".into()));
    for (key, wrong) in [("min_interval", "8d"), ("lock_wait", "2h")] {
        fs::write(shop.doctor.path("c.toml"), format!("[target.app]\n{key} = \"{wrong}\"\n")).expect("the config file");
        run(&["sweep", "--apply"]).exits(78).says("line 2").says("the longest is");
    }
}
