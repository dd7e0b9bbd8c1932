//! Runs the program as its user would: in an empty directory, with an empty environment, and keeps whole what it says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot be set up has failed")]

use jsonschema::Validator;
use regex_lite::{Captures, Regex};
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A place of its own for the program: a working directory, a home and nothing else.
pub struct Doctor {
    root: TempDir,
    variables: BTreeMap<&'static str, String>,
}

impl Doctor {
    pub fn new() -> Doctor {
        let root = TempDir::new().unwrap();
        fs::create_dir(root.path().join("home")).unwrap();
        fs::create_dir(root.path().join("work")).unwrap();
        let home = root.path().join("home").display().to_string();
        let variables = BTreeMap::from([("HOME", home), ("COLUMNS", "100".to_owned())]);
        Doctor { root, variables }
    }

    pub fn env(mut self, name: &'static str, value: impl Into<String>) -> Doctor {
        self.variables.insert(name, value.into());
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("work").join(name)
    }

    pub fn home(&self, name: &str) -> PathBuf {
        self.root.path().join("home").join(name)
    }

    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jobdoctor"));
        command.args(arguments).env_clear().envs(&self.variables).current_dir(self.path("")).stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// Runs it on `queue.db` in the working directory.
    pub fn on_queue(&self, arguments: &[&str]) -> Ran {
        self.run(&[arguments, &["--db", "queue.db"]].concat())
    }

    /// Starts it, with both of its streams held back.
    pub fn start(&self, arguments: &[&str]) -> Running {
        let mut command = self.command(arguments);
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// A connection of the test's own to a file in the working directory, which is made if need be.
    pub fn connect(&self, file: &str) -> Connection {
        let connection = Connection::open(self.path(file)).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        connection.pragma_update(None, "synchronous", "off").unwrap();
        connection
    }

    /// Runs statements on `queue.db`.
    pub fn sql(&self, sql: &str) {
        self.sql_in("queue.db", sql);
    }

    pub fn sql_in(&self, file: &str, sql: &str) {
        self.connect(file).execute_batch(sql).unwrap_or_else(|error| panic!("{error} in {sql}"));
    }

    pub fn rows(&self, query: &str) -> Vec<String> {
        self.rows_in("queue.db", query)
    }

    pub fn rows_in(&self, file: &str, query: &str) -> Vec<String> {
        rows(&self.connect(file), query)
    }
}

/// The rows of a query, values joined by blanks; NULL is a dash.
pub fn rows(connection: &Connection, query: &str) -> Vec<String> {
    let mut prepared = connection.prepare(query).unwrap();
    let width = prepared.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let cell = |n| match row.get_ref(n)? {
            rusqlite::types::ValueRef::Null => Ok("-".to_owned()),
            rusqlite::types::ValueRef::Integer(number) => Ok(number.to_string()),
            other => other.as_str().map(str::to_owned).map_err(rusqlite::Error::from),
        };
        Ok((0..width).map(cell).collect::<rusqlite::Result<Vec<_>>>()?.join(" "))
    };
    prepared.query_map([], row).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    /// The exit code; 0 for none, if a signal ended it.
    pub code: i32,
    pub signal: Option<i32>,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap_or_default(),
            signal: output.status.signal(),
        }
    }

    /// The same, having made sure of the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!((self.code, self.signal), (code, None), "{self:#?}");
        self
    }

    /// Makes sure of words on stderr.
    #[track_caller]
    pub fn says(&self, words: &str) -> &Ran {
        assert!(self.stderr.contains(words), "{self:#?} does not say {words:?}");
        self
    }

    /// Makes sure of words on stdout.
    #[track_caller]
    pub fn shows(&self, words: &str) -> &Ran {
        assert!(self.stdout.contains(words), "{self:#?} does not show {words:?}");
        self
    }

    /// Makes sure that it said nothing.
    #[track_caller]
    pub fn is_silent(&self) {
        assert_eq!((self.stdout.as_str(), self.stderr.as_str()), ("", ""));
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// What it printed on stdout, having made sure that this is a document of that schema.
    #[track_caller]
    pub fn document(&self, name: &str) -> Value {
        let document = self.json();
        is_valid(name, &document);
        document
    }

    /// Everything there is to see, for a snapshot: both streams, the end, and where they differ from run to run a
    /// stand-in of the same width.
    pub fn whole(&self) -> String {
        let mut whole = String::new();
        for (name, stream) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !stream.is_empty() {
                let end = if stream.ends_with('\n') { "" } else { "[no line break]\n" };
                whole.push_str(&format!("[{name}]\n{}{end}", redacted(stream)));
            }
        }
        let end = match self.signal {
            Some(signal) => format!("signal {signal}"),
            None => format!("exit {}", self.code),
        };
        format!("{whole}[{end}]\n[EOF]")
    }
}

