//! `--alive-from`: an owner that is not on the list is dead, unless the claim's own row shows life.

use super::queue::{Queue, crawls_on_both, ids, on_both, reason, rules};
use crate::support::cli::{each, fails, is_valid};
use std::fs::File;
use std::os::unix::fs::symlink;
use std::time::Duration;

/// None of them silent for long, and nothing but age to see: web1 has two processes, web10 one; job 4 names nobody.
fn alive(queue: &Queue<'_>) {
    for (id, owner) in [(1, "'web1:11'"), (2, "'web1:12'"), (3, "'web10:7'"), (4, "NULL"), (5, "'web2.example.com:9'")]
    {
        queue.sql(&format!(
            "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at)
            VALUES ({id}, 'mail', 'SendInvoice', 'RUNNING', {owner}, {{ago 900}})"
        ));
    }
}

/// What `reclaim` and both sweeps move, given a list in a file or in a pipe.
#[test]
fn who_is_not_on_it() {
    let cases: [(&str, &[&str]); 4] = [
        ("# the living\r\n\r\n  web10  \r\nweb2\r\n", &["1 live_owner_list", "2 live_owner_list"]),
        ("pod/web1\npod/web2\n", &["3 live_owner_list"]),
        ("web1:12\nweb2:9\nweb10\n", &["1 live_owner_list"]),
        ("web1.example.com\nweb10\nweb2\n", &[]),
    ];
    on_both(|queue| {
        for (list, moved) in cases {
            for command in [&["reclaim"][..], &["sweep"], &["sweep", "--restart"]] {
                queue.sql("DELETE FROM jobs");
                alive(queue);
                queue.write("alive.txt", list);
                let by_file = queue.json(&[command, &["--alive-from", "alive.txt"]].concat());
                assert_eq!(ids(&by_file, "steps", rules), moved, "{list:?}: {by_file:#}");
                let words = [command, &["--alive-from", "-", "--apply", "--json"]].concat();
                let document = queue.run_with(&words, list.as_bytes()).exits(0).json();
                is_valid(command[0], &document);
                assert_eq!(ids(&document, "steps", rules), moved, "{list:?}: {document:#}");
                assert!(document["filter"]["living_owners"].as_u64().unwrap() > 0);
                let back = queue.rows("SELECT id || ' live_owner_list' FROM jobs WHERE status = 'QUEUED' ORDER BY id");
                assert_eq!(back, moved, "{list:?}: {document:#}");
                // An owner that is not named is unknown, where all who are not listed are called dead.
                let unknown: &[&str] = if command.len() == 2 { &["4 unknown"] } else { &[] };
                assert_eq!(ids(&document, "skipped", reason), unknown, "{list:?}: {document:#}");
            }
        }
    });
}

/// An empty pipe is a failed command, not a dead fleet.
#[test]
fn an_empty_list() {
    on_both(|queue| {
        alive(queue);
        for list in ["", "\n\n", "# nobody\n", " \t\r\n"] {
            queue.write("alive.txt", list);
            for command in [&["reclaim"][..], &["sweep"], &["sweep", "--restart"], &["stale"]] {
                let words = [command, &["--alive-from", "alive.txt", "--db", &queue.url]].concat();
                fails(&queue.doctor, &words, 2).says("alive.txt is empty").says("--all-owners");
                let apply: &[&str] = if command[0] == "stale" { &[] } else { &["--apply"] };
                queue.run_with(&[command, &["--alive-from", "-"], apply].concat(), list.as_bytes()).exits(2);
            }
        }
        assert!(queue.states().iter().all(|state| state.ends_with("RUNNING")));
        // Nothing at all on standard input is the same.
        queue.run(&["reclaim", "--alive-from", "-", "--apply"]).exits(2);
    });
}

