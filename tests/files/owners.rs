//! Whose files they are. Sidecars that somebody else leaves behind lock the owner out of the database, so whoever looks
//! leaves none, and whoever writes leaves only such as the owner can use.

use crate::cli::scene::{STATE, incident};
use crate::support::cli::{Doctor, Ran};
use crate::support::files::{Frozen, HALF_A_TRANSACTION, Writer};
use crate::support::users::{User, others, others_for};
use rustix::process::geteuid;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// A rollback journal, and nobody there.
    Rollback,
    /// A WAL that was put away.
    Clean,
    /// A WAL whose writer is at work.
    Live,
    /// A WAL whose writer was killed.
    Killed,
    /// The same, and its index is lost.
    WithoutIndex,
    /// A rollback journal whose writer was killed in the middle of a transaction.
    Hot,
    /// A rollback journal, and beside it a log that is not this file's. To SQLite that is a WAL that has lost its index.
    Stray,
}

use Found::{Clean, Hot, Killed, Live, Rollback, Stray, WithoutIndex};

const ALL: [Found; 7] = [Rollback, Clean, Live, Killed, WithoutIndex, Hot, Stray];

/// What the newest commit, which only the WAL has, made of job 1; and what it was before.
const COMMITTED: &str = "PRAGMA wal_autocheckpoint = 0; UPDATE jobs SET queue = 'newest' WHERE id = 1;";

/// A working directory with the incident, found like that. All of it is the owner's, if there is one; else ours.
fn stage(found: Found, owner: Option<&User>) -> (Doctor, Option<Writer>) {
    let doctor = incident();
    if found == Stray {
        fs::write(doctor.path("queue.db-wal"), "of another file").unwrap();
    } else if !matches!(found, Rollback | Hot) {
        doctor.sql("PRAGMA journal_mode = wal");
    }
    let path = doctor.path("queue.db");
    let root = doctor.path("").parent().unwrap().to_owned();
    fs::set_permissions(&root, Permissions::from_mode(0o755)).unwrap();
    if let Some(owner) = owner {
        owner.takes(&doctor.path(""));
    }
    let writer = |sql: &str| Writer::by(owner, &path, sql);
    let live = match found {
        Rollback | Clean | Stray => None,
        Live => Some(writer(COMMITTED)),
        Killed | WithoutIndex => {
            writer(COMMITTED).kill();
            None
        }
        Hot => {
            writer(HALF_A_TRANSACTION).kill();
            None
        }
    };
    if found == WithoutIndex {
        fs::remove_file(doctor.path("queue.db-shm")).unwrap();
    }
    (doctor, live)
}

/// What somebody is called, and who it is, if not we.
#[derive(Clone, Copy)]
struct Who<'a>(&'a str, Option<&'a User>);

impl Who<'_> {
    fn run(&self, doctor: &Doctor, arguments: &[&str]) -> Ran {
        self.1.map_or_else(|| doctor.run(arguments), |user| user.runs(doctor, arguments))
    }
}

/// Everything in the working directory is the owner's, and the owner can write.
fn is_usable_by(owner: Option<&User>, doctor: &Doctor, context: &str) {
    let uid = owner.map_or(geteuid().as_raw(), |owner| owner.uid);
    for name in doctor.files() {
        let found = fs::metadata(doctor.path(&name)).unwrap().uid();
        assert_eq!(found, uid, "{context}: {name} belongs to somebody else");
    }
    Writer::by(owner, &doctor.path("queue.db"), "UPDATE jobs SET stalls = stalls + 1;").end();
}

