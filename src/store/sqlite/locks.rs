//! Finds the processes that hold the lock we wait for, in `/proc/locks`. SQLite's locks are POSIX locks on single bytes
//! of the database file or, with a WAL, of its index.

use super::file::{DatabaseFile, is_wal};
use crate::store::{StoreError, StoreErrorKind};
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// The first of the 512 bytes that SQLite locks in a database file.
const PENDING: u64 = 0x4000_0000;
/// The bytes of which every process that reads or writes locks at least one, and with a WAL keeps it locked while it is
/// connected.
const SHARED: (u64, u64) = (PENDING + 2, 510);
/// The byte of a WAL's index that a writer locks.
const WAL_WRITE: u64 = 120;
/// The byte that is locked while the index is rebuilt; every other process waits.
const WAL_RECOVER: u64 = 122;
/// The byte of a WAL's index that every process locks for as long as it has the index open.
const WAL_OPEN: u64 = 128;

/// How often a file is asked whether its users have the log beside it, and the pause before each further time: a
/// process that opens a file locks it a moment before it makes the log.
const ASKED: (u32, Duration) = (20, Duration::from_millis(25));
/// The number of processes that are named.
const SHOWN: usize = 5;

/// How often the list is read. Linux gives it out page by page; if locks come and go between
/// two pages, one that is held all the time may be in neither (Linux 6: in one reading of 200).
const READINGS: usize = 4;

/// Processes that hold the lock: all writers, or all readers.
#[derive(Debug, PartialEq, Eq)]
struct Holders {
    write: bool,
    pids: BTreeSet<u32>,
}

/// A file, as the list names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    major: u32,
    minor: u32,
    inode: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Lock {
    pid: u32,
    writes: bool,
    file: FileId,
    first: u64,
    last: u64,
}

impl DatabaseFile {
    /// Refuses a file in WAL mode that another process has open, but not with the log beside it (if there is one, it
    /// may be a killed process's): that process opened it under another name, next to which its log lies. Whatever
    /// SQLite read or wrote here would be without that log, and damage the file.
    pub(super) fn check_name(&self) -> Result<(), StoreError> {
        for again in 0..ASKED.0 {
            if !is_wal(&self.header()?) {
                return Ok(());
            }
            let Some(user) = user_elsewhere(self) else { return Ok(()) };
            if again + 1 == ASKED.0 {
                let message = format!(
                    "{self} is in use under another name, by {}: it is in WAL mode, and that process has its log elsewhere",
                    name_of(user)
                );
                return Err(StoreError::new(StoreErrorKind::Refused, message).hint(
                    "nothing was opened, because that would damage the file: name it by the path that the application uses; into \
                     a container, mount its directory, not the file",
                ));
            }
            std::thread::sleep(ASKED.1);
        }
        Ok(())
    }
}

/// The number of a process other than this one that has a database in WAL mode open, but neither the index nor the log
/// that lie beside the file: it opened the file under another name. 0 for a process of another PID namespace.
fn user_elsewhere(file: &DatabaseFile) -> Option<u32> {
    let index = file.sidecar("-shm");
    let user = locked_by(file.real(), SHARED.0, SHARED.1)?;
    let locks = held();
    let lockers = |path: &Path, first: u64, last: u64| -> BTreeSet<u32> {
        let file = FileId::of(path);
        let locks = locks.iter().filter(|lock| Some(lock.file) == file && lock.touches(first, last));
        locks.map(|lock| lock.pid).collect()
    };
    let users = lockers(file.real(), SHARED.0, SHARED.0 + SHARED.1 - 1);
    if !users.contains(&user) {
        // The list has neither processes of another namespace nor, on some file systems, the numbers by which files are
        // known here.
        return Some(user).filter(|_| locked_by(&index, WAL_OPEN, 1) != Some(user));
    }
    let log = FileId::of(&file.sidecar("-wal"));
    // A reader that may not write to the index does not always lock it, and there is no index where the lock is
    // exclusive.
    let has_log = |pid: &u32| {
        let mut open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        log.is_some() && open.any(|open| FileId::of(&open.path()) == log)
    };
    users.difference(&lockers(&index, WAL_OPEN, WAL_OPEN)).find(|pid| !has_log(pid)).copied()
}

/// The number of a process other than this one that locks bytes of a file; 0 for one of another PID namespace. The
/// kernel knows the lock by the file, whatever name the process opened it under. `None` too where the file system
/// cannot say.
fn locked_by(path: &Path, first: u64, bytes: u64) -> Option<u32> {
    // A lock for writing would meet those for reading as well; it is asked for and never taken.
    let mut lock = libc::flock {
        l_type: libc::F_WRLCK as _,
        l_whence: libc::SEEK_SET as _,
        l_start: first as _,
        l_len: bytes as _,
        l_pid: 0,
    };
    fcntl(&File::open(path).ok()?, FcntlArg::F_GETLK(&mut lock)).ok()?;
    (i64::from(lock.l_type) != i64::from(libc::F_UNLCK)).then(|| u32::try_from(lock.l_pid).unwrap_or(0))
}

