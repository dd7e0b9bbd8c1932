//! What is taken for one fault, and what is not.

use super::fleet::{At, at, diagnoses, incident, put};
use crate::support::cli::Doctor;
use crate::support::shop::on_both;
use insta::assert_snapshot;

/// On each engine, these claims are told as that snapshot has it.
fn are_told(claims: &[At], snapshot: &str) {
    on_both(|queue| {
        put(queue, claims);
        assert_snapshot!(snapshot, diagnoses(queue, &[]));
    });
}

#[test]
fn a_host_that_vanished_a_kind_that_hangs_and_one_that_is_only_slow() {
    on_both(|queue| {
        put(queue, &incident());
        let said = diagnoses(queue, &[]);
        assert_snapshot!("incident", said);
        assert!(!said.contains("MonthlyReport"), "{said}");
    });
}

#[test]
fn every_owner_at_once_is_more_likely_something_they_share() {
    on_both(|queue| {
        let mut claims = Vec::new();
        for host in 0..6 {
            for n in 0..52 {
                claims.push(at("web", "SendInvoice", &format!("host-{host}:{}", n % 3), 11_130 + n, 7830 + 5 * host));
            }
        }
        put(queue, &claims);
        assert_snapshot!("all_silent", diagnoses(queue, &[]));
        // One that lives, and it is another story.
        put(queue, &[at("web", "SendInvoice", "host-9:1", 30, 2)]);
        assert_snapshot!("all_but_one", diagnoses(queue, &[]));
    });
}

/// What has piled up over days is no common fault, though nothing else is in flight.
#[test]
fn what_died_at_different_times_is_told_apart() {
    on_both(|queue| {
        let of =
            |host: i64| at("web", "SendInvoice", &format!("old-{host}:1"), 4000 * host + 11_130, 4000 * host + 7830);
        put(queue, &(0..4).flat_map(|host| [of(host), of(host)]).collect::<Vec<_>>());
        let said = diagnoses(queue, &[]);
        assert_eq!(said.lines().count(), 4, "{said}");
        assert!(said.lines().all(|line| line.contains("vanished") && line.ends_with("2 jobs of kind SendInvoice")));
        assert!(said.starts_with("host old-0 "), "the newest first: {said}");
    });
}

#[test]
fn a_single_job_has_the_cause_of_its_holder() {
    on_both(|queue| {
        put(queue, &[at("web", "SendInvoice", "a:1", 11_130, 7830), at("mail", "SendMail", "b:1", 90_030, 90_000)]);
        put(queue, &[at("web", "SendInvoice", "c:1", 30, 3)]);
        let said = diagnoses(queue, &[]);
        assert!(
            said.starts_with("host a vanished ") && said.contains(": 1 job of kind SendInvoice\nhost b "),
            "{said}"
        );
        assert_eq!(said.lines().count(), 2, "{said}");
    });
}

#[test]
fn pods_that_went_together_are_one_line_though_each_held_one_job() {
    let kind = |n: i64| if n % 4 == 0 { "Other" } else { "SendInvoice" };
    let pods = (0..40).map(|n| at("web", kind(n), &format!("pod-{n:02}:1"), 11_130, 7830 + n));
    are_told(&pods.chain([at("web", "SendInvoice", "alive:1", 900, 2)]).collect::<Vec<_>>(), "pods");
}

/// Two died 41 minutes apart: they did not vanish together, and a minute later they still did not.
#[test]
fn vanished_is_said_of_one_minute() {
    on_both(|queue| {
        put(queue, &[at("web", "SendInvoice", "alive:1", 900, 2)]);
        put(queue, &[at("media", "ResizeVideo", "media1:1", 9000, 7830)]);
        put(queue, &[at("media", "ResizeVideo", "media2:1", 9000, 7830 - 41 * 60)]);
        let said = diagnoses(queue, &[]);
        assert!(said.starts_with("2 hosts went silent one by one between ") && !said.contains("vanished"), "{said}");
        assert!(
            said.contains(" UTC, the last 1h 29m ago: 2 jobs of kind ResizeVideo, held by media1, media2"),
            "{said}"
        );
        queue.sql("UPDATE jobs SET heartbeat_at = {ago 7800} WHERE owner_id = 'media2:1'");
        assert!(
            diagnoses(queue, &[]).starts_with("2 hosts vanished 2h 10m ago, between "),
            "{}",
            diagnoses(queue, &[])
        );
        // Steps of 50 s are no minute, however many follow each other.
        let worker = |n: i64| at("web", "SendInvoice", &format!("node-{n}:1"), 11_130, 3000 + 50 * n);
        put(queue, &(0..8).map(worker).collect::<Vec<_>>());
        let said = diagnoses(queue, &[]);
        assert!(said.starts_with("8 hosts went silent one by one"), "{said}");
    });
}

