//! The only mouth: the report goes to stdout, everything else to stderr, and whatever came from a database is inert.

use super::args::{ColorArg, LogFormat, ToneArgs};
use super::environment::Environment;
use super::error::CliError;
use super::exit::Exit;
use super::secret::masked;
use super::streams::{Held, Streams};
use crate::model::Timestamp;
use crate::output::format::{Format, Screen, inert, json};
use crate::output::{self, Document, LogLine, Message};
use anstyle::{AnsiColor, Style};
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// See the module.
#[derive(Debug, Clone)]
pub struct Ui {
    quiet: bool,
    verbose: bool,
    machine: bool,
    out: Screen,
    watched: bool,
    out_is_terminal: bool,
    err_is_terminal: bool,
    err_color: bool,
    log: LogFormat,
    /// The target's name, where it is one of several.
    target: Option<String>,
    run: Arc<Mutex<Option<String>>>,
    streams: Streams,
}

impl Ui {
    /// Decides about colour, width and volume.
    pub fn new(tone: &ToneArgs, format: Format, environment: &Environment) -> Ui {
        let (out_tty, err_tty) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let columns = environment.get("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|width| *width > 0);
        let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = match format {
            Format::Wide => None,
            _ => columns.or_else(|| if out_tty { terminal() } else { None }),
        };
        Ui {
            quiet: tone.quiet,
            verbose: tone.verbose,
            machine: matches!(format, Format::Json | Format::Jsonl),
            out: Screen { width, color: wants_color(tone.color, environment, out_tty) },
            watched: out_tty || err_tty,
            out_is_terminal: out_tty,
            err_is_terminal: err_tty,
            err_color: wants_color(tone.color, environment, err_tty),
            log: tone.log_format,
            target: None,
            run: Arc::default(),
            streams: Streams::default(),
        }
    }

    /// For errors before anything else is known, where a document was asked for.
    pub fn for_machines() -> Ui {
        let out = Screen { width: None, color: false };
        Ui {
            quiet: false,
            verbose: false,
            machine: true,
            out,
            watched: false,
            out_is_terminal: false,
            err_is_terminal: false,
            err_color: false,
            log: LogFormat::Text,
            target: None,
            run: Arc::default(),
            streams: Streams::default(),
        }
    }

    /// The same mouth, but what it says is held back: for a target among several.
    pub fn held(&self, target: &str) -> (Ui, Arc<Held>) {
        let held = Arc::<Held>::default();
        let (streams, target) = (Streams::Held(Arc::clone(&held)), Some(target.to_owned()));
        (Ui { streams, target, run: Arc::default(), ..self.clone() }, held)
    }

    /// A defect of this program: to stderr, whatever was asked for. Only where it is: what a panic says may hold anything.
    pub fn say_defect(location: Option<&str>) {
        let location = location.unwrap_or("an unknown place");
        let _ = writeln!(io::stderr().lock(), "error: jobdoctor has a defect at {location}; please report it");
    }

    /// The screen that tables are laid out for.
    pub fn screen(&self) -> Screen {
        self.out
    }

    /// True if errors are documents.
    pub fn is_for_machines(&self) -> bool {
        self.machine
    }

    /// True if a person is likely to be watching.
    pub fn is_watched(&self) -> bool {
        self.watched
    }

    /// True if the report goes to a terminal.
    pub fn is_terminal(&self) -> bool {
        self.out_is_terminal
    }

    /// True if stderr may show how far it is.
    pub fn shows_progress(&self) -> bool {
        self.err_is_terminal && !self.quiet && self.log == LogFormat::Text && !self.streams.are_held()
    }

    /// What the lines of a log from here on are about.
    pub fn is_run(&self, run: &str) {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).replace(run.to_owned());
    }

    /// Writes the report. A reader that has gone away is no error: it has seen what it wanted.
    ///
    /// # Errors
    /// When stdout cannot be written for any other reason.
    pub fn report(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
        self.report_on(write).map(drop)
    }

