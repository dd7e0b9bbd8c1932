//! What every command gets besides its own arguments: environment, output, signals and the way to a snapshot.

use super::args::ToneArgs;
use super::database::Database;
use super::environment::Environment;
use super::next_command::{next_command, same_queue, shell_word};
use super::progress::Shown;
use super::signal::{Caught, batch_in_hand, watch};
use super::ui::Ui;
use super::{CliError, READING, Settings};
use crate::model::{Target, age};
use crate::ops::{Progress, Snapshot};
use crate::output::format::Format;
use crate::store::{Interrupt, Store};
use std::ffi::OsString;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone)]
pub struct Context {
    pub environment: Environment,
    pub ui: Ui,
    pub format: Format,
    pub interrupt: Interrupt,
    pub caught: Caught,
    /// The words of the command line, the command first.
    pub words: Vec<String>,
    pub program: Arc<clap::Command>,
}

impl Context {
    /// Reads the environment and begins to watch for signals. `program` is the command line with all of its commands.
    pub fn new(tone: &ToneArgs, format: Format, program: clap::Command, arguments: &[OsString]) -> Context {
        let environment = Environment::read();
        let (ui, interrupt) = (Ui::new(tone, format, &environment), environment.interrupt.clone());
        let messages = ui.clone();
        let caught = watch(interrupt.clone(), move |signal, jobs| {
            messages.redraw("");
            messages.note(&batch_in_hand(signal, jobs));
        });
        Context {
            ui,
            format,
            environment,
            caught,
            interrupt,
            words: arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            program: program.into(),
        }
    }

    pub fn store(&self, settings: &Settings) -> Result<Box<dyn Store>, CliError> {
        let database = settings.database()?;
        self.report_setup(&database);
        database.store()
    }

    /// Begins a snapshot of the queue that the settings name, for a command that only reads.
    pub fn snapshot(&self, settings: &Settings, command: &str) -> Result<Snapshot, CliError> {
        self.snapshot_of(self.store(settings)?.as_ref(), settings, command)
    }

    pub fn snapshot_of(&self, store: &dyn Store, settings: &Settings, command: &str) -> Result<Snapshot, CliError> {
        let limits = settings.limits(command, READING, &self.interrupt, false);
        self.begin(settings, settings.session(store, &limits).snapshot()?)
    }

    pub fn snapshot_of_interrupted(&self, settings: &Settings, command: &str) -> Result<Snapshot, CliError> {
        let (store, limits) = (self.store(settings)?, settings.limits(command, READING, &self.interrupt, false));
        self.begin(settings, settings.session(store.as_ref(), &limits).snapshot_of_interrupted()?)
    }

    fn begin(&self, settings: &Settings, mut snapshot: Snapshot) -> Result<Snapshot, CliError> {
        self.report_queue(&snapshot);
        snapshot.progress = self.progress(false);
        // With a stall budget, the action of a job depends on how often it was lost before.
        match settings.target.max_stalls {
            Some(_) => Ok(snapshot.counting_losses()?),
            None => Ok(snapshot),
        }
    }

    /// True if the terminal cannot move its cursor.
    pub fn is_dumb(&self) -> bool {
        self.environment.get("TERM") == Some("dumb")
    }

    /// The progress of long work, unless `--quiet`: a bar for a person at a terminal. `are_stopped` is true if the
    /// operator has said that workers are.
    pub fn progress(&self, are_stopped: bool) -> Rc<dyn Progress> {
        Rc::new(Shown::new(self.ui.clone(), self.ui.shows_progress() && !self.is_dumb(), are_stopped))
    }

    /// Prints what is wrong with the way the database is reached, at a terminal or with `--verbose`.
    pub fn report_setup(&self, database: &Database) {
        database.warnings().iter().for_each(|warning| self.ui.warn_about_setup(warning));
        database.dropped().iter().for_each(|dropped| self.ui.detail(dropped));
    }

    /// Prints which queue was found, with `--verbose`; and warns of an unsafe file system and of a standby.
    pub fn report_queue(&self, snapshot: &Snapshot) {
        let Target { engine, database, table, preset, variants, standby, .. } = &snapshot.target;
        if let Some(caution) = &snapshot.caution {
            self.ui.warn_about_setup(&caution.message);
        }
        let variants = if variants.is_empty() { String::new() } else { format!(" ({})", variants.join("; ")) };
        let now = snapshot.now();
        self.ui.detail(&format!("{engine} {database}, table {table}, preset {preset}{variants}, store time {now}"));
        if let Some(server) = snapshot.reader.server().filter(|server| !server.version.is_postgres) {
            self.ui.warn(&format!("{} answered, which is not Postgres; --apply is refused here", server.version.name));
        }
        if let Some(standby) = standby {
            let lag = match standby.lag_seconds {
                Some(seconds) => {
                    let lag = age(Duration::try_from_secs_f64(seconds).unwrap_or_default());
                    format!("it is {lag} behind its primary, and silence is measured up to that moment")
                }
                None => "its lag behind the primary is unknown".to_owned(),
            };
            self.ui.warn(&format!("{database} is a standby: {lag}; --apply is refused here"));
        }
    }

    /// Warns of a report's caveats: that rows are overlooked always, the others, which are about mistakes in what was
    /// typed or set up, at a terminal or with `--verbose`.
    pub fn warn_of_caveats(&self, caveats: &[String], are_overlooked: bool) {
        if are_overlooked || self.ui.shows_details() {
            caveats.iter().for_each(|caveat| self.ui.warn(caveat));
        }
    }

    /// The command that declares UTC, where claims of that preset are unknown because the zone of their times is. `None` for
    /// a mapping, which declares it itself, and where the operator has declared a zone.
    pub fn zone_command(&self, settings: &Settings, command: &str, preset: &str, unknown: u64) -> Option<String> {
        let is_asked = unknown > 0 && settings.lacks_zone(preset);
        is_asked.then(|| self.next_command(command, &["--option", "time_zone=utc"]))
    }

    /// Prints [`Context::zone_command`], if there is one.
    pub fn hint_zone(&self, settings: &Settings, command: &str, preset: &str, unknown: u64) {
        let command = self.zone_command(settings, command, preset, unknown);
        command.iter().for_each(|command| self.ui.hint(&format!("if these times are in UTC: {command}")));
    }

    /// A command line that goes on from this one, on the same queue and selection, with more words.
    pub fn next_command(&self, command: &str, more: &[&str]) -> String {
        self.next_command_without(command, &[], more)
    }

    /// A command line that goes on from this one without some of its options, which are given by their long names.
    pub fn next_command_without(&self, command: &str, dropped: &[&str], more: &[&str]) -> String {
        [&[next_command(&self.program, &self.words, command, dropped).as_str()], more].concat().join(" ")
    }

    /// A command line of another command on the same queue, without this one's selection.
    pub fn on_same_queue(&self, command: &[&str], more: &[&str]) -> String {
        [&[same_queue(&self.words, command).as_str()], more].concat().join(" ")
    }
}

impl CliError {
    /// The error with the command that goes on from this command line.
    pub fn on(mut self, context: &Context) -> CliError {
        let table = self.lookalike.take().map(|table| shell_word(&table));
        if let Some(command) = table.map(|table| context.on_same_queue(&["adopt", &table], &[])) {
            self.hints.insert(0, format!("draft its mapping: {command}"));
        }
        self
    }
}