/// A kind that is empty is none: nothing hangs, goes or comes because of it.
#[test]
fn an_empty_kind_is_no_kind() {
    on_both(|queue| {
        put(queue, &[at("web", "", "web1:1", 900, 2), at("web", "", "web2:1", 900, 2)]);
        queue.sql("UPDATE jobs SET max_runtime_seconds = 60");
        let said = diagnoses(queue, &[]);
        assert!(said.starts_with("owner web1:1 lives, but its only job hangs, claimed "), "{said}");
        assert!(!said.contains("kind"), "{said}");
    });
}

/// Claims that are younger than the limit show no life: the mutant that calls whoever is not silent living fails here.
#[test]
fn where_only_age_tells_nobody_lives() {
    on_both(|queue| {
        let of = |owner: &str, age: i64| At { beat: None, ..at("web", "SendEmail", owner, age, 0) };
        put(queue, &[of("web1:1", 7830), of("web1:1", 30), of("web2:1", 7830), of("web2:1", 30)]);
        let said = diagnoses(queue, &[]);
        assert!(said.starts_with("kind SendEmail hangs on 2 hosts: 2 jobs, the first claimed 2h 10m ago"), "{said}");
        assert!(said.ends_with("; nothing shows whether the owners live\n"), "{said}");
        queue.sql("DELETE FROM jobs WHERE owner_id = 'web2:1'");
        put(queue, &[of("web1:1", 7830)]);
        let said = diagnoses(queue, &[]);
        assert!(said.starts_with("owner web1:1: 2 of its 3 jobs hang (kind SendEmail)"), "{said}");
        assert!(!said.contains("web1:1 lives"), "{said}");
    });
}

/// Workers that die one after the other of the same kind of job.
#[test]
fn a_kind_that_kills_its_workers() {
    let worker = |n: i64| at("media", "ResizeVideo", &format!("node:{n}"), 4000 * n + 11_130, 4000 * n + 7830);
    let claims = (0..5).map(worker).chain([at("web", "SendInvoice", "node:99", 30, 2)]);
    are_told(&claims.collect::<Vec<_>>(), "killers");
}

/// An owner that holds something alive is not gone, whatever else it holds.
#[test]
fn an_owner_that_lives_hangs() {
    let dead = [at("web", "A", "web1:1", 11_130, 7830), at("web", "B", "web1:1", 11_131, 7830)];
    // In trouble, but its own heartbeat is fresh: twice, so that it is no job alone.
    let late = At { deadline: Some(1000), ..at("web", "D", "web2:1", 11_130, 2) };
    are_told(&[&dead[..], &[at("web", "C", "web1:1", 30, 2), late.clone(), late]].concat(), "living_owners");
}

/// What a filter leaves out still shows who is alive, and who is not.
#[test]
fn a_filter_does_not_make_anyone_dead_or_alive() {
    on_both(|queue| {
        put(queue, &[at("mail", "A", "web1:1", 11_130, 7830), at("mail", "A", "web1:1", 11_130, 7830)]);
        put(queue, &[at("web", "A", "web1:2", 11_130, 7831)]);
        let said = diagnoses(queue, &["--queue", "mail"]);
        assert!(said.starts_with("host web1 vanished") && said.contains(": 2 jobs of kind A\n"), "{said}");
        put(queue, &[at("web", "A", "web1:3", 30, 2)]);
        let said = diagnoses(queue, &["--queue", "mail"]);
        assert!(said.starts_with("owner web1:1 vanished"), "{said}");
        put(queue, &[at("web", "A", "web1:1", 30, 2)]);
        let said = diagnoses(queue, &["--queue", "mail"]);
        assert!(said.starts_with("owner web1:1 lives, but 2 of its 3 jobs hang"), "{said}");
    });
}

#[test]
fn where_only_age_tells_nobody_vanished() {
    let old = |n: i64| At { beat: None, ..at("web", "SendInvoice", "web1:1", 7830 + n, 0) };
    are_told(&[old(0), old(1)], "by_age");
}

/// A heartbeat ahead of the clock may be life.
#[test]
fn what_cannot_be_judged_leaves_a_doubt() {
    are_told(&[7830, 7830, -7000].map(|silent| at("web", "A", "web1:1", 11_130, silent)), "doubt");
}

