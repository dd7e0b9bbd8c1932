//! `--restart --started-before`: by when a claim was made.

use crate::support::cli::{Doctor, fails};
use crate::support::shop::{Shop, on_both};
use serde_json::json;
use std::fs;

/// Two of this host's claims from before its boot and one since, with the same owner; and the same of another host.
fn claims(shop: &Shop) {
    let up = fs::read_to_string("/proc/uptime").expect("the uptime");
    let up: u64 = up.split('.').next().and_then(|up| up.parse().ok()).expect("a number");
    for (first, host) in [(1, "web1"), (11, "web2")] {
        for (id, before) in [(first, up + 3600), (first + 1, up + 60), (first + 2, up.min(60) / 2)] {
            shop.sql(&format!(
                "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
                 VALUES ({id}, 'mail', 'SendInvoice', 'RUNNING', '{host}:7', 't', {{ago {before}}}, {{ago 10}}, {{ago -600}})"
            ));
        }
    }
}

fn queued(shop: &Shop) -> Vec<String> {
    shop.rows("SELECT id FROM jobs WHERE status = 'QUEUED' ORDER BY id")
}

#[test]
fn the_boot_of_this_host_is_the_end_of_its_claims_alone() {
    on_both(|shop| {
        claims(shop);
        let others = || shop.rows("SELECT * FROM jobs WHERE id > 10 ORDER BY id");
        let before = others();
        let ran = shop.run(&["sweep", "--restart", "--host", "web1", "--started-before", "boot", "--apply", "--json"]);
        let document = ran.exits(0).json();
        assert_eq!(queued(shop), ["1", "2"], "{document:#}");
        assert_eq!(others(), before, "a rolling deploy: other hosts' jobs are skipped");
        let why = document["steps"][0]["reasons"][0]["detail"].as_str().expect("a reason");
        assert!(why.contains("is declared dead; claimed 20") && why.contains(", before 20"), "{why}");
        // By owner, and by list.
        shop.run(&["sweep", "--restart", "--owner", "web2:*", "--started-before", "boot", "--apply"]).exits(0);
        assert_eq!(queued(shop), ["1", "2", "11", "12"]);
        shop.sql("DELETE FROM jobs");
        claims(shop);
        fs::write(shop.doctor.path("alive.txt"), "web2\n").expect("a list");
        let listed = ["sweep", "--restart", "--alive-from", "alive.txt", "--started-before", "boot", "--apply"];
        shop.run(&listed).exits(0);
        assert_eq!(queued(shop), ["1", "2"]);
    });
}

#[test]
fn an_instant_alone_is_about_everybody() {
    on_both(|shop| {
        claims(shop);
        let instant = if shop.is_postgres() {
            shop.rows("SELECT to_char((now() - interval '60 s') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
        } else {
            shop.rows("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-60 seconds')")
        };
        let words = ["sweep", "--restart", "--started-before", &instant[0], "--apply"];
        shop.run(&words).exits(0);
        assert_eq!(queued(shop), ["1", "2", "11", "12"]);
        // With a scope it narrows it.
        shop.sql("DELETE FROM jobs");
        claims(shop);
        shop.run(&[&words[..], &["--host", "web2"]].concat()).exits(0);
        assert_eq!(queued(shop), ["11", "12"]);
    });
}

#[test]
fn the_brake_judges_an_instant_and_no_scope() {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, 20, "'web1:' || n", 600);
    let words = ["sweep", "--restart", "--started-before", "2999-01-01T00:00:00Z", "--apply"];
    shop.run(&words).exits(4).says("the brake: 20 of the 20 jobs in flight look dead");
    assert_eq!(queued(&shop), [""; 0]);
    shop.run(&[&words[..], &["--host", "web1"]].concat()).exits(0);
    assert_eq!(queued(&shop).len(), 20, "who names a host is not contradicted");
}

#[test]
fn a_claim_without_a_time_is_never_touched() {
    on_both(|shop| {
        claims(shop);
        shop.sql("UPDATE jobs SET claimed_at = NULL WHERE id = 1");
        let words = ["sweep", "--restart", "--host", "web1", "--started-before", "boot", "--apply", "--json"];
        let document = shop.run(&words).exits(0).json();
        assert_eq!(queued(shop), ["2"]);
        assert_eq!(json!([document["skipped"][0]["id"], document["skipped"][0]["reason"]]), json!(["1", "unknown"]));
        // Nor without the instant: a new worker may have claimed it since the sweep began.
        shop.run(&["sweep", "--restart", "--host", "web1", "--apply"]).exits(0);
        assert_eq!(queued(shop), ["2", "3"]);
    });
}

#[test]
fn what_makes_no_sense_is_refused() {
    let shop = Shop::empty_on_sqlite();
    let db = ["--db", "queue.db"];
    let refused = |words: &[&str]| fails(&shop.doctor, &[words, &db].concat(), 2).stderr;
    for scope in [&[][..], &["--all-owners"], &["--owner", "*"]] {
        let words = [&["sweep", "--restart", "--started-before", "boot"], scope].concat();
        assert!(refused(&words).contains("the boot of this host says nothing about workers on other hosts"));
    }
    for instant in ["yesterday", "2026-11-20", "2026-11-20T10:00:00", "10m"] {
        let said = refused(&["sweep", "--restart", "--started-before", instant]);
        assert!(said.contains("expected `boot`, or an instant with its zone"), "{said}");
    }
    assert!(refused(&["sweep", "--started-before", "boot"]).contains("--restart"));
    let doctor = Doctor::new();
    doctor.sql("CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, attempts INTEGER, last_error TEXT)");
    let words = ["sweep", "--restart", "--started-before", "2026-11-20T10:00:00Z", "--preset", "simple"];
    let said = fails(&doctor, &[&words[..], &db].concat(), 2).stderr;
    assert!(said.contains("preset simple does not say when a job was claimed"), "{said}");
}
