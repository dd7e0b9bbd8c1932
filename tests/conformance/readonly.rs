//! A reader is unable to write, and looking leaves no trace.

use crate::support::doctor::{built_in, fit, fitted, limits, look, scan};
use crate::support::edit::Value::{Ago, Int, Text};
use crate::support::edit::{Edit, insert};
use crate::support::files::{Frozen, HALF_A_TRANSACTION, copy, kill_a_writer};
use crate::support::labs::{Journal, Lab, SqlLab, SqliteLab, for_each_sql_store};
use crate::support::tables::JOBS;
use jobdoctor::store::{Address, Detail, StoreErrorKind, Wanted, open};
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn job() -> Edit {
    insert("jobs", &[("id", Int(1)), ("status", Text("RUNNING")), ("heartbeat_at", Ago(900)), ("attempts", Int(1))])
}

#[test]
fn whatever_is_asked_of_a_reader_writes_nothing() {
    for_each_sql_store(|lab| {
        lab.create(&[JOBS]);
        lab.edit(&[job()]);
        lab.run("CREATE INDEX by_status ON jobs (status)");
        let before = lab.image("jobs");
        let sqlite = [
            "DELETE FROM jobs RETURNING 1",
            "UPDATE jobs SET status = 'QUEUED' RETURNING 1",
            "INSERT INTO jobs (id) VALUES (2) RETURNING 1",
            "CREATE TABLE t (x)",
            "CREATE TEMP TABLE t (x)",
            "DROP TABLE jobs",
            "ATTACH DATABASE 'made.db' AS made",
            "PRAGMA query_only = 0",
            "PRAGMA journal_mode = DELETE",
            "PRAGMA user_version = 7",
            "PRAGMA wal_checkpoint(TRUNCATE)",
            "PRAGMA writable_schema = 1",
            "PRAGMA schema_version = 7",
            "SELECT load_extension('made.so')",
            "VACUUM",
            "REINDEX",
            "ANALYZE",
        ];
        let postgres = [
            "DELETE FROM jobs RETURNING 1",
            "UPDATE jobs SET status = 'QUEUED' RETURNING 1",
            "INSERT INTO jobs (id) VALUES (2) RETURNING 1",
            "WITH gone AS (DELETE FROM jobs RETURNING 1) SELECT * FROM gone",
            "CREATE TABLE t (x int)",
            "DROP TABLE jobs",
            "SELECT 1 FROM jobs FOR UPDATE",
            "SET TRANSACTION READ WRITE",
            "TRUNCATE jobs",
            "COPY jobs TO PROGRAM 'true'",
        ];
        let store = lab.store();
        let asked: &[&str] = match lab.engine() {
            jobdoctor::model::Engine::Sqlite => &sqlite,
            jobdoctor::model::Engine::Postgres => &postgres,
        };
        for sql in asked.iter().filter(|sql| !sql.starts_with("COPY")) {
            assert!(look(&*store).ask(sql).is_err(), "{}: {sql}", lab.name());
            assert_eq!(lab.image("jobs"), before, "{}: {sql}", lab.name());
        }
        assert!(!Path::new("made.db").exists());
        // What explains the statements of actions runs none of them, and is no more of a writer afterwards.
        let spec = fit(&*store, &built_in("lease"));
        let mut reader = look(&*store);
        assert!(reader.explain_actions(&spec).unwrap().is_empty(), "{}", lab.name());
        assert!(reader.ask(asked[1]).is_err(), "{}", lab.name());
        assert_eq!(lab.image("jobs"), before, "{}: explained", lab.name());
    });
}

#[test]
fn a_look_holds_no_lock_that_a_worker_waits_for() {
    for_each_sql_store(|lab| {
        lab.create(&[JOBS]);
        lab.edit(&[job()]);
        let (store, spec) = fitted(lab, &built_in("lease"));
        let mut reader = look(&*store);
        let mut seen = Vec::new();
        reader.scan(&spec, &Wanted::All, Detail::ForAction, &mut |claim| seen.push(claim.attempts)).unwrap();
        if lab.name() != "sqlite, rollback journal" {
            // There, a reader and a committing writer do exclude each other, for as long as the snapshot lasts.
            lab.run("UPDATE jobs SET attempts = 2");
            // And the snapshot does not move.
            reader.scan(&spec, &Wanted::All, Detail::ForAction, &mut |claim| seen.push(claim.attempts)).unwrap();
            assert_eq!(seen[0], seen[1], "{}", lab.name());
        }
    });
}

/// Looks at a file in every way there is.
fn snapshot_at(path: &Path) -> Vec<i64> {
    let store = open(&Address::file(path.to_owned()));
    let spec = fit(&*store, &built_in("lease"));
    let claims = scan(&*store, &spec, &Wanted::All);
    look(&*store).find(&spec, &["1".to_owned()]).unwrap();
    look(&*store).states_in_use(&spec).unwrap();
    let attempts = claims.iter().map(|claim| claim.attempts.to_string().parse().unwrap());
    attempts.collect()
}

