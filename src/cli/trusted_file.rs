//! Refuses config files that another user could change: their SQL runs with the operator's rights.

use super::next_command::shell_word;
use nix::unistd::{Gid, Group, Uid, User, geteuid};
use rustix::fs::{PROC_SUPER_MAGIC, StatVfsMountFlags, statfs, statvfs};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Device and inode of a file.
pub(super) type Identity = (u64, u64);

/// As many links as the kernel follows in one path.
const MOST_LINKS: usize = 40;

/// Another user who could change a file.
pub(super) struct Stranger {
    /// What that user may do, as a clause.
    pub(super) who: String,
    /// The command that ends it.
    pub(super) fix: String,
}

/// Walks a path like the kernel, and refuses the first directory, link or file on it that another user could change.
/// What has passed can no longer be exchanged by others, so the file that is opened afterwards is this one; the reader
/// compares them.
pub(super) fn find_trusted(path: &Path) -> anyhow::Result<Result<Identity, Stranger>> {
    let names = |path: &Path| path.iter().rev().map(OsStr::to_owned).collect::<Vec<OsString>>();
    let identity = |metadata: &Metadata| (metadata.dev(), metadata.ino());
    let (mut ahead, mut place, mut found, mut links) = (names(&std::path::absolute(path)?), PathBuf::new(), (0, 0), 0);
    while let Some(name) = ahead.pop() {
        if name == "." || name == ".." {
            let _ = name == ".." && place.pop();
            found = identity(&place.symlink_metadata()?);
            continue;
        }
        let next = place.join(name);
        let mut metadata = next.symlink_metadata()?;
        if let Some(stranger) = stranger(&next, &metadata)? {
            return Ok(Err(stranger));
        }
        if metadata.is_symlink() {
            let (target, is_of_process) = (fs::read_link(&next)?, statfs(&place)?.f_type == PROC_SUPER_MAGIC);
            let leads_to =
                |there: &Metadata| place.join(&target).metadata().is_ok_and(|m| identity(&m) == identity(there));
            links += 1;
            anyhow::ensure!(links <= MOST_LINKS, "too many links");
            // A process holds this open, and it has no name here: a pipe of a shell, or a deleted file.
            let held = next.metadata().ok().filter(|held| is_of_process && !leads_to(held));
            let Some(held) = held else {
                ahead.extend(names(&target));
                continue;
            };
            metadata = held;
            let is_pipe = target.as_os_str().as_encoded_bytes().starts_with(b"pipe:[");
            if let Some(stranger) = if is_pipe { None } else { stranger(&next, &metadata)? } {
                return Ok(Err(stranger));
            }
        }
        found = identity(&metadata);
        place = next;
    }
    Ok(Ok(found))
}

/// Who but root and the user who runs the program could change what has this name: its owner, or those who may write to
/// it. In a sticky directory and on a read-only mount others change nothing.
fn stranger(place: &Path, metadata: &Metadata) -> anyhow::Result<Option<Stranger>> {
    let (kind, mode) = (metadata.file_type(), metadata.mode());
    let (owner, gid) = (Uid::from_raw(metadata.uid()), Gid::from_raw(metadata.gid()));
    let (who, fix) = if kind.is_char_device() || kind.is_block_device() || kind.is_socket() {
        // The reader refuses it.
        return Ok(None);
    } else if !owner.is_root() && owner != geteuid() {
        let name = User::from_uid(owner)?.map_or_else(|| owner.to_string(), |user| user.name);
        (format!("belongs to {name}"), format!("chown {}{}", if kind.is_symlink() { "-h " } else { "" }, geteuid()))
    } else if kind.is_symlink()
        || mode & 0o022 == 0
        || kind.is_dir() && mode & 0o1000 != 0
        || statvfs(place)?.f_flag.contains(StatVfsMountFlags::RDONLY)
    {
        return Ok(None);
    } else if mode & 0o002 != 0 {
        ("may be written by everybody".to_owned(), "chmod go-w".to_owned())
    } else if !is_private(owner, gid)? {
        (format!("may be written by group {gid}"), "chmod g-w".to_owned())
    } else {
        return Ok(None);
    };
    let place = place.display().to_string();
    Ok(Some(Stranger { who: format!("{place} {who}"), fix: format!("{fix} {}", shell_word(&place)) }))
}

/// True for a group of the owner's name without another member. Who has it as the primary group is looked up in
/// /etc/passwd alone: a directory service may hold any number of users, and most refuse to list them.
fn is_private(owner: Uid, gid: Gid) -> anyhow::Result<bool> {
    let (Some(user), Some(group)) = (User::from_uid(owner)?, Group::from_gid(gid)?) else { return Ok(false) };
    let passwd = fs::read("/etc/passwd")?;
    let may_join = |line: &str| {
        let mut numbers = line.split(':').skip(2).map(|field| field.parse().ok());
        let (uid, primary) = (numbers.next().flatten(), numbers.next().flatten());
        primary == Some(gid.as_raw()) && ![Some(0), Some(geteuid().as_raw())].contains(&uid)
    };
    Ok(group.name == user.name
        && group.mem.iter().all(|member| *member == user.name)
        && !String::from_utf8_lossy(&passwd).lines().any(may_join))
}
