//! The small application of a library in `fixtures/live`, its database, and jobdoctor beside it.

use super::database::{Database, Session};
use super::environment::{Interpreter, Runtime, interpreter};
use super::looks::A_WHILE;
use super::worker::Worker;
use jobdoctor::model::Engine;
use postgres::Client;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

pub(super) struct Application {
    interpreter: Interpreter,
    script: PathBuf,
    database: Database,
    home: tempfile::TempDir,
}

impl Application {
    pub(super) fn new(script: &str, runtime: Runtime) -> Option<Application> {
        Application::on(Engine::Postgres, script, runtime)
    }

    pub(super) fn on(engine: Engine, script: &str, runtime: Runtime) -> Option<Application> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/live").join(script);
        let interpreter = interpreter(script.parent()?, runtime)?;
        let home = tempfile::tempdir().expect("a temporary directory");
        let database = Database::new(engine, home.path());
        let application = Application { interpreter, script, database, home };
        application.run(&["schema"]);
        Some(application)
    }

    /// The same application on a copy of its database, which nobody may use meanwhile.
    pub(super) fn copy(&self) -> Application {
        let home = tempfile::tempdir().expect("a temporary directory");
        let (interpreter, script, database) = (self.interpreter.clone(), self.script.clone(), self.database.copy());
        Application { interpreter, script, database, home }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.interpreter.script(&self.script);
        command.args(arguments).current_dir(self.home.path());
        self.database.tell(&mut command);
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> String {
        let mut command = self.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("run the application");
        let until = Instant::now() + A_WHILE * 3;
        while child.try_wait().expect("the application").is_none() {
            if Instant::now() > until {
                let _ = child.kill();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = child.wait_with_output().expect("what it said");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    pub(super) fn enqueue(&self, arguments: &[&str]) -> Vec<String> {
        let said = self.run(&[&["enqueue"], arguments].concat());
        let mut ids: Vec<String> =
            said.lines().filter_map(|line| line.strip_prefix("enqueued ")).map(str::to_owned).collect();
        ids.sort();
        ids
    }

    pub(super) fn work(&self, name: &'static str, arguments: &[&str]) -> Worker {
        self.start(name, &[&["work"], arguments].concat())
    }

    pub(super) fn start(&self, name: &'static str, arguments: &[&str]) -> Worker {
        Worker::start(name, &mut self.command(arguments))
    }

    pub(super) fn session(&self) -> Session {
        self.database.session()
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

    /// A worker may write to its own row at that instant, which holds back its jobs: then it is typed again.
    pub(super) fn document(&self, arguments: &[&str]) -> Value {
        let mut output = self.jobdoctor(&[arguments, &["-o", "json"]].concat());
        if String::from_utf8_lossy(&output.stderr).contains("locked by another session") {
            output = self.jobdoctor(&[arguments, &["-o", "json"]].concat());
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}; {errors}"))
    }
}