/// Looks at a file as that user, and then applies; `looks` and `applies` are the ends that these must come to.
fn is_left_well(found: Found, owner: Option<&User>, who: Who<'_>, looks: i32, applies: i32) {
    let context = format!("{found:?}, {}", who.0);
    let (doctor, writer) = stage(found, owner);
    let before = Frozen::of(&doctor.path(""));
    for look in [&["stale"][..], &["reclaim"], &["show", "1"], &["owners"], &["check"], &["sweep"]] {
        let ran = who.run(&doctor, &[look, &["--db", "queue.db"]].concat());
        // Who may read and not write is told so by `check`.
        let expected = if look == ["check"] && looks == 0 { applies } else { looks };
        assert_eq!(ran.code, expected, "{context}: {look:?}: {ran:#?}");
        if looks == 0 && look == ["stale"] && !matches!(found, Rollback | Clean | Stray) {
            assert!(ran.stdout.contains("newest"), "{context}: the last commit is missing: {ran:#?}");
        }
        if looks == 77 {
            assert_eq!(ran.stdout, "", "{context}: {ran:#?}");
            assert!(ran.stderr.contains("queue.db") && ran.stderr.contains("\nhint: "), "{context}: {ran:#?}");
        }
        if matches!(found, WithoutIndex | Stray) && looks == 0 {
            before.must_be_unchanged_but_for("queue.db-shm");
        } else {
            before.must_be_unchanged();
        }
    }
    // A worker that is at work must not notice, whoever looked.
    let (doctor, writer) = match writer {
        Some(mut writer) => {
            writer.run("UPDATE jobs SET stalls = stalls + 1;");
            (doctor, Some(writer))
        }
        None => stage(found, owner),
    };
    let before = Frozen::of(&doctor.path(""));
    let ran = who.run(&doctor, &["reclaim", "--apply", "--db", "queue.db"]);
    assert_eq!(ran.code, applies, "{context}: {ran:#?}");
    if applies == 77 {
        before.must_be_unchanged();
        assert!(ran.stderr.contains("queue.db") && ran.stderr.contains("\nhint: "), "{context}: {ran:#?}");
    }
    if let Some(mut writer) = writer {
        writer.run("UPDATE jobs SET stalls = stalls + 1;");
        writer.end();
    }
    is_usable_by(owner, &doctor, &context);
    let expected = if applies == 0 { "1 QUEUED - 2" } else { "1 RUNNING media1:2207 1" };
    assert_eq!(doctor.rows(STATE)[0], expected, "{context}");
}

#[test]
fn ones_own() {
    for found in ALL {
        is_left_well(found, None, Who("the owner", None), if found == Hot { 77 } else { 0 }, 0);
    }
}

#[test]
fn somebodys_that_its_owner_root_or_a_stranger_looks_at() {
    let Some([owner, stranger]) = others_for("that users leave each other's files usable") else { return };
    for found in ALL {
        let looks = if found == Hot { 77 } else { 0 };
        is_left_well(found, Some(&owner), Who("the owner", Some(&owner)), looks, 0);
        is_left_well(found, Some(&owner), Who("root", None), looks, 0);
        let looks = if matches!(found, Clean | WithoutIndex | Hot | Stray) { 77 } else { 0 };
        is_left_well(found, Some(&owner), Who("a stranger", Some(&stranger)), looks, 77);
    }
}

/// What a stranger is told to do instead does it.
#[test]
fn the_line_that_would_do() {
    let Some([owner, stranger]) = others_for("the `sudo -u` line") else { return };
    for found in [Clean, WithoutIndex, Stray] {
        let (doctor, _) = stage(found, Some(&owner));
        // The rights are there: it is what would stay behind that is in the way.
        fs::set_permissions(doctor.path(""), Permissions::from_mode(0o777)).unwrap();
        fs::set_permissions(doctor.path("queue.db"), Permissions::from_mode(0o666)).unwrap();
        let before = Frozen::of(&doctor.path(""));
        for arguments in [&["stale"][..], &["reclaim", "--apply"]] {
            let ran = stranger.runs(&doctor, &[arguments, &["--db", "queue.db"]].concat()).exits(77);
            let line = format!("hint: run it as the owner: sudo -u {} jobdoctor ...\n", owner.name);
            ran.says(&line).says(&format!("belongs to {}", owner.name));
            before.must_be_unchanged();
        }
        owner.runs(&doctor, &["stale", "--db", "queue.db"]).exits(0);
    }
    // Of a user without a name, sudo takes the number.
    let (doctor, _) = stage(Clean, Some(&owner));
    User::numbered(54_321).takes(&doctor.path(""));
    let ran = stranger.runs(&doctor, &["stale", "--db", "queue.db"]).exits(77);
    ran.says("sudo -u '#54321' jobdoctor ...").says("belongs to another user");
}

