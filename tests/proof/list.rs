//! `--alive-from`: an owner that is not on the list is dead, unless the claim's own row shows life.

use super::queue::{Queue, crawls_on_both, ids, on_both, reason, rules};
use crate::support::cli::{fails, is_valid};
use std::fs::File;
use std::os::unix::fs::symlink;
use std::time::Duration;

/// None of them silent for long, and nothing but age to see: web1 has two processes, web10 one; job 4 names nobody.
fn alive(queue: &Queue) {
    for (id, owner) in [(1, "'web1:11'"), (2, "'web1:12'"), (3, "'web10:7'"), (4, "NULL"), (5, "'web2.example.com:9'")]
    {
        queue.sql(&format!(
            "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at)
            VALUES ({id}, 'mail', 'SendInvoice', 'RUNNING', {owner}, AGO(900))"
        ));
    }
}

/// What `reclaim` and the restart sweep move, given a list.
fn moved(list: &str) -> Vec<String> {
    let mut seen = Vec::new();
    on_both(|queue| {
        for (n, command) in [&["reclaim"][..], &["sweep"], &["sweep", "--restart"]].into_iter().enumerate() {
            queue.sql("DELETE FROM jobs");
            alive(queue);
            queue.write("alive.txt", list);
            let by_file = queue.run(&[command, &["--alive-from", "alive.txt", "--json"]].concat()).exits(0).json();
            let words = [command, &["--alive-from", "-", "--apply", "--json"]].concat();
            let document = queue.run_with(&words, list.as_bytes()).exits(0).json();
            is_valid(command[0], &document);
            assert_eq!(ids(&document, "steps", rules), ids(&by_file, "steps", rules), "a pipe is as good as a file");
            assert!(document["filter"]["living_owners"].as_u64().unwrap() > 0);
            let steps = ids(&document, "steps", rules);
            let back = queue.rows("SELECT id || ' live_owner_list' FROM jobs WHERE status = 'QUEUED' ORDER BY id");
            assert_eq!(steps, back, "{document:#}");
            let unknown = ids(&document, "skipped", reason);
            let expected = if n == 2 { vec!["4 unknown"] } else { vec![] };
            assert_eq!(unknown, expected, "whose owner is not named, nobody knows: {document:#}");
            seen.push(steps);
        }
    });
    seen.dedup();
    assert_eq!(seen.len(), 1, "all commands and both engines see the same: {seen:#?}");
    seen.remove(0)
}

#[test]
fn hosts() {
    assert_eq!(moved("web1\n"), ["3 live_owner_list", "5 live_owner_list"]);
    assert_eq!(moved("# the living\r\n\r\n  web10  \r\nweb2\r\n"), ["1 live_owner_list", "2 live_owner_list"]);
    assert_eq!(moved("web1.example.com\nweb10\nweb2\n"), [""; 0]);
}

#[test]
fn what_kubectl_says() {
    assert_eq!(moved("pod/web1\npod/web2\n"), ["3 live_owner_list"]);
}

#[test]
fn processes_and_exact_ids() {
    assert_eq!(moved("web1:12\nweb2:9\nweb10\n"), ["1 live_owner_list"]);
    assert_eq!(moved("web1:11\nweb2.example.com:9\nweb10:7\n"), ["2 live_owner_list"]);
    assert_eq!(moved("web1:1\nweb10:7\nweb2\n"), ["1 live_owner_list", "2 live_owner_list"]);
}

#[test]
fn stale_lists_them_too() {
    on_both(|queue| {
        alive(queue);
        let document = queue.run_with(&["stale", "--alive-from", "-", "--json"], b"web1\nweb2\n").exits(0).json();
        is_valid("stale", &document);
        assert_eq!(ids(&document, "jobs", rules), ["3 live_owner_list"]);
        assert_eq!(document["jobs"][0]["liveness"], "live_owner_list");
        let detail = document["jobs"][0]["reasons"][0]["detail"].as_str().unwrap();
        assert_eq!(detail, "owner web10:7 is not on the list of living owners");
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
                let ran = fails(&queue.doctor, &words, 2);
                assert!(ran.stderr.contains("alive.txt is empty"), "{ran:#?}");
                assert!(ran.stderr.contains("--all-owners"), "{ran:#?}");
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
            assert!(ran.stderr.contains("alive.txt") && ran.stderr.contains(why), "{ran:#?}");
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
        queue.write("real.txt", "web1\nweb10\nweb2\n\u{1b}[2J\n");
        symlink("real.txt", queue.doctor.path("alive.txt")).unwrap();
        queue.run(&["reclaim", "--alive-from", "alive.txt"]).exits(0);
    });
}

