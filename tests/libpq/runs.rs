//! Runs psql and the program in the same environment, and tells where each got to.

use super::case::{Case, Made};
use super::oracle::Oracle;
use crate::support::impostor::{Impostor, Visit};
use crate::support::postgres::installed;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// To the impostor, who saw this.
    Reached(Vec<Visit>),
    /// What it was given could not be used.
    Refused(i32),
    Unreachable,
}

#[derive(Debug, Clone)]
pub struct Run {
    pub end: End,
    pub stderr: String,
}

pub struct Lab {
    pub impostor: Impostor,
    pub oracle: Oracle,
}

impl Lab {
    pub fn new() -> Lab {
        Lab { impostor: Impostor::new(), oracle: Oracle::new() }
    }

    pub fn psql(&mut self, case: &Case) -> Run {
        let made = case.made_in(&self.impostor);
        let mut command = Command::new(psql());
        command.args(["-XAtqw", "-c", "SELECT 1"]);
        if let Some(address) = &made.address {
            command.args(["-d", address]);
        }
        let (visits, output) = self.run(command, &made);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let says = |words: &[&str]| words.iter().any(|words| stderr.contains(words));
        let end = match visits {
            visits if !visits.is_empty() => End::Reached(visits),
            // Some values it looks at only once it is at a server.
            _ if says(&["invalid integer value", "invalid port number", "GSSAPI encryption"]) => End::Refused(2),
            _ if says(&["connection to server", "could not translate"]) => End::Unreachable,
            _ => End::Refused(2),
        };
        Run { end, stderr }
    }

    pub fn jobdoctor(&mut self, case: &Case) -> Run {
        let made = case.made_in(&self.impostor);
        let (visits, output) = self.run(ours(&made, &["check", "--timeout", "20s"]), &made);
        let code = output.status.code().unwrap();
        let end = match (visits, code) {
            (visits, _) if !visits.is_empty() => End::Reached(visits),
            (_, 69) => End::Unreachable,
            (_, code) => End::Refused(code),
        };
        Run { end, stderr: String::from_utf8_lossy(&output.stderr).into_owned() }
    }

    fn run(&self, mut command: Command, made: &Made) -> (Vec<Visit>, Output) {
        command.env_clear().envs(&made.variables).current_dir(made.home()).stdin(Stdio::null());
        let output = command.output().unwrap();
        (self.impostor.visits(), output)
    }
}

fn ours(made: &Made, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobdoctor"));
    command.args(arguments).arg("--no-config");
    if let Some(address) = &made.address {
        command.arg(format!("--db={address}"));
    }
    command
}

/// The real psql: on Debian the one in PATH is a wrapper that has ideas of its own about hosts and ports.
pub fn psql() -> &'static Path {
    static PSQL: OnceLock<PathBuf> = OnceLock::new();
    PSQL.get_or_init(|| {
        let found = installed().into_iter().map(|bin| bin.join("psql")).find(|place| place.exists());
        found.expect("no psql: run tests/run, which installs Postgres, or install the package `postgresql`")
    })
}
