//! A path is a path, whatever it looks like to a shell, to a URL or to SQLite.

use crate::cli::scene::{STATE, calm, incident};
use crate::support::cli::Doctor;
use crate::support::files::Frozen;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// The program with the database that lies at this path, which no test could write as text.
fn run(doctor: &Doctor, arguments: &[&str], path: &OsStr) -> (Option<i32>, String, String) {
    let mut db = OsString::from("--db=");
    db.push(path);
    let done = doctor.command(arguments).arg(db).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("what it prints is UTF-8");
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

/// Moves an incident to that name in a working directory of its own, looks at it, and reclaims.
fn is_opened(name: &OsStr) {
    let doctor = Doctor::new();
    let made = incident();
    fs::copy(made.path("queue.db"), doctor.path("").join(name)).unwrap();
    let before = Frozen::of(&doctor.path(""));
    let (code, said, error) = run(&doctor, &["stale", "-o", "name"], name);
    assert_eq!((code, said.lines().count()), (Some(0), 6), "{name:?}: {error}");
    let (code, ..) = run(&doctor, &["reclaim", "-o", "json"], name);
    assert_eq!(code, Some(0), "{name:?}");
    before.must_be_unchanged();
    let (code, _, error) = run(&doctor, &["reclaim", "--apply"], name);
    assert_eq!(code, Some(0), "{name:?}: {error}");
    // Read it back under a name that nobody could misread.
    fs::rename(doctor.path("").join(name), doctor.path("plain.db")).unwrap();
    assert_eq!(doctor.rows_in("plain.db", STATE)[0], "1 QUEUED - 2", "{name:?}");
    assert_eq!(doctor.files(), ["plain.db"], "{name:?}");
}

#[test]
fn names_that_mean_something_to_others() {
    for name in [
        "file:queue.db",
        "file:queue.db?mode=memory",
        "file:queue.db?mode=ro&immutable=1",
        "file::memory:",
        "./:memory:",
        "queue.db?mode=memory",
        "queue#1.db",
        "queue%20one.db",
        "queue%00.db",
        "a queue.db",
        " queue.db ",
        "-queue.db",
        "--apply",
        "queue'; DROP TABLE jobs; --.db",
        "queue\".db",
        "queue\n.db",
        "queue\u{202e}bd.db",
        "größe.db",
    ] {
        is_opened(OsStr::new(name));
    }
}

/// `sqlite:` says that a path follows, whatever it looks like.
#[test]
fn a_path_behind_its_scheme() {
    let doctor = Doctor::new();
    let made = incident();
    for name in [":memory:", "host=queue.db", "postgres:queue.db", "sqlite:queue.db", "file:queue.db"] {
        fs::copy(made.path("queue.db"), doctor.path(name)).unwrap();
        let mut db = OsString::from("sqlite:");
        db.push(name);
        let (code, said, error) = run(&doctor, &["stale", "-o", "name"], &db);
        assert_eq!((code, said.lines().count()), (Some(0), 6), "{name}: {error}");
    }
}

#[test]
fn names_that_are_no_text() {
    is_opened(OsStr::from_bytes(b"queue\xff.db"));
    is_opened(OsStr::from_bytes(b"\xc3\x28\xf0.db"));
    let doctor = Doctor::new();
    let (code, _, error) = run(&doctor, &["stale"], OsStr::from_bytes(b"none\xff.db"));
    assert_eq!(code, Some(66));
    assert!(error.contains("there is no file none\u{fffd}.db"), "{error}");
    let mut demo = doctor.command(&["demo"]);
    assert!(demo.arg(OsStr::from_bytes(b"demo\xfe.db")).output().unwrap().status.success());
    assert!(doctor.path("").join(OsStr::from_bytes(b"demo\xfe.db")).is_file());
    assert_eq!(doctor.files().len(), 1);
}

#[test]
fn directories_between() {
    let doctor = Doctor::new();
    let made = incident();
    fs::create_dir_all(doctor.path("a/file:b?c/-d")).unwrap();
    fs::copy(made.path("queue.db"), doctor.path("a/file:b?c/-d/queue.db")).unwrap();
    for db in ["a/file:b?c/-d/queue.db", "./a/../a//file:b?c/./-d/queue.db"] {
        doctor.run(&["stale", "--db", db]).exits(0);
    }
    let whole = doctor.path("a/file:b?c/-d/queue.db");
    doctor.run(&["reclaim", "--apply", "--db", whole.to_str().unwrap()]).exits(0);
    assert_eq!(Frozen::of(whole.parent().unwrap()).names(), ["queue.db"]);
}

/// SQLite has a limit of its own, and says no more than that it cannot open the file.
#[test]
fn paths_longer_than_sqlite_takes() {
    let doctor = Doctor::new();
    let made = calm();
    let mut deep = "d".repeat(100);
    while fs::canonicalize(doctor.path("")).unwrap().join(&deep).as_os_str().len() < 400 {
        deep.push_str("/dd");
    }
    fs::create_dir_all(doctor.path(&deep)).unwrap();
    let mut ends = std::collections::BTreeSet::new();
    for more in 80..120 {
        let name = format!("{deep}/{}.db", "n".repeat(more));
        fs::copy(made.path("queue.db"), doctor.path(&name)).unwrap();
        let ran = doctor.run(&["stale", "--db", &name]);
        ends.insert(ran.code);
        if ran.code == 66 {
            ran.says("more than about 512 bytes").says("hint: ");
        }
        fs::remove_file(doctor.path(&name)).unwrap();
    }
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), [0, 66], "both sides of the limit were tried");
}