    /// The same for a report that goes on: false if its reader has gone away.
    ///
    /// # Errors
    /// When stdout cannot be written for any other reason.
    pub fn report_on(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<bool, CliError> {
        match self.streams.out(write) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CliError::new(Exit::Internal, format!("the report cannot be written: {error}")))
            }
            Err(_) => Ok(false),
            Ok(()) => Ok(true),
        }
    }

    /// A summary line: a line break in it is none of ours.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.say("info", Style::new(), "", &inert(text));
        }
    }

    /// A line that is drawn again and again, on a terminal alone; an empty one takes it away. What comes from a database does
    /// not belong in it.
    pub fn redraw(&self, text: &str) {
        if self.shows_progress() {
            let width = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
            let text: String = text.chars().take(width.saturating_sub(1)).collect();
            let mut err = io::stderr().lock();
            let _ = write!(err, "\r\x1b[2K{text}").and_then(|()| err.flush());
        }
    }

    /// Says these sentences on stderr.
    pub fn say_all(&self, messages: &[Message]) {
        messages.iter().for_each(|message| match message {
            Message::Warn(text) => self.warn(text),
            Message::Note(text) => self.note(text),
            Message::Hint(text) => self.hint(text),
        });
    }

    /// Writes a document to stdout.
    ///
    /// # Errors
    /// When stdout fails for another reason than that its reader has gone.
    pub fn print<D: Document>(&self, format: Format, document: &D) -> Result<(), CliError> {
        self.report(|out| output::write(document, format, &self.screen(), self.is_terminal(), out))
    }

    /// What to type next.
    pub fn hint(&self, text: &str) {
        if !self.quiet {
            self.say("info", AnsiColor::Cyan.on_default(), "", text);
        }
    }

    /// Something an operator should know, in one line.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            self.say("warning", AnsiColor::Yellow.on_default().bold(), "warning: ", &inert(text));
        }
    }

    /// A word about how things are set up: to who asked with `--verbose`, and to a terminal. Cron would mail it every minute.
    pub fn warn_about_setup(&self, text: &str) {
        if self.tells_details() {
            self.warn(text);
        }
    }

    /// True if what is not worth a mail is said: to who asked with `--verbose`, and to a terminal.
    pub fn tells_details(&self) -> bool {
        self.verbose || self.err_is_terminal
    }

    /// What was found out, for who asked with `--verbose`.
    pub fn detail(&self, text: &str) {
        if self.verbose {
            self.say("debug", Style::new().dimmed(), "", text);
        }
    }

    /// The error that a run with a report ends with. Machines read of it in the report.
    pub fn ends_with_report(&self, error: &CliError) -> Exit {
        if !self.machine || self.log == LogFormat::Json {
            self.error(error);
        }
        error.exit
    }

    /// An error. Machines get a document.
    pub fn error(&self, error: &CliError) {
        if self.log == LogFormat::Json {
            let line = LogLine {
                code: Some(error.exit.code()),
                kind: Some(error.exit.name()),
                hints: error.hints.iter().map(|hint| masked(hint)).collect(),
                ..self.line("error", &error.message)
            };
            return self.log(&line);
        }
        if self.machine {
            let document = error.document();
            self.streams.err(|err| json(&document, err));
            return;
        }
        self.say("error", AnsiColor::Red.on_default().bold(), "error: ", &error.message);
        for hint in &error.hints {
            self.say("info", AnsiColor::Cyan.on_default(), "hint: ", hint);
        }
    }

    fn line(&self, level: &'static str, text: &str) -> LogLine {
        #[expect(clippy::disallowed_methods, reason = "it says when a line was written, and nothing is judged by it")]
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok();
        let micros = now.and_then(|now| i64::try_from(now.as_micros()).ok());
        LogLine {
            schema: "jobdoctor.log/v1",
            time: micros.and_then(Timestamp::from_micros),
            level,
            message: masked(text),
            target: self.target.clone(),
            run: self.run.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            code: None,
            kind: None,
            hints: Vec::new(),
        }
    }

    /// Something that went wrong beside a run that has ended in its own way: said however quiet it is, and no document, since
    /// that run has its own.
    pub fn complain(&self, text: &str) {
        self.say("error", AnsiColor::Red.on_default().bold(), "error: ", text);
    }

    /// A stderr that has gone away changes nothing about what was done.
    fn say(&self, level: &'static str, style: Style, label: &str, text: &str) {
        if self.log == LogFormat::Json {
            return self.log(&self.line(level, text));
        }
        // Line breaks are ours; anything else that moves the cursor is not.
        let text = masked(text);
        let text: Vec<_> = text.lines().map(inert).collect();
        let text = text.join("\n");
        self.streams.err(|err| match (self.err_color, label) {
            (true, "") => writeln!(err, "{style}{text}{style:#}"),
            (true, _) => writeln!(err, "{style}{label}{style:#}{text}"),
            (false, _) => writeln!(err, "{label}{text}"),
        });
    }

    /// One line, in one piece.
    fn log(&self, line: &LogLine) {
        if let Ok(mut bytes) = serde_json::to_vec(line) {
            bytes.push(b'\n');
            self.streams.err(|err| err.write_all(&bytes));
        }
    }

    /// What a target among several had to say beside its report, each line under the target's name.
    pub fn pass_on(&self, target: &str, said: impl BufRead) {
        // A log's lines say themselves whose they are.
        let label = if self.log == LogFormat::Json { String::new() } else { format!("{}: ", inert(target)) };
        self.streams.err(|err| {
            said.split(b'\n').try_for_each(|line| {
                err.write_all(label.as_bytes())?;
                err.write_all(&line?)?;
                writeln!(err)
            })
        });
    }
}

/// The flag, then NO_COLOR, then CLICOLOR_FORCE, then CLICOLOR, then whether it is a terminal that can.
fn wants_color(flag: ColorArg, environment: &Environment, is_terminal: bool) -> bool {
    match flag {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto if environment.get("NO_COLOR").is_some() => false,
        ColorArg::Auto if environment.get("CLICOLOR_FORCE").is_some_and(|force| force != "0") => true,
        ColorArg::Auto if environment.get("CLICOLOR") == Some("0") => false,
        ColorArg::Auto => is_terminal && environment.get("TERM") != Some("dumb"),
    }
}
