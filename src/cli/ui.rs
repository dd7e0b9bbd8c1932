//! The only writer to stdout, which gets the report, and to stderr; database text is made inert.

use super::args::{ColorArg, LogFormat, ToneArgs};
use super::environment::Environment;
use super::streams::{Buffered, Streams};
use super::{CliError, Exit, masked};
use crate::model::{Timestamp, escaped_json};
use crate::output::format::{Format, Page, Plugin, Screen, inert, json, wrap};
use crate::output::{self, Document, LogLine, Message};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// The output of one command: colour, width, volume and streams.
#[derive(Debug, Clone)]
pub struct Ui {
    quiet: bool,
    verbose: bool,
    machine: bool,
    out: Screen,
    out_is_terminal: bool,
    err_is_terminal: bool,
    err_color: bool,
    /// Display cells of a line of stderr; `None` where it is no terminal: then nothing is wrapped.
    err_width: Option<usize>,
    log: LogFormat,
    /// The target's name, where it is one of several.
    target: Option<String>,
    run: Arc<Mutex<Option<String>>>,
    streams: Streams,
}

impl Ui {
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
            out: Screen {
                width,
                color: wants_color(tone.color, environment, out_tty),
                no_header: tone.rows.no_header,
                sort: tone.rows.sort.clone(),
                columns: tone.rows.columns.clone(),
                times: tone.time.times(),
                by_cause: out_tty && format == Format::Table && tone.rows.sort.is_none(),
            },
            err_width: columns
                .or_else(|| terminal_size::terminal_size_of(io::stderr()).map(|(w, _)| usize::from(w.0)))
                .filter(|_| err_tty),
            out_is_terminal: out_tty,
            err_is_terminal: err_tty,
            err_color: wants_color(tone.color, environment, err_tty),
            log: tone.log_format,
            target: None,
            run: Arc::default(),
            streams: Streams::default(),
        }
    }

    /// The output of one of several targets, buffered until its turn.
    pub fn buffered(&self, target: &str) -> (Ui, Arc<Buffered>) {
        let buffered = Arc::<Buffered>::default();
        let (streams, target) = (Streams::Buffered(Arc::clone(&buffered)), Some(target.to_owned()));
        (Ui { streams, target, run: Arc::default(), ..self.clone() }, buffered)
    }

    /// Reports a panic, by its place only: its message may hold a secret.
    pub fn report_defect(location: Option<&str>) {
        let location = location.unwrap_or("an unknown place");
        let _ = writeln!(io::stderr().lock(), "error: jobdoctor has a defect at {location}; please report it");
    }

    pub fn screen(&self) -> Screen {
        self.out.clone()
    }

    /// True if errors are documents.
    pub fn is_for_machines(&self) -> bool {
        self.machine
    }

    pub fn is_watched(&self) -> bool {
        self.out_is_terminal || self.err_is_terminal
    }

    /// True if the report goes to a terminal.
    pub fn is_terminal(&self) -> bool {
        self.out_is_terminal
    }

    pub fn shows_progress(&self) -> bool {
        self.err_is_terminal && !self.quiet && self.log == LogFormat::Text && !self.streams.are_buffered()
    }

    /// Sets the run id of the log lines that follow.
    pub fn set_run(&self, run: &str) {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).replace(run.to_owned());
    }

    pub fn run(&self) -> Option<String> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes the report. A closed pipe is no error: its reader has what it wanted.
    pub fn report(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
        self.report_part(write).map(drop)
    }

    /// Writes a part of the report; false if the pipe is closed.
    pub fn report_part(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<bool, CliError> {
        match self.streams.out(write) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CliError::new(Exit::Internal, format!("the report cannot be written: {error}")))
            }
            Err(_) => Ok(false),
            Ok(()) => Ok(true),
        }
    }

    /// Writes something even with `--quiet`.
    pub fn insist(&self, text: &str) {
        self.write("info", Style::new(), "", &inert(text));
    }

    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.write("info", Style::new(), "", &inert(text));
        }
    }

    /// Redraws a line of progress on a terminal; an empty text removes it. The text must hold nothing from a database.
    pub fn redraw(&self, text: &str) {
        if self.shows_progress() {
            let width = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
            let text: String = text.chars().take(width.saturating_sub(1)).collect();
            let mut err = io::stderr().lock();
            let _ = write!(err, "\r\x1b[2K{text}").and_then(|()| err.flush());
        }
    }

    pub fn messages(&self, messages: &[Message]) {
        messages.iter().for_each(|message| match message {
            Message::Warn(text) => self.warn(text),
            Message::Note(text) => self.note(text),
            Message::Hint(text) => self.hint(text),
        });
    }

    /// Writes the report of the monitoring plugin; for one of several targets, keeps it for the plugin of all.
    pub fn report_plugin(&self, plugin: Plugin) -> Result<(), CliError> {
        match &self.streams {
            Streams::Own => self.report(|out| out.write_all(plugin.render().as_bytes())),
            Streams::Buffered(buffered) => {
                buffered.keep_plugin(plugin);
                Ok(())
            }
        }
    }

    pub fn print<D: Document>(&self, format: Format, document: &D) -> Result<(), CliError> {
        let mut left_out = None;
        self.report(|out| {
            left_out = output::write(document, format, &self.screen(), self.is_terminal(), out)?;
            Ok(())
        })?;
        left_out.into_iter().for_each(|columns| self.note(&columns));
        Ok(())
    }

    /// Writes a document that is no list to stdout: as JSON, or as the text that is laid out for the screen.
    pub fn print_page<D: Serialize>(
        &self,
        format: Format,
        document: &D,
        page: impl FnOnce(&Screen) -> Page,
    ) -> Result<(), CliError> {
        let mut left_out = None;
        self.report(|out| match format {
            Format::Json => json(document, out),
            Format::None => Ok(()),
            _ => {
                let page = page(&self.screen());
                left_out = page.left_out();
                write!(out, "{page}")
            }
        })?;
        left_out.into_iter().for_each(|columns| self.note(&columns));
        Ok(())
    }

    /// Writes the command to type next.
    pub fn hint(&self, text: &str) {
        if !self.quiet {
            self.write("info", Style::new().bold(), "", text);
        }
    }

    /// Writes something that an operator should know, in one line.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            self.write("warning", AnsiColor::Magenta.on_default().bold(), "warning: ", &inert(text));
        }
    }

    /// Warns about the setup, at a terminal or with `--verbose`: cron would mail it every minute.
    pub fn warn_about_setup(&self, text: &str) {
        if self.shows_details() {
            self.warn(text);
        }
    }

    /// True at a terminal or with `--verbose`: warnings that are not worth a mail are written.
    pub fn shows_details(&self) -> bool {
        self.verbose || self.err_is_terminal
    }

    /// Writes a detail, with `--verbose`.
    pub fn detail(&self, text: &str) {
        if self.verbose {
            self.write("debug", Style::new().dimmed(), "", text);
        }
    }

    /// Writes the error of a run that has printed its report, and gives its exit. Programs find it in the report.
    pub fn error_after_report(&self, error: &CliError) -> Exit {
        if !self.machine || self.log == LogFormat::Json {
            self.error(error);
        }
        error.exit
    }

    /// Writes the error that ends the run; programs get a document.
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
        self.write("error", AnsiColor::Red.on_default().bold(), "error: ", &error.message);
        for hint in &error.hints {
            self.write("info", Style::new().bold(), "hint: ", hint);
        }
    }

    fn line(&self, level: &'static str, text: &str) -> LogLine {
        LogLine {
            schema: "jobdoctor.log/v1",
            time: host_time(),
            level,
            message: masked(text),
            target: self.target.clone(),
            run: self.run(),
            code: None,
            kind: None,
            hints: Vec::new(),
        }
    }

    /// Writes an error that does not change how the run ends, even with `--quiet`; as text: the run has a document.
    pub fn side_error(&self, text: &str) {
        self.write("error", AnsiColor::Red.on_default().bold(), "error: ", text);
    }

    /// Writes to stderr. A closed stderr does not change what the run does.
    fn write(&self, level: &'static str, style: Style, label: &str, text: &str) {
        if self.log == LogFormat::Json {
            return self.log(&self.line(level, text));
        }
        // Line breaks come from jobdoctor; other control characters do not.
        let text = masked(text);
        let wrapped = |line: &str| match self.err_width {
            Some(width) => wrapped(&inert(line), width, label.len()),
            None => inert(line).into_owned(),
        };
        let text = text.lines().map(wrapped).collect::<Vec<_>>().join("\n");
        self.streams.err(|err| match (self.err_color, label) {
            (true, "") => writeln!(err, "{style}{text}{style:#}"),
            (true, _) => writeln!(err, "{style}{label}{style:#}{text}"),
            (false, _) => writeln!(err, "{label}{text}"),
        });
    }

    /// Writes a log line with one write, so that lines of several processes do not mix.
    fn log(&self, line: &LogLine) {
        if let Ok(line) = serde_json::to_string(line) {
            self.streams.err(|err| err.write_all(format!("{}\n", escaped_json(&line)).as_bytes()));
        }
    }

    /// Writes the buffered stderr of a target, each line after the target's name.
    pub fn forward(&self, target: &str, buffered: impl BufRead) {
        // Log lines have a field for the target.
        let label = if self.log == LogFormat::Json { String::new() } else { format!("{}: ", inert(target)) };
        self.streams.err(|err| {
            buffered.split(b'\n').try_for_each(|line| {
                err.write_all(label.as_bytes())?;
                err.write_all(&line?)?;
                writeln!(err)
            })
        });
    }
}

