//! What makes the place of a file unsafe: a second name, since SQLite finds its journals by the name of the file, so that
//! a process that uses one name does not see what another process keeps next to the other; and a network file system,
//! on which SQLite's locks are unreliable.

use super::SqliteStore;
use crate::model::Remedy;
use crate::store::{Caution, Forbids};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

impl SqliteStore {
    /// What an operator should know about a second name of the file.
    pub(super) fn caution_of_name(&self) -> Option<Caution> {
        let second = SecondName::of(&fs::canonicalize(&self.path).ok()?)?;
        let why = "SQLite keeps its journals next to one name, and under the other it does not see them";
        Some(Caution {
            id: "second_name",
            message: format!("{} {}; {why}", self.label, second.in_words()),
            remedy: Remedy::AllowSecondName { is_mount: matches!(second, SecondName::Mount(_)) },
            forbids: if self.second_name { Forbids::Nothing } else { Forbids::Judging },
        })
    }

    /// What an operator should know about the network file system that the file lies on.
    pub(super) fn caution_of_network(&self) -> Option<Caution> {
        // For a file that does not exist yet, its directory counts.
        let directory = self.path.parent().filter(|directory| !directory.as_os_str().is_empty());
        let there = if self.path.exists() { &self.path } else { directory.unwrap_or(Path::new(".")) };
        let network = (self.network)(there)?;
        Some(Caution {
            id: "network_files",
            message: format!(
                "{} is on a network file system ({network}), where another host may not see a lock",
                self.label
            ),
            remedy: Remedy::AllowNetworkFiles,
            forbids: if self.network_files { Forbids::Nothing } else { Forbids::Writing },
        })
    }
}

#[derive(Debug, PartialEq, Eq)]
enum SecondName {
    /// A hard link; another of its names, if it lies in the same directory.
    Link(Option<PathBuf>),
    /// The file itself is a mount point; its path on the file system that it comes from, if the system says.
    Mount(Option<PathBuf>),
}

impl SecondName {
    fn of(real: &Path) -> Option<SecondName> {
        let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
        let mounted = mounts.split(|byte| *byte == b'\n').find_map(|line| source(line, real));
        if mounted.is_some() || is_mount_root(real) {
            return Some(SecondName::Mount(mounted));
        }
        let file = fs::metadata(real).ok().filter(|file| file.is_file() && file.nlink() > 1)?;
        let is_same = |other: &fs::DirEntry| {
            other.path() != real
                && other.metadata().is_ok_and(|other| (other.dev(), other.ino()) == (file.dev(), file.ino()))
        };
        let siblings = real.parent().and_then(|directory| fs::read_dir(directory).ok()).into_iter().flatten().flatten();
        Some(SecondName::Link(siblings.into_iter().find(is_same).map(|other| other.path())))
    }

    /// What it is, as the end of a sentence about the file.
    fn in_words(&self) -> String {
        match self {
            SecondName::Link(None) => "has a second name (a hard link)".to_owned(),
            SecondName::Link(Some(other)) => format!("has a second name: it is {} too (a hard link)", other.display()),
            SecondName::Mount(None) => "has a second name: the file itself is a mount point".to_owned(),
            SecondName::Mount(Some(path)) => {
                format!(
                    "has a second name: the file itself is a mount point, and is {} where it comes from",
                    path.display()
                )
            }
        }
    }
}

/// Linux 5.8 and later say so of any path, `/proc` or not.
#[cfg(target_os = "linux")]
fn is_mount_root(real: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
    statx(CWD, real, AtFlags::empty(), StatxFlags::empty())
        .is_ok_and(|file| file.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Other systems cannot mount a file.
#[cfg(not(target_os = "linux"))]
fn is_mount_root(_real: &Path) -> bool {
    false
}

/// The path on its own file system of what is mounted at `at`, from a line of `/proc/self/mountinfo`:
/// `36 35 98:0 /srv/app/q.db /data/q.db rw - ext4 ...`.
fn source(line: &[u8], at: &Path) -> Option<PathBuf> {
    let mut words = line.split(|byte| *byte == b' ').skip(3);
    let (root, mounted) = (words.next()?, words.next()?);
    (unescaped(mounted) == at.as_os_str().as_bytes())
        .then(|| PathBuf::from(std::ffi::OsStr::from_bytes(&unescaped(root))))
}

/// The kernel writes blanks, tabs, line breaks and backslashes as `\040`.
fn unescaped(word: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), word);
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

/// The name of a network file system, by its number from `statfs`.
fn named(magic: u32) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517B | 0xFE53_4D42 => "SMB",
        0xFF53_4D42 => "CIFS",
        0x0102_1997 => "9p",
        0x6573_5546 => "FUSE",
        0x5346_414F | 0x6B41_4653 => "AFS",
        0x7375_7245 => "Coda",
        0x00C3_6400 => "Ceph",
        0x0BD0_0BD0 => "Lustre",
        0x0116_1970 => "GFS2",
        0x7461_636F => "OCFS2",
        0x4750_4653 => "GPFS",
        0x1983_0326 => "BeeGFS",
        0x786F_4256 => "vboxsf",
        0xBACB_ACBC => "VMHGFS",
        0x7C7C_6673 => "Parallels",
        0x564C => "NCP",
        _ => return None,
    })
}