/// A list of names that no owner has is more likely the wrong list than the death of everybody.
#[test]
fn a_list_of_others() {
    on_both(|queue| {
        alive(queue);
        queue.write("alive.txt", "db-0\ndb-1\x1b[31m\n");
        let planned = queue.run(&["reclaim", "--alive-from", "alive.txt"]).exits(0);
        assert!(planned.stderr.contains("no owner in flight is on the list of living owners"), "{planned:#?}");
        assert!(!planned.stderr.contains('\u{1b}'), "{planned:#?}");
        for command in [&["reclaim"][..], &["sweep", "--restart"]] {
            let words = [command, &["--alive-from", "alive.txt", "--apply", "--json"]].concat();
            let refused = queue.run(&words).exits(4).json();
            assert_eq!(refused["applied"], false);
            assert!(refused["refused"].as_str().unwrap().contains("--max-jobs"), "{refused:#}");
            assert!(queue.states().iter().all(|state| state.ends_with("RUNNING")));
        }
        let found = queue.run(&["stale", "--alive-from", "alive.txt"]).exits(0);
        assert!(found.stderr.contains("no owner in flight is on the list"), "{found:#?}");
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
            (1, 'RUNNING', 'new1:1', AGO(1200), AGO(60), NULL),
            (2, 'RUNNING', 'new2:1', AGO(60), NULL, NULL),
            (3, 'RUNNING', 'old:1', AGO(9000), AGO(8000), NULL),
            (4, 'RUNNING', 'web1:1', AGO(9000), AGO(60), NULL),
            (5, 'RUNNING', 'ahead:1', AGO(9000), AGO(-4000), NULL),
            (6, 'RUNNING', 'untimed:1', NULL, NULL, AGO(-900))",
        );
        queue.write("alive.txt", "web1\n");
        let file = File::options().write(true).open(queue.doctor.path("alive.txt")).unwrap();
        let written = file.metadata().unwrap().modified().unwrap();
        file.set_modified(written - Duration::from_secs(3600)).unwrap();
        let listed = queue.run(&["stale", "--alive-from", "alive.txt", "-v"]).exits(0);
        assert!(listed.stderr.contains("is 1h old"), "{listed:#?}");
        let document = queue.run(&["reclaim", "--alive-from", "alive.txt", "--json"]).exits(0).json();
        assert_eq!(ids(&document, "steps", rules), ["3 live_owner_list"], "{document:#}");
        let words = ["sweep", "--restart", "--alive-from", "alive.txt", "--apply", "--json"];
        let document = queue.run(&words).exits(0).json();
        // A heartbeat from the future is a wrong clock and no sign of life.
        assert_eq!(ids(&document, "steps", rules), ["3 live_owner_list", "5 live_owner_list"], "{document:#}");
        assert_eq!(ids(&document, "skipped", reason), ["1 unknown", "2 unknown", "6 unknown"], "{document:#}");
    });
}

/// The list and the row contradict each other, and nothing tells which one is right; an operator who declares owners dead does.
#[test]
fn the_rows_own_life_outranks_the_list() {
    on_both(|queue| {
        alive(queue);
        queue.sql("UPDATE jobs SET heartbeat_at = AGO(130) WHERE id IN (1, 3)");
        queue.sql("UPDATE jobs SET lease_expires_at = AGO(-900) WHERE id IN (2, 5)");
        queue.write("alive.txt", "web1\n");
        let document = queue.run(&["reclaim", "--alive-from", "alive.txt", "--apply", "--json"]).exits(0).json();
        assert_eq!(ids(&document, "skipped", reason), ["3 unknown", "5 unknown"], "{document:#}");
        let details: Vec<&str> =
            document["skipped"].as_array().unwrap().iter().map(|job| job["detail"].as_str().unwrap()).collect();
        let both =
            |life: &str| details.iter().any(|detail| detail.contains("is not on the list") && detail.contains(life));
        assert!(both("but its heartbeat is") && both("but its lease runs"), "{details:?}");
        queue.run(&["sweep", "--restart", "--alive-from", "alive.txt", "--apply"]).exits(0);
        assert_eq!(queue.states(), ["1 RUNNING", "2 RUNNING", "3 QUEUED", "4 RUNNING", "5 QUEUED"]);
    });
}

