//! `sweep --restart`: by who the owner is, whatever the age.

use super::scene::{STATE, incident};
use crate::support::cli::fails;
use crate::support::shop::on_both;
use insta::assert_snapshot;

fn swept(scope: &[&str]) -> Vec<String> {
    let doctor = incident();
    doctor.on_queue(&[&["sweep", "--restart", "--apply"], scope].concat()).exits(0);
    doctor.rows("SELECT id FROM jobs WHERE id < 9 AND status NOT IN ('RUNNING', 'CLAIMED') ORDER BY id")
}

#[test]
fn a_scope_takes_its_own_alone() {
    for (scope, expected) in [
        // Live leases count for nothing here; web10 is another host.
        ("--host web1", "6 7"),
        ("--host web2", "2 3 4"),
        ("--host web", ""),
        ("--host web1 --host media1", "1 6 7"),
        ("--owner web2:912", "3 4"),
        ("--owner web1:*", "6 7"),
        ("--all-owners", "1 2 3 4 5 6 7 8"),
        // Other filters still count.
        ("--all-owners --queue reports", "4 7"),
    ] {
        assert_eq!(swept(&scope.split(' ').collect::<Vec<_>>()).join(" "), expected, "{scope}");
    }
}

/// What beats after the sweep began runs; a host that still shows life is asked about where somebody can answer.
#[test]
fn the_living_are_skipped_or_asked_about() {
    on_both(|shop| {
        shop.in_flight(1, 1, "'web1:1'", 3600);
        shop.in_flight(2, 2, "'web1:1'", 3600);
        shop.sql("UPDATE jobs SET heartbeat_at = {ago -20} WHERE id = 2");
        shop.sql("UPDATE jobs SET lease_expires_at = {ago -60} WHERE id = 1");
        let plan = shop.run(&["sweep", "--restart", "--host", "web1", "--json"]).exits(0).json();
        let why = plan["brake"]["why"][0].as_str().unwrap_or_default();
        assert!(why.contains("owners on host web1 still show life: is it stopped?"), "{plan:#}");
        assert_eq!(plan["skipped"][0]["reason"], "owner_alive", "{plan:#}");
        // A hook is not asked: leases run for a while after every stop.
        let done = shop.run(&["sweep", "--restart", "--host", "web1", "--apply", "--json"]).exits(0).json();
        assert_eq!(
            (&done["summary"]["outcomes"]["moved"], &done["skipped"][0]["id"]),
            (&1.into(), &"2".into()),
            "{done:#}"
        );
    });
}

/// A host is a whole token of an owner's name, in filters and in restart sweeps: another domain is another host.
#[test]
fn a_host_is_no_beginning_of_another() {
    on_both(|shop| {
        for (id, owner) in ["web1:1", "web1", "web1.other.net:1", "web1.other.net", "web10:1", "a.web1:1", "web1-7:1"]
            .iter()
            .enumerate()
        {
            shop.in_flight(id as u32, id as u32, &format!("'{owner}'"), 3600);
        }
        for (host, expected) in [("web1", ["0", "1"]), ("web1.other.net", ["2", "3"])] {
            let found = shop.run(&["stale", "--host", host, "-o", "name"]).exits(0).stdout;
            assert_eq!(found.lines().collect::<std::collections::BTreeSet<_>>(), expected.into(), "--host {host}");
            let found = shop.run(&["reclaim", "--host", host, "--json"]).exits(0).json();
            assert_eq!(found["summary"]["planned"], 2, "{found:#}");
            shop.run(&["sweep", "--restart", "--host", host, "--apply"]).exits(0);
            let moved = shop.rows("SELECT id FROM jobs WHERE status = 'QUEUED' ORDER BY id");
            assert_eq!(moved, expected, "--restart --host {host}");
            shop.sql("DELETE FROM jobs WHERE status = 'QUEUED'");
        }
        assert_eq!(shop.rows("SELECT count(*) FROM jobs"), ["3"]);
    });
}

#[test]
fn a_pattern_that_covers_two_hosts_is_refused() {
    let doctor = incident();
    // Wherever its wildcard stands.
    for pattern in ["*", "web1*", "w*:*", "*1*:*", "[vw]eb1*", "web{1,10}:*"] {
        let ran = fails(&doctor, &["sweep", "--restart", "--owner", pattern, "--db", "queue.db", "--apply"], 2);
        ran.says(&format!("--owner {pattern} covers more than one host: "));
    }
    let ran = fails(&doctor, &["sweep", "--restart", "--owner", "web1*", "--db", "queue.db", "--apply"], 2);
    assert_snapshot!(ran.stderr, @r"
error: --owner web1* covers more than one host: web1, web10
hint: name each host with --host or a pattern of its own, as in 'web1:*'; for all of them there is --all-owners
");
    assert_eq!(doctor.rows(STATE), incident().rows(STATE));
    // One host only: nothing to mistake.
    assert_eq!(swept(&["--owner", "web2*"]), ["2", "3", "4"]);
}

/// Where owners name no host, a wildcard within a word may mean any of them.
#[test]
fn a_pattern_that_covers_two_owners_without_a_host_is_refused() {
    const HOSTLESS: &str = r#"[mapping.hostless]
time = { default = "epoch s" }
states = { waiting = ["QUEUED"], in_flight = ["RUNNING", "CLAIMED"], done = ["SUCCEEDED"] }
[mapping.hostless.claim]
table = "jobs"
key = "id"
state = "status"
claimed_at = "claimed_at"
liveness = [{ by = "heartbeat", column = "heartbeat_at", silent_after = "2m" }]
[mapping.hostless.owner]
id = "owner_id"
[mapping.hostless.action]
requeue = { to = "QUEUED", clear = ["owner_id"] }
"#;
    let doctor = incident();
    std::fs::write(doctor.path("hostless.toml"), HOSTLESS).unwrap();
    let sweep = |pattern: &str| {
        let words = ["sweep", "--restart", "--owner", pattern, "--db", "queue.db", "-o", "name"];
        doctor.run(&[&words[..], &["--config", "hostless.toml", "--preset", "hostless"]].concat())
    };
    for pattern in ["w*:9*", "*:4*", "web?:*", "{web1,web2}:*"] {
        sweep(pattern).exits(2);
    }
    assert_eq!(sweep("web2:*").exits(0).stdout, "2\n3\n4\n");
}
