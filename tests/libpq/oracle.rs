//! libpq itself, asked through a Python process what it makes of an environment.

use super::case::Made;
use super::runs::psql;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Oracle {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Oracle {
    pub fn new() -> Oracle {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/libpq/oracle.py");
        // A libpq that was built together with psql lies beside it.
        let beside = psql().parent().and_then(Path::parent).map(|root| root.join("lib/libpq.so.5")).unwrap();
        let mut child = Command::new(python())
            .arg("-B")
            .arg(script)
            .arg(beside)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (questions, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut oracle = Oracle { child, questions, answers };
        let version = oracle.answer()["version"].as_i64().unwrap();
        assert!(
            version >= 150_000,
            "libpq {version} does not heed HOME: these tests need that of Postgres 15 or newer"
        );
        oracle
    }

    /// The values of all keys, and which host it tried first.
    pub fn ask(&mut self, made: &Made) -> Value {
        writeln!(self.questions, "{}", json!({"address": made.address, "variables": made.variables})).unwrap();
        self.answer()
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("the oracle is silent: {error}: {line}"))
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn python() -> &'static str {
    let can = |python: &&str| {
        let tried = Command::new(python).args(["-c", "import ctypes"]).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    ["python3", "/usr/bin/python3"].into_iter().find(can).expect("python3 is needed: run tests/run, which installs it")
}