/// One line of `kubectl get pods -o jsonpath='{.items[*].metadata.name}'` names them all.
#[test]
fn every_word_of_a_line_is_a_name() {
    on_both(|queue| {
        alive(queue);
        queue.write("alive.txt", "web1 web10 web2\n----\n");
        let ran = queue.run(&["reclaim", "--alive-from", "alive.txt", "-v"]).exits(0);
        assert!(ran.stderr.contains("1 line of the live-owner list name no owner: 2"), "{ran:#?}");
        queue.run(&["reclaim", "--alive-from", "alive.txt", "--apply"]).exits(0);
        assert!(queue.states().iter().all(|state| state.ends_with("RUNNING")));
    });
}

/// Clocks differ, and many tables keep whole seconds: a claim of the minute in which the list was made may be later than it.
#[test]
fn a_claim_made_in_the_minute_of_the_list_is_left_alone() {
    on_both(|queue| {
        alive(queue);
        queue.sql("UPDATE jobs SET claimed_at = AGO(50) WHERE id = 3");
        queue.write("alive.txt", "web1\n");
        let document = queue.run(&["reclaim", "--alive-from", "alive.txt", "--json"]).exits(0).json();
        assert_eq!(ids(&document, "steps", rules), ["5 live_owner_list"], "{document:#}");
        let words = ["sweep", "--restart", "--alive-from", "alive.txt", "--json"];
        let document = queue.run(&words).exits(0).json();
        assert_eq!(
            ids(&document, "steps", rules),
            ["3 live_owner_list", "5 live_owner_list"],
            "the operator answers for the clocks"
        );
    });
}

/// Who is on the list is not dead, but its silence still counts; unless all there is to see is age.
#[test]
fn the_living_can_be_silent() {
    on_both(|queue| {
        queue.sql(
            "INSERT INTO jobs (id, status, owner_id, claimed_at, heartbeat_at) VALUES
            (1, 'RUNNING', 'web1:1', AGO(9000), AGO(8000)), (2, 'RUNNING', 'web1:2', AGO(9000), NULL),
            (3, 'RUNNING', 'web2:1', AGO(9000), NULL)",
        );
        queue.write("alive.txt", "web1\n");
        let found = queue.run(&["stale", "--alive-from", "alive.txt", "--json"]).exits(0).json();
        assert_eq!(ids(&found, "jobs", rules), ["1 heartbeat_silent", "3 live_owner_list"]);
        let without = queue.run(&["stale", "--json"]).exits(0).json();
        assert_eq!(ids(&without, "jobs", rules), ["1 heartbeat_silent", "2 claim_age", "3 claim_age"]);
        // For a restart sweep only the list counts.
        let swept = queue.run(&["sweep", "--restart", "--alive-from", "alive.txt", "--json"]).exits(0).json();
        assert_eq!(ids(&swept, "steps", rules), ["3 live_owner_list"]);
    });
}

#[test]
fn other_thresholds_still_count() {
    on_both(|queue| {
        alive(queue);
        queue.sql("UPDATE jobs SET heartbeat_at = AGO(600) WHERE id = 5");
        queue.sql("UPDATE jobs SET heartbeat_at = AGO(200) WHERE id <> 5");
        let words = ["reclaim", "--alive-from", "-", "--older", "5m", "--json"];
        let document = queue.run_with(&words, b"web1\n").exits(0).json();
        assert_eq!(ids(&document, "steps", rules), ["5 live_owner_list"]);
    });
}

/// Where others share the table, a restart sweep by list can be kept to some of them.
#[test]
fn narrowed_down() {
    on_both(|queue| {
        alive(queue);
        let words = ["sweep", "--restart", "--owner", "web1*", "--alive-from", "-", "--apply"];
        queue.run_with(&words, b"web1\n").exits(0);
        assert_eq!(queue.states(), ["1 RUNNING", "2 RUNNING", "3 QUEUED", "4 RUNNING", "5 RUNNING"]);
    });
}

