//! An owner without a row, or none, is dead only after the silence that the queue allows: libraries delete and insert such rows.

use crate::support::shop;
use std::fs::write;

const MAPPING: &str = r#"[mapping.crawls]
time   = { default = { sqlite = "epoch s", postgres = "native" } }
states = { waiting = ["new"], in_flight = ["working"] }
[mapping.crawls.claim]
table      = "crawls"
key        = "id"
state      = "status"
claimed_at = "started"
liveness   = [{ by = "owner", silent_after = "5m" }]
[mapping.crawls.owner]
id        = "worker"
table     = "workers"
match     = { name = "worker" }
heartbeat = "beat"
missing   = "dead"
unset     = "dead"
[mapping.crawls.action]
requeue = { to = "new", clear = ["worker", "started"] }
"#;

/// Worker, seconds since the claim, and the verdict.
const CLAIMS: [(&str, u32, &str); 9] = [
    ("'gone'", 310, "stuck by owner_missing"),
    ("'pruned'", 2, "healthy"),
    ("'pruned'", 7200, "healthy"),
    ("NULL", 310, "stuck by owner_unset"),
    ("NULL", 2, "healthy"),
    ("''", 2, "healthy"),
    ("'hung'", 2, "unknown: claimed 9m"),
    ("'hung'", 550, "stuck by owner_silent"),
    ("'alive'", 7200, "healthy"),
];

#[test]
fn is_death_after_the_silence_that_is_allowed() {
    shop::on_both(|shop| {
        write(shop.doctor.path("config.toml"), MAPPING).unwrap();
        shop.sql(
            "CREATE TABLE crawls (id INTEGER PRIMARY KEY, status TEXT NOT NULL, worker TEXT, started {time});
             CREATE TABLE workers (name TEXT PRIMARY KEY, beat {time});
             INSERT INTO workers VALUES ('hung', {ago 600}), ('alive', {ago 2})",
        );
        for (id, (worker, ago, _)) in CLAIMS.iter().enumerate() {
            shop.sql(&format!("INSERT INTO crawls VALUES ({id}, 'working', {worker}, {{ago {ago}}})"));
        }
        let ids: Vec<String> = (0..CLAIMS.len()).map(|id| id.to_string()).collect();
        let flags = ["--config", "config.toml", "--preset", "crawls", "--json"];
        let words: Vec<&str> = ids.iter().map(String::as_str).collect();
        let jobs = shop.run(&[&["show"], &words[..], &flags].concat()).exits(0).json()["jobs"].clone();
        for ((id, (_, _, wanted)), job) in CLAIMS.iter().enumerate().zip(jobs.as_array().unwrap()) {
            let verdict = job["verdict"].as_str().unwrap();
            let reason = &job["reasons"][0];
            let said = match verdict {
                "stuck" => format!("stuck by {}", reason["rule"].as_str().unwrap()),
                "unknown" => format!("unknown: {}", reason["detail"].as_str().unwrap()),
                other => other.to_owned(),
            };
            assert!(said.starts_with(wanted), "claim {id}: {said}");
        }
        let stuck = shop.run(&[&["stale"], &flags[..4], &["-o", "name"]].concat()).exits(0).stdout;
        assert_eq!(stuck.lines().count(), 3, "a listing tells the same: {stuck}");
        // Without a claim time nothing tells how long an owner has had no row.
        write(shop.doctor.path("config.toml"), MAPPING.replace("claimed_at = \"started\"\n", "")).unwrap();
        shop.run(&["show", "0", "--config", "config.toml", "--preset", "crawls"]).exits(0).shows("--confirm-after");
    });
}
