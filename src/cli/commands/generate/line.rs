//! The command line of a sweep that looks at the same queue as the settings here, wherever it is run.

use super::SweepArgs;
use crate::cli::args::StoreArgs;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::secret::masked;
use crate::cli::settings::{AddressSource, Settings, Where};
use crate::store::{Address, Origin, PostgresAddress};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The config file that is read everywhere.
const SYSTEM_CONFIG: &str = "/etc/jobdoctor/config.toml";

/// See the module.
pub(super) struct Line {
    /// What it is called: letters, digits, `-`, `_` and `.`.
    pub(super) name: String,
    /// What is swept, for comments.
    pub(super) about: String,
    /// The program.
    pub(super) program: String,
    /// The words behind it.
    pub(super) words: Vec<Word>,
    /// Variables that it needs.
    pub(super) variables: Vec<(String, String)>,
    /// Variables that it needs and whose values are secret.
    pub(super) secrets: Vec<&'static str>,
    /// The config file that it needs.
    pub(super) config: Option<PathBuf>,
    /// Where the database is.
    pub(super) address: Address,
    /// The file with the password.
    pub(super) password_file: Option<PathBuf>,
}

/// A word.
pub(super) enum Word {
    /// As it stands.
    Plain(String),
    /// The name of the host that it runs on.
    Host,
}

impl Line {
    /// The line for these settings.
    ///
    /// # Errors
    /// When no database is named, or something cannot be said in a file that others read.
    pub(super) fn of(
        settings: &Settings,
        args: &SweepArgs,
        program: Option<&str>,
        restart: bool,
    ) -> Result<Line, CliError> {
        let database = settings.database()?;
        // For its error, which names the ways to name one.
        drop(database.store()?);
        let Some(address) = database.address else { return Err(CliError::new(Exit::Usage, "no database is named")) };
        let mut line = Line {
            name: name(args.name.as_deref(), settings.target_name.as_deref()),
            about: match &settings.target_name {
                Some(target) => format!("target {target}"),
                None => address.label(),
            },
            program: match program {
                Some(program) => program.to_owned(),
                None => this_program()?,
            },
            words: vec![Word::from("sweep")],
            variables: Vec::new(),
            secrets: Vec::new(),
            config: settings
                .config
                .as_ref()
                .filter(|_| needs_config(settings))
                .map(|(path, _)| absolute(path))
                .transpose()?,
            address,
            password_file: settings.password_file.as_ref().map(|(path, _)| absolute(path)).transpose()?,
        };
        line.say_where(settings)?;
        line.say_how(settings, args);
        if restart {
            line.words.extend([Word::from("--restart"), Word::from("--host"), Word::Host]);
        } else if let Some(older) = args.older.older {
            line.option("--older", &spelled(older));
        }
        line.words.push(Word::from("--apply"));
        line.must_be_plain()?;
        Ok(line)
    }

    /// The database, in a way that leads to the same one elsewhere.
    fn say_where(&mut self, settings: &Settings) -> Result<(), CliError> {
        let is_of_target = matches!(&settings.address, Some(Where::Whole(_, AddressSource::Target)));
        if let Some(target) = &settings.target_name {
            if is_of_target || settings.target.db.is_none() {
                self.option("--target", target);
            } else {
                // Named by a flag, the target's own database would count.
                self.variables.push(("JOBDOCTOR_TARGET".to_owned(), target.clone()));
            }
        }
        match &settings.address {
            Some(Where::Whole(_, AddressSource::Target)) | Some(Where::Parts) | None => {}
            Some(Where::Whole(text, source)) => {
                let variable = match source {
                    AddressSource::DatabaseUrl => "DATABASE_URL",
                    _ => "JOBDOCTOR_DB",
                };
                match (self.address_holds_secret(), source) {
                    (true, _) => self.secrets.push(variable),
                    (false, AddressSource::Flag) => self.option("--db", &self.as_said(text)?),
                    (false, _) => self.variables.push((variable.to_owned(), self.as_said(text)?)),
                }
            }
        }
        if let Address::Postgres(address) = &self.address {
            let read: Vec<_> = address.settings.iter().filter_map(of_variable).collect();
            for (name, value) in read {
                match value {
                    Some(value) => self.variables.push((name.to_owned(), value)),
                    None => self.secrets.push(name),
                }
            }
        }
        Ok(())
    }

    /// What of the other options was said here.
    fn say_how(&mut self, settings: &Settings, args: &SweepArgs) {
        let StoreArgs { preset, schema, table, options, network_files, no_config, timeout, .. } = &args.store;
        for (flag, value) in [("--preset", preset), ("--schema", schema), ("--table", table)] {
            if let Some(value) = value {
                self.option(flag, value);
            }
        }
        for (name, value) in options {
            self.option("--option", &format!("{name}={value}"));
        }
        if *network_files {
            self.words.push(Word::from("--network-files"));
        }
        if let Some(timeout) = timeout {
            self.option("--timeout", &spelled(*timeout));
        }
        // A target's own is found by the target.
        let said = settings.password_file.as_ref().filter(|(_, origin)| *origin != "password_file");
        if let (Some(_), Some(path)) = (said, self.password_file.clone()) {
            self.option("--password-file", &path.display().to_string());
        }
        match self.config.clone() {
            Some(path) if path != Path::new(SYSTEM_CONFIG) => self.option("--config", &path.display().to_string()),
            None if *no_config => self.words.push(Word::from("--no-config")),
            _ => {}
        }
    }