#[test]
fn lies_of_the_ownership_data() {
    let nobody = At { owner: None, ..at("web", "A", "", 11_130, 7830) };
    let timeless = At { claimed: None, ..at("web", "A", "web1:1", 0, 7830) };
    are_told(&[nobody.clone(), nobody, timeless.clone(), timeless], "inconsistencies");
}

const SHOP: &str = "CREATE TABLE packers (name TEXT PRIMARY KEY, seen_at INTEGER, booted_at INTEGER);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT NOT NULL, topic TEXT, worker TEXT, started INTEGER);
    INSERT INTO packers SELECT 'reborn', unixepoch() - 1, unixepoch() - 60;
    INSERT INTO orders (status, topic, worker, started) SELECT 'on', 'a', 'gone-1', unixepoch() - 4030;
    INSERT INTO orders (status, topic, worker, started) SELECT 'on', 'a', 'gone-1', unixepoch() - 4030;
    INSERT INTO orders (status, topic, worker, started) SELECT 'on', 'b', 'gone-2', unixepoch() - 4030;
    INSERT INTO orders (status, topic, worker, started) SELECT 'on', 'b', 'reborn', unixepoch() - 4030;
    INSERT INTO orders (status, topic, worker, started) SELECT 'on', 'b', 'reborn', unixepoch() - 4030;";
const SHOP_MAPPING: &str = r#"[mapping.shop]
time     = { default = { sqlite = "epoch s", postgres = "native" } }
states   = { waiting = ["off"], in_flight = ["on"] }
attempts = { counted = "not in the table" }
[mapping.shop.claim]
table      = "orders"
key        = "id"
state      = "status"
queue      = "topic"
claimed_at = "started"
liveness   = [LIVENESS]
OWNER[mapping.shop.action]
requeue = { to = "off" }
"#;

fn shop(liveness: &str, owner: &str) -> Doctor {
    let doctor = Doctor::new();
    doctor.sql_in("shop.db", SHOP);
    let mapping = SHOP_MAPPING.replace("LIVENESS", liveness).replace("OWNER", owner);
    std::fs::write(doctor.path("shop.toml"), mapping).unwrap();
    doctor
}

fn said(doctor: &Doctor) -> String {
    let whole = doctor
        .run(&["stale", "--db", "shop.db", "--config", "shop.toml", "--preset", "shop", "--summary"])
        .exits(0)
        .whole();
    whole.split("[stderr]").next().unwrap().trim_start_matches("[stdout]\n").to_owned()
}

#[test]
fn owners_without_a_row_and_owners_that_are_not_who_they_were() {
    let owner = "[mapping.shop.owner]\nid = 'worker'\ntable = 'packers'\nmatch = { name = 'worker' }\n\
        heartbeat = 'seen_at'\nstarted = 'booted_at'\nmissing = 'dead'\n";
    let doctor = shop("{ by = 'owner', silent_after = '2m' }", owner);
    assert_snapshot!("owners_table", said(&doctor));
    doctor.sql_in("shop.db", "DELETE FROM orders WHERE worker = 'gone-2'");
    assert!(said(&doctor).contains("2 jobs are held by owner gone-1, which has no row"), "{}", said(&doctor));
}

#[test]
fn a_queue_without_owners() {
    let doctor = shop("{ by = 'age', column = 'started', silent_after = '30m' }", "");
    assert_snapshot!("no_owners", said(&doctor));
    let doctor = shop("{ by = 'lease', column = 'started' }", "");
    assert_snapshot!("no_owners_all_silent", said(&doctor));
    doctor.sql_in("shop.db", "INSERT INTO orders (status, topic, started) SELECT 'on', 'a', unixepoch() + 867600");
    assert_snapshot!("no_owners_some_silent", said(&doctor));
}

/// Three owners whose jobs are old may be busy with long ones.
#[test]
fn age_alone_is_no_common_fault() {
    for owner in ["[mapping.shop.owner]\nid = 'worker'\n", ""] {
        let doctor = shop("{ by = 'age', column = 'started', silent_after = '30m' }", owner);
        doctor.sql_in(
            "shop.db",
            "DELETE FROM orders; INSERT INTO orders (status, topic, worker, started)
             SELECT 'on', 'a', 'w' || value, unixepoch() - 7200 - value FROM json_each('[1, 2, 3, 4]')",
        );
        let said = said(&doctor);
        assert!(said.contains("4 jobs") && !said.contains("went silent"), "{said}");
    }
}