#[test]
fn a_list_that_cannot_be_used() {
    on_both(|queue| {
        alive(queue);
        let wrong = |code: i32, why: &str| {
            let ran = fails(&queue.doctor, &["reclaim", "--alive-from", "alive.txt", "--db", &queue.url], code);
            ran.says("alive.txt").says(why);
        };
        wrong(66, "cannot be read");
        queue.write("alive.txt", b"web1\nweb\xff2\n");
        wrong(2, "is not UTF-8 (line 2)");
        queue.write("alive.txt", "NAME   READY   STATUS    RESTARTS   AGE\nweb1   1/1     Running   0          3d\n");
        wrong(2, "kubectl get pods -o name");
        File::create(queue.doctor.path("alive.txt")).unwrap().set_len(17 << 20).unwrap();
        wrong(2, "is longer than 16 MiB");
        std::fs::remove_file(queue.doctor.path("alive.txt")).unwrap();
        std::fs::create_dir(queue.doctor.path("alive.txt")).unwrap();
        wrong(66, "cannot be read");
        std::fs::remove_dir(queue.doctor.path("alive.txt")).unwrap();
        // A link is somebody's way to name a file.
        queue.write("real.txt", "web1 web10 web2 \u{1b}[2J\n----\n");
        symlink("real.txt", queue.doctor.path("alive.txt")).unwrap();
        let ran = queue.run(&["reclaim", "--alive-from", "alive.txt", "-v"]).exits(0);
        ran.says("1 line of the live-owner list name no owner: 2");
    });
}

/// A list of names that no owner has is more likely the wrong list than the death of everybody.
#[test]
fn a_list_of_others() {
    on_both(|queue| {
        alive(queue);
        queue.write("alive.txt", "db-0\ndb-1\x1b[31m\n");
        let planned = queue.run(&["reclaim", "--alive-from", "alive.txt"]).exits(0);
        planned.says("no owner in flight is on the list of living owners");
        assert!(!planned.stderr.contains('\u{1b}'), "{planned:#?}");
        for command in [&["reclaim"][..], &["sweep", "--restart"]] {
            let words = [command, &["--alive-from", "alive.txt", "--apply", "--json"]].concat();
            let refused = queue.run(&words).exits(4).json();
            assert_eq!(refused["applied"], false);
            assert!(refused["refused"].as_str().unwrap().contains("--max-jobs"), "{refused:#}");
            assert!(queue.states().iter().all(|state| state.ends_with("RUNNING")));
        }
        queue.run(&["stale", "--alive-from", "alive.txt"]).exits(0).says("no owner in flight is on the list");
        // A whole fleet that was replaced: who has looked says how many.
        queue.run(&["reclaim", "--alive-from", "alive.txt", "--apply", "--max-jobs", "3"]).exits(4);
        queue.run(&["reclaim", "--alive-from", "alive.txt", "--apply", "--max-jobs", "4"]).exits(0);
        assert_eq!(queue.states(), ["1 QUEUED", "2 QUEUED", "3 QUEUED", "4 RUNNING", "5 QUEUED"]);
        // Nothing left that would be refused.
        queue.run(&["sweep", "--alive-from", "alive.txt", "--apply"]).exits(0);
    });
}

/// Whoever came after the list was made cannot be on it.
#[test]
fn claims_and_beats_that_came_later() {
    on_both(|queue| {
        queue.sql(
            "INSERT INTO jobs (id, status, owner_id, claimed_at, heartbeat_at, lease_expires_at) VALUES
            (1, 'RUNNING', 'new1:1', {ago 1200}, {ago 60}, NULL),
            (2, 'RUNNING', 'new2:1', {ago 60}, NULL, NULL),
            (3, 'RUNNING', 'old:1', {ago 9000}, {ago 8000}, NULL),
            (4, 'RUNNING', 'web1:1', {ago 9000}, {ago 60}, NULL),
            (5, 'RUNNING', 'ahead:1', {ago 9000}, {ago -4000}, NULL),
            (6, 'RUNNING', 'untimed:1', NULL, NULL, {ago -900}),
            (7, 'RUNNING', 'minute:1', {ago 3630}, NULL, NULL)",
        );
        queue.write("alive.txt", "web1\n");
        let file = File::options().write(true).open(queue.doctor.path("alive.txt")).unwrap();
        let written = file.metadata().unwrap().modified().unwrap();
        file.set_modified(written - Duration::from_secs(3600)).unwrap();
        queue.run(&["stale", "--alive-from", "alive.txt", "-v"]).exits(0).says("is 1h old");
        // Clocks differ: a claim of the minute in which the list was made may be later than it.
        let document = queue.json(&["reclaim", "--alive-from", "alive.txt"]);
        assert_eq!(ids(&document, "steps", rules), ["3 live_owner_list", "7 claim_age"], "{document:#}");
        // For a restart the operator answers for the clocks, and a heartbeat from the future is no sign of life.
        let document = queue.json(&["sweep", "--restart", "--alive-from", "alive.txt", "--apply"]);
        let moved = ["3 live_owner_list", "5 live_owner_list", "7 live_owner_list"];
        assert_eq!(ids(&document, "steps", rules), moved, "{document:#}");
        assert_eq!(ids(&document, "skipped", reason), ["1 unknown", "2 unknown", "6 unknown"], "{document:#}");
    });
}