/// The name of the network file system that a path lies on, if any.
#[cfg(target_os = "linux")]
pub(super) fn network_fs_beneath(path: &Path) -> Option<&'static str> {
    // The field's width and sign depend on the platform; the numbers have 32 bits.
    named(rustix::fs::statfs(path).ok()?.f_type as u32)
}

/// Other systems have no such numbers.
#[cfg(not(target_os = "linux"))]
pub(super) fn network_fs_beneath(_path: &Path) -> Option<&'static str> {
    let _ = named;
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]
mod tests {
    use super::*;
    use crate::store::{Interrupt, Limits, Store, StoreErrorKind};
    use std::time::{Duration, Instant};

    fn limits() -> Limits {
        Limits {
            deadline: Instant::now() + Duration::from_secs(60),
            connect: Duration::ZERO,
            lock: Duration::ZERO,
            application_name: String::new(),
            for_writing: false,
            inspects: false,
            interrupt: Interrupt::default(),
        }
    }

    /// A store that takes its file system for the one of that name.
    fn store_on(path: &Path, network: fn(&Path) -> Option<&'static str>, network_files: bool) -> SqliteStore {
        SqliteStore { network, ..SqliteStore::new(path, network_files, false, true) }
    }

    fn made(directory: &Path) -> PathBuf {
        let path = directory.join("queue.db");
        let store = store_on(&path, |_| None, false);
        store.create(&limits(), &["CREATE TABLE t (x)".to_owned()]).unwrap();
        path
    }

    #[test]
    fn a_network_file_system_is_read_with_a_caution_and_written_only_where_that_is_allowed() {
        let directory = tempfile::tempdir().unwrap();
        let path = made(directory.path());
        let statements = ["CREATE TABLE u (x)".to_owned()];
        let nfs = store_on(&path, |_| Some("NFS"), false);
        let caution = nfs.caution().unwrap();
        assert!(caution.forbids == Forbids::Writing && caution.message.contains("(NFS)"), "{caution:?}");
        assert!(nfs.reader(&limits(), &[]).is_ok());
        let refused = nfs.writer(&limits()).err().unwrap();
        assert_eq!((refused.kind, &refused.message), (StoreErrorKind::Refused, &caution.message));
        assert_eq!(refused.remedy, Some(Remedy::AllowNetworkFiles));
        assert_eq!(nfs.create(&limits(), &statements).err().map(|e| e.kind), Some(StoreErrorKind::Refused));

        let allowed = store_on(&path, |_| Some("NFS"), true);
        let caution = allowed.caution().unwrap();
        assert!(caution.forbids == Forbids::Nothing, "still worth a word: {caution:?}");
        assert!(allowed.writer(&limits()).is_ok());
        assert!(allowed.create(&limits(), &statements).is_ok());

        let here = store_on(&path, |_| None, false);
        assert_eq!(here.caution(), None);
        assert!(here.writer(&limits()).is_ok());
    }

    #[test]
    fn a_file_that_is_yet_to_be_made_lies_where_its_directory_does() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none.db");
        let store = store_on(&path, |asked| asked.is_dir().then_some("NFS"), false);
        let error = store.create(&limits(), &["CREATE TABLE t (x)".to_owned()]).err().unwrap();
        assert_eq!(error.kind, StoreErrorKind::Refused);
        assert!(!path.exists());
        // A bare name lies in the working directory.
        let store = store_on(Path::new("none.db"), |asked| (asked == Path::new(".")).then_some("NFS"), false);
        assert!(store.caution().is_some());
    }

    #[test]
    fn a_mounted_file_is_found_by_its_line() {
        let line = b"36 35 98:0 /srv/my\\040app/q.db /data/q\\134.db rw,noatime shared:1 - ext4 /dev/sda1 rw";
        assert_eq!(source(line, Path::new("/data/q\\.db")), Some(PathBuf::from("/srv/my app/q.db")));
        assert_eq!(source(line, Path::new("/data")), None);
        assert_eq!(source(b"36 35 98:0", Path::new("/data")), None);
    }

    #[test]
    fn file_systems_of_this_host() {
        // ext4, xfs, btrfs, zfs, tmpfs, overlayfs, f2fs, squashfs, ramfs.
        let local = [
            0xEF53,
            0x5846_5342,
            0x9123_683E,
            0x2FC1_2FC1,
            0x0102_1994,
            0x794C_7630,
            0xF2F5_2010,
            0x7371_7368,
            0x8584_58F6,
        ];
        local.iter().for_each(|magic| assert_eq!(named(*magic), None, "{magic:#x}"));
        assert_eq!(named(0x6969), Some("NFS"));
        // Whatever the temporary directory is on, what is not there is on nothing.
        assert_eq!(network_fs_beneath(Path::new("/none/of/this/is/there")), None);
    }
}
