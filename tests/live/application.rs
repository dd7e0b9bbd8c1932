//! The small Procrastinate application of the fixtures, its database, and jobdoctor beside it.

use super::environment;
use super::worker::Worker;
use crate::support::postgres::{TestDatabase, fresh};
use postgres::Client;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(super) struct Application {
    python: &'static Path,
    script: PathBuf,
    database: TestDatabase,
    home: tempfile::TempDir,
}

impl Application {
    /// With a new database and the library's own schema in it; `None` where the library cannot be installed.
    pub(super) fn new() -> Option<Application> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/live/procrastinate");
        let python = environment::python(&directory)?;
        let home = tempfile::tempdir().expect("a temporary directory");
        let application = Application { python, script: directory.join("app.py"), database: fresh(), home };
        application.run(&["schema"]);
        Some(application)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.python);
        command.arg(&self.script).args(arguments).env("PROCRASTINATE_DSN", self.database.url());
        // The fixtures stay as they are.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("run the application");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Puts jobs into the queue; their ids.
    pub(super) fn enqueue(&self, arguments: &[&str]) -> Vec<String> {
        let said = self.run(&[&["enqueue"], arguments].concat());
        let mut ids: Vec<String> =
            said.lines().filter_map(|line| line.strip_prefix("enqueued ")).map(str::to_owned).collect();
        ids.sort();
        ids
    }

    pub(super) fn work(&self, name: &'static str, arguments: &[&str]) -> Worker {
        Worker::start(name, &mut self.command(&[&["work"], arguments].concat()))
    }

    pub(super) fn client(&self) -> Client {
        self.database.client()
    }

    /// What jobdoctor says, with what an operator would have typed.
    pub(super) fn jobdoctor(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_jobdoctor"))
            .args(arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .env("COLUMNS", "100")
            .env("JOBDOCTOR_DB", self.database.url())
            .output()
            .expect("run jobdoctor")
    }

    /// The same as text for the transcript: both streams.
    pub(super) fn told(&self, arguments: &[&str]) -> String {
        let output = self.jobdoctor(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
        format!("$ jobdoctor {}\n{}", arguments.join(" "), texts.concat())
    }

    /// The same as a document.
    pub(super) fn document(&self, arguments: &[&str]) -> Value {
        let output = self.jobdoctor(&[arguments, &["-o", "json"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}; {errors}"))
    }
}