/// The processes that lock a database, in words; `None` if they cannot be seen.
pub(super) fn holders_in_words(file: &DatabaseFile) -> Option<String> {
    let (database, index) = (FileId::of(file.real())?, FileId::of(&file.sidecar("-shm")));
    in_words(&holders(&held(), database, index, std::process::id()), command)
}

/// The locks that are held, in several readings together: a list that lacks the writer would blame readers.
fn held() -> Vec<Lock> {
    let list: String = (0..READINGS).map_while(|_| fs::read_to_string("/proc/locks").ok()).collect();
    parse(&list)
}

/// The holders in words, by number and by the name that `command` gives.
fn in_words(Holders { write, pids }: &Holders, command: impl Fn(u32) -> Option<String>) -> Option<String> {
    let mut words = pids.iter().take(SHOWN).map(|pid| named(*pid, &command)).collect::<Vec<_>>().join(", ");
    if pids.len() > SHOWN {
        words.push_str(&format!(" and {} more", pids.len() - SHOWN));
    }
    let does = if *write { "writing to it" } else { "reading it" };
    let verb = if pids.len() == 1 { "is" } else { "are" };
    (!pids.is_empty()).then(|| format!("{words}, which {verb} {does}"))
}

/// A process that uses a file, in words; one of another PID namespace has the number 0.
fn name_of(pid: u32) -> String {
    if pid == 0 { "a process of another container".to_owned() } else { named(pid, command) }
}

/// A process in words, by the number and by the name that `command` gives.
fn named(pid: u32, command: impl Fn(u32) -> Option<String>) -> String {
    match command(pid) {
        Some(command) => format!("process {pid} ({command})"),
        None => format!("process {pid}"),
    }
}

impl FileId {
    fn of(path: &Path) -> Option<FileId> {
        let metadata = fs::metadata(path).ok()?;
        let device = metadata.dev();
        let (major, minor) = (rustix::fs::major(device as _), rustix::fs::minor(device as _));
        Some(FileId { major, minor, inode: metadata.ino() })
    }
}

impl Lock {
    fn touches(&self, first: u64, last: u64) -> bool {
        self.first <= last && first <= self.last
    }
}

/// Reads the list: `1: POSIX  ADVISORY  WRITE 4711 08:01:131075 1073741825 1073741825`. Other lines, such as those of
/// waiting processes, are left out.
fn parse(text: &str) -> Vec<Lock> {
    let lock = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "POSIX", _, kind, pid, file, first, last] = words.as_slice() else { return None };
        let mut parts = file.split(':');
        let file = FileId {
            major: u32::from_str_radix(parts.next()?, 16).ok()?,
            minor: u32::from_str_radix(parts.next()?, 16).ok()?,
            inode: parts.next()?.parse().ok()?,
        };
        Some(Lock {
            // A process of another namespace shows as 0.
            pid: pid.parse().ok().filter(|pid| *pid > 0)?,
            writes: *kind == "WRITE",
            file,
            first: first.parse().ok()?,
            last: if *last == "EOF" { u64::MAX } else { last.parse().ok()? },
        })
    };
    text.lines().filter_map(lock).collect()
}

/// The processes that hold the lock: the writers. Without a writer and a WAL, the readers, which keep a writer from
/// committing.
fn holders(locks: &[Lock], database: FileId, index: Option<FileId>, us: u32) -> Holders {
    let on_database = |lock: &&Lock| lock.file == database && lock.touches(PENDING, PENDING + 511);
    let on_index = |lock: &&Lock| {
        let bytes = [WAL_WRITE, WAL_RECOVER];
        Some(lock.file) == index && bytes.iter().any(|byte| lock.touches(*byte, *byte))
    };
    let others = || locks.iter().filter(|lock| lock.pid != us);
    let writing = others().filter(|lock| lock.writes && (on_database(lock) || on_index(lock)));
    let writers: BTreeSet<u32> = writing.map(|lock| lock.pid).collect();
    if !writers.is_empty() || index.is_some() {
        return Holders { write: true, pids: writers };
    }
    Holders { write: false, pids: others().filter(on_database).map(|lock| lock.pid).collect() }
}

