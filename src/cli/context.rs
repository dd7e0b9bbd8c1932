use super::args::{StoreArgs, ToneArgs};
use super::database::Database;
use super::environment::Environment;
use super::error::CliError;
use super::next_command::{next_command, same_queue};
use super::progress::Drawn;
use super::settings::{READING, Settings};
use super::signal::{Caught, watch};
use super::state_directory::journals;
use super::ui::Ui;
use crate::model::age;
use crate::ops::{Progress, Silent, Snapshot};
use crate::output::format::Format;
use crate::store::Interrupt;
use std::ffi::OsString;
use std::rc::Rc;
use std::time::Duration;

/// What every command gets beside its own arguments.
pub struct Context {
    /// The environment.
    pub environment: Environment,
    /// The mouth.
    pub ui: Ui,
    /// Raised by a signal.
    pub interrupt: Interrupt,
    /// The signal that raised it.
    pub caught: Caught,
    words: Vec<String>,
    /// Every command with its options.
    program: fn() -> clap::Command,
}

impl Context {
    /// Reads the environment and begins to watch for signals.
    pub fn new(tone: &ToneArgs, format: Format, program: fn() -> clap::Command, arguments: &[OsString]) -> Context {
        let environment = Environment::read();
        let interrupt = Interrupt::default();
        Context {
            ui: Ui::new(tone, format, &environment),
            environment,
            caught: watch(interrupt.clone()),
            interrupt,
            words: arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            program,
        }
    }

    /// Resolves the settings and begins a snapshot, for the commands that only look.
    ///
    /// # Errors
    /// When the settings do not fit, or the store cannot be read.
    pub fn snapshot(&self, args: &StoreArgs, command: &str) -> Result<(Settings, Snapshot), CliError> {
        let settings = Settings::resolve(args, &self.environment)?;
        let snapshot = self.snapshot_with(&settings, command)?;
        Ok((settings, snapshot))
    }

    /// Begins a snapshot with settings that are resolved.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn snapshot_with(&self, settings: &Settings, command: &str) -> Result<Snapshot, CliError> {
        let database = settings.database()?;
        self.say_setup(&database);
        self.snapshot_at(settings, &database, command)
    }

    /// The same without a word about how the database is reached or what was found there.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn snapshot_quietly(&self, settings: &Settings, command: &str) -> Result<Snapshot, CliError> {
        let store = settings.database()?.store()?;
        let limits = settings.limits(command, READING, &self.interrupt, false);
        Ok(settings.session(store.as_ref(), &limits).snapshot()?)
    }

    /// Begins a snapshot.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn snapshot_at(&self, settings: &Settings, database: &Database, command: &str) -> Result<Snapshot, CliError> {
        let store = database.store()?;
        let limits = settings.limits(command, READING, &self.interrupt, false);
        let mut snapshot = settings.session(store.as_ref(), &limits).snapshot()?;
        self.say_where(&snapshot);
        snapshot.progress = self.progress();
        // What would be done depends on how often a job was lost before, where the target says so.
        match settings.target.max_stalls {
            Some(_) => Ok(snapshot.counting_losses(journals(&self.environment).as_ref())?),
            None => Ok(snapshot),
        }
    }

    /// The words of the command line, the command first.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The same with another mouth, as if it had been called with these words.
    pub fn with(&self, ui: Ui, words: Vec<String>) -> Context {
        let (environment, interrupt, caught) = (self.environment.clone(), self.interrupt.clone(), self.caught.clone());
        Context { environment, ui, interrupt, caught, words, program: self.program }
    }

    /// True if the terminal only takes lines as they come.
    pub fn is_dumb(&self) -> bool {
        self.environment.get("TERM") == Some("dumb")
    }

    /// Who is told how far it is: a person at a terminal who has not asked for quiet.
    pub fn progress(&self) -> Rc<dyn Progress> {
        let draws = self.ui.shows_progress() && !self.is_dumb();
        if draws { Rc::new(Drawn::default()) } else { Rc::new(Silent) }
    }

    /// Says what is not as it should be about the way the database is reached, to who watches or asked.
    pub fn say_setup(&self, database: &Database) {
        database.warnings().iter().for_each(|warning| self.ui.warn_about_setup(warning));
        database.dropped().iter().for_each(|dropped| self.ui.detail(dropped));
    }

    /// Says, to who asked, which queue was found; and to a person, what is unsafe about where it is.
    pub fn say_where(&self, snapshot: &Snapshot) {
        let target = &snapshot.target;
        if let Some(caution) = &snapshot.caution {
            self.ui.warn_about_setup(&caution.message);
        }
        let variants =
            if target.variants.is_empty() { String::new() } else { format!(" ({})", target.variants.join("; ")) };
        self.ui.detail(&format!(
            "{} {}, table {}, preset {}{variants}, store time {}",
            target.engine,
            target.database,
            target.table,
            target.preset,
            snapshot.now()
        ));
        self.say_standby(snapshot);
    }

    /// A standby shows what was, and nothing can be applied there: whoever reads on must know.
    fn say_standby(&self, snapshot: &Snapshot) {
        let Some(standby) = &snapshot.target.standby else { return };
        let lag = match standby.lag_seconds {
            Some(seconds) => {
                let lag = age(Duration::try_from_secs_f64(seconds).unwrap_or_default());
                format!("it is {lag} behind its primary, and silence is counted up to there")
            }
            None => "it cannot tell how far it is behind its primary".to_owned(),
        };
        self.ui.warn(&format!("{} is a standby: {lag}; nothing can be applied here", snapshot.target.database));
    }

    /// Where nothing is in flight, says which states were not looked at: "could not look" must never read as "nothing found".
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn warn_if_blind(&self, snapshot: &mut Snapshot, in_flight: u64) -> Result<(), CliError> {
        if in_flight > 0 {
            return Ok(());
        }
        let states = snapshot.unfamiliar_states()?;
        if !states.is_empty() {
            let (table, preset) = (&snapshot.target.table, &snapshot.target.preset);
            let states = states.join(", ");
            self.ui.warn(&format!("rows of {table} are in states that preset {preset} does not have: {states}"));
        }
        Ok(())
    }

    /// A command line that goes on from this one: another command, or the same once more, on the same queue and selection, with
    /// more words behind.
    pub fn next_command(&self, command: &str, more: &[&str]) -> String {
        self.next_command_without(command, &[], more)
    }

    /// The same without some options, by their long names.
    pub fn next_command_without(&self, command: &str, dropped: &[&str], more: &[&str]) -> String {
        next_command((self.program)(), &self.words, command, dropped, more)
    }

    /// A command line of another command on the same database: of this one's words only those that say where the queue is.
    pub fn on_same_queue(&self, command: &[&str], more: &[&str]) -> String {
        same_queue(&self.words, command, more)
    }
}