/// The time by this host's clock, for people, log lines and metrics: no job is judged by it.
pub fn host_time() -> Option<Timestamp> {
    #[expect(clippy::disallowed_methods, reason = "no job is judged by it")]
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(now.as_micros()).ok().and_then(Timestamp::from_micros)
}

/// The indent of what does not fit into the first line.
const INDENT: usize = 4;
/// What a command to type begins with, after the words that say when.
const COMMAND: &str = ": jobdoctor ";

/// A line in lines of at most so many display cells, of which the first already has `used`, as far as words allow. A
/// command gets a line of its own, which a terminal may wrap: so it can be copied.
fn wrapped(line: &str, width: usize, used: usize) -> String {
    if wrap(line, width.saturating_sub(used).max(1)).len() < 2 {
        return line.to_owned();
    }
    if let Some((words, command)) = line.split_once(COMMAND) {
        return format!("{}\n{:INDENT$}jobdoctor {command}", wrapped(&format!("{words}:"), width, used), "");
    }
    let rest = width.saturating_sub(used.max(INDENT)).max(1);
    wrap(line, rest).join(&format!("\n{:INDENT$}", ""))
}

/// Whether to colour: by the flag, then NO_COLOR, CLICOLOR_FORCE, CLICOLOR, then by the terminal.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_commands_can_be_copied() {
        assert_eq!(wrapped("5 jobs to move; nothing was written", 40, 0), "5 jobs to move; nothing was written");
        assert_eq!(wrapped("5 jobs to move; nothing was written", 30, 0), "5 jobs to move; nothing\n    was written");
        assert_eq!(wrapped("nothing was written", 20, 9), "nothing was\n    written");
        let command = "jobdoctor reclaim --db q.db --reason 'web2 is dead' --expect 0123 --apply";
        let hint = format!("to do exactly this: {command}");
        assert_eq!(wrapped(&hint, 120, 0), hint);
        assert_eq!(wrapped(&hint, 45, 0), format!("to do exactly this:\n    {command}"));
    }
}