/// A file with one job that has this many attempts, and whose writer has gone in good order.
fn clean(journal: Journal) -> SqliteLab {
    let lab = SqliteLab::new(journal);
    lab.create(&[JOBS]);
    lab.edit(&[job()]);
    lab
}

fn writes(path: &Path, sql: &str) -> Option<Connection> {
    let writer = Connection::open(path).unwrap();
    writer.execute_batch(sql).unwrap();
    Some(writer)
}

fn is_killed(path: &Path, sql: &str) -> Option<Connection> {
    kill_a_writer(path, sql);
    None
}

const ALONE: &[&str] = &["queue.db"];
const WITH_A_WAL: &[&str] = &["queue.db", "queue.db-shm", "queue.db-wal"];
const WITH_A_JOURNAL: &[&str] = &["queue.db", "queue.db-journal"];
const COMMITS: &str = "PRAGMA wal_autocheckpoint = 0; UPDATE jobs SET attempts = 7;";
const HALFWAY: &str = "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 1; UPDATE jobs SET attempts = 7; BEGIN; \
     UPDATE jobs SET attempts = 8; CREATE TABLE big (x); \
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
     INSERT INTO big SELECT randomblob(200) FROM n;";
const OPEN: &str = "BEGIN IMMEDIATE; UPDATE jobs SET attempts = 2";

