//! The config file: targets and mappings. Its SQL runs with the operator's rights, so no other user may change it.

use super::environment::Environment;
use super::input::{Identity, PATIENCE, Source};
use super::next_command::shell_word;
use super::secret::may_hold_password;
use super::setting::{SETTINGS, Target};
use super::{CliError, Exit, OrEnd};
use crate::preset::{Catalog, Field, Node, Preset, SpecError, Written, did_you_mean};
use anyhow::Context;
use nix::unistd::{Gid, Group, Uid, User, geteuid};
use rustix::fs::{StatVfsMountFlags, statvfs};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

#[derive(Debug, Default)]
pub struct Config {
    /// The target when none is named.
    pub default_target: Option<String>,
    pub targets: BTreeMap<String, Target>,
    /// Their names, in the order of the file.
    pub order: Vec<String>,
    pub mappings: Vec<Preset>,
    /// Mappings that cannot be read, by name: an error for the targets that use them.
    pub broken: Vec<(String, SpecError)>,
}

impl Config {
    /// Gives the built-in presets, and the mappings beside them.
    pub fn catalog(self) -> Catalog {
        let mut catalog = Catalog::built_in();
        for mapping in self.mappings {
            let name = mapping.name.clone();
            if let Err(error) = catalog.add(mapping) {
                catalog.add_broken(name, error);
            }
        }
        self.broken.into_iter().for_each(|(name, error)| catalog.add_broken(name, error));
        catalog
    }

    /// Reads a config file; one that others may write to is refused.
    pub fn read(path: &Path, environment: &Environment) -> Result<Config, CliError> {
        let text = match environment.config.get() {
            Some(text) => text,
            None => {
                let source = Source::settings("config file", "--config", path);
                let place = if source.is_stdin() { Path::new("/dev/stdin") } else { path };
                let found = find_trusted(place).with_context(|| unreadable(path)).or_end(Exit::Config)?;
                let found = found.map_err(|Stranger { who, fix }| {
                    let message = format!("{} was not used: its SQL runs with your rights, and {who}", source.name());
                    CliError::new(Exit::Config, message).hint(fix)
                })?;
                let source = Source { identity: Some(found), ..source };
                let text = source.read(&environment.interrupt, PATIENCE)?.text;
                environment.config.get_or_init(|| text)
            }
        };
        let config = Config::parse(&format!("config file {}", path.display()), text)?;
        let holds_password = config.targets.values().filter_map(|target| target.db.as_deref()).any(may_hold_password);
        if holds_password {
            require_private(path)?;
        }
        Ok(config)
    }

    /// Reads the text of a config file. An error in a mapping is kept for those who use it.
    pub fn parse(name: &str, text: &str) -> Result<Config, SpecError> {
        let node = Node::parse(name, text)?;
        let root = Field::of(name, "", &node);
        root.knows(&["default_target", "target", "mapping"])?;
        let entries = |key| root.child(key).map_or_else(|| Ok(Vec::new()), |field| field.entries());
        let mut config = Config::default();
        for (name, field) in entries("target")? {
            config.targets.insert(name.to_owned(), target(&field)?);
            config.order.push(name.to_owned());
        }
        for (mapping, field) in entries("mapping")? {
            let document = format!("{name}, mapping {mapping}");
            match preset(&document, mapping, &field) {
                Ok(preset) => config.mappings.push(preset),
                Err(error) => config.broken.push((mapping.to_owned(), error)),
            }
        }
        if let Some(written) = root.get::<Written>("default_target")? {
            if !config.targets.contains_key(&written.text) {
                let hint = did_you_mean(&written.text, config.targets.keys().map(String::as_str));
                return Err(written.error(format!("there is no target `{}`{hint}", written.text)));
            }
            config.default_target = Some(written.text);
        }
        Ok(config)
    }
}

/// A mapping of its own, or one that bends a built-in preset.
fn preset(document: &str, mapping: &str, field: &Field<'_>) -> Result<Preset, SpecError> {
    let Some(base) = field.get::<Written>("extends")? else {
        return Preset::of(document, mapping, field.node.clone());
    };
    let catalog = Catalog::built_in();
    let base = catalog.find(&base.text).map_err(|_| {
        let hint = did_you_mean(&base.text, catalog.names());
        let what =
            "`extends` names one of those that come with jobdoctor (`jobdoctor presets` lists them), and no mapping";
        base.error(format!("there is no built-in preset `{}`{hint}; {what}", base.text))
    })?;
    base.extended(document, mapping, field.node.clone())
}

/// Checks the text of a config file; the message calls the file by that name and repeats no password.
pub fn check(name: &str, text: &str) -> Result<(), String> {
    let config = Config::parse(name, text);
    let checked = config.and_then(|config| config.broken.into_iter().next().map_or(Ok(()), |(_, error)| Err(error)));
    checked.map_err(|error| CliError::from(error).document().message)
}

fn unreadable(path: &Path) -> String {
    format!("config file {} cannot be read", path.display())
}

/// Refuses a password that others can read, by libpq's rule for keys: ours alone, or root's and readable by its group.
fn require_private(path: &Path) -> Result<(), CliError> {
    let metadata = std::fs::metadata(path).with_context(|| unreadable(path)).or_end(Exit::Config)?;
    let (mode, open) = (metadata.mode() & 0o777, if metadata.uid() == 0 { 0o037 } else { 0o077 });
    if mode & open == 0 {
        return Ok(());
    }
    let message =
        format!("config file {} holds a password, and its mode {mode:04o} lets others read it", path.display());
    Err(CliError::new(Exit::Config, message)
        .hint(format!("chmod 600 {}; or leave the password out: ~/.pgpass, password_file = \"...\"", path.display())))
}

fn target(field: &Field<'_>) -> Result<Target, SpecError> {
    let mut target = Target::default();
    for setting in &SETTINGS {
        if let Some(field) = field.child(setting.key) {
            setting.read(&field, &mut target)?;
        }
    }
    field.knows(&SETTINGS.each_ref().map(|setting| setting.key))?;
    Ok(target)
}

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
            let (target, is_of_process) = (fs::read_link(&next)?, is_of_processes(&place)?);
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

/// True for a directory of `/proc`, whose links lead to what a process holds open.
#[cfg(target_os = "linux")]
fn is_of_processes(place: &Path) -> std::io::Result<bool> {
    Ok(rustix::fs::statfs(place)?.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

/// Other systems have no such links.
#[cfg(not(target_os = "linux"))]
fn is_of_processes(_place: &Path) -> std::io::Result<bool> {
    Ok(false)
}

/// Who but root and the user who runs the program could change what has this name: its owner, or those who may write to
/// it. In a sticky directory and on a read-only mount others change nothing.
fn stranger(place: &Path, metadata: &Metadata) -> anyhow::Result<Option<Stranger>> {
    let (kind, mode) = (metadata.file_type(), metadata.mode());
    let (owner, gid) = (Uid::from_raw(metadata.uid()), Gid::from_raw(metadata.gid()));
    let (who, fix) = if kind.is_char_device() || kind.is_block_device() || kind.is_socket() {
        // Reading it fails with an error of its own.
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
