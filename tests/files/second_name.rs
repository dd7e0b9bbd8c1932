//! A file under a second name: a hard link, or the file alone bound into a container. SQLite keeps its journals next to one of the
//! names; whoever opens the other reads without them, and damages the file.

use crate::cli::scene::{STATE, incident, orphans};
use crate::support::cli::{Doctor, until};
use crate::support::files::Frozen;
use crate::support::users::say_what_is_missing;
use rusqlite::Connection;
use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

const JOURNALS: [&str; 2] = ["delete", "wal"];

/// What judges claims, or writes.
const REFUSED: [&[&str]; 9] = [
    &["stale"],
    &["show", "1"],
    &["owners"],
    &["stats"],
    &["reclaim"],
    &["reclaim", "--apply"],
    &["sweep", "--apply"],
    &["sweep", "--restart", "--all-owners", "--apply"],
    &["init", "--ledger"],
];

/// An incident in that journal mode, with a second name in a directory of its own.
fn linked(journal: &str) -> Doctor {
    let doctor = incident();
    doctor.sql(&format!("PRAGMA journal_mode = {journal}"));
    fs::create_dir(doctor.path("far")).unwrap();
    fs::hard_link(doctor.path("queue.db"), doctor.path("far/queue.db")).unwrap();
    doctor
}

#[test]
fn a_hard_link_is_neither_judged_nor_written_to() {
    for journal in JOURNALS {
        let doctor = linked(journal);
        let before = Frozen::of(&doctor.path(""));
        for name in ["queue.db", "far/queue.db"] {
            for words in REFUSED {
                let ran = doctor.run(&[words, &["--db", name]].concat()).exits(4);
                ran.says(&format!("{name} has a second name")).says("remove the other name").says("--second-name");
            }
            let ran = doctor.run(&["check", "--json", "--db", name]).exits(78);
            assert_eq!(ran.json()["findings"][0]["id"], "second_name", "{ran:#?}");
            assert_eq!(ran.json()["can_list"], false, "{ran:#?}");
            doctor.run(&["history", "--db", name]).exits(0);
            doctor.run(&["env", "--db", name]).exits(0);
            before.must_be_unchanged();
        }
    }
}

#[test]
fn another_name_in_the_same_directory_is_named() {
    let doctor = incident();
    fs::hard_link(doctor.path("queue.db"), doctor.path("backup.db")).unwrap();
    doctor.on_queue(&["stale"]).exits(4).says("/backup.db too (a hard link)");
    // A file without a second name is told by its path: a symbolic link is no name.
    fs::remove_file(doctor.path("backup.db")).unwrap();
    std::os::unix::fs::symlink("queue.db", doctor.path("link.db")).unwrap();
    doctor.run(&["stale", "--db", "link.db"]).exits(0);
}

#[test]
fn a_person_who_knows_may_insist() {
    for journal in JOURNALS {
        let doctor = linked(journal);
        doctor.on_queue(&["stale", "--second-name"]).exits(0);
        let config = format!("[target.q]\ndb = {:?}\nsecond_name = true\n", doctor.path("queue.db"));
        fs::write(doctor.path("config.toml"), config).unwrap();
        doctor.run(&["reclaim", "--apply", "--config", "config.toml"]).exits(0);
        assert_eq!(doctor.rows(STATE)[0], "1 QUEUED - 2");
    }
}

/// A program of the application in mount and PID namespaces of its own, where the file alone is bound to `container/queue.db`. Its
/// statements come by a pipe; it has the file open until it is dropped.
struct Container(Child);