type Leaves = fn(&Path) -> Option<Connection>;
type Left = (&'static str, Journal, Leaves, &'static [&'static str], Option<i64>);

/// What a writer does, the files that there are then, and the attempts that are read; none where reading would mean to
/// roll back half of a transaction, which is writing.
const LEFT: [Left; 9] = [
    ("clean", Journal::Wal, |_| None, ALONE, Some(1)),
    ("clean, rollback journal", Journal::Rollback, |_| None, ALONE, Some(1)),
    ("live", Journal::Wal, |path| writes(path, COMMITS), WITH_A_WAL, Some(7)),
    ("live, rollback journal", Journal::Rollback, |path| writes(path, COMMITS), ALONE, Some(7)),
    ("in a transaction", Journal::Wal, |path| writes(path, OPEN), WITH_A_WAL, Some(1)),
    ("in a transaction, rollback journal", Journal::Rollback, |path| writes(path, OPEN), WITH_A_JOURNAL, Some(1)),
    ("killed", Journal::Wal, |path| is_killed(path, COMMITS), WITH_A_WAL, Some(7)),
    ("killed in a transaction", Journal::Wal, |path| is_killed(path, HALFWAY), WITH_A_WAL, Some(7)),
    ("killed, rollback journal", Journal::Rollback, |path| is_killed(path, HALF_A_TRANSACTION), WITH_A_JOURNAL, None),
];

/// Through a link too: the sidecars of a file lie beside the file and not beside the link.
#[test]
fn whatever_a_writer_left_is_read_or_refused_and_stays() {
    for (what, journal, leaves, files, attempts) in LEFT {
        let lab = clean(journal);
        let writer = leaves(&lab.path());
        let elsewhere = TempDir::new().unwrap();
        let link = elsewhere.path().join("link.db");
        std::os::unix::fs::symlink(lab.path(), &link).unwrap();
        let before = [lab.path().parent().unwrap(), elsewhere.path()].map(Frozen::of);
        assert_eq!(before[0].names(), files, "{what}");
        for path in [lab.path(), link] {
            if let Some(attempts) = attempts {
                assert_eq!(snapshot_at(&path), [attempts], "{what}");
            } else {
                let error = open(&Address::file(path)).reader(&limits(), &[]).err().expect("no state to judge by");
                assert_eq!(error.kind, StoreErrorKind::Denied);
                assert!(error.message.contains("killed"), "{error:?}");
            }
            before.iter().for_each(Frozen::must_be_unchanged);
        }
        if let Some(writer) = writer {
            let end = if writer.is_autocommit() { "" } else { "COMMIT" };
            writer.execute_batch(&format!("UPDATE jobs SET attempts = 3; {end}")).unwrap();
            assert_eq!(snapshot_at(&lab.path()), [3], "{what}");
        }
    }
}

/// The WAL was copied without its index. It cannot be read without one, and whoever made it cannot tell whether another
/// process uses it by now, so it stays: to a file of one's own that does no harm.
#[test]
fn a_wal_without_its_index_is_read_and_stays() {
    let lab = clean(Journal::Wal);
    kill_a_writer(&lab.path(), "PRAGMA wal_autocheckpoint = 0; UPDATE jobs SET attempts = 7;");
    fs::remove_file(lab.path().with_file_name("queue.db-shm")).unwrap();
    let read = |suffix: &str| fs::read(lab.path().with_file_name(format!("queue.db{suffix}"))).unwrap();
    let before = (read(""), read("-wal"));
    assert_eq!(snapshot_at(&lab.path()), [7]);
    assert_eq!((read(""), read("-wal")), before);
}

/// Who is about to write may have it taken back first; then what was committed is read.
#[test]
fn a_journal_left_behind_by_a_killed_writer_is_taken_back_when_asked_for() {
    let lab = clean(Journal::Rollback);
    // Nothing to be done is no error, and does nothing.
    let before = Frozen::of(lab.path().parent().unwrap());
    lab.store().recover(&limits()).unwrap();
    before.must_be_unchanged();
    kill_a_writer(&lab.path(), HALF_A_TRANSACTION);
    lab.store().recover(&limits()).unwrap();
    assert_eq!(snapshot_at(&lab.path()), [1]);
    assert_eq!(Frozen::of(lab.path().parent().unwrap()).names(), ["queue.db"]);
    // A journal of a writer that is alive is its own business.
    let writer = lab.hold_sql("UPDATE jobs SET attempts = 2");
    lab.store().recover(&limits()).unwrap();
    writer.commit();
    assert_eq!(snapshot_at(&lab.path()), [2]);
}

/// Killed while it wrote the beginning of the journal: to SQLite it is one as soon as its first byte is there.
#[test]
fn a_journal_with_a_torn_beginning_is_taken_back_when_asked_for() {
    let lab = clean(Journal::Rollback);
    let journal = lab.path().with_file_name("queue.db-journal");
    for beginning in [&[0xd9][..], &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1]] {
        let mut bytes = vec![0; 512];
        bytes[..beginning.len()].copy_from_slice(beginning);
        fs::write(&journal, bytes).unwrap();
        let error = lab.store().reader(&limits(), &[]).err().expect("nobody can tell yet what is in the file");
        assert_eq!(error.kind, StoreErrorKind::Denied);
        lab.store().recover(&limits()).unwrap();
        assert_eq!(snapshot_at(&lab.path()), [1]);
    }
    // One that is kept for the next transaction is none, and stays.
    fs::write(&journal, [0; 512]).unwrap();
    let before = Frozen::of(lab.path().parent().unwrap());
    lab.store().recover(&limits()).unwrap();
    before.must_be_unchanged();
}

#[test]
fn a_file_in_a_directory_that_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let lab = clean(Journal::Rollback);
    let directory = lab.path().parent().unwrap().to_owned();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    let before = Frozen::of(&directory);
    assert_eq!(snapshot_at(&lab.path()), [1]);
    before.must_be_unchanged();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Neither a reader nor a writer makes a file, or takes something else for one.
#[test]
fn what_is_no_database_stays_what_it_is() {
    let directory = TempDir::new().unwrap();
    let place = |name: &str| directory.path().join(name);
    fs::create_dir(place("directory")).unwrap();
    fs::write(place("text"), "this is a text of more than a hundred bytes, ".repeat(9)).unwrap();
    fs::write(place("short"), "SQLite").unwrap();
    let lab = clean(Journal::Rollback);
    let whole = fs::read(lab.path()).unwrap();
    fs::write(place("torn"), &whole[..100]).unwrap();
    let before = Frozen::of(directory.path());
    for name in ["missing", "directory", "text", "short", "missing/deep.db", "file:missing?mode=rwc"] {
        let store = open(&Address::file(place(name)));
        let error = store.reader(&limits(), &[]).err().unwrap_or_else(|| panic!("{name} was read"));
        assert_eq!(error.kind, StoreErrorKind::Missing, "{name}: {error}");
        let error = store.writer(&limits()).err().unwrap_or_else(|| panic!("{name} was opened for writing"));
        assert_eq!(error.kind, StoreErrorKind::Missing, "{name}: {error}");
        before.must_be_unchanged();
    }
    let torn = open(&Address::file(place("torn")));
    let names = ["jobs".to_owned()];
    assert!(torn.reader(&limits(), &[]).and_then(|mut reader| reader.live_schema(&names).map(drop)).is_err());
    before.must_be_unchanged();
}

#[test]
fn an_empty_file_is_a_database_without_tables() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("empty.db");
    fs::write(&path, "").unwrap();
    let before = Frozen::of(directory.path());
    let store = open(&Address::file(path));
    let live = look(&*store).live_schema(&["jobs".to_owned()]).unwrap();
    assert!(live.tables.is_empty());
    before.must_be_unchanged();
}

/// A backup made with cp while a writer was at work, without its WAL: what is there is read, and the copy stays as it is.
#[test]
fn a_copy_without_its_wal() {
    let lab = clean(Journal::Wal);
    let writer = Connection::open(lab.path()).unwrap();
    writer.execute_batch("PRAGMA wal_autocheckpoint = 0; UPDATE jobs SET attempts = 5").unwrap();
    let elsewhere = TempDir::new().unwrap();
    let to = elsewhere.path().join("copy.db");
    copy(&lab.path(), &to);
    let before = Frozen::of(elsewhere.path());
    assert_eq!(snapshot_at(&to), [1]);
    before.must_be_unchanged();
    drop(writer);
}