/// The list and the row contradict each other, and nothing tells which one is right; an operator who declares owners dead does.
#[test]
fn the_rows_own_life_outranks_the_list() {
    on_both(|queue| {
        alive(queue);
        queue.sql("UPDATE jobs SET heartbeat_at = {ago 130} WHERE id IN (1, 3)");
        queue.sql("UPDATE jobs SET lease_expires_at = {ago -900} WHERE id IN (2, 5)");
        queue.write("alive.txt", "web1\n");
        let document = queue.json(&["reclaim", "--alive-from", "alive.txt", "--apply"]);
        assert_eq!(ids(&document, "skipped", reason), ["3 unknown", "5 unknown"], "{document:#}");
        let details = each(&document, "skipped", "detail");
        let both =
            |life: &str| details.iter().any(|detail| detail.contains("is not on the list") && detail.contains(life));
        assert!(both("but its heartbeat is") && both("but its lease runs"), "{details:?}");
        queue.run(&["sweep", "--restart", "--alive-from", "alive.txt", "--apply"]).exits(0);
        assert_eq!(queue.states(), ["1 RUNNING", "2 RUNNING", "3 QUEUED", "4 RUNNING", "5 QUEUED"]);
    });
}

/// Who is on the list is not dead, but its silence still counts; unless all there is to see is age.
#[test]
fn the_living_can_be_silent() {
    on_both(|queue| {
        queue.sql(
            "INSERT INTO jobs (id, status, owner_id, claimed_at, heartbeat_at) VALUES
            (1, 'RUNNING', 'web1:1', {ago 9000}, {ago 8000}), (2, 'RUNNING', 'web1:2', {ago 9000}, NULL),
            (3, 'RUNNING', 'web2:1', {ago 9000}, NULL)",
        );
        queue.write("alive.txt", "web1\n");
        let found = queue.json(&["stale", "--alive-from", "alive.txt"]);
        assert_eq!(ids(&found, "jobs", rules), ["1 heartbeat_silent", "3 live_owner_list"]);
        let without = queue.json(&["stale"]);
        assert_eq!(ids(&without, "jobs", rules), ["1 heartbeat_silent", "2 claim_age", "3 claim_age"]);
        // For a restart sweep only the list counts.
        let swept = queue.json(&["sweep", "--restart", "--alive-from", "alive.txt"]);
        assert_eq!(ids(&swept, "steps", rules), ["3 live_owner_list"]);
    });
}

/// Thresholds still count; and where others share the table, a restart sweep by list can be kept to some of them.
#[test]
fn narrowed_down() {
    on_both(|queue| {
        alive(queue);
        queue.sql("UPDATE jobs SET heartbeat_at = {ago 600} WHERE id = 5");
        queue.sql("UPDATE jobs SET heartbeat_at = {ago 200} WHERE id <> 5");
        let words = ["reclaim", "--alive-from", "-", "--older", "5m", "--json"];
        let document = queue.run_with(&words, b"web1\n").exits(0).json();
        assert_eq!(ids(&document, "steps", rules), ["5 live_owner_list"]);
        let words = ["sweep", "--restart", "--owner", "web1*", "--alive-from", "-", "--apply"];
        queue.run_with(&words, b"web1\n").exits(0);
        assert_eq!(queue.states(), ["1 RUNNING", "2 RUNNING", "3 QUEUED", "4 RUNNING", "5 RUNNING"]);
        let wrong = ["sweep", "--restart", "--all-owners", "--alive-from", "alive.txt"];
        fails(&queue.doctor, &queue.with_db(&wrong), 2);
    });
}

