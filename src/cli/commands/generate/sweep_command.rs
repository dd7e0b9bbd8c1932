//! The `jobdoctor sweep` of a unit file: what carries the settings in force here to where it runs.

use super::SweepArgs;
use crate::cli::args::StoreArgs;
use crate::cli::database::ConfiguredAddress;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::secret::masked;
use crate::cli::settings::Settings;
use crate::store::{Address, Origin, ServerPlace};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The config file that is read everywhere.
const SYSTEM_CONFIG: &str = "/etc/jobdoctor/config.toml";

/// A sweep of the queue that the settings name, wherever it is run; without `--restart`, `--host` and `--apply`, which
/// the templates add.
pub(super) struct SweepCommand {
    /// The unit's name: lower-case letters, digits and dashes.
    pub(super) name: String,
    /// What is swept, for comments.
    pub(super) about: String,
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    pub(super) variables: Vec<(&'static str, String)>,
    /// Variables that it needs and whose values must not be printed.
    pub(super) secrets: Vec<&'static str>,
    /// The config file that it needs.
    pub(super) config: Option<PathBuf>,
    pub(super) password_file: Option<PathBuf>,
    pub(super) address: Address,
}

impl SweepCommand {
    /// The sweep for these settings. A pod has the config file at its usual place, and every address from a Secret.
    pub(super) fn of(
        settings: &Settings,
        args: &SweepArgs,
        program: String,
        in_pod: bool,
    ) -> Result<SweepCommand, CliError> {
        let database = settings.database()?;
        // Its error lists the ways to name a database.
        database.store()?;
        let Some(address) = database.address else { return Err(CliError::new(Exit::Usage, "no database is named")) };
        let is_mapping = |name: &String| settings.catalog.find(name).is_ok_and(|preset| !preset.built_in);
        let needs_config = settings.target_name.is_some() || settings.preset.as_ref().is_some_and(is_mapping);
        let config = settings.config.as_ref().filter(|_| needs_config);
        let mut sweep = SweepCommand {
            name: args.name.clone().unwrap_or_else(|| unit_name(settings.target_name.as_deref())),
            about: match &settings.target_name {
                Some(target) => format!("target {target}"),
                None => address.label(),
            },
            words: vec![program, "sweep".to_owned()],
            variables: Vec::new(),
            secrets: Vec::new(),
            config: config.map(|(path, _)| absolute(path)).transpose()?,
            password_file: settings.password_file.as_ref().map(|(path, _)| absolute(path)).transpose()?,
            address,
        };
        sweep.carry_address(settings, in_pod)?;
        sweep.carry_options(settings, args, in_pod);
        sweep.must_be_printable()?;
        Ok(sweep)
    }