    fn option(&mut self, flag: &str, value: &str) {
        // A value that begins with a dash would be an option.
        match value.starts_with('-') {
            true => self.words.push(Word::Plain(format!("{flag}={value}"))),
            false => self.words.extend([Word::from(flag), Word::from(value)]),
        }
    }

    /// The address as it was said, but with the whole path of a file.
    fn as_said(&self, text: &OsStr) -> Result<String, CliError> {
        let text = match &self.address {
            Address::Sqlite { path, .. } => absolute(path)?.into_os_string(),
            Address::Postgres(_) => text.to_owned(),
        };
        text.into_string().map_err(|_| CliError::new(Exit::Usage, "the database's path is not UTF-8"))
    }

    /// Whether the address itself, and not some file beside it, holds a password.
    fn address_holds_secret(&self) -> bool {
        let is_secret =
            |value: &Option<String>, origin: &Origin| value.is_none() && matches!(origin, Origin::Address(_));
        match &self.address {
            Address::Sqlite { .. } => false,
            Address::Postgres(address) => address.settings.iter().any(|(_, value, origin)| is_secret(value, origin)),
        }
    }

    /// The server, if there is one.
    pub(super) fn server(&self) -> Option<&PostgresAddress> {
        match &self.address {
            Address::Sqlite { .. } => None,
            Address::Postgres(address) => Some(address),
        }
    }

    /// What would end a line, or hide in it, cannot be quoted everywhere.
    fn must_be_plain(&self) -> Result<(), CliError> {
        let words = self.words.iter().filter_map(|word| match word {
            Word::Plain(word) => Some(word),
            Word::Host => None,
        });
        let values = self.variables.iter().map(|(_, value)| value);
        for text in words.chain(values).chain([&self.program, &self.about]) {
            if text.contains(char::is_control) {
                let message = format!("a control character cannot be written here: \"{}\"", text.escape_debug());
                return Err(CliError::new(Exit::Usage, message));
            }
            // Those that are known are not among them; here is one that was not recognised.
            if masked(text) != *text {
                return Err(CliError::new(Exit::Usage, "an option or variable holds what looks like a password")
                    .hint("keep it in the address, in password_file, or in ~/.pgpass"));
            }
        }
        Ok(())
    }
}

impl From<&str> for Word {
    fn from(word: &str) -> Word {
        Word::Plain(word.to_owned())
    }
}

/// Whether anything of the config file counts.
fn needs_config(settings: &Settings) -> bool {
    let is_mapping = |name: &String| settings.catalog.find(name).is_ok_and(|preset| !preset.built_in);
    settings.target_name.is_some() || settings.preset.as_ref().is_some_and(is_mapping)
}

fn of_variable(setting: &(&'static str, Option<String>, Origin)) -> Option<(&'static str, Option<String>)> {
    match &setting.2 {
        Origin::Variable(name) => Some((name, setting.1.clone())),
        _ => None,
    }
}

/// The name that was asked for, or one that says which target it is.
fn name(asked: Option<&str>, target: Option<&str>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '-' };
    match (asked, target) {
        (Some(name), _) => name.to_owned(),
        (None, Some(target)) => {
            let target: String = target.chars().map(plain).take(32).collect();
            format!("jobdoctor-sweep-{}", target.trim_matches('-')).trim_end_matches('-').to_owned()
        }
        (None, None) => "jobdoctor-sweep".to_owned(),
    }
}

/// A name that units, files of cron and resources of Kubernetes all take.
///
/// # Errors
/// When it is not one.
pub(super) fn parse_name(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name = (1..=52).contains(&text.len()) && text.chars().all(inner) && !text.starts_with('-');
    if is_name && !text.ends_with('-') {
        return Ok(text.to_owned());
    }
    Err("a name is 1 to 52 small letters, digits and dashes, with no dash at an end".to_owned())
}

fn this_program() -> Result<String, CliError> {
    let cannot = || CliError::new(Exit::Usage, "where this program is cannot be told").hint("say --program PATH");
    std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok()).ok_or_else(cannot)
}

fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    let unreadable = |error| CliError::new(Exit::Usage, format!("{} has no whole path: {error}", path.display()));
    std::path::absolute(path).map_err(unreadable)
}

/// In the words that it would be typed in.
fn spelled(span: std::time::Duration) -> String {
    humantime::format_duration(span).to_string().replace(' ', "")
}