/// The name of a process, which it may choose freely.
fn command(pid: u32) -> Option<String> {
    let name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    let name = String::from_utf8_lossy(&name);
    let name: String = name.trim().chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATABASE: FileId = FileId { major: 8, minor: 0x1f, inode: 131_075 };
    const INDEX: FileId = FileId { major: 8, minor: 0x1f, inode: 131_077 };

    fn writers<const N: usize>(pids: [u32; N]) -> Holders {
        Holders { write: true, pids: pids.into() }
    }

    fn readers<const N: usize>(pids: [u32; N]) -> Holders {
        Holders { write: false, pids: pids.into() }
    }

    fn blamed(text: &str, index: Option<FileId>) -> Holders {
        holders(&parse(text), DATABASE, index, 1)
    }

    #[test]
    fn holders_are_named_where_they_can_be_seen() {
        let said = |holders: Holders| in_words(&holders, |pid| (pid == 7).then(|| "worker".to_owned()));
        assert_eq!(said(readers([])), None);
        assert_eq!(said(writers([7])).as_deref(), Some("process 7 (worker), which is writing to it"));
        assert_eq!(said(readers([7, 9])).as_deref(), Some("process 7 (worker), process 9, which are reading it"));
        let many = said(readers([10, 11, 12, 13, 14, 15, 16, 17])).unwrap_or_default();
        assert!(many.ends_with("process 14 and 3 more, which are reading it"), "{many}");
        // The test's own process has a name without line breaks.
        let us = command(std::process::id());
        assert!(us.is_none_or(|name| !name.is_empty() && !name.contains(char::is_control)));
    }

    #[test]
    fn the_list_of_locks_is_read_line_by_line() {
        let text = "1: POSIX  ADVISORY  WRITE 4711 08:1f:131075 1073741825 1073741825\n\
                    2: POSIX  ADVISORY  READ 4712 fe:00:9 0 EOF\n";
        let lock = |pid, writes, file, first, last| Lock { pid, writes, file, first, last };
        let other = FileId { major: 0xfe, minor: 0, inode: 9 };
        let one = lock(4711, true, DATABASE, PENDING + 1, PENDING + 1);
        assert_eq!(parse(text), [one, lock(4712, false, other, 0, u64::MAX)]);
        assert_eq!(parse(&text.replace('\n', "\r\n")), parse(text));
    }

    #[test]
    fn what_is_no_held_lock_is_left_out() {
        for line in [
            "",
            "1:",
            "1: -> POSIX  ADVISORY  WRITE 4711 08:1f:131075 1073741825 1073741825",
            "1: FLOCK  ADVISORY  WRITE 4711 08:1f:131075 0 EOF",
            "1: OFDLCK ADVISORY  WRITE -1 08:1f:131075 0 EOF",
            "1: POSIX  ADVISORY  WRITE 0 08:1f:131075 0 EOF",
            "1: POSIX  ADVISORY  WRITE -1 08:1f:131075 0 EOF",
            "1: POSIX  ADVISORY  WRITE 4711 08:1f 0 EOF",
            "1: POSIX  ADVISORY  WRITE 4711 <none>:0 0 EOF",
            "1: POSIX  ADVISORY  WRITE 4711 08:1f:131075 x EOF",
            "1: POSIX  ADVISORY  WRITE 4711 08:1f:131075 0 -1",
            "1: POSIX  ADVISORY  WRITE 99999999999999 08:1f:131075 0 1",
        ] {
            assert_eq!(parse(line), [], "{line}");
        }
    }

    #[test]
    fn a_writer_with_a_wal() {
        let text = "1: POSIX  ADVISORY  READ 7 08:1f:131075 1073741826 1073742335\n\
                    2: POSIX  ADVISORY  READ 7 08:1f:131077 128 128\n\
                    3: POSIX  ADVISORY  READ 9 08:1f:131077 124 124\n\
                    4: POSIX  ADVISORY  WRITE 5 08:1f:131077 121 121\n\
                    5: POSIX  ADVISORY  WRITE 7 08:1f:131077 120 120\n\
                    6: POSIX  ADVISORY  WRITE 6 08:1f:131078 120 120\n";
        assert_eq!(blamed(text, Some(INDEX)), writers([7]), "no reader, no checkpoint, no writer of another file");
        let recovering = "1: POSIX  ADVISORY  WRITE 7 08:1f:131077 120 127\n";
        assert_eq!(blamed(recovering, Some(INDEX)), writers([7]));
        assert_eq!(blamed(recovering, None), readers([]));
    }

    #[test]
    fn a_writer_that_one_of_several_readings_shows_is_blamed_once() {
        // The writer's own lock for reading is all that the first reading shows of it.
        let reads_too = "1: POSIX  ADVISORY  READ 7 08:1f:131075 1073741826 1073742335\n";
        let writer = "1: POSIX  ADVISORY  WRITE 7 08:1f:131075 1073741825 1073741825\n";
        assert_eq!(blamed(&[reads_too, reads_too].concat(), None), readers([7]));
        assert_eq!(blamed(&[reads_too, writer, reads_too, writer].concat(), None), writers([7]));
    }

    #[test]
    fn locks_of_other_files_and_other_bytes_do_not_count() {
        let text = "1: POSIX  ADVISORY  WRITE 7 08:1e:131075 1073741825 1073741825\n\
                    2: POSIX  ADVISORY  WRITE 7 09:1f:131075 1073741825 1073741825\n\
                    3: POSIX  ADVISORY  WRITE 7 08:1f:131076 1073741825 1073741825\n\
                    4: POSIX  ADVISORY  WRITE 7 08:1f:131075 0 1073741823\n\
                    5: POSIX  ADVISORY  WRITE 7 08:1f:131075 1073742336 EOF\n";
        assert_eq!(blamed(text, None), readers([]));
    }
}
