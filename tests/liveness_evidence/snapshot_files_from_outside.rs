//! A snapshot file is checked like anything from outside, and what is not ours is never overwritten.

use super::queue::{Queue, crawls_on_both, on_both};
use crate::support::cli::fails;
use serde_json::{Value, json};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

fn seeded(queue: &Queue<'_>) {
    queue.sql(
        "INSERT INTO jobs (id, status, owner_id, claimed_at, heartbeat_at)
        VALUES (1, 'RUNNING', 'web1:1', {ago 60}, {ago -3600})",
    );
    queue.run(&["stale", "--snapshot-file", "look.json"]).exits(0);
}

type Change<'a> = &'a dyn Fn(&mut Value);

/// Refused by each command with 78 and the file's name, and left as it is.
fn refused(queue: &Queue<'_>, file: &str, why: &str) {
    let path = queue.doctor.path(file);
    let before = fs::symlink_metadata(&path).unwrap();
    let content = if before.is_file() && before.len() < 1 << 20 { fs::read(&path).ok() } else { None };
    for command in [&["stale"][..], &["reclaim", "--apply"], &["sweep", "--apply"]] {
        let ran = fails(&queue.doctor, &[command, &["--snapshot-file", file, "--db", &queue.url]].concat(), 78);
        ran.says(file).says(why);
        assert!(ran.stderr.len() < 2000 && !ran.stderr.contains('\u{1b}'), "{ran:#?}");
    }
    let after = fs::symlink_metadata(&path).unwrap();
    assert_eq!((before.len(), before.file_type()), (after.len(), after.file_type()));
    assert_eq!(content, if content.is_some() { fs::read(&path).ok() } else { None });
}

#[test]
fn what_is_no_saved_look() {
    on_both(|queue| {
        seeded(queue);
        let whole = fs::read_to_string(queue.doctor.path("look.json")).unwrap();
        let good: Value = serde_json::from_str(&whole).unwrap();
        let put = |text: &[u8]| {
            queue.write("look.json", text);
            fs::set_permissions(queue.doctor.path("look.json"), Permissions::from_mode(0o600)).unwrap();
        };
        for cut in [1, whole.len() / 2, whole.len() - 3] {
            put(&whole.as_bytes()[..cut]);
            refused(queue, "look.json", "is not a saved snapshot, or is incomplete");
        }
        let with = |change: &dyn Fn(&mut Value)| {
            let mut look = good.clone();
            change(&mut look);
            put(look.to_string().as_bytes());
        };
        let hostile: [(Change<'_>, &str); 9] = [
            (&|look| look["schema"] = json!("jobdoctor.plan/v1"), "jobdoctor.plan/v1"),
            (&|look| look["schema"] = json!("\u{1b}[2J".repeat(5000)), "is of the form"),
            (&|look| look["claims"][0]["since_at"] = json!("0001-01-01T00:00:00Z"), "times that cannot be right"),
            (&|look| look["claims"][0]["since_at"] = json!("9999-01-01T00:00:00Z"), "times that cannot be right"),
            (&|look| look["claims"][0]["progress_since_at"] = json!("1970-01-01T00:00:00Z"), "times that cannot"),
            (&|look| look["claims"][0]["key"] = json!("+f".repeat(16)), "not 32 hexadecimal digits"),
            (&|look| look["claims"][0]["values"] = json!("\u{1b}]0;x\u{7}".repeat(50_000)), "is not a saved snapshot"),
            (&|look| look["claims"] = json!({"a": 1}), "is not a saved snapshot"),
            (&|look| look["store_time"] = json!(12), "is not a saved snapshot"),
        ];
        for (change, why) in hostile {
            with(change);
            refused(queue, "look.json", why);
        }
        put("[".repeat(100_000).as_bytes());
        refused(queue, "look.json", "is not a saved snapshot");
        put(b"\xff\xfe\x00");
        refused(queue, "look.json", "is not a saved snapshot");
        // A file that holds nothing has nothing to lose.
        put(b"");
        queue.run(&["stale", "--snapshot-file", "look.json"]).exits(0);
        let again: Value = serde_json::from_slice(&fs::read(queue.doctor.path("look.json")).unwrap()).unwrap();
        assert_eq!(again["claims"][0]["values"], good["claims"][0]["values"]);
    });
}

#[test]
fn what_is_no_file_to_write_to() {
    on_both(|queue| {
        seeded(queue);
        fs::create_dir(queue.doctor.path("folder")).unwrap();
        refused(queue, "folder", "is no file");
        symlink("look.json", queue.doctor.path("link.json")).unwrap();
        refused(queue, "link.json", "is a link");
        File::create(queue.doctor.path("huge.json")).unwrap().set_len(200 << 20).unwrap();
        refused(queue, "huge.json", "is larger than 128 MiB");
        if !queue.is_postgres() {
            refused(queue, "queue.db", "is not a saved snapshot");
        }
        fs::set_permissions(queue.doctor.path("look.json"), Permissions::from_mode(0o620)).unwrap();
        refused(queue, "look.json", "may be written by others (mode 0620)");
        fails(&queue.doctor, &["reclaim", "--snapshot-file", "nowhere/look.json", "--db", &queue.url, "--apply"], 78)
            .says("nowhere/look.json");
        // Nothing is left beside it.
        assert!(queue.doctor.files().iter().all(|file| !file.starts_with(".jobdoctor-")));
    });
}

/// The file of another database, or of another queue in it.
#[test]
fn the_file_of_another_queue() {
    on_both(|queue| {
        seeded(queue);
        let before = fs::read(queue.doctor.path("look.json")).unwrap();
        queue.doctor.run(&["init", "--db", "other.db"]).exits(0);
        for command in [&["stale"][..], &["sweep", "--apply"]] {
            let ran =
                fails(&queue.doctor, &[command, &["--snapshot-file", "look.json", "--db", "other.db"]].concat(), 78);
            ran.says("is a snapshot of").says("other.db");
        }
        assert_eq!(fs::read(queue.doctor.path("look.json")).unwrap(), before);
        // One file has many names.
        if !queue.is_postgres() {
            queue.doctor.run(&["stale", "--snapshot-file", "look.json", "--db", "./queue.db"]).exits(0);
        }
    });
    crawls_on_both(false, |queue| {
        queue.run(&["stale", "--snapshot-file", "look.json"]).exits(0);
        let config = fs::read_to_string(queue.doctor.path("config.toml")).unwrap();
        queue.write("renamed.toml", config.replace("mapping.crawls", "mapping.others"));
        let words = ["stale", "--snapshot-file", "look.json", "--db", &queue.url, "--config", "renamed.toml"];
        fails(&queue.doctor, &[&words[..], &["--preset", "others"]].concat(), 78).says("preset crawls");
    });
}

/// Two runs at once: one of them wins, and the file is whole.
#[test]
fn two_runs_at_once() {
    on_both(|queue| {
        seeded(queue);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..3 {
                        queue.run(&["stale", "--snapshot-file", "look.json"]).exits(0);
                    }
                });
            }
        });
        let look: Value = serde_json::from_slice(&fs::read(queue.doctor.path("look.json")).unwrap()).unwrap();
        assert_eq!(look["claims"].as_array().unwrap().len(), 1);
    });
}