impl Container {
    /// `None` where a namespace cannot be made, which is said aloud.
    fn of(doctor: &Doctor, program: &[&str]) -> Option<Container> {
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c"]);
        unshare.arg("mount --bind queue.db container/queue.db && exec \"$@\"").arg("sh").args(program);
        let child =
            unshare.current_dir(doctor.path("")).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Some(Container(child.spawn().unwrap()))
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn can_bind(doctor: &Doctor) -> bool {
    fs::create_dir(doctor.path("container")).unwrap();
    fs::write(doctor.path("container/queue.db"), "").unwrap();
    let bound = Container::of(doctor, &["true"]).is_some_and(|mut tried| tried.0.wait().unwrap().success());
    if !bound {
        say_what_is_missing("a file that alone is bound into a container is told (no namespaces here)");
    }
    bound
}

#[test]
fn in_a_container_the_bound_file_is_refused() {
    for journal in JOURNALS {
        let doctor = incident();
        if !can_bind(&doctor) {
            return;
        }
        doctor.sql(&format!("PRAGMA journal_mode = {journal}"));
        let worker = doctor.connect("queue.db");
        worker.execute("UPDATE jobs SET heartbeat_at = unixepoch()", []).unwrap();
        let program = env!("CARGO_BIN_EXE_jobdoctor");
        // With a log the worker, whose number nothing tells in here, is seen by its lock, whatever a person insists on.
        let insisting = [&["stale", "--second-name"][..], &["reclaim", "--apply", "--second-name"]];
        for words in REFUSED.into_iter().chain(insisting.into_iter().filter(|_| journal == "wal")) {
            let insists = words.contains(&"--second-name");
            let words = [&[program], words, &["--db", "container/queue.db", "--no-config"]].concat();
            let mut container = Container::of(&doctor, &words).unwrap();
            drop(container.0.stdin.take());
            let mut said = String::new();
            std::io::Read::read_to_string(&mut container.0.stderr.take().unwrap(), &mut said).unwrap();
            assert_eq!(container.0.wait().unwrap().code(), Some(4), "{words:?}: {said}");
            let why = if insists { "by a process of another container" } else { "the file itself is a mount point" };
            let advice = if insists { "mount its directory" } else { "mount the directory" };
            assert!(said.contains(why) && said.contains(advice), "{said}");
        }
        drop(worker);
        assert_eq!(fs::read_dir(doctor.path("container")).unwrap().count(), 1, "nothing was made beside the file");
    }
}

#[test]
fn from_the_host_a_file_that_is_in_use_in_a_container_is_refused() {
    let doctor = orphans(400);
    if !can_bind(&doctor) {
        return;
    }
    let rows = "SELECT count(*) FROM jobs WHERE status = 'RUNNING'";
    let before = fs::read(doctor.path("queue.db")).unwrap();
    let mut worker = Container::of(&doctor, &["sqlite3", "container/queue.db"]).unwrap();
    let heartbeat =
        "PRAGMA wal_autocheckpoint = 0; UPDATE jobs SET lease_expires_at = unixepoch() + 3600; SELECT 'done';\n";
    worker.0.stdin.as_mut().unwrap().write_all(heartbeat.as_bytes()).unwrap();
    let mut told = std::io::BufReader::new(worker.0.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("done") {
        assert!(std::io::BufRead::read_line(&mut told, &mut line).unwrap() > 0, "the worker ended: {line}");
    }
    for words in REFUSED.into_iter().chain([&["check"][..], &["history"]]) {
        doctor.on_queue(&[words, &["--second-name"]].concat()).exits(4).says("under another name");
    }
    assert_eq!(fs::read(doctor.path("queue.db")).unwrap(), before);
    assert!(!doctor.path("queue.db-wal").exists() && !doctor.path("queue.db-shm").exists());
    // A log here says nothing about the worker: an empty one, that of a reader here, what it leaves behind.
    let refused = || {
        for words in [&["stale"][..], &["reclaim", "--apply"], &["check"]] {
            doctor.on_queue(&[words, &["--second-name"]].concat()).exits(4).says("under another name, by process");
        }
        assert_eq!(fs::read(doctor.path("queue.db")).unwrap(), before);
    };
    fs::write(doctor.path("queue.db-wal"), "").unwrap();
    refused();
    let reader = doctor.connect("queue.db");
    reader.query_row(rows, [], |_| Ok(())).unwrap();
    refused();
    drop(reader);
    refused();
    for left in ["queue.db-wal", "queue.db-shm"] {
        fs::remove_file(doctor.path(left)).unwrap();
    }
    // The worker ends in good order, and checkpoints its log: now the file says all there is.
    drop(worker.0.stdin.take());
    until("the worker has ended", || worker.0.try_wait().unwrap().is_some());
    let ran = doctor.on_queue(&["reclaim", "--apply"]).exits(0);
    let file = Connection::open(doctor.path("queue.db")).unwrap();
    let left: i64 = file.query_row(rows, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 400, "the leases run: {ran:#?}");
}

#[test]
fn readers_that_make_and_remove_the_log_do_not_keep_each_other_out() {
    let doctor = orphans(20);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10).for_each(|_| drop(doctor.on_queue(&["stale"]).exits(0))));
        }
    });
}