    /// Names the database in a way that leads to the same one elsewhere.
    fn carry_address(&mut self, settings: &Settings, in_pod: bool) -> Result<(), CliError> {
        let address = settings.address.as_ref().filter(|address| address.origin != ConfiguredAddress::BY_TARGET);
        let said = address.and_then(|address| Some((address.text.as_ref()?, address.origin)));
        match &settings.target_name {
            // Named by a flag, the target would bring its own database.
            Some(target) if said.is_some() && settings.target.db.is_some() => {
                self.variables.push(("JOBDOCTOR_TARGET", target.clone()));
            }
            Some(target) => self.option("--target", target),
            None => {}
        }
        if let Some((text, origin)) = said {
            let variable = if origin == ConfiguredAddress::BY_URL { origin } else { "JOBDOCTOR_DB" };
            if in_pod || self.address_holds_password() {
                self.secrets.push(variable);
            } else if origin == ConfiguredAddress::BY_FLAG {
                self.option("--db", &self.portable(text)?);
            } else {
                self.variables.push((variable, self.portable(text)?));
            }
        }
        if let Address::Postgres(address) = &self.address {
            for (_, value, origin) in &address.settings {
                match (origin, value) {
                    (Origin::Variable(name), Some(value)) => self.variables.push((name, value.clone())),
                    (Origin::Variable(name), None) => self.secrets.push(name),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Repeats the other options that were given here.
    fn carry_options(&mut self, settings: &Settings, args: &SweepArgs, in_pod: bool) {
        let StoreArgs { preset, schema, table, options, network_files, second_name, no_config, timeout, .. } =
            &args.store;
        for (flag, value) in [("--preset", preset), ("--schema", schema), ("--table", table)] {
            value.iter().for_each(|value| self.option(flag, value));
        }
        for (name, value) in options {
            self.option("--option", &format!("{name}={value}"));
        }
        self.words.extend(network_files.then(|| "--network-files".to_owned()));
        self.words.extend(second_name.then(|| "--second-name".to_owned()));
        timeout.iter().for_each(|timeout| self.option("--timeout", &spelled(*timeout)));
        // A target's own password file is found by the target.
        let is_of_target = settings.password_file.as_ref().is_some_and(|(_, origin)| *origin == "password_file");
        if let Some(path) = self.password_file.clone().filter(|_| !is_of_target) {
            self.option("--password-file", &path.display().to_string());
        }
        match self.config.clone() {
            Some(path) if !in_pod && path != Path::new(SYSTEM_CONFIG) => {
                self.option("--config", &path.display().to_string());
            }
            None if *no_config => self.words.push("--no-config".to_owned()),
            _ => {}
        }
        args.older.older.iter().for_each(|older| self.option("--older", &spelled(*older)));
    }

    fn option(&mut self, flag: &str, value: &str) {
        // Apart, a value that begins with a dash would be read as an option.
        match value.starts_with('-') {
            true => self.words.push(format!("{flag}={value}")),
            false => self.words.extend([flag.to_owned(), value.to_owned()]),
        }
    }

    /// The address as it was given, but with the absolute path of a file.
    fn portable(&self, text: &OsStr) -> Result<String, CliError> {
        let text = match &self.address {
            Address::Sqlite { path, .. } => absolute(path)?.into_os_string(),
            Address::Postgres(_) => text.to_owned(),
        };
        text.into_string().map_err(|_| CliError::new(Exit::Usage, "the database's path is not UTF-8"))
    }

    /// Whether the password is in the address itself, and not in a file or a variable.
    fn address_holds_password(&self) -> bool {
        let Address::Postgres(address) = &self.address else { return false };
        address.settings.iter().any(|(_, value, origin)| value.is_none() && matches!(origin, Origin::Address(_)))
    }

    /// The directories of the sockets through which the database is reached.
    pub(super) fn sockets(&self) -> impl Iterator<Item = PathBuf> {
        let servers = match &self.address {
            Address::Sqlite { .. } => &[][..],
            Address::Postgres(address) => &address.servers,
        };
        servers.iter().filter_map(|server| match &server.place {
            ServerPlace::Socket(directory) => Some(directory.clone()),
            ServerPlace::Host(..) => None,
        })
    }

    /// Refuses a control character, which not every format can quote, and a password that no other check has
    /// recognised.
    fn must_be_printable(&self) -> Result<(), CliError> {
        let values = self.variables.iter().map(|(_, value)| value);
        for text in self.words.iter().chain(values).chain([&self.about]) {
            if text.contains(char::is_control) {
                let message = format!("a control character cannot be written here: \"{}\"", text.escape_debug());
                return Err(CliError::new(Exit::Usage, message));
            }
            if masked(text) != *text {
                return Err(CliError::new(Exit::Usage, "an option or variable holds what looks like a password")
                    .hint("keep it in the address, in password_file, or in ~/.pgpass"));
            }
        }
        Ok(())
    }
}

/// The name of a unit that was given none.
fn unit_name(target: Option<&str>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let target: String = target.unwrap_or_default().chars().map(plain).take(32).collect();
    format!("jobdoctor-sweep-{}", target.trim_matches('-')).trim_end_matches('-').to_owned()
}

/// Reads a name that systemd, cron and Kubernetes all accept.
pub(super) fn parse_name(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name = (1..=52).contains(&text.len()) && text.chars().all(inner) && text.trim_matches('-') == text;
    let error = "a name is 1 to 52 lower-case letters, digits and dashes, with no dash at an end";
    is_name.then(|| text.to_owned()).ok_or_else(|| error.to_owned())
}

fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    let unreadable = |error| CliError::new(Exit::Usage, format!("{} has no absolute path: {error}", path.display()));
    std::path::absolute(path).map_err(unreadable)
}

/// A duration as it would be typed: `1h30m`.
fn spelled(span: Duration) -> String {
    humantime::format_duration(span).to_string().replace(' ', "")
}
