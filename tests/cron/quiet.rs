//! What is worth a mail, and what asks for nobody: jobs that another one has in hand, and jobs that are skipped.

use super::host::on_host;
use crate::cli::scene::incident;
use crate::support::cli::{Doctor, Ran};
use crate::support::pty::{On, OnTerminal};
use crate::support::shop::{Shop, on_both};

/// Locked rows are in somebody's hands, and tried again a minute later; which code it is tells a program.
#[test]
fn jobs_that_are_locked_are_no_news_and_still_a_3() {
    let shop = Shop::empty_on_postgres();
    shop.in_flight(1, 2, "'web1:7'", 600);
    let mut worker = shop.client();
    worker.batch_execute("BEGIN; SELECT * FROM jobs FOR UPDATE").expect("the locks");
    shop.run(&["sweep", "--apply"]).exits(3).is_silent();
    shop.run(&["sweep", "--apply", "-v"]).exits(3).says("Not moved: 2 locked by another session.");
    // Who asks for a format gets all of it.
    shop.run(&["sweep", "--apply", "-o", "table"]).exits(3).shows("locked").says("2 locked by another session");
    // One that was moved is news, and the others with it.
    worker.batch_execute("ROLLBACK; BEGIN; SELECT * FROM jobs WHERE id = 2 FOR UPDATE").expect("the lock");
    shop.run(&["sweep", "--apply"]).exits(3).shows("moved 1 of 2").shows("Not moved: 1 locked");
}

/// What the database refuses does not mend by itself: it is said each time.
#[test]
fn jobs_that_are_refused_are_news_each_time() {
    on_both(|shop| {
        shop.in_flight(1, 2, "'web1:7'", 600);
        shop.sql(
            "CREATE UNIQUE INDEX one_waiting_twin ON jobs (kind) WHERE status = 'QUEUED' AND kind = 'Twin';
             INSERT INTO jobs (id, queue, kind) VALUES (20, 'mail', 'Twin');
             UPDATE jobs SET kind = 'Twin' WHERE id < 3",
        );
        for _ in 0..2 {
            shop.run(&["sweep", "--apply"])
                .exits(3)
                .shows("moved none of 2 stuck jobs.\nHost web1 vanished: not moved 2.\nNot moved: 2 refused");
        }
    });
}

/// Stuck by its run time, and its worker lives: `stale` lists it, and a sweep that has no such rule never moves it.
#[test]
fn jobs_that_are_left_alone_are_told_to_who_asks() {
    on_both(|shop| {
        shop.in_flight(1, 2, "'web1:7'", 5);
        shop.sql("UPDATE jobs SET max_runtime_seconds = 1");
        assert_eq!(shop.run(&["stale", "--json"]).exits(0).json()["summary"]["stuck"], 2);
        shop.run(&["sweep", "--apply"]).exits(0).is_silent();
        let ran = shop.run(&["sweep", "--apply", "-v"]).exits(0);
        ran.says("Skipped: 2 owner_alive. To see why: jobdoctor sweep --db ");
        // And so it does, where somebody watches.
        let (_, seen) = OnTerminal::start(&shop.doctor, &shop.with_db(&["sweep"]), (120, 40), On::Both).end();
        assert!(seen.contains("skip") && seen.contains("but its owner shows life"), "{seen}");
    });
}

/// A command that would end with 66 is no help.
#[test]
fn a_run_that_is_not_recorded_names_no_history() {
    let doctor: Doctor = incident().env("HOME", "");
    let ran = doctor.on_queue(&["sweep", "--apply"]).exits(0);
    ran.shows("This run is not recorded and cannot be reverted");
    assert!(!ran.stdout.contains("jobdoctor history") && !ran.stdout.contains("jobdoctor undo"), "{ran:#?}");
    // A ledger is enough, and its command works.
    let doctor: Doctor = incident().env("HOME", "");
    doctor.on_queue(&["init", "--ledger"]).exits(0);
    let ran = doctor.on_queue(&["sweep", "--apply"]).exits(0);
    let run = ran.stdout.split("jobdoctor history ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a run");
    doctor.on_queue(&["history", run]).exits(0);
}

/// A unit's %H may be the long name where owners say the short one.
#[test]
fn a_host_that_nobody_has_heard_of_is_told_to_who_asks() {
    on_both(|shop| {
        for (n, host) in [(1, "web1"), (3, "web2"), (5, "web3"), (7, "web4"), (9, "web5"), (11, "web6")] {
            shop.in_flight(n, n + u32::from(n == 3), &format!("'{host}:7'"), 5);
        }
        let sweep = |host: &str, more: &[&str]| {
            let words = [&["sweep", "--restart", "--host", host, "--apply"], more].concat();
            Ran::of(on_host(shop, 0, &words).output().expect("it runs")).exits(0)
        };
        let ran = sweep("mail7", &[]);
        let plain =
            "no owner on host mail7 holds a job in flight; hosts in flight: web2, web1, web3, web4, web5 (1 more)\n";
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", plain), "most starts find nothing: no warning");
        let warnings = sweep("mail7", &["--json"]).json()["warnings"].to_string();
        assert!(warnings.contains("no owner on host mail7 holds a job in flight"), "{warnings}");
        // One name that is right hides none that is wrong.
        let both = shop.run(&["sweep", "--restart", "--host", "web3", "--host", "tpyo", "--json"]).exits(0).json();
        assert_eq!(both["summary"]["planned"], 1, "{both:#}");
        assert!(both["warnings"].to_string().contains("no owner on host tpyo holds a job in flight"), "{both:#}");
        // A name that differs in case or domain alone is a mistake rather than a clean start.
        for near in ["WEB2", "web2.example.com"] {
            assert!(sweep(near, &[]).stderr.contains("hosts in flight: web2, "), "{near}");
        }
        let ran = sweep("web2.example.com", &["-v"]);
        let said = "no owner on host web2.example.com holds a job in flight; hosts in flight: web2, web1, web3, web4, web5 \
            (1 more)";
        ran.says(said);
        assert!(sweep("web2", &["-v"]).stdout.contains("moved 2 of 2"), "and the short name is right");
        sweep("web2", &["-v"]).says("no owner on host web2 holds a job in flight");
    });
}
