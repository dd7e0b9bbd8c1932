//! Where journals are kept, who runs this, and where.

use super::config::Target;
use super::environment::Environment;
use crate::history::{Actor, Directory};
use crate::ops::{Keep, Record};
use nix::unistd::{User, geteuid};
use std::path::{Path, PathBuf};

/// The directory of what outlives a run, and what named it; `None` where that cannot be told.
pub fn state_directory(environment: &Environment) -> Option<(PathBuf, &'static str)> {
    let absolute = |name: &str| environment.get(name).map(Path::new).filter(|path| path.is_absolute());
    let own = environment.get("JOBDOCTOR_STATE_DIR").map(|path| (PathBuf::from(path), "JOBDOCTOR_STATE_DIR"));
    let state = || absolute("XDG_STATE_HOME").map(|path| (path.join("jobdoctor"), "XDG_STATE_HOME"));
    let home = || absolute("HOME").map(|path| (path.join(".local/state/jobdoctor"), "default"));
    own.or_else(state).or_else(home)
}

/// The directory of the journals.
pub fn journals(environment: &Environment) -> Option<Directory> {
    state_directory(environment).map(|(path, _)| Directory::in_state(&path))
}

/// The directory of the locks.
pub fn locks(environment: &Environment) -> Option<Directory> {
    state_directory(environment).map(|(path, _)| Directory::of_locks(&path))
}

/// The name of this host.
pub fn host() -> Option<String> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    (!host.is_empty()).then_some(host)
}

/// How a run of that command is recorded.
pub fn record(command: &'static str, target: &Target, reason: Option<&String>, environment: &Environment) -> Record {
    let user = geteuid();
    Record {
        command,
        actor: Actor { user: User::from_uid(user).ok().flatten().map(|user| user.name), uid: Some(user.as_raw()) },
        host: host(),
        reason: reason.cloned(),
        keep: target.journal.unwrap_or(Keep::IfPossible),
        directory: journals(environment),
    }
}