pub struct Running(Child);

impl Running {
    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// True once it has opened that file, so that it has long begun to listen for signals. Where the system does not
    /// tell what a process has open, some time must do.
    pub fn has_open(&self, file: &Path) -> bool {
        if !Path::new("/proc/self/fd").exists() {
            std::thread::sleep(Duration::from_millis(500));
            return true;
        }
        self.times_open(file) > 0
    }

    /// How often it has that file open, as `/proc` tells.
    pub fn times_open(&self, file: &Path) -> usize {
        let entries = fs::read_dir(format!("/proc/{}/fd", self.0.id())).into_iter().flatten().flatten();
        entries.filter(|entry| fs::read_link(entry.path()).is_ok_and(|open| open == file)).count()
    }

    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    pub fn wait(self) -> Ran {
        Ran::of(self.0.wait_with_output().unwrap())
    }

    /// What it says on stderr, as it comes.
    pub fn stderr(&mut self) -> Box<dyn std::io::Read> {
        Box::new(self.0.stderr.take().unwrap())
    }

    /// Reads one line of the report and goes away, as `head -1` does.
    pub fn first_line(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        line
    }
}

/// How long something is waited for that must come: a busy machine may take long, and a run that passes never waits for it.
const PATIENCE: Duration = Duration::from_secs(300);

#[track_caller]
pub fn until(what: &str, mut is: impl FnMut() -> bool) {
    let patience = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < patience, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The text under that key in each item of a document's list.
#[track_caller]
pub fn each<'d>(document: &'d Value, list: &str, key: &str) -> Vec<&'d str> {
    let items = document[list].as_array().unwrap_or_else(|| panic!("no {list} in {document:#}"));
    items.iter().map(|item| item[key].as_str().unwrap_or_else(|| panic!("no {key} in {item:#}"))).collect()
}

/// What differs from run to run, and its stand-in.
const REDACTED: [(&str, &str); 5] = [
    ("\x1b", "␛"),
    ("counting the claims took [^)]*", "counting the claims took <time>"),
    (r"--expect [0-9a-f]{16}\b", "--expect <digest>"),
    (r"\(run [^)]*", "(run <varies>"),
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[0-9.]*Z?", "<time..............>"),
];
/// Values of JSON; null stays.
const VALUE: &str = r#"((?:silence_seconds|count_seconds|run_id|digest|journal|identity|\bfile)":\s*)([^,}\n]*)"#;
/// Whether the day is said before a time depends on the time of day.
const CLOCK: &str = "(?:[0-9]{4}-[0-9]{2}-[0-9]{2} )?[0-9]{2}:[0-9]{2}:[0-9]{2}";

