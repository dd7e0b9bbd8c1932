use super::args::StoreArgs;
use super::commands::Command;
use super::database::Database;
use super::environment::Environment;
use super::error::CliError;
use super::secret::may_hold_password;
use super::settings::{LOOKING, Settings};
use super::signal::{Caught, watch};
use super::ui::Ui;
use crate::model::age;
use crate::ops::Look;
use crate::store::Interrupt;
use std::ffi::OsString;
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
}

impl Context {
    /// Reads the environment and begins to watch for signals.
    pub fn new(command: &Command, arguments: &[OsString]) -> Context {
        let environment = Environment::read();
        let (tone, format) = command.tone();
        let interrupt = Interrupt::default();
        Context {
            ui: Ui::new(&tone, format, &environment),
            environment,
            caught: watch(interrupt.clone()),
            interrupt,
            words: arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
        }
    }

    /// Resolves the settings and begins a look, for the commands that only look.
    ///
    /// # Errors
    /// When the settings do not fit, or the store cannot be read.
    pub fn look(&self, args: &StoreArgs, command: &str) -> Result<(Settings, Look), CliError> {
        let settings = Settings::resolve(args, &self.environment)?;
        let database = settings.database()?;
        self.say_setup(&database);
        let look = self.look_at(&settings, &database, command)?;
        Ok((settings, look))
    }

    /// Begins a look.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn look_at(&self, settings: &Settings, database: &Database, command: &str) -> Result<Look, CliError> {
        let store = database.store()?;
        let limits = settings.limits(command, LOOKING, &self.interrupt, false);
        let look = settings.session(store.as_ref(), &limits).look()?;
        self.say_where(&look);
        Ok(look)
    }

    /// Says what is not as it should be about the way the database is reached, to who watches or asked.
    pub fn say_setup(&self, database: &Database) {
        database.warnings().iter().for_each(|warning| self.ui.warn_about_setup(warning));
        database.dropped().iter().for_each(|dropped| self.ui.detail(dropped));
    }

    /// Says, to who asked, which queue was found; and to a person, what is unsafe about where it is.
    pub fn say_where(&self, look: &Look) {
        let target = &look.target;
        if let Some(caution) = &look.caution {
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
            look.now()
        ));
        self.say_standby(look);
    }

    /// A standby shows what was, and nothing can be applied there: whoever reads on must know.
    fn say_standby(&self, look: &Look) {
        let Some(standby) = &look.target.standby else { return };
        let lag = match standby.lag_seconds {
            Some(seconds) => {
                let lag = age(Duration::try_from_secs_f64(seconds).unwrap_or_default());
                format!("it is {lag} behind its primary, and silence is counted up to there")
            }
            None => "it cannot tell how far it is behind its primary".to_owned(),
        };
        self.ui.warn(&format!("{} is a standby: {lag}; nothing can be applied here", look.target.database));
    }

    /// Where nothing is in flight, says which states were not looked at: "could not look" must never read as "nothing found".
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn warn_if_blind(&self, look: &mut Look, in_flight: u64) -> Result<(), CliError> {
        if in_flight > 0 {
            return Ok(());
        }
        let states = look.unfamiliar_states()?;
        if !states.is_empty() {
            let (table, preset) = (&look.target.table, &look.target.preset);
            let states = states.join(", ");
            self.ui.warn(&format!("rows of {table} are in states that preset {preset} does not have: {states}"));
        }
        Ok(())
    }

    /// A command line that goes on from this one: another command on the same queue and selection, with more words behind.
    pub fn next_command(&self, command: &str, more: &[&str]) -> String {
        const DROPPED: [&str; 7] = ["--exit-code", "--json", "-q", "--quiet", "-v", "--verbose", "--apply"];
        const DROPPED_WITH_VALUE: [&str; 3] = ["-o", "--output", "--color"];
        // What the same command is told to do next must be what was just shown.
        let drops_limit = self.words.first().is_none_or(|this| this != command);
        let mut line = vec!["jobdoctor".to_owned(), command.to_owned()];
        let mut words = self.words.iter().skip(1);
        while let Some(word) = words.next() {
            let name = word.split('=').next().unwrap_or_default();
            if DROPPED_WITH_VALUE.contains(&name) || (drops_limit && name == "--limit") {
                if !word.contains('=') {
                    words.next();
                }
            } else if !DROPPED.contains(&name) && !word.starts_with("-o") {
                line.push(shell_word(word));
            }
        }
        line.extend(more.iter().map(|word| (*word).to_owned()));
        line.join(" ")
    }
}

/// A word as a shell reads it back; one that may hold a password is not repeated.
pub(super) fn shell_word(word: &str) -> String {
    if may_hold_password(word.strip_prefix("--db=").unwrap_or(word)) {
        return if word.starts_with("--db=") { "--db=...".to_owned() } else { "...".to_owned() };
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_and_passwords_do_not() {
        assert_eq!(shell_word("demo.db"), "demo.db");
        assert_eq!(shell_word("mail*"), "'mail*'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word("postgres://u@h/d"), "postgres://u@h/d");
        assert_eq!(shell_word("postgres://u:secret@h/d"), "...");
        assert_eq!(shell_word("--db=host=h password=secret"), "--db=...");
    }
}