/// Who may write to somebody's file, in a directory where everybody may make files, does no harm.
#[test]
fn a_file_that_others_may_write_to() {
    let Some([owner, stranger]) = others_for("files that several users write to") else { return };
    for found in [Rollback, Live] {
        let (doctor, writer) = stage(found, Some(&owner));
        fs::set_permissions(doctor.path(""), Permissions::from_mode(0o777)).unwrap();
        for name in doctor.files() {
            fs::set_permissions(doctor.path(&name), Permissions::from_mode(0o666)).unwrap();
        }
        stranger.runs(&doctor, &["reclaim", "--apply", "--db", "queue.db"]).exits(0);
        if let Some(mut writer) = writer {
            writer.run("UPDATE jobs SET stalls = stalls + 1;");
            writer.end();
        }
        is_usable_by(Some(&owner), &doctor, &format!("{found:?}"));
        assert_eq!(doctor.rows(STATE)[0], "1 QUEUED - 2");
    }
}

#[test]
fn a_closed_file() {
    let Some([owner, stranger]) = others_for("files that may not be read") else { return };
    let (doctor, writer) = stage(Live, Some(&owner));
    let shut = |name: &str| fs::set_permissions(doctor.path(name), Permissions::from_mode(0o600)).unwrap();
    for name in ["queue.db-wal", "queue.db-shm", "queue.db"] {
        shut(name);
        let before = Frozen::of(&doctor.path(""));
        for arguments in [&["stale"][..], &["reclaim", "--apply"]] {
            let ran = stranger.runs(&doctor, &[arguments, &["--db", "queue.db"]].concat()).exits(77);
            let shown = if name == "queue.db-shm" { "queue.db-wal" } else { name };
            ran.says(&format!("may not read {shown}")).says("hint: run it as the ");
        }
        before.must_be_unchanged();
    }
    fs::set_permissions(doctor.path(""), Permissions::from_mode(0o700)).unwrap();
    drop(writer);
    // From outside: inside, nobody but its owner can even stand.
    let whole = doctor.path("queue.db");
    let ran =
        stranger.runs_in(&doctor, std::path::Path::new("/"), &["stale", "--db", whole.to_str().unwrap()]).exits(77);
    ran.says("may not read").says("hint: ");
}

/// The owner's own file or directory, where nothing may be written. Root may write everywhere, so this is somebody else.
#[test]
fn what_may_only_be_read() {
    let other = others();
    let owner = other.as_ref().map(|[owner, _]| owner);
    let who = Who("the owner", owner);
    for found in ALL {
        for (name, mode) in [("queue.db", 0o444), ("", 0o555)] {
            let context = format!("{found:?}, {name:?} is read-only");
            let (doctor, writer) = stage(found, owner);
            fs::set_permissions(doctor.path(name), Permissions::from_mode(mode)).unwrap();
            let before = Frozen::of(&doctor.path(""));
            // Sidecars can be neither made nor taken away again.
            let looks = if matches!(found, Clean | WithoutIndex | Hot | Stray) { 77 } else { 0 };
            for look in [&["stale"][..], &["reclaim"]] {
                let ran = who.run(&doctor, &[look, &["--db", "queue.db"]].concat());
                assert_eq!(ran.code, looks, "{context}: {ran:#?}");
                assert_eq!(ran.stderr.contains("\nhint: "), looks == 77, "{context}: {ran:#?}");
                before.must_be_unchanged();
            }
            let ran = who.run(&doctor, &["reclaim", "--apply", "--db", "queue.db"]);
            // With sidecars there, no other file has to be made; then SQLite cannot take them away, which does no harm.
            let may = name.is_empty() && matches!(found, Live | Killed);
            assert_eq!(ran.code, if may { 0 } else { 77 }, "{context}: {ran:#?}");
            if !may {
                assert!(ran.stderr.contains("queue.db") && ran.stderr.contains("\nhint: "), "{context}: {ran:#?}");
                assert!(!ran.stderr.contains("readonly database"), "{context}: SQLite's words mislead: {ran:#?}");
                before.must_be_unchanged();
            }
            drop(writer);
            fs::set_permissions(doctor.path(name), Permissions::from_mode(mode | 0o200)).unwrap();
            is_usable_by(owner, &doctor, &context);
        }
    }
}
