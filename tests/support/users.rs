//! Other users of this machine, for what one may do to another's files. Only root can become them.

use super::cli::{Doctor, Ran};
use rustix::process::geteuid;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

pub struct User {
    pub name: String,
    pub uid: u32,
    gid: u32,
}

/// Somebody who owns files, and somebody who does not. `None` where the tests do not run as root: then the caller proves
/// what can be proven without, and [`say_what_is_missing`] says what was not.
pub fn others() -> Option<[User; 2]> {
    geteuid().is_root().then(|| ["daemon", "nobody"].map(User::named))
}

/// The same where nothing can be proven without.
pub fn others_for(what: &str) -> Option<[User; 2]> {
    let others = others();
    if others.is_none() {
        say_what_is_missing(&format!("{what}; the tests do not run as root"));
    }
    others
}

/// Says, where nobody can overlook it, what this run did not prove.
pub fn say_what_is_missing(what: &str) {
    // Past the harness, which keeps to itself what a test that passes prints.
    std::io::stderr().write_all(format!("\n*** NOT PROVEN IN THIS RUN: {what}\n").as_bytes()).unwrap();
}

impl User {
    fn named(name: &str) -> User {
        let number = |flag: &str| {
            let said = Command::new("id").args([flag, name]).output().unwrap();
            let said = String::from_utf8(said.stdout).unwrap();
            said.trim().parse().unwrap_or_else(|_| panic!("the tests run as root and need a user {name}"))
        };
        User { name: name.to_owned(), uid: number("-u"), gid: number("-g") }
    }

    /// One whom this machine may not know.
    pub fn numbered(number: u32) -> User {
        User { name: String::new(), uid: number, gid: number }
    }

    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.uid(self.uid).gid(self.gid);
        command
    }

    /// Gives the user a file, or a directory with all that is in it.
    pub fn takes(&self, path: &Path) {
        chown(path, Some(self.uid), Some(self.gid)).unwrap();
        if path.is_dir() {
            fs::read_dir(path).unwrap().for_each(|entry| self.takes(&entry.unwrap().path()));
        }
    }

    pub fn runs(&self, doctor: &Doctor, arguments: &[&str]) -> Ran {
        self.runs_in(doctor, &doctor.path(""), arguments)
    }

    /// The same in another directory. The program is copied to where every user can come.
    pub fn runs_in(&self, doctor: &Doctor, directory: &Path, arguments: &[&str]) -> Ran {
        let root = doctor.path("").parent().unwrap().to_owned();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        let original = doctor.command(arguments);
        let program = root.join("jobdoctor");
        if !program.exists() {
            // Not by this process: while it had the copy open, a child of another test's could inherit it, and a program
            // that is open for writing cannot be run.
            let copied = Command::new("cp").arg(original.get_program()).arg(&program).status().unwrap();
            assert!(copied.success());
        }
        let mut command = self.command(&program);
        let variables = original.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.args(arguments).env_clear().envs(variables).current_dir(directory).stdin(Stdio::null());
        Ran::of(command.output().unwrap())
    }
}