fn redacted(text: &str) -> String {
    static REGEXES: LazyLock<[Regex; 7]> = LazyLock::new(|| {
        let [escape, counting, expect, run, time] = REDACTED.map(|(regex, _)| regex);
        [escape, counting, expect, run, time, VALUE, CLOCK].map(|regex| Regex::new(regex).unwrap())
    });
    let [stand_ins @ .., value, clock] = &*REGEXES;
    let text = column(text, "silence_seconds");
    let text = value.replace_all(&text, |found: &Captures<'_>| match &found[2] {
        "null" => found[0].to_owned(),
        _ => format!("{}<varies>", &found[1]),
    });
    let text = stand_ins
        .iter()
        .zip(REDACTED)
        .fold(text.into_owned(), |text, (regex, (_, shown))| regex.replace_all(&text, shown).into_owned());
    clock.replace_all(&unbroken(&text), "<clock>").into_owned()
}

/// A sentence about what happened is one line here: where it is broken depends on whether it says the day.
fn unbroken(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n') {
        let goes_on =
            line.strip_prefix("    ").filter(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '('));
        let sentence = lines
            .last_mut()
            .filter(|last| [" ago, ", " vanished ", "no life for"].iter().any(|words| last.contains(words)));
        match (goes_on, sentence) {
            (Some(rest), Some(sentence)) => sentence.push_str(&format!(" {rest}")),
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

/// A column of comma-separated values. None of ours before it is ever quoted.
fn column(text: &str, name: &str) -> String {
    let Some((header, rows)) = text.split_once('\n') else { return text.to_owned() };
    let Some(n) = header.split(',').position(|column| column == name) else { return text.to_owned() };
    let row = |row: &str| {
        let cells = row.split(',').enumerate().map(|(at, cell)| if at == n { "<varies>" } else { cell });
        cells.collect::<Vec<_>>().join(",")
    };
    let rows: String = rows.lines().map(|line| row(line) + "\n").collect();
    format!("{header}\n{rows}")
}

/// Makes sure that it ends in an error of that code, and that the contract of errors is kept: nothing on stdout, a
/// sentence on stderr for people, exactly one document on stderr for machines.
#[track_caller]
pub fn fails(doctor: &Doctor, arguments: &[&str], code: i32) -> Ran {
    let ran = doctor.run(arguments).exits(code);
    // Of what `check` has looked at it tells, however it ends.
    let is_silent = |ran: &Ran| ran.stdout.is_empty() || arguments.first() == Some(&"check");
    assert!(is_silent(&ran), "{ran:#?}");
    assert!(ran.stderr.starts_with("error: "), "{ran:#?}");
    let machine = doctor.run(&[arguments, &["-o", "json"]].concat()).exits(code);
    assert!(is_silent(&machine), "{machine:#?}");
    let document: Value = serde_json::from_str(&machine.stderr).unwrap_or_else(|error| panic!("{error}: {machine:#?}"));
    is_valid("error", &document);
    assert_eq!(document["code"], code, "{document:#}");
    let message = document["message"].as_str().unwrap();
    let first = jobdoctor::output::format::inert(message.lines().next().unwrap_or_default());
    // Which of several limits ends a wait first depends on the machine.
    assert!(code == 75 || ran.stderr.contains(first.as_ref()), "{ran:#?} lacks {first}");
    ran
}

/// Makes sure that a document is what `jobdoctor schema` says, and begins with its own name.
#[track_caller]
pub fn is_valid(name: &str, document: &Value) {
    is_of_schema(name, document);
    let first = document.as_object().and_then(|fields| fields.iter().next()).unwrap();
    assert_eq!((first.0.as_str(), first.1), ("schema", &Value::from(format!("jobdoctor.{name}/v1"))));
}

/// The same of a part of one, or a line.
#[track_caller]
pub fn is_of_schema(name: &str, document: &Value) {
    static VALIDATORS: Mutex<BTreeMap<String, Arc<Validator>>> = Mutex::new(BTreeMap::new());
    let validator = {
        let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || Arc::new(jsonschema::validator_for(&Doctor::new().run(&["schema", name]).json()).unwrap());
        Arc::clone(validators.entry(name.to_owned()).or_insert_with(made))
    };
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{}\n{document:#}", errors.join("\n"));
}