#[test]
fn a_restart_needs_a_scope_and_a_list_is_one() {
    on_both(|queue| {
        let ran = fails(&queue.doctor, &["sweep", "--restart", "--db", &queue.url], 2);
        assert!(ran.stderr.contains("--alive-from"), "{ran:#?}");
        queue.write("alive.txt", "web1\n");
        let wrong = ["sweep", "--restart", "--all-owners", "--alive-from", "alive.txt", "--db", &queue.url];
        fails(&queue.doctor, &wrong, 2);
    });
}

/// The home-made table's mapping does not say how owners name their host.
#[test]
fn owners_of_whom_nobody_says_what_the_host_is() {
    crawls_on_both(false, |queue| {
        queue.sql(
            "INSERT INTO crawls (id, status, worker, started) VALUES (1, 'working', 'web1-4211', AGO(300)),
            (2, 'working', 'web10-1', AGO(300)), (3, 'working', 'crawler@web1.example.com', AGO(300))",
        );
        let document = queue.run_with(&["reclaim", "--alive-from", "-", "--json"], b"pod/web1\n").exits(0).json();
        assert_eq!(ids(&document, "steps", rules), ["2 live_owner_list"], "{document:#}");
    });
}

/// Living owners whose names the list cannot read keep their jobs, and the entries that name no owner are counted.
#[test]
fn owners_that_resemble_an_entry_are_unknown() {
    crawls_on_both(false, |queue| {
        queue.sql(
            "INSERT INTO crawls (id, status, worker, started) VALUES (1, 'working', 'web1-a1b2c3d4', AGO(300)),
            (2, 'working', 'web2(7)x', AGO(300)), (3, 'working', 'cron1', AGO(300)), (4, 'working', 'db9-1', AGO(300)),
            (5, 'working', 'web11-1', AGO(300)), (6, 'working', '', AGO(300)), (7, 'working', ' ', AGO(300)),
            (8, 'working', NULL, AGO(300)), (9, 'working', '\u{200b}\u{2060}\u{1}\u{180e}', AGO(300))",
        );
        queue.write("alive.txt", "web1\nweb2\nweb3\ncron1\n");
        let counted = "3 of 4 entries of the live-owner list name no owner in flight";
        fn with<'a>(words: &[&'a str]) -> Vec<&'a str> {
            [words, &["--alive-from", "alive.txt", "--json"]].concat()
        }
        let listed = queue.run(&with(&["stale"])).exits(0);
        assert!(!listed.stderr.contains(counted), "no terminal: {listed:#?}");
        let listed = listed.json();
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
            let document = queue.run(&with(words)).exits(0).json();
            assert!(document["warnings"].as_array().unwrap().iter().any(|warning| warning == counted), "{document:#}");
        }
        let said = queue.run(&["stale", "--alive-from", "alive.txt", "-v"]).exits(0);
        assert!(said.stderr.contains(counted), "{said:#?}");
        // `show` judges by the same list.
        let shown = queue.run(&with(&["show", "1", "4", "6"])).exits(0).json();
        let verdicts: Vec<&str> =
            shown["jobs"].as_array().unwrap().iter().map(|job| job["verdict"].as_str().unwrap()).collect();
        assert_eq!(verdicts, ["unknown", "stuck", "healthy"], "{shown:#}");
        let shown = queue.run(&["show", "1", "--alive-from", "alive.txt"]).exits(0).stdout;
        assert!(shown.contains("resembles its entry web1"), "{shown}");
        // What is written is what was listed; claims that name nobody are no matter of a list.
        for words in [&["sweep", "--restart", "--apply"][..], &["reclaim", "--apply"]] {
            queue.run(&with(words)).exits(0);
            let left = queue.rows("SELECT CAST(id AS text) FROM crawls WHERE status = 'working' ORDER BY id");
            assert_eq!(left, ["1", "2", "3", "6", "7", "8", "9"], "{words:?}");
        }
    });
}

#[test]
fn a_table_that_names_no_owners() {
    let doctor = crate::support::cli::Doctor::new();
    doctor
        .sql("queue.db", "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, attempts INTEGER, last_error TEXT)");
    std::fs::write(doctor.path("alive.txt"), "web1\n").unwrap();
    let words = ["reclaim", "--preset", "simple", "--db", "queue.db", "--alive-from", "alive.txt"];
    assert!(fails(&doctor, &words, 2).stderr.contains("does not say who holds a job"));
}