/// The home-made table's mapping does not say how owners name their host.
#[test]
fn owners_of_whom_nobody_says_what_the_host_is() {
    crawls_on_both(false, |queue| {
        let owners = ["'web1-4211'", "'web10-1'", "'crawler@web1.example.com'"];
        (1..).zip(owners).for_each(|(id, owner)| queue.crawl(&[(id, owner, 300, "NULL")]));
        let document = queue.run_with(&["reclaim", "--alive-from", "-", "--json"], b"pod/web1\n").exits(0).json();
        assert_eq!(ids(&document, "steps", rules), ["2 live_owner_list"], "{document:#}");
    });
}

/// Living owners whose names the list cannot read keep their jobs, and the entries that name no owner are counted.
#[test]
fn owners_that_resemble_an_entry_are_unknown() {
    crawls_on_both(false, |queue| {
        let named = ["'web1-a1b2c3d4'", "'web2(7)x'", "'cron1'", "'db9-1'", "'web11-1'"];
        let blank = ["''", "' '", "NULL", "'\u{200b}\u{2060}\u{1}\u{180e}'"];
        (1..).zip(named.into_iter().chain(blank)).for_each(|(id, owner)| queue.crawl(&[(id, owner, 300, "NULL")]));
        queue.write("alive.txt", "web1\nweb2\nweb3\ncron1\n");
        let counted = "3 of 4 entries of the live-owner list name no owner in flight";
        let with = |words: &[&str]| queue.json(&[words, &["--alive-from", "alive.txt"]].concat());
        let listed = with(&["stale"]);
        assert_eq!(ids(&listed, "jobs", rules), ["4 live_owner_list", "5 live_owner_list"], "{listed:#}");
        let unknown: Vec<&str> = listed["unknown"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| job["reasons"][0]["detail"].as_str().unwrap())
            .collect();
        assert!(
            unknown.iter().any(|why| why.contains("owner web1-a1b2c3d4") && why.contains("resembles its entry web1"))
        );
        assert!(unknown.iter().any(|why| why.contains("owner web2(7)x") && why.contains("resembles its entry web2")));
        assert_eq!(unknown.len(), 2, "{listed:#}");
        for words in [&["stale"][..], &["reclaim"], &["sweep"], &["sweep", "--restart"]] {
            let document = with(words);
            assert!(document["warnings"].as_array().unwrap().iter().any(|warning| warning == counted), "{document:#}");
        }
        queue.run(&["stale", "--alive-from", "alive.txt", "-v"]).exits(0).says(counted);
        // `show` judges by the same list.
        let shown = with(&["show", "1", "4", "6"]);
        assert_eq!(each(&shown, "jobs", "verdict"), ["unknown", "stuck", "healthy"], "{shown:#}");
        let shown = queue.run(&["show", "1", "--alive-from", "alive.txt"]).exits(0).stdout;
        assert!(shown.contains("resembles its entry web1"), "{shown}");
        // What is written is what was listed; claims that name nobody are no matter of a list.
        for words in [&["sweep", "--restart", "--apply"][..], &["reclaim", "--apply"]] {
            with(words);
            let left = queue.rows("SELECT CAST(id AS text) FROM crawls WHERE status = 'working' ORDER BY id");
            assert_eq!(left, ["1", "2", "3", "6", "7", "8", "9"], "{words:?}");
        }
    });
}

#[test]
fn a_table_that_names_no_owners() {
    let doctor = crate::support::cli::Doctor::new();
    doctor.sql("CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, attempts INTEGER, last_error TEXT)");
    std::fs::write(doctor.path("alive.txt"), "web1\n").unwrap();
    let words = ["reclaim", "--preset", "simple", "--db", "queue.db", "--alive-from", "alive.txt"];
    assert!(fails(&doctor, &words, 2).stderr.contains("does not say who holds a job"));
}
